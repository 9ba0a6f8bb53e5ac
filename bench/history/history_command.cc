#include "bench/history/history_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/command_files.h"
#include "bench/history/compare.h"
#include "bench/history/history.h"
#include "bench/option_values.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/subcommands.h"
#include "bench/text_table.h"
#include "program/error.h"
#include "program/printable.h"
#include "program/standard_streams.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

/// What both commands take.
struct Common {
  std::string history, format = "console", out;

  void declare(CLI::App& app, const std::string& formats) {
    app.add_option("--history", history, "the file that --history of runs and sweeps wrote")
        ->required();
    app.add_option("--format", format, formats);
    app.add_option("--out", out, "write the result to a file too");
  }
  Format checked() const {
    check_standard_output();
    CommandFiles files;
    files.keep_history(history);
    if (!out.empty()) files.write("--out", out);
    return parse_format(format);
  }
};

/// A run with its results, as they are listed. One that is damaged is said, and has none.
Json listed(const History& history, const KeptRun& run) {
  Json object = {{"run", run.number},
                 {"started", run.started},
                 {"ended", run.ended ? Json(*run.ended) : Json(nullptr)},
                 {"command", run.command}};
  try {
    object["result"] = history.result(run.number);
  } catch (const Error& error) {
    say(error.what());
    object["damaged"] = error.what();
    object["result"] = {{"context", Json::object()}, {"cuts", Json::array()}};
  }
  return object;
}

bool is_damaged(const Json& run) { return run.contains("damaged"); }

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? escaped(found->get<std::string>()) : found->dump();
}

std::string verdict(const Json& lane) {
  if (lane.contains("refused")) return "refused";
  if (lane.contains("failed")) return "failed";
  const Json agrees = lane.value("agrees", Json(nullptr));
  if (agrees.is_null()) return "not compared";
  return agrees.get<bool>() ? "agrees" : "DIFFERS";
}

/// A number as people read it, or all of its digits.
std::string number_of(const Json& lane, const char* key, bool exact) {
  const auto found = lane.find(key);
  if (exact || found == lane.end() || !found->is_number()) return text_of(lane, key);
  const auto number = found->get<double>();
  return std::string_view(key) == "seconds" ? human_seconds(number) : human_count(number);
}

std::vector<std::string> line_of(const Json& run, const std::string& cut, const Json& identity,
                                 const Json& lane, bool exact) {
  const Json& context = run["result"]["context"];
  const Json git = context.value("git", Json::object());
  std::string commit = text_of(git, "commit").substr(0, 9);
  if (git.value("dirty", Json(nullptr)) == true) commit += "+";
  const auto digest = [](const std::string& text) { return text.substr(0, 9); };
  return {run["run"].dump(),
          text_of(run, "started"),
          is_damaged(run)          ? "damaged"
          : run["ended"].is_null() ? "unfinished"
                                   : "",
          text_of(context, "model"),
          escaped(cut),
          identity.is_object() ? identity["chips"].dump() : "",
          identity.is_object() ? digest(text_of(identity, "sha256")) : "",
          text_of(lane, "lane"),
          number_of(lane, "seconds", exact),
          text_of(lane, "time_class"),
          text_of(lane, "cycles"),
          number_of(lane, "tokens_per_second", exact),
          verdict(lane),
          commit};
}

/// A line a result; a run without any still has one. `exact`: numbers with all their digits.
std::vector<std::vector<std::string>> lines_of(const Json& runs, bool exact) {
  std::vector<std::vector<std::string>> lines = {{"run", "started", "state", "model", "cut",
                                                  "chips", "program", "lane", "seconds", "class",
                                                  "cycles", "tokens/s", "verdict", "commit"}};
  for (const Json& run : runs) {
    const std::size_t before = lines.size();
    const Json& result = run["result"];
    for (const Json& cut : result.value("cuts", Json::array())) {
      for (const Json& lane : cut["lanes"]) {
        lines.push_back(line_of(run, cut["cut"], cut["identity"], lane, exact));
      }
    }
    for (const Json& lane : result.value("lanes", Json::array())) {
      lines.push_back(line_of(run, "score", nullptr, lane, exact));
    }
    if (lines.size() == before) lines.push_back(line_of(run, "-", nullptr, Json::object(), exact));
  }
  return lines;
}

/// Leaves the results of one cut or lane, and the runs that have any. Throws Error where none has.
void keep_only(Json& runs, const std::string& cut, const std::string& lane) {
  if ((cut.empty() && lane.empty()) || runs.empty()) return;
  const auto erase_if = [](Json& list, const auto& unwanted) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (unwanted(list[i])) list.erase(i);
    }
  };
  const auto other_lane = [&](const Json& of) { return !lane.empty() && of["lane"] != lane; };
  erase_if(runs, [&](Json& run) {
    Json& result = run["result"];
    if (result.contains("lanes")) {
      erase_if(result["lanes"], other_lane);
      return result["lanes"].empty() || (!cut.empty() && cut != "score");
    }
    erase_if(result["cuts"], [&](Json& of) {
      erase_if(of["lanes"], other_lane);
      return of["lanes"].empty() || (!cut.empty() && of["cut"] != cut);
    });
    return result["cuts"].empty();
  });
  if (!runs.empty()) return;
  const std::string asked = cut.empty() ? fmt::format("--lane {}", escaped(lane))
                            : lane.empty()
                                ? fmt::format("--cut {}", escaped(cut))
                                : fmt::format("--cut {} --lane {}", escaped(cut), escaped(lane));
  throw Error(asked, "no result of these runs is of it");
}

double parse_tolerance(const std::string& text) {
  double percent = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  if (whole && std::isfinite(percent) && percent >= 0) return percent / 100;
  throw Error("--tolerance", "not a percentage", fmt::format("\"{}\"", text), "a number from 0 up");
}

/// Runs what reads the results of a history. Throws Error where one of them lacks what results
/// have.
template <typename Work>
int on_results(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const Json::exception& error) {
    throw Error(file, fmt::format("holds a damaged result ({})", error.what()));
  }
}

int print_run(const History& history, const std::string& run, const std::string& cut,
              const std::string& lane, Format format, const std::string& out) {
  Json runs = Json::array();
  runs.push_back({{"result", history.result(history.run_named(run))}});
  keep_only(runs, cut, lane);
  const Json& result = runs[0]["result"];
  write_result(format == Format::kJson ? json_text(result) : report_csv(result), out);
  return 0;
}

}  // namespace

int history_command(const std::vector<std::string>& arguments) {
  CLI::App app("Lists the results that a history keeps.", "bench history");
  Common common;
  std::string run, cut, lane;
  common.declare(app, "console, json or csv");
  app.add_option("--run", run, "one run: its number, or last, last-1, …");
  app.add_option("--cut", cut, "only this cut");
  app.add_option("--lane", lane, "only this lane");
  if (parse_subcommand(app, arguments)) return 0;
  const Format format = common.checked();
  const History history(common.history, History::Open::kExisting, say);
  return on_results(common.history, [&] {
    if (!run.empty() && format != Format::kConsole) {
      return print_run(history, run, cut, lane, format, common.out);
    }
    Json runs = Json::array();
    const std::int64_t only = run.empty() ? 0 : history.run_named(run);
    for (const KeptRun& kept : history.runs()) {
      if (only == 0 || kept.number == only) runs.push_back(listed(history, kept));
    }
    keep_only(runs, cut, lane);
    const std::string text = format == Format::kJson  ? json_text({{"runs", runs}})
                             : format == Format::kCsv ? csv_table(lines_of(runs, true))
                                                      : text_table(lines_of(runs, false));
    write_result(text, common.out);
    return std::any_of(runs.begin(), runs.end(), is_damaged) ? 2 : 0;
  });
}

int compare_command(const std::vector<std::string>& arguments) {
  CLI::App app("Shows what changed from run A to run B of a history, and marks regressions.",
               "bench compare");
  Common common;
  std::string a, b, tolerance = "5";
  app.add_option("A", a, "a run: its number, or last, last-1, …")->required();
  app.add_option("B", b, "another")->required();
  common.declare(app, "console or json");
  app.add_option("--tolerance", tolerance,
                 "per cent that a time may grow by before it is a regression (5)");
  if (parse_subcommand(app, arguments)) return 0;
  const Format format = common.checked();
  if (format == Format::kCsv) {
    throw Error("--format", "not of a comparison", "\"csv\"", "console or json");
  }
  const double most = parse_tolerance(tolerance);
  const History history(common.history, History::Open::kExisting, say);
  const std::int64_t first = history.run_named(a);
  const std::int64_t second = history.run_named(b);
  return on_results(common.history, [&] {
    Json comparison = {{"a", first}, {"b", second}};
    comparison.update(compare_results(history.result(first), history.result(second), most));
    const std::string text =
        format == Format::kJson
            ? json_text(comparison)
            : fmt::format("A = run {}, B = run {}\n", first, second) + comparison_text(comparison);
    write_result(text, common.out);
    return comparison["regressions"] == 0 ? 0 : 1;
  });
}

}  // namespace logos::bench
