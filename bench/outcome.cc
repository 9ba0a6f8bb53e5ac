#include "bench/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace logos::bench {

double LaneOutcome::seconds() const {
  std::vector<double> sorted = repeated_seconds;
  if (sorted.empty()) return 0;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::optional<double> Score::perplexity() const {
  if (predicted == 0) return std::nullopt;
  return std::exp(nll / static_cast<double>(predicted));
}

int exit_status(const Report& report) {
  int status = 0;
  const auto take = [&](Ending ending, bool agrees) {
    if (ending == Ending::kRefused || ending == Ending::kFailed) status = 2;
    if (ending == Ending::kRan && !agrees) status = std::max(status, 1);
  };
  for (const CutOutcome& cut : report.cuts) {
    for (const LaneOutcome& lane : cut.lanes) take(lane.ending, lane.agrees);
  }
  for (const ScoreOutcome& lane : report.scores) take(lane.ending, lane.agrees);
  return status;
}

std::string time_note(TimeClass time_class, std::string_view remark) {
  std::string note(name_of(time_class));
  if (!remark.empty()) note += fmt::format(": {}", remark);
  return note;
}

std::map<std::string, std::string> time_notes(const Report& report) {
  std::map<std::string, std::map<std::string, std::string>> of_cuts;  // by lane and cut
  for (const CutOutcome& cut : report.cuts) {
    for (const LaneOutcome& lane : cut.lanes) {
      if (lane.ending != Ending::kRan) continue;
      const Timing& timing = lane.result->timing;
      of_cuts[lane.lane][cut.plan.cut.text()] =
          timing.remark.empty() ? "" : time_note(timing.time_class, timing.remark);
    }
  }
  std::map<std::string, std::string> notes;
  for (const auto& [lane, cuts] : of_cuts) {
    const std::string& first = cuts.begin()->second;
    const bool same =
        std::all_of(cuts.begin(), cuts.end(), [&](const auto& cut) { return cut.second == first; });
    for (const auto& [cut, note] : cuts) {
      if (!note.empty()) notes[same ? lane : fmt::format("{} {}", lane, cut)] = note;
    }
  }
  for (const ScoreOutcome& lane : report.scores) {
    if (lane.ending != Ending::kRan || lane.time_remark.empty()) continue;
    notes[lane.lane] = time_note(*lane.time_class, lane.time_remark);
  }
  return notes;
}

bool gives_logits(const Cut& cut) {
  return cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kHead;
}

std::optional<double> tokens_per_second(const Cut& cut, double seconds) {
  if (cut.part != Cut::Part::kWhole || !(seconds > 0)) return std::nullopt;
  return static_cast<double>(cut.rows) / seconds;
}

}  // namespace logos::bench
