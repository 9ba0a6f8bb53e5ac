#include "spatial/network/chip_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "program/error.h"

namespace logos::spatial {
namespace {

struct Came {
  Cycles cycle;
  Chip to;
  int number;

  bool operator==(const Came&) const = default;
};

ChipMessage message(Chip from, Chip to, std::int64_t bytes, int number = 0) {
  return {.from = from, .to = to, .bytes = bytes, .payload = std::make_shared<const int>(number)};
}

/// What arrived of messages that are all sent now, by order.
std::vector<Came> run(ChipLinks& links, const std::vector<ChipMessage>& messages) {
  std::vector<Came> all;
  const Cycles begin = Wakeup::now();
  links.on_arrival([&](const ChipMessage& came) {
    all.push_back({Wakeup::now() - begin, came.to, *static_cast<const int*>(came.payload.get())});
  });
  for (const ChipMessage& sent : messages) links.send(sent);
  simulate();
  links.on_arrival(nullptr);
  return all;
}

ChipLinksConfig four(bool ring) {
  return {.chips = 4,
          .ring = ring,
          .bytes_per_cycle = 100,
          .latency_cycles = 50,
          .transit_bytes = 1000};
}

TEST(ChipLinks, TakeBytesOverRateAndLatencyAHop) {
  ChipLinks links(four(false));
  EXPECT_EQ(run(links, {message(0, 1, 1000)}), (std::vector<Came>{{60, 1, 0}}));
  EXPECT_EQ(run(links, {message(0, 1, 1)}), (std::vector<Came>{{51, 1, 0}}));
  EXPECT_EQ(run(links, {message(0, 1, 1001)}), (std::vector<Came>{{61, 1, 0}}));
  EXPECT_EQ(run(links, {message(3, 0, 1000)}), (std::vector<Came>{{180, 0, 0}}));
  EXPECT_EQ(links.unfinished(), "");
  ChipLinks slow({.chips = 2, .bytes_per_cycle = 0.75, .latency_cycles = 0, .transit_bytes = 0});
  EXPECT_EQ(run(slow, {message(1, 0, 4)}), (std::vector<Came>{{6, 0, 0}}));
}

TEST(ChipLinks, CarryMessagesOfOneLinkOneAfterTheOther) {
  ChipLinks links(four(false));
  EXPECT_EQ(run(links, {message(0, 1, 1000, 1), message(0, 2, 500, 2), message(1, 2, 300, 3),
                        message(1, 0, 700, 4)}),
            (std::vector<Came>{{53, 2, 3}, {57, 0, 4}, {60, 1, 1}, {120, 2, 2}}));
}

TEST(ChipLinks, GoTheShorterWayAroundARing) {
  ChipLinks links(four(true));
  EXPECT_EQ(run(links, {message(0, 3, 100, 1)}), (std::vector<Came>{{51, 3, 1}}));
  EXPECT_EQ(run(links, {message(3, 0, 100, 2)}), (std::vector<Came>{{51, 0, 2}}));
  // Half-way: chip 0 sends upward, chip 1 downward.
  EXPECT_EQ(run(links, {message(0, 2, 100, 3), message(1, 3, 100, 4)}),
            (std::vector<Came>{{102, 2, 3}, {102, 3, 4}}));
  std::map<std::pair<Chip, Chip>, std::int64_t> bytes;
  for (const ChipLinkLoad& load : links.loads()) bytes[{load.from, load.to}] = load.bytes;
  EXPECT_EQ(bytes, (std::map<std::pair<Chip, Chip>, std::int64_t>{{{0, 1}, 100},
                                                                  {{1, 2}, 100},
                                                                  {{2, 3}, 0},
                                                                  {{3, 0}, 100},
                                                                  {{1, 0}, 100},
                                                                  {{2, 1}, 0},
                                                                  {{3, 2}, 0},
                                                                  {{0, 3}, 200}}));
}

TEST(ChipLinks, ARingOfTwoIsALine) {
  ChipLinks links(
      {.chips = 2, .ring = true, .bytes_per_cycle = 1, .latency_cycles = 1, .transit_bytes = 0});
  EXPECT_EQ(links.loads().size(), 2U);
  EXPECT_EQ(run(links, {message(1, 0, 5)}), (std::vector<Came>{{6, 0, 0}}));
}

TEST(ChipLinks, CountWhatTheyCarry) {
  ChipLinks links(four(false));
  run(links, {message(0, 1, 1000), message(0, 1, 500), message(0, 2, 250)});
  const std::vector<ChipLinkLoad> loads = links.loads();
  ASSERT_EQ(loads.size(), 6U);
  EXPECT_EQ(loads[0].from, 0);
  EXPECT_EQ(loads[0].to, 1);
  EXPECT_EQ(loads[0].bytes, 1750);
  EXPECT_EQ(loads[0].busy_cycles, 18U);
  EXPECT_EQ(loads[0].peak_bytes, 1750);
  EXPECT_EQ(loads[0].stalled_cycles, 0U);
}

TEST(ChipLinks, WaitForRoomInTheNextChip) {
  // 1000 bytes pass through chip 1 at a time; its way on is taken for 30 cycles.
  ChipLinks links(four(false));
  const std::vector<Came> came =
      run(links, {message(1, 2, 3000, 1), message(0, 2, 1000, 2), message(0, 2, 1000, 3)});
  // The second's room is free when the first has left chip 1, in cycle 60 + 10.
  EXPECT_EQ(came, (std::vector<Came>{{80, 2, 1}, {120, 2, 2}, {190, 2, 3}}));
  EXPECT_EQ(links.loads()[0].stalled_cycles, 60U);
}

/// Everybody sends to everybody at once, messages as large as the room.
std::vector<ChipMessage> flood(int chips, int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ChipMessage> all;
  int number = 0;
  for (int round = 0; round < rounds; ++round) {
    for (Chip from = 0; from < chips; ++from) {
      for (Chip to = 0; to < chips; ++to) {
        if (from == to) continue;
        const std::int64_t bytes =
            random() % 2 == 0 ? 1000 : 1 + static_cast<std::int64_t>(random() % 1000);
        all.push_back(message(from, to, bytes, number++));
      }
    }
  }
  return all;
}

class Flood : public testing::TestWithParam<std::tuple<int, bool>> {};
INSTANTIATE_TEST_SUITE_P(Chips, Flood,
                         testing::Combine(testing::Values(2, 3, 4, 5, 8), testing::Bool()));

TEST_P(Flood, ArrivesWholeAndInOrderWhateverTheBackPressure) {
  const auto [chips, ring] = GetParam();
  ChipLinksConfig config = four(ring);
  config.chips = chips;
  const std::vector<ChipMessage> messages = flood(chips, 20, 1);
  std::set<Cycles> ends;
  for (const int closed : {0, 30, 200}) {
    ChipLinks links(config, 9, closed);
    const std::vector<Came> came = run(links, messages);
    EXPECT_EQ(links.unfinished(), "");
    ASSERT_EQ(came.size(), messages.size());
    std::map<std::pair<Chip, Chip>, int> last;
    std::set<int> numbers;
    for (const Came& one : came) {
      const ChipMessage& sent = messages[static_cast<std::size_t>(one.number)];
      EXPECT_EQ(one.to, sent.to);
      EXPECT_TRUE(numbers.insert(one.number).second);
      auto [before, first] = last.try_emplace({sent.from, sent.to}, -1);
      EXPECT_GT(one.number, before->second);
      before->second = one.number;
    }
    ends.insert(came.back().cycle);
    // Whenever it begins.
    for (int repeated = 0; repeated < 3; ++repeated) {
      ChipLinks again(config, 9, closed);
      EXPECT_TRUE(run(again, messages) == came);
    }
  }
  EXPECT_EQ(ends.size(), 3U);
}

TEST(ChipLinks, SayWhatIsUnderWay) {
  ChipLinks links(four(false));
  links.send(message(0, 2, 1000));
  links.send(message(0, 2, 1000));
  EXPECT_EQ(links.unfinished(),
            "link from chip 0 to 1: 2 messages of 2000 bytes wait\n2 messages are under way\n");
  simulate();
  EXPECT_EQ(links.unfinished(), "");
}

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ChipLinks, NameTheKeyThatNoLinksCanHave) {
  const auto made = [](auto ChipLinksConfig::*key, auto value) {
    ChipLinksConfig config = four(false);
    config.*key = value;
    return error_of([&] { ChipLinks links(config); });
  };
  EXPECT_EQ(made(&ChipLinksConfig::chips, 0),
            "chip links: chips is out of range; got 0, want 1 to 1024");
  EXPECT_EQ(made(&ChipLinksConfig::bytes_per_cycle, 0.0),
            "chip links: bytes_per_cycle is out of range; got 0, want more than 0");
  EXPECT_EQ(made(&ChipLinksConfig::transit_bytes, std::int64_t{-1}),
            "chip links: transit_bytes is out of range; got -1, want 0 or more");
}

TEST(ChipLinks, RefuseMessagesThatDoNotFit) {
  ChipLinks links(four(false));
  const auto sent = [&](Chip from, Chip to, std::int64_t bytes) {
    return error_of([&] { links.send(message(from, to, bytes)); });
  };
  EXPECT_EQ(sent(0, 4, 1), "chip links: a message's end is no chip; got 4, want 0 to 3");
  EXPECT_EQ(sent(-1, 2, 1), "chip links: a message's end is no chip; got -1, want 0 to 3");
  EXPECT_EQ(sent(1, 1, 1), "chip links: a message goes to its own chip; got 1, want another");
  EXPECT_EQ(sent(1, 2, 0), "chip links: a message has no bytes; got 0, want 1 or more");
  EXPECT_EQ(sent(0, 2, 1001),
            "chip links: a message does not fit the chips that it passes through; got 1001 bytes, "
            "want up to transit_bytes, 1000");
  EXPECT_EQ(sent(0, 1, 1001), "no error");
}

}  // namespace
}  // namespace logos::spatial
