#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "bench/exact_error.h"
#include "bench/generate.h"
#include "bench/progress_forecast.h"
#include "bench/session.h"
#include "bench/tape.h"
#include "program/error.h"
#include "sim/comparison.h"

namespace logos::bench {
namespace {

/// A generation on one lane, kept for comparison.
struct Generation {
  std::optional<GenerateWork> work;
  std::vector<std::string> digests;
};

/// One lane's work on one cut.
class CutTask {
 public:
  /// `left`: seconds that this task and the later ones may take.
  CutTask(Session& session, const Plan& plan, std::size_t lane, LaneOutcome& outcome,
          Generation& generation, double left)
      : session_(session),
        plan_(plan),
        lane_(lane),
        outcome_(outcome),
        generation_(generation),
        left_(left) {}

  TaskTime run() {
    if (outcome_.ending == Ending::kRefused || outcome_.ending == Ending::kFailed) {
      return {.error = outcome_.reason};
    }
    session_.progress.show(
        fmt::format("{}{} on {}", session_.heading, plan_.cut.text(), session_.lanes[lane_].name),
        left_);
    try {
      runner().lower(plan_.cut, &plan_.text);
    } catch (const Error& error) {
      return end(Ending::kRefused, error.what());
    } catch (const std::bad_alloc&) {
      return end(Ending::kFailed, "out of memory");
    }
    try {
      return repetition();
    } catch (const std::bad_alloc&) {
      return end(Ending::kFailed, "out of memory");
    } catch (const std::exception& error) {
      return end(Ending::kFailed, error.what());
    }
  }

 private:
  Runner& runner() { return *session_.runners[lane_]; }

  TaskTime end(Ending ending, std::string_view reason) {
    session_.progress.clear();
    outcome_.ending = ending;
    outcome_.reason = reason;
    return {.error = outcome_.reason};
  }

  TaskTime repetition() {
    const bool first = outcome_.ending == Ending::kNotRun;
    Inputs inputs = session_.maker.inputs(plan_);
    Dumper* dumper = first && session_.dumper ? &*session_.dumper : nullptr;
    if (dumper != nullptr) begin_dump(*dumper);
    const bool timeline = first && (session_.options.trace || session_.options.report);
    Ran ran = runner().run(plan_.cut, inputs, dumper, timeline);
    if (dumper != nullptr) dumper->end();
    const double seconds = ran.result.timing.seconds;
    const std::string digest = output_sha256(ran.result);
    if (!first && digest != outcome_.output_sha256) {
      return end(Ending::kFailed, fmt::format("gave {} and then, for the same inputs, {}",
                                              outcome_.output_sha256, digest));
    }
    if (first) {
      outcome_.output_sha256 = digest;
      outcome_.host_seconds = ran.host_seconds;
      outcome_.simulation_seconds = ran.simulation_seconds;
      outcome_.result = std::move(ran.result);
      if (generation_.work) run_generation();
      outcome_.ending = Ending::kRan;
    }
    outcome_.repeated_seconds.push_back(seconds);
    session_.progress.clear();
    return time_of(seconds);
  }

  void begin_dump(Dumper& dumper) {
    std::vector<std::int64_t> sequences(plan_.positions.size(), 0);
    if (plan_.cut.work == Cut::Work::kBatch) {
      for (std::size_t row = 0; row < sequences.size(); ++row) {
        sequences[row] = static_cast<std::int64_t>(row);
      }
    }
    dumper.last_row_only(plan_.cut.part == Cut::Part::kHead &&
                         plan_.cut.work == Cut::Work::kPrefill);
    dumper.begin(plan_.positions, std::move(sequences));
  }

  void run_generation() {
    session_.progress.show(fmt::format("generating on {}", session_.lanes[lane_].name));
    DigestTape tape(runner());
    Generated generated;
    generated.tokens = generate(*generation_.work, session_.model.spec, tape);
    generated.text = session_.model.vocabulary.text(generated.tokens);
    generation_.digests = tape.digests();
    outcome_.generated = std::move(generated);
  }

  TaskTime time_of(double seconds) const {
    TaskTime time{.seconds = seconds};
    const Timing& timing = outcome_.result->timing;
    time.note = time_note(timing.time_class, timing.remark);
    if (plan_.cut.part == Cut::Part::kWhole) time.tokens = static_cast<double>(plan_.cut.rows);
    if (!timing.bytes.empty()) {
      time.bytes = 0;
      for (const auto& [memory, bytes] : timing.bytes) *time.bytes += static_cast<double>(bytes);
    }
    if (timing.cycles) time.cycles = static_cast<double>(*timing.cycles);
    return time;
  }

  Session& session_;
  const Plan& plan_;
  std::size_t lane_;
  LaneOutcome& outcome_;
  Generation& generation_;
  double left_;
};

void disagree(LaneOutcome& lane, std::optional<Divergence> divergence) {
  lane.agrees = false;
  if (!lane.divergence) lane.divergence = std::move(divergence);
}

/// Compares one lane with what is expected of it, and finds where they part.
void compare(Session& session, const Plan& plan, Runner& expected_runner, const Result& expected,
             Runner& runner, LaneOutcome& lane) {
  // Another number of chips is another text: there the lines of a fault are other lines.
  const bool same_text = expected_runner.chips() == runner.chips();
  const bool same = same_text ? same_outputs(expected, *lane.result)
                              : output_sha256(expected) == lane.output_sha256 &&
                                    expected.fault.has_value() == lane.result->fault.has_value();
  if (same) return;
  session.progress.show(fmt::format("finding where {} parts", lane.lane));
  const Inputs inputs = session.maker.inputs(plan);
  disagree(lane, divergence_of(expected_runner, {plan.cut, inputs, expected}, runner,
                               {plan.cut, inputs, *lane.result}));
  session.progress.clear();
}

void compare_generations(Session& session, Runner& expected_runner, const Generation& expected,
                         Runner& runner, const Generation& got, LaneOutcome& lane) {
  const auto index = first_difference(expected.digests, got.digests);
  if (!index) return;
  const auto computation = [&](Tape& tape) { generate(*got.work, session.model.spec, tape); };
  const Record a = replay(expected_runner, computation, *index);
  const Record b = replay(runner, computation, *index);
  disagree(lane, divergence_of(expected_runner, a, runner, b));
}

void compare_cut(Session& session, CutOutcome& cut, const std::vector<Generation>& generations) {
  std::optional<std::size_t> base;
  if (cut.lanes[session.base()].ending == Ending::kRan) base = session.base();
  for (std::size_t i = 0; i < cut.lanes.size() && !base; ++i) {
    if (cut.lanes[i].ending == Ending::kRan) base = i;
  }
  if (!base) return;
  cut.compared_with = cut.lanes[*base].lane;
  if (cut.plan.chips > 1 && cut.compared_with == "reference") {
    Inputs inputs = session.maker.inputs(cut.plan);
    const Result whole = session.one_chip->run(cut.plan.cut, inputs).result;
    compare(session, cut.plan, *session.one_chip, whole, *session.runners[*base], cut.lanes[*base]);
  }
  for (std::size_t i = 0; i < cut.lanes.size(); ++i) {
    LaneOutcome& lane = cut.lanes[i];
    if (i == *base || lane.ending != Ending::kRan) continue;
    compare(session, cut.plan, *session.runners[*base], *cut.lanes[*base].result,
            *session.runners[i], lane);
    if (lane.generated) {
      compare_generations(session, *session.runners[*base], generations[*base], *session.runners[i],
                          generations[i], lane);
    }
  }
}

}  // namespace

TaskReports run_cuts(Session& session, const std::vector<Plan>& plans,
                     std::vector<CutOutcome>& outcomes) {
  std::vector<std::vector<Generation>> generations(plans.size());
  for (std::size_t cut = 0; cut < plans.size(); ++cut) {
    outcomes.push_back({plans[cut], "", std::vector<LaneOutcome>(session.lanes.size())});
    generations[cut].resize(session.lanes.size());
    if (!session.options.generate) continue;
    const GenerateWork work =
        generate_work(plans[cut], *session.options.generate, session.options.context);
    warn_beyond_training(session.options, session.model, work.context);
    for (Generation& generation : generations[cut]) generation.work = work;
  }
  std::vector<Task> tasks;
  std::vector<ForecastTask> sizes;
  for (const Plan& plan : plans) {
    const double macs = rough_macs(plan.cut, session.model.spec);
    for (const LaneEntry& lane : session.lanes) sizes.push_back({lane.name, macs});
  }
  Forecast forecast(std::move(sizes));
  for (std::size_t cut = 0; cut < plans.size(); ++cut) {
    for (std::size_t lane = 0; lane < session.lanes.size(); ++lane) {
      LaneOutcome& outcome = outcomes[cut].lanes[lane];
      outcome.lane = session.lanes[lane].name;
      tasks.push_back({fmt::format("{}/{}", plans[cut].cut.text(), outcome.lane),
                       [&session, &plans, &forecast, &outcome, &generation = generations[cut][lane],
                        cut, lane, index = tasks.size()] {
                         const double start = wall_seconds();
                         TaskTime time = CutTask(session, plans[cut], lane, outcome, generation,
                                                 forecast.left(index))
                                             .run();
                         forecast.done(index, wall_seconds() - start);
                         if (session.after_task) session.after_task();
                         return time;
                       }});
    }
  }
  TaskReports reports = run_tasks(tasks, session.options);
  for (std::size_t cut = 0; cut < plans.size(); ++cut) {
    compare_cut(session, outcomes[cut], generations[cut]);
    if (session.options.exact) add_exact_errors(session, outcomes[cut]);
  }
  return reports;
}

}  // namespace logos::bench
