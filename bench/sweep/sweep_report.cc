#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/sweep/sweep_result.h"
#include "bench/text_table.h"
#include "program/printable.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> lane_names(const Json& sweep) {
  std::vector<std::string> names;
  for (const Json& point : sweep["points"]) {
    for (const Json& lane : point["result"]["cuts"][0]["lanes"]) {
      const std::string name = lane["lane"].get<std::string>();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

const Json* lane_of(const Json& point, const std::string& name) {
  for (const Json& lane : point["result"]["cuts"][0]["lanes"]) {
    if (lane["lane"] == name) return &lane;
  }
  return nullptr;
}

/// A lane's time with its class, or why there is none.
std::string cell(const Json* lane) {
  if (lane == nullptr) return "-";
  if (lane->contains("refused")) return "refused";
  if (lane->contains("failed")) return "FAILED";
  if ((*lane)["agrees"] != true) return "DIFFERS";
  if (!(*lane)["seconds"].is_number()) return "-";
  return fmt::format("{} {}", human_seconds((*lane)["seconds"].get<double>()),
                     (*lane)["time_class"].get<std::string>());
}

/// The machine (the reference is none) with the least time at a point; with a `?` behind it where
/// the errors of the times do not settle that.
std::string fastest(const Json& sweep, const Json& point) {
  struct Time {
    std::string lane;
    double seconds = 0;
    double error = 0;  ///< within seconds * (1 +- error)
  };
  std::vector<Time> times;
  for (const Json& lane : point["result"]["cuts"][0]["lanes"]) {
    const bool counts = lane["lane"] != "reference" && lane.value("agrees", Json(false)) == true &&
                        lane["seconds"].is_number();
    if (!counts) continue;
    const std::string name = lane["lane"].get<std::string>();
    times.push_back({name, lane["seconds"].get<double>(), sweep["errors"][name].get<double>()});
  }
  if (times.empty()) return "-";
  std::stable_sort(times.begin(), times.end(),
                   [](const Time& a, const Time& b) { return a.seconds < b.seconds; });
  const double at_most = times[0].seconds * (1 + times[0].error);
  const bool open = std::any_of(times.begin() + 1, times.end(), [&](const Time& other) {
    return at_most >= other.seconds * (1 - other.error);
  });
  return times[0].lane + (open ? "?" : "");
}

/// Why lanes refused or failed, each reason once.
std::string reasons_text(const Json& sweep) {
  std::vector<std::string> reasons;
  for (const Json& point : sweep["points"]) {
    for (const Json& lane : point["result"]["cuts"][0]["lanes"]) {
      for (const char* ending : {"refused", "failed"}) {
        if (!lane.contains(ending)) continue;
        const std::string reason = fmt::format("{} {}: {}", lane["lane"].get<std::string>(), ending,
                                               escaped(lane[ending].get<std::string>()));
        if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
          reasons.push_back(reason);
        }
      }
    }
  }
  return reasons.empty() ? "" : fmt::format("{}\n", fmt::join(reasons, "\n"));
}

std::string number_text(const Json& value) {
  if (value.is_null()) return "beyond";
  const double number = value.get<double>();
  return number >= 100 ? human_count(std::round(number)) : fmt::format("{:.3g}", number);
}

/// `decode:{}`, with what is fixed.
std::string where(const Json& object) {
  std::string text = object["axis"] == "cut"
                         ? object["pattern"].get<std::string>()
                         : fmt::format("{}={}", object["axis"].get<std::string>(),
                                       object["pattern"].get<std::string>());
  for (const auto& [axis, value] : object["fixed"].items()) {
    text += fmt::format(", {}={}", axis, value.get<std::string>());
  }
  return escaped(text);
}

std::string crossover_text(const Json& crossover) {
  std::string text =
      fmt::format("  {}: {} overtakes {} at about {}", where(crossover),
                  crossover["to_lane"].get<std::string>(),
                  crossover["from_lane"].get<std::string>(), number_text(crossover["at"]));
  text += fmt::format(" (surely between {} and {})", number_text(crossover["at_least"]),
                      number_text(crossover["at_most"]));
  if (crossover["leader"] != true) return text + "\n";
  return text + (crossover["leader_open"] == true ? ", and may lead\n" : ", and leads\n");
}

}  // namespace

std::string sweep_console(const Json& sweep) {
  const std::vector<std::string> names = lane_names(sweep);
  std::vector<std::vector<std::string>> rows(1);
  for (const Json& axis : sweep["axes"])
    rows[0].push_back(escaped(axis["name"].get<std::string>()));
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  rows[0].emplace_back("fastest");
  bool open = false;  // the fastest of a point
  for (const Json& point : sweep["points"]) {
    std::vector<std::string> row;
    for (const auto& [axis, value] : point["values"].items()) {
      row.push_back(escaped(value.get<std::string>()));
    }
    for (const std::string& name : names) row.push_back(cell(lane_of(point, name)));
    row.push_back(fastest(sweep, point));
    open = open || row.back().ends_with('?');
    rows.push_back(std::move(row));
  }
  std::string text = text_table(rows);
  if (open) text += "?: the errors of the times leave the fastest open\n";
  text += reasons_text(sweep);
  for (const auto& [lane, error] : sweep["errors"].items()) {
    if (error != 0) {
      text += fmt::format("times of {} are within {:g} %\n", lane, 100 * error.get<double>());
    }
  }
  text += sweep["crossovers"].empty() ? "no crossovers\n" : "crossovers\n";
  for (const Json& crossover : sweep["crossovers"]) text += crossover_text(crossover);
  for (const Json& stretch : sweep["undecided"]) {
    const std::string from = number_text(stretch["from"]);
    const std::string to = number_text(stretch["to"]);
    text +=
        fmt::format("  {}: {} and {} are within their errors {}\n", where(stretch),
                    stretch["lanes"][0].get<std::string>(), stretch["lanes"][1].get<std::string>(),
                    from == to ? "at " + from : fmt::format("from {} to {}", from, to));
  }
  return text;
}

std::string sweep_csv(const Json& sweep) {
  // One object of all points' lanes: its CSV has the columns of all of them.
  Json all = {{"context", Json()}, {"cuts", Json::array()}};
  for (const Json& point : sweep["points"]) {
    all["context"] = point["result"]["context"];
    for (const Json& cut : point["result"]["cuts"]) {
      Json with = {{"cut", cut["cut"]}, {"identity", cut["identity"]}, {"lanes", Json::array()}};
      for (const Json& lane : cut["lanes"]) {
        Json own = {{"lane", lane["lane"]}};
        own["axis"] = point["values"];
        own.update(lane);
        const std::string name = lane["lane"].get<std::string>();
        const Json& digests = point["result"]["context"]["configurations"];
        own["config_sha256"] = digests.contains(name) ? digests[name] : Json(nullptr);
        own["time_note"] = point["result"]["context"]["time_notes"].value(name, "");
        with["lanes"].push_back(std::move(own));
      }
      all["cuts"].push_back(std::move(with));
    }
  }
  return report_csv(all);
}

}  // namespace logos::bench
