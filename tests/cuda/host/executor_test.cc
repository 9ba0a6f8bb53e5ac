#include "cuda/host/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "cuda/kernels/primitives.cuh"
#include "program/error.h"
#include "tests/cuda/host/run.h"

namespace logos::cuda {
namespace {

using ::testing::HasSubstr;

constexpr LaunchShape kOneWarp{{1}, {32}, 0};

TEST(Executor, RunsEveryThreadOfEveryBlockOnceWithItsIndices) {
  const LaunchShape shape{{3, 2, 2}, {5, 3, 2}, 0};
  std::vector<int> seen(12 * 30);
  host::Executor executor;
  run(executor, shape, [&] {
    EXPECT_EQ(gridDim.x, 3U);
    EXPECT_EQ(blockDim.y, 3U);
    const unsigned block = blockIdx.x + 3 * (blockIdx.y + 2 * blockIdx.z);
    const unsigned thread = threadIdx.x + 5 * (threadIdx.y + 3 * threadIdx.z);
    ++seen[block * 30 + thread];
  });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 360);
}

TEST(Executor, BarrierSeparatesWritesFromReads) {
  for (const bool mix_warps : {false, true}) {
    host::Executor executor({.seed = 5, .mix_warps = mix_warps});
    std::vector<int> out(256);
    const Counters counters = run(executor, {{1}, {256}, 1024}, [&] {
      int* shared = reinterpret_cast<int*>(smem);
      const unsigned t = threadIdx.x;
      for (int round = 0; round < 3; ++round) {
        shared[t] = static_cast<int>(t) + round;
        __syncthreads();
        out[t] += shared[255 - t];
        __syncthreads();
      }
    });
    for (int t = 0; t < 256; ++t) EXPECT_EQ(out[static_cast<std::size_t>(t)], 3 * (255 - t) + 3);
    EXPECT_EQ(counters.barriers, 6U);
    EXPECT_EQ(counters.barriers_per_block, 6U);
  }
}

TEST(Executor, CountsBarriersOverBlocksAndTheMostOfOne) {
  host::Executor executor;
  const Counters counters = run(executor, {{4}, {64}, 0}, [] {
    for (unsigned i = 0; i <= blockIdx.x; ++i) __syncthreads();
  });
  EXPECT_EQ(counters.barriers, 10U);
  EXPECT_EQ(counters.barriers_per_block, 4U);
}

TEST(Executor, ThreadsMayReturnBeforeLaterBarriersWhereTheKernelSaysSo) {
  const auto body = [] {
    if (threadIdx.x >= 40) return;
    __syncthreads();
    __syncthreads();
  };
  EXPECT_EQ(fault_of({{2}, {64}, 0}, body, true), "");
  EXPECT_THAT(fault_of({{2}, {64}, 0}, body), HasSubstr("not all threads reach"));
}

TEST(Executor, ReportsABarrierThatSomeThreadsSkip) {
  const std::string fault = fault_of({{1}, {64}, 0}, [] {
    if (threadIdx.x < 16) __syncthreads();
  });
  EXPECT_THAT(fault, HasSubstr("kernel test, block (0, 0, 0), thread ("));
  EXPECT_THAT(fault, HasSubstr("seed 1"));
  EXPECT_THAT(fault, HasSubstr("not all threads reach"));
  EXPECT_THAT(fault, HasSubstr("executor_test.cc:"));
}

TEST(Executor, ReportsThreadsAtDifferentBarriers) {
  const std::string fault = fault_of({{1}, {64}, 0}, [] {
    if (threadIdx.x < 32) {  // NOLINT(bugprone-branch-clone): two barriers are what this is about
      __syncthreads();
    } else {
      __syncthreads();
    }
  });
  EXPECT_THAT(fault, HasSubstr("divergent barrier"));
}

TEST(Executor, ReportsAWarpThatWaitsForLanesAtABarrier) {
  const std::string fault = fault_of(kOneWarp, [] {
    if (threadIdx.x < 7) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  });
  EXPECT_THAT(fault, HasSubstr("not all threads reach a barrier or warp operation"));
  EXPECT_THAT(fault, HasSubstr("7 of 32 threads wait at the barrier"));
  EXPECT_THAT(fault, HasSubstr("lanes 0xffffff80 of warp 0 wait in __syncwarp"));
}

TEST(Executor, ReportsDivergentWarpOperations) {
  EXPECT_THAT(fault_of(kOneWarp,
                       [] {
                         if (threadIdx.x < 16) {
                           __shfl_xor_sync(kAllLanes, 1, 1);
                         } else {
                           __syncwarp();
                         }
                       }),
              HasSubstr("divergent warp"));
  EXPECT_THAT(fault_of(kOneWarp,
                       [] {
                         const unsigned mask = threadIdx.x < 16 ? 0x0000FFFF : 0xFFFFFFFF;
                         __syncwarp(mask);
                       }),
              HasSubstr("divergent warp"));
  EXPECT_THAT(fault_of(kOneWarp, [] { __syncwarp(0x7FFFFFFF); }),
              HasSubstr("leaves out the lane itself"));
}

TEST(Executor, HalvesOfAWarpMayWorkApart) {
  host::Executor executor;
  std::vector<int> out(32);
  run(executor, kOneWarp, [&] {
    const unsigned t = threadIdx.x;
    if (t < 16) {
      out[t] = __shfl_xor_sync(0x0000FFFF, static_cast<int>(t), 1);
    } else {
      int value = static_cast<int>(t);
      for (int i = 0; i < 3; ++i) value = __shfl_xor_sync(0xFFFF0000, value, 3);
      out[t] = value;
    }
  });
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(out[static_cast<std::size_t>(t)], t < 16 ? t ^ 1 : t ^ 3);
  }
}

TEST(Executor, ReportsAShuffleFromALaneThatIsNotThere) {
  EXPECT_THAT(fault_of({{1}, {40}, 0}, [] { __shfl_xor_sync(kAllLanes, 1, 16); }),
              HasSubstr("which does not take part"));
}

TEST(Executor, PartialWarpsWorkWithinTheirLanes) {
  host::Executor executor;
  std::vector<int> out(40);
  run(executor, {{1}, {40}, 0}, [&] {
    const unsigned mask = threadIdx.x < 32 ? kAllLanes : 0xFF;
    const int sum = __reduce_add_sync(mask, static_cast<int>(threadIdx.x));
    __syncthreads();
    out[threadIdx.x] = sum;
  });
  EXPECT_EQ(out[0], 31 * 32 / 2);
  EXPECT_EQ(out[39], 32 + 33 + 34 + 35 + 36 + 37 + 38 + 39);
}

TEST(Executor, LanesThatReturnedAreNotWaitedFor) {
  host::Executor executor;
  std::vector<unsigned> votes(32);
  run(executor, kOneWarp, [&] {
    if (threadIdx.x % 2 == 1) return;
    votes[threadIdx.x] = __ballot_sync(kAllLanes, threadIdx.x > 8);
  });
  EXPECT_EQ(votes[4], 0x55555555U & ~0x1FFU);
}

/// Thread 0 reads what others write with no barrier between.
int racy_result(std::uint64_t seed) {
  host::Executor executor({.seed = seed});
  int result = 0;
  run(executor, {{1}, {128}, 512}, [&] {
    int* shared = reinterpret_cast<int*>(smem);
    shared[threadIdx.x] = 1;
    if (threadIdx.x == 64) {
      for (int i = 0; i < 128; ++i) result += shared[i] == 1;
    }
  });
  return result;
}

TEST(Executor, AMissingBarrierShowsAsResultsThatDependOnTheSeed) {
  std::set<int> results;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) results.insert(racy_result(seed));
  EXPECT_GT(results.size(), 3U);
}

TEST(Executor, OneSeedGivesOneOrder) {
  const auto order = [](std::uint64_t seed) {
    host::Executor executor({.seed = seed});
    std::vector<unsigned> visited;
    run(executor, {{5}, {96}, 0}, [&] {
      visited.push_back(blockIdx.x * 96 + threadIdx.x);
      __syncthreads();
      visited.push_back(blockIdx.x * 96 + threadIdx.x);
    });
    return visited;
  };
  EXPECT_EQ(order(7), order(7));
  EXPECT_NE(order(7), order(8));
}

TEST(Executor, BlocksRunInAnOrderOfTheSeed) {
  std::set<std::vector<unsigned>> orders;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    host::Executor executor({.seed = seed});
    std::vector<unsigned> blocks;
    run(executor, {{11}, {1}, 0}, [&] { blocks.push_back(blockIdx.x); });
    orders.insert(blocks);
    std::sort(blocks.begin(), blocks.end());
    std::vector<unsigned> all(11);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(blocks, all);
  }
  EXPECT_GT(orders.size(), 4U);
}

TEST(Executor, FillsDynamicSharedMemoryBeforeEachBlock) {
  host::Executor executor({.shared_fill = 0x5C});
  int good = 0;
  run(executor, {{6}, {1}, 4096}, [&] {
    good += std::all_of(smem, smem + 4096, [](unsigned char byte) { return byte == 0x5C; });
    std::fill(smem, smem + 4096, static_cast<unsigned char>(blockIdx.x));
  });
  EXPECT_EQ(good, 6);
}

TEST(Executor, WorksOnAfterAFault) {
  host::Executor executor;
  const auto diverge = [] {
    if (threadIdx.x < 3) __syncthreads();
    __syncwarp();
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(run(executor, {{2}, {64}, 0}, diverge), host::KernelFault);
    std::vector<int> out(64);
    run(executor, {{1}, {64}, 0}, [&] {
      __syncthreads();
      out[threadIdx.x] = 1;
    });
    EXPECT_EQ(std::count(out.begin(), out.end(), 1), 64);
  }
}

TEST(Executor, ReportsWhatAKernelThrowsAndATrap) {
  EXPECT_THAT(fault_of(kOneWarp, [] { throw Error("here", "went wrong"); }),
              HasSubstr("threw here: went wrong"));
  EXPECT_THAT(fault_of(kOneWarp,
                       [] {
                         if (threadIdx.x == 9) __trap();
                       }),
              HasSubstr("thread (9, 0, 0), seed 1: __trap"));
}

TEST(Executor, RefusesShapesBeyondTheLimits) {
  host::Executor executor;
  const auto message = [&](const LaunchShape& shape) -> std::string {
    try {
      run(executor, shape, [] {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({{0}, {32}, 0}), HasSubstr("grid.x out of range; got 0"));
  EXPECT_THAT(message({{1, 65536}, {32}, 0}), HasSubstr("grid.y"));
  EXPECT_THAT(message({{1}, {1025}, 0}), HasSubstr("block.x"));
  EXPECT_THAT(message({{1}, {32, 33}, 0}), HasSubstr("threads of a block"));
  EXPECT_THAT(message({{1}, {1, 1, 65}, 0}), HasSubstr("block.z"));
  EXPECT_THAT(message({{1}, {32}, kMaxSharedBytes + 1}), HasSubstr("shared memory"));
  EXPECT_EQ(message({{1}, {1024}, kMaxSharedBytes}), "");
}

}  // namespace
}  // namespace logos::cuda
