#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/sweep/axes.h"

namespace logos::bench {

/// The object that `bench sweep --format json` prints, from the axes and the points' own objects of
/// `--format json`, in the order of `product_of`: axes[]{name, values, series[]}, points[]{values,
/// result}, errors{lane: fraction}, crossovers[], undecided[] (docs/sweep.md).
nlohmann::ordered_json sweep_json(const std::vector<Axis>& axes,
                                  const std::vector<nlohmann::ordered_json>& results);

/// The same for people, and as CSV: a line a point and lane.
std::string sweep_console(const nlohmann::ordered_json& sweep);
std::string sweep_csv(const nlohmann::ordered_json& sweep);

/// As of one run: 0 all lanes agree everywhere, 1 one disagrees, 2 one refuses or fails.
int sweep_status(const nlohmann::ordered_json& sweep);

}  // namespace logos::bench
