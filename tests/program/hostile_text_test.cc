// Texts made to exhaust a reader: refused at once, whatever they claim.
#include <gmock/gmock.h>

#include "program/genuine.h"
#include "program/program.h"
#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::HasSubstr;

std::string base(std::string_view cut = "decode:9") {
  return written(small_spec(), Cut::parse(cut)).text;
}

std::string refusal(const std::string& text) {
  return error_of([&] { read_program(text, "a.lg"); });
}

std::string repeated(std::string_view word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += word;
  return text;
}

TEST(HostileText, NestedCalls) {
  const std::string deep = repeated("silu(", 100000) + "gate" + repeated(")", 100000);
  EXPECT_THAT(refusal(with(base(), "silu(gate)", deep)), HasSubstr("at most 16 calls nested"));
}

TEST(HostileText, NestedLoops) {
  std::string loops;
  for (int depth = 0; depth < 1000; ++depth) {
    loops +=
        std::string(static_cast<std::size_t>(depth) * 4, ' ') + "Repeat for n from 1 to 4096:\n";
  }
  EXPECT_THAT(refusal(with(base(), "Show head(x).\n", loops)), HasSubstr("at most 16 loops"));
}

TEST(HostileText, LoopsWithinLoops) {
  std::string loops;
  for (int depth = 0; depth < 12; ++depth) {
    loops += std::string(static_cast<std::size_t>(depth) * 4, ' ') + "Repeat for n" +
             std::to_string(depth) + " from 1 to 9007199254740992:\n";
  }
  loops += std::string(48, ' ') + "Let y be x.\nShow head(x).\n";
  EXPECT_THAT(refusal(with(base(), "Show head(x).\n", loops)),
              HasSubstr("found more than 524288 steps"));
}

TEST(HostileText, LongLists) {
  const std::string list = "[" + repeated("1, ", 1 << 20) + "1]";
  EXPECT_THAT(refusal(with(base(), "tokens be [1]", "tokens be " + list)),
              HasSubstr("expected at most 1048576 items"));
}

TEST(HostileText, ManyTerms) {
  std::string statements;
  for (int i = 0; i < 9000; ++i) {
    statements += "    Let y be heads(" + repeated("x, ", 20) + "x).\n";
  }
  EXPECT_THAT(refusal(with(base(), "    Return logits.\n", statements)),
              HasSubstr("more than 100000 terms"));
}

TEST(HostileText, ManyLines) {
  EXPECT_THAT(refusal(base() + repeated("\n", 100000)), HasSubstr("more than 10000 lines"));
}

TEST(HostileText, TooLarge) {
  EXPECT_EQ(refusal(std::string((std::size_t{1} << 25) + 1, ' ')),
            "a.lg: too large for a program; got 33554433 bytes, want at most 33554432 bytes");
}

TEST(HostileText, NothingAndBytesOfAllKinds) {
  EXPECT_EQ(refusal(""), "a.lg:1:1: found end of text, expected \"#\"");
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_THROW(read_program(std::string(3, static_cast<char>(byte)), "a.lg"), Error);
    std::string text = base();
    text[10] = static_cast<char>(byte);
    if (text != base()) {
      EXPECT_THROW(read_program(text, "a.lg"), Error) << byte;
    }
  }
}

TEST(HostileText, HugeSizesOverflowNothing) {
  for (const char* fact : {"layers be 3", "columns be 75", "query_heads be 4", "key_heads be 2",
                           "head_columns be 6", "hidden_columns be 97", "vocabulary be 131"}) {
    for (const char* number : {"9007199254740992", "4294967296", "2147483648", "0"}) {
      const std::string name(fact, std::string_view(fact).rfind(' ') + 1);
      EXPECT_THROW(read_program(with(base(), fact, name + number), "a.lg"), Error) << fact;
    }
  }
  EXPECT_THAT(refusal(with(base("prefill:4"), "chunk of 4", "chunk of 2147483647")),
              HasSubstr("found 2147483647 rows, expected at most 1048576"));
  const std::string split =
      with(written_split(small_spec(), Cut::parse("decode:9"), 2).text, "chips be 2", "chips be 0");
  EXPECT_THAT(refusal(split), HasSubstr("found 0 chips"));
}

TEST(HostileText, APrefixOfATextIsNeverAProgram) {
  const std::string text = written_split(small_spec(), Cut::parse("batch:2x9"), 2).text;
  for (std::size_t size = 0; size < text.size(); size += 3) {
    EXPECT_THROW(read_program(text.substr(0, size), "a.lg"), Error) << size;
  }
}

}  // namespace
}  // namespace logos
