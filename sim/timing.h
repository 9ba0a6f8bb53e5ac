#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace logos {

/// How a time came to be; printed beside every time.
enum class TimeClass {
  kMeasured,   ///< a real device or this host
  kRtl,        ///< cycle-accurate RTL with the DDR4 model
  kSimulated,  ///< SystemC
  kModelled    ///< analytic, with its stated error
};
std::string_view name_of(TimeClass time_class);

/// The common categories of a cycle, the same on all lanes.
enum class Category { kWeightStream, kKvStream, kCompute, kMovement, kSynchronisation, kIdle };
inline constexpr int kCategories = 6;
std::string_view name_of(Category category);  ///< the JSON key: "weight_stream", …

/// The bound of a lane that is nearest for a run, and which fraction of it the run reached.
struct Bound {
  std::string name;
  double fraction = 0;
};

/// How often a pipeline of programs takes a row in.
struct Interval {
  std::uint64_t cycles = 0;       ///< from a row to the next when every program has work
  std::int64_t rows_to_fill = 0;  ///< rows under way then
};

/// What a run took. There is no default: a time without its class does not compile.
struct Timing {
  Timing(TimeClass time_class_of, double seconds_of)
      : time_class(time_class_of), seconds(seconds_of) {}

  TimeClass time_class;
  double seconds;
  std::optional<std::uint64_t> cycles;
  std::optional<double> clock_hz;
  std::map<std::string, std::uint64_t> bytes;  ///< useful bytes moved, by memory
  std::uint64_t macs = 0;
  std::optional<std::array<std::uint64_t, kCategories>> cycles_by_category;
  std::optional<Bound> bound;
  std::optional<double> chip_fraction;  ///< spatial: of what all tiles of its chips could read
  std::optional<Interval> interval;     ///< spatial
  std::string remark;  ///< what a reader of the time must know ("uncalibrated, +-30 %"); may be ""
};

}  // namespace logos
