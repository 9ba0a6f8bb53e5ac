#include "rtl/lowering/lowering.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include "program/genuine.h"
#include "rtl/lowering/memory_image.h"
#include "tests/contract/contract.h"
#include "bench/bringup/instruction_model.h"

namespace logos::d5005 {
namespace {

/// A run of a plan on the instruction model.
struct ModelRun {
  std::vector<float> outputs;
  bool fault = false;
  Inputs inputs;  ///< with what was pushed
};

ModelRun run_model(const Plan& plan, const contract::Job& job, const Inputs& inputs,
                   std::uint32_t seed) {
  BoardMemory memory(std::byte{0x5B});
  const BoardPlan& board = plan.boards.front();
  write_image(plan, 0, *job.weights, inputs, job.identity, std::byte{0xA5},
              [&](std::int64_t at, std::span<const std::byte> bytes) { memory.write(at, bytes); });
  std::vector<TableRow> table(static_cast<std::size_t>(plan.rows));
  for (std::size_t r = 0; r < table.size(); ++r) {
    if (plan.has_tokens) table[r].token = static_cast<std::uint32_t>(inputs.tokens[r] - 1);
    if (plan.has_positions) table[r].position = static_cast<std::uint32_t>(inputs.positions[r] - 1);
  }
  InstructionModel model(plan.engine, memory, seed);
  model.run(board.program, table);
  ModelRun run{{}, model.fault(), inputs};
  read_pushed(
      plan, 0,
      [&](std::int64_t at, std::span<std::byte> bytes) {
        const auto& beat = memory.read(at);
        std::copy(beat.begin(), beat.end(), bytes.begin());
      },
      run.inputs);
  run.outputs.resize(static_cast<std::size_t>(plan.output_rows * plan.output_columns));
  for (const OutputPiece& piece : plan.outputs) {
    const std::int64_t lines = (piece.columns + 15) / 16;
    for (std::int64_t t = 0; t < plan.output_rows; ++t) {
      for (std::int64_t c = 0; c < piece.columns; ++c) {
        const auto& line = model.host().at(piece.offset + t * lines + c / 16);
        std::memcpy(
            &run.outputs[static_cast<std::size_t>(t * plan.output_columns + piece.first + c)],
            line.data() + c % 16 * 4, 4);
      }
    }
  }
  return run;
}

struct Case {
  std::string family;
  std::string cut;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.family << " " << c.cut; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const contract::Family& family : contract::families()) {
    for (const std::string& cut : contract::cuts()) all.push_back({family.name, cut});
  }
  return all;
}

class LoweredCut : public testing::TestWithParam<Case> {};

TEST_P(LoweredCut, GivesTheReferencesBitsInstructionByInstruction) {
  const auto& [family, cut] = GetParam();
  const contract::Job job(family, cut, 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  const auto expected = contract::run(contract::lane_named("reference"), job, inputs);
  for (const std::int64_t rows : {1, 8}) {
    SCOPED_TRACE(rows);
    const Plan lowered = lower_programs(job.programs, engine_size(rows, rows));
    const std::string payload = serialise_plan(lowered);
    const Plan plan = parse_plan(payload, "payload");
    EXPECT_EQ(serialise_plan(plan), payload);
    for (std::uint32_t seed = 1; seed <= 2; ++seed) {
      const ModelRun got = run_model(plan, job, inputs, seed);
      ASSERT_EQ(got.outputs.size(), expected.result.outputs.size());
      for (std::size_t i = 0; i < got.outputs.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got.outputs[i]),
                  std::bit_cast<std::uint32_t>(expected.result.outputs[i]))
            << "element " << i << ", seed " << seed;
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
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::regex_replace(info.param.family + "_" + info.param.cut, std::regex("[^a-z0-9]"), "_");
}
INSTANTIATE_TEST_SUITE_P(Cuts, LoweredCut, testing::ValuesIn(cases()), name_of_case);

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
  EXPECT_EQ(decode(encode(i)), i);
  i.heads = 256;
  EXPECT_THROW(encode(i), std::exception);
}

}  // namespace
}  // namespace logos::d5005
