#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "Vdispatcher_model.h"
#include "rtl/lowering/instruction.h"
#include "tests/rtl/shell_random.h"

namespace logos::d5005 {
namespace {

constexpr std::uint32_t kRows = 8;

/// An instruction as it must reach its unit, and the counts of its pass that it must wait for.
struct Expected {
  Instruction instruction;
  std::uint32_t pass = 0;
  std::uint32_t row = 0;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::array<std::uint32_t, kUnits> need{};
};

/// `needs`: the whole counts that each instruction waits for.
struct TestProgram {
  std::vector<Instruction> instructions;
  std::vector<std::array<std::uint32_t, kUnits>> needs;
};

Instruction make(Op op) {
  Instruction i;
  i.op = static_cast<std::uint32_t>(op);
  return i;
}

/// Random instructions that need what lies in front of them, near or far.
TestProgram random_program(Random& random, int length) {
  static constexpr Op kOps[] = {Op::kNorm,  Op::kProduct, Op::kHeads,   Op::kAttend,
                                Op::kStore, Op::kProduct, Op::kQuantize};
  TestProgram program;
  std::array<std::uint32_t, kUnits> given{};
  for (int index = 0; index < length; ++index) {
    Instruction i = make(kOps[random() % std::size(kOps)]);
    i.source = random() % 1000;
    i.source_stride = random() % 100;
    i.last_row = random.chance(10);
    i.chain = random.chance(40);
    std::array<std::uint32_t, kUnits> need{};
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      const std::uint32_t back = random.chance(50) ? random() % 3 : random() % 250;
      need[unit] = given[unit] - std::min(given[unit], back);
      i.need[unit] = static_cast<std::uint8_t>(need[unit]);
    }
    ++given[static_cast<std::size_t>(unit_of(static_cast<Op>(i.op)))];
    program.instructions.push_back(i);
    program.needs.push_back(need);
  }
  program.instructions.push_back(make(Op::kEnd));
  program.needs.push_back({});
  return program;
}

class DispatcherBench {
 public:
  DispatcherBench(TestProgram program, std::uint32_t rows, std::uint32_t seed)
      : program_(std::move(program)), rows_(rows), random_(seed) {
    for (std::uint32_t row = 0; row < rows; ++row) positions_.push_back(random_());
    for (std::uint32_t first = 0, pass = 0; first < rows; first += kRows, ++pass)
      expect(first, pass);
    dispatcher.rst_ni = 0;
    dispatcher.eval();
    clock();
    dispatcher.rst_ni = 1;
    dispatcher.quiet_i = 1;
    dispatcher.rows_total_i = static_cast<std::uint16_t>(rows);
    dispatcher.start_i = 1;
    clock();
    dispatcher.start_i = 0;
  }

  void step() {
    dispatcher.program_ready_i = random_.chance(80);
    dispatcher.table_ready_i = random_.chance(80);
    dispatcher.start_ready_i = 0;
    dispatcher.done_i = 0;
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      Unit& of = units_[unit];
      // Up to two at work at once, as a unit that drains one while it begins the next.
      if (of.running < 2 && random_.chance(50)) {
        dispatcher.start_ready_i = static_cast<std::uint8_t>(dispatcher.start_ready_i | 1U << unit);
      }
      if (of.running > 0 && !frozen && random_.chance(20)) {
        dispatcher.done_i = static_cast<std::uint8_t>(dispatcher.done_i | 1U << unit);
      }
    }
    dispatcher.eval();
    answer();
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      Unit& of = units_[unit];
      if ((dispatcher.start_valid_o & dispatcher.start_ready_i) >> unit & 1) check_start(unit);
      if (dispatcher.done_i >> unit & 1) {
        --of.running;
        ++of.ended;
        take_skipped(unit);
      }
    }
    finished |= dispatcher.finished_o != 0;
    illegal |= dispatcher.illegal_o != 0;
    clock();
  }

  std::size_t left() const {
    std::size_t sum = 0;
    for (const Unit& unit : units_) sum += unit.expected.size();
    return sum;
  }

  Vdispatcher_model dispatcher;
  bool finished = false;
  bool illegal = false;
  bool frozen = false;  ///< no unit ends anything
  unsigned early = 0;   ///< chained starts before the producer's end

 private:
  struct Unit {
    std::deque<Expected> expected;
    unsigned running = 0;
    std::uint32_t ended = 0;  // of this pass, skipped ones included
    std::uint32_t pass = 0;
  };

  void clock() {
    dispatcher.clk_i = 1;
    dispatcher.eval();
    dispatcher.clk_i = 0;
    dispatcher.eval();
  }

  void expect(std::uint32_t first, std::uint32_t pass) {
    const std::uint32_t rows = std::min(kRows, rows_ - first);
    const bool last = first + kRows >= rows_;
    for (std::size_t index = 0; index < program_.instructions.size(); ++index) {
      const Instruction& i = program_.instructions[index];
      if (static_cast<Op>(i.op) == Op::kEnd) break;
      Expected e{i, pass, 0, first, rows, program_.needs[index]};
      if (i.last_row != 0) {
        if (!last) e.rows = 0;  // passed by
        if (last) {
          e.row = rows - 1;
          e.first_row = first + rows - 1;
          e.rows = 1;
          e.instruction.source = (i.source + e.row * i.source_stride) & 0xFFFF;
        }
      }
      units_[static_cast<std::size_t>(unit_of(static_cast<Op>(i.op)))].expected.push_back(e);
    }
  }

  /// Instructions of a pass that is not theirs count as ended in their turn.
  void take_skipped(std::size_t unit) {
    Unit& of = units_[unit];
    while (of.running == 0 && !of.expected.empty() && of.expected.front().rows == 0 &&
           of.expected.front().pass == of.pass) {
      of.expected.pop_front();
      ++of.ended;
    }
  }

  void check_start(std::size_t unit) {
    Unit& of = units_[unit];
    for (std::size_t other = 0; other < kUnits; ++other) take_skipped(other);
    ASSERT_FALSE(of.expected.empty());
    const Expected e = of.expected.front();
    of.expected.pop_front();
    ASSERT_NE(e.rows, 0U);
    if (e.pass != pass_) {
      for (std::size_t other = 0; other < kUnits; ++other) {
        ASSERT_EQ(units_[other].running, 0U) << "a pass begins before the one before has ended";
        ASSERT_TRUE(units_[other].expected.empty() ||
                    units_[other].expected.front().pass >= e.pass || other == unit);
        units_[other].ended = 0;
        units_[other].pass = e.pass;
        take_skipped(other);
      }
      pass_ = e.pass;
    }
    const auto bytes = encode(e.instruction);
    const std::array<const void*, kUnits> instructions{
        &dispatcher.rows_instruction_o[0], &dispatcher.product_instruction_o[0],
        &dispatcher.heads_instruction_o[0], &dispatcher.attend_instruction_o[0],
        &dispatcher.store_instruction_o[0]};
    const std::array<std::uint32_t, kUnits> passes{
        dispatcher.rows_pass_o, dispatcher.product_pass_o, dispatcher.heads_pass_o,
        dispatcher.attend_pass_o, dispatcher.store_pass_o};
    ASSERT_EQ(std::memcmp(instructions[unit], bytes.data(), bytes.size()), 0);
    ASSERT_EQ(passes[unit], e.rows | e.first_row << 6 | std::uint64_t{e.row} << 22);
    ASSERT_EQ(dispatcher.pass_o, e.pass);
    for (std::uint32_t row = 0; row < std::min(kRows, rows_ - e.pass * kRows); ++row) {
      ASSERT_EQ(dispatcher.positions_o[row], positions_[e.pass * kRows + row]);
    }
    for (std::size_t other = 0; other < kUnits; ++other) {
      const bool chained =
          e.instruction.chain != 0 && ((unit == 1 && other == 0) || (unit == 2 && other == 1));
      const std::uint32_t ended = units_[other].ended;
      ASSERT_GE(ended + (chained ? 1 : 0), e.need[other]) << "unit " << unit << " of " << other;
      if (chained && ended + 1 == e.need[other]) ++early;
    }
    ++of.running;
  }

  void answer() {
    const auto asked = [](bool valid, std::uint32_t address) {
      return valid ? std::optional<std::uint32_t>(address) : std::nullopt;
    };
    program_asked_.push_back(asked(dispatcher.program_valid_o && dispatcher.program_ready_i,
                                   dispatcher.program_address_o));
    table_asked_.push_back(
        asked(dispatcher.table_valid_o && dispatcher.table_ready_i, dispatcher.table_address_o));
    dispatcher.program_data_valid_i = 0;
    dispatcher.table_data_valid_i = 0;
    dispatcher.table_data_i = random_.wide();
    for (std::size_t word = 0; word < 16; ++word) dispatcher.program_data_i[word] = random_();
    if (program_asked_.size() > 2) {
      if (program_asked_.front()) {
        ASSERT_LT(*program_asked_.front(), program_.instructions.size());
        const Instruction& i = program_.instructions[*program_asked_.front()];
        if (i.op == 0xFF) {
          dispatcher.program_data_i[0] = 0xFF;
        } else {
          const auto bytes = encode(i);
          std::memcpy(&dispatcher.program_data_i[0], bytes.data(), bytes.size());
        }
        dispatcher.program_data_valid_i = 1;
      }
      program_asked_.pop_front();
    }
    if (table_asked_.size() > 2) {
      if (table_asked_.front()) {
        ASSERT_LT(*table_asked_.front(), positions_.size());
        dispatcher.table_data_i = std::uint64_t{positions_[*table_asked_.front()]} << 32;
        dispatcher.table_data_valid_i = 1;
      }
      table_asked_.pop_front();
    }
    dispatcher.eval();
  }

  TestProgram program_;
  std::uint32_t rows_;
  Random random_;
  std::vector<std::uint32_t> positions_;
  std::array<Unit, kUnits> units_;
  std::uint32_t pass_ = 0;
  std::deque<std::optional<std::uint32_t>> program_asked_;
  std::deque<std::optional<std::uint32_t>> table_asked_;
};

TEST(Dispatcher, StartsEachInstructionInOrderWhenWhatItNeedsHasEnded) {
  unsigned early = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::uint32_t rows = 1 + random() % 30;
    DispatcherBench bench(random_program(random, seed <= 2 ? 1500 : 120), rows, seed);
    for (int cycle = 0; cycle < 300000 && !bench.finished; ++cycle) {
      bench.step();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "cycle " << cycle;
    }
    ASSERT_TRUE(bench.finished);
    EXPECT_FALSE(bench.illegal);
    EXPECT_FALSE(bench.dispatcher.running_o);
    early += bench.early;
  }
  EXPECT_GT(early, 20U);
}

TEST(Dispatcher, WaitsAtTheEndForAllThatIsStillToCome) {
  TestProgram program{{make(Op::kNorm), make(Op::kEnd)}, {{}, {}}};
  DispatcherBench bench(program, 1, 1);
  bench.dispatcher.quiet_i = 0;
  for (int cycle = 0; cycle < 300; ++cycle) bench.step();
  EXPECT_EQ(bench.left(), 0U);
  EXPECT_FALSE(bench.finished);
  EXPECT_TRUE(bench.dispatcher.running_o);
  bench.dispatcher.quiet_i = 1;
  for (int cycle = 0; cycle < 10; ++cycle) bench.step();
  EXPECT_TRUE(bench.finished);
}

TEST(Dispatcher, HaltsAtAnUnknownOp) {
  Instruction unknown;
  unknown.op = 0xFF;
  TestProgram program{{make(Op::kNorm), unknown, make(Op::kNorm), make(Op::kEnd)},
                      {{}, {}, {}, {}}};
  DispatcherBench bench(program, 1, 1);
  for (int cycle = 0; cycle < 300; ++cycle) bench.step();
  EXPECT_TRUE(bench.illegal);
  EXPECT_FALSE(bench.finished);
  EXPECT_FALSE(bench.dispatcher.running_o);
  EXPECT_EQ(bench.dispatcher.state_o, 15);
}

TEST(Dispatcher, StartsNothingMoreOnceHalted) {
  TestProgram program;
  for (int count = 0; count < 20; ++count) {
    program.instructions.push_back(make(Op::kNorm));
    program.needs.push_back({});
  }
  program.instructions.push_back(make(Op::kEnd));
  program.needs.push_back({});
  DispatcherBench bench(program, 1, 1);
  for (int cycle = 0; cycle < 60; ++cycle) bench.step();
  bench.dispatcher.halt_i = 1;
  for (int cycle = 0; cycle < 5; ++cycle) bench.step();
  const std::size_t left = bench.left();
  EXPECT_GT(left, 0U);
  bench.dispatcher.halt_i = 0;
  for (int cycle = 0; cycle < 300; ++cycle) bench.step();
  EXPECT_EQ(bench.left(), left);
  EXPECT_FALSE(bench.finished);
}

}  // namespace
}  // namespace logos::d5005
