// Embedding, residual, and what chips read of each other, against plain loops.

#include <gtest/gtest.h>

#include "kernel_bench.h"
#include "plain.h"

namespace logos::cuda::testing {
namespace {

std::uint32_t blocks(std::size_t elements) {
  return static_cast<std::uint32_t>((elements + 255) / 256);
}

TEST(EmbedRows, GiveTheRowsOfTheShareAndZerosForTheOthers) {
  Random random(1);
  const int vocabulary = 97;
  const int columns = 75;
  const int pitch = 96;
  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> multipliers;
  for (int i = 0; i < vocabulary * pitch; ++i) {
    q.push_back(static_cast<std::int8_t>(random.whole(-127, 127)));
  }
  for (int i = 0; i < vocabulary * pitch / 32; ++i) {
    multipliers.push_back(static_cast<std::uint8_t>(random.whole(0, 255)));
  }
  const auto scales = random.numbers(static_cast<std::size_t>(vocabulary), -30, 0);
  const std::vector<std::int32_t> tokens = {0, 31, 32, 64, 65, 96};
  KernelBench bench;
  EmbedArguments<Pointer> a{};
  a.tokens = bench.put(tokens);
  a.q = bench.put(q);
  a.multipliers = bench.put(multipliers);
  a.scales = bench.put(scales);
  a.out = bench.room<float>(tokens.size() * static_cast<std::size_t>(columns));
  a.rows = static_cast<std::int32_t>(tokens.size());
  a.columns = columns;
  a.pitch = pitch;
  a.groups = pitch / 32;
  a.row_begin = 32;
  a.row_end = 65;
  bench.launch(kernels().embed_rows, {static_cast<std::uint32_t>(tokens.size())}, 128, 0, a);
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    const auto got = bench.get(a.out + r * static_cast<std::size_t>(columns), 75);
    const int token = tokens[r];
    for (int j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(token * pitch + j);
      const bool held = token >= 32 && token < 65;
      const float x =
          f(std::int64_t{q[at]} * multipliers[at / 32]) * scales[static_cast<std::size_t>(token)];
      ASSERT_EQ(bits(got[static_cast<std::size_t>(j)]), held ? bits(x) : 0U) << "token " << token;
    }
  }
}

TEST(AddRows, FollowTheResidualRule) {
  Random random(2);
  auto x = random.numbers(1000, -70, 10);
  auto y = random.numbers(1000, -70, 10);
  for (std::size_t i = 0; i < 100; ++i) {
    y[i] = -x[i];  // exact cancellation, and one unit in the last place off it
    if (i % 2 == 0) y[i] = of_bits(bits(y[i]) ^ 1);
  }
  x[0] = 0x1p-60F, y[0] = 0.0F;
  x[1] = of_bits(bits(0x1p-60F) - 1), y[1] = 0.0F;
  x[2] = -0.0F, y[2] = -0.0F;
  KernelBench bench;
  AddArguments<Pointer> a{};
  a.x = bench.put(x);
  a.y = bench.put(y);
  a.out = bench.room<float>(1000);
  a.count = 1000;
  bench.launch(kernels().add_rows, {blocks(1000)}, 256, 0, a);
  const auto got = bench.get(a.out, 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(bits(got[i]), bits(plain_residual(x[i], y[i]))) << x[i] << " + " << y[i];
  }
  EXPECT_EQ(bits(got[0]), bits(0x1p-60F));
  EXPECT_EQ(bits(got[1]), 0U);
  EXPECT_EQ(bits(got[2]), 0U);
}

TEST(ScaleSums, AddTheChipsExactlyBeforeTheRoundings) {
  for (const int chips : {1, 2, 8}) {
    Random random(static_cast<std::uint64_t>(chips));
    const int rows = 3;
    const int columns = 97;
    const std::int64_t stride = 320;
    std::vector<std::int64_t> sums(static_cast<std::size_t>(chips * stride));
    for (auto& sum : sums) sum = random.whole(-(std::int64_t{1} << 44), std::int64_t{1} << 44);
    const auto scales = random.numbers(static_cast<std::size_t>(columns), -30, 0);
    const std::vector<std::int8_t> exponents = {-20, kZe, 26};
    KernelBench bench;
    ScaleArguments<Pointer> a{};
    a.sums = bench.put(sums);
    a.exponents = bench.put(exponents);
    a.scales = bench.put(scales);
    a.out = bench.room<float>(static_cast<std::size_t>(rows * columns));
    a.stride = stride;
    a.rows = rows;
    a.columns = columns;
    a.chips = chips;
    bench.launch(kernels().scale_sums, {blocks(static_cast<std::size_t>(rows * columns))}, 256, 0,
                 a);
    const auto got = bench.get(a.out, static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::int64_t sum = 0;
      for (int chip = 0; chip < chips; ++chip) {
        sum += sums[static_cast<std::size_t>(chip * stride) + i];
      }
      ASSERT_EQ(bits(got[i]), bits(plain_product(sum, exponents[i / 97], scales[i % 97])));
    }
  }
}

TEST(HeldAndJoinedRows, FollowTheFloorShares) {
  for (const int chips : {1, 2, 3, 8, 97, 100}) {
    const int rows = 5;
    const int columns = 97;  // also the vocabulary
    const std::int64_t stride = 512;
    std::vector<float> x;
    for (int i = 0; i < chips * stride; ++i) x.push_back(static_cast<float>(i));
    const std::vector<std::int32_t> tokens = {0, 96, 48, 31, 32};
    KernelBench bench;
    HeldArguments<Pointer> held{};
    held.tokens = bench.put(tokens);
    held.x = bench.put(x);
    held.out = bench.room<float>(485);
    held.stride = stride;
    held.rows = rows;
    held.columns = columns;
    held.chips = chips;
    held.vocabulary = 97;
    bench.launch(kernels().held_rows, {blocks(485)}, 256, 0, held);
    JoinArguments<Pointer> joined{};
    joined.x = held.x;
    joined.out = bench.room<float>(485);
    joined.stride = stride;
    joined.rows = rows;
    joined.columns = columns;
    joined.chips = chips;
    bench.launch(kernels().join_rows, {blocks(485)}, 256, 0, joined);
    const auto got_held = bench.get(held.out, 485);
    const auto got_joined = bench.get(joined.out, 485);
    for (int chip = 0; chip < chips; ++chip) {
      const int begin = chip * 97 / chips;
      const int end = (chip + 1) * 97 / chips;
      for (int row = 0; row < rows; ++row) {
        for (int j = 0; j < columns; ++j) {
          const auto at = static_cast<std::size_t>(row * columns + j);
          const int token = tokens[static_cast<std::size_t>(row)];
          if (token >= begin && token < end) {
            ASSERT_EQ(got_held[at], static_cast<float>(chip * stride + row * columns + j));
          }
          if (j >= begin && j < end) {
            ASSERT_EQ(got_joined[at],
                      static_cast<float>(chip * stride + row * (end - begin) + j - begin));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace logos::cuda::testing
