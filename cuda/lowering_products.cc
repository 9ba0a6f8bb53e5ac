// Products: several matrices that read the same block are one launch.

#include <algorithm>
#include <bit>
#include <vector>

#include "cuda/lowering_state.h"
#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

/// One matrix of a launch: the product (or exact sums) and the bias added to it.
struct Chain {
  int product;
  int bias = -1;
};

/// The chains of operations from `begin` on that read the same block, and where they end.
std::vector<Chain> gather(const LoweringState& state, int begin, int* end) {
  std::vector<Chain> chains;
  const int block = state.operation(begin).arguments.front();
  int i = begin;
  for (; i < state.operations(); ++i) {
    const Operation& op = state.operation(i);
    if (op.word == Word::kProduct || op.word == Word::kSums) {
      if (op.arguments.front() != block || chains.size() == std::size_t{kSegments}) break;
      if (op.word != state.operation(begin).word) break;
      chains.push_back({i});
    } else if (op.word == Word::kWithBias && !chains.empty() && chains.back().bias < 0 &&
               op.arguments.front() == state.operation(chains.back().product).result) {
      chains.back().bias = i;
    } else if (op.word != Word::kHeads) {
      break;
    }
  }
  *end = i;
  return chains;
}

/// Lanes of a warp that share a weight row of so many 16-byte pieces: the most that leave no more
/// of them idle than fewer would, at least 4 for whole sectors of memory.
std::int32_t lanes_for(std::int64_t pieces) {
  const auto few = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(pieces, 1, 4))));
  std::int64_t best = few;
  for (std::int64_t lanes = few; lanes <= 32; lanes *= 2) {
    if (round_up(pieces, lanes) <= round_up(pieces, best)) best = lanes;
  }
  return static_cast<std::int32_t>(best);
}

ProductSegment<Planned> segment_of(LoweringState& state, std::int32_t chip, const Chain& chain) {
  const Operation& op = state.operation(chain.product);
  const Matrix& matrix = state.program(chip).matrices[static_cast<std::size_t>(op.matrix)];
  const std::int32_t index = state.matrix(chip, chain.product);
  const Value& value = state.result(chip, chain.product);
  ProductSegment<Planned> s{};
  s.q = Reference{Space::kMatrix, index, 0};
  s.multipliers = Reference{Space::kMultipliers, index, 0};
  if (state.plan.profile == Profile::kA) s.scales = Reference{Space::kScales, index, 0};
  s.first = narrow(matrix.row_share.begin, "rows of a matrix");
  s.outputs = narrow(matrix.row_share.size(), "rows of a matrix");
  s.pitch = narrow(round_up(matrix.columns, 32), "columns of a matrix");
  s.groups = s.pitch / 32;
  CHECK(value.columns == s.outputs);
  Place& place = state.place(chip, op.result);
  if (op.word == Word::kSums) {
    s.sums = state.store_part(chip, op.result, sizeof(std::int64_t));
    place.exponents = state.place(chip, op.arguments.front()).exponents;
    place.matrix = op.matrix;
    return s;
  }
  if (chain.bias < 0) {
    s.out = state.store_part(chip, op.result, sizeof(float));
    return s;
  }
  const Operation& bias = state.operation(chain.bias);
  if (!op.name.empty()) {
    place.data = state.observed(value.rows * value.columns * std::int64_t{sizeof(float)});
    s.raw = place.data;
  }
  s.out = state.store_part(chip, bias.result, sizeof(float));
  s.bias = state.vector(chip, chain.bias);
  return s;
}

ProductStep step_of(LoweringState& state, std::int32_t chip, const std::vector<Chain>& chains) {
  const Operation& op = state.operation(chains.front().product);
  const int input = op.arguments.front();
  const Value& block = state.value(chip, input);
  const Place& place = state.place(chip, input);
  const Matrix& matrix = state.program(chip).matrices[static_cast<std::size_t>(op.matrix)];
  CHECK(matrix.column_share.size() == block.columns * block.heads);
  ProductStep step{};
  ProductArguments<Planned>& a = step.arguments;
  a.hi = place.hi;
  a.lo = place.lo;
  a.exponents = place.exponents;
  a.rows = narrow(block.rows, "rows");
  a.column = narrow(matrix.column_share.begin - place.lead, "columns of a matrix");
  if (place.pitch == 0) a.column = 0;  // an empty share
  CHECK(a.column % 32 == 0);
  a.span = narrow(place.pitch, "columns of a matrix");
  a.columns = narrow(block.columns * block.heads, "columns of a matrix");
  step.kernel =
      block.rows >= state.options().gemm_rows ? ProductKernel::kMma : ProductKernel::kDp4a;
  a.lanes = lanes_for(a.span / 16);
  a.token_warps = block.rows <= 16 ? 1 : block.rows <= 32 ? 2 : 4;
  for (const Chain& chain : chains) {
    const ProductSegment<Planned> segment = segment_of(state, chip, chain);
    if (segment.outputs > 0) a.segments[a.used++] = segment;
  }
  return step;
}

}  // namespace

int lower_products(LoweringState& state, int begin) {
  int end = begin;
  const std::vector<Chain> chains = gather(state, begin, &end);
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    const ProductStep step = step_of(state, chip, chains);
    if (step.arguments.used > 0) group.steps.push_back({chip, step});
    for (int i = begin; i < end; ++i) {  // heads are the same memory
      const Operation& op = state.operation(i);
      if (op.word == Word::kHeads) {
        state.place(chip, op.result) = state.place(chip, op.arguments.front());
      }
    }
  }
  for (const Chain& chain : chains) {  // time goes by the elements of the matrices
    const Operation& op = state.operation(chain.product);
    const Matrix& matrix = state.first().matrices[static_cast<std::size_t>(op.matrix)];
    group.shares.push_back({chain.product, matrix.rows * matrix.columns});
  }
  for (int i = begin; i < end; ++i) {
    const Word word = state.operation(i).word;
    if (word == Word::kProduct || word == Word::kWithBias) observe(state, group, i);
  }
  state.plan.groups.push_back(std::move(group));
  return end;
}

}  // namespace logos::cuda
