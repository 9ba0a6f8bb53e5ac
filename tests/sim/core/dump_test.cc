#include "sim/dump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "program/identity.h"

namespace logos {
namespace {

ElementType type_of(const std::string& name) {
  for (const ElementType type :
       {ElementType::kF32, ElementType::kI16, ElementType::kI32, ElementType::kI64}) {
    if (name_of(type) == name) return type;
  }
  throw std::runtime_error("type " + name);
}

/// An observation with memory of its own, made from a golden line: the values that the line shows,
/// zeros after them (the golden file keeps only the first eight).
struct Seen {
  explicit Seen(const nlohmann::ordered_json& line)
      : name(line["name"]),
        layer(line["layer"].is_null() ? 0 : line["layer"].get<std::int64_t>() + 1),
        position(line["position"].get<std::int64_t>() + 1),
        type(type_of(line["type"])),
        values(line["count"].get<std::size_t>() * bytes_of(type)) {
    if (line.contains("exponents")) exponents = line["exponents"].get<std::vector<std::int8_t>>();
    std::size_t at = 0;
    for (const auto& text : line["first"]) {
      const std::uint64_t bits = std::stoull(text.get<std::string>(), nullptr, 16);
      for (std::size_t i = 0; i < bytes_of(type); ++i) {
        values[at++] = static_cast<std::byte>(bits >> (8 * i));
      }
    }
  }
  Observation observation(std::int64_t row) const {
    return {.name = name,
            .layer = layer,
            .line = 1,
            .row = row,
            .position = position,
            .type = type,
            .values = values,
            .exponents = exponents};
  }
  std::string sha256() const {
    return sha256_hex({reinterpret_cast<const char*>(values.data()), values.size()});
  }

  std::string name;
  std::int64_t layer;
  std::int64_t position;
  ElementType type;
  std::vector<std::byte> values;
  std::vector<std::int8_t> exponents;
};

struct Golden {
  std::vector<Seen> seen;
  std::vector<std::string> lines;  ///< byte for byte, but for the digest of values not shown
  int exact = 0;                   ///< lines whose digest is the golden one
};

Golden golden() {
  Golden all;
  std::ifstream file(LOGOS_SHARED_DIR "/golden/stories260K.ops.jsonl");
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::ordered_json::parse(text);
    const Seen seen(line);
    const std::string digest = line["sha256"];
    if (seen.values.size() / bytes_of(seen.type) <= line["first"].size()) {
      ++all.exact;
    } else {
      text.replace(text.find(digest), digest.size(), seen.sha256());
    }
    all.seen.push_back(seen);
    all.lines.push_back(text);
  }
  return all;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Dump, WritesTheGoldenFormByteForByteHoweverAChunkIsObserved) {
  const Golden all = golden();
  ASSERT_GT(all.lines.size(), 400u);
  EXPECT_GT(all.exact, 20);
  std::vector<std::size_t> order(all.seen.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(1);
  std::shuffle(order.begin(), order.end(), random);
  Dump dump;
  for (const std::size_t i : order) {
    const bool after = all.seen[i].layer == 0 && all.seen[i].name != "embedding";
    const bool last = all.seen[i].position == 4;  // its row is 0 after `last_row`
    dump.observe(all.seen[i].observation(after && last ? 0 : all.seen[i].position - 1));
  }
  std::ostringstream out;
  dump.end_run({0, 0, 0, 0}, out);
  EXPECT_EQ(out.str(), joined(all.lines));
}

TEST(Dump, StepsOneByOneGiveTheSameLines) {
  const Golden all = golden();
  Dump dump;
  std::ostringstream out;
  for (std::int64_t position = 1; position <= 4; ++position) {
    for (const Seen& seen : all.seen) {
      if (seen.position == position) dump.observe(seen.observation(0));
    }
    dump.end_run({0}, out);
  }
  EXPECT_EQ(out.str(), joined(all.lines));
}

TEST(Dump, ABatchesRowsAreSequencesOfTheirOwn) {
  const Golden all = golden();
  Dump dump;
  for (const Seen& seen : all.seen) {
    if (seen.position == 1) {
      dump.observe(seen.observation(1));
      dump.observe(seen.observation(0));
    }
  }
  std::ostringstream out;
  dump.end_run({5, 9}, out);
  std::vector<std::int64_t> sequences;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    sequences.push_back(nlohmann::json::parse(line)["sequence"]);
  }
  EXPECT_TRUE(std::is_sorted(sequences.begin(), sequences.end()));
  EXPECT_EQ(std::count(sequences.begin(), sequences.end(), 5),
            std::count(sequences.begin(), sequences.end(), 9));
  EXPECT_EQ(sequences.front(), 5);
  EXPECT_EQ(sequences.back(), 9);
}

TEST(Dump, APartWithoutPositionsSaysNull) {
  const std::vector<float> values = {1.0F};
  Dump dump;
  for (const std::int64_t row : {1, 0}) {
    dump.observe({.name = "embedding",
                  .layer = 0,
                  .line = 1,
                  .row = row,
                  .position = 0,
                  .type = ElementType::kF32,
                  .values = std::as_bytes(std::span(values)),
                  .exponents = {}});
  }
  std::ostringstream out;
  dump.end_run({3, 4}, out);
  const std::string digest = sha256_hex(std::string_view("\x00\x00\x80\x3F", 4));
  const auto line = [&](const char* sequence) {
    return "{\"name\":\"embedding\",\"layer\":null,\"sequence\":" + std::string(sequence) +
           ",\"position\":null,\"type\":\"f32\",\"count\":1,\"sha256\":\"" + digest +
           "\",\"first\":[\"3F800000\"]}\n";
  };
  EXPECT_EQ(out.str(), line("3") + line("4"));
}

}  // namespace
}  // namespace logos
