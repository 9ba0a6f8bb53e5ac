#include "bench/progress_forecast.h"

#include "program/divide_up.h"

namespace logos::bench {
namespace {

/// Seconds of host time for a MAC, about: decode:64 and prefill:256 of kjv on one core of an EPYC.
double usual_rate(const std::string& lane) {
  if (lane == "reference") return 6e-10;
  if (lane == "d5005") return 3e-8;
  return 4e-9;
}

/// A row alone takes as long as this many: what is read once serves all of them.
constexpr std::int64_t kRowsTogether = 8;

constexpr double kStart = 0.2;  // seconds that a task takes before it computes anything

}  // namespace

double Forecast::seconds_of(const ForecastTask& task) const {
  const auto past = past_.find(task.lane);
  if (past == past_.end() || !(past->second.macs > 0)) {
    return kStart + task.macs * usual_rate(task.lane);
  }
  return task.macs * past->second.seconds / past->second.macs;
}

double Forecast::left(std::size_t task) const {
  double seconds = 0;
  for (; task < tasks_.size(); ++task) seconds += seconds_of(tasks_[task]);
  return seconds;
}

void Forecast::done(std::size_t task, double seconds) {
  Past& past = past_[tasks_.at(task).lane];
  past.seconds += seconds;
  past.macs += tasks_[task].macs;
}

double rough_macs(const Cut& cut, const ModelSpec& spec) {
  const auto at = [](std::int64_t value) { return static_cast<double>(value); };
  const double rows = at(round_up(cut.rows, kRowsTogether));
  const double queries = at(spec.query_heads * spec.head_columns);
  const double keys = at(spec.key_heads * spec.head_columns);
  const double matrices = at(spec.columns) * (2 * queries + 2 * keys + 3 * at(spec.hidden_columns));
  // A chunk sees on average half of itself.
  const double seen = cut.work == Cut::Work::kPrefill ? rows / 2 : at(cut.context);
  const double layer = rows * (matrices + 2 * queries * seen);
  const double head =
      (cut.work == Cut::Work::kPrefill ? 1 : rows) * at(spec.columns) * at(spec.vocabulary);
  switch (cut.part) {
    case Cut::Part::kWhole:
      return at(spec.layers) * layer + head;
    case Cut::Part::kLayer:
      return layer;
    case Cut::Part::kHead:
      return head;
    case Cut::Part::kEmbedding:
      return rows * at(spec.columns);
  }
  return 0;
}

}  // namespace logos::bench
