#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/safetensors_header.h"
#include "sim/weights/checkpoint.h"
#include "tests/sim/core/temporary_folder.h"
#include "tests/sim/weights/checkpoint_files.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const FileTensor kA = {"a", "F32", {2}, encoded({1, 2}, "F32")};
const FileTensor kB = {"b", "F16", {2}, encoded({3, 4}, "F16")};
const FileTensor kC = {"c", "BF16", {2}, encoded({5, 6}, "BF16")};

class Shards : public testing::Test {
 protected:
  Shards() {
    write_file(folder_ / "one.safetensors", safetensors({kB, kA}));
    write_file(folder_ / "two.safetensors", safetensors({kC}));
  }
  void write_index(std::string_view json) {
    write_file(folder_ / "model.safetensors.index.json", json);
  }
  std::string message() {
    return error_of([&] { read_checkpoint_header(folder_.path()); });
  }
  std::string message(std::string_view index) {
    write_index(index);
    return message();
  }

  TemporaryFolder folder_;
};

constexpr std::string_view kGood =
    R"({"metadata":{"total_size":16,"more":[[1,{"x":null}]]},
        "weight_map":{"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors"}})";

TEST_F(Shards, AreReadAsOneCheckpoint) {
  write_index(kGood);
  const Checkpoint checkpoint(folder_.path());
  EXPECT_EQ(checkpoint.header().tensors.size(), 3U);
  EXPECT_EQ(checkpoint.header().find("c")->file, folder_ / "two.safetensors");
  std::vector<float> values(2);
  checkpoint.read_row("c", 0, values);
  EXPECT_EQ(values, (std::vector<float>{5, 6}));
  checkpoint.read_row("b", 0, values);
  EXPECT_EQ(values, (std::vector<float>{3, 4}));
}

TEST_F(Shards, ASingleFileGoesBeforeAnIndex) {
  write_index("nonsense");
  write_file(folder_ / "model.safetensors", safetensors({kA}));
  EXPECT_EQ(read_checkpoint_header(folder_.path()).tensors.size(), 1U);
}

TEST_F(Shards, ATensorMissingInItsShardIsRefused) {
  EXPECT_THAT(message(R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors",
                          "c":"two.safetensors","d":"two.safetensors"}})"),
              AllOf(HasSubstr("\"d\""), HasSubstr("two.safetensors"), HasSubstr("missing")));
}

TEST_F(Shards, ATensorMissingInTheIndexIsRefused) {
  EXPECT_THAT(message(R"({"weight_map":{"a":"one.safetensors","c":"two.safetensors"}})"),
              AllOf(HasSubstr("\"b\""), HasSubstr("got none"), HasSubstr("one.safetensors")));
}

TEST_F(Shards, ATensorInAnotherShardThanTheIndexSaysIsRefused) {
  EXPECT_THAT(
      message(R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors",
                          "c":"two.safetensors"}})"),
      AllOf(HasSubstr("\"b\""), HasSubstr("one.safetensors"), HasSubstr("two.safetensors")));
}

TEST_F(Shards, AMissingShardIsRefusedByName) {
  EXPECT_THAT(message(R"({"weight_map":{"a":"three.safetensors"}})"),
              AllOf(HasSubstr("three.safetensors"), HasSubstr("No such file")));
}

TEST_F(Shards, ShardNamesThatLeadElsewhereAreRefused) {
  for (const char* name :
       {"", ".", "..", "../one.safetensors", "/etc/passwd", "sub/one.safetensors",
        R"(sub\\one.safetensors)", R"(one.safetensors\u0000)"}) {
    EXPECT_THAT(message(fmt::format(R"({{"weight_map":{{"a":"{}"}}}})", name)),
                AllOf(HasSubstr("index.json"), HasSubstr("no plain file name"), HasSubstr("\"a\"")))
        << name;
  }
}

TEST_F(Shards, MalformedIndexesAreRefused) {
  EXPECT_THAT(message("{}"), HasSubstr("weight_map is missing"));
  EXPECT_THAT(message("[]"), HasSubstr("got an array"));
  EXPECT_THAT(message("7"), HasSubstr("got 7"));
  EXPECT_THAT(message(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(message(std::string("{\"weight_map\": {}}\0x", 20)), HasSubstr("a zero byte"));
  EXPECT_THAT(message(R"({"weight_map":[]})"), HasSubstr("an array"));
  EXPECT_THAT(message(R"({"weight_map":null})"), HasSubstr("null"));
  EXPECT_THAT(message(R"({"weight_map":{"a":7}})"), AllOf(HasSubstr("\"a\""), HasSubstr("got 7")));
  EXPECT_THAT(message(R"({"weight_map":{"a":{}}})"), HasSubstr("an object"));
  EXPECT_THAT(message(R"({"weight_map":{"a":"x","a":"x"}})"), HasSubstr("twice"));
  EXPECT_THAT(message(R"({"weight_map":{},"weight_map":{}})"), HasSubstr("twice"));
  EXPECT_THAT(message(R"({"metadata":)" + std::string(100'000, '[')), HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace logos
