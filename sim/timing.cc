#include "sim/timing.h"

#include "program/check.h"

namespace logos {

std::string_view name_of(TimeClass time_class) {
  switch (time_class) {
    case TimeClass::kMeasured:
      return "measured";
    case TimeClass::kRtl:
      return "rtl";
    case TimeClass::kSimulated:
      return "simulated";
    case TimeClass::kModelled:
      return "modelled";
  }
  CHECK_UNREACHABLE();
}

std::string_view name_of(Category category) {
  switch (category) {
    case Category::kWeightStream:
      return "weight_stream";
    case Category::kKvStream:
      return "kv_stream";
    case Category::kCompute:
      return "compute";
    case Category::kMovement:
      return "movement";
    case Category::kSynchronisation:
      return "synchronisation";
    case Category::kIdle:
      return "idle";
  }
  CHECK_UNREACHABLE();
}

}  // namespace logos
