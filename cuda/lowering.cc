#include "cuda/lowering.h"

#include <fmt/format.h>

#include "cuda/lowering_state.h"
#include "program/check.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

/// The result is the argument's memory seen in another way.
void alias(LoweringState& state, int operation, std::int64_t first_row) {
  const Operation& op = state.operation(operation);
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const int argument = op.arguments.front();
    Place place = state.place(chip, argument);
    const Value& value = state.value(chip, argument);
    place.data.offset += first_row * value.heads * value.columns * std::int64_t{sizeof(float)};
    state.place(chip, op.result) = place;
  }
}

int lower_given(LoweringState& state, int begin) {
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    state.place(chip, state.operation(begin).result).data = {Space::kGiven, 0, 0};
  }
  return begin + 1;
}

int lower_alias(LoweringState& state, int begin) {
  alias(state, begin, 0);
  return begin + 1;
}

int lower_last_row(LoweringState& state, int begin) {
  const int argument = state.operation(begin).arguments.front();
  alias(state, begin, state.value(0, argument).rows - 1);
  return begin + 1;
}

int lower_show(LoweringState& state, int begin) {
  const int argument = state.operation(begin).arguments.front();
  const Value& value = state.value(0, argument);
  CHECK(value.spread == Spread::kWhole && value.kind == ValueKind::kRows);
  state.plan.output = state.place(0, argument).data;
  state.plan.output_rows = value.rows;
  state.plan.output_columns = value.columns;
  return begin + 1;
}

int lower_operation(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  switch (op.word) {
    case Word::kGiven:
      return lower_given(state, begin);
    case Word::kEmbedded:
      return lower_embedded(state, begin);
    case Word::kRmsNorm:
      return state.result(0, begin).kind == ValueKind::kHeads ? lower_heads(state, begin)
                                                              : lower_norm(state, begin);
    case Word::kQuantized:
      return state.result(0, begin).per_head ? lower_heads(state, begin)
                                             : lower_quantized(state, begin);
    case Word::kPeak:
    case Word::kQuantizedAt:
      return lower_quantized(state, begin);
    case Word::kProduct:
    case Word::kSums:
      return lower_products(state, begin);
    case Word::kRotated:
      return lower_heads(state, begin);
    case Word::kAttended:
      return lower_attended(state, begin);
    case Word::kSilu:
      return lower_silu(state, begin);
    case Word::kAdd:
      // z = x + y and its norm are one kernel.
      return state.next_is(begin, Word::kRmsNorm, op.result) ? lower_norm(state, begin)
                                                             : lower_add(state, begin);
    case Word::kScaled:
      return lower_scaled(state, begin);
    case Word::kHeldOverChips:
      return lower_held(state, begin);
    case Word::kJoinedOverChips:
      return lower_joined(state, begin);
    case Word::kHeads:
    case Word::kGreatestOverChips:  // what takes the value reads all chips' parts
    case Word::kSumOverChips:
      return lower_alias(state, begin);
    case Word::kLastRow:
      return lower_last_row(state, begin);
    case Word::kShow:
      return lower_show(state, begin);
    case Word::kPush:
    case Word::kWithBias:
    case Word::kMultiply:
      break;  // only as part of what comes before them
  }
  throw Error(fmt::format("cuda: line {} of the program", op.line),
              "no kernel does this operation in this place");
}

/// The operations of a fused launch share its time equally, where their lowering says nothing else.
void share_time(LoweringState& state, std::size_t first_group, int begin, int end) {
  for (std::size_t g = first_group; g < state.plan.groups.size(); ++g) {
    Group& group = state.plan.groups[g];
    if (!group.shares.empty()) continue;
    for (int i = begin; i < end; ++i) {
      if (state.operation(i).word != Word::kHeads) group.shares.push_back({i, 1});
    }
  }
}

}  // namespace

Plan lower_programs(const std::vector<Program>& programs, const LoweringOptions& options) {
  const Program& program = programs.front();
  if (program.head_columns > kHeadColumns) {
    throw Error("cuda: lowering", "columns of a head", fmt::to_string(program.head_columns),
                fmt::format("{} at most", kHeadColumns));
  }
  LoweringState state(programs, options);
  for (int i = 0; i < state.operations();) {
    const std::size_t group = state.plan.groups.size();
    const int end = lower_operation(state, i);
    share_time(state, group, i, end);
    i = end;
  }
  place_storages(state);
  return std::move(state.plan);
}

}  // namespace logos::cuda
