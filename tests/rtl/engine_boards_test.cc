// Split programs on several simulated boards: the bits of one chip, whatever the boards do.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <ostream>
#include <vector>

#include "rtl/board/board_config.h"
#include "rtl/board/sim_transport.h"
#include "rtl/driver/plan_runner.h"
#include "rtl/lowering/lowering.h"
#include "tests/contract/contract.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kRows = 8;

struct BoardsRun {
  PlanOutcome outcome;
  Inputs inputs;  ///< with what was pushed
};

BoardsRun run_on_boards(const contract::Job& job, const Inputs& inputs, std::uint32_t stalls_of_256,
                        const PlanRunOptions& options = {}) {
  const Plan plan = lower_programs(job.programs, engine_size(kRows, kRows));
  std::deque<SimTransport> transports;
  std::deque<Driver> drivers;
  std::vector<Driver*> boards;
  for (std::size_t b = 0; b < plan.boards.size(); ++b) {
    BoardOptions board;
    board.seed = 1 + b;
    board.stalls_of_256 = stalls_of_256;
    board.fill.noise = true;
    board.fill.seed = 7 * b + 3;
    transports.emplace_back(make_board(
        kRows, kRows, load_board(LOGOS_SOURCE_DIR "/configs/boards/d5005.json", {}), board));
    boards.push_back(&drivers.emplace_back(transports.back(), plan.engine));
  }
  BoardsRun run{{}, inputs};
  run.outcome = run_plan(plan, boards, *job.weights, job.identity, run.inputs, options);
  return run;
}

/// The reference's outputs and caches, and cycles that add up.
void expect_reference(const contract::Job& job, std::uint32_t stalls_of_256) {
  const Inputs inputs = contract::inputs_of(job, 3);
  const auto expected = contract::run(contract::lane_named("reference"), job, inputs);
  const BoardsRun got = run_on_boards(job, inputs, stalls_of_256);
  ASSERT_EQ(got.outcome.outputs.size(), expected.result.outputs.size());
  EXPECT_EQ(std::memcmp(got.outcome.outputs.data(), expected.result.outputs.data(),
                        got.outcome.outputs.size() * sizeof(float)),
            0);
  for (std::size_t c = 0; c < inputs.caches.size(); ++c) {
    for (std::size_t n = 0; n < inputs.caches[c].layers.size(); ++n) {
      EXPECT_EQ(got.inputs.caches[c].layers[n].keys, expected.inputs.caches[c].layers[n].keys);
      EXPECT_EQ(got.inputs.caches[c].layers[n].values, expected.inputs.caches[c].layers[n].values);
    }
  }
  EXPECT_FALSE(got.outcome.counters.fault_line);
  std::uint64_t sum = 0;
  for (const std::uint64_t cycles : got.outcome.counters.by_category) sum += cycles;
  EXPECT_EQ(sum, got.outcome.counters.cycles);
}

struct Case {
  const char* family;
  const char* cut;
  std::int64_t chips;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.family << " " << c.cut << " over " << c.chips << " boards";
}

class EngineBoardsCut : public testing::TestWithParam<Case> {};

TEST_P(EngineBoardsCut, GivesTheReferencesBits) {
  const Case& c = GetParam();
  expect_reference(contract::Job(c.family, c.cut, c.chips), 0);
}

// Those of the other families have key heads that two boards share, and shares that cut a group.
INSTANTIATE_TEST_SUITE_P(
    Cuts, EngineBoardsCut,
    testing::Values(Case{"kjv", "layer:1@decode:9", 2}, Case{"kjv", "layer:2@prefill:11", 4},
                    Case{"kjv", "batch:11x4", 2}, Case{"kjv", "embedding@prefill:7", 4},
                    Case{"kjv", "head@batch:3x4", 4}, Case{"kjv", "decode:9", 4},
                    Case{"llama", "prefill:12", 3}, Case{"mistral", "prefill:12", 3},
                    Case{"qwen2", "prefill:12", 3}, Case{"qwen3", "prefill:12", 3}));

TEST(EngineBoards, ComputeWhileEveryChannelStalls) {
  expect_reference(contract::Job("kjv", "decode:9", 2), 60);
  expect_reference(contract::Job("qwen2", "layer:1@decode:5", 2), 128);
}

TEST(EngineBoards, TakeTheSameCyclesAgainAndTimeForTheirExchanges) {
  const contract::Job job("kjv", "layer:1@decode:9", 2);
  const Inputs inputs = contract::inputs_of(job, 3);
  const BoardsRun first = run_on_boards(job, inputs, 60);
  const BoardsRun again = run_on_boards(job, inputs, 60);
  EXPECT_EQ(first.outcome.counters.cycles, again.outcome.counters.cycles);
  // A layer has four exchanges; the answer to a copy's first read takes 800 ns, 240 cycles.
  const auto movement = static_cast<std::size_t>(Category::kMovement);
  EXPECT_GT(first.outcome.counters.by_category[movement], 4U * 240U);
  EXPECT_GT(first.outcome.exchanged_bytes, 0U);
}

}  // namespace
}  // namespace logos::d5005
