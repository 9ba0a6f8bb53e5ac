// GGUF files through the store: rows where a rotation by halves wants them, blocks as they are,
// what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "sim/weights/dequantize.h"
#include "sim/weights/store.h"
#include "tests/gguf_file.h"
#include "tests/sim/weights/store_folder.h"

namespace logos {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class GgufStoreTest : public testing::Test {
 protected:
  std::unique_ptr<WeightStore> store(const GgufFile& file) const {
    const auto path = folder_ / "model.gguf";
    std::ofstream(path, std::ios::binary) << file.bytes();
    return store_of_gguf(path, resolve_model(path.string()).reading.spec);
  }
  std::string refusal(const GgufFile& file) const {
    const std::string message = error_of([&] { store(file); });
    EXPECT_EQ(stores_.entries(), 0) << "nothing is left behind";
    const std::string path = (folder_ / "model.gguf").string() + ": ";
    EXPECT_THAT(message, StartsWith(path));
    return message.substr(std::min(message.size(), path.size()));
  }

  TemporaryFolder folder_;
  StoreFolder stores_;
};

/// Row `n` of a small_gguf matrix begins with n, n + 1, …
std::vector<int> first_values(const WeightStore& store, std::string_view tensor) {
  const MatrixView view = store.matrix(tensor);
  std::vector<int> firsts;
  for (std::int64_t n = 0; n < view.rows; ++n) {
    const auto row = static_cast<std::size_t>(n);
    const auto from = static_cast<std::uint8_t>(view.q[row * static_cast<std::size_t>(view.pitch)]);
    firsts.push_back(from);
    // A row's blocks came with it.
    for (std::size_t g = 0; g < static_cast<std::size_t>(view.groups); ++g) {
      EXPECT_EQ(view.halves[row * static_cast<std::size_t>(view.groups) + g], 0x1C00 + from);
      EXPECT_EQ(view.q[row * static_cast<std::size_t>(view.pitch) + 32 * g + 5],
                static_cast<std::int8_t>(from + 32 * static_cast<int>(g) + 5));
    }
  }
  return firsts;
}

std::vector<int> counted(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// Where each row of heads of `columns` rows comes from in a llama file.
std::vector<int> unpaired(int heads, int columns) {
  std::vector<int> rows;
  for (int h = 0; h < heads; ++h) {
    for (int j = 0; j < columns / 2; ++j) rows.push_back(h * columns + 2 * j);
    for (int j = 0; j < columns / 2; ++j) rows.push_back(h * columns + 2 * j + 1);
  }
  return rows;
}

TEST_F(GgufStoreTest, RowsOfQueriesAndKeysComeOutOfTheirPairsForLlamaAlone) {
  for (const std::uint32_t key_heads : {8U, 2U, 1U}) {
    const auto llama = store(small_gguf({.key_heads = key_heads}));
    const auto keys = static_cast<int>(key_heads);
    const std::string attention = "model.layers.1.self_attn.";
    EXPECT_EQ(first_values(*llama, attention + "q_proj.weight"), unpaired(8, 8));
    EXPECT_EQ(first_values(*llama, attention + "k_proj.weight"), unpaired(keys, 8));
    EXPECT_EQ(first_values(*llama, attention + "v_proj.weight"), counted(8 * keys));
    EXPECT_EQ(first_values(*llama, attention + "o_proj.weight"), counted(64));
    EXPECT_EQ(first_values(*llama, "model.embed_tokens.weight"), counted(40));
    for (const char* architecture : {"qwen2", "qwen3"}) {
      const auto qwen = store(small_gguf({.architecture = architecture, .key_heads = key_heads}));
      EXPECT_EQ(first_values(*qwen, attention + "q_proj.weight"), counted(64));
      EXPECT_EQ(first_values(*qwen, attention + "k_proj.weight"), counted(8 * keys));
    }
  }
}

/// A row takes 8,704 bytes: 120 of them are read at a time, which is no whole number of heads.
TEST_F(GgufStoreTest, RowsComeOutOfTheirPairsAcrossBlocksOfReading) {
  const auto wide = store(
      small_gguf({.layers = 1, .columns = 8192, .heads = 16, .key_heads = 8, .head_columns = 16}));
  EXPECT_EQ(first_values(*wide, "model.layers.0.self_attn.q_proj.weight"), unpaired(16, 16));
  EXPECT_EQ(first_values(*wide, "model.layers.0.self_attn.k_proj.weight"), unpaired(8, 16));
}

TEST_F(GgufStoreTest, ValuesAreThoseOfTheFile) {
  GgufFile file = small_gguf();
  GgufFile::Tensor& head = file.tensor("token_embd.weight");
  const auto put = [&](std::size_t block, std::uint16_t d, std::int8_t q) {
    head.data.replace(34 * block, 2, as_bytes(d));
    head.data[34 * block + 2] = static_cast<char>(q);
  };
  put(0, 0x43FF, -128);  // the largest d
  put(2, 0x8001, 127);   // the smallest negative one
  put(4, 0x8000, -128);  // -0
  const auto weights = store(file);
  std::vector<double> row(64);
  const double want[] = {-128 * (4 - 0x1p-9), -127 * 0x1p-24, 0};
  for (std::int64_t n = 0; n < 3; ++n) {
    dequantize_row(weights->matrix("model.embed_tokens.weight"), n, row);
    EXPECT_EQ(row[0], want[n]) << n;
  }
  EXPECT_EQ(weights->vector("model.norm.weight")[3], 1 + 3 / 256.0F);
}

TEST_F(GgufStoreTest, IsPackedOnceAndFoundAgain) {
  const GgufFile file = small_gguf();
  const std::string digest = store(file)->sha256();
  const auto packed = stores_.only_file();
  const auto written = std::filesystem::last_write_time(packed);
  EXPECT_EQ(store(file)->sha256(), digest);
  EXPECT_EQ(std::filesystem::last_write_time(packed), written);
  GgufFile aligned = file;  // the same weights, other bytes
  aligned.set("general.alignment", 64U);
  aligned.alignment = 64;
  EXPECT_EQ(store(aligned)->sha256(), digest);
}

TEST_F(GgufStoreTest, ScalesThatAreNotAdmittedAreRefused) {
  for (const auto& [d, what] : {std::pair{std::uint16_t{0x4400}, "got 4,"},
                                {std::uint16_t{0xC500}, "got -5,"},
                                {std::uint16_t{0x7C00}, "got 0x7C00, not finite,"},
                                {std::uint16_t{0xFE00}, "got 0xFE00, not finite,"}}) {
    GgufFile file = small_gguf();
    file.tensor("blk.0.ffn_up.weight").data.replace(34 * (2 * 5 + 1), 2, as_bytes(d));
    EXPECT_EQ(refusal(file),
              "tensor \"blk.0.ffn_up.weight\", row 5, block 1: its scale is not "
              "admitted; " +
                  std::string(what) + " want a binary16 below 4 in magnitude");
  }
}

TEST_F(GgufStoreTest, VectorsThatAreNotAdmittedAreRefused) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), 0x1.1p40F}) {
    GgufFile file = small_gguf();
    file.tensor("output_norm.weight").data.replace(8, 4, as_bytes(value));
    EXPECT_THAT(refusal(file),
                StartsWith("tensor \"output_norm.weight\": element 2 is not admitted; got "));
  }
  GgufFile file = small_gguf();
  file.tensor("output_norm.weight").data.replace(8, 4, as_bytes(-0x1p-140F));
  const float gain = store(file)->vector("model.norm.weight")[2];
  EXPECT_EQ(gain, 0);
  EXPECT_FALSE(std::signbit(gain));
}

TEST_F(GgufStoreTest, MissingSurplusAndMisshapenTensorsAreRefusedByTheirNamesInTheFile) {
  GgufFile file = small_gguf();
  file.drop_tensor("blk.1.attn_k.weight");
  EXPECT_EQ(refusal(file),
            "tensor \"blk.1.attn_k.weight\": is missing in the file; got none, want "
            "Q8_0 of [64, 16]");
  file = small_gguf({.architecture = "qwen2"});
  file.drop_tensor("blk.0.attn_v.bias");
  EXPECT_EQ(refusal(file),
            "tensor \"blk.0.attn_v.bias\": is missing in the file; got none, want F32 of [16]");
  file = small_gguf();
  file.tensors.push_back({"blk.0.attn_q.bias", {64}, 0, std::string(256, '\0')});
  EXPECT_EQ(refusal(file),
            "tensor \"blk.0.attn_q.bias\": the model that the keys state has no "
            "such tensor; got F32 of [64], want none");
  file = small_gguf({.architecture = "qwen3"});
  file.tensors.push_back({"rope_freqs.weight", {4}, 0, std::string(16, '\0')});
  EXPECT_THAT(refusal(file), HasSubstr("\"rope_freqs.weight\": the model that the keys state has"));
  file = small_gguf();
  file.set("llama.attention.head_count", 4U);
  EXPECT_THAT(refusal(file), HasSubstr("\"blk.0.attn_q.weight\": its type or shape is not the one "
                                       "that the keys state; got Q8_0 of [64, 64], want Q8_0 of "
                                       "[64, 32]"));
  file = small_gguf();
  GgufFile::Tensor& norm = file.tensor("blk.0.ffn_norm.weight");
  norm.type = 8;
  norm.data = std::string(68, '\0');
  EXPECT_THAT(refusal(file), HasSubstr("got Q8_0 of [64], want F32 of [64]"));
  file = small_gguf();
  GgufFile::Tensor& gate = file.tensor("blk.0.ffn_gate.weight");
  gate.type = 0;
  gate.data = std::string(64 * 96 * 4, '\0');
  EXPECT_THAT(refusal(file), HasSubstr("got F32 of [64, 96], want Q8_0 of [64, 96]"));
}

}  // namespace
}  // namespace logos
