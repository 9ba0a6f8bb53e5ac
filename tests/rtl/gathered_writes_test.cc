#include "rtl/driver/gathered_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace logos::d5005 {
namespace {

constexpr auto kBeat = static_cast<std::size_t>(kSuperBeatBytes);

std::vector<std::byte> beats(std::size_t count, int value) {
  return std::vector<std::byte>(count * kBeat, static_cast<std::byte>(value));
}

struct Written {
  std::int64_t at;
  std::size_t beats;
  friend bool operator==(const Written&, const Written&) = default;
};

/// A memory that keeps account of the writes that it gets.
struct Memory {
  std::map<std::int64_t, std::byte> first_bytes;  ///< of each super-beat
  std::vector<Written> writes;

  SuperBeatSink sink() {
    return [this](std::int64_t at, std::span<const std::byte> bytes) {
      writes.push_back({at, bytes.size() / kBeat});
      for (std::size_t b = 0; b < bytes.size() / kBeat; ++b) {
        first_bytes[at + static_cast<std::int64_t>(b)] = bytes[b * kBeat];
      }
    };
  }
};

TEST(GatheredWrites, JoinWhatLiesTogetherInWhateverOrderItComes) {
  Memory memory;
  GatheredWrites writes(100 * kBeat, memory.sink());
  for (const std::int64_t at : {7, 3, 5, 4, 20, 6})
    writes.write(at, beats(1, static_cast<int>(at)));
  writes.write(21, beats(3, 9));
  EXPECT_TRUE(memory.writes.empty());
  writes.flush();
  EXPECT_EQ(memory.writes, (std::vector<Written>{{3, 5}, {20, 4}}));
  writes.flush();
  EXPECT_EQ(memory.writes.size(), 2u);
}

TEST(GatheredWrites, HoldNoMoreThanTheyMay) {
  Memory memory;
  GatheredWrites writes(4 * kBeat, memory.sink());
  for (std::int64_t at = 0; at < 10; ++at) writes.write(at, beats(1, 1));
  writes.write(10, beats(6, 2));  // more than may be held: as it is
  writes.flush();
  EXPECT_EQ(memory.writes, (std::vector<Written>{{0, 4}, {4, 4}, {8, 2}, {10, 6}}));
}

TEST(GatheredWrites, LeaveTheMemoryAsTheWritesOneByOneDo) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Memory gathered;
    Memory plain;
    GatheredWrites writes(16 * kBeat, gathered.sink());
    const SuperBeatSink one_by_one = plain.sink();
    for (int i = 0; i < 40; ++i) {
      const auto at = static_cast<std::int64_t>(random() % 30);
      const std::vector<std::byte> bytes = beats(random() % 5, static_cast<int>(random() % 256));
      writes.write(at, bytes);
      one_by_one(at, bytes);
    }
    writes.flush();
    ASSERT_EQ(gathered.first_bytes, plain.first_bytes) << "round " << round;
    ASSERT_LT(gathered.writes.size(), plain.writes.size());
  }
}

}  // namespace
}  // namespace logos::d5005
