#include "bench/text_table.h"

#include <gtest/gtest.h>

namespace logos::bench {
namespace {

TEST(TextTable, AlignsWhateverTheBytesOfACharacter) {
  EXPECT_EQ(text_table({{"µs", "1"}, {"abcd", "-23"}}), "µs      1\nabcd  -23\n");
}

TEST(TextTable, PutsNoBlankAtTheEndOfALine) {
  EXPECT_EQ(text_table({{"a", "long"}, {"b", ""}}), "a  long\nb\n");
}

TEST(TextTable, PaintsWithoutMovingAColumn) {
  EXPECT_EQ(
      text_table(Painter(true), {{{"a", Ink::kBold}, {"1"}}, {{"bcd"}, {"22", Ink::kPlain, true}}}),
      "\x1b[1ma\x1b[0m    1\nbcd  22\n");
}

TEST(WrappedLine, IsBrokenBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 0), "one two three");
  EXPECT_EQ(wrapped("one two three", 13), "one two three");
  EXPECT_EQ(wrapped("one two three", 12), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 8), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 1), "one\n  two\n  three");  // no word is broken
  EXPECT_EQ(wrapped("", 5), "");
}

TEST(WrappedLine, APercentSignKeepsToItsNumber) {
  EXPECT_EQ(wrapped("idle 69.7 %, on", 10), "idle\n  69.7 %,\n  on");
}

TEST(WrappedLine, ColoursTakeNoWidth) {
  EXPECT_EQ(wrapped("\x1b[31;1mone\x1b[0m two", 7), "\x1b[31;1mone\x1b[0m two");
}

TEST(CsvTable, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_table({{"a", "b,c"}, {"d\"e", "f"}}), "a,\"b,c\"\r\n\"d\"\"e\",f\r\n");
}

}  // namespace
}  // namespace logos::bench
