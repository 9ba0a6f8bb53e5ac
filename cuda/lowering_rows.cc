// Operations on whole rows: embedding, norm, silu, quantizing, the residual.

#include <fmt/format.h>

#include "cuda/lowering_state.h"
#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

/// Memory and layout of a Block of Rows on one chip.
void place_block(LoweringState& state, std::int32_t chip, int value_index) {
  const Value& value = state.value(chip, value_index);
  Place& place = state.place(chip, value_index);
  // A share may begin inside a group of 32: its block begins with the group, with zeros before.
  place.lead = value.spread == Spread::kPart && value.columns > 0 ? value.first % 32 : 0;
  place.pitch = round_up(place.lead + value.columns, 32);
  const std::int64_t plane = round_up(value.rows * place.pitch, 256);
  place.hi = state.store(chip, 2 * plane + value.rows);
  place.lo = place.hi;
  place.lo.offset += plane;
  place.exponents = place.hi;
  place.exponents.offset += 2 * plane;
}

/// The binary32 values of an operation's result: kept where something outside the group reads them
/// or the row is too wide for shared memory, else only for an observer.
void place_rows(LoweringState& state, std::int32_t chip, int operation, int begin, int end) {
  const Operation& op = state.operation(operation);
  const Value& value = state.result(chip, operation);
  if (state.used_outside(op.result, begin, end) || value.heads * value.columns > kStagedColumns) {
    state.store_part(chip, op.result, kFloat);
  } else if (!op.name.empty()) {
    state.place(chip, op.result).data =
        state.observed(value.rows * value.heads * value.columns * kFloat);
  }
}

}  // namespace

bool row_tail(const LoweringState& state, int operation) {
  const int value = state.operation(operation).result;
  return state.next_is(operation, Word::kPeak, value) ||
         (state.next_is(operation, Word::kQuantized, value) &&
          !state.result(0, operation + 1).per_head);
}

RowOutputs<Planned> row_outputs(LoweringState& state, std::int32_t chip, int operation, int begin,
                                int end) {
  RowOutputs<Planned> row{};
  const int value = state.operation(operation).result;
  place_rows(state, chip, operation, begin, end);
  row.out = state.place(chip, value).data;
  if (operation + 1 == end) return row;
  const Operation& tail = state.operation(operation + 1);
  if (tail.word == Word::kPeak) {
    row.peak = state.store_part(chip, tail.result, sizeof(std::uint32_t));
    return row;
  }
  place_block(state, chip, tail.result);
  const Place& block = state.place(chip, tail.result);
  row.hi = block.hi;
  row.lo = block.lo;
  row.exponents = block.exponents;
  row.pitch = narrow(block.pitch, "bytes of a row");
  row.lead = narrow(block.lead, "columns");
  row.fault = state.fault(operation + 1);
  return row;
}

int lower_embedded(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const Program& program = state.program(chip);
    const Matrix& matrix = program.matrices[static_cast<std::size_t>(op.matrix)];
    const std::int32_t index = state.matrix(chip, begin);
    EmbedArguments<Planned> a{};
    a.tokens = Reference{Space::kTokens, 0, 0};
    a.q = Reference{Space::kMatrix, index, 0};
    a.multipliers = Reference{Space::kMultipliers, index, 0};
    if (program.profile == Profile::kA) a.scales = Reference{Space::kScales, index, 0};
    a.out = state.store_part(chip, op.result, kFloat);
    a.rows = narrow(program.rows, "rows");
    a.columns = narrow(matrix.columns, "columns");
    a.pitch = narrow(round_up(matrix.columns, 32), "bytes of a row");
    a.groups = a.pitch / 32;
    a.row_begin = narrow(matrix.row_share.begin, "rows of the embedding");
    a.row_end = narrow(matrix.row_share.end, "rows of the embedding");
    group.steps.push_back({chip, a});
  }
  observe(state, group, begin);
  state.plan.groups.push_back(std::move(group));
  return begin + 1;
}

int lower_norm(LoweringState& state, int begin) {
  const bool adds = state.operation(begin).word == Word::kAdd;
  const int norm = adds ? begin + 1 : begin;
  const int end = row_tail(state, norm) ? norm + 2 : norm + 1;
  const Operation& op = state.operation(norm);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const Value& value = state.result(chip, norm);
    NormArguments<Planned> a{};
    if (adds) {
      const Operation& add = state.operation(begin);
      a.x = state.place(chip, add.arguments[0]).data;
      a.addend = state.place(chip, add.arguments[1]).data;
      place_rows(state, chip, begin, begin, end);
      a.sum = state.place(chip, add.result).data;
    } else {
      a.x = state.place(chip, op.arguments.front()).data;
    }
    a.gain = state.vector(chip, norm);
    a.fault = state.fault(norm);
    a.row = row_outputs(state, chip, norm, begin, end);
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.columns, "columns");
    a.epsilon = static_cast<float>(state.first().norm_epsilon);
    group.steps.push_back({chip, a});
  }
  for (int i = begin; i < end; ++i) observe(state, group, i);
  state.plan.groups.push_back(std::move(group));
  return end;
}

int lower_silu(LoweringState& state, int begin) {
  const Operation& silu = state.operation(begin);
  const bool multiplies = state.next_is(begin, Word::kMultiply, silu.result);
  const int last = multiplies ? begin + 1 : begin;
  const int end = row_tail(state, last) ? last + 2 : last + 1;
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const Value& value = state.result(chip, last);
    SiluArguments<Planned> a{};
    a.gate = state.place(chip, silu.arguments.front()).data;
    if (multiplies) a.up = state.place(chip, state.operation(last).arguments[1]).data;
    a.row = row_outputs(state, chip, last, begin, end);
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.columns, "columns");
    group.steps.push_back({chip, a});
  }
  for (int i = last; i < end; ++i) observe(state, group, i);
  state.plan.groups.push_back(std::move(group));
  return end;
}

/// `quantized`, `peak` and `quantized_at` of Rows that another group made.
int lower_quantized(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const int argument = op.arguments.front();
    const Value& value = state.value(chip, argument);
    QuantizeArguments<Planned> a{};
    a.x = state.place(chip, argument).data;
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.heads * value.columns, "columns");
    if (op.word == Word::kPeak) {
      a.row.peak = state.store_part(chip, op.result, sizeof(std::uint32_t));
    } else {
      if (op.word == Word::kQuantizedAt) {
        Reference peaks = state.place(chip, op.arguments[1]).data;
        const Place& place = state.place(chip, op.arguments[1]);
        peaks.offset -= chip * place.stride;  // all chips' peaks
        a.peaks = peaks;
        a.chips = place.stride == 0 ? 1 : state.chips();
        a.peak_stride = narrow(place.stride / std::int64_t{sizeof(std::uint32_t)}, "peaks");
      }
      place_block(state, chip, op.result);
      const Place& block = state.place(chip, op.result);
      a.row.hi = block.hi;
      a.row.lo = block.lo;
      a.row.exponents = block.exponents;
      a.row.pitch = narrow(block.pitch, "bytes of a row");
      a.row.lead = narrow(block.lead, "columns");
      a.row.fault = state.fault(begin);
    }
    group.steps.push_back({chip, a});
  }
  observe(state, group, begin);
  state.plan.groups.push_back(std::move(group));
  return begin + 1;
}

int lower_add(LoweringState& state, int begin) {
  const Operation& op = state.operation(begin);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const Value& value = state.result(chip, begin);
    AddArguments<Planned> a{};
    a.x = state.place(chip, op.arguments[0]).data;
    a.y = state.place(chip, op.arguments[1]).data;
    a.out = state.store_part(chip, op.result, kFloat);
    a.count = value.rows * value.columns;
    group.steps.push_back({chip, a});
  }
  observe(state, group, begin);
  state.plan.groups.push_back(std::move(group));
  return begin + 1;
}

}  // namespace logos::cuda
