#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/error.h"
#include "tests/spatial/network/meshes.h"

// Each planted fault is seen, and the mesh that it stops comes to rest and says where.
namespace logos::spatial {
namespace {

using Kind = MeshFault::Kind;
using testing::HasSubstr;

constexpr MeshConfig kRow{.width = 3, .height = 1, .virtual_channels = 1};

std::vector<Sent> stream(int packets, std::int32_t flits) {
  std::vector<Sent> sends;
  for (int number = 0; number < packets; ++number)
    sends.push_back({0, packet(0, {2}, flits, number)});
  return sends;
}

TEST(MeshFault, ADroppedFlitStopsTheChannelAndIsNamed) {
  // The fourth flit on any link is the first that leaves router 0.
  const auto mesh =
      make_flit_mesh(kRow, {.fault = MeshFault{.kind = Kind::kDroppedFlit, .spared = 3}});
  EXPECT_TRUE(run(*mesh, stream(4, 8)).empty());
  const std::string report = mesh->unfinished();
  EXPECT_THAT(report, HasSubstr("packet 0 (0 -> 2; 8 flits) has not reached 1 of its tiles\n"));
  EXPECT_THAT(report, HasSubstr("from router 0, tile, channel 0: packet 1 (0 -> 2; 8 flits), 8 "
                                "flits here, to east waits for a channel with room for 8: 0 has "
                                "7\n"));
  EXPECT_THAT(report, HasSubstr("from router 1, west, channel 0: packet 0 (0 -> 2; 8 flits), 7 "
                                "flits here, to east: 7 sent by channel 0, waits for the next\n"));
  EXPECT_THAT(report, HasSubstr("to tile 2, channel 0: packet 0 (0 -> 2; 8 flits), 7 flits "
                                "arrived\n"));
  EXPECT_THAT(report, HasSubstr("tile 0: 2 packets wait, first packet 2 (0 -> 2; 8 flits), 0 "
                                "flits of it sent\n"));
  EXPECT_THAT(report, HasSubstr("out of router 0, east, channel 0: 7 of 8 credits are back\n"));
}

TEST(MeshFault, SaysWhoHoldsTheChannelThatOthersWaitFor) {
  // Packet 0 from the west holds the way to tile 1, for which packet 1 from the east then waits.
  const auto mesh =
      make_flit_mesh(kRow, {.fault = MeshFault{.kind = Kind::kDroppedFlit, .spared = 2}});
  run(*mesh, {{0, packet(0, {1}, 8)}, {40, packet(2, {1}, 8)}});
  EXPECT_THAT(mesh->unfinished(),
              HasSubstr("from router 1, east, channel 0: packet 1 (2 -> 1; 8 flits), 8 flits here, "
                        "to tile waits for a channel with room for 8: 0 has 8, held by packet 0 "
                        "(0 -> 1; 8 flits) from router 1, west, channel 0\n"));
}

TEST(MeshFault, ADroppedPacketOfOneFlitIsMissedByItsCreditToo) {
  const auto mesh = make_flit_mesh(
      kRow, {.fault = MeshFault{.kind = Kind::kDroppedFlit, .spared = 0, .from = 4}});
  EXPECT_EQ(run(*mesh, stream(3, 1)).size(), 2U);
  EXPECT_THAT(mesh->unfinished(), HasSubstr(" (0 -> 2; 1 flits) has not reached 1 of its tiles\n"));
  EXPECT_THAT(mesh->unfinished(), HasSubstr("7 of 8 credits are back\n"));
}

TEST(MeshFault, AFlitDroppedBeforeItsTileIsSeenThere) {
  const auto mesh = make_flit_mesh({.width = 1, .height = 1},
                                   {.fault = MeshFault{.kind = Kind::kDroppedFlit, .from = 7}});
  EXPECT_TRUE(run(*mesh, {{0, packet(0, {0}, 4)}}).empty());
  EXPECT_THAT(mesh->unfinished(), HasSubstr("packet 0 (0 -> 0; 4 flits), 3 flits arrived\n"));
}

TEST(MeshFault, ALostCreditIsMissedAtTheEnd) {
  const auto mesh = make_flit_mesh({.width = 3, .height = 1},
                                   {.fault = MeshFault{.kind = Kind::kLostCredit, .spared = 9}});
  EXPECT_EQ(run(*mesh, stream(4, 8)).size(), 4U);  // the other channels carry the rest
  EXPECT_THAT(mesh->unfinished(), testing::MatchesRegex("out of .*: 7 of 8 credits are back\n"));
}

TEST(MeshFault, ALostCreditStopsTheOnlyChannel) {
  const auto mesh =
      make_flit_mesh(kRow, {.fault = MeshFault{.kind = Kind::kLostCredit, .spared = 6}});
  EXPECT_LT(run(*mesh, stream(6, 8)).size(), 6U);
  const std::string report = mesh->unfinished();
  EXPECT_THAT(report, HasSubstr("to east waits for a channel with room for 8: 0 has 7\n"));
  EXPECT_THAT(report, HasSubstr("7 of 8 credits are back\n"));
}

class SwappedDestination : public testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Meshes, SwappedDestination, testing::Values(Model::kFlit, Model::kPacket));

TEST_P(SwappedDestination, IsNamed) {
  const auto mesh = make_mesh(GetParam(), {.width = 3, .height = 2},
                              {.fault = MeshFault{.kind = Kind::kSwappedDestination, .spared = 1}});
  // To all tiles there is no wrong way, so the fault waits for the next packet.
  const std::vector<Arrived> arrivals = run(*mesh, {{0, packet(0, {4}, 2, 0)},
                                                    {50, packet(1, {0, 1, 2, 3, 4, 5}, 2, 1)},
                                                    {100, packet(2, {1, 2}, 2, 2)},
                                                    {150, packet(2, {1, 2}, 2, 3)}});
  std::vector<Node> third;
  for (const Arrived& arrived : arrivals) {
    if (arrived.number == 2) third.push_back(arrived.node);
  }
  EXPECT_THAT(third, testing::UnorderedElementsAre(2, 3));
  EXPECT_EQ(arrivals.size(), 11U);
  EXPECT_EQ(mesh->unfinished(), "packet 2 (2 -> 1, 2; 2 flits) arrived at tile 3\n");
}

TEST(MeshFault, ThePacketModelHasNoFlitsOrCreditsToLose) {
  for (const Kind kind : {Kind::kDroppedFlit, Kind::kLostCredit}) {
    try {
      make_packet_mesh(kRow, {.fault = MeshFault{.kind = kind}});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "mesh: the packet model has no flits or credits that a fault could take");
    }
  }
}

TEST(MeshFault, ALongReportIsCutShort) {
  const auto mesh = make_flit_mesh({.width = 4, .height = 4}, {});
  for (int number = 0; number < 50; ++number) mesh->send(packet(0, {1, 2, 3, 4, 5}, 8));
  EXPECT_THAT(mesh->unfinished(), HasSubstr("packet 19 (0 -> 1, 2, 3, 4, … 5 tiles; 8 flits)"));
  EXPECT_THAT(mesh->unfinished(), HasSubstr("and 31 lines more\n"));
  simulate();
  EXPECT_EQ(mesh->unfinished(), "");
}

}  // namespace
}  // namespace logos::spatial
