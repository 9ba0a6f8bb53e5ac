#include "spatial/network/calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace logos::spatial {
namespace {

TEST(Calendar, GivesWhatIsNearAndWhatIsFarInItsCycle) {
  Calendar<int> calendar;
  for (const int when : {700, 3, 255, 256, 5000, 4}) calendar.push(static_cast<Cycles>(when), when);
  std::vector<int> order;
  while (!calendar.empty()) {
    const Cycles now = calendar.next();
    calendar.take(now, [&](int thing) {
      EXPECT_EQ(static_cast<Cycles>(thing), now);
      order.push_back(thing);
      if (thing == 4) calendar.push(300, 300);
    });
  }
  EXPECT_EQ(order, (std::vector<int>{3, 4, 255, 256, 300, 700, 5000}));
}

TEST(Calendar, GivesTheThingsOfACycleInTheOrderAskedFor) {
  Calendar<int> calendar;
  for (const int thing : {2, 0, 3, 1}) calendar.push(9, thing);
  std::vector<int> order;
  calendar.take(
      9, [&](int thing) { order.push_back(thing); },
      [](std::vector<int>& things) { std::sort(things.begin(), things.end()); });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(calendar.empty());
}

TEST(Calendar, KeepsTheOrderOfACycleWheneverItBegins) {
  for (const Cycles begin : {0, 100, 255, 256, 5000}) {
    Calendar<int> calendar;
    for (int thing = 0; thing < 20; ++thing) calendar.push(begin + 300, thing);
    calendar.push(begin + 100, -1);
    calendar.take(begin + 100, [&](int) {
      for (int thing = 20; thing < 40; ++thing) calendar.push(begin + 300, thing);
    });
    int expected = 0;
    calendar.take(begin + 300, [&](int thing) { EXPECT_EQ(thing, expected++); });
    EXPECT_EQ(expected, 40);
  }
}

TEST(Calendar, LosesNothingOverManyTurns) {
  Calendar<Cycles> calendar;
  std::mt19937_64 random(1);
  std::size_t taken = 0;
  Cycles now = 0;
  constexpr std::size_t kThings = 20000;
  for (std::size_t pushed = 0; pushed < kThings || !calendar.empty();) {
    for (; pushed < kThings && random() % 3 != 0; ++pushed) {
      const Cycles when = now + 1 + random() % 1000;
      calendar.push(when, when);
    }
    if (calendar.empty()) continue;
    ASSERT_GT(calendar.next(), now);
    now = calendar.next();
    calendar.take(now, [&](Cycles when) {
      ASSERT_EQ(when, now);
      ++taken;
    });
  }
  EXPECT_EQ(taken, kThings);
}

}  // namespace
}  // namespace logos::spatial
