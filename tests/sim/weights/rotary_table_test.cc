#include "sim/weights/rotary_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace logos {
namespace {

std::vector<std::int64_t> counted(std::int64_t first, std::size_t count) {
  std::vector<std::int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

Rotary llama3() {
  return {.kind = Rotary::Kind::kLlama3,
          .base = 500000,
          .factor = 32,
          .low = 1,
          .high = 4,
          .original = 8192};
}

TEST(RotaryTable, TheFirstPositionTurnsNothing) {
  const RotaryTable table = rotary_table(Rotary{}, 64, counted(1, 1));
  EXPECT_EQ(table.pairs, 32);
  EXPECT_EQ(table.cosines, std::vector<float>(32, 1.0F));
  EXPECT_EQ(table.sines, std::vector<float>(32, 0.0F));
}

TEST(RotaryTable, ARunOfPositionsHasTheBitsOfEachPositionAlone) {
  for (const Rotary& rotary : {Rotary{}, llama3()}) {
    const RotaryTable run = rotary_table(rotary, 12, counted(130'001, 2300));
    for (std::size_t row = 0; row < 2300; ++row) {
      const RotaryTable alone =
          rotary_table(rotary, 12, counted(130'001 + static_cast<std::int64_t>(row), 1));
      for (std::size_t pair = 0; pair < 6; ++pair) {
        ASSERT_EQ(run.cosines[row * 6 + pair], alone.cosines[pair]) << row;
        ASSERT_EQ(run.sines[row * 6 + pair], alone.sines[pair]) << row;
      }
    }
  }
}

TEST(RotaryTable, PositionsComeInAnyOrderAndRepeat) {
  const RotaryTable run = rotary_table(Rotary{}, 8, counted(1, 10));
  const std::vector<std::int64_t> positions = {10, 3, 3, 4, 1};
  const RotaryTable table = rotary_table(Rotary{}, 8, positions);
  for (std::size_t row = 0; row < positions.size(); ++row) {
    for (std::size_t pair = 0; pair < 4; ++pair) {
      const auto at = static_cast<std::size_t>(positions[row] - 1) * 4 + pair;
      EXPECT_EQ(table.cosines[row * 4 + pair], run.cosines[at]);
      EXPECT_EQ(table.sines[row * 4 + pair], run.sines[at]);
    }
  }
}

TEST(RotaryTable, LinearScalingDividesTheAngle) {
  Rotary linear{.kind = Rotary::Kind::kLinear, .factor = 4};
  const RotaryTable scaled = rotary_table(linear, 16, counted(4 * 25 + 1, 1));
  const RotaryTable plain = rotary_table(Rotary{}, 16, counted(25 + 1, 1));
  EXPECT_EQ(scaled.cosines, plain.cosines);
  EXPECT_EQ(scaled.sines, plain.sines);
}

TEST(RotaryTable, Llama3KeepsShortWavesScalesLongOnesAndBlendsBetween) {
  const RotaryTable table = rotary_table(llama3(), 64, counted(2, 1));
  for (int pair = 0; pair < 32; ++pair) {
    const double f = std::pow(500000.0, -2.0 * pair / 64);
    const double wave = 2 * M_PI / f;
    double want = f;
    if (wave > 8192) {
      want = f / 32;
    } else if (wave >= 8192.0 / 4) {
      const double s = (8192 / wave - 1) / 3;
      want = (1 - s) * f / 32 + s * f;
    }
    EXPECT_NEAR(table.sines[static_cast<std::size_t>(pair)], std::sin(want), 1e-7 * std::sin(want))
        << pair;
  }
}

TEST(RotaryTable, EntriesAreNearTheLibrarysBinary64) {
  const RotaryTable table = rotary_table(Rotary{}, 6, counted(1, 3000));
  for (std::size_t row = 0; row < 3000; ++row) {
    for (std::size_t pair = 0; pair < 3; ++pair) {
      const double angle =
          static_cast<double>(row) * std::pow(10000.0, -2.0 * static_cast<double>(pair) / 6);
      ASSERT_NEAR(table.cosines[row * 3 + pair], std::cos(angle), 1e-7);
      ASSERT_NEAR(table.sines[row * 3 + pair], std::sin(angle), 1e-7);
    }
  }
}

TEST(RotaryTable, TheDigestSeesEveryPosition) {
  const std::string digest = rotary_sha256(rotary_table(Rotary{}, 8, counted(1, 20)));
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_NE(digest, rotary_sha256(rotary_table(Rotary{}, 8, counted(1, 21))));
  EXPECT_NE(digest, rotary_sha256(rotary_table(Rotary{}, 8, counted(2, 20))));
}

}  // namespace
}  // namespace logos
