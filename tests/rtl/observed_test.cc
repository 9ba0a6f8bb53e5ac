#include "rtl/lowering/observed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <regex>
#include <sstream>

#include "bench/bringup/instruction_model.h"
#include "program/error.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/memory_image.h"
#include "sim/dump.h"
#include "tests/rtl/model_run.h"
#include "tests/rtl/observed_digests.h"

namespace logos::d5005 {
namespace {

/// What may be wrong in a board's memory.
using Damage = std::function<void(const Plan& run, BoardMemory& memory)>;

/// The output buffer that a run leaves on the instruction model; what no store wrote is noise.
std::vector<std::byte> output_of(const Plan& run, const contract::Job& job, const Inputs& inputs,
                                 const Damage& damage) {
  BoardMemory memory(std::byte{0x5B});
  write_image(run, 0, *job.weights, inputs, job.identity, std::byte{0xA5},
              [&](std::int64_t at, std::span<const std::byte> bytes) { memory.write(at, bytes); });
  if (damage) damage(run, memory);
  InstructionModel model(run.engine, memory, 1);
  model.run(run.boards.front().program, table_of(run, inputs));
  std::vector<std::byte> output(static_cast<std::size_t>(run.host_units * 64), std::byte{0xC3});
  for (const auto& [line, bytes] : model.host()) {
    const auto at = static_cast<std::size_t>(line * 64);
    if (line < 0 || at + 64 > output.size()) throw Error("test", "a line outside the buffer");
    std::copy(bytes.begin(), bytes.end(), output.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return output;
}

void show(const ObservedPlan& observed, const contract::Job& job, const Inputs& inputs,
          Observer& observer, const Damage& damage = {}) {
  std::vector<std::vector<std::byte>> outputs;
  for (const Plan& run : observed.runs) outputs.push_back(output_of(run, job, inputs, damage));
  hand_over(observed, outputs, inputs, observer);
}

std::vector<LineDigest> digests_of(const ObservedPlan& observed, const contract::Job& job,
                                   const Inputs& inputs) {
  LineDigests digests;
  show(observed, job, inputs, digests);
  return digests.digests();
}

/// The same on as many models as the plan has boards.
void show_on_boards(const ObservedPlan& observed, const contract::Job& job, const Inputs& inputs,
                    Observer& observer) {
  std::vector<std::vector<std::byte>> outputs;
  for (const Plan& run : observed.runs) {
    for (auto& buffer : run_on_models(run, job, inputs, 1, true).buffers) {
      outputs.push_back(std::move(buffer));
    }
  }
  hand_over(observed, outputs, inputs, observer);
}

struct Case {
  std::string family;
  std::string cut;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.family << " " << c.cut; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& family : contract::families()) {
    for (const std::string& cut : contract::cuts()) all.push_back({family, cut});
  }
  return all;
}

class ObservedCut : public testing::TestWithParam<Case> {};

TEST_P(ObservedCut, ShowsEveryOperationOfTheReference) {
  const auto& [family, cut] = GetParam();
  const contract::Job job(family, cut, 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  const auto expected = reference_digests(job, inputs);
  for (const std::int64_t rows : {1, 8}) {
    SCOPED_TRACE(rows);
    const Plan plan = lower_programs(job.programs, engine_size(rows, rows));
    const ObservedPlan observed = observe(plan, inputs.positions);
    EXPECT_EQ(observed.runs.size(), 1U);
    expect_same(expected, digests_of(observed, job, inputs));
  }
}

TEST_P(ObservedCut, ShowsEveryOperationOfSeveralBoards) {
  const auto& [family, cut] = GetParam();
  for (const std::int64_t chips : {2, 3}) {
    const contract::Job job(family, cut, chips);
    const Inputs inputs = contract::inputs_of(job, 3);
    const auto expected = reference_digests(job, inputs);
    for (const std::int64_t rows : {1, 8}) {
      SCOPED_TRACE(testing::Message() << chips << " boards, " << rows << " rows");
      const Plan plan = lower_programs(job.programs, engine_size(rows, rows));
      const ObservedPlan observed = observe(plan, inputs.positions);
      LineDigests digests;
      show_on_boards(observed, job, inputs, digests);
      expect_same(expected, digests.digests());
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::regex_replace(info.param.family + "_" + info.param.cut, std::regex("[^a-z0-9]"), "_");
}
INSTANTIATE_TEST_SUITE_P(Cuts, ObservedCut, testing::ValuesIn(cases()), name_of_case);

/// A cut on an engine with other memories.
struct Small {
  explicit Small(const std::string& family, const std::string& cut, const EngineSize& engine)
      : job(family, cut, 1),
        inputs(contract::inputs_of(job, 5)),
        plan(lower_programs(job.programs, engine)) {}

  contract::Job job;
  Inputs inputs;
  Plan plan;
};

TEST(Observed, TakesAsManyRunsAsTheProgramMemoryAsksFor) {
  EngineSize engine = engine_size(8, 8);
  engine.instructions = 150;
  const Small small("qwen3", "prefill:12", engine);
  const ObservedPlan observed = observe(small.plan, small.inputs.positions);
  EXPECT_GT(observed.runs.size(), 2U);
  for (const Plan& run : observed.runs) {
    EXPECT_LE(static_cast<std::int64_t>(run.boards.front().program.size()), engine.instructions);
  }
  expect_same(reference_digests(small.job, small.inputs),
              digests_of(observed, small.job, small.inputs));
}

TEST(Observed, RunsAProductInPartsWhereItsResultsFindNoRoom) {
  EngineSize engine = engine_size(8, 8);
  engine.vector_words = 128;  // 4 for x, 12 for others a row: 96 of the 128 quads of gate and up
  const Small small("kjv", "prefill:12", engine);
  const ObservedPlan observed = observe(small.plan, small.inputs.positions);
  const auto pieces = std::max_element(
      observed.operations.begin(), observed.operations.end(),
      [](const auto& a, const auto& b) { return a.pieces.size() < b.pieces.size(); });
  EXPECT_EQ(pieces->pieces.size(), 2U);
  expect_same(reference_digests(small.job, small.inputs),
              digests_of(observed, small.job, small.inputs));
}

TEST(Observed, DumpsAsTheReferenceDoes) {
  for (const std::string cut : {"prefill:12", "batch:11x4", "head@prefill:7"}) {
    SCOPED_TRACE(cut);
    const Small small("mistral", cut, engine_size(8, 8));
    std::vector<std::int64_t> sequences(static_cast<std::size_t>(small.plan.rows), 0);
    if (small.plan.each_row_caches) std::iota(sequences.begin(), sequences.end(), 0);
    Dump expected, got;
    std::ostringstream expected_text, got_text;
    show_reference(small.job, small.inputs, expected);
    show(observe(small.plan, small.inputs.positions), small.job, small.inputs, got);
    expected.end_run(sequences, expected_text);
    got.end_run(sequences, got_text);
    EXPECT_EQ(expected_text.str(), got_text.str());
  }
}

TEST(Observed, NamesTheOperationWhoseWeightsAreDamaged) {
  const Small small("llama", "prefill:7", engine_size(8, 8));
  const ObservedPlan observed = observe(small.plan, small.inputs.positions);
  // The second super-beat of weights of the first layer's gate and up is the first of up: of the
  // stream, after the row scales, the multipliers and the two words of gate's first quad.
  const auto& matrices = small.plan.boards.front().matrices;
  const auto pairs = std::find_if(matrices.begin(), matrices.end(),
                                  [](const MatrixItem& m) { return m.parts.size() == 2; });
  ASSERT_NE(pairs, matrices.end());
  const Damage damage = [&](const Plan&, BoardMemory& memory) {
    const std::int64_t at = pairs->base + 4;
    memory.write_byte(at, 2, 5, memory.read(at)[2 * 64 + 5] ^ std::byte{0x20});
  };
  const auto divergence = first_divergence(
      [&](Observer& observer) { show_reference(small.job, small.inputs, observer); },
      [&](Observer& observer) { show(observed, small.job, small.inputs, observer, damage); },
      small.job.programs.front().lines);
  ASSERT_TRUE(divergence);
  EXPECT_EQ(divergence->name, "up");
  EXPECT_EQ(divergence->layer, 1);
  EXPECT_EQ(divergence->column, 2);
}

/// What `observe` says of a plan that it refuses.
std::string refusal_of(const Plan& plan, std::span<const std::int64_t> positions) {
  try {
    observe(plan, positions);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Observed, RefusesWhatTheEngineCannotShow) {
  const Small small("qwen2", "prefill:7", engine_size(8, 8));
  const auto& positions = small.inputs.positions;
  Plan plan = small.plan;
  plan.engine.instructions = static_cast<std::int64_t>(plan.boards.front().program.size()) + 20;
  EXPECT_NE(refusal_of(plan, positions).find("what shows one operation"), std::string::npos);
  plan = small.plan;
  plan.boards.push_back(plan.boards.front());
  EXPECT_NE(refusal_of(plan, positions).find("boards"), std::string::npos);
  plan = small.plan;
  plan.engine.vector_words = 0;
  EXPECT_NE(refusal_of(plan, positions).find("words of vector memory"), std::string::npos);
  plan = small.plan;
  plan.engine.super_beats = plan.boards.front().super_beats;
  EXPECT_NE(refusal_of(plan, positions).find("super-beats of DDR"), std::string::npos);
}

TEST(Observed, RefusesDamagedPlans) {
  const Small small("qwen2", "prefill:7", engine_size(8, 8));
  const auto& positions = small.inputs.positions;
  Plan plan = small.plan;
  plan.lines.pop_back();
  plan.boards.front().program.front().line = static_cast<std::uint32_t>(plan.lines.size());
  EXPECT_NE(refusal_of(plan, positions).find("an operation that is none"), std::string::npos);
  plan = small.plan;
  for (Instruction& i : plan.boards.front().program) {
    if (i.op == static_cast<std::uint32_t>(Op::kHeads)) i.apart = 255;
  }
  EXPECT_NE(refusal_of(plan, positions).find("an operation that is none"), std::string::npos);
  plan = small.plan;
  for (PlanLine& line : plan.lines) {
    if (line.name == "silu_times") line.name = "silu";
  }
  EXPECT_NE(refusal_of(plan, positions).find("silu_times of layer 1"), std::string::npos);
  plan = small.plan;
  plan.lines.push_back({2, 9, "gate"});
  plan.lines.push_back({0, 9, "another"});
  EXPECT_NE(refusal_of(plan, positions).find("no instruction shows"), std::string::npos);
  plan = small.plan;
  plan.boards.front().matrices.clear();
  EXPECT_NE(refusal_of(plan, positions).find("a product of no matrix"), std::string::npos);
  plan = small.plan;
  auto& program = plan.boards.front().program;
  const auto attend = std::find_if(program.begin(), program.end(), [](const Instruction& i) {
    return i.op == static_cast<std::uint32_t>(Op::kAttend);
  });
  ASSERT_NE(attend, program.end());
  attend->heads = 255;
  program.insert(attend, 2000, Instruction(*attend));
  EXPECT_NE(refusal_of(plan, positions).find("instructions that show"), std::string::npos);
  plan = small.plan;
  plan.engine.rows = 1000000;
  EXPECT_NE(refusal_of(plan, positions).find("rows of a pass"), std::string::npos);
}

TEST(Observed, RefusesAnOutputBufferThatIsTooSmall) {
  const Small small("llama", "layer:1@decode:5", engine_size(8, 8));
  const ObservedPlan observed = observe(small.plan, small.inputs.positions);
  LineDigests digests;
  std::vector<std::vector<std::byte>> outputs = {std::vector<std::byte>(64)};
  EXPECT_THROW(hand_over(observed, outputs, small.inputs, digests), Error);
  outputs = {output_of(observed.runs.front(), small.job, small.inputs, {})};
  EXPECT_NO_THROW(hand_over(observed, outputs, small.inputs, digests));
  outputs.front().resize(outputs.front().size() - 64);
  EXPECT_THROW(hand_over(observed, outputs, small.inputs, digests), Error);
}

}  // namespace
}  // namespace logos::d5005
