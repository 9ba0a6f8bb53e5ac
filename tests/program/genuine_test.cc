#include "program/genuine.h"

#include <gmock/gmock.h>

#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::HasSubstr;

ModelSpec rich_spec() {
  ModelSpec spec = small_spec();
  spec.qkv_bias = spec.qk_norm = true;
  spec.window = 7;
  spec.rotary = {Rotary::Kind::kLlama3, 500000, 32, 1, 4, 8192};
  return spec;
}

TEST(Genuine, NamesDigestsLineAndBothLines) {
  const Written base = written(small_spec(), Cut::parse("decode:9"));
  const std::string text = with(base.text, "Return x + o.", "Return o + x.");
  const std::string message = error_of([&] { genuine(text, "a.lg"); });
  EXPECT_EQ(message,
            "a.lg:43:12: not the text that the author writes for these facts: it has \""
            "    Return o + x.\" where that has \"    Return x + o.\"; got sha256 " +
                sha256_hex(text) + ", want sha256 " + base.identity.sha256);
}

TEST(Genuine, ShowsOfALongLineWhereItDiffers) {
  const Written base = written(small_spec(), Cut::parse("decode:9"));
  const std::size_t gate = base.text.find("Weight \"gate {n}\"");
  std::string text = base.text;
  const std::size_t rows = text.find(": ", gate) + 2;
  text[rows] = text[rows] == '9' ? '8' : '9';
  const std::string message = error_of([&] { genuine(text, "a.lg"); });
  EXPECT_THAT(message, HasSubstr("mlp.gate_proj.weight\": " + text.substr(rows, 2)));
  EXPECT_THAT(message, HasSubstr("mlp.gate_proj.weight\": " + base.text.substr(rows, 2)));
  EXPECT_THAT(error_of([&] { genuine(base.text + "\n", "a.lg"); }),
              HasSubstr("where that has nothing more"));
}

TEST(Genuine, NamesBothDigestsOfATextThatIsNotCanonical) {
  const Written base = written(small_spec(), Cut::parse("decode:9"));
  const std::string text = with(base.text, "Return x + o.", "Return x  + o.");
  const std::string message = error_of([&] { read_genuine(text, "a.lg", base.identity); });
  EXPECT_THAT(message, HasSubstr("a.lg:43:14: "));
  EXPECT_THAT(message, HasSubstr(sha256_hex(text)));
  EXPECT_THAT(message, HasSubstr(base.identity.sha256));
}

TEST(Genuine, NamesBothDigestsOfATextThatCannotBeRead) {
  const Written base = written(small_spec(), Cut::parse("decode:9"));
  const std::string text = with(base.text, "Return x + o.", "Return x - o.");
  EXPECT_EQ(error_of([&] { read_genuine(text, "a.lg", base.identity); }),
            "a.lg: not a text that the author wrote: a.lg:43:14: found \"-\", expected a word, a "
            "number, a string or a sign; got sha256 " +
                sha256_hex(text) + ", want sha256 " + base.identity.sha256 +
                " in its placeholder form");
}

TEST(Genuine, RefusesAnotherIdentityThanTheOneAskedFor) {
  const Written found = written(small_spec(), Cut::parse("decode:9"));
  const Written asked = written_split(small_spec(), Cut::parse("decode:9"), 2);
  EXPECT_EQ(error_of([&] { read_genuine(found.text, "a.lg", asked.identity); }),
            "a.lg: another program than the one asked for; got " + found.identity.text() +
                ", want " + asked.identity.text());
}

TEST(Genuine, TakesAnEditedFactAsAnotherProgram) {
  const Written base = written(small_spec(), Cut::parse("decode:9"));
  const std::string text =
      with(base.text, "Let norm_epsilon be 0.00001.", "Let norm_epsilon be 0.00002.");
  const Identity other = genuine(text, "a.lg");
  EXPECT_NE(other, base.identity);
  EXPECT_EQ(other.cut, base.identity.cut);
  EXPECT_THAT(error_of([&] { read_genuine(text, "a.lg", base.identity); }),
              HasSubstr(other.sha256 + ", want decode:9 1 " + base.identity.sha256));
}

TEST(Genuine, TakesEditedInputsAsARunOfTheSameProgram) {
  const std::vector<std::int64_t> tokens = {5, 7};
  const Written base = prefill_at(small_spec(), tokens, 3, "/w");
  std::string text = with(base.text, "[5, 7]", "[131, 1]");
  text = with(text, "counted(3, 2)", "counted(4, 2)");
  text = with(text, "\"/w\"", "\"/elsewhere\"");
  EXPECT_EQ(genuine(text, "a.lg"), base.identity);
}

/// Every byte of a text outside its inputs and its directory, changed in several ways: refused, or
/// another program.
void expect_no_changed_byte_passes(const Written& base, std::size_t step) {
  const std::size_t inputs = base.text.find("\n## Inputs\n");
  const std::size_t main = base.text.find("\n## Main\n");
  ASSERT_NE(inputs, std::string::npos);
  int refused = 0;
  int others = 0;
  const auto check = [&](const std::string& changed, std::size_t at) {
    try {
      const Identity identity = genuine(changed, "a.lg");
      EXPECT_NE(identity, base.identity) << "byte " << at << " of\n" << changed;
      ++others;
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t at = 0; at < base.text.size(); at += step) {
    if (at > inputs && at <= main) continue;
    for (const char c : {' ', '1'}) {
      std::string changed = base.text;
      if (changed[at] == c) continue;
      changed[at] = c;
      check(changed, at);
    }
    std::string changed = base.text;
    changed[at] = static_cast<char>(changed[at] ^ 0x80);
    check(changed, at);
    check(base.text.substr(0, at) + base.text.substr(at + 1), at);
    check(base.text.substr(0, at) + base.text.substr(at, 1) + base.text.substr(at), at);
    if (at % 8 == 0) check(base.text.substr(0, at), at);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(others, 0);  // edited numbers of the model are other programs
}

TEST(Genuine, LetsNoChangedBytePass) {
  expect_no_changed_byte_passes(written(rich_spec(), Cut::parse("decode:9")), 1);
}

TEST(Genuine, LetsNoChangedByteOfASplitTextPass) {
  expect_no_changed_byte_passes(written_split(rich_spec(), Cut::parse("batch:2x9"), 2), 3);
}

TEST(Genuine, GivesTheProgramOfEveryChip) {
  const Written base = written_split(small_spec(), Cut::parse("prefill:4"), 3);
  const auto programs = read_genuine(base.text, "a.lg", base.identity);
  ASSERT_EQ(programs.size(), 3u);
  for (std::size_t chip = 0; chip < 3; ++chip) {
    EXPECT_EQ(programs[chip].chip, static_cast<std::int64_t>(chip));
    ASSERT_EQ(programs[chip].operations.size(), programs[0].operations.size());
    for (std::size_t i = 0; i < programs[0].operations.size(); ++i) {
      EXPECT_EQ(programs[chip].operations[i].word, programs[0].operations[i].word);
      EXPECT_EQ(programs[chip].operations[i].name, programs[0].operations[i].name);
      EXPECT_EQ(programs[chip].operations[i].arguments, programs[0].operations[i].arguments);
    }
  }
}

TEST(Genuine, RefusesATextWhosePartsTogetherAreTooLarge) {
  ModelSpec spec = small_spec();
  spec.layers = 4096;
  spec.query_heads = spec.key_heads = 8192;
  spec.head_columns = 2;
  const Written base = written_split(spec, Cut::parse("decode:9"), 8192);
  EXPECT_THAT(error_of([&] { read_genuine(base.text, "a.lg", base.identity); }),
              HasSubstr("too large a program to unroll for every chip"));
}

constexpr const char* kTooMany =
    "a.lg: attention over more positions than its sums are exact for; got 33554433 positions, want "
    "at most 33554432";

std::string refusal_of(const Written& base) {
  try {
    read_genuine(base.text, "a.lg", base.identity);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Genuine, RefusesAttentionWhoseSumsCouldLeaveInt64) {
  ModelSpec spec = small_spec();
  for (const std::string cut : {"decode:33554433", "batch:2x33554433", "layer:2@decode:33554433"}) {
    EXPECT_EQ(refusal_of(written(spec, Cut::parse(cut))), kTooMany) << cut;
  }
  for (const std::string cut :
       {"decode:33554432", "embedding@decode:33554433", "head@decode:33554433"}) {
    EXPECT_EQ(refusal_of(written(spec, Cut::parse(cut))), "") << cut;
  }
  const std::vector<std::int64_t> tokens = {5, 7};
  EXPECT_EQ(refusal_of(prefill_at(spec, tokens, 33554432, "")), kTooMany);
  EXPECT_EQ(refusal_of(prefill_at(spec, tokens, 33554431, "")), "");
}

TEST(Genuine, CountsOnlyThePositionsOfTheWindow) {
  ModelSpec spec = small_spec();
  spec.window = 33554432;
  EXPECT_EQ(refusal_of(written(spec, Cut::parse("decode:2147483647"))), "");
  spec.window = 33554433;
  EXPECT_EQ(refusal_of(written(spec, Cut::parse("decode:2147483647"))), kTooMany);
  EXPECT_EQ(refusal_of(written(spec, Cut::parse("decode:33554432"))), "");
}

TEST(Genuine, HashesWithSha256) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace logos
