// The tile's arithmetic against the known answers.
#include "tests/sim/reference/golden.h"

#include <gtest/gtest.h>

#include <numeric>

#include "spatial/tile/arithmetic.h"
#include "spatial/tile/tile_product.h"

namespace logos::spatial {
namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

std::vector<float> floats_of(const nlohmann::json& hex) {
  std::vector<float> values;
  for (const auto& value : hex) values.push_back(float_of_hex(value));
  return values;
}

TEST(TileGolden, QuantizerGivesTheKnownBlocks) {
  int faults = 0;
  const auto known = golden("q16.json");
  for (const auto& item : known["cases"]) {
    const auto x = floats_of(item["x"]);
    std::vector<std::int16_t> q(x.size(), 99);
    const BlockTag tag = quantize(x, q);
    SCOPED_TRACE(item["remark"]);
    EXPECT_EQ(q, item["q"].get<std::vector<std::int16_t>>());
    EXPECT_EQ(tag.exponent, item["e"].get<int>());
    EXPECT_EQ(tag.fault, item["fault"].get<bool>());
    faults += tag.fault ? 1 : 0;
    if (tag.exponent == kZeroBlock) continue;
    for (std::size_t i = 0; i < x.size(); ++i) {  // and by R(x, s), number by number
      const auto r = to_integer(x[i], -tag.exponent);
      EXPECT_EQ(std::clamp<std::int64_t>(r, -32767, 32767), q[i]);
    }
  }
  EXPECT_GT(faults, 0);
}

TEST(TileGolden, IntegersBecomeTheNearestBinary32) {
  const auto known = golden("f_i64.json");
  for (const auto& item : known["cases"]) {
    const std::int64_t i = std::stoll(item[0].get<std::string>());
    EXPECT_EQ(bits(to_float(i)), bits_of_hex(item[1])) << i << " " << item[2];
  }
}

TEST(TileGolden, ExponentialAndSiluGiveTheKnownBits) {
  const auto known = golden("exp_silu.json");
  for (const auto& pair : known["exp_neg"]) {
    EXPECT_EQ(bits(exp_neg(float_of_hex(pair[0]))), bits_of_hex(pair[1])) << pair[0];
  }
  for (const auto& pair : known["silu"]) {
    EXPECT_EQ(bits(silu_times(float_of_hex(pair[0]), 1.0f)), bits_of_hex(pair[1])) << pair[0];
  }
}

TEST(TileGolden, WeightRowsMultiplyAsTheirIntegersSay) {
  const auto known = golden("weights.json");
  int rows = 0;
  for (const auto& item : known["cases"]) {
    if (!item.contains("q")) continue;
    SCOPED_TRACE(item["remark"]);
    auto q = item["q"].get<std::vector<std::int8_t>>();
    const auto c = item["c"].get<std::vector<std::uint8_t>>();
    const auto columns = static_cast<std::int64_t>(q.size());
    const float scale = float_of_hex(item["D"]);
    std::vector<std::int16_t> a(q.size());
    std::iota(a.begin(), a.end(), std::int16_t{-17});
    std::int64_t expected = 0;
    for (std::size_t k = 0; k < q.size(); ++k) expected += c[k / 32] * q[k] * a[k];
    std::vector<float> x(q.size());
    embed_bytes(q, c, scale, x);
    for (std::size_t k = 0; k < q.size(); ++k) {
      EXPECT_EQ(bits(x[k]), bits(static_cast<float>(c[k / 32] * q[k]) * scale));
    }
    const auto groups = static_cast<std::int64_t>(c.size());
    q.resize(static_cast<std::size_t>(32 * groups), 77);  // what padding holds must not matter
    const std::vector<float> scales = {scale};
    const MatrixView matrix{1, columns, 32 * groups, groups, q, c, scales};
    std::int64_t sum = 5;
    TileProduct().add(matrix, {0, 1}, {0, columns}, {a.data(), 1, columns}, &sum, 1);
    EXPECT_EQ(sum, expected + 5);
    ++rows;
  }
  EXPECT_GT(rows, 10);
}

}  // namespace
}  // namespace logos::spatial
