#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/model.h"
#include "program/error.h"

namespace logos::bench {
namespace {

constexpr const char* kReplaced = "\xEF\xBF\xBD";

TEST(PrintableUtf8, KeepsTextAsItIs) {
  const std::string text = "a\n\tb \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(printable_utf8(text), text);
}

TEST(PrintableUtf8, ReplacesWhatIsNotUtf8) {
  const std::string r = kReplaced;
  EXPECT_EQ(printable_utf8("a\x80z"), "a" + r + "z");
  EXPECT_EQ(printable_utf8("\xC3"), r);                          // cut short
  EXPECT_EQ(printable_utf8("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(printable_utf8("\xE0\x80\x80"), r + r + r);          // overlong
  EXPECT_EQ(printable_utf8("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(printable_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(printable_utf8("\xF0\x9F\x98"), r + r + r);          // cut short
}

TEST(PrintableUtf8, ReplacesControlCharacters) {
  const std::string r = kReplaced;
  EXPECT_EQ(printable_utf8(std::string("\x1b[31m\0\x7f", 7)), r + "[31m" + r + r);
  EXPECT_EQ(printable_utf8("\xC2\x9B"), r);  // CSI as one character
}

TEST(Vocabulary, ABytesIdIsItsByte) {
  Vocabulary vocabulary;
  vocabulary.bytes = true;
  const std::vector<std::int64_t> ids = {72, 105, 255, 10};
  EXPECT_EQ(vocabulary.text(ids), std::string("Hi") + kReplaced + "\n");
}

TEST(Vocabulary, TextsMayBeSingleBytes) {
  Vocabulary vocabulary;
  vocabulary.texts = read_vocabulary(R"({"0": " a", "1": "<0xC3>", "2": "<0xA9>"})", "v", 4);
  const std::vector<std::int64_t> ids = {0, 1, 2, 3};
  EXPECT_EQ(vocabulary.text(ids), " a\xC3\xA9");
}

TEST(Vocabulary, UnknownGivesNoText) {
  const std::vector<std::int64_t> ids = {1};
  EXPECT_EQ(Vocabulary{}.text(ids), std::nullopt);
}

TEST(Vocabulary, OfATokenizerIsPassedOver) {
  EXPECT_TRUE(read_vocabulary(R"({"!": 0, "\u0120the": 1})", "vocab.json", 2).empty());
}

TEST(Vocabulary, RefusesAFileOfAnotherForm) {
  const auto refusal = [](std::string_view json) -> std::string {
    try {
      read_vocabulary(json, "vocab.json", 4);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("{"), testing::HasSubstr("vocab.json"));
  EXPECT_THAT(refusal("{\"1\": 1e999}"), testing::HasSubstr("vocab.json: not JSON"));
  EXPECT_THAT(refusal(std::string_view("{}\0x", 4)), testing::HasSubstr("a zero byte"));
  EXPECT_THAT(refusal("[1]"), testing::HasSubstr("not an object"));
  EXPECT_THAT(refusal(R"({"4": "x"})"), testing::HasSubstr("got 4, want 0 to 3"));
  EXPECT_THAT(refusal(R"({"01": "x"})"), testing::HasSubstr("got 01, want 0 to 3"));
  EXPECT_THAT(refusal(R"({"-1": "x"})"), testing::HasSubstr("got -1"));
  EXPECT_THAT(refusal(R"({"x": "x"})"), testing::HasSubstr("got x"));
  EXPECT_THAT(refusal(R"({"1": "x", "2": 7})"), testing::HasSubstr("not a text"));
  EXPECT_THAT(refusal(R"({"1": ["x"]})"), testing::HasSubstr("not a text"));
}

}  // namespace
}  // namespace logos::bench
