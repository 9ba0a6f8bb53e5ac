// What the lanes read: operations, names, values, shares.
#include <gmock/gmock.h>

#include "program/program.h"
#include "program/shares.h"
#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

Program read(const ModelSpec& spec, std::string_view cut, std::int64_t chips = 1,
             std::int64_t chip = 0) {
  return read_program(written_split(spec, Cut::parse(cut), chips).text, "t.lg", chip);
}

/// The named operations, in order.
std::vector<std::string> names(const Program& program) {
  std::vector<std::string> result;
  for (const Operation& operation : program.operations) {
    if (!operation.name.empty()) result.push_back(operation.name);
  }
  return result;
}

std::vector<Word> words(const Program& program) {
  std::vector<Word> result;
  for (const Operation& operation : program.operations) result.push_back(operation.word);
  return result;
}

const Operation& named(const Program& program, std::string_view name) {
  for (const Operation& operation : program.operations) {
    if (operation.name == name) return operation;
  }
  ADD_FAILURE() << "no operation " << name;
  return program.operations.front();
}

const Value& value_of(const Program& program, const Operation& operation) {
  return program.values.at(static_cast<std::size_t>(operation.result));
}

TEST(ReadProgram, NamesOperationsAsTheDumpDoes) {
  ModelSpec spec = small_spec();
  spec.layers = 1;
  EXPECT_THAT(
      names(read(spec, "decode:5")),
      ElementsAre("embedding", "input_norm", "input_norm.q16", "q", "k", "v", "q.rope", "k.rope",
                  "k.q16", "v.q16", "q.q16", "attention", "attention.q16", "o", "residual_1",
                  "post_norm", "post_norm.q16", "gate", "up", "silu_times", "silu_times.q16",
                  "down", "residual_2", "final_norm", "final_norm.q16", "logits"));
  spec.qkv_bias = spec.qk_norm = true;
  EXPECT_THAT(
      names(read(spec, "layer:1@decode:5")),
      ElementsAre("input_norm", "input_norm.q16", "q", "q.bias", "k", "k.bias", "v", "v.bias",
                  "q.norm", "k.norm", "q.rope", "k.rope", "k.q16", "v.q16", "q.q16", "attention",
                  "attention.q16", "o", "residual_1", "post_norm", "post_norm.q16", "gate", "up",
                  "silu_times", "silu_times.q16", "down", "residual_2"));
}

TEST(ReadProgram, NamesASplitProgramAlike) {
  ModelSpec spec = small_spec();
  spec.qkv_bias = spec.qk_norm = true;
  EXPECT_EQ(names(read(spec, "batch:2x5", 3)), names(read(spec, "batch:2x5")));
}

TEST(ReadProgram, UnrollsInnermostFirst) {
  ModelSpec spec = small_spec();
  spec.layers = 1;
  EXPECT_THAT(
      words(read(spec, "prefill:4")),
      ElementsAreArray(
          {Word::kEmbedded,  Word::kRmsNorm,   Word::kQuantized, Word::kProduct,   Word::kHeads,
           Word::kProduct,   Word::kHeads,     Word::kProduct,   Word::kHeads,     Word::kRotated,
           Word::kRotated,   Word::kQuantized, Word::kPush,      Word::kQuantized, Word::kPush,
           Word::kQuantized, Word::kAttended,  Word::kQuantized, Word::kProduct,   Word::kAdd,
           Word::kRmsNorm,   Word::kQuantized, Word::kProduct,   Word::kProduct,   Word::kSilu,
           Word::kMultiply,  Word::kQuantized, Word::kProduct,   Word::kAdd,       Word::kLastRow,
           Word::kRmsNorm,   Word::kQuantized, Word::kProduct,   Word::kShow}));
  EXPECT_THAT(words(read(spec, "embedding@decode:4", 2)),
              ElementsAre(Word::kEmbedded, Word::kHeldOverChips, Word::kShow));
  EXPECT_THAT(words(read(spec, "head@decode:4", 2)),
              ElementsAre(Word::kGiven, Word::kRmsNorm, Word::kQuantized, Word::kProduct,
                          Word::kJoinedOverChips, Word::kShow));
}

TEST(ReadProgram, GivesLayersAndLinesOfThePlaceholderForm) {
  const ModelSpec spec = small_spec();
  const Program plain = read(spec, "decode:5");
  const Program placed = read_program(decode_at(spec, 5, 9, 4, "/weights").text, "t.lg");
  ASSERT_EQ(plain.operations.size(), placed.operations.size());
  for (std::size_t i = 0; i < plain.operations.size(); ++i) {
    EXPECT_EQ(plain.operations[i].line, placed.operations[i].line);
    EXPECT_EQ(plain.operations[i].layer, placed.operations[i].layer);
  }
  EXPECT_EQ(plain.lines, placed.lines);
  const auto line_of = [&](const Operation& operation) {
    return plain.lines.at(static_cast<std::size_t>(operation.line - 1));
  };
  EXPECT_EQ(line_of(named(plain, "attention")),
            "    Let attention be attended(quantized(q_rope), cache \"keys {n}\", cache \"values "
            "{n}\", positions).");
  EXPECT_EQ(line_of(named(plain, "q.q16")), line_of(named(plain, "attention")));
  EXPECT_EQ(line_of(named(plain, "residual_2")), "    Return x + down.");
  EXPECT_EQ(line_of(named(plain, "embedding")), "Let x be embedded(tokens, weight \"embedding\").");
  EXPECT_EQ(line_of(plain.operations.back()), "Show head(x).");
  EXPECT_EQ(named(plain, "embedding").layer, 0);
  EXPECT_EQ(named(plain, "logits").layer, 0);
  EXPECT_EQ(plain.operations.back().layer, 0);
  std::vector<std::int64_t> layers;
  for (const Operation& operation : plain.operations) {
    if (operation.name == "gate") layers.push_back(operation.layer);
  }
  EXPECT_THAT(layers, ElementsAre(1, 2, 3));
  EXPECT_EQ(named(read(spec, "layer:2@decode:5"), "gate").layer, 2);
  const Program part = read(spec, "layer:2@decode:5");
  EXPECT_EQ(part.operations.front().word, Word::kGiven);
  EXPECT_EQ(part.lines.at(static_cast<std::size_t>(part.operations.front().line - 1)),
            "Let x be given(1, columns).");
}

TEST(ReadProgram, FillsTheFactsOfTheProgram) {
  ModelSpec spec = small_spec();
  spec.window = 7;
  spec.profile = Profile::kB;
  spec.rotary = {Rotary::Kind::kLinear, 10000, 2, 1, 4, 0};
  const std::vector<std::int64_t> tokens = {3, 131};
  const std::vector<std::int64_t> positions = {5, 1};
  const Program batch = read_program(batch_at(spec, 5, tokens, positions).text, "t.lg");
  EXPECT_EQ(batch.rows, 2);
  EXPECT_FALSE(batch.is_chunk);
  EXPECT_EQ(batch.context, 5);
  EXPECT_EQ(batch.window, 7);
  EXPECT_EQ(batch.profile, Profile::kB);
  EXPECT_EQ(batch.rotary, spec.rotary);
  EXPECT_EQ(batch.norm_epsilon, 1e-5);
  EXPECT_EQ(batch.head_columns, 6);
  EXPECT_EQ(batch.vocabulary, 131);
  EXPECT_EQ(batch.columns, 75);
  EXPECT_EQ(batch.query_group, 2);
  EXPECT_EQ(batch.tokens, tokens);
  EXPECT_EQ(batch.positions, positions);
  const Program chunk = read(spec, "prefill:3");
  EXPECT_TRUE(chunk.is_chunk);
  EXPECT_EQ(chunk.context, std::nullopt);
  EXPECT_THAT(chunk.tokens, ElementsAre(1, 1, 1));
  EXPECT_THAT(chunk.positions, ElementsAre(1, 2, 3));
  EXPECT_THAT(read(spec, "batch:2x5").positions, ElementsAre(1, 1));
  EXPECT_TRUE(read(spec, "head@prefill:3").tokens.empty());
  EXPECT_TRUE(read(spec, "head@prefill:3").positions.empty());
  EXPECT_TRUE(read(spec, "embedding@prefill:3").positions.empty());
  EXPECT_THAT(read(spec, "layer:1@prefill:3").positions, ElementsAre(1, 2, 3));
}

TEST(ReadProgram, UnrollsTheManifest) {
  ModelSpec spec = small_spec();
  spec.tied_head = false;
  const Program program = read(spec, "decode:5");
  ASSERT_EQ(program.matrices.size(), 1u + 7 * 3 + 1);
  EXPECT_EQ(program.matrices[0].tensor, "model.embed_tokens.weight");
  const Matrix& query = program.matrices[1 + 7];
  EXPECT_EQ(query.name, "query 2");
  EXPECT_EQ(query.tensor, "model.layers.1.self_attn.q_proj.weight");
  EXPECT_EQ(query.rows, 24);
  EXPECT_EQ(query.columns, 75);
  EXPECT_EQ(query.row_share, (Share{0, 24}));
  EXPECT_EQ(query.column_share, (Share{0, 75}));
  EXPECT_EQ(program.matrices.back().name, "head");
  EXPECT_EQ(program.vectors.back().name, "final norm");
  ASSERT_EQ(program.caches.size(), 6u);
  EXPECT_EQ(program.caches[2].name, "keys 2");
  EXPECT_EQ(program.caches[2].layer, 2);
  EXPECT_TRUE(program.caches[2].keys);
  EXPECT_FALSE(program.caches[3].keys);
  EXPECT_EQ(program.caches[3].positions, 5);
  EXPECT_FALSE(program.caches[3].one_for_each_row);
  EXPECT_EQ(read(spec, "prefill:2").caches[0].positions, std::nullopt);
  EXPECT_TRUE(read(spec, "batch:2x5").caches[0].one_for_each_row);
  const Operation& attention = named(program, "attention");
  EXPECT_EQ(program.caches.at(static_cast<std::size_t>(attention.keys)).name, "keys 1");
  EXPECT_EQ(program.caches.at(static_cast<std::size_t>(attention.cache_values)).name, "values 1");
  EXPECT_EQ(program.matrices.at(static_cast<std::size_t>(named(program, "down").matrix)).name,
            "down 1");
  EXPECT_EQ(program.vectors.at(static_cast<std::size_t>(named(program, "post_norm").vector)).name,
            "post norm 1");
}

TEST(ReadProgram, GivesValuesTheirShapes) {
  const Program program = read(small_spec(), "prefill:4");
  const auto shape = [&](std::string_view name) {
    const Value& value = value_of(program, named(program, name));
    return std::vector<std::int64_t>{value.rows, value.heads, value.columns, value.whole};
  };
  EXPECT_THAT(shape("embedding"), ElementsAre(4, 1, 75, 75));
  EXPECT_THAT(shape("q"), ElementsAre(4, 1, 24, 24));
  EXPECT_THAT(shape("q.rope"), ElementsAre(4, 4, 6, 4));
  EXPECT_THAT(shape("k.q16"), ElementsAre(4, 2, 6, 2));
  EXPECT_THAT(shape("attention"), ElementsAre(4, 1, 24, 24));
  EXPECT_THAT(shape("silu_times"), ElementsAre(4, 1, 97, 97));
  EXPECT_THAT(shape("final_norm"), ElementsAre(1, 1, 75, 75));
  EXPECT_THAT(shape("logits"), ElementsAre(1, 1, 131, 131));
  EXPECT_TRUE(value_of(program, named(program, "k.q16")).per_head);
  EXPECT_FALSE(value_of(program, named(program, "attention.q16")).per_head);
  for (const Value& value : program.values) EXPECT_EQ(value.spread, Spread::kWhole);
}

TEST(ReadProgram, SharesByTheFloorRule) {
  // 4 query heads over 3 chips: 1, 1, 2; 97 hidden columns: 32, 32, 33; 131 rows: 43, 44, 44.
  const Share expected_heads[] = {{0, 1}, {1, 2}, {2, 4}};
  const Share expected_keys[] = {{0, 1}, {0, 1}, {1, 2}};  // two chips hold key head 0
  const Share expected_hidden[] = {{0, 32}, {32, 64}, {64, 97}};
  const Share expected_rows[] = {{0, 43}, {43, 87}, {87, 131}};
  for (std::int64_t chip = 0; chip < 3; ++chip) {
    const Program program = read(small_spec(), "decode:5", 3, chip);
    const Share heads = expected_heads[chip];
    const Share keys = expected_keys[chip];
    const auto matrix = [&](std::string_view name) {
      return program.matrices.at(static_cast<std::size_t>(named(program, name).matrix));
    };
    EXPECT_EQ(matrix("q").row_share, (Share{heads.begin * 6, heads.end * 6}));
    EXPECT_EQ(matrix("k").row_share, (Share{keys.begin * 6, keys.end * 6}));
    EXPECT_EQ(matrix("gate").row_share, expected_hidden[chip]);
    EXPECT_EQ(matrix("gate").column_share, (Share{0, 75}));
    EXPECT_EQ(program.matrices[0].row_share, expected_rows[chip]);
    for (const Matrix& m : program.matrices) {
      if (m.name == "output 1") {
        EXPECT_EQ(m.column_share, (Share{heads.begin * 6, heads.end * 6}));
        EXPECT_EQ(m.row_share, (Share{0, 75}));
      }
      if (m.name == "down 1") {
        EXPECT_EQ(m.column_share, expected_hidden[chip]);
      }
    }
    for (const Vector& vector : program.vectors) EXPECT_EQ(vector.share, (Share{0, vector.size}));
    EXPECT_EQ(program.caches[0].head_share, keys);
    EXPECT_EQ(program.caches[0].heads, 2);
    const Value& q = value_of(program, named(program, "q.rope"));
    EXPECT_EQ(q.spread, Spread::kPart);
    EXPECT_EQ(q.first, heads.begin);
    EXPECT_EQ(q.heads, heads.size());
    EXPECT_EQ(q.whole, 4);
    const Value& attention = value_of(program, named(program, "attention"));
    EXPECT_EQ(attention.first, heads.begin * 6);
    EXPECT_EQ(attention.columns, heads.size() * 6);
    EXPECT_EQ(attention.whole, 24);
    const Value& block = value_of(program, named(program, "silu_times.q16"));
    EXPECT_EQ(block.spread, Spread::kPart);
    EXPECT_EQ(block.first, expected_hidden[chip].begin);
    EXPECT_EQ(block.columns, expected_hidden[chip].size());
    const Value& logits = value_of(program, named(program, "logits"));
    EXPECT_EQ(logits.spread, Spread::kWhole);
    EXPECT_EQ(logits.columns, 131);
    EXPECT_EQ(value_of(program, named(program, "residual_2")).spread, Spread::kWhole);
    EXPECT_EQ(value_of(program, program.operations[0]).spread, Spread::kHeld);
  }
}

TEST(ReadProgram, SharesABiasAsItsMatrix) {
  ModelSpec spec = small_spec();
  spec.qkv_bias = true;
  const Program program = read(spec, "decode:5", 3, 2);
  for (const Vector& vector : program.vectors) {
    if (vector.name == "query 1") {
      EXPECT_EQ(vector.share, (Share{12, 24}));
    }
    if (vector.name == "key 1") {
      EXPECT_EQ(vector.share, (Share{6, 12}));
    }
    if (vector.name == "input norm 1") {
      EXPECT_EQ(vector.share, (Share{0, 75}));
    }
  }
}

TEST(ReadProgram, MarksPartialSumsAndPeaks) {
  const Program program = read(small_spec(), "decode:5", 2, 1);
  int sums = 0;
  for (const Operation& operation : program.operations) {
    if (operation.word == Word::kSums || operation.word == Word::kPeak) {
      EXPECT_EQ(value_of(program, operation).spread, Spread::kPartial);
      ++sums;
    }
    if (operation.word == Word::kSumOverChips || operation.word == Word::kGreatestOverChips) {
      EXPECT_EQ(value_of(program, operation).spread, Spread::kWhole);
    }
  }
  EXPECT_EQ(sums, 3 * 4);
}

TEST(Shares, CoverAllUnitsOnceAndInOrder) {
  for (const std::int64_t units : {1, 2, 7, 75, 97, 128256}) {
    for (std::int64_t chips = 1; chips <= 9; ++chips) {
      std::int64_t next = 0;
      for (std::int64_t chip = 0; chip < chips; ++chip) {
        const Share share = share_of(units, chip, chips);
        EXPECT_EQ(share.begin, next);
        EXPECT_LE(share.size(), (units + chips - 1) / chips);
        next = share.end;
      }
      EXPECT_EQ(next, units);
    }
  }
}

TEST(Shares, HoldTheKeyHeadsThatTheirQueryHeadsRead) {
  for (const std::int64_t group : {1, 2, 3, 7}) {
    ModelSpec spec = small_spec();
    spec.key_heads = 4;
    spec.query_heads = 4 * group;
    for (std::int64_t chips = 1; chips <= spec.query_heads; ++chips) {
      for (std::int64_t chip = 0; chip < chips; ++chip) {
        const Share heads = query_heads_of(spec, chip, chips);
        const Share keys = key_heads_of(spec, chip, chips);
        EXPECT_EQ(keys.begin, heads.begin / group);
        EXPECT_EQ(keys.end - 1, (heads.end - 1) / group);
      }
    }
  }
}

TEST(ReadProgram, RefusesAChipThatIsNotThere) {
  const std::string text = written_split(small_spec(), Cut::parse("decode:5"), 2).text;
  EXPECT_EQ(error_of([&] { read_program(text, "t.lg", 2); }),
            "t.lg: a chip that the program does not have; got 2, want 0 to 1");
  EXPECT_THROW(read_program(text, "t.lg", -1), Error);
}

}  // namespace
}  // namespace logos
