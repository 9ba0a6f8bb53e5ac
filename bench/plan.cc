#include "bench/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "bench/default_inputs.h"
#include "bench/progress.h"
#include "program/error.h"
#include "program/genuine.h"
#include "program/identity.h"
#include "program/written.h"

namespace logos::bench {
namespace {

std::int64_t size_of(const Sequence& sequence) {
  return static_cast<std::int64_t>(sequence.size());
}

void check_count(const Cut& cut, std::string_view where, std::string_view what, std::int64_t got,
                 std::int64_t want) {
  if (got != want) {
    throw Error(fmt::format("{} for {}", where, cut.text()), fmt::format("count of {}", what),
                fmt::to_string(got), fmt::to_string(want));
  }
}

/// The sequences of a cut in the form that architecture.md gives --tokens: CTX ids for a decode
/// step, ROWS ids for a chunk, ROWS lines of CTX ids for a batch (or one that all its rows take).
std::vector<Sequence> sequences_of(const Cut& cut, const Options& options,
                                   const std::vector<Sequence>* given, const Model& model) {
  const std::int64_t length = cut.work == Cut::Work::kPrefill ? cut.rows : cut.context;
  if (given == nullptr) return {default_sequence(model, length)};
  const std::int64_t lines = cut.work == Cut::Work::kBatch ? cut.rows : 1;
  // The line at fault is the first that is missing or too many.
  const auto have = static_cast<std::int64_t>(given->size());
  check_count(cut, place_of_given(options, static_cast<std::size_t>(std::min(have, lines))),
              "sequences", have, lines);
  for (std::size_t i = 0; i < given->size(); ++i) {
    check_count(cut, place_of_given(options, i), "ids", size_of((*given)[i]), length);
  }
  return *given;
}

/// A step's cache has as many positions as the cut says.
void check_position(const Cut& cut, std::int64_t position) {
  if (position <= cut.context) return;
  throw Error(fmt::format("--position for {}", cut.text()), "outside the cache",
              fmt::to_string(position), fmt::format("1 to {}", cut.context));
}

/// Positions of a chunk's cache: --context, which must hold the chunk, else just enough.
std::int64_t capacity_of_chunk(const Cut& cut, const Options& options, std::int64_t first) {
  const std::int64_t last = first + cut.rows - 1;
  const std::int64_t capacity = options.context.value_or(last);
  if (capacity >= last) return capacity;
  throw Error(fmt::format("--context for {}", cut.text()),
              first == 1 ? std::string("too short for its positions")
                         : fmt::format("too short for its positions from {} on", first),
              fmt::to_string(capacity), fmt::format("{} or more", last));
}

/// A chunk from position `first` on: what stands before it is the default sequence.
void plan_chunk(Plan& plan, const Options& options, const Model& model,
                const std::vector<Sequence>* given) {
  const std::int64_t first = options.position.value_or(1);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (first > kMost) {
    throw Error("--position", "too large", fmt::to_string(first), fmt::format("1 to {}", kMost));
  }
  plan.capacity = capacity_of_chunk(plan.cut, options, first);
  check_host_memory(plan.cut, model.spec, plan.capacity,
                    options.context    ? "--context"
                    : options.position ? "--position"
                                       : "");
  const Sequence ids = sequences_of(plan.cut, options, given, model).front();
  for (std::int64_t row = 0; row < plan.cut.rows; ++row) {
    plan.tokens.push_back(ids[static_cast<std::size_t>(row)] + 1);
    plan.positions.push_back(first + row);
  }
  plan.histories = {default_sequence(model, first - 1)};
}

/// A decode step or batch: the last id of a sequence is the step's, those before fill the cache.
void plan_step(Plan& plan, const Options& options, const Model& model,
               const std::vector<Sequence>* given) {
  plan.capacity = plan.cut.context;
  const std::int64_t position = options.position.value_or(plan.capacity);
  check_position(plan.cut, position);
  for (const Sequence& ids : sequences_of(plan.cut, options, given, model)) {
    plan.tokens.push_back(ids.back() + 1);
    plan.histories.emplace_back(ids.begin(), ids.begin() + (position - 1));
  }
  const auto rows = static_cast<std::size_t>(plan.cut.rows);
  plan.tokens.resize(rows, plan.tokens.front());
  plan.positions.assign(rows, position);
}

/// A text states a run's tokens and positions; what its cache holds it cannot say.
void say_cache_of_text(const Plan& plan, const Options& options, const Model& model) {
  const std::int64_t first = plan.positions.front();
  if (first == 1) return;
  say(fmt::format(
      "{}: a text carries no cache: positions 1 to {} are filled {}", options.text->string(),
      first - 1,
      model.path ? "with the default ids (--cut with --tokens takes others)" : "synthetically"));
}

/// Puts in the tokens and positions that a run's own text states; the histories follow them.
void take_inputs_of_text(Plan& plan, const Facts& facts, const Options& options,
                         const Model& model) {
  if (facts.tokens.empty() && facts.positions.empty()) return;
  if (options.tokens || options.prompt || options.position) {
    throw Error("--text", "states its own inputs; leave --tokens, --prompt and --position out");
  }
  if (!facts.tokens.empty()) plan.tokens = facts.tokens;
  if (facts.positions.empty()) return;
  plan.positions = facts.positions;
  if (plan.cut.work == Cut::Work::kPrefill) {
    plan.capacity = capacity_of_chunk(plan.cut, options, plan.positions.front());
  }
  plan.histories.clear();
  const std::size_t histories = plan.cut.work == Cut::Work::kPrefill ? 1 : plan.positions.size();
  for (std::size_t i = 0; i < histories; ++i) {
    plan.histories.push_back(default_sequence(model, plan.positions[i] - 1));
  }
  say_cache_of_text(plan, options, model);
}

/// Says which of the ids given change nothing.
void say_unused(const Plan& plan, const Options& options, const Model& model) {
  const auto remark = [&](const std::string& what) {
    say(fmt::format("{} for {}: {}", options.prompt ? "--prompt" : "--tokens", plan.cut.text(),
                    what));
  };
  const bool embedding = plan.cut.part == Cut::Part::kEmbedding;
  if (!model.path && !embedding && plan.cut.part != Cut::Part::kWhole) {
    remark("the rows and the cache of a preset's part are synthetic: no id changes a thing");
    return;
  }
  if (plan.cut.work == Cut::Work::kPrefill || embedding) return;
  const std::int64_t position = plan.positions.front();
  if (position < plan.capacity) {
    const std::int64_t last = plan.capacity - 1;
    remark(fmt::format(
        "a step at position {} sees the ids before it and its own, the last: {} "
        "changes nothing",
        position,
        position == last ? fmt::format("id {}", last)
                         : fmt::format("what lies between, ids {} to {},", position, last)));
  }
  if (!model.path && position > 1) {
    remark("a preset's cache is synthetic: only a step's own id is taken, the last");
  }
}

Plan plan_cut(const Cut& cut, const Options& options, const Model& model,
              const std::vector<Sequence>* given) {
  Plan plan;
  plan.cut = cut;
  plan.chips = options.chips.value_or(1);
  check_host_memory(cut, model.spec, cut.work == Cut::Work::kPrefill ? cut.rows : cut.context);
  if (cut.work == Cut::Work::kPrefill) {
    plan_chunk(plan, options, model, given);
  } else {
    plan_step(plan, options, model, given);
  }
  if (given != nullptr) say_unused(plan, options, model);
  return plan;
}

void check_context_is_used(const Options& options, const std::vector<Cut>& cuts) {
  if (!options.context || options.generate) return;
  for (const Cut& cut : cuts) {
    if (cut.work == Cut::Work::kPrefill || cut.context == *options.context) return;
  }
  throw Error("--context", fmt::format("{} states its own context", cuts.front().text()),
              fmt::to_string(*options.context), fmt::to_string(cuts.front().context));
}

/// With --generate alone the cut is the chunk of the tokens given.
std::vector<Cut> cuts_of(const Options& options, const std::vector<Sequence>* given) {
  if (!options.cuts.empty()) return options.cuts;
  Cut cut;
  cut.work = Cut::Work::kPrefill;
  cut.rows = size_of(given->front());
  return {cut};
}

}  // namespace

std::vector<Plan> plan_cuts(const Options& options, const Model& model,
                            const std::optional<Facts>& text, const std::string& text_bytes) {
  const auto given = given_sequences(options, model);
  const std::vector<Sequence>* sequences = given ? &*given : nullptr;
  const std::vector<Cut> cuts = text ? std::vector<Cut>{text->cut} : cuts_of(options, sequences);
  check_context_is_used(options, cuts);
  std::vector<Plan> plans;
  for (const Cut& cut : cuts) {
    // Authoring first: a layer past the last or more chips than heads needs no tokens to be wrong.
    const Written written = written_split(model.spec, cut, options.chips.value_or(1));
    Plan plan = plan_cut(cut, options, model, sequences);
    plan.identity = written.identity;
    plan.text = text ? text_bytes : written.text;
    if (text) take_inputs_of_text(plan, *text, options, model);
    plans.push_back(std::move(plan));
  }
  std::int64_t last = 0;
  for (const Plan& plan : plans) {
    last = std::max(last, *std::max_element(plan.positions.begin(), plan.positions.end()));
  }
  warn_beyond_training(options, model, last);
  return plans;
}

std::string inputs_sha256(const Plan& plan) {
  std::string text = fmt::format("tokens {} positions {}", fmt::join(plan.tokens, ","),
                                 fmt::join(plan.positions, ","));
  for (const Sequence& history : plan.histories) {
    text += fmt::format(" after {}", fmt::join(history, ","));
  }
  return sha256_hex(text);
}

void warn_beyond_training(const Options& options, const Model& model, std::int64_t last_position) {
  if (model.trained_positions == 0 || last_position <= model.trained_positions) return;
  say_once(options, fmt::format("warning: position {} lies beyond the {} positions that {} states "
                                "for itself",
                                last_position, model.trained_positions, model.name));
}

}  // namespace logos::bench
