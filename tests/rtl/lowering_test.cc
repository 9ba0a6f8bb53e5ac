#include "rtl/lowering/lowering.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include "program/genuine.h"
#include "rtl/lowering/layout.h"
#include "sim/reference/reference_lane.h"
#include "sim/weights/rotary_table.h"
#include "tests/contract/contract.h"
#include "tests/rtl/instruction_model.h"

namespace logos::d5005 {
namespace {

/// A run of a plan on the instruction model.
struct ModelRun {
  std::vector<float> outputs;
  bool fault = false;
};

void put(BoardMemory& memory, std::int64_t at, std::span<const std::byte> bytes) {
  memory.write(at, bytes);
}

/// Writes what a run finds in the memory of a board: weights, rotary rows, caches, given rows.
void fill_memory(const Plan& plan, const BoardPlan& board, const WeightStore& weights,
                 const Inputs& inputs, const Identity& identity, BoardMemory& memory) {
  const std::byte fill{0xA5};
  const SuperBeatSink sink = [&](std::int64_t at, std::span<const std::byte> bytes) {
    put(memory, at, bytes);
  };
  for (const MatrixItem& item : board.matrices) write_matrix(item, weights, fill, sink);
  for (const GainItem& item : board.gains) write_gain(item, weights, fill, sink);
  for (const EmbeddingItem& item : board.embeddings) write_embedding(item, weights, fill, sink);
  write_program(board.program_base, identity.sha256, 0, 1, board.program, sink);
  if (plan.has_given) {
    for (std::int64_t r = 0; r < plan.rows; ++r) {
      write_row(board.given_base + r * row_beats(plan.columns),
                std::span(inputs.given)
                    .subspan(static_cast<std::size_t>(r * plan.columns),
                             static_cast<std::size_t>(plan.columns)),
                fill, sink);
    }
  }
  if (board.caches.empty()) return;
  const RotaryTable table = rotary_table(plan.rotary, plan.head_columns, inputs.positions);
  for (std::size_t r = 0; r < inputs.positions.size(); ++r) {
    std::vector<float> row;
    for (std::int64_t p = 0; p < table.pairs; ++p) {
      const auto at = r * static_cast<std::size_t>(table.pairs) + static_cast<std::size_t>(p);
      row.push_back(table.cosines[at]);
      row.push_back(table.sines[at]);
    }
    write_row(board.rotary_base + (inputs.positions[r] - 1) * rotary_beats(plan.head_columns), row,
              fill, sink);
  }
  for (const CacheItem& item : board.caches) {
    for (std::size_t c = 0; c < inputs.caches.size(); ++c) {
      const KvCache& cache = inputs.caches[c];
      const KvCache::Layer& layer = cache.layer(item.layer);
      for (std::int64_t head = 0; head < item.heads; ++head) {
        const std::int64_t base =
            item.base + static_cast<std::int64_t>(c) * item.row_stride + head * item.head_stride;
        for (std::int64_t p = 0; p < cache.positions; ++p) {
          const CachePlace place = cache_place(item, plan.head_columns, p);
          const auto at = static_cast<std::size_t>(p * cache.heads + item.first_head + head);
          memory.write_byte(base + place.exponents, place.bank, place.exponent_byte,
                            static_cast<std::byte>(layer.key_exponents[at]));
          memory.write_byte(base + place.exponents, place.bank, place.exponent_byte + 1,
                            static_cast<std::byte>(layer.value_exponents[at]));
          for (std::int64_t i = 0; i < plan.head_columns; ++i) {
            const std::size_t from =
                at * static_cast<std::size_t>(plan.head_columns) + static_cast<std::size_t>(i);
            const auto byte = static_cast<int>(i % 32 * 2);
            const auto key = static_cast<std::uint16_t>(layer.keys[from]);
            const auto value = static_cast<std::uint16_t>(layer.values[from]);
            for (int half = 0; half < 2; ++half) {
              memory.write_byte(base + place.keys + i / 32, place.bank, byte + half,
                                static_cast<std::byte>(key >> (8 * half)));
              memory.write_byte(base + place.values + i / 32, place.bank, byte + half,
                                static_cast<std::byte>(value >> (8 * half)));
            }
          }
        }
      }
    }
  }
}

ModelRun run_model(const Plan& plan, const contract::Job& job, const Inputs& inputs,
                   std::uint32_t seed) {
  BoardMemory memory(std::byte{0x5B});
  const BoardPlan& board = plan.boards.front();
  fill_memory(plan, board, *job.weights, inputs, job.identity, memory);
  std::vector<TableRow> table(static_cast<std::size_t>(plan.rows));
  for (std::size_t r = 0; r < table.size(); ++r) {
    if (plan.has_tokens) table[r].token = static_cast<std::uint32_t>(inputs.tokens[r] - 1);
    if (plan.has_positions) table[r].position = static_cast<std::uint32_t>(inputs.positions[r] - 1);
  }
  InstructionModel model(plan.engine, memory, seed);
  model.run(board.program, table);
  ModelRun run;
  run.fault = model.fault();
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
