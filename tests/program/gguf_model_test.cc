// What a GGUF file's keys say of a model, and every key that is refused.
#include "program/gguf_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "program/written.h"
#include "tests/gguf_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class GgufModelTest : public testing::Test {
 protected:
  std::filesystem::path file_of(const GgufFile& file) const {
    auto path = folder_ / "model.gguf";
    std::ofstream(path, std::ios::binary) << file.bytes();
    return path;
  }
  ModelReading read(const GgufFile& file) const { return read_gguf_model(file_of(file)); }
  /// What the refusal says, without the path that it begins with.
  std::string refusal(const GgufFile& file) const {
    const std::string path = (folder_ / "model.gguf").string();
    const std::string message = error_of([&] { read(file); });
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(std::min(message.size(), path.size() + 2));
  }
  static GgufFile with_factors(const std::vector<float>& factors) {
    GgufFile file = small_gguf();
    GgufFile::Tensor& tensor = file.tensor("rope_freqs.weight");
    tensor.shape = {factors.size()};
    for (const float factor : factors) tensor.data += as_bytes(factor);
    return file;
  }

  TemporaryFolder folder_;
};

TEST_F(GgufModelTest, KeysStateTheModel) {
  const ModelReading reading = read(small_gguf());
  ModelSpec spec;
  spec.profile = Profile::kB;
  spec.layers = 2;
  spec.columns = 64;
  spec.query_heads = 8;
  spec.key_heads = 2;
  spec.head_columns = 8;
  spec.hidden_columns = 96;
  spec.vocabulary = 40;
  spec.norm_epsilon = 1e-5;  // the decimal, not the binary32 that the file holds
  spec.tied_head = true;
  EXPECT_EQ(reading.spec, spec);
  EXPECT_EQ(reading.trained_positions, 128);
  EXPECT_THAT(reading.remarks, IsEmpty());
  EXPECT_FALSE(read(small_gguf({.own_head = true})).spec.tied_head);
  EXPECT_TRUE(read(small_gguf({.architecture = "qwen2"})).spec.qkv_bias);
  EXPECT_TRUE(read(small_gguf({.architecture = "qwen3"})).spec.qk_norm);
}

TEST_F(GgufModelTest, AFileIsAModelByItsNameOrItsFirstLetters) {
  const auto file = file_of(small_gguf());
  const auto other = folder_ / "weights.bin";
  std::filesystem::copy_file(file, other);
  for (const auto& path : {file, other}) {
    const ModelName model = resolve_model(path.string());
    EXPECT_TRUE(model.is_gguf);
    EXPECT_EQ(model.path, path);
    EXPECT_EQ(model.reading.spec.vocabulary, 40);
  }
  std::ofstream(folder_ / "empty.gguf") << "";
  EXPECT_THAT(error_of([&] { resolve_model((folder_ / "empty.gguf").string()); }),
              HasSubstr("the file ends within the letters GGUF"));
  std::ofstream(folder_ / "text") << "no model";
  EXPECT_THAT(error_of([&] { resolve_model((folder_ / "text").string()); }),
              HasSubstr("a directory with config.json, a GGUF file, or one of"));
}

TEST_F(GgufModelTest, MissingKeysTakeTheirDefaultsAndAreSaid) {
  GgufFile file = small_gguf();
  file.drop("llama.rope.freq_base");
  file.drop("llama.attention.head_count_kv");
  file.drop("llama.attention.key_length");
  file.drop("llama.context_length");
  const ModelReading reading = read(file);
  EXPECT_EQ(reading.spec.key_heads, 8);
  EXPECT_EQ(reading.spec.head_columns, 8);
  EXPECT_EQ(reading.spec.rotary, Rotary{});
  EXPECT_EQ(reading.trained_positions, 0);
  EXPECT_THAT(reading.remarks,
              ElementsAre(EndsWith("\"llama.attention.head_count_kv\" is missing: as many key "
                                   "heads as heads, 8"),
                          EndsWith("\"llama.rope.freq_base\" is missing: 10000")));
  for (const char* key : {"block_count", "embedding_length", "feed_forward_length",
                          "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
    GgufFile without = small_gguf();
    without.drop(fmt::format("llama.{}", key));
    EXPECT_THAT(refusal(without),
                testing::StartsWith(fmt::format("key \"llama.{}\": missing; got nothing", key)));
  }
}

TEST_F(GgufModelTest, DecimalsAreTheShortestOfABinary32) {
  GgufFile file = small_gguf();
  file.set("llama.rope.freq_base", 500000.0F);
  file.set("llama.attention.layer_norm_rms_epsilon", 1e-6F);
  file.set("llama.rope.scaling.type", "linear");
  file.set("llama.rope.scaling.factor", 2.6F);
  const ModelSpec spec = read(file).spec;
  EXPECT_EQ(spec.rotary.base, 500000);
  EXPECT_EQ(spec.norm_epsilon, 1e-6);
  EXPECT_EQ(spec.rotary.kind, Rotary::Kind::kLinear);
  EXPECT_EQ(spec.rotary.factor, 2.6);
  const std::string text = written(spec, Cut::parse("decode:4")).text;
  EXPECT_THAT(text, HasSubstr("Let arithmetic be \"OFA-1 profile B, groups of 32\".\n"));
  EXPECT_THAT(text, HasSubstr("Let norm_epsilon be 0.000001.\nLet rotary be linear(500000, 2.6)."));
}

TEST_F(GgufModelTest, KeysOfAnotherTypeOrSizeAreRefusedByName) {
  struct Case {
    const char* key;
    std::string value;
    const char* message;
  };
  const auto of = [](GgufType type, auto number) {
    return as_bytes(static_cast<std::uint32_t>(type)) + as_bytes(number);
  };
  const auto text = [](std::string_view value) {
    return as_bytes(std::uint32_t{8}) + as_string(value);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Case& c : {
           Case{"general.architecture", text("mamba"),
                "an architecture that is not supported; got \"mamba\", want llama, qwen2, qwen3"},
           {"general.architecture", of(GgufType::kUint32, 7U), "got 7, want llama, qwen2, qwen3"},
           {"llama.block_count", of(GgufType::kFloat32, 2.0F), "no whole number from 0 up"},
           {"llama.block_count", of(GgufType::kInt32, -2), "got -2, want a whole number"},
           {"llama.block_count", of(GgufType::kUint64, ~std::uint64_t{0}), "no whole number"},
           {"llama.attention.head_count_kv", text("2"), "got \"2\", want a whole number"},
           {"llama.attention.value_length", of(GgufType::kUint32, 16U),
            "another number than attention.key_length; got 16, want 8"},
           {"llama.rope.dimension_count", of(GgufType::kUint32, 4U), "got 4, want 8"},
           {"llama.vocab_size", of(GgufType::kUint32, 41U),
            "another number than the rows of token_embd.weight; got 41, want 40"},
           {"llama.attention.layer_norm_rms_epsilon", of(GgufType::kFloat64, 1e-5),
            "no finite FLOAT32 from 0 up; got FLOAT64 1e-05, want a FLOAT32"},
           {"llama.attention.layer_norm_rms_epsilon", of(GgufType::kFloat32, nan), "no finite"},
           {"llama.rope.freq_base", of(GgufType::kFloat32, -1.0F), "no finite FLOAT32"},
           {"llama.rope.scaling.type", text("yarn"),
            "a rotation that is not supported; got \"yarn\", want none or linear"},
           {"llama.rope.scaling.type", of(GgufType::kUint32, 1U), "no STRING"},
           {"llama.rope.scaling.type", text("linear"), "missing; got nothing"},
           {"llama.rope.scaling.factor", of(GgufType::kFloat32, 2.0F),
            "a factor without rope.scaling.type; got 2, want rope.scaling.type"},
           {"llama.expert_count", of(GgufType::kUint32, 8U),
            "not supported; got 8, want 0, or no such key"},
           {"llama.attention.sliding_window", of(GgufType::kUint32, 4096U), "not supported"},
           {"llama.logit_scale", of(GgufType::kFloat32, 0.5F),
            "a key that may change what is computed, and is not read"},
           {"split.count", of(GgufType::kUint16, std::uint16_t{2}),
            "one of several files; got 2, want a model in one file"},
           {"tokenizer.ggml.tokens", of(GgufType::kUint32, 1U), "no array of STRING"},
       }) {
    GgufFile file = small_gguf();
    file.put(c.key, c.value);
    EXPECT_THAT(refusal(file), HasSubstr(c.message)) << c.key;
  }
  GgufFile file = small_gguf();
  file.set("llama.expert_count", 0U);
  file.set("llama.attention.sliding_window", 0U);
  file.set("tokenizer.ggml.tokens", std::vector<std::string>(40, "x"));
  EXPECT_EQ(read(file).spec, read(small_gguf()).spec);
  file.set("tokenizer.ggml.tokens", std::vector<std::string>(41, "x"));
  EXPECT_THAT(refusal(file), EndsWith("got 41, want 40"));
}

TEST_F(GgufModelTest, SizesBeyondTheBoundsOfProfileBAreRefused) {
  GgufFile file = small_gguf();
  file.set("llama.feed_forward_length", 32800U);
  EXPECT_EQ(refusal(file), "hidden_columns out of bounds; got 32800, want 1 to 32768");
  file = small_gguf();
  file.set("llama.attention.head_count_kv", 3U);
  EXPECT_THAT(refusal(file), HasSubstr("query_heads is not a multiple of key_heads"));
  file = small_gguf();
  file.drop("llama.attention.key_length");
  file.set("llama.attention.head_count", 7U);
  EXPECT_THAT(refusal(file), HasSubstr("embedding_length is no multiple of attention.head_count"));
  file = small_gguf();
  file.drop_tensor("token_embd.weight");
  EXPECT_THAT(refusal(file), HasSubstr("tensor \"token_embd.weight\": is missing"));
}

/// Divisors of llama3(10000, 8, 1, 4, 8192): with heads of 8 columns the last pair's wavelength is
/// 6283, between 8192 / 4 and 8192.
TEST_F(GgufModelTest, FactorsOfALlama3RotationBecomePartOfTheText) {
  const double wavelength = 2 * 3.14159265358979323846 * 1000;
  const double s = (8192 / wavelength - 1) / 3;
  const auto last = static_cast<float>(1 / ((1 - s) / 8 + s));
  GgufFile file = small_gguf();
  file = with_factors({1, 1, 1, last});
  // The largest factor is what the scaling is taken for: none here reaches 8, so none fits.
  EXPECT_THAT(refusal(file), HasSubstr("factor 3 is not that of llama3(10000, "));
  file = small_gguf({.columns = 64, .head_columns = 16});
  std::vector<float> factors;
  for (int i = 0; i < 8; ++i) {
    const double length = 2 * 3.14159265358979323846 * std::pow(500000.0, i / 8.0);
    const double part = (8192 / length - 1) / 3;
    factors.push_back(static_cast<float>(length < 2048   ? 1
                                         : length > 8192 ? 32
                                                         : 1 / ((1 - part) / 32 + part)));
  }
  const auto with = [&](const std::vector<float>& values) {
    GgufFile scaled = file;
    scaled.set("llama.rope.freq_base", 500000.0F);
    GgufFile::Tensor& tensor = scaled.tensor("rope_freqs.weight");
    tensor.shape = {values.size()};
    for (const float factor : values) tensor.data += as_bytes(factor);
    return scaled;
  };
  EXPECT_EQ(read(with(factors)).spec.rotary,
            (Rotary{Rotary::Kind::kLlama3, 500000, 32, 1, 4, 8192}));
  factors[2] *= 1.001F;
  EXPECT_THAT(refusal(with(factors)), HasSubstr("tensor \"rope_freqs.weight\": factor 2 is not"));
  factors[2] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(with(factors)), HasSubstr("a factor is not finite"));
  factors.pop_back();
  EXPECT_THAT(refusal(with(factors)), HasSubstr("not a factor for each pair of a head's columns; "
                                                "got F32 of [7], want F32 of [8]"));
  GgufFile both = with(std::vector<float>(8, 1));
  both.set("llama.rope.scaling.type", "linear");
  both.set("llama.rope.scaling.factor", 2.0F);
  EXPECT_THAT(refusal(both), HasSubstr("together with rope.scaling.type"));
}

TEST_F(GgufModelTest, VocabularyIsInTheBytesThatTokensStandFor) {
  GgufFile file = small_gguf();
  std::vector<std::string> tokens(40);
  tokens[0] = "<0x0A>";
  tokens[1] = "\xE2\x96\x81the";
  tokens[2] = "<0xZZ>";
  file.set("tokenizer.ggml.tokens", tokens);
  const auto texts = [&] { return gguf_vocabulary(read_gguf_header(InputFile(file_of(file)))); };
  EXPECT_EQ(texts()[0], "\n");
  EXPECT_EQ(texts()[1], " the");
  EXPECT_EQ(texts()[2], "<0xZZ>");
  tokens[1] = "\xC4\xA0the\xC4\x8A\xC3\xA9\xE2\x82\xAC\xFF";  // Ġ the Ċ é € and no UTF-8
  file.set("tokenizer.ggml.tokens", tokens);
  file.set("tokenizer.ggml.model", "gpt2");
  EXPECT_EQ(texts()[1], " the\n\xE9\xE2\x82\xAC\xFF");
  EXPECT_THAT(gguf_vocabulary(read_gguf_header(InputFile(file_of(small_gguf())))), IsEmpty());
}

}  // namespace
}  // namespace logos
