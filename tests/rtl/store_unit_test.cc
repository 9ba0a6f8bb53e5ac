#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "Vstore_unit_model.h"
#include "rtl/lowering/instruction.h"
#include "tests/rtl/shell_random.h"

namespace logos::d5005 {
namespace {

constexpr std::uint32_t kRows = 8;
constexpr std::size_t kVectorWords = 2048;

using Line = std::array<std::uint8_t, 64>;

/// A line of host memory as written: data where `strobe` is set.
struct Written {
  Line data{};
  std::uint64_t strobe = 0;
  bool operator==(const Written&) const = default;
};

struct Pass {
  std::uint32_t row = 0;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 1;
};

class StoreBench {
 public:
  explicit StoreBench(std::uint32_t seed) : random_(seed) {
    for (auto& word : vector_) {
      for (std::uint32_t& lane : word) lane = random_();
    }
    for (auto* memory : {&activation_, &query_, &scores_}) {
      for (std::uint8_t& byte : *memory) byte = static_cast<std::uint8_t>(random_());
    }
    for (std::uint8_t& e : exponents) e = static_cast<std::uint8_t>(random_());
    for (std::uint8_t& e : query_exponents) e = static_cast<std::uint8_t>(random_());
    for (std::uint64_t& sum : sums) sum = random_.wide() & ((std::uint64_t{1} << 42) - 1);
    for (auto& set : peaks) {
      for (std::uint32_t& peak : set) peak = random_() & 0x7FFFFFFF;
    }
    for (std::size_t row = 0; row < kRows; ++row) {
      put_bits(reinterpret_cast<std::uint32_t*>(&store.exponents_i), row * 8, 8, exponents[row]);
      put_bits(&store.rows_peaks_i[0], row * 31, 31, peaks[0][row]);
      put_bits(&store.product_peaks_i[0], row * 31, 31, peaks[1][row]);
      put_bits(&store.attend_peaks_i[0], row * 31, 31, peaks[2][row]);
    }
    store.rst_ni = 0;
    store.eval();
    clock();
    store.rst_ni = 1;
    start_pass();
  }

  void start_pass() {
    store.pass_start_i = 1;
    clock();
    store.pass_start_i = 0;
  }

  /// Runs one instruction to its end.
  void run(const Instruction& instruction, const Pass& pass) {
    const auto bytes = encode(instruction);
    std::memcpy(&store.instruction_i[0], bytes.data(), bytes.size());
    store.pass_i = pass.row << 22 | pass.first_row << 6 | pass.rows;
    store.start_valid_i = 1;
    for (int cycle = 0; cycle < 200000; ++cycle) {
      drive();
      store.eval();
      check_stalls();
      const bool started = store.start_valid_i && store.start_ready_o;
      const bool done = store.done_o;
      take();
      if (done) {
        EXPECT_EQ(unanswered_, 0U);
        clock();
        return;
      }
      clock();
      if (started) {
        store.start_valid_i = 0;
        for (std::size_t word = 0; word < 16; ++word) store.instruction_i[word] = random_();
        store.pass_i = random_() & 0x7FFFFFF;
      }
      ++cycles;
    }
    FAIL() << "no end";
  }

  std::uint32_t lane(std::uint32_t word, std::uint32_t lane) const { return vector_[word][lane]; }
  void set_lane(std::uint32_t word, std::uint32_t at, std::uint32_t bits) {
    vector_[word][at] = bits;
  }
  std::uint8_t activation(std::uint32_t row, std::uint32_t word, std::uint32_t byte) const {
    return activation_[(row * 64 + word) * 128 + byte];
  }
  std::uint8_t query(std::uint32_t word, std::uint32_t byte) const {
    return query_[word * 64 + byte];
  }
  std::uint8_t score(std::uint32_t head, std::uint32_t byte) const {
    return scores_[head * 4096 + byte];
  }

  Vstore_unit_model store;
  std::map<std::uint64_t, Written> written;
  std::map<std::uint32_t, std::uint64_t> greedy;
  std::array<std::uint8_t, kRows> exponents{};
  std::array<std::uint8_t, 1024> query_exponents{};
  std::array<std::uint64_t, 16> sums{};
  std::array<std::array<std::uint32_t, kRows>, 3> peaks{};
  std::uint64_t cycles = 0;
  std::uint64_t last_line_cycle = 0;
  unsigned ready_percent = 60;

 private:
  /// It counts as stalled where it asks for what is not there, and at the output only then or while
  /// the host owes an answer. (At the input it may also wait for words on their way.)
  void check_stalls() {
    const bool waits_for_read = (store.activation_read_valid_o && !store.activation_read_ready_i) ||
                                (store.query_read_valid_o && !store.query_read_ready_i);
    if (waits_for_read) {
      ASSERT_TRUE(store.stalled_on_input_o);
    }
    const bool waits = store.host_write_valid_o && !store.host_write_ready_i;
    if (waits || !store.host_pending_i) {
      ASSERT_EQ(store.stalled_on_output_o, waits);
    }
  }

  template <typename Word>
  static void put_bits(Word* to, std::size_t at, std::size_t bits, std::uint32_t value) {
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const std::uint32_t mask = 1U << (at + bit) % 32;
      Word& word = to[(at + bit) / 32];
      word = (value >> bit & 1) != 0 ? word | mask : word & ~mask;
    }
  }

  void clock() {
    store.clk_i = 1;
    store.eval();
    store.clk_i = 0;
    store.eval();
  }

  struct Read {
    bool vector = false;
    bool activation = false;
    bool query = false;
    bool observe = false;
    std::uint32_t address = 0;
    std::uint32_t row = 0;
  };

  void drive() {
    store.vm_read_ready_i = random_.chance(ready_percent);
    store.activation_read_ready_i = random_.chance(ready_percent);
    store.query_read_ready_i = random_.chance(ready_percent);
    store.host_write_ready_i = random_.chance(ready_percent);
    if (unanswered_ > 0 && random_.chance(10)) --unanswered_;
    store.host_pending_i = unanswered_ > 0;
    // What was asked for two cycles ago, noise otherwise.
    Read now;
    if (reads_.size() == 2) {
      now = reads_.front();
      reads_.pop_front();
    }
    store.vm_data_valid_i = now.vector;
    store.activation_data_valid_i = now.activation;
    for (std::size_t word = 0; word < 32; ++word) {
      store.vm_data_i[word] = now.vector ? vector_.at(now.address)[word] : random_();
      store.activation_data_i[word] = random_();
    }
    for (std::size_t word = 0; word < 16; ++word) store.query_data_i[word] = random_();
    for (std::size_t word = 0; word < 4; ++word) store.observe_data_i[word] = random_();
    store.observe_sum_i = random_.wide() & 0x3FFFFFFFFFF;
    store.query_exponent_i = static_cast<std::uint8_t>(random_());
    if (now.activation) {
      std::memcpy(&store.activation_data_i[0], &activation_.at((now.row * 64 + now.address) * 128),
                  128);
    }
    if (now.query) {
      std::memcpy(&store.query_data_i[0], &query_.at(now.address * 64), 64);
      store.query_exponent_i = query_exponents.at(now.row);
    }
    if (now.observe) {
      std::memcpy(&store.observe_data_i[0], &scores_.at(now.row * 4096 + now.address % 256 * 16),
                  16);
      store.observe_sum_i = sums.at(now.row);
    }
  }

  void take() {
    Read read;
    if (store.vm_read_valid_o && store.vm_read_ready_i) {
      read.vector = true;
      read.address = store.vm_read_address_o;
    }
    if (store.activation_read_valid_o && store.activation_read_ready_i) {
      read.activation = true;
      read.address = store.activation_read_word_o;
      read.row = store.activation_read_row_o;
    }
    if (store.query_read_valid_o && store.query_read_ready_i) {
      read.query = true;
      read.address = store.query_read_address_o;
      read.row = store.query_exponent_address_o;
    }
    if (store.observe_valid_o) {
      read.observe = true;
      read.address = store.observe_slot_o;
      read.row = store.observe_head_o;
    }
    reads_.push_back(read);
    if (store.host_write_valid_o && store.host_write_ready_i) {
      Written line;
      std::memcpy(line.data.data(), &store.host_write_data_o[0], 64);
      line.strobe = store.host_write_strobe_o;
      for (std::size_t byte = 0; byte < 64; ++byte) {
        if ((line.strobe >> byte & 1) == 0) line.data[byte] = 0;
      }
      EXPECT_TRUE(written.emplace(store.host_write_address_o, line).second) << "written twice";
      ++unanswered_;
      last_line_cycle = cycles;
    }
    if (store.greedy_valid_o) greedy[store.greedy_address_o] = store.greedy_data_o;
  }

  Random random_;
  std::vector<std::array<std::uint32_t, 32>> vector_{kVectorWords};
  std::vector<std::uint8_t> activation_ = std::vector<std::uint8_t>(kRows * 64 * 128);
  std::vector<std::uint8_t> query_ = std::vector<std::uint8_t>(1024 * 64);
  std::vector<std::uint8_t> scores_ = std::vector<std::uint8_t>(16 * 4096);
  std::deque<Read> reads_;
  unsigned unanswered_ = 0;
};

/// Collects a row's bytes into lines, piece after piece.
class Lines {
 public:
  explicit Lines(std::uint64_t address) : address_(address) {}
  void put(std::uint8_t byte) {
    if (used_ == 64) next();
    lines[address_].data[used_] = byte;
    lines[address_].strobe |= std::uint64_t{1} << used_;
    ++used_;
  }
  void put_word(std::uint64_t word, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) put(static_cast<std::uint8_t>(word >> (8 * byte)));
  }
  void next() {
    ++address_;
    used_ = 0;
  }
  void exponent(std::uint8_t e) {
    put_word(static_cast<std::uint32_t>(static_cast<std::int8_t>(e)), 4);
    next();
  }
  std::uint64_t address() const { return address_; }
  std::map<std::uint64_t, Written> lines;

 private:
  std::uint64_t address_;
  unsigned used_ = 0;
};

void put_row(Lines* lines, const StoreBench& bench, const Instruction& i, std::uint32_t row,
             std::uint32_t pass_row) {
  switch (static_cast<StoreSource>(i.variant)) {
    case StoreSource::kVector:
      for (std::uint32_t column = 0; column < i.columns; ++column) {
        const std::uint32_t word = i.source + row * i.source_stride + column / 32;
        lines->put_word(bench.lane(word, column % 32), 4);
      }
      lines->next();
      break;
    case StoreSource::kActivation:
      for (std::uint32_t byte = 0; byte < 2 * i.columns; ++byte) {
        lines->put(bench.activation(row, i.source + byte / 128, byte % 128));
      }
      lines->next();
      lines->exponent(bench.exponents[row]);
      break;
    case StoreSource::kQuery: {
      const std::uint32_t words = (i.head_columns + 31) / 32;
      for (std::uint32_t head = 0; head < i.heads; ++head) {
        for (std::uint32_t byte = 0; byte < 2 * i.head_columns; ++byte) {
          lines->put(bench.query((row * i.heads + head) * words + byte / 64, byte % 64));
        }
        lines->next();
        lines->exponent(bench.query_exponents[row * i.heads + head]);
      }
      break;
    }
    case StoreSource::kScores:
      for (std::uint32_t head = 0; head < i.group; ++head) {
        for (std::uint32_t byte = 0; byte < 4 * i.columns; ++byte)
          lines->put(bench.score(head, byte));
        lines->next();
      }
      break;
    case StoreSource::kWeightSums:
      for (std::uint32_t head = 0; head < i.group; ++head) lines->put_word(bench.sums[head], 8);
      lines->next();
      break;
    case StoreSource::kPeaks:
      lines->put_word(bench.peaks[i.peaks][pass_row + row], 4);
      lines->next();
      break;
  }
}

void run_and_compare(const Instruction& i, const Pass& pass, std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << describe(i) << " seed " << seed);
  StoreBench bench(seed);
  bench.run(i, pass);
  const std::uint32_t begin = i.only_row != 0 ? i.only_row - 1 : 0;
  std::uint32_t end = pass.rows;
  if (i.only_row != 0) end = i.only_row > pass.rows ? 0 : i.only_row;
  // The lines of one row, and by them where the first row's begin.
  Lines one(0);
  put_row(&one, bench, i, 0, 0);
  const std::uint64_t t = i.last_row != 0 ? 0 : pass.first_row + begin;
  Lines lines(i.host_offset + t * one.address());
  for (std::uint32_t row = begin; row < end; ++row) put_row(&lines, bench, i, row, pass.row);
  EXPECT_EQ(bench.written.size(), lines.lines.size());
  EXPECT_EQ(bench.written, lines.lines);
  EXPECT_TRUE(bench.greedy.empty());
}

Instruction make(StoreSource source) {
  Instruction i;
  i.op = static_cast<std::uint32_t>(Op::kStore);
  i.variant = static_cast<std::uint32_t>(source);
  i.host_offset = 1000;
  i.group = 1;
  return i;
}

TEST(StoreUnit, WritesRowsOfVectorMemory) {
  std::uint32_t seed = 1;
  for (const std::uint32_t columns : {1U, 15U, 16U, 17U, 32U, 75U, 172U, 512U, 4096U}) {
    for (const Pass& pass : {Pass{0, 0, 1}, Pass{0, 16, 3}, Pass{0, 0, 8}}) {
      if (columns == 4096 && pass.rows != 3) continue;
      Instruction i = make(StoreSource::kVector);
      i.columns = columns;
      i.source = 5;
      i.source_stride = (columns + 31) / 32 + 1;
      run_and_compare(i, pass, seed++);
    }
  }
}

TEST(StoreUnit, WritesOneRowOfAPassOrTheRunsLastRow) {
  Instruction i = make(StoreSource::kVector);
  i.columns = 75;
  i.source = 5;
  i.source_stride = 3;
  i.only_row = 3;
  run_and_compare(i, {0, 8, 5}, 1);
  i.only_row = 6;  // a row that this pass does not have
  run_and_compare(i, {0, 8, 5}, 2);
  i.only_row = 0;
  i.last_row = 1;
  run_and_compare(i, {4, 12, 1}, 3);
}

TEST(StoreUnit, WritesActivationsWithTheirExponents) {
  std::uint32_t seed = 1;
  for (const std::uint32_t columns : {8U, 32U, 33U, 64U, 75U, 300U}) {
    Instruction i = make(StoreSource::kActivation);
    i.columns = columns;
    i.source = 2;
    run_and_compare(i, {0, 24, 3}, seed++);
  }
}

TEST(StoreUnit, WritesQueriesHeadByHead) {
  std::uint32_t seed = 1;
  for (const std::uint32_t head_columns : {8U, 48U, 64U, 128U}) {
    Instruction i = make(StoreSource::kQuery);
    i.heads = 1 + head_columns % 5;
    i.head_columns = head_columns;
    run_and_compare(i, {0, 3, 4}, seed++);
  }
}

TEST(StoreUnit, WritesWhatTheAttendUnitHolds) {
  Instruction i = make(StoreSource::kScores);
  for (const std::uint32_t columns : {1U, 16U, 75U, 129U}) {
    i.group = 1 + columns % 7;
    i.columns = columns;
    i.only_row = 2;
    run_and_compare(i, {0, 0, 4}, columns);
  }
  i = make(StoreSource::kWeightSums);
  for (const std::uint32_t group : {1U, 4U, 8U, 9U, 16U}) {
    i.group = group;
    run_and_compare(i, {0, 0, 1}, group);
  }
}

TEST(StoreUnit, WritesPeaks) {
  for (const std::uint32_t set : {0U, 1U, 2U}) {
    Instruction i = make(StoreSource::kPeaks);
    i.peaks = set;
    run_and_compare(i, {0, 8, 8}, set + 1);
    i.last_row = 1;
    run_and_compare(i, {5, 13, 1}, set + 1);
  }
}

TEST(StoreUnit, KeepsTheFirstGreatestOverAllGreedyStoresOfAPass) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    StoreBench bench(seed);
    Random random(seed);
    std::array<float, kRows> best{};
    std::array<std::uint32_t, kRows> index{};
    std::uint32_t base = 0;
    for (int slice = 0; slice < 4; ++slice) {
      Instruction i = make(StoreSource::kVector);
      i.columns = 1 + random() % 200;
      i.source_stride = (i.columns + 31) / 32;
      i.greedy = 1;
      i.host_offset = 10000U * static_cast<std::uint32_t>(slice);
      for (std::uint32_t row = 0; row < kRows; ++row) {
        for (std::uint32_t column = 0; column < i.source_stride * 32; ++column) {
          // Few values, so that equals are common; both zeros; padding holds what would win.
          float value =
              static_cast<float>(static_cast<int>(random() % 9) - (seed % 2 == 0 ? 9 : 4));
          if (value == 0 && random.chance(50)) value = -0.0F;
          if (column >= i.columns) value = 1e30F;
          bench.set_lane(row * i.source_stride + column / 32, column % 32,
                         std::bit_cast<std::uint32_t>(value));
          if (column < i.columns && ((slice == 0 && column == 0) || value > best[row])) {
            best[row] = value;
            index[row] = base + column;
          }
        }
      }
      bench.run(i, {0, 16, kRows});
      base += i.columns;
    }
    ASSERT_EQ(bench.greedy.size(), kRows);
    for (std::uint32_t row = 0; row < kRows; ++row) {
      const std::uint64_t got = bench.greedy.at(16 + row);
      EXPECT_EQ(static_cast<std::uint32_t>(got), index[row]);
      EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(got >> 32)), best[row]);
    }
    // The next pass begins anew.
    bench.start_pass();
    Instruction i = make(StoreSource::kVector);
    i.columns = 1;
    i.greedy = 1;
    i.host_offset = 90000;
    bench.set_lane(0, 0, std::bit_cast<std::uint32_t>(-1e30F));
    bench.run(i, {0, 40, 1});
    EXPECT_EQ(bench.greedy.at(40), std::uint64_t{std::bit_cast<std::uint32_t>(-1e30F)} << 32);
  }
}

TEST(StoreUnit, SendsALineACycle) {
  StoreBench bench(1);
  bench.ready_percent = 100;
  Instruction i = make(StoreSource::kVector);
  i.columns = 16000;
  i.greedy = 1;
  bench.run(i, {0, 0, 1});
  EXPECT_EQ(bench.written.size(), 1000U);
  EXPECT_LT(bench.last_line_cycle, 1000U + 30U);
}

}  // namespace
}  // namespace logos::d5005
