#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "spatial/network/mesh_shape.h"
#include "tests/spatial/network/meshes.h"

// What holds for every mesh, whatever is sent through it.
namespace logos::spatial {
namespace {

struct Size {
  int width;
  int height;
};
using Case = std::tuple<Model, Size>;
class MeshLaw : public testing::TestWithParam<Case> {
 protected:
  Model model() const { return std::get<0>(GetParam()); }
  MeshConfig config() const {
    return {.width = std::get<1>(GetParam()).width, .height = std::get<1>(GetParam()).height};
  }
};

INSTANTIATE_TEST_SUITE_P(Meshes, MeshLaw,
                         testing::Combine(testing::Values(Model::kFlit, Model::kPacket),
                                          testing::Values(Size{3, 3}, Size{5, 3}, Size{3, 5},
                                                          Size{7, 11}, Size{9, 1}, Size{1, 9},
                                                          Size{1, 1})));

/// Random packets: half to one tile, half to any set of tiles; enough to fill the mesh.
std::vector<Sent> random_packets(const MeshConfig& config, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Node nodes = config.width * config.height;
  std::vector<Sent> sends;
  for (int number = 0; number < 40 * nodes; ++number) {
    std::set<Node> destinations;
    const std::size_t count =
        random() % 2 == 0 ? 1 : 1 + random() % static_cast<std::size_t>(nodes);
    while (destinations.size() < count) {
      destinations.insert(static_cast<Node>(random() % static_cast<std::size_t>(nodes)));
    }
    sends.push_back({static_cast<Cycles>(number / 2),
                     packet(static_cast<Node>(random() % static_cast<std::size_t>(nodes)),
                            {destinations.begin(), destinations.end()},
                            static_cast<std::int32_t>(1 + random() % 8), number)});
  }
  return sends;
}

std::uint64_t link_flits(const Network& mesh) {
  std::uint64_t flits = 0;
  for (const LinkLoad& load : mesh.link_loads()) flits += load.flits;
  return flits;
}

/// (node, packet) of all that has to arrive, sorted.
std::vector<std::pair<Node, int>> wanted(const std::vector<Sent>& sends) {
  std::vector<std::pair<Node, int>> all;
  for (const Sent& sent : sends) {
    for (const Node node : *sent.packet.destinations) {
      all.emplace_back(node, number_of(sent.packet));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::pair<Node, int>> places(const std::vector<Arrived>& arrivals) {
  std::vector<std::pair<Node, int>> all;
  for (const Arrived& arrived : arrivals) all.emplace_back(arrived.node, arrived.number);
  std::sort(all.begin(), all.end());
  return all;
}

TEST_P(MeshLaw, ReachesEachDestinationOnceOverEachLinkOfTheTreeOnce) {
  const std::vector<Sent> sends = random_packets(config(), 3);
  const auto mesh = make_mesh(model(), config());
  EXPECT_EQ(places(run(*mesh, sends)), wanted(sends));
  EXPECT_EQ(mesh->unfinished(), "");

  // The links of the union of all ways, found way by way.
  const MeshShape shape(config());
  std::map<std::pair<Node, Node>, std::uint64_t> flits;
  for (const Sent& sent : sends) {
    std::set<std::pair<Node, Node>> links;
    for (const Node to : *sent.packet.destinations) {
      Node node = sent.packet.source;
      while (node != to) {
        const Node before = node;
        for (int port = kEast; port < kTile; ++port) {
          if (shape.toward(before, to) == 1U << port) node = shape.neighbor(before, port);
        }
        links.insert({before, node});
      }
      links.insert({to, to});
    }
    for (const auto& link : links) flits[link] += static_cast<std::uint64_t>(sent.packet.flits);
  }
  for (const LinkLoad& load : mesh->link_loads()) {
    const auto link = std::make_pair(load.from, load.to);
    EXPECT_EQ(load.flits, flits[link]) << load.from << " -> " << load.to;
    flits.erase(link);
  }
  EXPECT_TRUE(flits.empty());
}

TEST_P(MeshLaw, DeliversTheSameUnderAnySeedAndBackPressure) {
  const std::vector<Sent> sends = random_packets(config(), 4);
  std::set<Cycles> ends;
  std::uint64_t flits = 0;
  for (const MeshOptions& options :
       {MeshOptions{.seed = 1}, MeshOptions{.seed = 2}, MeshOptions{.seed = 1, .closed_of_256 = 20},
        MeshOptions{.seed = 2, .closed_of_256 = 20},
        MeshOptions{.seed = 1, .closed_of_256 = 200}}) {
    const auto mesh = make_mesh(model(), config(), options);
    const std::vector<Arrived> arrivals = run(*mesh, sends);
    EXPECT_EQ(places(arrivals), wanted(sends));
    EXPECT_EQ(mesh->unfinished(), "");
    if (flits == 0) flits = link_flits(*mesh);
    EXPECT_EQ(link_flits(*mesh), flits);
    ends.insert(arrivals.back().cycle);
  }
  EXPECT_GE(ends.size(), 3U);  // and the times do change
}

TEST_P(MeshLaw, RepeatsItselfBySeed) {
  const std::vector<Sent> sends = random_packets(config(), 5);
  const MeshOptions options{.seed = 7, .closed_of_256 = 10};
  const auto first = make_mesh(model(), config(), options);
  const std::vector<Arrived> arrivals = run(*first, sends);
  for (int repeated = 0; repeated < 3; ++repeated) {  // whenever it begins
    const auto again = make_mesh(model(), config(), options);
    EXPECT_TRUE(run(*again, sends) == arrivals);
  }
}

TEST_P(MeshLaw, FillsAndEmptiesItsQueues) {
  const auto mesh = make_mesh(model(), config());
  std::vector<Sent> sends = random_packets(config(), 6);
  std::map<Node, int> drained;
  std::map<Node, std::int64_t> flits;
  mesh->on_drained([&](Node node) {
    EXPECT_EQ(mesh->queued_flits(node), 0);
    ++drained[node];
  });
  mesh->on_arrival(nullptr);
  for (Sent& sent : sends) {
    flits[sent.packet.source] += sent.packet.flits;
    mesh->send(sent.packet);
    EXPECT_EQ(mesh->queued_flits(sent.packet.source), flits[sent.packet.source]);
  }
  simulate();
  EXPECT_EQ(drained.size(), flits.size());
  for (const auto& [node, times] : drained) EXPECT_EQ(times, 1) << node;
  EXPECT_EQ(mesh->unfinished(), "");
}

TEST_P(MeshLaw, KeepsOrderWhereItPromisesTo) {
  MeshConfig one = config();
  if (model() == Model::kFlit) one.virtual_channels = 1;
  const std::vector<Sent> sends = random_packets(one, 8);
  const auto mesh = make_mesh(model(), one, {.seed = 3, .closed_of_256 = 40});
  std::map<std::pair<Node, Node>, int> last;
  for (const Arrived& arrived : run(*mesh, sends)) {
    const Node source = sends[static_cast<std::size_t>(arrived.number)].packet.source;
    auto [before, first] = last.try_emplace({source, arrived.node}, -1);
    EXPECT_GT(arrived.number, before->second);
    before->second = arrived.number;
  }
  EXPECT_EQ(mesh->unfinished(), "");
}

class EitherMesh : public testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Meshes, EitherMesh, testing::Values(Model::kFlit, Model::kPacket));

TEST_P(EitherMesh, MaySendWhileItAnnouncesAnArrival) {
  const auto mesh = make_mesh(GetParam(), {.width = 4, .height = 1});
  int hops = 0;
  Cycles last = 0;
  mesh->on_arrival([&](Node node, const Packet& arrived) {
    EXPECT_EQ(number_of(arrived), hops);
    last = Wakeup::now();
    if (++hops < 9) mesh->send(packet(node, {(node + 1) % 4}, 2, hops));
  });
  const Cycles begin = Wakeup::now();
  mesh->send(packet(0, {0}, 8, 0));
  simulate();
  EXPECT_EQ(hops, 9);
  // Each leaves in the cycle after its sending: twice around the row, three links of one and one of
  // three.
  EXPECT_EQ(last - begin, 14U + 2 * (3 * 13 + 23));
  EXPECT_EQ(mesh->unfinished(), "");
}

TEST_P(EitherMesh, MaySendWhileItAnnouncesAnEmptyQueue) {
  const auto mesh = make_mesh(GetParam(), {.width = 4, .height = 1});
  int arrivals = 0;
  mesh->on_arrival([&](Node, const Packet&) { ++arrivals; });
  int drained = 0;
  mesh->on_drained([&](Node node) {
    if (++drained < 6) mesh->send(packet(node, {0, 3}, 8));
  });
  const Cycles begin = Wakeup::now();
  mesh->send(packet(1, {0, 3}, 8));
  simulate();
  EXPECT_EQ(drained, 6);
  EXPECT_EQ(arrivals, 12);
  // A stream without a gap: the last of 48 flits leaves in cycle 48.
  EXPECT_GE(Wakeup::now() - begin, 48U + 1 + 3 * 5);
  EXPECT_LE(Wakeup::now() - begin, 48U + 1 + 3 * 5 + 2);  // and the last credits
  EXPECT_EQ(mesh->unfinished(), "");
}

TEST_P(EitherMesh, CountsWhatWaitsForALink) {
  const auto mesh = make_mesh(GetParam(), {.width = 3, .height = 1});
  run(*mesh, {{0, packet(0, {1}, 8)}, {0, packet(2, {1}, 8)}});
  const std::vector<LinkLoad> loads = mesh->link_loads();
  ASSERT_EQ(loads.size(), 7U);  // two there, two back, three tiles
  for (const LinkLoad& load : loads) {
    const bool contended = load.from == 1 && load.to == 1;
    EXPECT_EQ(load.stalled_cycles > 0, contended) << load.from << " -> " << load.to;
    EXPECT_EQ(load.flits, contended ? 16U : load.to == 1 ? 8U : 0U);
  }
}

TEST_P(EitherMesh, LeavesNothingBehindInTheKernel) {
  for (int made = 0; made < 3; ++made) {
    auto mesh = make_mesh(GetParam(), {.width = 2, .height = 2});
    mesh->send(packet(0, {3}, 8));
    EXPECT_NE(mesh->unfinished(), "");
    mesh.reset();  // with a packet under way
    simulate();
  }
}

TEST(PacketMesh, WarnsAboveTheLoadItIsGoodFor) {
  const auto at_gap = [](Cycles gap) {
    const auto mesh = make_mesh(Model::kPacket, {.width = 2, .height = 1});
    std::vector<Sent> sends;
    for (Cycles cycle = 0; cycle < 100 * gap; cycle += gap) {
      sends.push_back({cycle, packet(0, {1}, 8)});
    }
    run(*mesh, sends);
    return mesh->warning();
  };
  EXPECT_EQ(at_gap(16), "");
  EXPECT_EQ(at_gap(10),
            "the link from router 0 to router 1 was busy in 79 % of 1009 cycles; above 60 % the "
            "packet model, which has no back-pressure, is too fast: use the flit model");
  EXPECT_EQ(make_mesh(Model::kPacket, {.width = 1, .height = 1})->warning(), "");
}

}  // namespace
}  // namespace logos::spatial
