#include "program/model_spec.h"

#include <cmath>
#include <limits>

#include "tests/program/helpers.h"

namespace logos {
namespace {

TEST(Presets, AreTheFiveOfTheContractAndValid) {
  const std::vector<std::string> names = {"llama-3.2-1b", "llama-3.1-8b", "qwen2.5-0.5b",
                                          "qwen3-0.6b", "mistral-7b-v0.1"};
  EXPECT_EQ(preset_names(), names);
  for (const std::string& name : names) {
    ASSERT_TRUE(preset(name)) << name;
    EXPECT_NO_THROW(validate(*preset(name), name));
  }
  EXPECT_EQ(preset("llama-3.2-1B"), std::nullopt);
}

TEST(Presets, DifferWhereTheFamiliesDo) {
  EXPECT_TRUE(preset("qwen2.5-0.5b")->qkv_bias);
  EXPECT_TRUE(preset("qwen3-0.6b")->qk_norm);
  EXPECT_EQ(preset("qwen3-0.6b")->head_columns, 128);
  EXPECT_EQ(preset("mistral-7b-v0.1")->window, 4096);
  EXPECT_FALSE(preset("mistral-7b-v0.1")->tied_head);
  EXPECT_EQ(preset("llama-3.1-8b")->rotary.factor, 8);
  EXPECT_EQ(preset("llama-3.2-1b")->rotary.factor, 32);
}

struct BadSpec {
  const char* name;
  void (*change)(ModelSpec*);
  const char* message;
};

class BadSpecs : public testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecs, AreRefusedWithBothValues) {
  ModelSpec spec = small_spec();
  GetParam().change(&spec);
  EXPECT_EQ(error_of([&] { validate(spec, "here"); }), std::string("here: ") + GetParam().message);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    ModelSpec, BadSpecs,
    testing::Values(
        BadSpec{"layers0", [](ModelSpec* s) { s->layers = 0; },
                "layers out of bounds; got 0, want 1 to 4096"},
        BadSpec{"layers", [](ModelSpec* s) { s->layers = 4097; },
                "layers out of bounds; got 4097, want 1 to 4096"},
        BadSpec{"columns", [](ModelSpec* s) { s->columns = -5; },
                "columns out of bounds; got -5, want 1 to 65536"},
        BadSpec{"columnsB",
                [](ModelSpec* s) {
                  s->profile = Profile::kB;
                  s->columns = 32769;
                },
                "columns out of bounds; got 32769, want 1 to 32768"},
        BadSpec{"keyHeads", [](ModelSpec* s) { s->key_heads = 3; },
                "query_heads is not a multiple of key_heads; got 4 query heads over 3 key heads, "
                "want as many query heads for every key head"},
        BadSpec{"keyHeadsMore", [](ModelSpec* s) { s->key_heads = 8; },
                "key_heads out of bounds; got 8, want 1 to 4"},
        BadSpec{"headColumns", [](ModelSpec* s) { s->head_columns = 7; },
                "head_columns cannot be rotated in pairs; got 7, want an even number"},
        BadSpec{"headColumnsMost", [](ModelSpec* s) { s->head_columns = 258; },
                "head_columns out of bounds; got 258, want 1 to 256"},
        BadSpec{"headsTogether",
                [](ModelSpec* s) {
                  s->query_heads = s->key_heads = 512;
                  s->head_columns = 256;
                },
                "query_heads * head_columns out of bounds; got 131072, want 1 to 65536"},
        BadSpec{"hidden",
                [](ModelSpec* s) { s->hidden_columns = std::numeric_limits<std::int64_t>::max(); },
                "hidden_columns out of bounds; got 9223372036854775807, want 1 to 65536"},
        BadSpec{"vocabulary", [](ModelSpec* s) { s->vocabulary = 0; },
                "vocabulary out of bounds; got 0, want 1 to 2147483647"},
        BadSpec{"epsilon", [](ModelSpec* s) { s->norm_epsilon = 0; },
                "norm_epsilon out of bounds; got 0, want 9.094947017729282e-13 to 1099511627776"},
        BadSpec{"epsilonNan", [](ModelSpec* s) { s->norm_epsilon = kNan; },
                "norm_epsilon out of bounds; got nan, want 9.094947017729282e-13 to 1099511627776"},
        BadSpec{"epsilonSmall", [](ModelSpec* s) { s->norm_epsilon = std::nextafter(0x1p-40, 0); },
                "norm_epsilon out of bounds; got 9.094947017729281e-13, want "
                "9.094947017729282e-13 to 1099511627776"},
        BadSpec{"base", [](ModelSpec* s) { s->rotary.base = 0; },
                "rotary base out of bounds; got 0, want 1 to 9007199254740992"},
        BadSpec{"baseInf", [](ModelSpec* s) { s->rotary.base = kInfinity; },
                "rotary base out of bounds; got inf, want 1 to 9007199254740992"},
        BadSpec{"factor",
                [](ModelSpec* s) {
                  s->rotary.kind = Rotary::Kind::kLinear;
                  s->rotary.factor = 0.5;
                },
                "rotary factor out of bounds; got 0.5, want 1 to 9007199254740992"},
        BadSpec{"highLow",
                [](ModelSpec* s) { s->rotary = {Rotary::Kind::kLlama3, 10000, 8, 4, 4, 8192}; },
                "rotary high_freq_factor is not above low_freq_factor; got 4, want more than 4"},
        BadSpec{"original",
                [](ModelSpec* s) { s->rotary = {Rotary::Kind::kLlama3, 10000, 8, 1, 4, 8192.5}; },
                "rotary original_max_position_embeddings is not whole; got 8192.5, want a whole "
                "number"},
        BadSpec{"window", [](ModelSpec* s) { s->window = 0; },
                "window out of bounds; got 0, want 1 to 2147483647"}),
    [](const auto& suite) { return std::string(suite.param.name); });

TEST(ModelSpec, TakesTheLeastEpsilon) {
  ModelSpec spec = small_spec();
  spec.norm_epsilon = 0x1p-40;
  EXPECT_NO_THROW(validate(spec, "here"));
}

}  // namespace
}  // namespace logos
