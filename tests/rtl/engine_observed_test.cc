#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "rtl/board/sim_transport.h"
#include "rtl/driver/driver.h"
#include "rtl/lowering/instruction.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/memory_image.h"
#include "rtl/lowering/observed.h"
#include "sim/ddr4/config.h"
#include "tests/rtl/observed_digests.h"

namespace logos::d5005 {
namespace {

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

/// What a run stores on the engine's SystemVerilog.
std::vector<std::byte> output_of(const Plan& run, const contract::Job& job, const Inputs& inputs,
                                 std::uint32_t stalls_of_256) {
  BoardParameters parameters;
  parameters.ddr4 = ddr4::read_board_channel(LOGOS_SOURCE_DIR "/configs/boards/d5005.json");
  BoardOptions options;
  options.fill.word = 0xA5A5A5A5;
  options.stalls_of_256 = stalls_of_256;
  SimTransport transport(make_board(run.engine.rows, run.engine.mac_rows, parameters, options));
  Driver driver(transport, run.engine);
  driver.reset();
  write_image(
      run, 0, *job.weights, inputs, job.identity, std::byte{0x5B},
      [&](std::int64_t at, std::span<const std::byte> bytes) { driver.write_memory(at, bytes); });
  std::vector<std::byte> output(static_cast<std::size_t>(run.host_units * 64));
  driver.run({run.boards.front().program_base, job.identity.sha256, table_of(run, inputs), output,
              std::nullopt});
  return output;
}

class EngineObserved : public testing::TestWithParam<Case> {};

TEST_P(EngineObserved, ShowsEveryOperationOfTheReference) {
  const auto& [family, cut] = GetParam();
  const contract::Job job(family, cut, 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  const Plan plan = lower_programs(job.programs, engine_size(8, 8));
  const ObservedPlan observed = observe(plan, inputs.positions);
  const auto expected = reference_digests(job, inputs);
  for (const std::uint32_t stalls : {0U, 48U}) {
    if (stalls != 0 && cut != "prefill:12") continue;  // the cut with most to go wrong
    SCOPED_TRACE(stalls);
    std::vector<std::vector<std::byte>> outputs;
    for (const Plan& run : observed.runs) outputs.push_back(output_of(run, job, inputs, stalls));
    LineDigests digests;
    hand_over(observed, outputs, inputs, digests);
    expect_same(expected, digests.digests());
  }
}

bool is(const Instruction& i, Op op) { return i.op == static_cast<std::uint32_t>(op); }

/// The program with each store of an attention's queries behind the attention's start, which it no
/// longer waits for: both read query memory at once. Says how many were moved.
int store_queries_beside_attention(std::vector<Instruction>* program) {
  constexpr auto kStoreUnit = static_cast<std::size_t>(Unit::kStore);
  int moved = 0;
  const std::size_t none = program->size();
  std::size_t store = none;
  for (std::size_t at = 0; at < program->size(); ++at) {
    const Instruction& i = (*program)[at];
    if (is(i, Op::kStore) && i.variant == static_cast<std::uint32_t>(StoreSource::kQuery)) {
      store = at;
    } else if (is(i, Op::kAttend) && store != none) {
      const auto first = program->begin() + static_cast<std::ptrdiff_t>(store);
      std::rotate(first, first + 1, program->begin() + static_cast<std::ptrdiff_t>(at) + 1);
      for (std::size_t k = store; k < at; ++k) --(*program)[k].need[kStoreUnit];
      store = none;
      ++moved;
    }
  }
  return moved;
}

TEST(EngineObservedAtOnce, StoresTheQueriesThatAttentionReads) {
  const contract::Job job("qwen3", "prefill:12", 1);  // whose heads have more than one word
  const Inputs inputs = contract::inputs_of(job, 3);
  ObservedPlan observed =
      observe(lower_programs(job.programs, engine_size(8, 8)), inputs.positions);
  int moved = 0;
  for (Plan& run : observed.runs) {
    moved += store_queries_beside_attention(&run.boards.front().program);
  }
  EXPECT_GT(moved, 0);
  const auto expected = reference_digests(job, inputs);
  for (const std::uint32_t stalls : {0U, 48U, 160U}) {
    SCOPED_TRACE(stalls);
    std::vector<std::vector<std::byte>> outputs;
    for (const Plan& run : observed.runs) outputs.push_back(output_of(run, job, inputs, stalls));
    LineDigests digests;
    hand_over(observed, outputs, inputs, digests);
    expect_same(expected, digests.digests());
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::regex_replace(info.param.family + "_" + info.param.cut, std::regex("[^a-z0-9]"), "_");
}
INSTANTIATE_TEST_SUITE_P(Cuts, EngineObserved, testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace logos::d5005
