#include "spatial/network/mesh_shape.h"

#include <gtest/gtest.h>

#include "program/error.h"
#include "tests/spatial/network/meshes.h"

namespace logos::spatial {
namespace {

template <typename Call>
std::string message(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeshShape, NamesTheKeyThatNoMeshCanHave) {
  const auto with = [](std::int32_t MeshConfig::*key, std::int32_t value) {
    MeshConfig config{.width = 2, .height = 2};
    config.*key = value;
    return message([&] { make_flit_mesh(config, {}); });
  };
  EXPECT_EQ(with(&MeshConfig::width, 0), "mesh: width is out of range; got 0, want 1 to 256");
  EXPECT_EQ(with(&MeshConfig::height, 257), "mesh: height is out of range; got 257, want 1 to 256");
  EXPECT_EQ(with(&MeshConfig::router_cycles, 0),
            "mesh: router_cycles is out of range; got 0, want 1 to 64");
  EXPECT_EQ(with(&MeshConfig::link_cycles, 65),
            "mesh: link_cycles is out of range; got 65, want 1 to 64");
  EXPECT_EQ(with(&MeshConfig::virtual_channels, 13),
            "mesh: virtual_channels is out of range; got 13, want 1 to 12");
  EXPECT_EQ(with(&MeshConfig::buffer_flits, -1),
            "mesh: buffer_flits is out of range; got -1, want 1 to 4096");
  for (const int closed : {-1, 256}) {
    EXPECT_EQ(
        message([&] { make_flit_mesh({.width = 2, .height = 2}, {.closed_of_256 = closed}); }),
        "links: closed cycles of 256 are out of range; got " + std::to_string(closed) +
            ", want 0 to 255");
  }
}

class PacketCheck : public testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Meshes, PacketCheck, testing::Values(Model::kFlit, Model::kPacket));

TEST_P(PacketCheck, RefusesWhatDoesNotFit) {
  const auto mesh = make_mesh(GetParam(), {.width = 3, .height = 2});
  const auto sent = [&](Packet packet) { return message([&] { mesh->send(std::move(packet)); }); };
  EXPECT_EQ(sent(packet(6, {1}, 1)), "mesh: a packet's source is no tile; got 6, want 0 to 5");
  EXPECT_EQ(sent(packet(0, {-1, 2}, 1)),
            "mesh: a packet's destination is no tile; got -1, want 0 to 5");
  EXPECT_EQ(sent(packet(0, {1, 6}, 1)),
            "mesh: a packet's destination is no tile; got 6, want 0 to 5");
  EXPECT_EQ(sent(packet(0, {}, 1)), "mesh: a packet has no destination");
  EXPECT_EQ(sent({.source = 0, .destinations = nullptr, .flits = 1, .payload = nullptr}),
            "mesh: a packet has no destination");
  EXPECT_EQ(sent(packet(0, {2, 2}, 1)), "mesh: a packet's destinations do not ascend");
  EXPECT_EQ(sent(packet(0, {1}, 9)),
            "mesh: a packet's flits do not fit a channel's buffer; got 9, want 1 to 8");
  EXPECT_EQ(sent(packet(0, {1}, 0)),
            "mesh: a packet's flits do not fit a channel's buffer; got 0, want 1 to 8");
  EXPECT_EQ(mesh->unfinished(), "");
}

TEST(MeshShape, GoesAlongXThenY) {
  const MeshShape shape({.width = 5, .height = 3});
  const Node source = shape.at(1, 2);
  EXPECT_EQ(shape.toward(source, shape.at(4, 0)), 1U << kEast);
  EXPECT_EQ(shape.toward(source, shape.at(0, 0)), 1U << kWest);
  EXPECT_EQ(shape.toward(source, shape.at(1, 0)), 1U << kNorth);
  EXPECT_EQ(shape.toward(shape.at(1, 0), source), 1U << kSouth);
  EXPECT_EQ(shape.toward(source, source), 1U << kTile);
}

TEST(MeshShape, LaysTheTreeOfARectangle) {
  const MeshShape shape({.width = 4, .height = 3});
  // From (1, 1) to all but the last column.
  std::vector<Node> destinations;
  for (Node node = 0; node < shape.nodes(); ++node) {
    if (shape.x(node) < 3) destinations.push_back(node);
  }
  std::vector<Ports> forks;
  shape.lay_tree(shape.at(1, 1), destinations, forks);
  const Ports column = 1U << kNorth | 1U << kSouth | 1U << kTile;
  EXPECT_EQ(forks[static_cast<std::size_t>(shape.at(1, 1))], column | 1U << kEast | 1U << kWest);
  EXPECT_EQ(forks[static_cast<std::size_t>(shape.at(0, 1))], column);
  EXPECT_EQ(forks[static_cast<std::size_t>(shape.at(2, 1))], column);
  EXPECT_EQ(forks[static_cast<std::size_t>(shape.at(2, 0))], 1U << kTile);
  EXPECT_EQ(forks[static_cast<std::size_t>(shape.at(3, 1))], 0);
}

}  // namespace
}  // namespace logos::spatial
