#include <gtest/gtest.h>

#include "spatial/network/mesh_shape.h"
#include "tests/spatial/network/meshes.h"

namespace logos::spatial {
namespace {

/// Model, router_cycles, link_cycles, flits.
using Case = std::tuple<Model, int, int, int>;
class ZeroLoad : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Meshes, ZeroLoad,
                         testing::Combine(testing::Values(Model::kFlit, Model::kPacket),
                                          testing::Values(1, 2, 3, 4, 7), testing::Values(1, 3),
                                          testing::Values(1, 5, 8)));

TEST_P(ZeroLoad, TakesWhatTheFormulaSays) {
  const auto [model, router_cycles, link_cycles, flits] = GetParam();
  const MeshConfig config{
      .width = 5, .height = 4, .router_cycles = router_cycles, .link_cycles = link_cycles};
  const MeshShape shape(config);
  const auto mesh = make_mesh(model, config);
  for (Node source = 0; source < shape.nodes(); ++source) {
    for (const Node to : {Node{0}, Node{7}, Node{19}}) {
      const int routers =
          1 + std::abs(shape.x(source) - shape.x(to)) + std::abs(shape.y(source) - shape.y(to));
      const int cycles = 1 + link_cycles + routers * (router_cycles + link_cycles) + flits - 1;
      const std::vector<Arrived> arrivals = run(*mesh, {{10, packet(source, {to}, flits, 5)}});
      ASSERT_EQ(arrivals, (std::vector<Arrived>{{10 + static_cast<Cycles>(cycles), to, 5}}));
      if (router_cycles == 4 && link_cycles == 1) {
        // BookSim2's line through its zero load.
        EXPECT_NEAR(cycles, 5.0 * routers + 2.1 + flits - 1, 0.05 * cycles);
      }
    }
  }
  EXPECT_EQ(mesh->unfinished(), "");
}

TEST(ZeroLoad, OfATreeIsThatOfEachWay) {
  for (const Model model : {Model::kFlit, Model::kPacket}) {
    const auto mesh = make_mesh(model, {.width = 3, .height = 3});
    const std::vector<Arrived> arrivals =
        run(*mesh, {{0, packet(4, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 8)}});
    ASSERT_EQ(arrivals.size(), 9U);
    for (const Arrived& arrived : arrivals) {
      const int routers = 1 + (arrived.node % 3 != 1) + (arrived.node / 3 != 1);
      EXPECT_EQ(arrived.cycle, static_cast<Cycles>(2 + 5 * routers + 7));
    }
  }
}

TEST(ZeroLoad, OfAStreamIsAFlitACycle) {
  for (const Model model : {Model::kFlit, Model::kPacket}) {
    const auto mesh = make_mesh(model, {.width = 6, .height = 1});
    std::vector<Sent> sends;
    for (int number = 0; number < 50; ++number) sends.push_back({0, packet(0, {5}, 8, number)});
    const std::vector<Arrived> arrivals = run(*mesh, sends);
    ASSERT_EQ(arrivals.size(), 50U);
    EXPECT_EQ(arrivals.back().cycle, Cycles{2 + 5 * 6 + 50 * 8 - 1});
  }
}

TEST(ZeroLoad, OfAShortBufferIsItsCreditsWayAround) {
  // Claim, switch, 3 cycles to the next router, claim there, switch, 2 cycles for the credit.
  const auto mesh = make_mesh(Model::kFlit, {.width = 2,
                                             .height = 1,
                                             .router_cycles = 4,
                                             .link_cycles = 1,
                                             .virtual_channels = 1,
                                             .buffer_flits = 1});
  std::vector<Sent> sends;
  for (int number = 0; number < 10; ++number) sends.push_back({0, packet(0, {1}, 1, number)});
  const std::vector<Arrived> arrivals = run(*mesh, sends);
  ASSERT_EQ(arrivals.size(), 10U);
  EXPECT_EQ(arrivals.back().cycle - arrivals.front().cycle, 9U * 8);
}

}  // namespace
}  // namespace logos::spatial
