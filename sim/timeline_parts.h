#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/timeline.h"

namespace logos {

/// What the lines of a run took, added up as the run comes by.
class LineUses {
 public:
  /// The use of a line, to add to.
  LineUse& of(std::int32_t line);

  /// By line, line 0 with what is left of `run_seconds` (never below 0).
  std::vector<LineUse> of_run(double run_seconds);

 private:
  std::map<std::int32_t, LineUse> uses_;
};

/// Puts slices and samples into the order that Timeline states: slices by track, begin, the longer
/// first; samples by time, of equal times the last one.
void put_in_order(Timeline& timeline);

/// Keeps at most so many slices, the longest ones (so what nests stays nested), and of each counter
/// at most so many samples, each the mean over an equal stretch of its time. Says so in
/// `sampling`, after what stands there. For a timeline in order.
void thin(Timeline& timeline, std::size_t most_slices, std::size_t most_samples);

/// What a timeline holds at most when a lane gives it: what a viewer still opens.
inline constexpr std::size_t kMostSlices = 200'000;
inline constexpr std::size_t kMostSamples = 4096;

}  // namespace logos
