#include "tests/spatial/network/booksim.h"

// The figures that want long runs: large meshes, and loads where few packets say little.
namespace logos::spatial {
namespace {

class BookSimSlow : public testing::TestWithParam<Figure> {};

INSTANTIATE_TEST_SUITE_P(Figures, BookSimSlow,
                         testing::Values(Figure{8, "hotspot", 0.8, 8, 58.8, 0.10, 0},
                                         Figure{8, "hotspot", 0.9, 1, 31.8, 0.10, 0},
                                         Figure{8, "hotspot", 0.9, 8, 76.0, 0.15, 0},
                                         Figure{16, "uniform", 0.1, 1, 63.0, 0.10, 0.10},
                                         Figure{16, "uniform", 0.15, 1, 66.5, 0.10, 0},
                                         Figure{16, "uniform", 0.15, 8, 87.1, 0.10, 0},
                                         Figure{16, "uniform", 0.2, 1, 77.2, 0.10, 0},
                                         Figure{16, "neighbor", 0.02, 1, 25.7, 0.05, 0.05},
                                         Figure{16, "neighbor", 0.5, 1, 26.3, 0.10, 0.10},
                                         Figure{16, "neighbor", 0.5, 8, 36.2, 0.10, 0.10},
                                         Figure{16, "hotspot", 0.3, 8, 56.4, 0.10, 0.10},
                                         Figure{16, "hotspot", 0.8, 1, 49.6, 0.10, 0},
                                         Figure{16, "hotspot", 0.8, 8, 77.3, 0.10, 0}));

TEST_P(BookSimSlow, FindsTheSameLatency) {
  expect_near_booksim(Model::kFlit, GetParam(), GetParam().flit_bar, 12000);
  expect_near_booksim(Model::kPacket, GetParam(), GetParam().packet_bar, 12000);
}

}  // namespace
}  // namespace logos::spatial
