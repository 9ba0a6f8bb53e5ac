#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/weights/dequantize.h"
#include "sim/weights/quantizer.h"
#include "sim/weights/rotary_table.h"
#include "tests/sim/weights/checkpoint_files.h"
#include "tests/sim/weights/store_folder.h"
#include "tests/small_shape.h"

namespace logos {
namespace {

using Json = nlohmann::json;

Json golden(const char* name) {
  return Json::parse(std::ifstream(std::string(LOGOS_SHARED_DIR "/golden/") + name));
}

std::uint32_t from_hex(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(Golden, EveryRowOfWeightsIsQuantizedToItsIntegers) {
  const Json cases = golden("weights.json").at("cases");
  ASSERT_GE(cases.size(), 29U);
  for (const Json& one : cases) {
    std::vector<float> w;
    for (const std::string hex : one.at("w")) w.push_back(std::bit_cast<float>(from_hex(hex)));
    const QuantizedRow row = quantize_row(w, "w");
    const std::string remark = one.at("remark");
    EXPECT_EQ(bits(row.scale), from_hex(one.at("D"))) << remark;
    EXPECT_EQ(row.multipliers, one.at("c").get<std::vector<std::uint8_t>>()) << remark;
    EXPECT_EQ(row.q, one.at("q").get<std::vector<std::int8_t>>()) << remark;
  }
}

Rotary rotary_of(const Json& table) {
  Rotary rotary{.base = table.at("theta")};
  const Json& scaling = table.at("rope_scaling");
  if (scaling.is_null()) return rotary;
  rotary.factor = scaling.at("factor");
  rotary.kind = Rotary::Kind::kLinear;
  if (scaling.at("rope_type") == "linear") return rotary;
  rotary.kind = Rotary::Kind::kLlama3;
  rotary.low = scaling.at("low_freq_factor");
  rotary.high = scaling.at("high_freq_factor");
  rotary.original = scaling.at("original_max_position_embeddings");
  return rotary;
}

TEST(Golden, EveryEntryAndDigestOfTheRotaryTables) {
  const Json tables = golden("rope.json").at("tables");
  ASSERT_GE(tables.size(), 8U);
  for (const Json& expected : tables) {
    const Rotary rotary = rotary_of(expected);
    const std::int64_t head = expected.at("head_dim");
    std::vector<std::int64_t> positions(512);
    std::iota(positions.begin(), positions.end(), 1);
    EXPECT_EQ(rotary_sha256(rotary_table(rotary, head, positions)),
              expected.at("table_sha256_512"));
    std::vector<std::int64_t> own;
    for (const Json& entry : expected.at("entries"))
      own.push_back(entry[0].get<std::int64_t>() + 1);
    const RotaryTable table = rotary_table(rotary, head, own);
    for (std::size_t row = 0; row < own.size(); ++row) {
      const Json& entry = expected.at("entries")[row];
      const auto at = row * static_cast<std::size_t>(table.pairs) + entry[1].get<std::size_t>();
      EXPECT_EQ(bits(table.cosines[at]), from_hex(entry[2])) << head << " " << entry;
      EXPECT_EQ(bits(table.sines[at]), from_hex(entry[3])) << head << " " << entry;
    }
  }
}

TEST(Golden, TheEmbeddingOfStories260KIsThatOfTheDump) {
  ModelSpec spec = small_shape(64, 8, 4, 8, 172, 512);
  spec.layers = 5;
  spec.tied_head = true;
  const StoreFolder stores;
  std::vector<std::string> remarks;
  const auto store = store_of_checkpoint(LOGOS_SHARED_DIR "/models/stories260K", spec, remarks);
  EXPECT_TRUE(remarks.empty());
  std::ifstream dump(LOGOS_SHARED_DIR "/golden/stories260K.ops.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(dump, line));
  const Json embedding = Json::parse(line);
  ASSERT_EQ(embedding.at("name"), "embedding");
  const Json tokens = golden("stories260K.tokens.json").at("sequences")[0];
  std::vector<double> row(64);
  dequantize_row(store->matrix("model.embed_tokens.weight"), tokens[0].get<std::int64_t>(), row);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(bits(static_cast<float>(row[i])), from_hex(embedding.at("first")[i])) << i;
  }
}

}  // namespace
}  // namespace logos
