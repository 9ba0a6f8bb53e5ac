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
  Json inputs;  ///< their digest; null where the run was kept before it was
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
    Entry entry{cut, nullptr, nullptr, context["weights_sha256"], nullptr, nullptr, lane};
    if (context.contains("inputs") && context["inputs"].contains(cut)) {
      entry.inputs = context["inputs"][cut];
    }
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

/// Everything that two values say otherwise, by dotted names: objects key by key, lists of equal
/// length item by item. `tell` takes the name and the two values, null where one has none.
template <typename Tell>
void tell_differences(const std::string& name, const Json& a, const Json& b, const Tell& tell) {
  if (a == b) return;
  const auto inner = [&](const std::string& key) {
    return name.empty() ? key : fmt::format("{}.{}", name, key);
  };
  const auto item = [](const Json& of, const std::string& key) {
    return of.contains(key) ? of[key] : Json(nullptr);
  };
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      tell_differences(inner(key), value, item(b, key), tell);
    }
    for (const auto& [key, value] : b.items()) {
      if (!a.contains(key)) tell_differences(inner(key), nullptr, value, tell);
    }
  } else if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      tell_differences(fmt::format("{}[{}]", name, i), a[i], b[i], tell);
    }
  } else {
    tell(name, a, b);
  }
}

/// Follows from other keys, or belongs to the host and the hour.
bool is_derived(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys = {"lane", "seconds", "tokens_per_second",
                                                     "host_seconds", "simulation_seconds"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

/// What is told of a lane's object; of the fractions that a measured time gives nothing, since they
/// are never the same twice.
Json told_of(const Json& lane) {
  Json told = Json::object();
  for (const auto& [key, value] : lane.items()) {
    if (!is_derived(key)) told[key] = value;
  }
  if (lane.value("time_class", Json(nullptr)) != "measured") return told;
  told.erase("chip_fraction");
  if (told.value("bound", Json(nullptr)).is_object()) told["bound"].erase("fraction");
  return told;
}

/// The comparison of one lane's work on one cut.
class Pair {
 public:
  Pair(const Entry& a, const Entry& b, double tolerance) : a_(a), b_(b), tolerance_(tolerance) {
    note("program_sha256", a.program, b.program);
    note("weights_sha256", a.weights, b.weights);
    note("inputs_sha256", a.inputs, b.inputs);
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
    const bool same_work =
        a_.program == b_.program && a_.weights == b_.weights && a_.inputs == b_.inputs;
    // What was wrong may become right.
    const bool was_right = agrees(a_.object) != false;
    if (same_work && was_right && outputs(a_.object) != outputs(b_.object) && a == "ran" &&
        b == "ran") {
      regressions_.push_back("other outputs of the same program, weights and inputs");
    }
  }

  static Json outputs(const Json& lane) {
    if (lane.contains("output_sha256")) return lane["output_sha256"];
    return lane.contains("score") ? lane["score"].value("logits_sha256", Json(nullptr))
                                  : Json(nullptr);
  }

  void compare_keys() {
    tell_differences(
        "", told_of(a_.object), told_of(b_.object),
        [&](const std::string& key, const Json& a, const Json& b) { note(key, a, b); });
  }

  void compare_times() {
    const Json a = a_.object.value("seconds", Json(nullptr));
    const Json b = b_.object.value("seconds", Json(nullptr));
    const Json time_class = a_.object.value("time_class", Json(nullptr));
    const bool alike = time_class == b_.object.value("time_class", Json(nullptr));
    const auto by = growth(a, b);
    if (!by || !alike) {
      note("seconds", a, b);
      return;
    }
    if (time_class != "measured" || std::abs(*by) > tolerance_) note("seconds", a, b);
    if (a_.object["lane"] == "reference") return;  // its time is the host's: no machine got slower
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

/// A value as the table shows it; of a long text what is around `from`.
std::string shown(const Json& value, std::size_t from) {
  if (value.is_number_float()) return fmt::format("{:.9g}", value.get<double>());
  std::string text = value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kMost = 40;
  constexpr std::size_t kBefore = 10;
  const bool digest =
      text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (digest) return text.substr(0, 12) + "…";
  if (text.size() <= kMost || from <= kMost - kBefore) return escaped(shortened(text, kMost));
  return "…" + escaped(shortened(text.substr(from - kBefore), kMost));
}

/// Where two texts part.
std::size_t difference_of(const Json& a, const Json& b) {
  if (!a.is_string() || !b.is_string()) return 0;
  const auto first = a.get<std::string>();
  const auto second = b.get<std::string>();
  return static_cast<std::size_t>(
      std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first -
      first.begin());
}

std::string line_of(const Json& change) {
  const std::size_t from = difference_of(change["a"], change["b"]);
  std::string line = fmt::format("    {:<18} {} -> {}", change["key"].get<std::string>(),
                                 shown(change["a"], from), shown(change["b"], from));
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
  tell_differences("", a["context"], b["context"],
                   [&](const std::string& key, const Json& of_a, const Json& of_b) {
                     comparison["context"].push_back({{"key", key}, {"a", of_a}, {"b", of_b}});
                   });
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
