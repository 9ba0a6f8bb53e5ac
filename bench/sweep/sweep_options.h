#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/options.h"
#include "bench/sweep/axes.h"

namespace logos::bench {

/// A point of a sweep, before it is planned.
struct PointOptions {
  std::vector<std::string> values;  ///< one an axis
  Options options;                  ///< of its run
};

/// The command line of `bench sweep`.
struct SweepOptions {
  std::vector<Axis> axes;
  std::vector<PointOptions> points;
  std::vector<std::string> rest;  ///< arguments that every point has
  Format format = Format::kConsole;
  std::string history, out, report;  ///< files; "" where left out
};

/// Null where the usage was asked for, and has been printed. Throws Error for what is wrong with
/// the command line of any point, naming the point.
std::optional<SweepOptions> parse_sweep(const std::vector<std::string>& arguments);

/// `cut=decode:128, chips=2`.
std::string point_text(const std::vector<Axis>& axes, const std::vector<std::string>& values);

}  // namespace logos::bench
