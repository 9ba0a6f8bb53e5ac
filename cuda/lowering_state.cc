#include "cuda/lowering_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cuda/plan_fields.h"
#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

constexpr std::int64_t kAlignment = 256;  ///< of storages, in bytes

bool reads_other_chips(Word word) {
  return word == Word::kGreatestOverChips || word == Word::kSumOverChips ||
         word == Word::kJoinedOverChips || word == Word::kHeldOverChips;
}

}  // namespace

std::int32_t narrow(std::int64_t value, std::string_view what) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
    throw Error("cuda: lowering", fmt::format("{} too large for a kernel", what),
                fmt::to_string(value), "0 to 2^31-1");
  }
  return static_cast<std::int32_t>(value);
}

LoweringState::LoweringState(const std::vector<Program>& programs, const LoweringOptions& options)
    : programs_(programs), options_(options) {
  CHECK(!programs.empty());
  const Program& program = programs.front();
  for (const Program& other : programs) {
    CHECK(other.operations.size() == program.operations.size());
    places_.emplace_back(other.values.size());
  }
  uses_.resize(program.values.size());
  for (int i = 0; i < operations(); ++i) {
    for (const int argument : operation(i).arguments) {
      uses_[static_cast<std::size_t>(argument)].push_back(i);
    }
  }
  plan.profile = program.profile;
  plan.rows = program.rows;
  plan.is_chunk = program.is_chunk;
  plan.has_tokens = !program.tokens.empty();
  plan.has_positions = !program.positions.empty();
  plan.columns = program.columns;
  plan.vocabulary = program.vocabulary;
  plan.head_columns = program.head_columns;
  plan.window = program.window.value_or(0);
  plan.context = program.context;
  plan.rotary = program.rotary;
  plan.chips = chips();
  plan.memory_bytes = options.memory_bytes;
  enter_caches();
  enter_operations();
}

void LoweringState::enter_caches() {
  for (std::int32_t chip = 0; chip < chips(); ++chip) {
    for (const Cache& cache : program(chip).caches) {
      plan.key_heads = cache.heads;
      plan.each_row_caches = cache.one_for_each_row;
      if (cache.keys) {
        plan.caches.push_back({chip, cache.layer, cache.head_share.begin, cache.head_share.size()});
      }
    }
  }
}

void LoweringState::enter_operations() {
  for (const Operation& op : first().operations) {
    plan.operations.push_back({op.layer, op.line});
    if (op.word == Word::kGiven) plan.has_given = true;
  }
}

const Program& LoweringState::program(std::int32_t chip) const {
  return programs_[static_cast<std::size_t>(chip)];
}

const Operation& LoweringState::operation(int index) const {
  return first().operations[static_cast<std::size_t>(index)];
}

int LoweringState::operations() const { return static_cast<int>(first().operations.size()); }

const Value& LoweringState::value(std::int32_t chip, int index) const {
  return program(chip).values[static_cast<std::size_t>(index)];
}

const Value& LoweringState::result(std::int32_t chip, int operation_index) const {
  return value(chip, operation(operation_index).result);
}

Place& LoweringState::place(std::int32_t chip, int value_index) {
  return places_[static_cast<std::size_t>(chip)][static_cast<std::size_t>(value_index)];
}

const std::vector<int>& LoweringState::uses(int value_index) const {
  return uses_[static_cast<std::size_t>(value_index)];
}

bool LoweringState::next_is(int operation_index, Word word, int value_index) const {
  const int next = operation_index + 1;
  return next < operations() && operation(next).word == word &&
         !operation(next).arguments.empty() && operation(next).arguments.front() == value_index;
}

bool LoweringState::used_outside(int value_index, int begin, int end) const {
  const std::vector<int>& all = uses(value_index);
  return std::any_of(all.begin(), all.end(), [&](int use) { return use < begin || use >= end; });
}

bool LoweringState::exchanged(int value_index) const {
  const std::vector<int>& all = uses(value_index);
  return chips() > 1 && std::any_of(all.begin(), all.end(), [&](int use) {
           return reads_other_chips(operation(use).word);
         });
}

Reference LoweringState::store(std::int32_t chip, std::int64_t bytes) {
  storages_.push_back({chip, round_up(std::max<std::int64_t>(bytes, 1), kAlignment)});
  return {Space::kArena, narrow(static_cast<std::int64_t>(storages_.size()) - 1, "storages"), 0};
}

Reference LoweringState::store_part(std::int32_t chip, int value_index,
                                    std::int64_t element_bytes) {
  const auto bytes_of = [&](std::int32_t of) {
    const Value& v = value(of, value_index);
    return v.rows * v.heads * std::max<std::int64_t>(v.columns, 1) * element_bytes;
  };
  Place& where = place(chip, value_index);
  if (!exchanged(value_index)) {
    where.data = store(chip, bytes_of(chip));
    return where.data;
  }
  std::int64_t stride = 0;
  for (std::int32_t of = 0; of < chips(); ++of) {
    stride = std::max(stride, round_up(bytes_of(of), kAlignment));
  }
  auto found = shared_parts_.find(value_index);
  if (found == shared_parts_.end()) {
    // The last arena is that of what chips read of each other.
    found = shared_parts_.emplace(value_index, store(chips(), stride * chips())).first;
  }
  where.data = found->second;
  where.data.offset = chip * stride;
  where.stride = stride;
  return where.data;
}

Reference LoweringState::observed(std::int64_t bytes) {
  plan.observed.push_back(std::max<std::int64_t>(bytes, 1));
  return {Space::kObserved, narrow(static_cast<std::int64_t>(plan.observed.size()) - 1, "observed"),
          0};
}

Reference LoweringState::fault(int operation_index) const {
  return {Space::kFault, 0, operation_index * std::int64_t{sizeof(std::uint32_t)}};
}

Reference LoweringState::vector(std::int32_t chip, int operation_index) {
  const int index = program(chip).operations[static_cast<std::size_t>(operation_index)].vector;
  CHECK(index >= 0);
  const Vector& entry = program(chip).vectors[static_cast<std::size_t>(index)];
  const auto [found, fresh] =
      vectors_.emplace(entry.tensor, static_cast<std::int32_t>(plan.vectors.size()));
  if (fresh) plan.vectors.push_back({entry.tensor, entry.size});
  return {Space::kVector, found->second, 0};
}

std::int32_t LoweringState::matrix(std::int32_t chip, int operation_index) {
  const int index = program(chip).operations[static_cast<std::size_t>(operation_index)].matrix;
  CHECK(index >= 0);
  const Matrix& entry = program(chip).matrices[static_cast<std::size_t>(index)];
  const auto [found, fresh] =
      matrices_.emplace(entry.tensor, static_cast<std::int32_t>(plan.matrices.size()));
  if (fresh) plan.matrices.push_back({entry.tensor, entry.rows, entry.columns});
  return found->second;
}

std::int32_t LoweringState::cache(std::int32_t chip, std::int64_t layer) {
  for (std::size_t i = 0; i < plan.caches.size(); ++i) {
    if (plan.caches[i].chip == chip && plan.caches[i].layer == layer) {
      return static_cast<std::int32_t>(i);
    }
  }
  CHECK_UNREACHABLE();
}

void place_storages(LoweringState& state) {
  struct Life {
    std::size_t storage;
    std::int64_t begin;
    std::int64_t end;
    std::int64_t offset;
  };
  Plan& plan = state.plan;
  const std::size_t count = state.storages_.size();
  std::vector<Life> lives;
  std::vector<std::size_t> life_of(count, count);
  const auto name = [&](const Reference& reference, std::int64_t group) {
    if (reference.space != Space::kArena) return;
    const auto storage = static_cast<std::size_t>(reference.index);
    if (life_of[storage] == count) {
      life_of[storage] = lives.size();
      lives.push_back({storage, group, group, 0});
    }
    lives[life_of[storage]].end = group;
  };
  std::int64_t group_index = 0;
  for (Group& group : plan.groups) {
    for_each_reference(group, [&](Reference& reference) { name(reference, group_index); });
    ++group_index;
  }
  name(plan.output, group_index);

  plan.arenas.assign(static_cast<std::size_t>(state.chips()) + 1, 0);
  std::vector<std::vector<const Life*>> alive(plan.arenas.size());
  for (Life& life : lives) {  // in the order of their first group
    const Storage& storage = state.storages_[life.storage];
    auto& others = alive[static_cast<std::size_t>(storage.arena)];
    std::erase_if(others, [&](const Life* other) { return other->end < life.begin; });
    std::sort(others.begin(), others.end(),
              [](const Life* a, const Life* b) { return a->offset < b->offset; });
    for (const Life* other : others) {  // the first gap that is wide enough
      if (life.offset + storage.bytes <= other->offset) break;
      life.offset = std::max(life.offset, other->offset + state.storages_[other->storage].bytes);
    }
    others.push_back(&life);
    auto& bytes = plan.arenas[static_cast<std::size_t>(storage.arena)];
    bytes = std::max(bytes, life.offset + storage.bytes);
  }

  const auto rewrite = [&](Reference& reference) {
    if (reference.space != Space::kArena) return;
    const Life& life = lives[life_of[static_cast<std::size_t>(reference.index)]];
    reference.index = state.storages_[life.storage].arena;
    reference.offset += life.offset;
  };
  for (Group& group : plan.groups) for_each_reference(group, rewrite);
  rewrite(plan.output);
}

}  // namespace logos::cuda
