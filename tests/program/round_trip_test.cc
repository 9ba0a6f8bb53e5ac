// What is written reads back: facts, programs and identities, over every kind of cut, preset and
// number of chips.
#include <gmock/gmock.h>

#include "program/author.h"
#include "program/genuine.h"
#include "program/read_program.h"
#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

std::vector<ModelSpec> specs() {
  std::vector<ModelSpec> result = {small_spec()};
  for (const std::string& name : preset_names()) result.push_back(*preset(name));
  ModelSpec odd = small_spec();  // every feature at once
  odd.query_heads = 9;
  odd.key_heads = 3;
  odd.qkv_bias = odd.qk_norm = true;
  odd.tied_head = false;
  odd.window = 5;
  odd.profile = Profile::kB;
  odd.norm_epsilon = 0.1;
  odd.rotary = {Rotary::Kind::kLinear, 12345.678, 1.5, 1, 4, 0};
  result.push_back(odd);
  return result;
}

constexpr const char* kCuts[] = {"decode:1",           "decode:37",           "prefill:1",
                                 "prefill:9",          "batch:1x3",           "batch:5x37",
                                 "layer:1@decode:37",  "layer:3@prefill:9",   "layer:2@batch:5x37",
                                 "embedding@decode:8", "embedding@prefill:9", "embedding@batch:2x3",
                                 "head@decode:8",      "head@prefill:9",      "head@batch:2x3"};

/// A spec without what a part's text does not state.
ModelSpec as_stated(ModelSpec spec, const Cut& cut) {
  const bool layers = cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kLayer;
  const bool head = cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kHead;
  if (!layers) spec.qkv_bias = spec.qk_norm = false;
  if (!head) spec.tied_head = false;
  return spec;
}

TEST(RoundTrip, GivesBackFactsTextAndIdentity) {
  int texts = 0;
  for (const ModelSpec& spec : specs()) {
    for (const char* cut_text : kCuts) {
      for (const std::int64_t chips : {1, 2, 3, 4, 7}) {
        if (chips > spec.query_heads) continue;
        const Cut cut = Cut::parse(cut_text);
        const Written result = written_split(spec, cut, chips);
        const Facts facts = read_facts(result.text, "t.lg");
        EXPECT_EQ(facts.spec, as_stated(spec, cut));
        EXPECT_EQ(facts.cut, cut);
        EXPECT_EQ(facts.chips, chips);
        EXPECT_EQ(facts, facts.placeholder());
        EXPECT_EQ(author(facts), result.text);
        EXPECT_EQ(genuine(result.text, "t.lg"), result.identity);
        check_text({result.text, "t.lg"});
        const Program program = read_program(result.text, "t.lg", chips - 1);
        EXPECT_EQ(program.identity, result.identity);
        EXPECT_EQ(program.chip, chips - 1);
        EXPECT_EQ(program.chips, chips);
        ++texts;
      }
    }
  }
  EXPECT_GT(texts, 400);
}

TEST(RoundTrip, GivesBackARunsInputsAndDirectory) {
  for (const ModelSpec& spec : specs()) {
    for (const char* cut_text : kCuts) {
      for (const std::int64_t chips : {1, 3}) {
        Facts facts;
        facts.cut = Cut::parse(cut_text);
        facts.spec = as_stated(spec, facts.cut);
        facts.chips = chips;
        facts.directory = "/weights/\xC3\xA9 {x}";
        const std::string placed = author(facts);
        EXPECT_EQ(read_facts(placed, "t.lg"), facts);
        const bool chunk = facts.cut.work == Cut::Work::kPrefill;
        for (std::int64_t row = 0; row < facts.cut.rows; ++row) {
          if (facts.cut.part == Cut::Part::kWhole || facts.cut.part == Cut::Part::kEmbedding) {
            facts.tokens.push_back(spec.vocabulary - row);
          }
          if (facts.cut.part == Cut::Part::kWhole || facts.cut.part == Cut::Part::kLayer) {
            facts.positions.push_back(chunk ? 100 + row : facts.cut.context);
          }
        }
        // A step over one position stands where its placeholder does.
        const std::string text = author(facts);
        const Facts found = read_facts(text, "t.lg");
        EXPECT_EQ(author(found), text);
        EXPECT_EQ(found, facts);
        EXPECT_EQ(genuine(text, "t.lg"), written_split(spec, facts.cut, chips).identity);
        EXPECT_EQ(read_program(text, "t.lg").identity, genuine(text, "t.lg"));
        EXPECT_EQ(read_program(text, "t.lg").tokens, facts.tokens);
        EXPECT_EQ(read_program(text, "t.lg").positions, facts.positions);
      }
    }
  }
}

TEST(RoundTrip, ReadsPlaceholdersWhereARunsInputsLookTheSame) {
  const Written run = decode_at(small_spec(), 5, 1, 1);
  EXPECT_EQ(run.text, written(small_spec(), Cut::parse("decode:5")).text);
  EXPECT_TRUE(read_facts(run.text, "t.lg").tokens.empty());
  // One of them decides for both.
  const Facts token = read_facts(decode_at(small_spec(), 5, 2, 1).text, "t.lg");
  EXPECT_THAT(token.tokens, testing::ElementsAre(2));
  EXPECT_THAT(token.positions, testing::ElementsAre(1));
  const Facts position = read_facts(decode_at(small_spec(), 5, 1, 2).text, "t.lg");
  EXPECT_THAT(position.tokens, testing::ElementsAre(1));
  EXPECT_THAT(position.positions, testing::ElementsAre(2));
  const std::vector<std::int64_t> ones = {1, 1};
  const Facts chunk = read_facts(prefill_at(small_spec(), ones, 1).text, "t.lg");
  EXPECT_EQ(chunk.tokens, ones);
  EXPECT_THAT(chunk.positions, testing::ElementsAre(1, 2));
}

TEST(RoundTrip, IsOfProgramsThatCanRun) {
  const Written most = written(small_spec(), Cut::parse("embedding@prefill:1048576"));
  EXPECT_EQ(read_program(most.text, "t.lg").tokens.size(), 1048576u);
  const Written large = written(small_spec(), Cut::parse("prefill:1048577"));
  const std::string refusal =
      "t.lg:1:3: found 1048577 rows, expected at most 1048576 for a program that runs";
  EXPECT_EQ(error_of([&] { read_program(large.text, "t.lg"); }), refusal);
  EXPECT_EQ(error_of([&] { genuine(large.text, "t.lg"); }), refusal);
}

}  // namespace
}  // namespace logos
