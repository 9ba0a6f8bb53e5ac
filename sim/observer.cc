#include "sim/observer.h"

#include "program/check.h"

namespace logos {

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return "f32";
    case ElementType::kI16:
      return "i16";
    case ElementType::kI32:
      return "i32";
    case ElementType::kI64:
      return "i64";
  }
  CHECK_UNREACHABLE();
}

std::size_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::kI16:
      return 2;
    case ElementType::kF32:
    case ElementType::kI32:
      return 4;
    case ElementType::kI64:
      return 8;
  }
  CHECK_UNREACHABLE();
}

}  // namespace logos
