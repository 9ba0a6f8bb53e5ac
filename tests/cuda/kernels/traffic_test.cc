// What launches declare against what the executor counts while they run.

#include <gtest/gtest.h>

#include "cuda/plan_runner.h"
#include "scoring.h"
#include "tests/small_shape.h"

namespace logos::cuda::testing {
namespace {

/// No padding anywhere: what is declared as useful is all there is to read.
ModelSpec even_spec() { return small_shape(128, 4, 2, 32, 256, 256); }

/// A step or chunk of `rows` rows that reaches `last` positions.
struct Work {
  std::string cut;
  std::int64_t rows = 1;
  std::int64_t last = 1;
  std::int64_t chips = 1;
};

std::vector<LaunchRecord> records_of(const Model& model, const Work& work,
                                     const HostOptions& options = {}) {
  const CudaLane lane(plain_host());
  const Lowered lowered = lower(lane, model, work.cut, gpu_config(), work.chips);
  const Plan plan = parse_plan(lowered.artifact.payload, "test");
  Inputs inputs;
  RunShape run;
  run.reach = work.last;
  for (std::int64_t row = 0; row < work.rows; ++row) {
    inputs.tokens.push_back(1 + (row * 37) % model.spec.vocabulary);  // all different
    inputs.positions.push_back(plan.is_chunk ? work.last - work.rows + row + 1 : work.last);
    run.positions.push_back(static_cast<std::int32_t>(inputs.positions.back() - 1));
    if (row == 0 || plan.each_row_caches) {
      inputs.caches.push_back(empty_cache(model.spec, work.last));
    }
  }
  HostMachine machine(options);
  const bool in_place = !options.check_addresses;
  WeightMemory weights(machine, model.store->sha256(), in_place);
  RunMemory memory(machine, weights, plan, *model.store, inputs, run, false);
  PlanRunner(machine, plan, memory, run, nullptr).run();
  return machine.records();
}

/// The launches of a decode step at position 70 of 100.
std::vector<LaunchRecord> records_of_step(const Model& model) {
  return records_of(model, {"decode:100", 1, 70});
}

TEST(Traffic, DeclaredIsEachByteThatAKernelTouchesOnce) {
  const Model model(even_spec(), 1);
  for (const Work& work :
       {Work{"decode:100", 1, 70}, Work{"decode:100", 1, 70, 2}, Work{"prefill:40", 40, 40},
        Work{"prefill:72", 72, 200, 2}, Work{"batch:5x80", 5, 80}, Work{"batch:20x70", 20, 70}}) {
    SCOPED_TRACE(work.cut + " on " + std::to_string(work.chips));
    for (const LaunchRecord& record :
         records_of(model, work, {.check_addresses = true, .count_touched = true})) {
      SCOPED_TRACE(std::string(record.kernel));
      const std::uint64_t touched = record.counted->touched_bytes;
      if (record.kernel == "embed_rows" && work.chips > 1) {
        EXPECT_LE(touched, record.declared.bytes());  // a chip may hold none of the tokens
      } else if (record.kernel == "quantize_rows" && touched < record.declared.bytes()) {
        // At peaks of other launches the row is read by no helper: a block of 2 bytes a column and
        // an exponent is written, 4 bytes a column are read.
        const std::uint64_t rows = record.shape.grid.x;
        const std::uint64_t chips = static_cast<std::uint64_t>(work.chips);
        const std::uint64_t columns = (touched / rows - 1 - 4 * chips) / 2;
        EXPECT_EQ(touched + 4 * rows * columns, record.declared.bytes());
      } else {
        EXPECT_EQ(touched, record.declared.bytes());
      }
    }
  }
}

TEST(Traffic, AgainIsWhatFurtherTilesOfRowsRead) {
  const Model model(even_spec(), 1);
  int products = 0;
  int scores = 0;
  for (const LaunchRecord& record : records_of(model, {"prefill:200", 200, 200})) {
    SCOPED_TRACE(std::string(record.kernel));
    const Traffic& declared = record.declared;
    if (record.kernel == "product_mma") {
      EXPECT_EQ(declared.again_bytes, 3 * declared.weight_bytes);  // 200 rows are 4 tiles of 64
      EXPECT_GE(record.counted->traffic.weight_bytes, 4 * declared.weight_bytes);
      ++products;
    }
    if (record.kernel == "attention_scores") {
      // 50 blocks of 4 rows see 4, 8, … 200 positions of 2 heads; a block has 2 exponents for each.
      EXPECT_EQ(declared.kv_bytes + declared.again_bytes, 5100U * 2 * (2 * 32 + 2));
      EXPECT_EQ(declared.kv_bytes, 200U * 2 * (2 * 32 + 2));
      ++scores;
    }
  }
  EXPECT_EQ(products, 2 * 4);
  EXPECT_EQ(scores, 2);
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
      // The input's row is asked for again for each pair of outputs. Beyond the useful bytes, two
      // lanes read each multiplier.
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
