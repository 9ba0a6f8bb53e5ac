#include <fmt/format.h>

#include <exception>
#include <new>
#include <utility>

#include "bench/exact_error.h"
#include "bench/score.h"
#include "bench/session.h"
#include "bench/tape.h"
#include "program/error.h"
#include "program/written.h"

namespace logos::bench {
namespace {

ScoreMode mode_of(const Options& options) {
  if (options.chunk) return {ScoreMode::Kind::kChunk, *options.chunk};
  if (options.batch) return {ScoreMode::Kind::kBatch, *options.batch};
  return {};
}

struct ScoreState {
  ScoreOutcome outcome;
  std::vector<std::string> digests;
};

TaskTime time_of(const ScoreOutcome& outcome) {
  return {.seconds = outcome.seconds,
          .tokens = static_cast<double>(outcome.total.positions),
          .note = time_note(*outcome.time_class, outcome.time_remark)};
}

TaskTime end(ScoreOutcome& outcome, Ending ending, std::string_view reason) {
  outcome.ending = ending;
  outcome.reason = reason;
  return {.error = outcome.reason};
}

double positions_of(const ScoreWork& work) {
  double positions = 0;
  for (const Sequence& sequence : work.sequences) positions += static_cast<double>(sequence.size());
  return positions;
}

/// `exact` is made when the first lane needs it.
TaskTime score_lane(Session& session, const ScoreWork& work, std::size_t lane, ScoreState& state,
                    std::optional<ExactScore>& exact) {
  ScoreOutcome& outcome = state.outcome;
  Runner& runner = *session.runners[lane];
  session.progress.show(fmt::format("scoring on {}", outcome.lane));
  try {
    for (const Cut& cut : score_cuts(work, session.model.spec)) runner.lower(cut);
  } catch (const Error& error) {
    return end(outcome, Ending::kRefused, error.what());
  }
  const bool first = outcome.ending == Ending::kNotRun;
  Dumper* dumper = first && session.dumper ? &*session.dumper : nullptr;
  try {
    const bool with_exact = first && session.options.exact;
    if (with_exact) {
      session.progress.show("scoring in binary64");
      if (!exact) exact.emplace(work, session.model, session.options.threads);
      exact->take();  // nothing is left of a lane that failed
    }
    session.progress.clear();
    const double whole = positions_of(work);
    double done = 0;
    const RowSeen seen = [&](std::size_t sequence, std::int64_t position,
                             std::span<const float> logits) {
      if (with_exact) exact->add(sequence, position, logits);
      session.progress.show_steps(
          fmt::format("scoring on {}: {:.0f} of {:.0f} positions", outcome.lane, done, whole), done,
          whole);
      ++done;
    };
    DigestTape tape(runner, dumper);
    Scored scored = score(work, session.model.spec, tape, dumper, seen);
    if (with_exact) outcome.error = exact->take();
    if (!first && scored.total.logits_sha256 != outcome.total.logits_sha256) {
      return end(outcome, Ending::kFailed,
                 fmt::format("gave {} and then, for the same tokens, {}",
                             outcome.total.logits_sha256, scored.total.logits_sha256));
    }
    outcome.total = scored.total;
    outcome.sequences = std::move(scored.sequences);
    outcome.seconds = tape.seconds();
    outcome.host_seconds = tape.host_seconds();
    outcome.time_class = tape.time_class();
    outcome.time_remark = tape.time_remark();
    outcome.fault = tape.fault();
    state.digests = tape.digests();
    outcome.ending = Ending::kRan;
  } catch (const std::bad_alloc&) {
    return end(outcome, Ending::kFailed, "out of memory");
  } catch (const std::exception& error) {
    return end(outcome, Ending::kFailed, error.what());
  }
  session.progress.clear();
  return time_of(outcome);
}

void compare(Session& session, const ScoreWork& work, Runner& expected_runner,
             const std::vector<std::string>& expected, Runner& runner, ScoreState& state) {
  const auto index = first_difference(expected, state.digests);
  if (!index) return;
  state.outcome.agrees = false;
  const auto computation = [&](Tape& tape) { score(work, session.model.spec, tape, nullptr); };
  const Record a = replay(expected_runner, computation, *index);
  const Record b = replay(runner, computation, *index);
  state.outcome.divergence = divergence_of(expected_runner, a, runner, b);
}

/// Gives the name of the lane that the others were compared with.
std::string compare_all(Session& session, const ScoreWork& work, std::vector<ScoreState>& states) {
  std::optional<std::size_t> base;
  if (states[session.base()].outcome.ending == Ending::kRan) base = session.base();
  for (std::size_t i = 0; i < states.size() && !base; ++i) {
    if (states[i].outcome.ending == Ending::kRan) base = i;
  }
  if (!base) return "";
  Runner& runner = *session.runners[*base];
  if (runner.chips() > 1 && states[*base].outcome.lane == "reference") {
    DigestTape whole(*session.one_chip);
    score(work, session.model.spec, whole, nullptr);
    compare(session, work, *session.one_chip, whole.digests(), runner, states[*base]);
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (i == *base || states[i].outcome.ending != Ending::kRan) continue;
    compare(session, work, runner, states[*base].digests, *session.runners[i], states[i]);
  }
  return states[*base].outcome.lane;
}

/// --context holds each sequence.
void check_context(const Options& options, const std::vector<Sequence>& sequences) {
  if (!options.context) return;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto length = static_cast<std::int64_t>(sequences[i].size());
    if (length <= *options.context) continue;
    throw Error("--context",
                fmt::format("shorter than the sequence of {}", place_of_given(options, i)),
                fmt::to_string(*options.context), fmt::format("{} or more", length));
  }
}

}  // namespace

ScoreWork plan_score(const Options& options, const Model& model) {
  std::vector<Sequence> sequences = *given_sequences(options, model);
  check_context(options, sequences);
  ScoreWork work = score_work(std::move(sequences), options.context, mode_of(options));
  check_score_memory(work, model.spec, options.context ? "--context" : "--tokens");
  if (options.exact) check_exact_memory(work, model.spec);
  for (const Cut& cut : score_cuts(work, model.spec)) {
    written_split(model.spec, cut, options.chips.value_or(1));
  }
  warn_beyond_training(options, model, work.context);
  return work;
}

TaskReports run_scores(Session& session, const ScoreWork& work, Report& report) {
  report.is_score = true;
  report.score_mode = work.mode.text();
  std::vector<ScoreState> states(session.lanes.size());
  std::optional<ExactScore> exact;
  std::vector<Task> tasks;
  for (std::size_t lane = 0; lane < session.lanes.size(); ++lane) {
    states[lane].outcome.lane = session.lanes[lane].name;
    tasks.push_back({fmt::format("score/{}", session.lanes[lane].name),
                     [&session, &work, &states, &exact, &report, lane] {
                       TaskTime time = score_lane(session, work, lane, states[lane], exact);
                       if (session.after_task) {
                         report.scores.clear();
                         for (const ScoreState& state : states) {
                           report.scores.push_back(state.outcome);
                         }
                         session.after_task();
                       }
                       return time;
                     }});
  }
  TaskReports reports = run_tasks(tasks, session.options);
  report.scores_compared_with = compare_all(session, work, states);
  report.scores.clear();
  for (ScoreState& state : states) report.scores.push_back(std::move(state.outcome));
  return reports;
}

}  // namespace logos::bench
