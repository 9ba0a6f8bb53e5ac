#include "tests/small_models.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "program/written.h"
#include "tests/sim/weights/store_folder.h"
#include "tests/small_shape.h"

namespace logos {
namespace {

constexpr const char* kKjv = LOGOS_SOURCE_DIR "/models/kjv";

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Blocks as a quantizer leaves them; one in eight all zero, its integers not to be looked at.
void fill_blocks(Random& random, std::vector<std::int16_t>& values,
                 std::vector<std::int8_t>& exponents) {
  for (auto& value : values) value = static_cast<std::int16_t>(between(random, -32767, 32767));
  const std::size_t block = values.size() / exponents.size();
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    const bool zero = between(random, 0, 7) == 0;
    exponents[i] = static_cast<std::int8_t>(zero ? -128 : between(random, -17, -13));
    if (zero) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i * block), block, 0);
  }
}

KvCache random_cache(Random& random, const Program& program, std::int64_t positions) {
  const Cache& first = program.caches.front();
  KvCache cache(positions, first.heads, first.head_columns, first.layer,
                program.caches.back().layer - first.layer + 1);
  for (KvCache::Layer& layer : cache.layers) {
    fill_blocks(random, layer.keys, layer.key_exponents);
    fill_blocks(random, layer.values, layer.value_exponents);
  }
  return cache;
}

}  // namespace

ModelSpec small_model(const std::string& name) {
  if (name == "kjv") return read_model_directory(kKjv).spec;
  if (name == "llama") {
    ModelSpec spec = small_shape(75, 4, 2, 18, 100);
    spec.rotary = {.kind = Rotary::Kind::kLlama3, .base = 500000, .factor = 8, .original = 64};
    return spec;
  }
  if (name == "mistral") {
    ModelSpec spec = small_shape(64, 3, 1, 24, 172);
    spec.window = 3;
    return spec;
  }
  if (name == "qwen2") {
    ModelSpec spec = small_shape(48, 6, 2, 8, 33);
    spec.qkv_bias = true;
    spec.tied_head = true;
    spec.norm_epsilon = 1e-6;
    return spec;
  }
  if (name == "qwen3") {
    ModelSpec spec = small_shape(96, 4, 4, 34, 64);
    spec.qk_norm = true;
    spec.tied_head = true;
    spec.rotary = {.kind = Rotary::Kind::kLinear, .base = 10000, .factor = 4};
    return spec;
  }
  if (name == "gguf") {  // columns fill whole groups of 32, two key heads serve eight
    ModelSpec spec = small_shape(96, 8, 2, 20, 160);
    spec.profile = Profile::kB;
    spec.tied_head = true;
    return spec;
  }
  throw std::runtime_error("no small model " + name);
}

const WeightStore& small_weights(const std::string& name, std::uint64_t seed) {
  static const StoreFolder folder;
  static std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<WeightStore>> stores;
  auto& store = stores[{name, seed}];
  if (!store && name == "kjv") {
    std::vector<std::string> remarks;
    store = store_of_checkpoint(kKjv, small_model(name), remarks);
  } else if (!store) {
    store = synthetic_store(small_model(name), seed);
  }
  return *store;
}

Inputs random_inputs(const Program& program, std::uint64_t seed) {
  Random random(seed);
  Inputs inputs;
  for (std::size_t i = 0; i < program.tokens.size(); ++i) {
    inputs.tokens.push_back(between(random, 1, program.vocabulary));
  }
  if (!inputs.tokens.empty()) inputs.tokens.back() = program.vocabulary;  // the last id counts
  for (std::int64_t row = 0; row < program.rows && !program.positions.empty(); ++row) {
    inputs.positions.push_back(
        program.is_chunk ? 3 + row : std::max<std::int64_t>(1, *program.context - row));
  }
  if (program.operations.front().word == Word::kGiven) {
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < program.rows * program.columns; ++i) {
      inputs.given.push_back(normal(random));
    }
  }
  if (!program.caches.empty()) {
    const bool each = program.caches.front().one_for_each_row;
    const std::int64_t capacity = program.context.value_or(program.rows + 5);
    for (std::int64_t i = 0; i < (each ? program.rows : 1); ++i) {
      inputs.caches.push_back(random_cache(random, program, capacity));
    }
  }
  return inputs;
}

}  // namespace logos
