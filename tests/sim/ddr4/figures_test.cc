// The model beside DRAMsim3, with its parameters.
#include "sim/ddr4/figures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/ddr4/config.h"

namespace logos::ddr4 {
namespace {

class Bandwidth : public ::testing::TestWithParam<BandwidthFigure> {};

TEST_P(Bandwidth, IsWithin5PercentOfDramsim3) {
  const BandwidthFigure& figure = GetParam();
  const Parameters parameters = dramsim3_parameters(std::string(figure.order), figure.ranks);
  const Measured measured = measure(parameters, figure.stream, {}, 100'000, 1);
  EXPECT_NEAR(measured.fraction / figure.dramsim3, 1, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Streams, Bandwidth, ::testing::ValuesIn(kBandwidthFigures),
                         [](const auto& info) {
                           return fmt::format("{}_{}ranks_{}B_{}writes", info.param.order,
                                              info.param.ranks, info.param.stream.chunk_bytes,
                                              info.param.stream.write_percent);
                         });

class Latency : public ::testing::TestWithParam<LatencyFigure> {};

TEST_P(Latency, IsThatOfDramsim3BelowSaturation) {
  const LatencyFigure& figure = GetParam();
  const Parameters parameters = dramsim3_parameters(std::string(kGroupLow), 1);
  const Measured measured = measure(parameters, {figure.chunk_bytes, 0}, figure.load, 40'000, 1);
  EXPECT_NEAR(measured.mean_latency / figure.mean, 1, 0.05);
  EXPECT_NEAR(measured.p50_latency / figure.p50, 1, 0.06);
}

INSTANTIATE_TEST_SUITE_P(Loads, Latency, ::testing::ValuesIn(kLatencyFigures));

TEST(Board, StreamsSequentiallyAtTheCeiling) {
  const Parameters board = read_board_channel(LOGOS_SOURCE_DIR "/configs/boards/d5005.json");
  const Measured measured = measure(board, {0, 0}, {}, 100'000, 1);
  EXPECT_GT(measured.fraction, 0.945);
  // Never above 1 - tRFC / tREFI, whatever is postponed.
  EXPECT_LT(measured.fraction, 0.957);
}

}  // namespace
}  // namespace logos::ddr4
