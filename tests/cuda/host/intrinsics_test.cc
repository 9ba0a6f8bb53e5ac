#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "cuda/kernels/primitives.cuh"
#include "tests/cuda/host/run.h"

namespace logos::cuda {
namespace {

using ::testing::HasSubstr;

/// Values that one warp's body returns, a lane each.
template <typename T, typename Body>
std::array<T, 32> warp(const Body& body, std::uint64_t seed = 3) {
  host::Executor executor({.seed = seed});
  std::array<T, 32> out{};
  run(executor, {{1}, {32}, 0}, [&] { out[threadIdx.x] = body(static_cast<int>(threadIdx.x)); });
  return out;
}

template <typename T>
std::array<T, 32> random_values(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::array<T, 32> values;
  for (T& value : values) value = static_cast<T>(random());
  return values;
}

TEST(Intrinsics, ShuffleReadsTheNamedLaneOfEachSegment) {
  const auto values = random_values<long long>(1);
  for (const int width : {32, 16, 8, 4, 2, 1}) {
    for (int source = -3; source < 40; ++source) {
      const auto got = warp<long long>([&](int lane) {
        return __shfl_sync(kAllLanes, values[static_cast<std::size_t>(lane)], source, width);
      });
      for (int lane = 0; lane < 32; ++lane) {
        const int from = lane / width * width + (source & (width - 1));
        EXPECT_EQ(got[static_cast<std::size_t>(lane)], values[static_cast<std::size_t>(from)]);
      }
    }
  }
}

TEST(Intrinsics, ShuffleXorUpAndDownStayInTheirSegment) {
  const auto values = random_values<int>(2);
  const auto value = [&](int lane) { return values[static_cast<std::size_t>(lane)]; };
  for (const int width : {32, 16, 8, 4}) {
    for (int by = 0; by < width; ++by) {
      const auto got_xor =
          warp<int>([&](int lane) { return __shfl_xor_sync(kAllLanes, value(lane), by, width); });
      const auto down = warp<int>([&](int lane) {
        return __shfl_down_sync(kAllLanes, value(lane), static_cast<unsigned>(by), width);
      });
      const auto up = warp<int>([&](int lane) {
        return __shfl_up_sync(kAllLanes, value(lane), static_cast<unsigned>(by), width);
      });
      for (int lane = 0; lane < 32; ++lane) {
        const int within = lane % width;
        const auto at = static_cast<std::size_t>(lane);
        EXPECT_EQ(got_xor[at], value(lane ^ by));
        EXPECT_EQ(down[at], value(within + by < width ? lane + by : lane));
        EXPECT_EQ(up[at], value(within >= by ? lane - by : lane));
      }
    }
  }
}

TEST(Intrinsics, ShuffleTakesFloatsAndLongs) {
  const auto floats = warp<float>(
      [](int lane) { return __shfl_xor_sync(kAllLanes, static_cast<float>(lane) + 0.5F, 31); });
  EXPECT_EQ(floats[0], 31.5F);
  const auto longs = warp<unsigned long long>([](int lane) {
    return __shfl_down_sync(kAllLanes, 0xFFFFFFFF00000000ULL + static_cast<unsigned>(lane), 1U);
  });
  EXPECT_EQ(longs[3], 0xFFFFFFFF00000004ULL);
}

TEST(Intrinsics, VotesSeeEveryLane) {
  const auto ballot =
      warp<unsigned>([](int lane) { return __ballot_sync(kAllLanes, lane % 3 == 0); });
  unsigned want = 0;
  for (unsigned lane = 0; lane < 32; lane += 3) want |= 1U << lane;
  for (const unsigned vote : ballot) EXPECT_EQ(vote, want);
  EXPECT_EQ(warp<int>([](int lane) { return __any_sync(kAllLanes, lane == 31); })[0], 1);
  EXPECT_EQ(warp<int>([](int) { return __any_sync(kAllLanes, 0); })[0], 0);
  EXPECT_EQ(warp<int>([](int lane) { return __all_sync(kAllLanes, lane != 31); })[5], 0);
  EXPECT_EQ(warp<int>([](int) { return __all_sync(kAllLanes, 7); })[5], 1);
}

TEST(Intrinsics, WarpReductionsAreExact) {
  const auto u32 = random_values<std::uint32_t>(4);
  const auto s64 = random_values<std::int64_t>(5);
  std::uint32_t highest = 0;
  std::uint32_t sum32 = 0;
  std::uint64_t sum64 = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    highest = std::max(highest, u32[i]);
    sum32 += u32[i];
    sum64 += static_cast<std::uint64_t>(s64[i]);
  }
  const auto at = [](int lane) { return static_cast<std::size_t>(lane); };
  for (const auto got : warp<std::uint32_t>([&](int l) { return warp_max(u32[at(l)]); })) {
    EXPECT_EQ(got, highest);
  }
  for (const auto got :
       warp<std::int32_t>([&](int l) { return warp_sum(static_cast<std::int32_t>(u32[at(l)])); })) {
    EXPECT_EQ(got, static_cast<std::int32_t>(sum32));
  }
  for (const auto got : warp<std::int64_t>([&](int l) { return warp_sum(s64[at(l)]); })) {
    EXPECT_EQ(got, static_cast<std::int64_t>(sum64));
  }
}

TEST(Intrinsics, DotsOfBytesMatchPlainLoops) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 2000; ++i) {
    const auto a = static_cast<std::uint32_t>(random());
    const auto b = static_cast<std::uint32_t>(random());
    const auto c = static_cast<std::int32_t>(random());
    auto signed_sum = static_cast<std::uint32_t>(c);
    auto unsigned_sum = static_cast<std::uint32_t>(c);
    for (unsigned byte = 0; byte < 4; ++byte) {
      const int x = static_cast<int>(a >> (8 * byte) & 0xFF);
      const int y = static_cast<int>(b >> (8 * byte) & 0xFF);
      const int sx = x < 128 ? x : x - 256;
      const int sy = y < 128 ? y : y - 256;
      signed_sum += static_cast<std::uint32_t>(sx * sy);
      unsigned_sum += static_cast<std::uint32_t>(x * sy);
    }
    EXPECT_EQ(dot_s8_s8(a, b, c), static_cast<std::int32_t>(signed_sum));
    EXPECT_EQ(dot_u8_s8(a, b, c), static_cast<std::int32_t>(unsigned_sum));
  }
}

TEST(Intrinsics, AtomicsReturnTheOldValue) {
  host::Executor executor;
  int sum = 0;
  unsigned highest = 5;
  unsigned long long bits = 0;
  unsigned long long wide = 0;
  unsigned owner = 99;
  std::vector<int> old(200);
  run(executor, {{2}, {100}, 0}, [&] {
    const unsigned id = blockIdx.x * 100 + threadIdx.x;
    old[static_cast<std::size_t>(atomicAdd(&sum, 1))] += 1;
    atomicMax(&highest, id);
    atomicOr(&bits, 1ULL << (id % 64));
    atomicAdd(&wide, 1ULL << 33);
    atomicCAS(&owner, 99U, id);
  });
  EXPECT_EQ(sum, 200);
  EXPECT_EQ(std::count(old.begin(), old.end(), 1), 200);
  EXPECT_EQ(highest, 199U);
  EXPECT_EQ(bits, ~0ULL);
  EXPECT_EQ(wide, 200ULL << 33);
  EXPECT_LT(owner, 99U + 101U);
  EXPECT_EQ(atomicExch(&owner, 7U) == 7U, false);
  EXPECT_EQ(owner, 7U);
  int lowest = -5;
  EXPECT_EQ(atomicMax(&lowest, -9), -5);
  EXPECT_EQ(lowest, -5);
}

TEST(Intrinsics, CountingIntrinsicsMatchTheirDefinition) {
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
}

TEST(Intrinsics, WorkCountsItself) {
  host::Executor executor;
  std::vector<std::uint8_t> bytes(1024);
  std::vector<int> out(32);
  const Counters counters = run(executor, {{2}, {32}, 2048}, [&] {
    load_streaming_16(bytes.data() + 16 * threadIdx.x);
    load_streaming_16<Stream::kKv>(bytes.data());
    store(&out[threadIdx.x], load<Stream::kKv>(&bytes[3]));
    count_bytes<Stream::kOther>(100);
    copy_async_16(smem + 16 * threadIdx.x, bytes.data());
    copy_wait<0>();
    dot_s8_s8(1, 2, 3);
    dot_u8_s8(1, 2, 3);
    Accumulators d[3] = {};
    const FragmentA a = {};
    const FragmentB b[3] = {};
    mma_s8_s8(d, a, b);
    __fadd_rn(1.0F, __fmul_rn(2.0F, 3.0F));
    count_fp32(5);
  });
  EXPECT_EQ(counters.traffic.weight_bytes, 64U * (16 + 16));
  EXPECT_EQ(counters.traffic.kv_bytes, 64U * 17);
  EXPECT_EQ(counters.traffic.other_bytes, 64U * (4 + 100));
  EXPECT_EQ(counters.traffic.int8_macs, 64U * 8 + 2U * 3 * 16 * 8 * 32);
  EXPECT_EQ(counters.traffic.tensor_macs, 2U * 3 * 16 * 8 * 32);
  EXPECT_EQ(counters.traffic.fp32_ops, 64U * 7);
  EXPECT_EQ(counters.collectives, 2U);
}

}  // namespace
}  // namespace logos::cuda
