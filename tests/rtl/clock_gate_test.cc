#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "Vclock_gate_model.h"

namespace logos {
namespace {

constexpr int kCyclesAwake = 64;  ///< after the last one in which wake_i was high

class ClockGate : public testing::Test {
 protected:
  ClockGate() {
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.wake_i = 0;
    for (int i = 0; i < 4; ++i) cycle();
    model_.rst_ni = 1;
  }

  /// A cycle in which wake_i is as it stands; whether the gated clock rises at its end. It must
  /// never be high while clk_i is low.
  bool cycle() {
    model_.clk_i = 0;
    model_.eval();
    EXPECT_EQ(model_.clk_o, 0);
    model_.clk_i = 1;
    model_.eval();
    return model_.clk_o != 0;
  }

  Vclock_gate_model model_;
};

TEST_F(ClockGate, RunsInResetAndAWhileAfter) {
  for (int i = 0; i < kCyclesAwake; ++i) ASSERT_TRUE(cycle()) << i;
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(cycle()) << i;
}

TEST_F(ClockGate, RunsInTheVeryCycleThatWakesIt) {
  while (cycle()) {
  }
  model_.wake_i = 1;
  EXPECT_TRUE(cycle());
  model_.wake_i = 0;
  for (int i = 0; i < kCyclesAwake; ++i) ASSERT_TRUE(cycle()) << i;
  EXPECT_FALSE(cycle());
}

TEST_F(ClockGate, FollowsAnyPattern) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  int awake = kCyclesAwake;
  for (int i = 0; i < 20000; ++i) {
    model_.wake_i = random() % 80 == 0 ? 1 : 0;
    const bool want = model_.wake_i != 0 || awake > 0;
    awake = model_.wake_i != 0 ? kCyclesAwake : awake - (awake > 0 ? 1 : 0);
    ASSERT_EQ(cycle(), want) << "cycle " << i;
  }
}

}  // namespace
}  // namespace logos
