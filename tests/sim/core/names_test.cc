#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "program/error.h"
#include "sim/kv_cache.h"
#include "sim/observer.h"
#include "sim/operation_order.h"
#include "sim/result.h"
#include "sim/timing.h"

namespace logos {
namespace {

TEST(Names, TimeClassesAreThoseOfTheContract) {
  EXPECT_EQ(name_of(TimeClass::kMeasured), "measured");
  EXPECT_EQ(name_of(TimeClass::kRtl), "rtl");
  EXPECT_EQ(name_of(TimeClass::kSimulated), "simulated");
  EXPECT_EQ(name_of(TimeClass::kModelled), "modelled");
}

TEST(Names, CategoriesAreTheKeysOfTheReport) {
  const std::array<std::string_view, kCategories> keys = {
      "weight_stream", "kv_stream", "compute", "movement", "synchronisation", "idle"};
  for (int i = 0; i < kCategories; ++i) {
    EXPECT_EQ(name_of(static_cast<Category>(i)), keys[static_cast<std::size_t>(i)]);
  }
}

TEST(Names, ElementTypesAndTheirSizes) {
  EXPECT_EQ(name_of(ElementType::kF32), "f32");
  EXPECT_EQ(name_of(ElementType::kI16), "i16");
  EXPECT_EQ(name_of(ElementType::kI32), "i32");
  EXPECT_EQ(name_of(ElementType::kI64), "i64");
  EXPECT_EQ(bytes_of(ElementType::kF32), 4u);
  EXPECT_EQ(bytes_of(ElementType::kI16), 2u);
  EXPECT_EQ(bytes_of(ElementType::kI32), 4u);
  EXPECT_EQ(bytes_of(ElementType::kI64), 8u);
}

TEST(OperationOrder, EmbeddingComesBeforeTheLayersAndLogitsAfter) {
  EXPECT_LT(place_of("embedding", 0), place_of("input_norm", 1));
  EXPECT_LT(place_of("residual_2", 1), place_of("input_norm", 2));
  EXPECT_LT(place_of("residual_2", 1'000'000), place_of("final_norm", 0));
  EXPECT_LT(place_of("final_norm.q16", 0), place_of("logits", 0));
}

TEST(OperationOrder, BiasesAndHeadNormsStandWhereTheyAreDocumented) {
  const std::vector<std::string_view> order = {
      "q", "q.bias", "k", "k.bias", "v", "v.bias", "q.norm", "k.norm", "q.rope", "k.rope", "q.q16"};
  for (std::size_t i = 1; i < order.size(); ++i) {
    EXPECT_LT(place_of(order[i - 1], 3), place_of(order[i], 3)) << order[i];
  }
}

TEST(OperationOrderDeathTest, AnUndocumentedNameIsABrokenInvariant) {
  EXPECT_DEATH(place_of("q_rope", 1), "CHECK failed");
}

TEST(HexOf, WritesTwosComplementAndBitPatterns) {
  const std::int16_t small[] = {-1, 2};
  EXPECT_EQ(hex_of(ElementType::kI16, std::as_bytes(std::span(small)), 0), "FFFF");
  EXPECT_EQ(hex_of(ElementType::kI16, std::as_bytes(std::span(small)), 1), "0002");
  const float real[] = {-0.125F};
  EXPECT_EQ(hex_of(ElementType::kF32, std::as_bytes(std::span(real)), 0), "BE000000");
  const std::int64_t wide[] = {-2};
  EXPECT_EQ(hex_of(ElementType::kI64, std::as_bytes(std::span(wide)), 0), "FFFFFFFFFFFFFFFE");
}

TEST(OutputSha256, IsOverTheOutputsAsLittleEndianBinary32) {
  Result result{.rows = 1,
                .columns = 2,
                .outputs = {1.0F, -2.0F},
                .fault = {},
                .timing = Timing(TimeClass::kModelled, 1)};
  EXPECT_EQ(output_sha256(result),
            sha256_hex(std::string_view("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8)));
  result.outputs[0] = -result.outputs[0];
  EXPECT_NE(output_sha256(result),
            sha256_hex(std::string_view("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8)));
}

TEST(KvCache, BeginsAsZeroBlocksOfTheLayersAskedFor) {
  KvCache cache(5, 2, 4, 3, 2);
  ASSERT_EQ(cache.layers.size(), 2u);
  EXPECT_EQ(&cache.layer(3), &cache.layers[0]);
  EXPECT_EQ(&cache.layer(4), &cache.layers[1]);
  EXPECT_EQ(cache.layer(4).keys, std::vector<std::int16_t>(5 * 2 * 4, 0));
  EXPECT_EQ(cache.layer(4).values, std::vector<std::int16_t>(5 * 2 * 4, 0));
  EXPECT_EQ(cache.layer(4).key_exponents, std::vector<std::int8_t>(5 * 2, -128));
  EXPECT_EQ(cache.layer(4).value_exponents, std::vector<std::int8_t>(5 * 2, -128));
}

TEST(KvCache, ASizeThatOverflowsIsRefused) {
  EXPECT_THROW(KvCache(std::int64_t{1} << 40, 1 << 20, 128, 1, 32), Error);
}

TEST(KvCacheDeathTest, ALayerItDoesNotHoldIsABrokenInvariant) {
  const KvCache cache(1, 1, 2, 3, 1);
  EXPECT_DEATH(cache.layer(2), "CHECK failed");
  EXPECT_DEATH(cache.layer(4), "CHECK failed");
}

}  // namespace
}  // namespace logos
