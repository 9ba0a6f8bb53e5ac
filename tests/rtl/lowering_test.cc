#include "rtl/lowering/lowering.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "program/error.h"
#include "program/genuine.h"
#include "program/written.h"
#include "rtl/lowering/check_plan.h"
#include "tests/contract/contract.h"
#include "tests/rtl/model_run.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::d5005 {
namespace {

/// Expects the reference's bits of every value, key and FAULT.
void expect_same(const contract::Outcome& expected, const ModelRun& got) {
  ASSERT_EQ(got.outputs.size(), expected.result.outputs.size());
  for (std::size_t i = 0; i < got.outputs.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got.outputs[i]),
              std::bit_cast<std::uint32_t>(expected.result.outputs[i]))
        << "element " << i;
  }
  EXPECT_EQ(got.fault, expected.result.fault.has_value());
  for (std::size_t c = 0; c < got.inputs.caches.size(); ++c) {
    for (std::size_t n = 0; n < got.inputs.caches[c].layers.size(); ++n) {
      const KvCache::Layer& layer = got.inputs.caches[c].layers[n];
      const KvCache::Layer& right = expected.inputs.caches[c].layers[n];
      EXPECT_EQ(layer.keys, right.keys);
      EXPECT_EQ(layer.values, right.values);
      EXPECT_EQ(layer.key_exponents, right.key_exponents);
      EXPECT_EQ(layer.value_exponents, right.value_exponents);
    }
  }
}

/// Lowers, sends the plan through its bytes and runs it on models of this many rows.
void expect_the_references_bits(const contract::Job& job, const Inputs& inputs, std::int64_t rows,
                                std::uint32_t seed) {
  const auto expected = contract::run(contract::lane_named("reference"), job, inputs);
  const std::string payload = serialise_plan(lower_programs(job.programs, engine_size(rows, rows)));
  const Plan plan = parse_plan(payload, "payload");
  EXPECT_EQ(serialise_plan(plan), payload);
  check_plan(plan, engine_size(rows, rows), job.identity.chips, *job.weights, "payload");
  expect_same(expected, run_on_models(plan, job, inputs, seed));
}

using Case = std::tuple<std::string, std::string>;  // family, cut

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::regex_replace(std::get<0>(info.param) + "_" + std::get<1>(info.param),
                            std::regex("[^a-z0-9]"), "_");
}

class LoweredCut : public testing::TestWithParam<Case> {};

TEST_P(LoweredCut, GivesTheReferencesBitsInstructionByInstruction) {
  const auto& [family, cut] = GetParam();
  const contract::Job job(family, cut, 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  for (const std::int64_t rows : {1, 8}) {
    for (std::uint32_t seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(fmt::format("{} rows, seed {}", rows, seed));
      expect_the_references_bits(job, inputs, rows, seed);
    }
  }
}

TEST_P(LoweredCut, GivesTheReferencesBitsOnSeveralBoards) {
  const auto& [family, cut] = GetParam();
  for (const std::int64_t chips : {2, 3, 4}) {
    if (chips > small_model(family).query_heads) continue;
    const contract::Job job(family, cut, chips);
    const Inputs inputs = contract::inputs_of(job, 5);
    for (const std::int64_t rows : {1, 8}) {
      SCOPED_TRACE(fmt::format("{} boards, {} rows", chips, rows));
      expect_the_references_bits(job, inputs, rows, static_cast<std::uint32_t>(chips));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, LoweredCut,
                         testing::Combine(testing::ValuesIn(contract::families()),
                                          testing::ValuesIn(contract::cuts())),
                         name_of_case);

/// What lowering a decode step over so many positions says; "" where it is lowered.
std::string refusal_of(std::int64_t query_heads, std::optional<std::int64_t> window,
                       std::int64_t positions) {
  ModelSpec spec = small_model("llama");
  spec.query_heads = query_heads;
  spec.key_heads = 1;
  spec.window = window;
  const Written text = written(spec, Cut::parse(fmt::format("decode:{}", positions)));
  try {
    lower_programs(read_genuine(text.text, "test", text.identity), engine_size(8, 8));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Lowering, RefusesMoreBoardsThanThereAreRowsWithBothNumbers) {
  const auto refusal = [](const ModelSpec& spec, const char* cut) -> std::string {
    const Written written = written_split(spec, Cut::parse(cut), 3);
    try {
      lower_programs(read_genuine(written.text, "test", written.identity), engine_size(8, 8));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  ModelSpec spec = small_model("qwen2");
  spec.vocabulary = 2;
  EXPECT_EQ(refusal(spec, "embedding@decode:5"),
            "d5005: boards: one of them would hold no rows of the embedding; got 3, want 2 at "
            "most");
  spec = small_model("qwen2");
  spec.hidden_columns = 2;
  EXPECT_EQ(refusal(spec, "layer:1@decode:5"),
            "d5005: boards: one of them would hold no hidden columns; got 3, want 2 at most");
}

TEST(Lowering, RefusesProfileBByName) {
  const contract::Job job("gguf", "decode:5", 1);
  EXPECT_EQ(error_of([&] { lower_programs(job.programs, engine_size(8, 8)); }),
            "d5005: lowering: weights of another profile; got B, want A");
}

TEST(Capacity, IsOfQueryHeadsInFoursAndOfWhatAWindowSees) {
  EXPECT_EQ(refusal_of(4, std::nullopt, 16384), "");
  EXPECT_NE(refusal_of(4, std::nullopt, 16385).find("positions of a cache"), std::string::npos);
  EXPECT_EQ(refusal_of(5, std::nullopt, 8192), "");
  EXPECT_NE(refusal_of(5, std::nullopt, 8193).find("got 8193"), std::string::npos);
  // A window is read from the begin of its first block of 128 on: up to 127 positions more.
  EXPECT_EQ(refusal_of(5, 8192 - 127, 100000), "");
  EXPECT_NE(refusal_of(5, 8192 - 126, 100000).find("got 8193"), std::string::npos);
  EXPECT_EQ(refusal_of(5, 9000, 8192), "");
}

TEST(SplitPlan, IsRefusedWhereItIsDamaged) {
  const contract::Job job("llama", "batch:11x4", 2);
  const EngineSize engine = engine_size(8, 8);
  const Plan plan = lower_programs(job.programs, engine);
  const auto refusal = [&](const std::function<void(Plan&)>& damage) -> std::string {
    Plan damaged = plan;
    damage(damaged);
    try {
      check_plan(parse_plan(serialise_plan(damaged), "plan"), engine, 2, *job.weights, "plan");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](Plan&) {}), "");
  const std::vector<std::function<void(Plan&)>> damages = {
      [](Plan& p) { p.exchanges.pop_back(); },
      [](Plan& p) { p.exchanges[0].kind = ExchangeKind::kSums; },
      [](Plan& p) { p.exchanges[0].pieces.pop_back(); },
      [](Plan& p) { p.exchanges[0].pieces[1].board = 0; },
      [](Plan& p) { p.exchanges[0].columns += 1; },
      [](Plan& p) { p.exchanges[1].pieces[0].columns = 2; },
      [](Plan& p) { p.exchanges[1].pieces[0].offset = p.host_units; },
      [](Plan& p) { p.exchanges[1].pieces[1].board = 2; },
      [](Plan& p) { p.exchanges[2].tensor = "another"; },
      [](Plan& p) { p.exchanges[2].pieces[0].first = 64; },
      [](Plan& p) { p.exchanges[2].pieces[0].columns += 1; },
      [](Plan& p) { p.boards[1].segments.pop_back(); },
      [](Plan& p) { p.boards[1].segments[1].first = 1 << 30; },
      [](Plan& p) { p.boards[1].segments[1].count = 1 << 30; },
      [](Plan& p) { p.boards[1].segments[1].count -= 1; },
      [](Plan& p) { p.boards[1].segments[1].copies = 1 << 30; },
      [](Plan& p) { p.boards[1].segments[1].base = 1 << 30; },
      [](Plan& p) { p.boards[1].peaks_base = 1 << 30; },
      [](Plan& p) { p.boards[1].sums_base = 1 << 30; },
      [](Plan& p) { p.boards[1].given_base = 1 << 30; },
      [](Plan& p) { p.boards[1].embeddings.clear(); },
      [](Plan& p) { p.boards[1].embeddings[0].first_row += 1; },
      [](Plan& p) { p.boards[1].embeddings[0].rows -= 1; },
      [](Plan& p) { p.boards.pop_back(); },
      [](Plan& p) { p.outputs.pop_back(); },
      [](Plan& p) { p.outputs[1].board = 2; },
      [](Plan& p) { p.outputs[1].first = 0; },
      [](Plan& p) { p.rows_are_held = true; }};
  for (std::size_t d = 0; d < damages.size(); ++d) {
    EXPECT_NE(refusal(damages[d]), "") << "damage " << d;
  }
}

TEST(InstructionWord, HasTheFieldsOfTheSystemVerilogPackage) {
  std::ifstream file(LOGOS_SOURCE_DIR "/rtl/design/engine_pkg.sv");
  std::stringstream text;
  text << file.rdbuf();
  std::string package = text.str();
  const std::size_t end = package.find("} instruction_t;");
  ASSERT_NE(end, std::string::npos);
  package = package.substr(0, end);
  package = package.substr(package.rfind("typedef struct packed {"));
  std::vector<std::pair<std::string, int>> fields;
  const std::regex field(R"(logic\s*(?:\[(\d+):0\])?\s+(\w+);)");
  for (std::sregex_iterator it(package.begin(), package.end(), field), last; it != last; ++it) {
    fields.emplace_back((*it)[2], (*it)[1].matched ? std::stoi((*it)[1]) + 1 : 1);
  }
  const auto ours = instruction_fields();
  ASSERT_EQ(fields.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(fields[fields.size() - 1 - i].first, ours[i].name);
    EXPECT_EQ(fields[fields.size() - 1 - i].second, ours[i].bits) << ours[i].name;
  }
}

TEST(InstructionWord, ComesBackFromItsBytes) {
  Instruction i;
  i.op = static_cast<std::uint32_t>(Op::kAttend);
  i.need = {1, 2, 3, 4, 255};
  i.line = 65535;
  i.chain = 1;
  i.columns = (1U << 20) - 1;
  i.stream_base = (1U << 28) - 1;
  i.epsilon = 0xDEADBEEF;
  i.fence_need = 200;
  i.apart = 255;
  EXPECT_EQ(decode(encode(i)), i);
  i.heads = 256;
  EXPECT_THROW(encode(i), std::exception);
}

}  // namespace
}  // namespace logos::d5005
