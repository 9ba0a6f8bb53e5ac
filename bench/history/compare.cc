#include "bench/history/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "program/printable.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A lane's object with what it was made from.
struct Entry {
  std::string cut;
  Json chips;
  Json program;  ///< its digest; null with --score
  Json weights;
  Json configuration;
  Json object;
};

/// By what makes two results comparable: cut, chips, lane, and which of those that are alike.
using Entries = std::vector<std::pair<std::string, Entry>>;

Entries entries_of(const Json& result) {
  Entries entries;
  std::map<std::string, int> seen;
  const Json& context = result["context"];
  const auto add = [&](const std::string& cut, const Json& identity, const Json& lane) {
    const std::string name = lane["lane"].get<std::string>();
    Entry entry{cut, nullptr, nullptr, context["weights_sha256"], nullptr, lane};
    if (identity.is_object()) {
      entry.chips = identity["chips"];
      entry.program = identity["sha256"];
    }
    const Json& configurations = context["configurations"];
    if (configurations.contains(name)) entry.configuration = configurations[name];
    std::string key = fmt::format("{}\n{}\n{}", cut, entry.chips.dump(), name);
    key += fmt::format("\n{}", seen[key]++);
    entries.emplace_back(std::move(key), std::move(entry));
  };
  if (!result.contains("cuts")) {
    for (const Json& lane : result["lanes"]) add("score", nullptr, lane);
    return entries;
  }
  for (const Json& cut : result["cuts"]) {
    for (const Json& lane : cut["lanes"]) add(cut["cut"], cut["identity"], lane);
  }
  return entries;
}

const Entry* find(const Entries& entries, const std::string& key) {
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [&](const auto& entry) { return entry.first == key; });
  return at == entries.end() ? nullptr : &at->second;
}

std::optional<double> growth(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number() || a.get<double>() == 0) return std::nullopt;
  return b.get<double>() / a.get<double>() - 1;
}

std::string ending_of(const Json& lane) {
  if (lane.contains("refused")) return "refused";
  return lane.contains("failed") ? "failed" : "ran";
}

/// Follows from other keys, or belongs to the host and the hour.
bool is_derived(std::string_view key) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "lane",         "seconds", "tokens_per_second", "bound", "host_seconds", "simulation_seconds",
      "chip_fraction"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

/// The comparison of one lane's work on one cut.
class Pair {
 public:
  Pair(const Entry& a, const Entry& b, double tolerance) : a_(a), b_(b), tolerance_(tolerance) {
    note("program_sha256", a.program, b.program);
    note("weights_sha256", a.weights, b.weights);
    note("config_sha256", a.configuration, b.configuration);
    compare_endings();
    compare_keys();
    compare_times();
  }

  Json take() && {
    const bool same = changes_.empty() && regressions_.empty();
    return {{"cut", a_.cut},
            {"chips", a_.chips},
            {"lane", a_.object["lane"]},
            {"status", same ? "same" : "changed"},
            {"changes", std::move(changes_)},
            {"regressions", std::move(regressions_)}};
  }

 private:
  void note(const std::string& key, const Json& a, const Json& b) {
    if (a == b) return;
    Json change = {{"key", key}, {"a", a}, {"b", b}};
    if (a.is_number() && b.is_number()) {
      const auto by = growth(a, b);
      change["change"] = by ? Json(*by) : Json(nullptr);
    }
    changes_.push_back(std::move(change));
  }

  void compare_endings() {
    const std::string a = ending_of(a_.object);
    const std::string b = ending_of(b_.object);
    if (a == "ran" && b != "ran") regressions_.push_back(fmt::format("it ran, now it is {}", b));
    const auto agrees = [](const Json& lane) { return lane.value("agrees", Json(nullptr)); };
    if (agrees(a_.object) == true && agrees(b_.object) == false) {
      regressions_.push_back("it agreed, now it does not");
    }
    const bool same_work = a_.program == b_.program && a_.weights == b_.weights;
    if (same_work && outputs(a_.object) != outputs(b_.object) && a == "ran" && b == "ran") {
      regressions_.push_back("other outputs of the same program and weights");
    }
  }

  static Json outputs(const Json& lane) {
    if (lane.contains("output_sha256")) return lane["output_sha256"];
    return lane.contains("score") ? lane["score"]["logits_sha256"] : Json(nullptr);
  }

  void compare_keys() {
    for (const auto& [key, value] : a_.object.items()) {
      if (is_derived(key)) continue;
      note(key, value, b_.object.contains(key) ? b_.object[key] : Json(nullptr));
    }
    for (const auto& [key, value] : b_.object.items()) {
      if (!is_derived(key) && !a_.object.contains(key)) note(key, nullptr, value);
    }
  }

  void compare_times() {
    const Json a = a_.object.value("seconds", Json(nullptr));
    const Json b = b_.object.value("seconds", Json(nullptr));
    const Json time_class = a_.object.value("time_class", Json(nullptr));
    const bool alike = time_class == b_.object.value("time_class", Json(nullptr));
    const auto by = growth(a, b);
    if (!by || !alike) return;
    if (time_class != "measured" || std::abs(*by) > tolerance_) note("seconds", a, b);
    if (*by > tolerance_) {
      regressions_.push_back(
          fmt::format("{:.2f} % slower, more than {:.2f} %", 100 * *by, 100 * tolerance_));
      return;
    }
    const auto cycles =
        growth(a_.object.value("cycles", Json(nullptr)), b_.object.value("cycles", Json(nullptr)));
    if (cycles && *cycles > tolerance_) {
      regressions_.push_back(
          fmt::format("{:.2f} % more cycles, more than {:.2f} %", 100 * *cycles, 100 * tolerance_));
    }
  }

  const Entry& a_;
  const Entry& b_;
  double tolerance_;
  Json changes_ = Json::array();
  Json regressions_ = Json::array();
};

Json alone(const Entry& entry, std::string_view status) {
  return {{"cut", entry.cut}, {"chips", entry.chips},     {"lane", entry.object["lane"]},
          {"status", status}, {"changes", Json::array()}, {"regressions", Json::array()}};
}

/// Everything that the two contexts say otherwise, by dotted names.
void compare_contexts(const std::string& name, const Json& a, const Json& b, Json& changes) {
  if (a == b) return;
  if (!a.is_object() || !b.is_object()) {
    changes.push_back({{"key", name}, {"a", a}, {"b", b}});
    return;
  }
  const auto inner = [&](const std::string& key) {
    return name.empty() ? key : fmt::format("{}.{}", name, key);
  };
  for (const auto& [key, value] : a.items()) {
    compare_contexts(inner(key), value, b.contains(key) ? b[key] : Json(nullptr), changes);
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key)) compare_contexts(inner(key), nullptr, value, changes);
  }
}

std::string shown(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kMost = 40;
  const bool digest =
      text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (digest) return text.substr(0, 12) + "…";
  return escaped(shortened(text, kMost));
}

std::string line_of(const Json& change) {
  std::string line = fmt::format("    {:<18} {} -> {}", change["key"].get<std::string>(),
                                 shown(change["a"]), shown(change["b"]));
  if (change.contains("change") && change["change"].is_number()) {
    line += fmt::format("  ({:+.3f} %)", 100 * change["change"].get<double>());
  }
  return line + "\n";
}

}  // namespace

Json compare_results(const Json& a, const Json& b, double tolerance) {
  Json comparison = {{"tolerance", tolerance},
                     {"context", Json::array()},
                     {"results", Json::array()},
                     {"regressions", 0}};
  compare_contexts("", a["context"], b["context"], comparison["context"]);
  const Entries of_a = entries_of(a);
  const Entries of_b = entries_of(b);
  int regressions = 0;
  for (const auto& [key, entry] : of_a) {
    const Entry* other = find(of_b, key);
    Json result = other == nullptr ? alone(entry, "only_a") : Pair(entry, *other, tolerance).take();
    if (!result["regressions"].empty()) ++regressions;
    comparison["results"].push_back(std::move(result));
  }
  for (const auto& [key, entry] : of_b) {
    if (find(of_a, key) == nullptr) comparison["results"].push_back(alone(entry, "only_b"));
  }
  comparison["regressions"] = regressions;
  return comparison;
}

std::string comparison_text(const Json& comparison) {
  std::string text;
  if (!comparison["context"].empty()) {
    text += "context\n";
    for (const Json& change : comparison["context"]) text += line_of(change);
  }
  for (const Json& result : comparison["results"]) {
    const std::string chips = result["chips"].is_number() && result["chips"] != 1
                                  ? fmt::format(" on {} chips", result["chips"].get<std::int64_t>())
                                  : "";
    const std::string status = result["status"].get<std::string>();
    text += fmt::format("{}{}, {}: {}\n", escaped(result["cut"].get<std::string>()), chips,
                        escaped(result["lane"].get<std::string>()),
                        status == "only_a"   ? "only in A"
                        : status == "only_b" ? "only in B"
                                             : status);
    for (const Json& change : result["changes"]) text += line_of(change);
    for (const Json& reason : result["regressions"]) {
      text += fmt::format("    REGRESSION: {}\n", reason.get<std::string>());
    }
  }
  return text + fmt::format(
                    "{} regressions (tolerance {:.2f} %; cycles are exact: any change is "
                    "shown)\n",
                    comparison["regressions"].get<int>(),
                    100 * comparison["tolerance"].get<double>());
}

}  // namespace logos::bench
