#include "sim/ddr4/request_queue.h"

#include <gtest/gtest.h>

namespace logos::ddr4 {
namespace {

Pending request(int bank, std::uint32_t row, std::uint64_t address) {
  return {.address = address,
          .ready = 0,
          .order = 0,
          .row = row,
          .column = 0,
          .rank = 0,
          .group = 0,
          .bank = static_cast<std::uint8_t>(bank),
          .ticket = 0};
}

TEST(RequestQueue, TheSchedulerSeesNoMoreThanTheBanksPlaces) {
  RequestQueue queue(4, 2, 16);
  const int first = queue.push(request(3, 1, 0));
  queue.push(request(3, 1, 64));
  const int third = queue.push(request(3, 2, 128));
  EXPECT_EQ(queue.first_seen(3, 1), first);
  EXPECT_EQ(queue.first_seen(3, 2), RequestQueue::kNone);
  queue.remove(first);
  EXPECT_EQ(queue.first_seen(3, 2), third);
}

TEST(RequestQueue, IsFullWhenAllWaitingPlacesAreTaken) {
  RequestQueue queue(2, 1, 16);
  const int first = queue.push(request(0, 1, 0));  // in its bank's place
  queue.push(request(0, 1, 64));
  EXPECT_TRUE(queue.has_room());
  queue.push(request(0, 1, 128));
  EXPECT_FALSE(queue.has_room());
  queue.remove(first);
  EXPECT_TRUE(queue.has_room());
  queue.push(request(5, 1, 192));  // another bank's place: none of the waiting ones
  EXPECT_TRUE(queue.has_room());
  EXPECT_EQ(queue.banks(), one_bank(0) | one_bank(5));
}

TEST(RequestQueue, KnowsTheOldestOfAllAndTheYoungestOfALine) {
  RequestQueue queue(8, 8, 16);
  const int oldest = queue.push(request(1, 1, 64));
  const int next = queue.push(request(0, 1, 4096));
  const int again = queue.push(request(1, 1, 64));
  EXPECT_EQ(queue.oldest(), oldest);
  EXPECT_EQ(queue.youngest_for(1, 64), again);
  EXPECT_EQ(queue.youngest_for(1, 64 + 512 * kLineBytes), RequestQueue::kNone);
  queue.remove(oldest);
  EXPECT_EQ(queue.oldest(), next);
  queue.remove(again);
  EXPECT_EQ(queue.youngest_for(1, 64), RequestQueue::kNone);
  EXPECT_EQ(queue.size(), 1);
}

}  // namespace
}  // namespace logos::ddr4
