// What launches declare against what the executor counts while they run.

#include <gtest/gtest.h>

#include "cuda/plan_runner.h"
#include "scoring.h"

namespace logos::cuda::testing {
namespace {

/// No padding anywhere: what is declared as useful is all there is to read.
ModelSpec even_spec() {
  ModelSpec spec;
  spec.layers = 2;
  spec.columns = 128;
  spec.query_heads = 4;
  spec.key_heads = 2;
  spec.head_columns = 32;
  spec.hidden_columns = 256;
  spec.vocabulary = 256;
  spec.norm_epsilon = 1e-5;
  return spec;
}

/// The launches of a decode step at position 70 of 100.
std::vector<LaunchRecord> records_of_step(const Model& model) {
  const CudaLane lane(plain_host());
  const Lowered step = lower(lane, model, "decode:100", gpu_config());
  const Plan plan = parse_plan(step.artifact.payload, "test");
  Inputs inputs;
  inputs.tokens = {9};
  inputs.positions = {70};
  inputs.caches.push_back(empty_cache(model.spec, 100));
  RunShape run;
  run.positions = {69};
  run.reach = 70;
  HostMachine machine;
  WeightMemory weights(machine, model.store->sha256(), false);
  RunMemory memory(machine, weights, plan, *model.store, inputs, run, false);
  PlanRunner(machine, plan, memory, run, nullptr).run();
  return machine.records();
}

TEST(Traffic, DeclaredIsWhatTheExecutorCounts) {
  const Model model(even_spec(), 1);
  int seen = 0;
  for (const LaunchRecord& record : records_of_step(model)) {
    SCOPED_TRACE(std::string(record.kernel));
    const Traffic& declared = record.declared;
    const Traffic& counted = record.counted->traffic;
    EXPECT_EQ(declared.int8_macs, counted.int8_macs);
    EXPECT_EQ(declared.tensor_macs, counted.tensor_macs);
    if (record.kernel == "norm_rows" || record.kernel == "silu_rows") {
      EXPECT_EQ(declared.other_bytes, counted.other_bytes);
      EXPECT_EQ(counted.weight_bytes + counted.kv_bytes, 0U);
    }
    if (record.kernel == "head_blocks" || record.kernel == "attention_scores") {
      EXPECT_EQ(declared.kv_bytes, counted.kv_bytes);
    }
    if (record.kernel == "product_dp4a_1") {
      // Beyond the useful bytes, two lanes read each multiplier.
      EXPECT_GE(counted.weight_bytes, declared.weight_bytes);
      EXPECT_LE(counted.weight_bytes, declared.weight_bytes + declared.weight_bytes / 25);
      EXPECT_GT(declared.weight_bytes, 0U);
    }
    ++seen;
  }
  // Embedding; per layer norm, q k v, heads, three of attention, o, norm, gate and up, silu, down;
  // the last norm and the head.
  EXPECT_EQ(seen, 1 + 2 * 11 + 2);
}

TEST(Traffic, OfAStepIsAboutItsWeights) {
  const Model model(even_spec(), 1);
  std::uint64_t weights = 0;
  for (const LaunchRecord& record : records_of_step(model)) {
    if (record.kernel != "embed_rows") weights += record.declared.weight_bytes;
  }
  const std::uint64_t layer_rows = 128 + 64 + 64 + 128 + 256 + 256;
  const std::uint64_t packed = 2 * (layer_rows * 132 + 128 * 264) + 256 * 132;
  EXPECT_EQ(weights, packed + 4 * (2 * (layer_rows + 128) + 256));
}

}  // namespace
}  // namespace logos::cuda::testing
