#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "cuda/kernels/primitives.cuh"
#include "tests/cuda/host/run.h"
#include "tests/cuda/host/test_kernels.h"

namespace logos::cuda {
namespace {

using ::testing::HasSubstr;

/// Row and column in A of byte i (0 … 15) of a lane: PTX ISA, "Matrix Fragments for mma.m16n8k32".
struct At {
  int row;
  int column;
};
At a_of(int lane, int i) {
  const int group = lane >> 2;
  const int in_group = lane % 4;
  const bool upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);
  const int column = i < 8 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16;
  return {upper ? group : group + 8, column};
}
At b_of(int lane, int i) {
  const int in_group = lane % 4;
  return {i < 4 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16, lane >> 2};
}
At c_of(int lane, int i) { return {i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)}; }

struct Matrices {
  std::array<std::array<std::uint8_t, 32>, 16> a;
  std::array<std::array<std::int8_t, 8>, 32> b;
  std::array<std::array<std::int32_t, 8>, 16> c;
};

Matrices random_matrices(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Matrices m;
  const std::array<std::uint8_t, 4> extremes = {0, 127, 128, 255};
  const auto byte = [&] {
    const auto r = random();
    return r % 4 == 0 ? extremes[r / 4 % 4] : static_cast<std::uint8_t>(r >> 8);
  };
  for (auto& row : m.a) {
    for (auto& x : row) x = byte();
  }
  for (auto& row : m.b) {
    for (auto& x : row) x = static_cast<std::int8_t>(byte());
  }
  for (auto& row : m.c) {
    for (auto& x : row) x = static_cast<std::int32_t>(random());
  }
  return m;
}

template <bool kUnsigned>
void expect_product(const Matrices& m, std::uint64_t seed) {
  host::Executor executor({.seed = seed});
  std::array<std::array<std::int32_t, 8>, 16> got{};
  run(executor, {{1}, {32}, 0}, [&] {
    const int lane = static_cast<int>(threadIdx.x);
    FragmentA a = {};
    FragmentB b[1] = {};
    Accumulators d[1];
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (int i = 0; i < 16; ++i) {
      const At p = a_of(lane, i);
      a.value[i / 4] |= std::uint32_t{m.a[at(p.row)][at(p.column)]} << (8 * (i % 4));
    }
    for (int i = 0; i < 8; ++i) {
      const At p = b_of(lane, i);
      const auto byte = static_cast<std::uint8_t>(m.b[at(p.row)][at(p.column)]);
      b[0].value[i / 4] |= std::uint32_t{byte} << (8 * (i % 4));
    }
    for (int i = 0; i < 4; ++i) {
      const At p = c_of(lane, i);
      d[0].value[i] = m.c[at(p.row)][at(p.column)];
    }
    if constexpr (kUnsigned) {
      mma_u8_s8(d, a, b);
    } else {
      mma_s8_s8(d, a, b);
    }
    for (int i = 0; i < 4; ++i) {
      const At p = c_of(lane, i);
      got[at(p.row)][at(p.column)] = d[0].value[i];
    }
  });
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      auto want = static_cast<std::uint32_t>(m.c[row][column]);
      for (std::size_t k = 0; k < 32; ++k) {
        const int x = kUnsigned ? int{m.a[row][k]} : int{static_cast<std::int8_t>(m.a[row][k])};
        want += static_cast<std::uint32_t>(x * m.b[k][column]);
      }
      ASSERT_EQ(got[row][column], static_cast<std::int32_t>(want)) << row << " " << column;
    }
  }
}

TEST(Mma, SignedProductsMatchANaiveLoopInPtxLayout) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    expect_product<false>(random_matrices(seed), seed);
  }
}

TEST(Mma, UnsignedProductsMatchANaiveLoopInPtxLayout) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    expect_product<true>(random_matrices(seed), seed);
  }
}

TEST(Mma, TilesThatShareAEachGetTheirOwnProduct) {
  std::mt19937_64 random(9);
  std::array<std::uint8_t, 16 * 32> a;
  std::array<std::int8_t, 16 * 32> b;
  for (auto& x : a) x = static_cast<std::uint8_t>(random());
  for (auto& x : b) x = static_cast<std::int8_t>(random());
  for (const int a_unsigned : {0, 1}) {
    std::array<int, 16 * 16> c;
    c.fill(1000);
    host::Executor executor;
    launch(executor, "test_mma", {{1}, {32}, 0}, &test_mma,
           MmaArguments{a.data(), b.data(), c.data(), a_unsigned});
    for (std::size_t row = 0; row < 16; ++row) {
      for (std::size_t column = 0; column < 16; ++column) {
        int want = 1000;
        for (std::size_t k = 0; k < 32; ++k) {
          const std::uint8_t x = a[row * 32 + k];
          want +=
              (a_unsigned != 0 ? int{x} : int{static_cast<std::int8_t>(x)}) * b[column * 32 + k];
        }
        ASSERT_EQ(c[row * 16 + column], want);
      }
    }
  }
}

TEST(Mma, WantsAllLanes) {
  EXPECT_THAT(fault_of({{1}, {24}, 0},
                       [] {
                         Accumulators d[1] = {};
                         const FragmentB b[1] = {};
                         mma_s8_s8(d, FragmentA{}, b);
                       }),
              HasSubstr("not all 32 lanes take part"));
}

}  // namespace
}  // namespace logos::cuda
