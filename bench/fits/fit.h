#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.h"
#include "program/cut.h"
#include "program/model_spec.h"

namespace logos::bench {

/// A memory of a machine: what a cut takes of it and what there is, in `unit`.
struct MemoryUse {
  std::string name;  ///< "DDR of a board", "SRAM of a tile", …
  std::string unit;  ///< "bytes", or what is counted ("M20K")
  std::int64_t needed = 0;
  std::int64_t there_is = 0;
};

/// What a cut takes of a machine, known from its lowered program alone: nothing is simulated.
struct Fit {
  std::vector<MemoryUse> memories;
  std::int64_t chips = 1;      ///< GPUs, boards or physical chips that it stands on
  std::int64_t chips_are = 1;  ///< of those that there are
  std::string bound;           ///< what binds: "hbm", "launch", "ddr", "sram", "mac_array", …
  double bound_seconds = 0;    ///< no run can be faster; 0 where nothing binds
  std::vector<std::string> notes;

  bool fits() const;
};

/// A machine as fits asks it.
struct FitLane {
  std::string name;
  /// What a cut split over so many chips of the program takes. Throws Error where the machine can
  /// never hold it, whatever its memories' sizes.
  std::function<Fit(const ModelSpec&, const Cut&, std::int64_t chips)> fit;
};

/// The positions (from 1) at which a cut is timed: a step's at its context, a chunk's from 1 on;
/// none of a part without attention.
std::vector<std::int64_t> timed_positions(const Cut& cut);

FitLane cuda_fit(const Options& options);
FitLane d5005_fit(const Options& options);
#if LOGOS_SPATIAL
FitLane spatial_fit(const Options& options);
#endif

/// A machine's answer for a model.
struct FitAnswer {
  std::string lane;
  std::optional<Fit> fit;  ///< of the cut asked for; null where it is refused
  std::string reason;      ///< why it does not fit; "" where it does
  /// Fewest chips of the program (1 up to the query heads) that it fits on; null: on none.
  std::optional<std::int64_t> chips_needed;
  /// Largest context of a step with the cut's rows (of a chunk: of a decode step, as its rows share
  /// a cache), and most rows of a step with its context (of a chunk: its rows), on the chips asked
  /// for; null where not even the smallest fits.
  std::optional<std::int64_t> largest_context;
  std::optional<std::int64_t> largest_batch;
};

/// How far contexts and rows are searched.
inline constexpr std::int64_t kMostContext = std::int64_t{1} << 22;
inline constexpr std::int64_t kMostBatch = 4096;

FitAnswer answer_of(const FitLane& lane, const ModelSpec& spec, const Cut& cut, std::int64_t chips);

}  // namespace logos::bench
