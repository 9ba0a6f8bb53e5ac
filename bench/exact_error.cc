#include "bench/exact_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bench/progress.h"
#include "program/program.h"
#include "program/written.h"
#include "sim/reference/exact.h"
#include "sim/weights/checkpoint.h"

namespace logos::bench {
namespace {

/// Why a cut has no exact values; null where it has.
std::optional<std::string> no_exact_values(const Plan& plan, const Model& model) {
  if (!gives_logits(plan.cut)) return "shows no logits";
  if (model.directory) return std::nullopt;
  if (plan.cut.part != Cut::Part::kWhole) return "runs on synthetic rows";
  for (const Sequence& history : plan.histories) {
    if (!history.empty()) return "runs on a synthetic cache";
  }
  return std::nullopt;
}

/// What a row has seen, its own token last; counted from 1.
std::vector<std::int64_t> tokens_of(const Plan& plan, std::int64_t row) {
  std::vector<std::int64_t> tokens;
  for (const std::int64_t id : plan.history(row)) tokens.push_back(id + 1);
  const auto own = plan.tokens.begin();
  if (plan.cut.work == Cut::Work::kBatch) {
    tokens.push_back(own[row]);
  } else {
    tokens.insert(tokens.end(), own, plan.tokens.end());
  }
  return tokens;
}

/// The rows of logits that the cut shows: the last one of a chunk, every one of a batch. Rows of
/// equal tokens are evaluated once.
std::vector<double> exact_rows(const Plan& plan, const Model& model, int threads) {
  Cut whole = plan.cut;
  whole.part = Cut::Part::kWhole;
  const Program program = read_program(written(model.spec, whole).text, whole.text());
  std::optional<Checkpoint> checkpoint;
  if (model.weights_kind == "checkpoint") checkpoint.emplace(*model.directory);
  const reference::ExactWeights weights =
      checkpoint ? reference::exact_weights(*checkpoint) : reference::exact_weights(*model.weights);
  const std::int64_t rows = plan.cut.work == Cut::Work::kBatch ? plan.cut.rows : 1;
  std::vector<std::pair<std::vector<std::int64_t>, std::vector<double>>> done;
  std::vector<double> logits;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int64_t> tokens = tokens_of(plan, row);
    auto found = std::find_if(done.begin(), done.end(),
                              [&](const auto& pair) { return pair.first == tokens; });
    if (found == done.end()) {
      std::vector<double> exact = reference::exact_logits(program, weights, tokens, 1, threads);
      found = done.insert(done.end(), {std::move(tokens), std::move(exact)});
    }
    logits.insert(logits.end(), found->second.begin(), found->second.end());
  }
  return logits;
}

}  // namespace

void add_exact_errors(Session& session, CutOutcome& cut) {
  const bool any = std::any_of(cut.lanes.begin(), cut.lanes.end(),
                               [](const LaneOutcome& lane) { return lane.ending == Ending::kRan; });
  if (!any) return;
  if (const auto reason = no_exact_values(cut.plan, session.model)) {
    say(fmt::format("--exact: {} {}: no error is given", cut.plan.cut.text(), *reason));
    return;
  }
  session.progress.show(fmt::format("{} in binary64", cut.plan.cut.text()));
  const auto exact = exact_rows(cut.plan, session.model, session.options.threads);
  for (LaneOutcome& lane : cut.lanes) {
    if (lane.ending != Ending::kRan) continue;
    lane.error = reference::error_of_arithmetic(lane.result->outputs, exact, lane.result->columns);
  }
  session.progress.clear();
}

}  // namespace logos::bench
