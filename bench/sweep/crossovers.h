#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace logos::bench {

/// A lane's times over the numbers of a series: null where it has none (refused, failed, differs).
struct Curve {
  std::string lane;
  std::vector<std::optional<double>> seconds;
  double error = 0;  ///< of its times: within seconds * (1 +- error)
};

/// Where one lane overtakes another as x grows.
struct Crossover {
  std::string from_lane;  ///< the faster one before
  std::string to_lane;    ///< and after
  double at = 0;          ///< interpolated
  /// The nearest points of the series around it where, whatever the errors of their times, the one
  /// is surely the faster, and the other: between them nothing but the interpolation says which.
  /// Null where the series, up to a point without a time, has none.
  std::optional<double> at_least;
  std::optional<double> at_most;
  bool leader = false;       ///< no other lane is faster there
  bool leader_open = false;  ///< but by the errors of the times one may be
};

/// Stretches where the errors of the two times overlap and their curves do not cross.
struct Undecided {
  std::string first;
  std::string second;
  double from = 0;
  double to = 0;
};

struct Crossings {
  std::vector<Crossover> crossovers;  ///< by x
  std::vector<Undecided> undecided;
};

/// Compares every two curves over `x` (rising). Between two points a time is taken as a power of x:
/// straight on logarithmic axes (straight on x's own where an x is 0).
Crossings crossings_of(const std::vector<double>& x, const std::vector<Curve>& curves);

/// The error that a lane's note states ("modelled: uncalibrated, +-30 %": 0.3); 0 where it states
/// none, for then its class is exact or measured.
double error_of_note(std::string_view note);

}  // namespace logos::bench
