#include "program/safetensors_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "program/printable.h"
#include "tests/sim/core/temporary_folder.h"
#include "tests/sim/weights/checkpoint_files.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::uint64_t begin, std::uint64_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, dtype,
                     shape, begin, end);
}

std::string in_braces(std::string_view entries) { return fmt::format("{{{}}}", entries); }

/// What reading a file of these bytes says; "" where it reads.
std::string message_of(std::string_view bytes) {
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors", bytes);
  return error_of([&] { read_checkpoint_header(folder.path()); });
}

std::string message_of(const std::string& json, std::size_t data_bytes) {
  return message_of(with_header(in_braces(json), std::string(data_bytes, 'x')));
}

TEST(SafetensorsHeader, EntriesInAnyOrderGiveTensorsByNameWithPlacesInTheFile) {
  const std::string json =
      in_braces(entry("b", "F32", "2,3", 4, 28) + R"(,"__metadata__":{"format":"pt"},)" +
                entry("c", "BF16", "", 28, 30) + "," + entry("a", "F16", "2", 0, 4)) +
      "  ";
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors", with_header(json, std::string(30, 'x')));
  const CheckpointHeader header = read_checkpoint_header(folder.path());
  ASSERT_EQ(header.tensors.size(), 3U);
  const std::uint64_t start = 8 + json.size();
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[1].name, "b");
  EXPECT_EQ(header.find("b")->begin, start + 4);
  EXPECT_EQ(header.find("b")->end, start + 28);
  EXPECT_EQ(header.find("b")->dtype, "F32");
  EXPECT_EQ(header.find("b")->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(header.find("b")->file, folder / "model.safetensors");
  EXPECT_TRUE(header.find("c")->shape.empty());
  EXPECT_EQ(header.find("d"), nullptr);
}

TEST(SafetensorsHeader, EveryTypeIsListedWithItsSize) {
  std::string json;
  std::uint64_t at = 0;
  const std::vector<std::pair<std::string, std::uint64_t>> types = {
      {"F64", 8},     {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F8_E4M3", 1},
      {"F8_E5M2", 1}, {"I8", 1},  {"U8", 1},  {"I16", 2},  {"U16", 2},
      {"I32", 4},     {"U32", 4}, {"I64", 8}, {"U64", 8},  {"BOOL", 1}};
  for (const auto& [type, size] : types) {
    if (!json.empty()) json += ",";
    json += entry(type, type, "3", at, at + 3 * size);
    at += 3 * size;
  }
  EXPECT_EQ(message_of(json, at), "");
}

TEST(SafetensorsHeader, AnUnknownTypeIsRefusedNamingTensorAndType) {
  EXPECT_THAT(message_of(entry("w.x", "F12", "2", 0, 3), 3),
              AllOf(HasSubstr("\"w.x\""), HasSubstr("\"F12\"")));
}

TEST(SafetensorsHeader, NoCheckpointGivesAnEmptyHeader) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_checkpoint_header(folder.path()).tensors.empty());
}

TEST(SafetensorsHeader, AnEmptyObjectIsAFileWithoutTensors) { EXPECT_EQ(message_of("", 0), ""); }

TEST(SafetensorsHeader, LengthsThatDoNotFitAreRefusedWithBothSizes) {
  const std::string good = with_header(in_braces(entry("a", "F32", "2", 0, 8)), "12345678");
  const std::string sizes = fmt::format("the file of {} bytes", good.size());
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{good.size() - 7}, std::uint64_t{1} << 40,
        std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    std::string bytes = good;
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_THAT(message_of(bytes), AllOf(HasSubstr("model.safetensors"), HasSubstr(sizes),
                                         HasSubstr(fmt::format("got {} bytes", length))));
  }
}

TEST(SafetensorsHeader, FilesCutShortAreRefusedWithBothSizes) {
  const std::string good = with_header(in_braces(entry("a", "F32", "2", 0, 8)), "12345678");
  EXPECT_EQ(message_of(good), "");
  EXPECT_THAT(message_of(good.substr(0, good.size() - 1)),
              AllOf(HasSubstr(fmt::format("got {} bytes", good.size() - 1)),
                    HasSubstr(fmt::format("want {} bytes", good.size())), HasSubstr("\"a\"")));
  EXPECT_THAT(message_of(good.substr(0, 8)),
              AllOf(HasSubstr("got 8 bytes"), HasSubstr("10 bytes")));
  EXPECT_THAT(message_of(""), AllOf(HasSubstr("got 0 bytes"), HasSubstr("10 bytes")));
  EXPECT_THAT(message_of("x"), AllOf(HasSubstr("got 1 bytes"), HasSubstr("10 bytes")));
}

TEST(SafetensorsHeader, APointerOfGitLfsIsRefusedWithBothSizes) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
      "size 2471645608\n";
  EXPECT_THAT(message_of(pointer),
              AllOf(HasSubstr("Git LFS"), HasSubstr(fmt::format("got {} bytes", pointer.size())),
                    HasSubstr("want 2471645608 bytes")));
}

TEST(SafetensorsHeader, ADirectoryOrAPipeInPlaceOfTheFileIsRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model.safetensors");
  EXPECT_THAT(error_of([&] { read_checkpoint_header(folder.path()); }),
              HasSubstr("not a regular file"));
  std::filesystem::remove(folder / "model.safetensors");
  ASSERT_EQ(mkfifo((folder / "model.safetensors").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_checkpoint_header(folder.path()); }),
              HasSubstr("not a regular file"));
}

TEST(SafetensorsHeader, ALinkThatLeadsNowhereIsNoAbsentCheckpoint) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "gone", folder / "model.safetensors");
  EXPECT_THAT(error_of([&] { read_checkpoint_header(folder.path()); }),
              AllOf(HasSubstr("model.safetensors"), HasSubstr("No such file")));
}

TEST(SafetensorsHeader, AShapeWhoseProductOverflowsIsRefused) {
  EXPECT_THAT(message_of(entry("w", "F32", "4294967296,4294967296", 0, 8), 8),
              AllOf(HasSubstr("\"w\""), HasSubstr("overflows"), HasSubstr("4294967296")));
  EXPECT_THAT(message_of(entry("w", "F64", "9223372036854775807", 0, 8), 8),
              HasSubstr("overflows"));
  EXPECT_EQ(message_of(entry("w", "F32", "0,9223372036854775807,9223372036854775807", 0, 0), 0), "")
      << "an empty tensor has no bytes";
}

TEST(SafetensorsHeader, OverlapsAreRefusedNamingBothTensorsAndRanges) {
  const std::string json = entry("k", "F32", "2", 0, 8) + "," + entry("v", "F32", "2", 0, 8);
  EXPECT_THAT(message_of(json, 8),
              AllOf(HasSubstr("\"k\" [0, 8)"), HasSubstr("\"v\""), HasSubstr("overlaps")));
  EXPECT_THAT(message_of(entry("k", "F32", "2", 0, 8) + "," + entry("v", "F32", "2", 4, 12), 12),
              AllOf(HasSubstr("[4, 12)"), HasSubstr("[0, 8)")));
}

TEST(SafetensorsHeader, OneTensorPutOntoAnotherIsAnOverlapAndNotTheHoleThatItLeft) {
  // v lies on k; its own place, before the two or after them, is now nobody's.
  const std::string both = entry("k", "F32", "2", 8, 16) + "," + entry("v", "F32", "2", 8, 16);
  for (const std::string& others : {"," + entry("q", "F32", "2", 16, 24),
                                    "," + entry("q", "F32", "2", 24, 32), std::string()}) {
    EXPECT_THAT(message_of(both + others, 32),
                AllOf(HasSubstr("\"v\": its range [8, 16) overlaps tensor \"k\" [8, 16)"),
                      Not(HasSubstr("hole"))));
  }
  // A tensor that reaches further than its neighbour within it.
  EXPECT_THAT(message_of(entry("a", "F32", "8", 0, 32) + "," + entry("b", "F32", "1", 0, 4) + "," +
                             entry("c", "F32", "1", 8, 12),
                         32),
              HasSubstr("overlaps tensor"));
}

TEST(SafetensorsHeader, ATypeThatIsNotReadIsNamedBeforeTheLengthOfItsRange) {
  for (const char* type : {"I8", "F8_E4M3", "F64", "BOOL", "U8"}) {
    EXPECT_THAT(message_of(entry("w", type, "3", 0, 12), 12),
                AllOf(HasSubstr("tensor \"w\": its type is not read here, and its range [0, 12)"),
                      HasSubstr(fmt::format("got {}, want F32, F16 or BF16", type))))
        << type;
  }
}

TEST(SafetensorsHeader, HolesAreRefusedNamingTensorsAndRanges) {
  EXPECT_THAT(message_of(entry("a", "F32", "2", 0, 8) + "," + entry("b", "F32", "2", 12, 20), 20),
              AllOf(HasSubstr("hole of 4 bytes"), HasSubstr("\"a\" [0, 8)"), HasSubstr("\"b\""),
                    HasSubstr("[12, 20)")));
  EXPECT_THAT(message_of(entry("b", "F32", "2", 4, 12), 12),
              AllOf(HasSubstr("hole of 4 bytes"), HasSubstr("\"b\"")));
}

TEST(SafetensorsHeader, BytesAtTheEndThatNobodyOwnsAreRefused) {
  EXPECT_THAT(message_of(entry("a", "F32", "2", 0, 8), 9),
              AllOf(HasSubstr("1 bytes at the end"), HasSubstr("got"), HasSubstr("want")));
  EXPECT_THAT(message_of("", 3), HasSubstr("3 bytes at the end"));
}

TEST(SafetensorsHeader, ARangeThatBeginsAfterItsEndIsRefused) {
  EXPECT_THAT(message_of(entry("a", "F32", "2", 8, 0), 8),
              AllOf(HasSubstr("\"a\""), HasSubstr("[8, 0)")));
}

TEST(SafetensorsHeader, ARangeUnlikeShapeTimesTypeIsRefused) {
  EXPECT_THAT(message_of(entry("a", "F16", "3", 0, 8), 8),
              AllOf(HasSubstr("\"a\""), HasSubstr("[0, 8)"), HasSubstr("[3] of F16"),
                    HasSubstr("got 8 bytes"), HasSubstr("want 6 bytes")));
}

TEST(SafetensorsHeader, RangesBeyondAnyFileAreRefused) {
  const std::uint64_t end = ~std::uint64_t{0};
  EXPECT_THAT(message_of(entry("a", "U8", "8", end - 8, end), 8), HasSubstr("hole"));
  EXPECT_THAT(message_of(entry("a", "U8", "2305843009213693951", 0, 2305843009213693951U), 8),
              AllOf(HasSubstr("too short"), HasSubstr("\"a\"")));
}

TEST(SafetensorsHeader, NamesAndKeysThatStandTwiceAreRefused) {
  EXPECT_THAT(message_of(entry("a", "U8", "1", 0, 1) + "," + entry("a", "U8", "1", 1, 2), 2),
              AllOf(HasSubstr("\"a\""), HasSubstr("twice")));
  EXPECT_THAT(message_of(R"("a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]})", 1),
              AllOf(HasSubstr("dtype"), HasSubstr("twice")));
  EXPECT_THAT(message_of(R"("__metadata__":{"x":"1","x":"2"})", 0), HasSubstr("twice"));
  EXPECT_THAT(message_of(R"("__metadata__":{},"__metadata__":{})", 0), HasSubstr("twice"));
}

struct Malformed {
  const char* name;
  std::string json;
  const char* says;
};

class MalformedHeader : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedHeader, IsRefusedWithTheReason) {
  const std::string message = message_of(with_header(GetParam().json, "x"));
  EXPECT_THAT(message, AllOf(HasSubstr("model.safetensors"), HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedHeader,
    testing::Values(
        Malformed{"array", "[]", "does not begin with {"},
        Malformed{"blanks", "    ", "does not begin with {"},
        Malformed{"cut", R"({"a":{"dtype":"U8")", "not valid JSON"},
        Malformed{"two_values", "{}{}", "not valid JSON"},
        Malformed{"zero_byte", std::string("{}\0junk", 7), "the header: not JSON: a zero byte"},
        Malformed{"bad_utf8", "{\"\xff\":1}", "not valid JSON"},
        Malformed{"missing_key", R"({"a":{"dtype":"U8","shape":[1]}})", "data_offsets is missing"},
        Malformed{"unknown_key", R"({"a":{"scale":1}})", "\"scale\""},
        Malformed{"shape_negative", R"({"a":{"shape":[-1]}})", "got -1"},
        Malformed{"shape_minus_zero", R"({"a":{"shape":[-0]}})", "a shape of"},
        Malformed{"shape_fraction", R"({"a":{"shape":[1.5]}})", "got 1.5"},
        Malformed{"shape_2_63", R"({"a":{"shape":[9223372036854775808]}})", "9223372036854775808"},
        Malformed{"shape_2_64", R"({"a":{"shape":[18446744073709551616]}})",
                  "18446744073709551616"},
        Malformed{"shape_string", R"({"a":{"shape":["1"]}})", "a string"},
        Malformed{"shape_nested", R"({"a":{"shape":[[1]]}})", "an array"},
        Malformed{"shape_no_array", R"({"a":{"shape":1}})", "got 1"},
        Malformed{"one_offset", R"({"a":{"data_offsets":[1]}})", "got 1, want 2"},
        Malformed{"three_offsets", R"({"a":{"data_offsets":[0,1,2]}})", "got 2"},
        Malformed{"type_number", R"({"a":{"dtype":8}})", "got 8"},
        Malformed{"type_null", R"({"a":{"dtype":null}})", "got null"},
        Malformed{"tensor_true", R"({"a":true})", "a truth value"},
        Malformed{"tensor_array", R"({"a":[]})", "an array"},
        Malformed{"metadata_number", R"({"__metadata__":{"x":1}})", "got 1"},
        Malformed{"metadata_array", R"({"__metadata__":[]})", "an array"}),
    [](const auto& test) { return test.param.name; });

TEST(SafetensorsHeader, NestingWithoutEndIsRefusedAtItsFirstStep) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(message_of(with_header(R"({"a":{"shape":)" + deep, "")), HasSubstr("an array"));
  EXPECT_THAT(message_of(with_header(R"({"a":)" + deep, "")), HasSubstr("an array"));
}

TEST(SafetensorsHeader, AShapeWithoutEndIsRefused) {
  std::string ones = "1";
  for (int i = 0; i < 100'000; ++i) ones += ",1";
  EXPECT_THAT(message_of(entry("a", "U8", ones, 0, 1), 1), HasSubstr("at most 64"));
}

TEST(SafetensorsHeader, ALongNameIsCutInMessagesAndControlCharactersAreEscaped) {
  const std::string name = R"(\u001b[2J)" + std::string(5000, 'n');
  const std::string message = message_of(entry(name, "F12", "1", 0, 1), 1);
  EXPECT_LT(message.size(), 600U);
  EXPECT_THAT(message, AllOf(HasSubstr("\\u001b"), Not(HasSubstr("\x1b"))));
}

TEST(SafetensorsHeader, NoByteOfAHeaderReachesAMessageAsItIs) {
  const std::string bad = "\x1b[2J\xff\xc2\x9b";
  for (const std::string& json :
       {"{\"" + bad + "\":1}", in_braces(entry("a", "F32\x07", "1", 0, 4)),
        in_braces(entry("a", R"(\u001b\u009b)", "1", 0, 4)),
        in_braces(entry(R"(\u007f\u0085)", "F32", "1", 4, 8)), "{" + bad, "{}" + bad}) {
    const std::string message = message_of(with_header(json, "1234"));
    EXPECT_NE(message, "");
    EXPECT_EQ(message, escaped(message)) << json;
  }
}

TEST(SafetensorsHeader, EveryCutAndEveryByteOfASmallFileIsReadOrRefused) {
  const std::string good = with_header(
      in_braces(entry("a", "F32", "2", 0, 8) + "," + entry("b", "U8", "3", 8, 11)), "12345678901");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(message_of(good.substr(0, size)), "") << size;
  }
  const std::size_t header_end = good.size() - 11;
  for (std::size_t at = 0; at < header_end; ++at) {
    for (const char byte : {'\0', '\xff', '{', '9', '"'}) {
      std::string bytes = good;
      bytes[at] = byte;
      const std::span<const char> json(bytes.data() + 8, header_end - 8);
      const std::string direct =
          error_of([&] { parse_safetensors_header(json, bytes.size(), "f"); });
      if (direct.empty()) continue;  // a letter of a name: another name, still consistent
      EXPECT_THAT(direct, HasSubstr("f: ")) << at;
    }
  }
}

}  // namespace
}  // namespace logos
