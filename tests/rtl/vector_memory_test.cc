#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>

#include "Vvector_memory_bench_model.h"

namespace logos {
namespace {

constexpr int kUnits = 4;
constexpr std::uint32_t kWords = 64;
using Word = std::array<std::uint32_t, 32>;

/// Who gets data in which cycle, and which.
struct Read {
  int unit = 0;
  std::uint64_t due = 0;
  Word data{};
};

/// Four writers and four readers at random for some cycles, against an array; nobody withdraws.
void run(unsigned percent, std::uint32_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  auto top = std::make_unique<Vvector_memory_bench_model>();
  const auto clock = [&] {
    top->clk_i = 1;
    top->eval();
    top->clk_i = 0;
    top->eval();
  };
  top->rst_ni = 0;
  clock();
  clock();
  top->rst_ni = 1;
  // All words are written once before anything is compared.
  std::array<Word, kWords> words{};
  top->write_valid_i = 8;
  for (std::uint32_t w = 0; w < kWords; ++w) {
    for (std::uint32_t& lane : words[w]) lane = static_cast<std::uint32_t>(random());
    top->write_address_i = std::uint64_t{w} << 48;
    top->write_slices_i = 0xFF000000;
    std::memcpy(&top->write_data_i[96], words[w].data(), sizeof(Word));
    clock();
  }
  top->write_valid_i = 0;
  std::deque<Read> reads;
  std::array<int, kUnits> writes{};
  std::array<int, kUnits> answers{};
  for (std::uint64_t cycle = 0; cycle < 4000; ++cycle) {
    for (unsigned unit = 0; unit < kUnits; ++unit) {
      if ((top->write_valid_i >> unit & 1) == 0 && random() % 100 < percent) {
        top->write_valid_i = static_cast<std::uint8_t>(top->write_valid_i | 1u << unit);
        const std::uint64_t address = random() % kWords;
        top->write_address_i &= ~(0xFFFFull << 16 * unit);
        top->write_address_i |= address << 16 * unit;
        top->write_slices_i &= ~(0xFFu << 8 * unit);
        top->write_slices_i |= (static_cast<std::uint32_t>(random()) & 0xFF) << 8 * unit;
        for (unsigned lane = 0; lane < 32; ++lane) {
          top->write_data_i[32 * unit + lane] = static_cast<std::uint32_t>(random());
        }
      }
      if ((top->read_valid_i >> unit & 1) == 0 && random() % 100 < percent) {
        top->read_valid_i = static_cast<std::uint8_t>(top->read_valid_i | 1u << unit);
        top->read_address_i &= ~(0xFFFFull << 16 * unit);
        top->read_address_i |= std::uint64_t{random() % kWords} << 16 * unit;
      }
    }
    top->eval();
    // Exactly the first of those who ask is served.
    const auto served = [](unsigned valid, unsigned ready) {
      const unsigned first = valid & (~valid + 1);
      return (valid & ready) == first;
    };
    ASSERT_TRUE(served(top->write_valid_i, top->write_ready_o));
    ASSERT_TRUE(served(top->read_valid_i, top->read_ready_o));
    unsigned due = 0;
    if (!reads.empty() && reads.front().due == cycle) {
      due = 1u << reads.front().unit;
      Word data;
      std::memcpy(data.data(), &top->data_o[0], sizeof(Word));
      ASSERT_EQ(data, reads.front().data);
      ++answers[static_cast<std::size_t>(reads.front().unit)];
      reads.pop_front();
    }
    ASSERT_EQ(top->data_valid_o, due) << "cycle " << cycle;
    const unsigned read = top->read_valid_i & top->read_ready_o;
    const unsigned write = top->write_valid_i & top->write_ready_o;
    for (unsigned unit = 0; unit < kUnits; ++unit) {
      if ((read >> unit & 1) == 0) continue;
      const std::uint64_t address = top->read_address_i >> 16 * unit & 0xFFFF;
      reads.push_back({static_cast<int>(unit), cycle + 2, words[address]});
    }
    for (unsigned unit = 0; unit < kUnits; ++unit) {
      if ((write >> unit & 1) == 0) continue;
      Word& word = words[top->write_address_i >> 16 * unit & 0xFFFF];
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((top->write_slices_i >> (8 * unit + lane / 4) & 1) != 0) {
          word[lane] = top->write_data_i[32 * unit + lane];
        }
      }
      ++writes[unit];
    }
    clock();
    top->read_valid_i = static_cast<std::uint8_t>(top->read_valid_i & ~read);
    top->write_valid_i = static_cast<std::uint8_t>(top->write_valid_i & ~write);
  }
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    EXPECT_GT(writes[unit], 20) << "unit " << unit;
    EXPECT_GT(answers[unit], 20) << "unit " << unit;
  }
}

TEST(VectorMemory, ServesTheFirstWhoAsksAndKeepsEveryWord) {
  run(10, 1);
  run(20, 2);
  run(25, 3);
}

}  // namespace
}  // namespace logos
