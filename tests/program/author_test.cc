#include "program/author.h"

#include <gmock/gmock.h>

#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::HasSubstr;
using testing::Not;

Facts facts_for(std::string_view cut) {
  Facts facts;
  facts.spec = small_spec();
  facts.cut = Cut::parse(cut);
  return facts;
}

TEST(Author, IsNoLongerForMoreLayers) {
  ModelSpec spec = small_spec();
  const std::string three = written(spec, Cut::parse("decode:8")).text;
  spec.layers = 999;
  const std::string many = written(spec, Cut::parse("decode:8")).text;
  EXPECT_EQ(many.size(), three.size() + 2 * 2);  // two numbers, two digits longer
}

TEST(Author, TakesNoNameOfModelOrDirectoryIntoTheIdentity) {
  const ModelSpec spec = small_spec();
  const Cut cut = Cut::parse("batch:2x9");
  const Written plain = written(spec, cut);
  const Written placed = written_in(spec, cut, "/models/a b/{n}");
  EXPECT_EQ(plain.identity, placed.identity);
  EXPECT_EQ(placed.text, with(plain.text, "## Manifest\n",
                              "## Manifest\nWeights lie under \"/models/a b/{n}\".\n"));
  EXPECT_EQ(written_split(spec, cut, 1, "/x").text, written_in(spec, cut, "/x").text);
}

TEST(Author, PutsARunsInputsInAndKeepsTheIdentity) {
  const ModelSpec spec = small_spec();
  const Written step = decode_at(spec, 9, 131, 9);
  EXPECT_EQ(step.identity, written(spec, Cut::parse("decode:9")).identity);
  EXPECT_THAT(step.text, HasSubstr("Let tokens be [131].\nLet positions be [9].\n"));
  const std::vector<std::int64_t> tokens = {5, 1, 1};
  const std::vector<std::int64_t> positions = {2, 9, 1};
  const Written batch = batch_at(spec, 9, tokens, positions, "/w");
  EXPECT_EQ(batch.identity, written(spec, Cut::parse("batch:3x9")).identity);
  EXPECT_THAT(batch.text, HasSubstr("Let tokens be [5, 1, 1].\nLet positions be [2, 9, 1].\n"));
  const Written chunk = prefill_at(spec, tokens, 7);
  EXPECT_EQ(chunk.identity, written(spec, Cut::parse("prefill:3")).identity);
  EXPECT_THAT(chunk.text, HasSubstr("Let tokens be [5, 1, 1].\nLet positions be counted(7, 3).\n"));
  // Equal values of a run are a list, too.
  const std::vector<std::int64_t> ones = {1, 1, 1};
  EXPECT_THAT(batch_at(spec, 9, ones, ones).text,
              HasSubstr("Let tokens be [1, 1, 1].\nLet positions be [1, 1, 1].\n"));
}

TEST(Author, WritesOneRowAsAList) {
  EXPECT_THAT(author(facts_for("batch:1x9")), HasSubstr("tokens be [1].\nLet positions be [1].\n"));
  EXPECT_THAT(author(facts_for("prefill:1")),
              HasSubstr("tokens be [1].\nLet positions be counted(1, 1).\n"));
}

TEST(Author, WritesOfAPartOnlyWhatItUses) {
  Facts facts = facts_for("head@prefill:5");
  const std::string tied = author(facts);
  EXPECT_THAT(tied, HasSubstr("# The head of a prefill chunk of 5 tokens\n"));
  EXPECT_THAT(tied, HasSubstr("## Manifest\nWeight \"embedding\" is \"model.embed_tokens.weight\": "
                              "131 rows of 75.\nGain \"final norm\" is \"model.norm.weight\": "
                              "75.\n\n## To head"));
  EXPECT_THAT(tied, HasSubstr("## Inputs\nLet x be given(5, columns).\n\n## Main\n"
                              "Show head(last_row(x)).\n"));
  EXPECT_THAT(tied, Not(HasSubstr("attend")));
  facts.spec.tied_head = false;
  EXPECT_THAT(author(facts), HasSubstr("## Manifest\nGain \"final norm\" is \"model.norm.weight\": "
                                       "75.\nWeight \"head\" is \"lm_head.weight\": 131 rows of "
                                       "75.\n\n"));
  const std::string embedding = author(facts_for("embedding@batch:2x3"));
  EXPECT_THAT(embedding, HasSubstr("## Inputs\nLet tokens be repeated(1, 2).\n\n## Main\nLet x be "
                                   "embedded(tokens, weight \"embedding\").\nShow x.\n"));
  const std::string layer = author(facts_for("layer:2@batch:2x3"));
  EXPECT_THAT(layer, HasSubstr("Repeat for n from 2 to 2:\n"));
  EXPECT_THAT(layer, HasSubstr("## Inputs\nLet positions be repeated(1, 2).\nLet x be given(2, "
                               "columns).\n\n## Main\nSet x to attend(x, 2).\nSet x to "
                               "feed_forward(x, 2).\nShow x.\n"));
}

TEST(Author, StatesWindowsBiasesNormsAndRotation) {
  Facts facts = facts_for("decode:4");
  facts.spec.window = 17;
  facts.spec.rotary = {Rotary::Kind::kLinear, 10000, 2.5, 1, 4, 0};
  facts.spec.profile = Profile::kB;
  facts.spec.qk_norm = facts.spec.qkv_bias = true;
  const std::string text = author(facts);
  EXPECT_THAT(text, HasSubstr("Let arithmetic be \"OFA-1 profile B, groups of 32\".\n"));
  EXPECT_THAT(text, HasSubstr("Let rotary be linear(10000, 2.5).\nLet window be 17.\n\n"));
  EXPECT_THAT(text, HasSubstr("cache \"values {n}\", positions, window).\n"));
  EXPECT_THAT(text, HasSubstr("Let k be heads(with_bias(product(a, weight \"key {n}\"), bias \"key "
                              "{n}\"), head_columns).\n"));
  EXPECT_THAT(text, HasSubstr("Let k_rope be rotated(k_norm, positions, rotary).\n"));
}

TEST(Author, GivesABiasTheShareOfItsMatrix) {
  Facts facts = facts_for("decode:4");
  facts.spec.qkv_bias = true;
  facts.chips = 3;
  EXPECT_THAT(author(facts), HasSubstr("self_attn.q_proj.bias\": 24; each chip holds the rows of "
                                       "its query heads.\n"));
  EXPECT_THAT(author(facts), HasSubstr("self_attn.k_proj.bias\": 12; each chip holds the rows of "
                                       "its key heads.\n"));
}

TEST(Author, GivesEveryChangeOfAFactAnotherIdentity) {
  const Cut cut = Cut::parse("decode:4");
  const std::string base = written(small_spec(), cut).identity.sha256;
  const std::vector<void (*)(ModelSpec*)> changes = {
      [](ModelSpec* s) { s->layers = 4; },
      [](ModelSpec* s) { s->norm_epsilon = 1e-6; },
      [](ModelSpec* s) { s->rotary.base = 10001; },
      [](ModelSpec* s) { s->rotary = {Rotary::Kind::kLinear, 10000, 1, 1, 4, 0}; },
      [](ModelSpec* s) { s->window = 4; },
      [](ModelSpec* s) { s->qkv_bias = true; },
      [](ModelSpec* s) { s->qk_norm = true; },
      [](ModelSpec* s) { s->tied_head = false; },
      [](ModelSpec* s) { s->profile = Profile::kB; }};
  for (const auto& change : changes) {
    ModelSpec spec = small_spec();
    change(&spec);
    EXPECT_NE(written(spec, cut).identity.sha256, base);
  }
  EXPECT_NE(written_split(small_spec(), cut, 2).identity.sha256, base);
  EXPECT_NE(written(small_spec(), Cut::parse("decode:5")).identity.sha256, base);
}

struct BadFacts {
  const char* name;
  const char* cut;
  void (*change)(Facts*);
  const char* message;
};

class ContradictingFacts : public testing::TestWithParam<BadFacts> {};

TEST_P(ContradictingFacts, AreRefused) {
  Facts facts = facts_for(GetParam().cut);
  GetParam().change(&facts);
  EXPECT_EQ(error_of([&] { author(facts); }), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Author, ContradictingFacts,
    testing::Values(
        BadFacts{"layer", "layer:4@decode:4", [](Facts*) {},
                 "layer:4@decode:4: layer of the cut; got 4, want 1 to 3"},
        BadFacts{"chips", "decode:4", [](Facts* f) { f->chips = 5; },
                 "decode:4: every chip needs a query head of its own; got 5 chips, want 1 to 4 "
                 "chips"},
        BadFacts{"chips0", "decode:4", [](Facts* f) { f->chips = 0; },
                 "decode:4: every chip needs a query head of its own; got 0 chips, want 1 to 4 "
                 "chips"},
        BadFacts{"position0", "decode:4",
                 [](Facts* f) {
                   f->tokens = {1};
                   f->positions = {0};
                 },
                 "decode:4: position 1 of 1 is not in the cache; got 0, want 1 to 4 (counted from "
                 "1)"},
        BadFacts{"positionBeyond", "batch:2x4",
                 [](Facts* f) {
                   f->tokens = {1, 1};
                   f->positions = {4, 5};
                 },
                 "batch:2x4: position 2 of 2 is not in the cache; got 5, want 1 to 4 (counted from "
                 "1)"},
        BadFacts{"token0", "decode:4",
                 [](Facts* f) {
                   f->tokens = {0};
                   f->positions = {1};
                 },
                 "decode:4: token 1 of 1 is not of the vocabulary; got 0, want 1 to 131 (counted "
                 "from 1)"},
        BadFacts{"token", "batch:2x4",
                 [](Facts* f) {
                   f->tokens = {131, 132};
                   f->positions = {1, 1};
                 },
                 "batch:2x4: token 2 of 2 is not of the vocabulary; got 132, want 1 to 131 "
                 "(counted from 1)"},
        BadFacts{"count", "prefill:3",
                 [](Facts* f) {
                   f->tokens = {1, 2};
                   f->positions = {1, 2, 3};
                 },
                 "prefill:3: another count of tokens than the cut takes; got 2 tokens, want 3 "
                 "tokens"},
        BadFacts{"noPositions", "decode:4", [](Facts* f) { f->tokens = {1}; },
                 "decode:4: another count of positions than the cut takes; got 0 positions, want 1 "
                 "positions"},
        BadFacts{"surplus", "head@decode:4", [](Facts* f) { f->tokens = {1}; },
                 "head@decode:4: another count of tokens than the cut takes; got 1 tokens, want 0 "
                 "tokens"},
        BadFacts{"hole", "prefill:3",
                 [](Facts* f) {
                   f->tokens = {1, 2, 3};
                   f->positions = {1, 2, 4};
                 },
                 "prefill:3: a chunk's positions are consecutive; got 4, want 3"},
        BadFacts{"wrap", "prefill:2",
                 [](Facts* f) {
                   f->tokens = {1, 2};
                   f->positions = {2147483647, 2147483648};
                 },
                 "prefill:2: position 2 of 2 is not in the cache; got 2147483648, want 1 to "
                 "2147483647 (counted from 1)"},
        BadFacts{"quote", "decode:4", [](Facts* f) { f->directory = "/a\"b"; },
                 "decode:4: a program cannot name this directory of weights; got byte 0x22 in it, "
                 "want no quote and no control character"},
        BadFacts{"line", "decode:4", [](Facts* f) { f->directory = "/a\nb"; },
                 "decode:4: a program cannot name this directory of weights; got byte 0x0a in it, "
                 "want no quote and no control character"},
        BadFacts{"rows", "decode:4", [](Facts* f) { f->cut.rows = 2; },
                 "decode:4: rows of the cut; got 2, want 1"},
        BadFacts{"spec", "decode:4", [](Facts* f) { f->spec.norm_epsilon = 0; },
                 "decode:4: norm_epsilon out of bounds; got 0, want 9.094947017729282e-13 to "
                 "1099511627776"}),
    [](const auto& suite) { return std::string(suite.param.name); });

TEST(Author, RefusesAPositionThatWrapsAround) {
  const std::vector<std::int64_t> tokens = {1, 2};
  EXPECT_THROW(prefill_at(small_spec(), tokens, std::numeric_limits<std::int64_t>::max()), Error);
  EXPECT_THROW(prefill_at(small_spec(), {}, 1), Error);
}

}  // namespace
}  // namespace logos
