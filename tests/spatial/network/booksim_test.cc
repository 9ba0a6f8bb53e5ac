#include "tests/spatial/network/booksim.h"

// The bars: 5 % at zero load, 10 % up to half of saturation, for both models; the flit model beyond
// it as near as it is, up to where the latency's own spread is larger.
namespace logos::spatial {
namespace {

class BookSim : public testing::TestWithParam<Figure> {};

INSTANTIATE_TEST_SUITE_P(
    Figures, BookSim,
    testing::Values(
        Figure{8, "uniform", 0.02, 1, 33.5, 0.05, 0.05},
        Figure{8, "uniform", 0.02, 8, 39.8, 0.05, 0.05},
        Figure{8, "uniform", 0.1, 1, 33.8, 0.10, 0.10},
        Figure{8, "uniform", 0.1, 8, 43.8, 0.10, 0.10},
        Figure{8, "uniform", 0.2, 1, 35.2, 0.10, 0.10},
        Figure{8, "uniform", 0.2, 8, 48.7, 0.10, 0.10}, Figure{8, "uniform", 0.3, 1, 38.1, 0.10, 0},
        Figure{8, "uniform", 0.3, 8, 60.5, 0.10, 0}, Figure{8, "uniform", 0.35, 1, 41.4, 0.10, 0},
        Figure{8, "neighbor", 0.02, 1, 24.6, 0.05, 0.05},
        Figure{8, "neighbor", 0.02, 8, 31.0, 0.05, 0.05},
        Figure{8, "neighbor", 0.4, 1, 24.9, 0.10, 0.10},
        Figure{8, "neighbor", 0.4, 8, 34.0, 0.10, 0.10},
        Figure{8, "neighbor", 0.7, 1, 26.0, 0.10, 0}, Figure{8, "neighbor", 0.7, 8, 39.5, 0.10, 0},
        Figure{8, "neighbor", 0.9, 1, 27.9, 0.15, 0}, Figure{8, "neighbor", 0.9, 8, 59.2, 0.15, 0},
        Figure{8, "hotspot", 0.3, 1, 27.3, 0.10, 0.10},
        Figure{8, "hotspot", 0.3, 8, 37.6, 0.10, 0.10}, Figure{8, "hotspot", 0.6, 1, 28.0, 0.10, 0},
        Figure{8, "hotspot", 0.6, 8, 44.3, 0.10, 0}, Figure{8, "hotspot", 0.8, 1, 29.3, 0.10, 0},
        Figure{16, "uniform", 0.02, 1, 60.8, 0.05, 0.05},
        Figure{16, "uniform", 0.02, 8, 67.8, 0.05, 0.05},
        Figure{16, "uniform", 0.1, 8, 73.2, 0.10, 0.10},
        Figure{16, "neighbor", 0.02, 8, 32.7, 0.05, 0.05},
        Figure{16, "hotspot", 0.3, 1, 47.3, 0.10, 0.10}));

TEST_P(BookSim, FindsTheSameLatency) {
  expect_near_booksim(Model::kFlit, GetParam(), GetParam().flit_bar, 6000);
  expect_near_booksim(Model::kPacket, GetParam(), GetParam().packet_bar, 6000);
}

TEST(BookSim, FindsTheSameSaturation) {
  for (const auto& [flits, accepted] : {std::pair{1, 0.387}, std::pair{8, 0.394}}) {
    const TrafficResult result = measure(Model::kFlit, {8, "uniform", 0.9, flits, 0, 0, 0}, 2000);
    EXPECT_NEAR(result.accepted, accepted, 0.15 * accepted) << flits << " flits";
    EXPECT_EQ(result.unfinished, "");
  }
}

TEST(MeshTraffic, RefusesWhatItCannotMake) {
  const MeshConfig mesh{.width = 2, .height = 2};
  const auto network = make_flit_mesh(mesh, {});
  try {
    run_traffic(*network, mesh, {.rate = 1.5, .flits = 1});
    FAIL() << "no error";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(),
                 "traffic: a tile starts at most a packet a cycle; got 1.500000, want a rate above "
                 "0 and up to the packet's flits");
  }
  try {
    parse_pattern("tornado");
    FAIL() << "no error";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(),
                 "traffic: unknown pattern; got tornado, want uniform, neighbor, hotspot or "
                 "multicast");
  }
}

}  // namespace
}  // namespace logos::spatial
