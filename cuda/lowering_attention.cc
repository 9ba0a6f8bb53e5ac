// Operations on heads, the cache, attention.

#include <algorithm>
#include <vector>

#include "cuda/lowering_state.h"
#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

/// What happens to the heads of one projection, in this order: norm, rotation, quantizing, push.
struct HeadsChain {
  int input;  ///< value
  int norm = -1;
  int rotation = -1;
  int block = -1;
  int push = -1;
  int last;  ///< value that the next operation of the chain takes
};

/// True where the operation goes on with the chain, which then holds it.
bool extend(HeadsChain& chain, const Operation& op, int index) {
  if (op.arguments.empty() || op.arguments.front() != chain.last) return false;
  const bool quantizes = chain.block >= 0;
  if (op.word == Word::kRmsNorm && chain.norm < 0 && chain.rotation < 0 && !quantizes) {
    chain.norm = index;
  } else if (op.word == Word::kRotated && chain.rotation < 0 && !quantizes) {
    chain.rotation = index;
  } else if (op.word == Word::kQuantized && !quantizes) {
    chain.block = index;
  } else if (op.word == Word::kPush && quantizes && chain.push < 0) {
    chain.push = index;
  } else {
    return false;
  }
  if (op.word != Word::kPush) chain.last = op.result;
  return true;
}

bool on_heads(const LoweringState& state, const Operation& op) {
  switch (op.word) {
    case Word::kPush:
    case Word::kRotated:
      return true;
    case Word::kRmsNorm:
      return state.value(0, op.result).kind == ValueKind::kHeads;
    case Word::kQuantized:
      return state.value(0, op.result).per_head;
    default:
      return false;
  }
}

std::vector<HeadsChain> gather(const LoweringState& state, int begin, int* end) {
  std::vector<HeadsChain> chains;
  int i = begin;
  for (; i < state.operations(); ++i) {
    const Operation& op = state.operation(i);
    if (!on_heads(state, op)) break;
    const bool taken = std::any_of(chains.begin(), chains.end(),
                                   [&](HeadsChain& chain) { return extend(chain, op, i); });
    if (taken) continue;
    if (chains.size() == std::size_t{kSegments}) break;
    HeadsChain chain{op.arguments.front(), -1, -1, -1, -1, op.arguments.front()};
    if (!extend(chain, op, i)) break;
    chains.push_back(chain);
  }
  *end = i;
  return chains;
}

HeadsSegment<Planned> segment_of(LoweringState& state, std::int32_t chip, const HeadsChain& chain) {
  const Value& value = state.value(chip, chain.input);
  const std::int64_t blocks = value.rows * value.heads;
  const auto rows_for_observer = [&](int operation) -> Reference {
    const Operation& op = state.operation(operation);
    if (op.name.empty()) return {};
    Place& place = state.place(chip, op.result);
    place.data = state.observed(blocks * value.columns * std::int64_t{sizeof(float)});
    return place.data;
  };
  HeadsSegment<Planned> s{};
  s.x = state.place(chip, chain.input).data;
  s.heads = narrow(value.heads, "heads");
  if (chain.norm >= 0) {
    s.gain = state.vector(chip, chain.norm);
    s.normed = rows_for_observer(chain.norm);
    s.norm_fault = state.fault(chain.norm);
  }
  if (chain.rotation >= 0) {
    s.rotate = 1;
    s.rotated = rows_for_observer(chain.rotation);
  }
  if (chain.block < 0) {
    throw Error("cuda: lowering", "heads that nothing quantizes have no kernel");
  }
  const Operation& block = state.operation(chain.block);
  Place& place = state.place(chip, block.result);
  const std::int64_t q_bytes = round_up(blocks * value.columns * 2, 256);
  if (chain.push < 0) {
    place.data = state.store(chip, q_bytes + blocks);
  } else if (!block.name.empty()) {
    place.data = state.observed(q_bytes + blocks);
  }
  s.q = place.data;
  if (place.data) {
    place.exponents = place.data;
    place.exponents.offset += q_bytes;
    s.exponents = place.exponents;
  }
  s.fault = state.fault(chain.block);
  if (chain.push >= 0) {
    const Program& program = state.program(chip);
    const auto& push = program.operations[static_cast<std::size_t>(chain.push)];
    const Cache& cache = program.caches[static_cast<std::size_t>(push.keys)];
    CHECK(cache.head_share.size() == value.heads);
    const std::int32_t index = state.cache(chip, cache.layer);
    s.cache = Reference{cache.keys ? Space::kKeys : Space::kValues, index, 0};
    s.cache_exponents =
        Reference{cache.keys ? Space::kKeyExponents : Space::kValueExponents, index, 0};
  }
  return s;
}

Reference scratch(std::int32_t chip, Scratch kind) {
  return {Space::kScratch, chip * kScratches + static_cast<std::int32_t>(kind), 0};
}

/// Positions that one block of attention takes: enough blocks to fill a GPU from one row on, whole
/// multiples of the block's threads, bounded by shared memory.
std::int32_t split_for(const LoweringState& state, std::int64_t key_heads) {
  constexpr std::int64_t kBlocks = 512;  ///< a few for each multiprocessor
  constexpr std::int64_t kLargest = 1024;
  if (!state.plan.context) return 256;
  const std::int64_t blocks = std::max<std::int64_t>(key_heads * state.plan.rows, 1);
  const std::int64_t splits = std::max<std::int64_t>(kBlocks / blocks, 1);
  const std::int64_t split = round_up(divide_up(*state.plan.context, splits), kSplitPositions);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(split, kSplitPositions, kLargest));
}

void fill_attention(LoweringState& state, std::int32_t chip, int begin,
                    AttentionArguments<Planned>& a) {
  const Program& program = state.program(chip);
  const Operation& op = program.operations[static_cast<std::size_t>(begin)];
  const Cache& cache = program.caches[static_cast<std::size_t>(op.keys)];
  const std::int32_t index = state.cache(chip, cache.layer);
  const Value& query = state.value(chip, op.arguments.front());
  const Place& place = state.place(chip, op.arguments.front());
  a.q = place.data;
  a.exponents = place.exponents;
  a.keys = Reference{Space::kKeys, index, 0};
  a.key_exponents = Reference{Space::kKeyExponents, index, 0};
  a.values = Reference{Space::kValues, index, 0};
  a.value_exponents = Reference{Space::kValueExponents, index, 0};
  a.positions = Reference{Space::kPositions, 0, 0};
  a.scores = scratch(chip, Scratch::kScores);
  a.weights = scratch(chip, Scratch::kWeights);
  a.maxima = scratch(chip, Scratch::kMaxima);
  a.tops = scratch(chip, Scratch::kTops);
  a.weight_sums = scratch(chip, Scratch::kWeightSums);
  a.value_sums = scratch(chip, Scratch::kValueSums);
  a.totals = scratch(chip, Scratch::kTotals);
  a.rows = narrow(query.rows, "rows");
  a.heads = narrow(query.heads, "heads");
  a.key_heads = narrow(cache.head_share.size(), "heads");
  a.columns = narrow(query.columns, "columns");
  a.head_pitch = narrow(round_up(query.columns, 8), "columns");
  a.group = narrow(program.query_group, "query heads of a key head");
  a.first_head = narrow(query.first, "heads");
  a.first_key = narrow(cache.head_share.begin, "heads");
  a.window = narrow(program.window.value_or(0), "positions of the window");
  a.each = cache.one_for_each_row ? 1 : 0;
  a.split = split_for(state, a.key_heads);
  a.row_tile = a.each == 1 ? 1 : std::max(kBlockQueries / std::max(a.group, 1), 1);
}

}  // namespace

int lower_heads(LoweringState& state, int begin) {
  int end = begin;
  const std::vector<HeadsChain> chains = gather(state, begin, &end);
  if (chains.empty()) throw Error("cuda: lowering", "an operation on heads in no known order");
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    HeadsArguments<Planned> a{};
    for (const HeadsChain& chain : chains) {
      const HeadsSegment<Planned> segment = segment_of(state, chip, chain);
      if (segment.heads > 0) a.segments[a.used++] = segment;
    }
    const Value& value = state.value(chip, chains.front().input);
    a.cosines = Reference{Space::kCosines, 0, 0};
    a.sines = Reference{Space::kSines, 0, 0};
    a.positions = Reference{Space::kPositions, 0, 0};
    a.rows = narrow(value.rows, "rows");
    a.columns = narrow(value.columns, "columns");
    a.head_pitch = narrow(round_up(value.columns, 8), "columns");
    a.each = state.plan.each_row_caches ? 1 : 0;
    a.epsilon = static_cast<float>(state.first().norm_epsilon);
    if (a.used > 0) group.steps.push_back({chip, a});
  }
  for (int i = begin; i < end; ++i) {
    if (state.operation(i).word != Word::kPush) observe(state, group, i);
  }
  state.plan.groups.push_back(std::move(group));
  return end;
}

int lower_attended(LoweringState& state, int begin) {
  const int end = row_tail(state, begin) ? begin + 2 : begin + 1;
  Group group;
  for (std::int32_t chip = 0; chip < state.chips(); ++chip) {
    AttentionArguments<Planned> a{};
    fill_attention(state, chip, begin, a);
    a.row = row_outputs(state, chip, begin, begin, end);
    group.steps.push_back({chip, a});
  }
  group.shares.push_back({begin, 1});  // quantizing what it gives is a small part of it
  observe_attention(state, group, begin);
  for (int i = begin; i < end; ++i) observe(state, group, i);
  state.plan.groups.push_back(std::move(group));
  return end;
}

}  // namespace logos::cuda
