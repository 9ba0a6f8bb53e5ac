// What messages show of bytes out of files: one line of valid UTF-8, of bounded length.
#include "program/printable.h"

#include <gmock/gmock.h>

#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(Escaped, LeavesUtf8AndEscapesTheRest) {
  EXPECT_EQ(escaped("plain, größer, 言葉, 🙂"), "plain, größer, 言葉, 🙂");
  EXPECT_EQ(escaped(std::string("a\0b\x1b[31m\n\t\x7f", 11)), "a\\x00b\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(escaped("\xff\xc3"), "\\xff\\xc3");           // no lead byte; cut short
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b");           // CSI as one character
  EXPECT_EQ(escaped(escaped("\x1b")), "\\x1b");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc…");
  EXPECT_EQ(shortened("aö", 2), "a…");
  EXPECT_EQ(shortened("a🙂b", 4), "a…");
  EXPECT_EQ(shortened("🙂b", 4), "🙂…");
}

TEST(AnErrorsMessage, IsOneLineOfBoundedLength) {
  const Error error("file\n1", "what\x1b", "got\xff", std::string(1 << 20, 'w'));
  const std::string_view text = error.what();
  EXPECT_THAT(text, HasSubstr("file\\x0a1: what\\x1b; got got\\xff, want www"));
  EXPECT_THAT(text, EndsWith("w…"));
  EXPECT_LT(text.size(), 2000u);
}

/// What `read_config` says of a config; every such message is one printable line.
std::string config_error(const std::string& json) {
  std::string text = error_of([&] { read_config(json, "c.json"); });
  EXPECT_EQ(text, escaped(text));
  EXPECT_LT(text.size(), 3000u);
  return text;
}

TEST(AConfigsBytes, AreEscapedInEveryMessage) {
  EXPECT_THAT(config_error("{\"\x1b[31mkey\": 1}"), HasSubstr("c.json"));  // no JSON string
  EXPECT_THAT(config_error("{\"a\xff\": 1}"), HasSubstr("\\xff"));         // no UTF-8
  EXPECT_THAT(config_error("\xef\xbb"), HasSubstr("c.json"));              // half a BOM
  EXPECT_THAT(config_error(R"({"a\u001b[2J": 1, "a\u001b[2J": 2})"),       // a key twice
              HasSubstr("a\\x1b[2J: the key stands twice"));
  EXPECT_THAT(config_error(R"({"model_type": "\u001b[31m\u009b"})"), HasSubstr("\\u001b[31m"));
  EXPECT_THAT(config_error(R"({"model_type": "llama", "hidden_act": "\u0007"})"),
              HasSubstr("\\u0007"));
  EXPECT_THAT(config_error("{\"" + std::string(100000, 'k') + "\": 1, x}"), HasSubstr("…"));
  EXPECT_THAT(config_error("{\"model_type\": \"" + std::string(100000, 'x') + "\"}"),
              HasSubstr("…"));
}

TEST(AConfigsBytes, BehindAZeroByteAreNotPassedOver) {
  EXPECT_EQ(config_error(std::string("{}\0junk", 7)),
            "c.json: not JSON: a zero byte at byte 3 of 7");
}

}  // namespace
}  // namespace logos
