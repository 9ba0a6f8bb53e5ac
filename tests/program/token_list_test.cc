#include "program/token_list.h"

#include <gmock/gmock.h>

#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TokenList, ReadsIdsFromZeroToTheLast) {
  EXPECT_THAT(read_token_lists("0,1,511", 512), ElementsAre(ElementsAre(0, 1, 511)));
  EXPECT_THAT(read_token_lists("7", 512), ElementsAre(ElementsAre(7)));
  EXPECT_THAT(read_token_lists("1, 2", 512), ElementsAre(ElementsAre(1, 2)));
}

TEST(TokenList, ReadsAFileOfSequences) {
  const TemporaryFolder folder;
  const auto file = folder.write("tokens", "1 2\t3\n511 0 \r\n4\n\n");
  EXPECT_THAT(read_token_lists("@" + file.string(), 512),
              ElementsAre(ElementsAre(1, 2, 3), ElementsAre(511, 0), ElementsAre(4)));
}

TEST(TokenList, RefusesItemsByTheirPlace) {
  const auto refusal = [](const char* list) {
    return error_of([&] { read_token_lists(list, 512); });
  };
  EXPECT_EQ(refusal("1,512"),
            "--tokens: item 2: a token that is not of the vocabulary; got \"512\", want a token id "
            "from 0 to 511");
  EXPECT_THAT(refusal("-1"), HasSubstr("tokens: item 1: a token that is not of the vocabulary"));
  EXPECT_THAT(refusal("1,2,4294967295"), HasSubstr("tokens: item 3: a token that is not"));
  EXPECT_THAT(refusal("99999999999999999999999"), HasSubstr("tokens: item 1: a token that is not"));
  EXPECT_THAT(refusal("1,,2"), HasSubstr("tokens: item 2: an empty item"));
  EXPECT_THAT(refusal("1,2,"), HasSubstr("tokens: item 3: an empty item"));
  EXPECT_THAT(refusal(""), HasSubstr("tokens: item 1: an empty item"));
  for (const char* item : {"01", "00", "0511", "-01"}) {
    EXPECT_THAT(refusal(item), HasSubstr("tokens: item 1: a token id with a leading zero")) << item;
  }
  EXPECT_THAT(refusal("1,word"), HasSubstr("tokens: item 2: not a token id; got \"word\""));
  for (const char* item : {"+1", "1.0", "0x1", "1e2", "1 2", "--1", "-", "1;2"}) {
    EXPECT_THAT(refusal(item), HasSubstr("tokens: item 1: not a token id")) << item;
  }
}

TEST(TokenList, RefusesItemsOfAFileByLineAndPlace) {
  const TemporaryFolder folder;
  const auto refusal = [&](std::string_view text) {
    const auto file = folder.write("t", text);
    const std::string message = error_of([&] { read_token_lists("@" + file.string(), 512); });
    EXPECT_THAT(message, testing::StartsWith(file.string()));
    return message.substr(std::min(message.size(), file.string().size()));
  };
  EXPECT_EQ(refusal("1 2\n3 512\n"),
            ":2: item 2: a token that is not of the vocabulary; got \"512\", want a token id from "
            "0 to 511");
  EXPECT_THAT(refusal("1 2\n3 07\n"), HasSubstr(":2: item 2: a token id with a leading zero"));
  EXPECT_EQ(refusal("1,2\n"),
            ":1: item 1: not a token id; got \"1,2\", want a token id from 0 to "
            "511");
  EXPECT_EQ(refusal(""), ": no tokens; got an empty file, want token ids");
  EXPECT_EQ(refusal(" \n\n"), ": no tokens; got an empty file, want token ids");
  EXPECT_EQ(refusal("1\n\n2\n"), ":2: no tokens; got an empty line, want token ids");
  EXPECT_THAT(refusal(std::string_view("1\0002", 3)), HasSubstr(":1: item 1: not a token id"));
}

TEST(TokenList, RefusesAFileThatIsNotThere) {
  EXPECT_THAT(error_of([] { read_token_lists("@/no/such/file", 512); }),
              HasSubstr("/no/such/file"));
  EXPECT_THROW(read_token_lists("@", 512), Error);
  EXPECT_THROW(read_token_lists("@/tmp", 512), Error);
}

}  // namespace
}  // namespace logos
