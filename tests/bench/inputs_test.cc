#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/default_inputs.h"
#include "bench/kv_fill.h"
#include "bench/plan.h"
#include "bench/tokens.h"
#include "program/error.h"

namespace logos::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Model preset_model() {
  Model model;
  model.name = "qwen2.5-0.5b";
  model.spec = *preset(model.name);
  return model;
}

Model prompted_model() {
  Model model = preset_model();
  model.prompt = {5, 6, 7};
  model.trained_positions = 100;
  return model;
}

std::vector<Plan> plans(const std::vector<std::string>& arguments, const Model& model) {
  return plan_cuts(*parse_options(arguments).options, model, std::nullopt, "");
}

std::string refusal(const std::vector<std::string>& arguments, const Model& model) {
  try {
    plans(arguments, model);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DefaultTokens, BeginThePromptAgainWhereItIsTooShort) {
  EXPECT_THAT(default_sequence(prompted_model(), 7), ElementsAre(5, 6, 7, 5, 6, 7, 5));
}

TEST(DefaultTokens, AreSplitMix64OfSeed1WithoutAPrompt) {
  // The first values of splitmix64(1), from the published algorithm.
  const std::uint64_t first = 0x910A2DEC89025CC1;
  const std::uint64_t second = 0xBEEB8DA1658EEC67;
  const Model model = preset_model();
  const auto vocabulary = static_cast<std::uint64_t>(model.spec.vocabulary);
  EXPECT_THAT(default_sequence(model, 2),
              ElementsAre(static_cast<std::int64_t>(first % vocabulary),
                          static_cast<std::int64_t>(second % vocabulary)));
}

TEST(PlanOfADecodeStep, TakesTheLastIdAndFillsTheCacheWithTheOthers) {
  const Plan plan = plans({"--cut", "decode:4", "--tokens", "9,8,7,6"}, preset_model()).front();
  EXPECT_THAT(plan.tokens, ElementsAre(7));  // 6, counted from 1
  EXPECT_THAT(plan.positions, ElementsAre(4));
  EXPECT_EQ(plan.capacity, 4);
  EXPECT_THAT(plan.history(0), ElementsAre(9, 8, 7));
}

TEST(PlanOfADecodeStep, StandsAtAPositionGiven) {
  const Plan plan = plans({"--cut", "decode:4", "--position", "2"}, prompted_model()).front();
  EXPECT_THAT(plan.tokens, ElementsAre(6));  // still the last of the four ids
  EXPECT_THAT(plan.positions, ElementsAre(2));
  EXPECT_THAT(plan.history(0), ElementsAre(5));
  EXPECT_EQ(plan.capacity, 4);
}

TEST(PlanOfAChunk, BeginsAtPosition1OrWhereAsked) {
  const Plan first = plans({"--cut", "prefill:3"}, prompted_model()).front();
  EXPECT_THAT(first.tokens, ElementsAre(6, 7, 8));
  EXPECT_THAT(first.positions, ElementsAre(1, 2, 3));
  EXPECT_TRUE(first.history(0).empty());
  EXPECT_EQ(first.capacity, 3);
  const Plan later =
      plans({"--cut", "prefill:2", "--position", "3", "--context", "9", "--tokens", "1,2"},
            prompted_model())
          .front();
  EXPECT_THAT(later.tokens, ElementsAre(2, 3));
  EXPECT_THAT(later.positions, ElementsAre(3, 4));
  EXPECT_THAT(later.history(0), ElementsAre(5, 6));
  EXPECT_EQ(later.capacity, 9);
}

TEST(PlanOfABatch, GivesEveryRowTheSameTokens) {
  const Plan plan = plans({"--cut", "batch:3x2"}, prompted_model()).front();
  EXPECT_THAT(plan.tokens, ElementsAre(7, 7, 7));
  EXPECT_THAT(plan.positions, ElementsAre(2, 2, 2));
  EXPECT_THAT(plan.history(2), ElementsAre(5));
}

TEST(Plans, RefuseAnotherCountWithBothNumbers) {
  const Model model = preset_model();
  EXPECT_THAT(refusal({"--cut", "decode:4", "--tokens", "1,2,3"}, model),
              HasSubstr("got 3, want 4"));
  EXPECT_THAT(refusal({"--cut", "prefill:2", "--tokens", "1,2,3"}, model),
              HasSubstr("got 3, want 2"));
  EXPECT_THAT(refusal({"--cut", "batch:2x3", "--tokens", "1,2,3"}, model),
              HasSubstr("count of sequences; got 1, want 2"));
}

TEST(Plans, RefuseWhatDoesNotFitTheCut) {
  const Model model = prompted_model();
  EXPECT_THAT(refusal({"--cut", "decode:4", "--position", "5"}, model),
              HasSubstr("got 5, want 1 to 4"));
  EXPECT_THAT(
      refusal({"--cut", "prefill:4", "--context", "3"}, model),
      HasSubstr("--context for prefill:4: too short for its positions; got 3, want 4 or more"));
  EXPECT_THAT(refusal({"--cut", "prefill:4", "--context", "5", "--position", "3"}, model),
              HasSubstr("--context for prefill:4: too short for its positions from 3 on; got 5, "
                        "want 6 or more"));
  EXPECT_THAT(refusal({"--cut", "decode:4", "--context", "3"}, model), HasSubstr("got 3, want 4"));
  EXPECT_THAT(refusal({"--cut", "prefill:4", "--position", "9223372036854775807"}, model),
              HasSubstr("--position"));
  EXPECT_THAT(refusal({"--cut", "layer:999@decode:4"}, model), HasSubstr("999"));
  EXPECT_THAT(refusal({"--cut", "decode:4", "--chips", "15"}, model), HasSubstr("15"));
  EXPECT_THAT(refusal({"--cut", "prefill:2147483647"}, model), HasSubstr("host's memory"));
}

TEST(Plans, SayWhichIdsASyntheticCacheDoesNotTake) {
  const auto said = [](const std::string& cut) {
    testing::internal::CaptureStderr();
    plans({"--cut", cut, "--tokens", "1,2,3"}, preset_model());
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said("decode:3"),
            "bench: --tokens for decode:3: a preset's cache is synthetic: only a step's own id is "
            "taken, the last\n");
  EXPECT_EQ(said("layer:1@decode:3"),
            "bench: --tokens for layer:1@decode:3: the rows and the cache of a preset's part are "
            "synthetic: no id changes a thing\n");
  EXPECT_THAT(said("head@prefill:3"), HasSubstr("no id changes a thing"));
  EXPECT_EQ(said("prefill:3"), "");
  EXPECT_EQ(said("embedding@decode:3"), "");
}

TEST(SyntheticCache, HoldsWhatQ16CouldHaveGiven) {
  const ModelSpec spec = preset_model().spec;
  const KvCache cache = synthetic_cache(spec, 3, 5, 2, 2);
  const KvCache::Layer& layer = cache.layer(3);
  for (std::int64_t block = 0; block < 5 * spec.key_heads; ++block) {
    const auto exponent = layer.key_exponents[static_cast<std::size_t>(block)];
    int largest = 0;
    for (std::int64_t i = 0; i < spec.head_columns; ++i) {
      const auto at = static_cast<std::size_t>(block * spec.head_columns + i);
      largest = std::max(largest, std::abs(static_cast<int>(layer.keys[at])));
    }
    if (block < 3 * spec.key_heads) {
      EXPECT_GE(largest, 16384);
      EXPECT_LE(largest, 32767);
      EXPECT_GE(exponent, -74);
      EXPECT_LE(exponent, 26);
    } else {
      EXPECT_EQ(largest, 0);  // beyond what is filled
      EXPECT_EQ(exponent, -128);
    }
  }
}

TEST(SyntheticCache, OfALayerAloneIsThatOfTheWholeModel) {
  const ModelSpec spec = preset_model().spec;
  const KvCache whole = synthetic_cache(spec, 4, 4, 1, 3);
  const KvCache alone = synthetic_cache(spec, 4, 4, 2, 1);
  EXPECT_EQ(whole.layer(2).keys, alone.layer(2).keys);
  EXPECT_EQ(whole.layer(2).value_exponents, alone.layer(2).value_exponents);
  EXPECT_NE(whole.layer(1).keys, whole.layer(2).keys);
  EXPECT_NE(whole.layer(1).keys, whole.layer(1).values);
}

TEST(SyntheticRows, AreFiniteAndSeeded) {
  const auto rows = synthetic_rows(2, 100, 1);
  EXPECT_EQ(rows, synthetic_rows(2, 100, 1));
  EXPECT_NE(rows, synthetic_rows(2, 100, 2));
  for (const float value : rows) EXPECT_LE(std::abs(value), 1.0f);
}

class KeptCache : public testing::Test {
 protected:
  KvCache cache = synthetic_cache(preset_model().spec, 2, 2, 1, 2);
  KvCache shape = KvCache(2, cache.heads, cache.head_columns, 1, 2);
  FillKey key{"weights", "program", {1, 2}};
  std::string bytes = serialise_cache(cache, key);

  std::string refusal_of(const std::string& other, const FillKey& asked) {
    try {
      parse_cache(other, asked, shape, "file.kv");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(KeptCache, ReadsBackAsWritten) {
  const KvCache back = parse_cache(bytes, key, shape, "file.kv");
  for (std::int64_t n = 1; n <= 2; ++n) {
    EXPECT_EQ(back.layer(n).keys, cache.layer(n).keys);
    EXPECT_EQ(back.layer(n).values, cache.layer(n).values);
    EXPECT_EQ(back.layer(n).key_exponents, cache.layer(n).key_exponents);
    EXPECT_EQ(back.layer(n).value_exponents, cache.layer(n).value_exponents);
  }
}

TEST_F(KeptCache, IsRefusedWhenDamagedCutShortOrAnothers) {
  std::string damaged = bytes;
  damaged[bytes.size() / 2] ^= 1;
  EXPECT_THAT(refusal_of(damaged, key), HasSubstr("damaged"));
  EXPECT_THAT(refusal_of(bytes.substr(0, bytes.size() - 1), key), HasSubstr("size in bytes"));
  EXPECT_THAT(refusal_of("", key), HasSubstr("size in bytes; got 0"));
  FillKey other = key;
  other.ids = {1, 3};
  EXPECT_THAT(refusal_of(bytes, other), HasSubstr("something else"));
}

}  // namespace
}  // namespace logos::bench
