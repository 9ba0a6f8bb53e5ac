#include "cuda/run_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/bounded.h"
#include "program/check.h"
#include "program/error.h"
#include "sim/weights/rotary_table.h"

namespace logos::cuda {
namespace {

constexpr std::array<Space, 4> kCacheSpaces = {Space::kKeys, Space::kKeyExponents, Space::kValues,
                                               Space::kValueExponents};
constexpr std::array<std::string_view, 4> kCacheNames = {"keys", "key exponents", "values",
                                                         "value exponents"};

std::int64_t head_pitch(const Plan& plan) { return (plan.head_columns + 7) / 8 * 8; }

/// Caches of a layer: one, or one a row.
std::int64_t cache_count(const Plan& plan) { return plan.each_row_caches ? plan.rows : 1; }

/// Bytes of a (position, head) in each of the four parts of a cache.
std::int64_t block_bytes(const Plan& plan, Space space) {
  const bool exponents = space == Space::kKeyExponents || space == Space::kValueExponents;
  return exponents ? 1 : 2 * head_pitch(plan);
}

/// The most that attention of a chip needs of a scratch buffer.
std::int64_t scratch_need(const Plan& plan, std::int64_t chip, Scratch kind, std::int64_t reach) {
  std::int64_t most = 0;
  for (const Group& group : plan.groups) {
    for (const Step& step : group.steps) {
      const auto* attention = std::get_if<AttentionArguments<Planned>>(&step.work);
      if (attention == nullptr || step.chip != chip) continue;
      most = std::max(most, scratch_bytes(*attention, kind, reach));
    }
  }
  return most;
}

bool only_observed(Scratch kind) { return kind == Scratch::kWeights || kind == Scratch::kTotals; }

bool read_only(Space space) {
  switch (space) {
    case Space::kArena:
    case Space::kObserved:
    case Space::kScratch:
    case Space::kFault:
    case Space::kKeys:
    case Space::kKeyExponents:
    case Space::kValues:
    case Space::kValueExponents:
      return false;
    default:
      return true;
  }
}

/// Visits the pushed (cache row, position) of a run: one a row.
template <typename Visit>
void each_pushed(const Plan& plan, const RunShape& run, Visit&& visit) {
  for (std::size_t row = 0; row < run.positions.size(); ++row) {
    visit(plan.each_row_caches ? row : 0, run.positions[row], row);
  }
}

}  // namespace

MemoryNeed memory_need(const Plan& plan, std::int64_t reach) {
  MemoryNeed need;
  const auto add = [](std::int64_t& sum, std::initializer_list<std::int64_t> factors) {
    sum = bounded_sum(sum, bounded_product(factors));
  };
  for (const PlanMatrix& matrix : plan.matrices) {
    const std::int64_t pitch = (matrix.columns + 31) / 32 * 32;
    add(need.weights, {matrix.rows, pitch + pitch / 32 + 4});
  }
  for (const PlanVector& vector : plan.vectors) add(need.weights, {4, vector.size});
  for (const PlanCache& cache : plan.caches) {
    add(need.caches, {2 * (2 * head_pitch(plan) + 1), cache_count(plan), reach, cache.heads});
  }
  for (const std::int64_t bytes : plan.arenas) add(need.activations, {bytes});
  for (std::int64_t chip = 0; chip < plan.chips; ++chip) {
    for (int kind = 0; kind < kScratches; ++kind) {
      const auto scratch = static_cast<Scratch>(kind);
      if (!only_observed(scratch))
        add(need.activations, {scratch_need(plan, chip, scratch, reach)});
    }
  }
  add(need.activations, {plan.rows, 8 + 4 * plan.head_columns});
  if (plan.has_given) add(need.activations, {4, plan.rows, plan.columns});
  return need;
}

void check_memory(const Plan& plan, std::int64_t reach) {
  const MemoryNeed need = memory_need(plan, reach);
  if (need.all() > plan.memory_bytes) {
    throw Error("cuda: memory of the GPU",
                fmt::format("too small for {} bytes of weights, {} of caches of {} positions and "
                            "{} of activations",
                            need.weights, need.caches, reach, need.activations),
                fmt::format("{} bytes", plan.memory_bytes), fmt::format("{} bytes", need.all()));
  }
}

RunMemory::RunMemory(Machine& machine, WeightMemory& weights, const Plan& plan,
                     const WeightStore& store, const Inputs& inputs, const RunShape& run,
                     bool observe)
    : machine_(machine), plan_(plan), observe_(observe) {
  check_memory(plan, run.reach);
  enter_weights(weights, store);
  enter_inputs(inputs, run);
  enter_caches(inputs, run);
  enter_activations(run);
}

void RunMemory::own(Space space, std::size_t index, std::int64_t bytes, std::string_view name) {
  auto& pieces = pieces_[static_cast<std::size_t>(space)];
  if (pieces.size() <= index) pieces.resize(index + 1);
  buffers_.push_back(machine_.allocate(static_cast<std::size_t>(bytes), name));
  pieces[index] = {buffers_.back().data(), bytes};
}

template <typename T>
void RunMemory::upload(Space space, const std::vector<T>& values, std::string_view name) {
  const auto bytes = std::as_bytes(std::span(values));
  own(space, 0, static_cast<std::int64_t>(bytes.size()), name);
  if (!bytes.empty()) machine_.upload(buffers_.back().data(), bytes);
}

void RunMemory::enter_weight(WeightMemory& weights, Space space, std::size_t index,
                             std::span<const std::byte> bytes, const std::string& name) {
  auto& pieces = pieces_[static_cast<std::size_t>(space)];
  if (pieces.size() <= index) pieces.resize(index + 1);
  // Kernels only read it: `address` refuses a reference that would write.
  pieces[index] = {weights.place(name, bytes), static_cast<std::int64_t>(bytes.size())};
}

void RunMemory::enter_weights(WeightMemory& weights, const WeightStore& store) {
  for (std::size_t i = 0; i < plan_.matrices.size(); ++i) {
    const PlanMatrix& matrix = plan_.matrices[i];
    const MatrixView view = store.matrix(matrix.tensor);
    if (view.rows != matrix.rows || view.columns != matrix.columns ||
        view.pitch != (matrix.columns + 31) / 32 * 32 || view.groups != view.pitch / 32) {
      throw Error(fmt::format("cuda: tensor {}", matrix.tensor), "another shape in the store",
                  fmt::format("{} rows of {}", view.rows, view.columns),
                  fmt::format("{} rows of {}", matrix.rows, matrix.columns));
    }
    check_profile(view, plan_.profile, fmt::format("cuda: tensor {}", matrix.tensor));
    enter_weight(weights, Space::kMatrix, i, std::as_bytes(view.q), matrix.tensor + " q");
    if (plan_.profile == Profile::kB) {
      enter_weight(weights, Space::kMultipliers, i, std::as_bytes(view.halves),
                   matrix.tensor + " multipliers");
      continue;
    }
    enter_weight(weights, Space::kMultipliers, i, std::as_bytes(view.multipliers),
                 matrix.tensor + " multipliers");
    enter_weight(weights, Space::kScales, i, std::as_bytes(view.scales), matrix.tensor + " scales");
  }
  for (std::size_t i = 0; i < plan_.vectors.size(); ++i) {
    const PlanVector& vector = plan_.vectors[i];
    const std::span<const float> values = store.vector(vector.tensor);
    if (static_cast<std::int64_t>(values.size()) != vector.size) {
      throw Error(fmt::format("cuda: tensor {}", vector.tensor), "another size in the store",
                  fmt::to_string(values.size()), fmt::to_string(vector.size));
    }
    enter_weight(weights, Space::kVector, i, std::as_bytes(values), vector.tensor);
  }
}

void RunMemory::enter_inputs(const Inputs& inputs, const RunShape& run) {
  std::vector<std::int32_t> tokens;
  for (const std::int64_t token : inputs.tokens) {
    tokens.push_back(static_cast<std::int32_t>(token - 1));
  }
  upload(Space::kTokens, tokens, "tokens");
  upload(Space::kPositions, run.positions, "positions");
  upload(Space::kGiven, inputs.given, "given rows");
  RotaryTable table;
  if (!inputs.positions.empty() && plan_.head_columns > 0) {
    table = rotary_table(plan_.rotary, plan_.head_columns, inputs.positions);
  }
  upload(Space::kCosines, table.cosines, "cosines");
  upload(Space::kSines, table.sines, "sines");
  const std::vector<std::uint32_t> faults(plan_.operations.size(), 0);
  upload(Space::kFault, faults, "faults");
}

void RunMemory::enter_caches(const Inputs& inputs, const RunShape& run) {
  const std::int64_t pitch = 2 * head_pitch(plan_);
  for (std::size_t i = 0; i < plan_.caches.size(); ++i) {
    const PlanCache& cache = plan_.caches[i];
    for (std::size_t part = 0; part < kCacheSpaces.size(); ++part) {
      const Space space = kCacheSpaces[part];
      const std::int64_t block = block_bytes(plan_, space);
      const std::int64_t position = cache.heads * block;
      own(space, i, cache_count(plan_) * run.reach * position, kCacheNames[part]);
      std::byte* to = buffers_.back().data();
      for (const KvCache& from : inputs.caches) {
        const KvCache::Layer& layer = from.layer(cache.layer);
        const std::int64_t count = std::min(run.reach, from.positions);
        std::vector<std::byte> bytes(static_cast<std::size_t>(count * position));
        const bool exponents = block == 1;
        const std::byte* source =
            space == Space::kKeys           ? std::as_bytes(std::span(layer.keys)).data()
            : space == Space::kKeyExponents ? std::as_bytes(std::span(layer.key_exponents)).data()
            : space == Space::kValues       ? std::as_bytes(std::span(layer.values)).data()
                                      : std::as_bytes(std::span(layer.value_exponents)).data();
        const std::int64_t width = exponents ? 1 : 2 * plan_.head_columns;
        const bool packed = exponents || width == pitch;
        for (std::int64_t t = 0; t < count; ++t) {
          const std::byte* row = source + (t * from.heads + cache.first_head) * width;
          std::byte* out = bytes.data() + t * position;
          const std::int64_t pieces = packed ? 1 : cache.heads;
          const auto length = static_cast<std::size_t>(packed ? cache.heads * width : width);
          for (std::int64_t head = 0; head < pieces; ++head) {
            std::memcpy(out + head * block, row + head * width, length);
          }
        }
        if (!bytes.empty()) machine_.upload(to, bytes);
        to += run.reach * position;
      }
    }
  }
}

void RunMemory::enter_activations(const RunShape& run) {
  for (std::size_t i = 0; i < plan_.arenas.size(); ++i) {
    const auto chip = static_cast<std::int64_t>(i);
    own(Space::kArena, i, plan_.arenas[i],
        chip < plan_.chips ? fmt::format("activations of chip {}", chip)
                           : std::string("what chips read of each other"));
  }
  if (observe_) {
    for (std::size_t i = 0; i < plan_.observed.size(); ++i) {
      own(Space::kObserved, i, plan_.observed[i], "what is observed");
    }
  }
  for (std::int64_t chip = 0; chip < plan_.chips; ++chip) {
    for (int kind = 0; kind < kScratches; ++kind) {
      const auto scratch = static_cast<Scratch>(kind);
      const std::int64_t bytes = scratch_need(plan_, chip, scratch, run.reach);
      if (bytes == 0 || (only_observed(scratch) && !observe_)) continue;
      own(Space::kScratch, static_cast<std::size_t>(chip * kScratches + kind), bytes,
          "scratch of attention");
    }
  }
}

const RunMemory::Piece* RunMemory::find(const Reference& reference) const {
  const auto& pieces = pieces_[static_cast<std::size_t>(reference.space)];
  const auto index = static_cast<std::size_t>(reference.index);
  if (index >= pieces.size() || pieces[index].data == nullptr) return nullptr;
  return &pieces[index];
}

namespace {

/// A reference that may lead nowhere in a run without an observer.
bool may_be_absent(const Reference& reference) {
  if (reference.space == Space::kObserved) return true;
  if (reference.space != Space::kScratch) return false;
  return only_observed(static_cast<Scratch>(reference.index % kScratches));
}

[[noreturn]] void outside(const Reference& reference, std::string_view what) {
  throw Error("artifact of lane cuda",
              fmt::format("damaged plan: {} (space {}, number {}, offset {})", what,
                          static_cast<int>(reference.space), reference.index, reference.offset));
}

}  // namespace

std::byte* RunMemory::address(const Reference& reference, std::size_t alignment,
                              bool writes) const {
  if (!reference) return nullptr;
  const Piece* piece = find(reference);
  if (piece == nullptr) {
    if (may_be_absent(reference) && !observe_) return nullptr;
    outside(reference, "a reference to no buffer");
  }
  if (reference.offset > piece->bytes) outside(reference, "a reference behind its buffer");
  if (static_cast<std::size_t>(reference.offset) % alignment != 0) {
    outside(reference, "a reference between elements");
  }
  if (writes && read_only(reference.space)) outside(reference, "a write to what is only read");
  return piece->data + reference.offset;
}

void RunMemory::check(const Reference& reference, std::int64_t bytes, bool required) const {
  const Piece* piece = reference ? find(reference) : nullptr;
  if (piece == nullptr) {
    if (!required && may_be_absent(reference) && !observe_) return;
    outside(reference, "no buffer where a kernel needs one");
  }
  if (reference.offset > piece->bytes || bytes > piece->bytes - reference.offset) {
    outside(reference, fmt::format("{} bytes do not fit into a buffer of {}", bytes, piece->bytes));
  }
}

void RunMemory::download(std::span<std::byte> to, const Reference& from) const {
  check(from, static_cast<std::int64_t>(to.size()), true);
  const std::byte* source = address(from, 1, false);
  CHECK(source != nullptr);
  machine_.download(to, source);
}

PushedCaches RunMemory::download_caches(const RunShape& run) const {
  PushedCaches all;
  for (std::size_t i = 0; i < plan_.caches.size(); ++i) {
    auto& pushed = all.emplace_back();
    for (std::size_t part = 0; part < kCacheSpaces.size(); ++part) {
      const std::int64_t position = plan_.caches[i].heads * block_bytes(plan_, kCacheSpaces[part]);
      const std::byte* from = pieces_[static_cast<std::size_t>(kCacheSpaces[part])][i].data;
      auto& bytes = pushed[part];
      bytes.resize(run.positions.size() * static_cast<std::size_t>(position));
      if (bytes.empty()) continue;
      if (!plan_.each_row_caches) {  // rows stand one after the other
        machine_.download(bytes, from + run.positions.front() * position);
        continue;
      }
      each_pushed(plan_, run, [&](std::size_t cache, std::int64_t at, std::size_t row) {
        const std::int64_t place = static_cast<std::int64_t>(cache) * run.reach + at;
        machine_.download(std::span(bytes).subspan(row * static_cast<std::size_t>(position),
                                                   static_cast<std::size_t>(position)),
                          from + place * position);
      });
    }
  }
  return all;
}

void push_caches(const Plan& plan, const PushedCaches& pushed, const RunShape& run,
                 std::vector<KvCache>& caches) {
  const auto pitch = static_cast<std::size_t>(2 * head_pitch(plan));
  const auto width = static_cast<std::size_t>(2 * plan.head_columns);
  for (std::size_t i = 0; i < plan.caches.size(); ++i) {
    const PlanCache& plan_cache = plan.caches[i];
    const auto heads = static_cast<std::size_t>(plan_cache.heads);
    const auto& parts = pushed[i];
    each_pushed(plan, run, [&](std::size_t which, std::int64_t at, std::size_t row) {
      KvCache& cache = caches[which];
      KvCache::Layer& layer = cache.layer(plan_cache.layer);
      const auto first = static_cast<std::size_t>(at * cache.heads + plan_cache.first_head);
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t from = row * heads + head;
        const std::size_t to = first + head;
        std::memcpy(&layer.keys[to * width / 2], &parts[0][from * pitch], width);
        std::memcpy(&layer.key_exponents[to], &parts[1][from], 1);
        std::memcpy(&layer.values[to * width / 2], &parts[2][from * pitch], width);
        std::memcpy(&layer.value_exponents[to], &parts[3][from], 1);
      }
    });
  }
}

}  // namespace logos::cuda
