#include "tests/sim/reference/test_model.h"

#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string_view>

#include "program/author.h"
#include "program/cut.h"
#include "sim/reference/reference_lane.h"
#include "tests/small_shape.h"

namespace logos {
namespace {

/// Stores of tests do not land in the user's cache.
void use_test_store() {
  const auto dir = std::filesystem::temp_directory_path() / "logos-reference-test-store";
  ::setenv("LOGOS_STORE", dir.c_str(), 0);
}

}  // namespace

TestModel checkpoint_model(const std::filesystem::path& dir) {
  use_test_store();
  TestModel model;
  model.spec = read_model_directory(dir).spec;
  std::vector<std::string> remarks;
  model.weights = store_of_checkpoint(dir, model.spec, remarks);
  return model;
}

TestModel gguf_model(const std::filesystem::path& file) {
  use_test_store();
  TestModel model;
  model.spec = resolve_model(file.string()).reading.spec;
  model.weights = store_of_gguf(file, model.spec);
  return model;
}

TestModel synthetic_model(const ModelSpec& spec, std::uint64_t seed) {
  use_test_store();
  validate(spec, "test");
  return {spec, synthetic_store(spec, seed)};
}

ModelSpec odd_spec() { return small_shape(75, 9, 3, 10, 172); }

ModelSpec windowed_spec() {
  ModelSpec spec = odd_spec();
  spec.query_heads = 8;
  spec.key_heads = 2;
  spec.head_columns = 16;
  spec.window = 5;
  spec.rotary.kind = Rotary::Kind::kLinear;
  spec.rotary.factor = 4;
  return spec;
}

ModelSpec biased_spec() {
  ModelSpec spec = odd_spec();
  spec.query_heads = 8;
  spec.key_heads = 8;
  spec.head_columns = 6;
  spec.qkv_bias = true;
  spec.tied_head = true;
  spec.norm_epsilon = 1e-6;
  return spec;
}

ModelSpec normed_spec() {
  ModelSpec spec = odd_spec();
  spec.query_heads = 8;
  spec.key_heads = 1;
  spec.head_columns = 32;
  spec.qk_norm = true;
  spec.rotary.kind = Rotary::Kind::kLlama3;
  spec.rotary.base = 500000;
  spec.rotary.factor = 32;
  spec.rotary.original = 8192;
  return spec;
}

ModelSpec blocks_spec() {
  ModelSpec spec = small_shape(96, 8, 2, 20, 160);
  spec.profile = Profile::kB;
  spec.tied_head = true;
  return spec;
}

ModelSpec tiny_spec() { return small_shape(5, 8, 2, 2, 3, 6); }

std::vector<NamedSpec> synthetic_specs() {
  return {{"odd", odd_spec()},       {"windowed", windowed_spec()}, {"biased", biased_spec()},
          {"normed", normed_spec()}, {"blocks", blocks_spec()},     {"tiny", tiny_spec()}};
}

std::vector<std::int64_t> random_tokens(const ModelSpec& spec, std::int64_t count,
                                        std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens) {
    token = 1 + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(spec.vocabulary));
  }
  return tokens;
}

Result run_reference(const Written& written, const TestModel& model, Inputs& inputs,
                     const RunOptions& options) {
  const ReferenceLane lane;
  const LaneConfig config;
  const Artifact artifact = lane.lower(written.text, written.identity, *model.weights, config);
  return lane.run(artifact, written.identity, *model.weights, config, inputs, options);
}

Written split_at(const ModelSpec& spec, const Cut& cut, std::int64_t chips,
                 const std::vector<std::int64_t>& tokens,
                 const std::vector<std::int64_t>& positions) {
  Facts facts;
  facts.spec = spec;
  facts.cut = cut;
  facts.chips = chips;
  const bool has_tokens = cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kEmbedding;
  const bool has_positions = cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kLayer;
  if (has_tokens) facts.tokens = tokens;
  if (has_positions) facts.positions = positions;
  return {author(facts), written_split(spec, cut, chips).identity};
}

std::vector<float> logits_by_steps(const TestModel& model, const std::vector<std::int64_t>& tokens,
                                   std::int64_t chips, const RunOptions& options) {
  Cut cut;
  cut.context = static_cast<std::int64_t>(tokens.size());
  Inputs inputs;
  inputs.caches.push_back(model.cache(cut.context));
  std::vector<float> logits;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    inputs.tokens = {tokens[t]};
    inputs.positions = {static_cast<std::int64_t>(t) + 1};
    const Written step = split_at(model.spec, cut, chips, inputs.tokens, inputs.positions);
    const Result result = run_reference(step, model, inputs, options);
    if (result.fault) throw std::runtime_error("fault");
    logits.insert(logits.end(), result.outputs.begin(), result.outputs.end());
  }
  return logits;
}

std::vector<float> logits_by_chunks(const TestModel& model, const std::vector<std::int64_t>& tokens,
                                    std::int64_t chunk, std::int64_t chips,
                                    const RunOptions& options) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  Inputs inputs;
  inputs.caches.push_back(model.cache(count));
  std::vector<float> logits;
  for (std::int64_t first = 0; first < count; first += chunk) {
    Cut cut;
    cut.work = Cut::Work::kPrefill;
    cut.rows = std::min(chunk, count - first);
    inputs.tokens.assign(tokens.begin() + first, tokens.begin() + first + cut.rows);
    inputs.positions.clear();
    for (std::int64_t r = 0; r < cut.rows; ++r) inputs.positions.push_back(first + r + 1);

    const auto run_part = [&](const Cut& part) {
      Inputs of_part;
      if (part.part == Cut::Part::kEmbedding) of_part.tokens = inputs.tokens;
      if (part.part == Cut::Part::kLayer) {
        of_part.positions = inputs.positions;
        of_part.caches = std::move(inputs.caches);
      }
      if (part.part != Cut::Part::kEmbedding) of_part.given = inputs.given;
      const Written written = split_at(model.spec, part, chips, of_part.tokens, of_part.positions);
      Result result = run_reference(written, model, of_part, options);
      if (result.fault) throw std::runtime_error("fault");
      if (part.part == Cut::Part::kLayer) inputs.caches = std::move(of_part.caches);
      inputs.given = std::move(result.outputs);
    };
    cut.part = Cut::Part::kEmbedding;
    run_part(cut);
    cut.part = Cut::Part::kLayer;
    for (cut.layer = 1; cut.layer <= model.spec.layers; ++cut.layer) run_part(cut);
    Cut head;
    head.work = Cut::Work::kBatch;
    head.part = Cut::Part::kHead;
    head.rows = cut.rows;
    head.context = count;
    run_part(head);
    logits.insert(logits.end(), inputs.given.begin(), inputs.given.end());
  }
  return logits;
}

std::string sha256_of(const std::vector<float>& values) {
  return sha256_hex(std::string_view(reinterpret_cast<const char*>(values.data()),
                                     values.size() * sizeof(float)));
}

}  // namespace logos
