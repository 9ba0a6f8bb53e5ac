#include "bench/page/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/page/timeline_json.h"
#include "bench/report_map.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string title_of(const Report& report) {
  if (report.is_score) return fmt::format("{}: score", report.model);
  std::vector<std::string> cuts;
  for (const CutOutcome& cut : report.cuts) cuts.push_back(cut.plan.cut.text());
  return fmt::format("{}: {}", report.model, fmt::join(cuts, ", "));
}

bool has_run(const CutOutcome& cut) {
  return std::any_of(cut.lanes.begin(), cut.lanes.end(),
                     [](const LaneOutcome& lane) { return lane.ending != Ending::kNotRun; });
}

/// `object` behind the cut and the lane that it is of.
Json of_lane(const CutOutcome& cut, const LaneOutcome& lane, const Json& object) {
  Json with = {{"cut", cut.plan.cut.text()}, {"lane", lane.lane}};
  with.update(object);
  return with;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_=:,./@+%").find(c) != std::string_view::npos;
}

}  // namespace

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "bench";
  for (const std::string& argument : arguments) {
    text += ' ';
    if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) {
      text += argument;
      continue;
    }
    text += '\'';
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::vector<std::string> program_lines(std::string_view text) {
  constexpr std::string_view kPlace = "Weights lie under";
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.starts_with(kPlace)) lines.emplace_back(line);
    begin = end + 1;
  }
  return lines;
}

nlohmann::ordered_json page_document(const Report& report, const nlohmann::ordered_json& result,
                                     std::string_view command) {
  Json programs = Json::array();
  Json timelines = Json::array();
  Json maps = Json::array();
  for (const CutOutcome& cut : report.cuts) {
    if (!has_run(cut)) continue;
    programs.push_back(
        {{"cut", cut.plan.cut.text()},
         {"chips", cut.plan.chips},
         {"text", fmt::format("{}\n", fmt::join(program_lines(cut.plan.text), "\n"))}});
    for (const LaneOutcome& lane : cut.lanes) {
      if (lane.ending != Ending::kRan) continue;
      if (lane.result->timeline) {
        timelines.push_back(of_lane(cut, lane, timeline_json(*lane.result->timeline)));
      }
      if (lane.result->map) maps.push_back(of_lane(cut, lane, map_json(*lane.result->map)));
    }
  }
  return {{"title", title_of(report)}, {"command", command},     {"result", result},
          {"programs", programs},      {"timelines", timelines}, {"maps", maps}};
}

}  // namespace logos::bench
