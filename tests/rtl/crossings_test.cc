// What goes from one clock to another without a queue.
#include <gtest/gtest.h>

#include <cstdint>

#include "Vclock_counter_model.h"
#include "Vpulse_crossing_model.h"

namespace logos {
namespace {

class PulseCrossing : public testing::Test {
 protected:
  PulseCrossing() { reset(); }

  /// A cycle of both clocks, one after the other; whether the pulse is there.
  bool cycle() {
    for (const std::uint8_t level : {std::uint8_t{1}, std::uint8_t{0}}) {
      model_.source_clk_i = level;
      model_.eval();
      model_.target_clk_i = level;
      model_.eval();
    }
    return model_.pulse_o != 0;
  }
  int pulses_in(int cycles) {
    int pulses = 0;
    for (int i = 0; i < cycles; ++i) pulses += cycle() ? 1 : 0;
    return pulses;
  }
  /// Of both sides for some cycles; pulses meanwhile.
  int reset() {
    model_.source_rst_ni = 0;
    model_.target_rst_ni = 0;
    const int pulses = pulses_in(12);
    model_.source_rst_ni = 1;
    model_.target_rst_ni = 1;
    return pulses;
  }
  void send() {
    model_.pulse_i = 1;
    cycle();
    model_.pulse_i = 0;
  }

  Vpulse_crossing_model model_;
};

TEST_F(PulseCrossing, BringsEachPulseOnce) {
  EXPECT_EQ(pulses_in(20), 0);
  for (int i = 0; i < 5; ++i) {
    send();
    EXPECT_EQ(pulses_in(20), 1) << i;
  }
}

TEST_F(PulseCrossing, MakesUpNoneInAResetNorAfter) {
  pulses_in(20);
  for (int i = 0; i < 4; ++i) {
    send();  // the level that comes over is high after the first, and reset lowers it
    pulses_in(20);
    EXPECT_EQ(reset() + pulses_in(20), 0) << i;
  }
}

TEST_F(PulseCrossing, MakesUpNoneWhereTheSlowerSourceIsResetLater) {
  pulses_in(20);
  send();
  pulses_in(20);  // the level is high now
  model_.source_rst_ni = 0;
  model_.target_rst_ni = 0;
  // Two cycles of the target's clock, then one of the source's: it is still to be lowered when the
  // target's reset ends.
  const auto target = [&] {
    model_.target_clk_i = 1;
    model_.eval();
    model_.target_clk_i = 0;
    model_.eval();
    return model_.pulse_o != 0 ? 1 : 0;
  };
  int pulses = target() + target();
  model_.target_rst_ni = 1;
  pulses += target() + target();
  pulses += cycle() ? 1 : 0;
  model_.source_rst_ni = 1;
  EXPECT_EQ(pulses + pulses_in(20), 0);
}

TEST(ClockCounter, CountsEveryCycle) {
  Vclock_counter_model model;
  const auto cycle = [&](bool measured) {
    for (const std::uint8_t level : {std::uint8_t{1}, std::uint8_t{0}}) {
      if (measured) model.measured_clk_i = level;
      model.clk_i = level;
      model.eval();
    }
  };
  model.rst_ni = 0;
  for (int i = 0; i < 12; ++i) cycle(true);
  model.rst_ni = 1;
  cycle(true);
  // Equal clocks: one more in each cycle.
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t before = model.cycles_o;
    cycle(true);
    ASSERT_EQ(model.cycles_o, before + 1) << i;
  }
  // The measured clock stands still: what is under way comes over, then nothing.
  for (int i = 0; i < 8; ++i) cycle(false);
  const std::uint64_t still = model.cycles_o;
  for (int i = 0; i < 50; ++i) cycle(false);
  EXPECT_EQ(model.cycles_o, still);
  // It goes on, each third cycle of the reader's.
  for (int i = 0; i < 3 * 70; ++i) cycle(i % 3 == 0);
  for (int i = 0; i < 8; ++i) cycle(false);
  EXPECT_EQ(model.cycles_o, still + 70);
  model.rst_ni = 0;
  cycle(false);
  EXPECT_EQ(model.cycles_o, 0u);
}

}  // namespace
}  // namespace logos
