// What chips read of each other, and how results are observed.

#include <algorithm>

#include "cuda/lowering_state.h"
#include "program/check.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

/// The parts of all chips, from the first one's on.
Reference all_parts(const Place& place, std::int32_t chip) {
  Reference reference = place.data;
  reference.offset -= chip * place.stride;
  return reference;
}

/// The kernels compute shares by the floor rule of the language; this is what they must be.
void check_floor_share(const LoweringState& state, std::int32_t chip, std::int64_t first,
                       std::int64_t count, std::int64_t whole) {
  const std::int64_t begin = chip * whole / state.chips();
  const std::int64_t end = (chip + 1) * whole / state.chips();
  if (first != begin || count != end - begin) {
    throw Error("cuda: lowering", "a share that is not of the floor rule has no kernel");
  }
}

}  // namespace

int lower_scaled(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const int argument = op.arguments.front();
    const Value& value = state.result(chip, begin);
    const Place& place = state.place(chip, argument);
    CHECK(place.matrix >= 0);
    const Matrix& matrix = state.program(chip).matrices[static_cast<std::size_t>(place.matrix)];
    if (value.columns == 0) continue;
    ScaleArguments<Planned> a{};
    a.sums = all_parts(place, chip);
    a.exponents = place.exponents;
    const auto named = std::find_if(state.plan.matrices.begin(), state.plan.matrices.end(),
                                    [&](const PlanMatrix& m) { return m.tensor == matrix.tensor; });
    CHECK(named != state.plan.matrices.end());
    if (state.plan.profile == Profile::kA) {
      a.scales = Reference{Space::kScales, narrow(named - state.plan.matrices.begin(), "matrices"),
                           matrix.row_share.begin * std::int64_t{sizeof(float)}};
    }
    a.out = state.store_part(chip, op.result, sizeof(float));
    a.stride = place.stride / std::int64_t{sizeof(std::int64_t)};
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.columns, "columns");
    a.chips = place.stride == 0 ? 1 : state.chips();
    group.steps.push_back({chip, a});
  }
  observe(state, group, begin);
  state.plan.groups.push_back(std::move(group));
  return begin + 1;
}

int lower_held(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const int argument = op.arguments.front();
    const Value& value = state.result(chip, begin);
    const Place& place = state.place(chip, argument);
    HeldArguments<Planned> a{};
    a.tokens = Reference{Space::kTokens, 0, 0};
    a.x = all_parts(place, chip);
    a.out = state.store_part(chip, op.result, sizeof(float));
    a.stride = place.stride / std::int64_t{sizeof(float)};
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.columns, "columns");
    a.chips = place.stride == 0 ? 1 : state.chips();
    a.vocabulary = narrow(state.plan.vocabulary, "vocabulary");
    group.steps.push_back({chip, a});
  }
  observe(state, group, begin);
  state.plan.groups.push_back(std::move(group));
  return begin + 1;
}

int lower_joined(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  const int argument = op.arguments.front();
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const Value& value = state.result(chip, begin);
    const Value& part = state.value(chip, argument);
    const Place& place = state.place(chip, argument);
    check_floor_share(state, chip, part.first, part.columns, value.columns);
    JoinArguments<Planned> a{};
    a.x = all_parts(place, chip);
    a.out = state.store_part(chip, op.result, sizeof(float));
    a.stride = place.stride / std::int64_t{sizeof(float)};
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.columns, "columns");
    a.chips = place.stride == 0 ? 1 : state.chips();
    group.steps.push_back({chip, a});
  }
  observe(state, group, begin);
  state.plan.groups.push_back(std::move(group));
  return begin + 1;
}

namespace {

/// The first row of the cut that a value's row 0 is: after `last_row` only the last one is left.
std::int64_t position_row(const LoweringState& state, std::int64_t rows) {
  return rows == state.plan.rows ? 0 : state.plan.rows - rows;
}

}  // namespace

void observe(LoweringState& state, Group& group, int operation) {
  const Operation& op = state.operation(operation);
  const Value& whole = state.result(0, operation);
  if (op.name.empty() || whole.kind == ValueKind::kSums || whole.kind == ValueKind::kPeak) return;
  Observed observed;
  observed.operation = narrow(operation, "operations");
  observed.name = op.name;
  observed.rows = whole.rows;
  observed.position_row = position_row(state, whole.rows);
  const bool block = whole.kind == ValueKind::kBlock;
  observed.form = block ? (whole.per_head ? Form::kHeadsBlock : Form::kBlock)
                        : (whole.spread == Spread::kHeld ? Form::kHeldRows : Form::kRows);
  observed.width = block && whole.per_head ? whole.columns : 1;
  const bool parted = whole.spread == Spread::kPart || whole.spread == Spread::kHeld;
  std::int64_t next = 0;  // first unit of the whole that no chip has given yet
  for (std::int32_t chip = 0; chip < (parted ? state.chips() : 1); ++chip) {
    const Value& value = state.result(chip, operation);
    const Place& place = state.place(chip, op.result);
    const bool heads = whole.kind == ValueKind::kHeads || whole.per_head;
    // Units are heads where the whole counts heads, else columns.
    const std::int64_t units = heads ? value.heads : value.columns;
    const std::int64_t scale = whole.kind == ValueKind::kHeads ? value.columns : 1;
    const std::int64_t skip =
        whole.spread == Spread::kPart ? std::clamp<std::int64_t>(next - value.first, 0, units) : 0;
    ObservedPart part;
    part.exponents = place.exponents;
    part.skip = skip * scale;
    part.count = (units - skip) * scale;
    part.pitch = units * scale;
    if (observed.form == Form::kBlock) {
      part.values = place.hi;
      part.second = place.lo;
      part.pitch = place.pitch;
      part.skip += place.lead;
    } else {
      part.values = place.data;
    }
    next = std::max(next, value.first + units);
    if (units > 0) observed.parts.push_back(part);
  }
  group.observed.push_back(std::move(observed));
}

void observe_attention(LoweringState& state, Group& group, int operation) {
  const Operation& op = state.operation(operation);
  if (op.name.empty()) return;
  struct Inner {
    const char* name;
    Form form;
    Scratch scratch;
  };
  for (const Inner& inner : {Inner{"scores", Form::kScores, Scratch::kScores},
                             Inner{"weights", Form::kWeights, Scratch::kWeights},
                             Inner{"weight_sum", Form::kWeightSums, Scratch::kTotals}}) {
    Observed observed;
    observed.operation = narrow(operation, "operations");
    observed.name = inner.name;
    observed.form = inner.form;
    observed.rows = state.value(0, op.arguments.front()).rows;
    observed.position_row = position_row(state, observed.rows);
    for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
      const std::int64_t heads = state.value(chip, op.arguments.front()).heads;
      ObservedPart part;
      part.values = {Space::kScratch, chip * kScratches + static_cast<std::int32_t>(inner.scratch),
                     0};
      part.pitch = heads;
      part.count = heads;
      if (heads > 0) observed.parts.push_back(part);
    }
    group.observed.push_back(std::move(observed));
  }
}

}  // namespace logos::cuda
