#include "bench/exact_error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "bench/progress.h"
#include "program/error.h"
#include "program/program.h"
#include "program/written.h"
#include "sim/reference/exact.h"
#include "sim/weights/checkpoint.h"

namespace logos::bench {
namespace {

/// The weights of a model before any quantizer, where it has such.
class Weights {
 public:
  explicit Weights(const Model& model) {
    if (model.weights_kind == "checkpoint") checkpoint_.emplace(*model.path);
    weights_ = checkpoint_ ? reference::exact_weights(*checkpoint_)
                           : reference::exact_weights(*model.weights);
  }
  const reference::ExactWeights& get() const { return weights_; }

 private:
  std::optional<Checkpoint> checkpoint_;
  reference::ExactWeights weights_;
};

/// What a row has seen, its own token last; counted from 1.
std::vector<std::int64_t> tokens_of(const Plan& plan, std::int64_t row) {
  std::vector<std::int64_t> tokens;
  for (const std::int64_t id : plan.history(row)) tokens.push_back(id + 1);
  if (plan.cut.work == Cut::Work::kBatch) {
    tokens.push_back(plan.tokens[static_cast<std::size_t>(row)]);
  } else {
    tokens.insert(tokens.end(), plan.tokens.begin(), plan.tokens.end());
  }
  return tokens;
}

/// One planned cut in binary64.
class ExactCut {
 public:
  ExactCut(Session& session, const Plan& plan)
      : session_(session), plan_(plan), weights_(session.model) {}

  std::vector<double> outputs() {
    const bool no_history = std::all_of(plan_.histories.begin(), plan_.histories.end(),
                                        [](const Sequence& history) { return history.empty(); });
    const bool from_tokens = plan_.cut.part == Cut::Part::kWhole && no_history;
    return session_.model.path || from_tokens ? of_tokens() : of_inputs();
  }

 private:
  bool is_batch() const { return plan_.cut.work == Cut::Work::kBatch; }

  Program program(Cut::Part part, std::int64_t layer = 0) const {
    Cut cut = plan_.cut;
    cut.part = part;
    cut.layer = layer;
    return read_program(written(session_.model.spec, cut).text, cut.text());
  }

  std::vector<double> evaluate(const Program& of, const reference::ExactStart& start,
                               std::int64_t last) const {
    return reference::exact_outputs(of, weights_.get(), start, last, session_.options.threads);
  }

  /// Rows of equal tokens are evaluated once.
  std::vector<double> of_tokens() {
    const std::int64_t sequences = is_batch() ? plan_.cut.rows : 1;
    std::vector<std::pair<std::vector<std::int64_t>, std::vector<double>>> done;
    std::vector<double> outputs;
    for (std::int64_t row = 0; row < sequences; ++row) {
      std::vector<std::int64_t> tokens = tokens_of(plan_, row);
      auto found = std::find_if(done.begin(), done.end(),
                                [&](const auto& pair) { return pair.first == tokens; });
      if (found == done.end()) {
        std::vector<double> exact = of_sequence(tokens);
        found = done.insert(done.end(), {std::move(tokens), std::move(exact)});
      }
      outputs.insert(outputs.end(), found->second.begin(), found->second.end());
    }
    return outputs;
  }

  /// What the cut shows of a sequence: the logits of its last token, or the row stream of the cut's
  /// own rows.
  std::vector<double> of_sequence(const std::vector<std::int64_t>& tokens) const {
    if (gives_logits(plan_.cut)) {
      return evaluate(program(Cut::Part::kWhole), {.tokens = tokens}, 1);
    }
    constexpr std::int64_t kEvery = std::numeric_limits<std::int64_t>::max();
    std::vector<double> rows = evaluate(program(Cut::Part::kEmbedding), {.tokens = tokens}, kEvery);
    const std::int64_t layers = plan_.cut.part == Cut::Part::kLayer ? plan_.cut.layer : 0;
    for (std::int64_t n = 1; n <= layers; ++n) {
      rows = evaluate(program(Cut::Part::kLayer, n), {.given = std::move(rows)}, kEvery);
    }
    const std::int64_t own = is_batch() ? 1 : plan_.cut.rows;
    const auto kept = static_cast<std::ptrdiff_t>(own * session_.model.spec.columns);
    return {rows.end() - kept, rows.end()};
  }

  /// From the rows and caches of the run itself.
  std::vector<double> of_inputs() {
    const Inputs inputs = session_.maker.inputs(plan_);
    const Program cut = program(plan_.cut.part, plan_.cut.layer);
    const std::int64_t rows = is_batch() ? plan_.cut.rows : 1;
    if (!is_batch() || inputs.caches.empty()) {
      return evaluate(cut, start_of(inputs, 0, plan_.cut.rows), rows);
    }
    std::vector<double> outputs;
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool as_before = row > 0 && inputs.given.empty() && plan_.histories.size() == 1 &&
                             inputs.tokens[static_cast<std::size_t>(row)] == inputs.tokens[0];
      const std::vector<double> one =
          as_before ? std::vector<double>(outputs.begin(),
                                          outputs.begin() + session_.model.spec.vocabulary)
                    : evaluate(cut, start_of(inputs, row, 1), 1);
      outputs.insert(outputs.end(), one.begin(), one.end());
    }
    return outputs;
  }

  /// `count` rows from `row` on, with the cache of the first.
  reference::ExactStart start_of(const Inputs& inputs, std::int64_t row, std::int64_t count) const {
    reference::ExactStart start;
    if (!inputs.tokens.empty()) {
      const auto first = inputs.tokens.begin() + row;
      start.tokens.assign(first, first + count);
    }
    if (!inputs.given.empty()) {
      const std::int64_t columns = session_.model.spec.columns;
      const auto first = inputs.given.begin() + row * columns;
      start.given.assign(first, first + count * columns);
    }
    if (!inputs.positions.empty()) {
      start.first = inputs.positions[static_cast<std::size_t>(row)] - 1;
    }
    if (!inputs.caches.empty()) start.before = &inputs.caches[static_cast<std::size_t>(row)];
    return start;
  }

  Session& session_;
  const Plan& plan_;
  Weights weights_;
};

}  // namespace

void add_exact_errors(Session& session, CutOutcome& cut) {
  const bool any = std::any_of(cut.lanes.begin(), cut.lanes.end(),
                               [](const LaneOutcome& lane) { return lane.ending == Ending::kRan; });
  if (!any) return;
  session.progress.show(fmt::format("{} in binary64", cut.plan.cut.text()));
  const std::vector<double> exact = ExactCut(session, cut.plan).outputs();
  for (LaneOutcome& lane : cut.lanes) {
    if (lane.ending != Ending::kRan) continue;
    const Result& result = *lane.result;
    if (gives_logits(cut.plan.cut)) {
      lane.error = reference::error_of_arithmetic(result.outputs, exact, result.columns);
      continue;
    }
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // rows are no distribution
    lane.error = {kNone, reference::largest_difference(result.outputs, exact), kNone};
  }
  session.progress.clear();
}

void check_exact_memory(const ScoreWork& work, const ModelSpec& spec) {
  double positions = 0;
  for (const Sequence& sequence : work.sequences) positions += static_cast<double>(sequence.size());
  const double need = positions * static_cast<double>(spec.vocabulary) * sizeof(double);
  const double have =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (have <= 0 || need <= have) return;
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  throw Error("--exact", "the logits of all positions do not fit into this host's memory",
              fmt::format("{:.1f} GiB needed", need / kGib),
              fmt::format("at most {:.1f} GiB", have / kGib));
}

ExactScore::ExactScore(const ScoreWork& work, const Model& model, int threads)
    : vocabulary_(model.spec.vocabulary) {
  const Weights weights(model);
  Cut step;
  step.context = work.context;
  const Program program = read_program(written(model.spec, step).text, step.text());
  for (const Sequence& sequence : work.sequences) {
    reference::ExactStart start;
    for (const std::int64_t id : sequence) start.tokens.push_back(id + 1);
    const auto every = static_cast<std::int64_t>(sequence.size());
    logits_.push_back(reference::exact_outputs(program, weights.get(), start, every, threads));
  }
}

void ExactScore::add(std::size_t sequence, std::int64_t position, std::span<const float> logits) {
  const auto exact = std::span<const double>(logits_[sequence])
                         .subspan(static_cast<std::size_t>(position * vocabulary_), logits.size());
  const auto error = reference::error_of_arithmetic(logits, exact, vocabulary_);
  sum_.kl += error.kl;
  sum_.max_logit_error = std::max(sum_.max_logit_error, error.max_logit_error);
  sum_.top1 += error.top1;
  ++rows_;
}

reference::ErrorOfArithmetic ExactScore::take() {
  reference::ErrorOfArithmetic error = std::exchange(sum_, {});
  const auto rows = static_cast<double>(std::exchange(rows_, 0));
  error.kl /= rows;
  error.top1 /= rows;
  return error;
}

}  // namespace logos::bench
