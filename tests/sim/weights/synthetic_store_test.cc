#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/weights/dequantize.h"
#include "sim/weights/synthetic_source.h"
#include "tests/sim/weights/checkpoint_files.h"
#include "tests/sim/weights/store_folder.h"

namespace logos {
namespace {

using testing::HasSubstr;

ModelSpec everything_spec() {
  ModelSpec spec = small_spec();
  spec.tied_head = false;
  spec.qkv_bias = true;
  spec.qk_norm = true;
  return spec;
}

TEST(SyntheticStore, HasOneDigestOnEveryMachineAndRun) {
  const StoreFolder folder;
  EXPECT_EQ(synthetic_store(small_spec(), 1)->sha256(),
            "75edba6fb268e5cef4887f28a0135645c840fef9af42482dcd583d401c81ea8f");
  EXPECT_EQ(synthetic_store(everything_spec(), 0xFEDCBA9876543210ULL)->sha256(),
            "8a612dec9b0fd0787b7a2411410f4cf6fe6eb24f7f5b29a4379ac890accb6ab6");
}

TEST(SyntheticStore, DependsOnTheSeedAndOnTheShapes) {
  const StoreFolder folder;
  const std::string digest = synthetic_store(small_spec(), 1)->sha256();
  EXPECT_NE(synthetic_store(small_spec(), 2)->sha256(), digest);
  ModelSpec wider = small_spec();
  wider.hidden_columns += 1;
  EXPECT_NE(synthetic_store(wider, 1)->sha256(), digest);
  ModelSpec other_epsilon = small_spec();
  other_epsilon.norm_epsilon = 1e-6;
  EXPECT_EQ(synthetic_store(other_epsilon, 1)->sha256(), digest);
  EXPECT_EQ(folder.entries(), 3);
}

TEST(SyntheticStore, HoldsEveryTensorOfTheSpecWithAdmissibleNumbers) {
  const StoreFolder folder;
  const ModelSpec spec = everything_spec();
  const auto store = synthetic_store(spec, 5);
  for (const PlannedTensor& tensor : weight_plan(spec)) {
    if (!tensor.is_matrix) {
      const float middle = tensor.name.ends_with(".bias") ? 0 : 1;
      for (const float value : store->vector(tensor.name)) {
        EXPECT_LE(std::fabs(value - middle), 0.125F) << tensor.name;
      }
      continue;
    }
    const MatrixView view = store->matrix(tensor.name);
    EXPECT_EQ(view.rows, tensor.rows);
    EXPECT_EQ(view.columns, tensor.columns);
    for (std::size_t row = 0; row < view.scales.size(); ++row) {
      EXPECT_GE(view.scales[row], 0x1p-40F);
      EXPECT_LE(view.scales[row], 0x1p20F);
      for (std::size_t i = 0; i < static_cast<std::size_t>(view.pitch); ++i) {
        const int q = view.q[row * static_cast<std::size_t>(view.pitch) + i];
        const int c = view.multipliers[row * static_cast<std::size_t>(view.groups) + i / 32];
        EXPECT_GE(q, -127);
        if (c == 0) {
          EXPECT_EQ(q, 0);
        }
      }
    }
  }
}

TEST(SyntheticStore, RowsHaveADeviationOfOneOverTheRootOfTheColumns) {
  const PlannedTensor tensor = {"m", true, 64, 4096};
  SyntheticSource rows(1);
  double squares = 0;
  double sum = 0;
  std::vector<std::uint8_t> c(128);
  std::vector<std::int8_t> q(4096);
  for (std::int64_t row = 0; row < tensor.rows; ++row) {
    const auto scale = static_cast<double>(rows.matrix_row(tensor, row, c, q));
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double w = q[i] * c[i / 32] * scale;
      squares += w * w;
      sum += w;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / 64), 1.0, 0.05);
  EXPECT_NEAR(sum / (64 * 4096), 0, 4 / std::sqrt(64.0 * 4096 * 4096));
}

TEST(SyntheticStore, IsPackedOnceThenReused) {
  const StoreFolder folder;
  synthetic_store(small_spec(), 1);
  const auto file = folder.only_file();
  const auto written = std::filesystem::last_write_time(file);
  synthetic_store(small_spec(), 1);
  EXPECT_EQ(folder.only_file(), file);
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
}

TEST(SyntheticStore, RefusesAShapeThatIsNone) {
  const StoreFolder folder;
  ModelSpec spec = small_spec();
  spec.key_heads = 3;
  EXPECT_THAT(error_of([&] { synthetic_store(spec, 1); }), HasSubstr("key_heads"));
  spec = small_spec();
  spec.profile = Profile::kB;
  EXPECT_THAT(error_of([&] { synthetic_store(spec, 1); }),
              testing::EndsWith("tensor \"model.embed_tokens.weight\": a row of profile B is no "
                                "whole number of groups; got 40 columns, want a multiple of 32"));
  EXPECT_EQ(folder.entries(), 0);
}

TEST(SyntheticStore, OfProfileBHoldsWhatAGgufFileMayHold) {
  const StoreFolder folder;
  ModelSpec spec = small_spec();
  spec.profile = Profile::kB;
  spec.columns = 64;
  spec.query_heads = 4;
  spec.head_columns = 24;
  spec.hidden_columns = 96;
  const auto store = synthetic_store(spec, 1);
  const MatrixView view = store->matrix("model.layers.0.self_attn.o_proj.weight");
  EXPECT_EQ(view.profile(), Profile::kB);
  EXPECT_EQ(view.groups, 3);
  EXPECT_EQ(view.halves.size(), 64U * 3);
  EXPECT_TRUE(view.multipliers.empty() && view.scales.empty());
  bool negative = false;
  bool lowest = false;
  for (const std::string_view name :
       {"model.embed_tokens.weight", "model.layers.1.mlp.down_proj.weight"}) {
    const MatrixView matrix = store->matrix(name);
    double squares = 0;
    std::vector<double> row(static_cast<std::size_t>(matrix.columns));
    for (std::int64_t n = 0; n < matrix.rows; ++n) {
      dequantize_row(matrix, n, row);
      for (const double w : row) squares += w * w;
    }
    // A product of a normed vector stays tame: rows have a norm near 1.
    EXPECT_GT(squares / static_cast<double>(matrix.rows), 0.2);
    EXPECT_LT(squares / static_cast<double>(matrix.rows), 2);
    for (const std::uint16_t half : matrix.halves) {
      EXPECT_LT(half & 0x7FFF, 0x4400);
      negative |= half >> 15 == 1;
    }
    for (const std::int8_t q : matrix.q) lowest |= q == -128;
  }
  EXPECT_TRUE(negative && lowest);
  EXPECT_EQ(synthetic_store(spec, 1)->sha256(), store->sha256());
  EXPECT_NE(synthetic_store(spec, 2)->sha256(), store->sha256());
}

}  // namespace
}  // namespace logos
