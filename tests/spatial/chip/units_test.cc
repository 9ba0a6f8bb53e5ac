// Units and ports of a tile by themselves.
#include "spatial/chip/units.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "spatial/chip/stage_map.h"
#include "spatial/network/wakeup.h"

namespace logos::spatial {
namespace {

TEST(SramPort, AccessesShareItsBytes) {
  SramPort port(128);
  EXPECT_EQ(port.access(10, 64), 11u);
  EXPECT_EQ(port.access(10, 64), 11u);  // both fit a cycle
  EXPECT_EQ(port.access(10, 1), 12u);
  EXPECT_EQ(port.access(20, 256), 22u);
  EXPECT_EQ(port.bytes(), 385u);
}

TEST(SramPort, AStreamTakesWhatAccessesLeave) {
  SramPort port(128);
  port.stream(0, 1280);
  EXPECT_EQ(port.stream_end(), 10u);
  EXPECT_EQ(port.access(5, 256), 7u);  // goes first
  EXPECT_EQ(port.stream_end(), 12u);
  EXPECT_EQ(port.access(100, 128), 101u);
}

TEST(Process, WaitsWakesAndEnds) {
  Threads threads;
  std::vector<std::string> said;
  Process sleeper(threads, [&] {
    sleeper.sleep();
    said.push_back("woken");
    sleeper.pause(5);
    said.push_back("paused");
  });
  Process waker(threads, [&] {
    waker.pause(3);
    said.push_back("wakes");
    sleeper.wake();
  });
  const Cycles begin = Wakeup::now();
  simulate();
  EXPECT_EQ(said, (std::vector<std::string>{"wakes", "woken", "paused"}));
  EXPECT_EQ(Wakeup::now() - begin, 8u);
  EXPECT_TRUE(sleeper.ended());
}

TEST(Process, StopsWhereItStands) {
  Threads threads;
  bool unwound = false;
  bool went_on = false;
  Process process(threads, [&] {
    struct Guard {
      bool& unwound;
      ~Guard() { unwound = true; }
    } guard{unwound};
    process.sleep();
    went_on = true;
  });
  simulate();
  EXPECT_FALSE(process.ended());
  process.stop();
  simulate();
  EXPECT_TRUE(process.ended());
  EXPECT_TRUE(unwound);
  EXPECT_FALSE(went_on);
}

TEST(Process, IsUnwoundWhereItIsLeft) {
  Threads threads;
  bool unwound = false;
  {
    Process process(threads, [&] {
      struct Guard {
        bool& unwound;
        ~Guard() { unwound = true; }
      } guard{unwound};
      process.sleep();
    });
    simulate();
    EXPECT_FALSE(unwound);
  }
  EXPECT_TRUE(unwound);
}

TEST(Threads, AreUsedAgain) {
  Threads threads;
  threads.reserve(2);
  std::string order;
  for (int run = 0; run < 3; ++run) {
    Process late(threads, [&] {
      late.pause(2);
      order += 'b';
    });
    Process stopped(threads, [&] {
      stopped.sleep();
      order += 'x';
    });
    Process early(threads, [&] { order += 'a'; });
    simulate();
    stopped.stop();
    simulate();
    EXPECT_TRUE(late.ended() && stopped.ended() && early.ended());
    late.wake();  // as a message does that comes when all is done
    simulate();
  }
  EXPECT_EQ(order, "ababab");
}

/// Uses of a unit in the order in which they ended.
TEST(Unit, ShortWorkGoesFirstThenTheOlderBlock) {
  Threads threads;
  Unit unit;
  std::string order;
  std::vector<std::unique_ptr<Process>> users;
  const auto use = [&](char name, Turn turn, Cycles after) {
    users.push_back(std::make_unique<Process>(threads, [&, name, turn, after, i = users.size()] {
      Process& self = *users[i];
      self.pause(after);
      unit.acquire(self, turn);
      for (Cycles piece = 0; piece < turn.work; piece += 10) {
        unit.yield(self, turn);
        self.pause(10);
      }
      unit.release();
      order += name;
    }));
  };
  use('a', {100, 2}, 0);
  use('b', {100, 1}, 5);  // as long, an older block: at the next piece
  use('c', {10, 9}, 15);  // short: before both
  use('d', {100, 3}, 1);  // waits for all
  simulate();
  EXPECT_EQ(order, "cbad");
}

TEST(Unit, IsKeptAfterItsHolderLeft) {
  Threads threads;
  Unit unit;
  Cycles entered = 0;
  const Cycles begin = Wakeup::now();
  Process first(threads, [&] {
    unit.acquire(first, {});
    unit.keep_until(begin + 30);
    unit.release();
  });
  Process second(threads, [&] {
    second.pause(1);
    unit.acquire(second, {});
    entered = Wakeup::now() - begin;
    unit.release();
  });
  simulate();
  EXPECT_EQ(entered, 30u);
}

TEST(EntriesOf, AreThoseOfEveryTilesThPosition) {
  for (std::int64_t tiles = 1; tiles <= 4; ++tiles) {
    for (std::int64_t last = 0; last < 13; ++last) {
      for (std::int64_t first = 0; first <= last; ++first) {
        for (std::int64_t index = 0; index < tiles; ++index) {
          std::vector<std::int64_t> held;
          for (std::int64_t p = first; p <= last; ++p) {
            if (p % tiles == index) held.push_back(p / tiles);
          }
          const Share entries = entries_of(first, last, index, tiles);
          ASSERT_EQ(entries.size(), static_cast<std::int64_t>(held.size()));
          if (held.empty()) continue;
          ASSERT_EQ(entries.begin, held.front());
        }
      }
    }
  }
}

}  // namespace
}  // namespace logos::spatial
