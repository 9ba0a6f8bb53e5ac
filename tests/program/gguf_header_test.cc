// GGUF files that are damaged or made to harm: each is refused by name, at once, and nothing is
// allocated that the file could not hold.
#include "program/gguf_header.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <limits>

#include "tests/gguf_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string bytes;
  for (const std::string_view piece : pieces) bytes += piece;
  return bytes;
}

class GgufHeaderTest : public testing::Test {
 protected:
  std::filesystem::path file_with(std::string_view bytes) const {
    auto file = folder_.path() / "model.gguf";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  GgufHeader read(std::string_view bytes) const {
    return read_gguf_header(InputFile(file_with(bytes)));
  }
  /// What the refusal says, without the path that it begins with.
  std::string refusal(std::string_view bytes) const {
    const std::string path = (folder_.path() / "model.gguf").string();
    const std::string message = error_of([&] { read(bytes); });
    EXPECT_THAT(message, StartsWith(path));
    return message.substr(std::min(message.size(), path.size()));
  }

  TemporaryFolder folder_;
};

TEST_F(GgufHeaderTest, GivesKeysAndTensorsOfAFile) {
  GgufFile file = small_gguf();
  file.set("a.bool", GgufType::kBool, std::uint8_t{1});
  file.set("a.int8", GgufType::kInt8, std::int8_t{-3});
  file.set("a.uint64", GgufType::kUint64, std::uint64_t{1} << 63);
  file.set("a.float64", GgufType::kFloat64, 0.1);
  file.set("a.texts", std::vector<std::string>{"x", "", "yz"});
  file.put("a.numbers", as_bytes(std::uint32_t{9}) + as_bytes(std::uint32_t{3}) +
                            as_bytes(std::uint64_t{2}) + as_bytes(std::uint32_t{7}));
  const std::string bytes = file.bytes();
  const GgufHeader header = read(bytes);
  EXPECT_EQ(std::get<std::string>(header.value("general.architecture")->value), "llama");
  EXPECT_EQ(std::get<bool>(header.value("a.bool")->value), true);
  EXPECT_EQ(std::get<std::int64_t>(header.value("a.int8")->value), -3);
  EXPECT_EQ(std::get<std::uint64_t>(header.value("a.uint64")->value), std::uint64_t{1} << 63);
  EXPECT_EQ(std::get<double>(header.value("a.float64")->value), 0.1);
  EXPECT_EQ(std::get<GgufArray>(header.value("a.texts")->value).strings,
            (std::vector<std::string>{"x", "", "yz"}));
  EXPECT_EQ(std::get<GgufArray>(header.value("a.numbers")->value).count, 2U);
  EXPECT_EQ(header.value("b"), nullptr);
  EXPECT_EQ(header.tensors.size(), file.tensors.size());
  const GgufTensor* norm = header.tensor("output_norm.weight");
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->type, GgufTensorType::kF32);
  EXPECT_EQ(norm->shape, (std::vector<std::int64_t>{64}));
  EXPECT_EQ(bytes.substr(norm->begin, 4), as_bytes(1.0F));
  EXPECT_EQ(norm->end, bytes.size());
  EXPECT_EQ(header.tensor("output.weight"), nullptr);
}

TEST_F(GgufHeaderTest, AFileCutShortAnywhereIsRefused) {
  const std::string bytes = small_gguf().bytes();
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{8},
        std::size_t{23}, std::size_t{24}, std::size_t{60}, std::size_t{700}, std::size_t{2000},
        bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_NE(refusal(bytes.substr(0, length)), "") << length;
  }
  EXPECT_THAT(refusal(""), HasSubstr("the file ends within the letters GGUF; got 0 bytes"));
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)),
              AllOf(StartsWith(": tensor \"output_norm.weight\": the file ends before its data"),
                    HasSubstr(fmt::format("{} bytes, want at least {} bytes", bytes.size() - 1,
                                          bytes.size()))));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("no GGUF file"));
}

TEST_F(GgufHeaderTest, AnotherVersionOrByteOrderIsRefused) {
  GgufFile file = small_gguf();
  for (const std::uint32_t version : {0U, 1U, 2U, 4U, 0x00010003U}) {
    file.version = version;
    EXPECT_EQ(refusal(file.bytes()),
              fmt::format(": a version of GGUF that is not read; got {}, want 3", version));
  }
  file.version = 0x03000000;
  EXPECT_THAT(refusal(file.bytes()), HasSubstr("a GGUF file of the other byte order"));
  file.magic = "FUGG";
  EXPECT_THAT(refusal(file.bytes()), HasSubstr("no GGUF file"));
}

/// Allocating the larger ones would end the test.
TEST_F(GgufHeaderTest, LengthsAndCountsBeyondTheFileAreRefusedWithoutAllocatingThem) {
  for (const std::uint64_t size :
       {std::uint64_t{100'000}, std::uint64_t{1} << 40, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max()}) {
    const std::string start = "GGUF" + as_bytes(std::uint32_t{3});
    const std::string filler(200, 'x');
    const std::string none = as_bytes(std::uint64_t{0});
    const std::string one = as_bytes(std::uint64_t{1});
    const std::string one_key = joined({start, none, one});
    EXPECT_THAT(refusal(joined({start, as_bytes(size), none, filler})),
                HasSubstr("the number of tensors is more than the file can hold"));
    EXPECT_THAT(refusal(joined({start, none, as_bytes(size), filler})),
                HasSubstr("the number of keys is more than the file can hold"));
    EXPECT_THAT(refusal(joined({one_key, as_bytes(size), filler})),
                AllOf(HasSubstr("the length of a key is out of bounds"), HasSubstr("1 to 65535")));
    const std::string text = as_bytes(std::uint32_t{8});
    const std::string one_text = joined({one_key, as_string("k"), text});
    EXPECT_THAT(refusal(joined({one_text, as_bytes(size), filler})),
                HasSubstr("the length of the value of key \"k\" is out of bounds"));
    const std::string array = joined({one_key, as_string("k"), as_bytes(std::uint32_t{9})});
    for (const std::uint32_t element : {0U, 6U, 8U, 12U}) {
      EXPECT_THAT(refusal(joined({array, as_bytes(element), as_bytes(size), filler})),
                  HasSubstr("the array of key \"k\" is more than the file can hold"));
    }
    EXPECT_THAT(refusal(joined({array, text, one, as_bytes(size), filler})),
                HasSubstr("the length of the array of key \"k\" is out of bounds"));
  }
}

TEST_F(GgufHeaderTest, KeysThatAreEmptyTwiceOrOfUnknownTypesAreRefused) {
  GgufFile file = small_gguf();
  file.set("", 1U);
  EXPECT_THAT(refusal(file.bytes()), HasSubstr("the length of a key is out of bounds; got 0"));
  file = small_gguf();
  file.keys.push_back(file.keys.front());
  EXPECT_EQ(refusal(file.bytes()), ": key \"general.architecture\": stands twice");
  for (const std::uint32_t type : {13U, 255U, 0xFFFFFFFFU}) {
    file = small_gguf();
    file.put("k", as_bytes(type) + as_bytes(std::uint64_t{0}));
    EXPECT_EQ(
        refusal(file.bytes()),
        fmt::format(": key \"k\": the type of its value is unknown; got {}, want 0 to 12", type));
    file.put("k", as_bytes(std::uint32_t{9}) + as_bytes(type) + as_bytes(std::uint64_t{0}));
    EXPECT_THAT(refusal(file.bytes()), HasSubstr("the type of its elements is unknown"));
  }
  file = small_gguf();
  file.put("k",
           as_bytes(std::uint32_t{9}) + as_bytes(std::uint32_t{9}) + as_bytes(std::uint64_t{0}));
  EXPECT_EQ(refusal(file.bytes()), ": key \"k\": an array of arrays is not read");
  file = small_gguf();
  file.set("k", GgufType::kBool, std::uint8_t{2});
  EXPECT_EQ(refusal(file.bytes()), ": key \"k\": no BOOL; got 2, want 0 or 1");
}

TEST_F(GgufHeaderTest, AlignmentIsReadAndHeldToItsBounds) {
  GgufFile file = small_gguf();
  for (const std::uint32_t step : {8U, 32U, 64U, 4096U}) {
    file.set("general.alignment", step);
    file.alignment = step;
    const std::string bytes = file.bytes();
    const GgufHeader header = read(bytes);
    const GgufTensor* embedding = header.tensor("token_embd.weight");
    EXPECT_EQ(embedding->begin % step, 0U);
    EXPECT_EQ(bytes.substr(embedding->begin, embedding->end - embedding->begin),
              file.tensor("token_embd.weight").data);
  }
  for (const std::uint32_t step : {0U, 1U, 4U, 24U, 131072U, 0xFFFFFFFFU}) {
    file.set("general.alignment", step);
    EXPECT_EQ(refusal(file.bytes()),
              fmt::format(": key \"general.alignment\": no alignment that is read here; got {}, "
                          "want a power of two from 8 to 65536",
                          step));
  }
  file.set("general.alignment", GgufType::kInt32, std::int32_t{-32});
  EXPECT_THAT(refusal(file.bytes()), EndsWith("got INT32, want UINT32"));
  file.set("general.alignment", GgufType::kUint64, std::uint64_t{32});
  EXPECT_THAT(refusal(file.bytes()), EndsWith("got UINT64, want UINT32"));
}

TEST_F(GgufHeaderTest, ShapesThatAreNoneAreRefused) {
  GgufFile file = small_gguf();
  GgufFile::Tensor& norm = file.tensor("output_norm.weight");
  const std::string place = ": tensor \"output_norm.weight\": ";
  norm.shape = {};
  EXPECT_EQ(refusal(file.bytes()),
            place + "its number of dimensions is out of bounds; got 0, want 1 to 4");
  norm.shape.assign(9, 1);
  EXPECT_THAT(refusal(file.bytes()), HasSubstr("out of bounds; got 9, want 1 to 4"));
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1} << 56, std::numeric_limits<std::uint64_t>::max()}) {
    norm.shape = {64, size};
    EXPECT_THAT(refusal(file.bytes()),
                StartsWith(place + "dimension 2 of its shape is out of bounds; got " +
                           std::to_string(size)));
  }
  norm.shape = {std::uint64_t{1} << 32, std::uint64_t{1} << 32};
  EXPECT_THAT(refusal(file.bytes()), HasSubstr("dimension 2 of its shape is out of bounds"));
  norm.shape = {std::uint64_t{1} << 50};
  EXPECT_THAT(refusal(file.bytes()), HasSubstr("the file ends before its data does"));
  file = small_gguf();
  file.tensor("token_embd.weight").shape = {48, 40};
  EXPECT_EQ(refusal(file.bytes()),
            ": tensor \"token_embd.weight\": a row of Q8_0 is no whole number of blocks; got 48 "
            "columns, want a multiple of 32");
}

TEST_F(GgufHeaderTest, OtherTypesOfTensorsAreRefusedByName) {
  for (const auto& [type, name] : {std::pair{1U, "F16"},
                                   {2U, "Q4_0"},
                                   {14U, "Q6_K"},
                                   {30U, "BF16"},
                                   {24U, "I8"},
                                   {39U, "MXFP4"},
                                   {99U, "type 99"}}) {
    GgufFile file = small_gguf();
    file.tensor("blk.1.ffn_up.weight").type = type;
    EXPECT_EQ(refusal(file.bytes()),
              fmt::format(": tensor \"blk.1.ffn_up.weight\": its type is not read here; got {}, "
                          "want F32 or Q8_0",
                          name));
  }
}

TEST_F(GgufHeaderTest, RangesThatOverlapLeaveHolesOrEndElsewhereAreRefused) {
  const GgufFile file = small_gguf();
  const std::string bytes = file.bytes();
  const std::size_t table = bytes.find("output_norm.weight");
  const std::size_t offset = table + 18 + 4 + 8 + 4;
  const auto with_offset = [&](std::uint64_t value) {
    std::string changed = bytes;
    return changed.replace(offset, 8, as_bytes(value));
  };
  std::uint64_t right = 0;
  std::memcpy(&right, bytes.data() + offset, 8);
  const std::string place = ": tensor \"output_norm.weight\": ";
  EXPECT_EQ(refusal(with_offset(right + 1)),
            place + fmt::format("its offset is off the alignment; got {}, want a multiple of 32",
                                right + 1));
  EXPECT_THAT(refusal(with_offset(right + 32)),
              StartsWith(place + "its bytes leave a hole after tensor \"blk.1.ffn_down.weight\""));
  EXPECT_THAT(refusal(with_offset(right - 32)),
              StartsWith(place + "its bytes overlap tensor \"blk.1.ffn_down.weight\""));
  EXPECT_THAT(refusal(with_offset(0)), HasSubstr("overlap"));
  EXPECT_THAT(refusal(with_offset(std::numeric_limits<std::uint64_t>::max() - 31)),
              HasSubstr("leave a hole"));
  GgufFile longer = file;
  longer.tail = std::string(32, 'x');
  EXPECT_THAT(refusal(longer.bytes()), HasSubstr("bytes at the end belong to no tensor"));
  GgufFile twice = file;
  twice.tensors.push_back(twice.tensors.back());
  EXPECT_EQ(refusal(twice.bytes()), place + "stands twice");
  GgufFile nameless = file;
  nameless.tensor("output_norm.weight").name = "";
  EXPECT_THAT(refusal(nameless.bytes()),
              HasSubstr("the length of the name of a tensor is out of bounds; got 0 bytes"));
}

TEST_F(GgufHeaderTest, WhatAFileNamesReachesAMessageEscaped) {
  GgufFile file = small_gguf();
  file.put("evil\x1b[2J\xff\"\n", as_bytes(std::uint32_t{77}));
  const std::string message = refusal(file.bytes());
  EXPECT_THAT(message, HasSubstr("evil\\u001b[2J"));
  for (const char c : message) EXPECT_GE(static_cast<unsigned char>(c), ' ');
}

TEST_F(GgufHeaderTest, AHeaderBeyondAnyVocabularyIsRefused) {
  const std::string start = "GGUF" + as_bytes(std::uint32_t{3}) + as_bytes(std::uint64_t{0}) +
                            as_bytes(std::uint64_t{1}) + as_string("k") +
                            as_bytes(std::uint32_t{9}) + as_bytes(std::uint32_t{0}) +
                            as_bytes(std::uint64_t{1} << 29);
  const auto file = file_with(start);
  std::filesystem::resize_file(file, std::uint64_t{1} << 30);  // sparse
  EXPECT_THAT(error_of([&] { read_gguf_header(InputFile(file)); }),
              HasSubstr("keys and tensors are too long, at the array of key \"k\""));
}

}  // namespace
}  // namespace logos
