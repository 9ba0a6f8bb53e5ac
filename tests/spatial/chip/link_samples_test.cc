#include "spatial/chip/link_samples.h"

#include <gtest/gtest.h>

namespace logos::spatial {
namespace {

TEST(LinkSamples, HoldWhatEachStretchCarried) {
  LinkSamples samples;
  samples.take({{{0, 1, 5, 0}, {1, 0, 2, 0}}}, {{0, 1, 0, 3, 0, 0}});
  samples.take({{{0, 1, 9, 0}, {1, 0, 2, 0}}}, {{0, 1, 0, 8, 0, 0}});
  const LinkTime time = samples.taken();
  ASSERT_EQ(time.flits.size(), 2u);
  EXPECT_EQ(time.flits[0][0], (std::vector<std::uint32_t>{5, 2}));
  EXPECT_EQ(time.flits[1][0], (std::vector<std::uint32_t>{4, 0}));
  EXPECT_EQ(time.chip_link_cycles[1], (std::vector<std::uint64_t>{5}));
}

TEST(LinkSamples, StayFewAndLoseNothing) {
  for (const std::uint64_t count : {1023u, 1024u, 1025u, 2048u, 5000u}) {
    LinkSamples samples;
    std::uint64_t cycles = 0;
    std::uint64_t flits = 0;
    for (; cycles < count * 16; cycles += samples.stretch()) {
      flits += samples.stretch() / 16;
      samples.take({{{0, 1, flits, 0}}}, {{0, 1, 0, flits, 0, 0}});
    }
    const LinkTime time = samples.taken();
    EXPECT_LE(time.flits.size(), LinkSamples::kMost);
    std::uint64_t carried = 0;
    std::uint64_t busy = 0;
    for (const auto& sample : time.flits) carried += sample[0][0];
    for (const auto& sample : time.chip_link_cycles) busy += sample[0];
    EXPECT_EQ(carried, flits);
    EXPECT_EQ(busy, flits);
  }
}

}  // namespace
}  // namespace logos::spatial
