#include "tests/spatial/chip/chip_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>

#include "program/genuine.h"
#include "program/model_spec.h"
#include "program/presets.h"
#include "program/written.h"
#include "sim/reference/executor.h"
#include "spatial/lowering/lowering.h"

namespace logos::spatial {
namespace {

ModelSpec small(std::int64_t columns, std::int64_t query_heads, std::int64_t key_heads,
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

ModelSpec spec_of(const std::string& model) {
  ModelSpec spec;
  if (model == "kjv") return read_model_directory(LOGOS_SOURCE_DIR "/models/kjv").spec;
  if (model == "llama") {
    spec = small(75, 4, 2, 18, 100);
    spec.rotary = {.kind = Rotary::Kind::kLlama3, .base = 500000, .factor = 8, .original = 64};
  } else if (model == "mistral") {
    spec = small(64, 3, 1, 24, 172);
    spec.window = 3;
  } else if (model == "qwen2") {
    spec = small(48, 6, 2, 8, 33);
    spec.qkv_bias = true;
    spec.tied_head = true;
    spec.norm_epsilon = 1e-6;
  } else if (model == "qwen3") {
    spec = small(96, 4, 4, 34, 64);
    spec.qk_norm = true;
    spec.tied_head = true;
    spec.rotary = {.kind = Rotary::Kind::kLinear, .base = 10000, .factor = 4};
  } else {
    throw std::runtime_error("no model " + model);
  }
  return spec;
}

/// A store folder of this process; the end of the process removes it.
class StoreFolder {
 public:
  StoreFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "logos-chips.XXXXXX").string();
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

const WeightStore& weights_of(const std::string& model) {
  static const StoreFolder folder;
  static std::map<std::string, std::unique_ptr<WeightStore>> stores;
  auto& store = stores[model];
  if (!store && model == "kjv") {
    std::vector<std::string> remarks;
    store = store_of_checkpoint(LOGOS_SOURCE_DIR "/models/kjv", spec_of(model), remarks);
  } else if (!store) {
    store = synthetic_store(spec_of(model), 1);
  }
  return *store;
}

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Blocks as a quantizer leaves them; one in eight all zero.
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

KvCache filled_cache(Random& random, const Program& program, std::int64_t positions) {
  const Cache& first = program.caches.front();
  KvCache cache(positions, first.heads, first.head_columns, first.layer,
                program.caches.back().layer - first.layer + 1);
  for (KvCache::Layer& layer : cache.layers) {
    fill_blocks(random, layer.keys, layer.key_exponents);
    fill_blocks(random, layer.values, layer.value_exponents);
  }
  return cache;
}

/// A chunk stands after two positions, a step at its last, a batch's rows at different ones.
Inputs inputs_of(const Program& program, std::uint64_t seed) {
  Random random(seed);
  Inputs inputs;
  for (std::size_t i = 0; i < program.tokens.size(); ++i) {
    inputs.tokens.push_back(between(random, 1, program.vocabulary));
  }
  if (!inputs.tokens.empty()) inputs.tokens.back() = program.vocabulary;
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
      inputs.caches.push_back(filled_cache(random, program, capacity));
    }
  }
  return inputs;
}

}  // namespace

ChipCase::ChipCase(const std::string& model, const std::string& cut, std::int64_t text_chips,
                   std::uint64_t seed)
    : weights_(&weights_of(model)) {
  const Written written = written_split(spec_of(model), Cut::parse(cut), text_chips);
  facts_ = read_facts(written.text, "test");
  programs_ = read_genuine(written.text, "test", written.identity);
  inputs = inputs_of(programs_.front(), seed);
}

Outcome ChipCase::on_reference() const {
  LineDigests digests;
  Inputs left = inputs;
  reference::ExecuteOptions options;
  options.observer = &digests;
  const auto execution = reference::execute(programs_, left, *weights_, options);
  std::optional<int> fault;
  if (execution.fault) fault = execution.fault->line;
  return {execution.outputs, fault, left.caches, digests.digests()};
}

Plan ChipCase::plan(const ChipConfig& config) const {
  return lower_programs(facts_, programs_, config);
}

Outcome ChipCase::on_chips(const ChipConfig& config, ChipRun options, RunReport* report) const {
  return on_chips(plan(config), config, std::move(options), report);
}

Outcome ChipCase::on_chips(const Plan& plan, const ChipConfig& config, ChipRun options,
                           RunReport* report) const {
  LineDigests digests;
  Inputs left = inputs;
  options.observer = &digests;
  RunReport ran = run_chips(plan, config, *weights_, left, options);
  std::optional<int> fault;
  if (ran.fault) fault = programs_.front().operations[static_cast<std::size_t>(*ran.fault)].line;
  Outcome outcome{ran.outputs, fault, left.caches, digests.digests()};
  if (report != nullptr) *report = std::move(ran);
  return outcome;
}

RunReport ChipCase::time(const ChipConfig& config, ChipRun options) const {
  Inputs left = inputs;
  return run_chips(plan(config), config, *weights_, left, options);
}

std::string difference(const Outcome& expected, const Outcome& got) {
  const std::size_t common = std::min(expected.operations.size(), got.operations.size());
  for (std::size_t i = 0; i < common; ++i) {
    const LineDigest& a = expected.operations[i];
    const LineDigest& b = got.operations[i];
    if (a.name != b.name || a.layer != b.layer || a.line != b.line || a.sha256 != b.sha256) {
      return fmt::format("operation {} of layer {}, line {} (got {} of layer {}, line {})", a.name,
                         a.layer, a.line, b.name, b.layer, b.line);
    }
  }
  if (expected.operations.size() != got.operations.size()) return "another number of operations";
  if (expected.fault_line != got.fault_line) return "the fault";
  if (expected.outputs.size() != got.outputs.size()) return "another number of outputs";
  for (std::size_t i = 0; i < got.outputs.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(expected.outputs[i]) !=
        std::bit_cast<std::uint32_t>(got.outputs[i])) {
      return fmt::format("output {}", i);
    }
  }
  for (std::size_t c = 0; c < expected.caches.size(); ++c) {
    for (std::size_t n = 0; n < expected.caches[c].layers.size(); ++n) {
      const KvCache::Layer& x = expected.caches[c].layers[n];
      const KvCache::Layer& y = got.caches[c].layers[n];
      if (x.keys != y.keys || x.values != y.values || x.key_exponents != y.key_exponents ||
          x.value_exponents != y.value_exponents) {
        return fmt::format("cache {}, layer {}", c, n);
      }
    }
  }
  return "";
}

}  // namespace logos::spatial
