#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>

#include "Vstream_router_model.h"
#include "tests/rtl/shell_random.h"

namespace logos {
namespace {

class RouterBench {
 public:
  RouterBench() {
    router.rst_ni = 0;
    router.eval();
    clock();
    router.rst_ni = 1;
  }

  void clock() {
    router.clk_i = 1;
    router.eval();
    router.clk_i = 0;
    router.eval();
  }

  Vstream_router_model router;
};

TEST(StreamRouter, GivesEachSuperBeatToTheUnitWhoseTurnItIs) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RouterBench bench;
    auto& router = bench.router;
    std::deque<std::pair<std::uint8_t, std::uint32_t>> turns;
    std::deque<std::uint8_t> expected;  // the unit of each super-beat
    for (int turn = 0; turn < 200; ++turn) {
      turns.emplace_back(random() % 7, random() % 3 == 0 ? 1 : 1 + random() % 9);
      for (std::uint32_t beat = 0; beat < turns.back().second; ++beat) {
        expected.push_back(turns.back().first);
      }
    }
    const unsigned ready = seed % 2 == 0 ? 95 : 40;
    std::uint8_t arrived = 0;  // a bank's beat stays until it is taken
    for (int cycle = 0; cycle < 60000 && !expected.empty(); ++cycle) {
      router.turn_valid_i = !turns.empty() && (router.turn_valid_i || random.chance(50));
      if (!turns.empty()) {
        router.turn_unit_i = turns.front().first;
        router.turn_count_i = turns.front().second;
      }
      for (unsigned bank = 0; bank < 4; ++bank) {
        if (random.chance(ready)) arrived = static_cast<std::uint8_t>(arrived | 1U << bank);
      }
      router.data_valid_i = arrived;
      router.stream_ready_i = static_cast<std::uint8_t>(random() & random() & 0x7F);
      if (seed % 2 == 0) router.stream_ready_i = 0x7F;
      router.eval();
      ASSERT_EQ(router.data_ready_o, router.taken_o);
      if (router.stream_valid_o != 0) {
        ASSERT_EQ(arrived, 0xF);
        ASSERT_FALSE(expected.empty());
        ASSERT_EQ(router.stream_valid_o, 1U << expected.front());
        const bool ready_now = (router.stream_valid_o & router.stream_ready_i) != 0;
        ASSERT_EQ(router.taken_o, ready_now);
        if (ready_now) {
          expected.pop_front();
          arrived = 0;
        }
      } else {
        ASSERT_FALSE(router.taken_o);
      }
      if (router.turn_valid_i && router.turn_ready_o) {
        turns.pop_front();
        bench.clock();
        router.turn_valid_i = 0;
      } else {
        bench.clock();
      }
    }
    EXPECT_TRUE(expected.empty());
  }
}

TEST(StreamRouter, LosesNoCycleFromTurnToTurn) {
  RouterBench bench;
  auto& router = bench.router;
  for (unsigned turn = 0; turn < 40; ++turn) {
    router.turn_valid_i = 1;
    router.turn_unit_i = static_cast<std::uint8_t>(turn % 5);
    router.turn_count_i = 1 + turn % 2;
    bench.clock();
  }
  router.turn_valid_i = 0;
  router.data_valid_i = 0xF;
  router.stream_ready_i = 0x7F;
  for (int beat = 0; beat < 60; ++beat) {
    router.eval();
    ASSERT_TRUE(router.taken_o) << beat;
    bench.clock();
  }
  router.eval();
  EXPECT_FALSE(router.taken_o);
}

}  // namespace
}  // namespace logos
