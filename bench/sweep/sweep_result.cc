#include "bench/sweep/sweep_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bench/sweep/crossovers.h"
#include "program/check.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

const Json& lanes_of(const Json& result) { return result["cuts"][0]["lanes"]; }

/// Names of all lanes, in the order of their first appearance, without the reference: that is no
/// machine.
std::vector<std::string> machines(const std::vector<Json>& results) {
  std::vector<std::string> names;
  for (const Json& result : results) {
    for (const Json& lane : lanes_of(result)) {
      const std::string name = lane["lane"].get<std::string>();
      const bool known = std::find(names.begin(), names.end(), name) != names.end();
      if (!known && name != "reference") names.push_back(name);
    }
  }
  return names;
}

/// The time of a lane that ran and agrees.
std::optional<double> seconds_of(const Json& result, const std::string& name) {
  for (const Json& lane : lanes_of(result)) {
    if (lane["lane"] != name || !lane.contains("seconds")) continue;
    if (lane["agrees"] != true || !lane["seconds"].is_number()) return std::nullopt;
    return lane["seconds"].get<double>();
  }
  return std::nullopt;
}

Json errors_of(const std::vector<Json>& results) {
  std::map<std::string, double> errors;
  for (const Json& result : results) {
    for (const Json& lane : lanes_of(result)) errors.try_emplace(lane["lane"].get<std::string>());
    for (const auto& [lane, note] : result["context"]["time_notes"].items()) {
      double& error = errors[lane];
      error = std::max(error, error_of_note(note.get<std::string>()));
    }
  }
  Json object = Json::object();
  for (const auto& [lane, error] : errors) object[lane] = error;
  return object;
}

/// Everything that crossovers are found from.
class CurveFinder {
 public:
  CurveFinder(const std::vector<Axis>& axes, const std::vector<Json>& results, const Json& errors)
      : axes_(axes), results_(results), errors_(errors), machines_(machines(results)) {
    const auto points = product_of(axes);
    CHECK(points.size() == results.size());
    for (std::size_t i = 0; i < points.size(); ++i) by_values_[points[i]] = i;
  }

  void find(Json& crossovers, Json& undecided) const {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      std::vector<Axis> others = axes_;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
      for (const Series& series : series_of(axes_[axis])) {
        for (const auto& fixed : product_of(others)) {
          add(axis, series, others, fixed, crossovers, undecided);
        }
      }
    }
  }

 private:
  void add(std::size_t axis, const Series& series, const std::vector<Axis>& others,
           const std::vector<std::string>& fixed, Json& crossovers, Json& undecided) const {
    std::vector<Curve> curves;
    for (const std::string& name : machines_) {
      curves.push_back({name, {}, errors_[name].get<double>()});
    }
    for (const std::string& value : series.values) {
      std::vector<std::string> values = fixed;
      values.insert(values.begin() + static_cast<std::ptrdiff_t>(axis), value);
      const Json& result = results_[by_values_.at(values)];
      for (Curve& curve : curves) curve.seconds.push_back(seconds_of(result, curve.lane));
    }
    Json head = {{"axis", axes_[axis].name}, {"pattern", series.pattern}};
    head["fixed"] = Json::object();
    for (std::size_t i = 0; i < others.size(); ++i) head["fixed"][others[i].name] = fixed[i];
    const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
    const Crossings crossings = crossings_of(series.numbers, curves);
    for (const Crossover& crossover : crossings.crossovers) {
      Json object = head;
      object["from_lane"] = crossover.from_lane;
      object["to_lane"] = crossover.to_lane;
      object["at"] = crossover.at;
      object["at_least"] = or_null(crossover.at_least);
      object["at_most"] = or_null(crossover.at_most);
      object["leader"] = crossover.leader;
      object["leader_open"] = crossover.leader_open;
      crossovers.push_back(std::move(object));
    }
    for (const Undecided& stretch : crossings.undecided) {
      Json object = head;
      object["lanes"] = {stretch.first, stretch.second};
      object["from"] = stretch.from;
      object["to"] = stretch.to;
      undecided.push_back(std::move(object));
    }
  }

  const std::vector<Axis>& axes_;
  const std::vector<Json>& results_;
  const Json& errors_;
  std::vector<std::string> machines_;
  std::map<std::vector<std::string>, std::size_t> by_values_;
};

}  // namespace

Json sweep_json(const std::vector<Axis>& axes, const std::vector<Json>& results) {
  Json sweep = {{"axes", Json::array()}, {"points", Json::array()}};
  for (const Axis& axis : axes) {
    Json series = Json::array();
    for (const Series& one : series_of(axis)) {
      series.push_back(
          {{"pattern", one.pattern}, {"values", one.values}, {"numbers", one.numbers}});
    }
    sweep["axes"].push_back({{"name", axis.name}, {"values", axis.values}, {"series", series}});
  }
  const auto points = product_of(axes);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Json values = Json::object();
    for (std::size_t a = 0; a < axes.size(); ++a) values[axes[a].name] = points[i][a];
    sweep["points"].push_back({{"values", values}, {"result", results[i]}});
  }
  sweep["errors"] = errors_of(results);
  sweep["crossovers"] = Json::array();
  sweep["undecided"] = Json::array();
  CurveFinder(axes, results, sweep["errors"]).find(sweep["crossovers"], sweep["undecided"]);
  return sweep;
}

int sweep_status(const Json& sweep) {
  int status = 0;
  for (const Json& point : sweep["points"]) {
    for (const Json& lane : lanes_of(point["result"])) {
      if (!lane.contains("agrees")) return 2;
      if (lane["agrees"] != true) status = 1;
    }
  }
  return status;
}

}  // namespace logos::bench
