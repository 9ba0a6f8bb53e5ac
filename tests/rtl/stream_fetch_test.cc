#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "Vstream_fetch_model.h"
#include "rtl/lowering/instruction.h"
#include "tests/rtl/shell_random.h"

namespace logos::d5005 {
namespace {

constexpr std::uint32_t kRows = 8;
constexpr std::uint32_t kFifoBeats = 1024;
constexpr std::uint32_t kMask = (1U << 28) - 1;

struct Range {
  unsigned unit = 0;
  std::uint32_t address = 0;
  std::uint32_t count = 0;
};

struct TableRow {
  std::uint32_t token = 0;
  std::uint32_t position = 0;
};

/// The ranges of a run, from the layouts of rtl/README.md.
std::vector<Range> expected_ranges(const std::vector<Instruction>& program,
                                   const std::vector<TableRow>& table, std::uint32_t rows_total) {
  std::vector<Range> all;
  for (std::uint32_t first = 0; first < rows_total; first += kRows) {
    const std::uint32_t rows = std::min(kRows, rows_total - first);
    const bool last_pass = first + kRows >= rows_total;
    for (const Instruction& i : program) {
      const Op op = static_cast<Op>(i.op);
      if (op == Op::kEnd) break;
      if (i.last_row != 0 && !last_pass) continue;
      const auto put = [&](std::uint32_t address, std::uint32_t count) {
        if (count != 0) {
          all.push_back({static_cast<unsigned>(unit_of(op)), address & kMask, count});
        }
      };
      std::uint32_t begin = 0;
      std::uint32_t end = rows;
      if (i.last_row != 0) begin = rows - 1;
      if (op == Op::kAttend && i.only_row != 0) {
        begin = i.only_row - 1;
        end = i.only_row > rows ? 0 : i.only_row;
      }
      const std::uint32_t key_beats = (i.head_columns + 31) / 32;
      std::optional<Range> values;
      for (std::uint32_t row = begin; row < end; ++row) {
        const std::uint32_t t = first + row;
        switch (op) {
          case Op::kLoad:
          case Op::kScale:
            put(i.stream_base + t * i.stream_beats, i.stream_beats);
            break;
          case Op::kEmbed:
            put(i.stream_base + table[t].token * i.stream_beats, i.stream_beats);
            break;
          case Op::kRotary:
            put(i.stream_base + table[t].position * i.stream_beats, i.stream_beats);
            break;
          case Op::kAttend: {
            const std::uint32_t p = table[t].position;
            const std::uint32_t from = i.window != 0 && p + 1 > i.window ? p + 1 - i.window : 0;
            const std::uint32_t block = from / 128;
            for (std::uint32_t head = i.first_head; head < i.first_head + i.heads; ++head) {
              const std::uint32_t base =
                  i.cache_base + t * i.cache_row_stride + head * i.cache_head_stride;
              std::uint32_t keys = 0;
              std::uint32_t values_count = 0;
              for (std::uint32_t b = block; b <= p / 128; ++b) {
                const std::uint32_t slots = b == p / 128 ? p % 128 / 4 + 1 : 32;
                keys += 1 + slots * key_beats;
                values_count += slots * key_beats;
              }
              put(base + block * (1 + 32 * key_beats), keys);
              if (values) put(values->address, values->count);
              if (i.target == 0) {
                values = Range{3, base + i.values_offset + block * 32 * key_beats, values_count};
              }
            }
            break;
          }
          default:
            break;
        }
      }
      if (values) put(values->address, values->count);
      if (op == Op::kGain || op == Op::kProduct) put(i.stream_base, i.stream_beats);
      if (op == Op::kPeak) put(i.stream_base + first + begin, end - begin);
    }
  }
  return all;
}

class FetchBench {
 public:
  FetchBench(std::vector<Instruction> program, std::vector<TableRow> table, std::uint32_t seed)
      : program_(std::move(program)), table_(std::move(table)), random_(seed) {
    fetch.rst_ni = 0;
    fetch.eval();  // an edge is one from here on
    clock();
    fetch.rst_ni = 1;
    clock();
  }

  /// One cycle; `ready_percent` of all that the fetcher waits for.
  void step(unsigned ready_percent, unsigned taken_percent) {
    const auto chance = [&](unsigned percent) { return random_() % 100 < percent; };
    fetch.program_ready_i = chance(ready_percent);
    fetch.table_ready_i = chance(ready_percent);
    fetch.command_ready_i = chance(ready_percent);
    fetch.turn_ready_i = chance(ready_percent);
    fetch.taken_i = held_ > 0 && chance(taken_percent);
    fetch.eval();
    answer();
    if (fetch.turn_valid_o && fetch.turn_ready_i) {
      turns.push_back({fetch.turn_unit_o, 0, fetch.turn_count_o});
    }
    if (fetch.command_valid_o && fetch.command_ready_i) {
      commands.emplace_back(fetch.command_address_o, fetch.command_beats_o);
      held_ += fetch.command_beats_o;
      beats += fetch.command_beats_o;
    }
    if (fetch.taken_i) --held_;
    EXPECT_LE(held_, kFifoBeats);
    max_held = std::max(max_held, held_);
    clock();
    fetch.start_i = 0;
    fetch.range_valid_i = fetch.range_valid_i && !range_taken_;
  }

  void start(std::uint32_t rows) {
    fetch.rows_total_i = static_cast<std::uint16_t>(rows);
    fetch.start_i = 1;
  }

  Vstream_fetch_model fetch;
  std::deque<Range> turns;
  std::deque<std::pair<std::uint32_t, std::uint32_t>> commands;
  std::uint64_t beats = 0;
  std::uint32_t max_held = 0;

 private:
  void clock() {
    range_taken_ = fetch.range_valid_i && fetch.range_ready_o;
    fetch.clk_i = 1;
    fetch.eval();
    fetch.clk_i = 0;
    fetch.eval();
  }

  /// Program memory and row table: data two cycles after the grant.
  void answer() {
    const auto asked = [](bool valid, std::uint32_t address) {
      return valid ? std::optional<std::uint32_t>(address) : std::nullopt;
    };
    program_asked_.push_back(
        asked(fetch.program_valid_o && fetch.program_ready_i, fetch.program_address_o));
    table_asked_.push_back(
        asked(fetch.table_valid_o && fetch.table_ready_i, fetch.table_address_o));
    fetch.program_data_valid_i = 0;
    fetch.table_data_valid_i = 0;
    for (std::size_t word = 0; word < 16; ++word) fetch.program_data_i[word] = random_();
    fetch.table_data_i = random_();
    if (program_asked_.size() > 2) {
      if (program_asked_.front()) {
        ASSERT_LT(*program_asked_.front(), program_.size());
        const auto bytes = encode(program_[*program_asked_.front()]);
        std::memcpy(&fetch.program_data_i[0], bytes.data(), bytes.size());
        fetch.program_data_valid_i = 1;
      }
      program_asked_.pop_front();
    }
    if (table_asked_.size() > 2) {
      if (table_asked_.front()) {
        ASSERT_LT(*table_asked_.front(), table_.size());
        const TableRow& row = table_[*table_asked_.front()];
        fetch.table_data_i = std::uint64_t{row.position} << 32 | row.token;
        fetch.table_data_valid_i = 1;
      }
      table_asked_.pop_front();
    }
    fetch.eval();
  }

  std::vector<Instruction> program_;
  std::vector<TableRow> table_;
  Random random_;
  std::deque<std::optional<std::uint32_t>> program_asked_;
  std::deque<std::optional<std::uint32_t>> table_asked_;
  std::uint32_t held_ = 0;
  bool range_taken_ = false;
};

/// The commands are exactly the ranges in order, each cut at multiples of 64 alone.
void expect_bursts(const std::vector<Range>& ranges, FetchBench& bench) {
  ASSERT_EQ(bench.turns.size(), ranges.size());
  std::size_t command = 0;
  for (std::size_t index = 0; index < ranges.size(); ++index) {
    const Range& range = ranges[index];
    SCOPED_TRACE(testing::Message() << "range " << index);
    ASSERT_EQ(bench.turns[index].unit, range.unit);
    ASSERT_EQ(bench.turns[index].count, range.count);
    std::uint32_t address = range.address;
    std::uint32_t left = range.count;
    while (left != 0) {
      const std::uint32_t beats = std::min(left, 64 - address % 64);
      ASSERT_LT(command, bench.commands.size());
      ASSERT_EQ(bench.commands[command].first, address);
      ASSERT_EQ(bench.commands[command].second, beats);
      ++command;
      address = (address + beats) & kMask;
      left -= beats;
    }
  }
  EXPECT_EQ(command, bench.commands.size());
}

Instruction make(Op op) {
  Instruction i;
  i.op = static_cast<std::uint32_t>(op);
  return i;
}

Instruction random_instruction(Random& random) {
  static constexpr Op kOps[] = {Op::kLoad,   Op::kEmbed,   Op::kGain,    Op::kRotary, Op::kNorm,
                                Op::kPeak,   Op::kProduct, Op::kScale,   Op::kHeads,  Op::kAttend,
                                Op::kAttend, Op::kStore,   Op::kQuantize};
  Instruction i = make(kOps[random() % std::size(kOps)]);
  i.stream_base = random() & kMask;
  i.stream_beats = random() % 5 == 0 ? random() % 3 : random() % 90;
  if (static_cast<Op>(i.op) == Op::kProduct) i.stream_beats = random() % 700;
  i.last_row = random() % 8 == 0;
  if (static_cast<Op>(i.op) == Op::kAttend) {
    static constexpr std::uint32_t kColumns[] = {8, 48, 64, 96, 128, 256};
    i.head_columns = kColumns[random() % std::size(kColumns)];
    i.heads = random() % 4;
    i.first_head = random() % 3;
    i.cache_base = random() & kMask;
    i.cache_head_stride = random() & 0xFFFFF;
    i.values_offset = random() & 0xFFFFF;
    i.cache_row_stride = random() % 2 == 0 ? 0 : random() & 0xFFFFFF;
    i.window = random() % 2 == 0 ? 0 : 1 + random() % 300;
    i.target = random() % 4 == 0 ? 1 : 0;
    if (i.last_row == 0 && random() % 4 == 0) i.only_row = 1 + random() % kRows;
  }
  return i;
}

TEST(StreamFetch, ReadsWhatTheLayoutsSayForAnyProgram) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Instruction> program;
    for (int count = 0; count < 30; ++count) program.push_back(random_instruction(random));
    program.push_back(make(Op::kEnd));
    const std::uint32_t rows = 1 + random() % 20;
    std::vector<TableRow> table(rows);
    for (TableRow& row : table) row = {random() % 128000, random() % 500};
    const auto ranges = expected_ranges(program, table, rows);
    FetchBench bench(program, table, seed);
    bench.start(rows);
    const unsigned ready = seed % 3 == 0 ? 100 : 60;
    bench.step(ready, 80);
    for (int cycle = 0; cycle < 400000 && !bench.fetch.idle_o; ++cycle) bench.step(ready, 80);
    ASSERT_TRUE(bench.fetch.idle_o);
    expect_bursts(ranges, bench);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}

TEST(StreamFetch, RunsAheadAsFarAsTheFifosHold) {
  std::vector<Instruction> program = {make(Op::kProduct), make(Op::kEnd)};
  program[0].stream_base = 17;
  program[0].stream_beats = 5000;
  FetchBench bench(program, {{}}, 3);
  bench.start(1);
  for (int cycle = 0; cycle < 2000; ++cycle) bench.step(100, 0);
  EXPECT_GT(bench.max_held, kFifoBeats - 64);
  EXPECT_FALSE(bench.fetch.idle_o);
  for (int cycle = 0; cycle < 8000; ++cycle) bench.step(100, 100);
  EXPECT_TRUE(bench.fetch.idle_o);
  EXPECT_EQ(bench.beats, 5000U);
}

TEST(StreamFetch, WaitsAtAFenceForTheHeadsInstructionsOfItsPass) {
  std::vector<Instruction> program;
  for (int count = 0; count < 300; ++count) program.push_back(make(Op::kHeads));
  Instruction attend = make(Op::kAttend);
  attend.head_columns = 64;
  attend.heads = 1;
  attend.fence = 1;
  attend.fence_need = 299 % 256;  // 299 of the 300
  program.push_back(attend);
  program.push_back(make(Op::kEnd));
  FetchBench bench(program, std::vector<TableRow>(16), 4);
  bench.start(16);
  const auto run = [&] {
    for (int cycle = 0; cycle < 4000; ++cycle) bench.step(100, 100);
  };
  run();
  EXPECT_EQ(bench.beats, 0U);
  bench.fetch.heads_ended_i = 298;
  run();
  EXPECT_EQ(bench.beats, 0U);
  bench.fetch.heads_ended_i = 299;
  run();
  const std::uint64_t first_pass = bench.beats;
  EXPECT_EQ(first_pass, 8U * (1 + 2 + 2));
  EXPECT_EQ(bench.fetch.state_o, 4);  // at the fence of the second pass, though 299 have ended
  bench.fetch.pass_i = 1;
  bench.fetch.heads_ended_i = 0;
  run();
  EXPECT_EQ(bench.beats, first_pass);
  bench.fetch.heads_ended_i = 300;
  run();
  EXPECT_EQ(bench.beats, 2 * first_pass);
  EXPECT_TRUE(bench.fetch.idle_o);
}

TEST(StreamFetch, TakesRangesOfOthersWhileIdle) {
  FetchBench bench({make(Op::kEnd)}, {{}}, 5);
  bench.fetch.range_valid_i = 1;
  bench.fetch.range_address_i = 60;
  bench.fetch.range_count_i = 10;
  bench.fetch.range_unit_i = 6;
  for (int cycle = 0; cycle < 50; ++cycle) bench.step(100, 100);
  expect_bursts({{6, 60, 10}}, bench);
}

}  // namespace
}  // namespace logos::d5005
