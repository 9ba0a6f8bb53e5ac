#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace logos::bench {

/// What changed from one result (an object of `--format json`) to another: `context[]` with `key,
/// a, b`, and `results[]` by cut, chips and lane with `status` (same, changed, only_a, only_b),
/// `changes[]` of `key, a, b` and, of numbers, `change` (b / a - 1, null where a is 0), and
/// `regressions[]`, the reasons in words. `regressions` counts those results that have any:
///   - a time, or its cycles, that grew by more than `tolerance` (0.05: 5 %), but for the
///     reference's, which is the host's;
///   - outputs that are other ones with the same program, weights and inputs, where A's agreed;
///   - a lane that agreed and no longer does, or that ran and now refuses or fails.
/// Cycles, bytes and multiply-adds are exact: any change is shown. A measured time is shown where
/// it changed by more than the tolerance.
nlohmann::ordered_json compare_results(const nlohmann::ordered_json& a,
                                       const nlohmann::ordered_json& b, double tolerance);

/// The same for people.
std::string comparison_text(const nlohmann::ordered_json& comparison);

}  // namespace logos::bench
