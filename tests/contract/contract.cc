#include "tests/contract/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>

#include "program/genuine.h"
#include "program/written.h"

namespace logos::contract {
namespace {

ModelSpec base(std::int64_t columns, std::int64_t query_heads, std::int64_t key_heads,
               std::int64_t head_columns, std::int64_t hidden_columns) {
  ModelSpec spec;
  spec.layers = 2;
  spec.columns = columns;
  spec.query_heads = query_heads;
  spec.key_heads = key_heads;
  spec.head_columns = head_columns;
  spec.hidden_columns = hidden_columns;
  spec.vocabulary = 97;
  spec.norm_epsilon = 1e-5;
  return spec;
}

/// Of profile B: columns fill whole groups of 32, two key heads serve eight.
ModelSpec gguf_spec() {
  ModelSpec spec = base(96, 8, 2, 20, 160);
  spec.profile = Profile::kB;
  spec.tied_head = true;
  return spec;
}

std::filesystem::path kjv_folder() { return LOGOS_SOURCE_DIR "/models/kjv"; }

std::vector<Family> make_families() {
  ModelSpec llama = base(75, 4, 2, 18, 100);
  llama.rotary = {.kind = Rotary::Kind::kLlama3, .base = 500000, .factor = 8, .original = 64};
  ModelSpec mistral = base(64, 3, 1, 24, 172);
  mistral.window = 3;
  ModelSpec qwen2 = base(48, 6, 2, 8, 33);
  qwen2.qkv_bias = true;
  qwen2.tied_head = true;
  qwen2.norm_epsilon = 1e-6;
  ModelSpec qwen3 = base(96, 4, 4, 34, 64);
  qwen3.qk_norm = true;
  qwen3.tied_head = true;
  qwen3.rotary = {.kind = Rotary::Kind::kLinear, .base = 10000, .factor = 4};
  return {{"llama", llama},
          {"mistral", mistral},
          {"qwen2", qwen2},
          {"qwen3", qwen3},
          {"kjv", read_model_directory(kjv_folder()).spec}};
}

/// A store folder of this process; the first call makes it, the end of the process removes it.
class StoreFolder {
 public:
  StoreFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "logos-contract.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the stores");
    path_ = name;
    setenv("LOGOS_STORE", path_.c_str(), 1);
  }
  ~StoreFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;

 private:
  std::filesystem::path path_;
};

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

KvCache filled_cache(Random& random, const Job& job, std::int64_t positions) {
  const Cache& first = job.programs.front().caches.front();
  const Cache& last = job.programs.front().caches.back();
  KvCache cache(positions, first.heads, first.head_columns, first.layer,
                last.layer - first.layer + 1);
  for (KvCache::Layer& layer : cache.layers) {
    fill_blocks(random, layer.keys, layer.key_exponents);
    fill_blocks(random, layer.values, layer.value_exponents);
  }
  return cache;
}

std::vector<std::int64_t> positions_of(const Program& program) {
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < program.rows; ++row) {
    if (program.is_chunk) {
      positions.push_back(3 + row);  // two positions lie before the chunk
    } else {
      positions.push_back(std::max<std::int64_t>(1, *program.context - row));
    }
  }
  return positions;
}

bool same_caches(const Inputs& a, const Inputs& b) {
  if (a.caches.size() != b.caches.size()) return false;
  for (std::size_t i = 0; i < a.caches.size(); ++i) {
    if (a.caches[i].layers.size() != b.caches[i].layers.size()) return false;
    for (std::size_t n = 0; n < a.caches[i].layers.size(); ++n) {
      const KvCache::Layer& x = a.caches[i].layers[n];
      const KvCache::Layer& y = b.caches[i].layers[n];
      if (x.keys != y.keys || x.values != y.values || x.key_exponents != y.key_exponents ||
          x.value_exponents != y.value_exponents) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = make_families();
  return all;
}

const ModelSpec& spec_of(const std::string& family) {
  static const ModelSpec gguf = gguf_spec();
  if (family == "gguf") return gguf;
  for (const Family& candidate : families()) {
    if (candidate.name == family) return candidate.spec;
  }
  throw std::runtime_error("no family " + family);
}

const std::vector<std::string>& cuts() {
  static const std::vector<std::string> all = {
      "decode:5",           "prefill:12",          "batch:11x4",          "prefill:1",
      "embedding@decode:5", "embedding@prefill:7", "embedding@batch:3x4", "layer:1@decode:5",
      "layer:2@prefill:7",  "layer:2@batch:3x4",   "head@decode:5",       "head@prefill:7",
      "head@batch:3x4"};
  return all;
}

std::vector<std::string> lane_names() {
  std::vector<std::string> names;
  for (const bench::LaneKind& kind : bench::lane_table()) {
    if (kind.make) names.push_back(kind.name);
  }
  return names;
}

bench::LaneEntry lane_named(const std::string& name) {
  bench::Options options;
  options.lanes = {name};
  return std::move(bench::make_lanes(bench::lane_table(), options).front());
}

const WeightStore& weights_of(const std::string& family, std::uint64_t seed) {
  static const StoreFolder folder;
  static std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<WeightStore>> stores;
  auto& store = stores[{family, seed}];
  if (!store && family == "kjv") {
    std::vector<std::string> remarks;
    store = store_of_checkpoint(kjv_folder(), spec_of(family), remarks);
  } else if (!store) {
    store = synthetic_store(spec_of(family), seed);
  }
  return *store;
}

Job::Job(const std::string& family, const std::string& cut, std::int64_t chips)
    : weights(&weights_of(family)) {
  const Written written = written_split(spec_of(family), Cut::parse(cut), chips);
  text = written.text;
  identity = written.identity;
  programs = read_genuine(text, "contract", identity);
}

Inputs inputs_of(const Job& job, std::uint64_t seed) {
  Random random(seed);
  const Program& program = job.programs.front();
  Inputs inputs;
  for (std::size_t i = 0; i < program.tokens.size(); ++i) {
    inputs.tokens.push_back(between(random, 1, program.vocabulary));
  }
  if (!inputs.tokens.empty()) inputs.tokens.back() = program.vocabulary;  // the last id counts
  if (!program.positions.empty()) inputs.positions = positions_of(program);
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
      inputs.caches.push_back(filled_cache(random, job, capacity));
    }
  }
  return inputs;
}

Outcome run(const bench::LaneEntry& lane, const Job& job, const Inputs& inputs,
            RunOptions options) {
  const Artifact artifact = lane.lane->lower(job.text, job.identity, *job.weights, lane.config);
  LineDigests digests;
  options.observer = &digests;
  Inputs left = inputs;
  Result result = lane.lane->run(artifact, job.identity, *job.weights, lane.config, left, options);
  return {std::move(result), std::move(left), digests.digests()};
}

std::string digest_of(const std::vector<float>& outputs) {
  return sha256_hex(
      {reinterpret_cast<const char*>(outputs.data()), outputs.size() * sizeof(float)});
}

std::string difference(const Outcome& expected, const Outcome& got) {
  const std::size_t common = std::min(expected.digests.size(), got.digests.size());
  for (std::size_t i = 0; i < common; ++i) {
    const LineDigest& a = expected.digests[i];
    const LineDigest& b = got.digests[i];
    if (a.name != b.name || a.layer != b.layer || a.line != b.line || a.sha256 != b.sha256) {
      return fmt::format("operation {} of layer {}, line {} (got {} of layer {}, line {})", a.name,
                         a.layer, a.line, b.name, b.layer, b.line);
    }
  }
  if (expected.digests.size() != got.digests.size()) return "another number of operations";
  if (!same_outputs(expected.result, got.result)) return "outputs";
  if (!same_caches(expected.inputs, got.inputs)) return "the caches left";
  return "";
}

}  // namespace logos::contract
