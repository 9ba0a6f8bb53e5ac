// The exact loops of attention against the definition, on every kind of instructions.
#include "sim/reference/attention.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/reference/arithmetic.h"
#include "tests/sim/reference/random_source.h"

namespace logos::reference {
namespace {

class AttentionTest : public testing::TestWithParam<Instructions> {
 protected:
  std::vector<std::int16_t> integers(std::int64_t count, std::int64_t greatest = 32767) {
    std::vector<std::int16_t> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
      value = static_cast<std::int16_t>(random_.between(-greatest, greatest));
    }
    return values;
  }

  void expect_dots(const std::vector<std::int16_t>& query, const std::vector<std::int16_t>& keys,
                   std::int64_t stride, std::int64_t count) {
    std::vector<std::int64_t> products(static_cast<std::size_t>(count));
    exact_dots(query, keys.data(), stride, products, GetParam());
    for (std::int64_t t = 0; t < count; ++t) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < query.size(); ++i) {
        sum += std::int64_t{query[i]} * keys[static_cast<std::size_t>(t * stride) + i];
      }
      ASSERT_EQ(products[static_cast<std::size_t>(t)], sum) << t;
    }
  }

  RandomSource random_;
};

TEST_P(AttentionTest, DotsAreExact) {
  for (const std::int64_t columns : {1, 2, 6, 8, 10, 32, 64, 100, 128, 256, 257, 600}) {
    const std::int64_t stride = columns * 3 + 1;
    expect_dots(integers(columns), integers(stride * 20), stride, 20);
  }
}

TEST_P(AttentionTest, DotsOfExtremesDoNotOverflow) {
  for (const int query : {32767, -32767, 255, -1, -32513}) {
    for (const int key : {32767, -32767}) {
      for (const std::int64_t columns : {256, 600}) {
        const auto count = static_cast<std::size_t>(columns);
        expect_dots(std::vector<std::int16_t>(count, static_cast<std::int16_t>(query)),
                    std::vector<std::int16_t>(count, static_cast<std::int16_t>(key)), columns, 1);
      }
    }
  }
}

TEST_P(AttentionTest, WeightedSumsAreExact) {
  for (const std::int64_t columns : {1, 6, 10, 64, 128, 255}) {
    const std::int64_t stride = columns + 5;
    const auto values = integers(stride * 50);
    std::vector<std::int32_t> weights(50);
    for (auto& weight : weights) {
      weight = static_cast<std::int32_t>(random_.between(0, std::int64_t{1} << 23));
    }
    std::vector<std::int64_t> sums(static_cast<std::size_t>(columns), 7);
    add_weighted(weights, values.data(), stride, sums, GetParam());
    for (std::int64_t i = 0; i < columns; ++i) {
      std::int64_t sum = 7;
      for (std::int64_t t = 0; t < 50; ++t) {
        sum += std::int64_t{weights[static_cast<std::size_t>(t)]} *
               values[static_cast<std::size_t>(t * stride + i)];
      }
      ASSERT_EQ(sums[static_cast<std::size_t>(i)], sum);
    }
  }
}

KvCache::Layer layer_of(std::int64_t positions, std::int64_t columns) {
  KvCache cache(positions, 1, columns, 1, 1);
  return cache.layers[0];
}

TEST_P(AttentionTest, AnEmptyCacheGivesEqualWeightsAndZero) {
  const KvCache::Layer layer = layer_of(4, 8);  // all blocks zero (ZE)
  const auto query = integers(8);
  std::vector<float> output(8, 1.0f);
  HeadTrace trace;
  attend(query, -14, layer, 1, 0, 0, 3, output, trace, GetParam());
  EXPECT_EQ(output, std::vector<float>(8, 0.0f));
  EXPECT_EQ(trace.scores, std::vector<float>(4, 0.0f));
  EXPECT_EQ(trace.weights, std::vector<std::int32_t>(4, 0));
  EXPECT_EQ(trace.weight_sum, std::int64_t{4} << 23);
}

TEST_P(AttentionTest, OnePositionGivesItsValuesBack) {
  KvCache::Layer layer = layer_of(3, 8);
  const auto query = integers(8);
  const auto value = integers(8);
  for (std::size_t i = 0; i < 8; ++i) {
    layer.keys[8 + i] = 100;
    layer.values[8 + i] = value[i];
  }
  layer.key_exponents[1] = layer.value_exponents[1] = -12;
  std::vector<float> output(8);
  HeadTrace trace;
  attend(query, -14, layer, 1, 0, 1, 1, output, trace, GetParam());
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(output[i], static_cast<float>(value[i]) * 0x1p-12f);
  }
  EXPECT_EQ(trace.weights, std::vector<std::int32_t>{1 << 23});
}

TEST_P(AttentionTest, AValueFarBelowTheGreatestExponentHasNoWeight) {
  KvCache::Layer layer = layer_of(2, 4);
  for (auto& value : layer.values) value = 32767;
  layer.value_exponents = {20, -10};
  std::vector<float> output(4);
  HeadTrace trace;
  attend(integers(4), -14, layer, 1, 0, 0, 1, output, trace, GetParam());
  EXPECT_EQ(trace.weights, (std::vector<std::int32_t>{1 << 23, 0}));
  EXPECT_EQ(trace.weight_sum, std::int64_t{2} << 23);
}

INSTANTIATE_TEST_SUITE_P(Every, AttentionTest, testing::ValuesIn(available_instructions()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace logos::reference
