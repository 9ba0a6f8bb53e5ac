#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <random>

#include "Vcache_writer_model.h"

namespace logos {
namespace {

struct Sent {
  std::uint32_t address = 0;
  std::uint32_t data = 0;
  bool operator==(const Sent&) const = default;
};

/// Beats at random for banks that have room at random: each bank gets its own, all and in order.
void run_at(unsigned offered_percent, unsigned ready_percent, std::uint32_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  Vcache_writer_model writer;
  const auto clock = [&] {
    writer.clk_i = 1;
    writer.eval();
    writer.clk_i = 0;
    writer.eval();
  };
  writer.eval();
  writer.rst_ni = 0;
  clock();
  writer.rst_ni = 1;
  std::array<std::deque<Sent>, 4> waiting;
  int passed = 0;
  for (int cycle = 0; cycle < 5000; ++cycle) {
    if (!writer.unit_valid_i) {
      writer.unit_valid_i = chance(offered_percent);
      writer.unit_bank_i = random() & 3;
      writer.unit_address_i = random() & ((1U << 27) - 1);
      writer.unit_data_i[0] = static_cast<std::uint32_t>(random());
    }
    writer.bank_ready_i = 0;
    for (unsigned bank = 0; bank < 4; ++bank) {
      if (chance(ready_percent)) writer.bank_ready_i |= static_cast<std::uint8_t>(1U << bank);
    }
    writer.eval();
    for (unsigned bank = 0; bank < 4; ++bank) {
      if ((writer.bank_valid_o >> bank & 1) == 0) continue;
      const Sent got{writer.bank_address_o, writer.bank_data_o[0]};
      ASSERT_FALSE(waiting[bank].empty()) << "bank " << bank << ", cycle " << cycle;
      ASSERT_EQ(got, waiting[bank].front()) << "bank " << bank << ", cycle " << cycle;
      if ((writer.bank_ready_i >> bank & 1) == 0) continue;
      waiting[bank].pop_front();
      ++passed;
    }
    const bool taken = writer.unit_valid_i && writer.unit_ready_o;
    EXPECT_EQ(writer.taken_o, taken);
    if (taken) {
      waiting[writer.unit_bank_i].push_back({writer.unit_address_i, writer.unit_data_i[0]});
    }
    clock();
    if (taken) writer.unit_valid_i = 0;
  }
  std::size_t left = 0;
  for (const auto& bank : waiting) left += bank.size();
  EXPECT_LE(left, 1U) << "the one in the register";
  EXPECT_GT(passed, 500);
}

TEST(CacheWriter, BringsEachBankItsBeatsInOrder) {
  run_at(100, 100, 1);
  run_at(90, 30, 2);
  run_at(40, 70, 3);
}

}  // namespace
}  // namespace logos
