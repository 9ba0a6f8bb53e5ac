// Heads and attention against plain loops: windows, splits, chunks and batches, query heads that a
// chip shares with others.

#include <gtest/gtest.h>

#include "kernel_bench.h"
#include "plain.h"

namespace logos::cuda::testing {
namespace {

int pitch_of(int columns) { return (columns + 7) / 8 * 8; }

struct HeadsCase {
  int rows;
  int heads;
  int columns;
  bool norm;
  bool rotate;
  bool push;
  bool each;
};

void expect_heads(const HeadsCase& c, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << c.heads << " heads of " << c.columns << ", seed " << seed);
  Random random(seed);
  const int half = c.columns / 2;
  const int capacity = 11;
  const int caches = c.each ? c.rows : 1;
  const auto blocks = static_cast<std::size_t>(c.rows * c.heads);
  const auto columns = static_cast<std::size_t>(c.columns);
  const auto x = random.numbers(blocks * columns);
  const auto gain = random.numbers(columns, -3, 3);
  std::vector<float> cosines;
  std::vector<float> sines;
  std::vector<std::int32_t> positions;
  for (int i = 0; i < c.rows * half; ++i) {
    const double angle = static_cast<double>(random.whole(0, 1 << 20)) * 1e-3;
    cosines.push_back(static_cast<float>(std::cos(angle)));
    sines.push_back(static_cast<float>(std::sin(angle)));
  }
  for (int r = 0; r < c.rows; ++r) {
    positions.push_back(c.each ? static_cast<int>(random.whole(0, capacity - 1)) : 2 + r);
  }

  KernelBench bench(0xFFFFFFFF, seed);
  HeadsArguments<Pointer> a{};
  // A second, plain segment: the first one's launch must not depend on its neighbours.
  for (int i = 0; i < 2; ++i) {
    HeadsSegment<Pointer>& s = a.segments[i];
    s.x = bench.put(x);
    s.heads = c.heads;
    s.q = bench.room<std::int16_t>(blocks * columns);
    s.exponents = bench.room<std::int8_t>(blocks);
    s.fault = bench.put(std::vector<std::uint32_t>{0});
  }
  HeadsSegment<Pointer>& s = a.segments[0];
  if (c.norm) {
    s.gain = bench.put(gain);
    s.normed = bench.room<float>(blocks * columns);
    s.norm_fault = bench.put(std::vector<std::uint32_t>{0});
  }
  s.rotate = c.rotate ? 1 : 0;
  if (c.rotate) s.rotated = bench.room<float>(blocks * columns);
  const auto cached = static_cast<std::size_t>(caches * capacity * c.heads);
  if (c.push) {
    s.cache = bench.room<std::int16_t>(cached * static_cast<std::size_t>(pitch_of(c.columns)));
    s.cache_exponents = bench.room<std::int8_t>(cached);
  }
  a.cosines = bench.put(cosines);
  a.sines = bench.put(sines);
  a.positions = bench.put(positions);
  a.rows = c.rows;
  a.columns = c.columns;
  a.head_pitch = pitch_of(c.columns);
  a.used = 2;
  a.capacity = capacity;
  a.each = c.each ? 1 : 0;
  a.epsilon = 1e-6F;
  bench.launch(kernels().head_blocks, {static_cast<std::uint32_t>((2 * c.rows * c.heads + 3) / 4)},
               128, 0, a);

  const auto q = bench.get(s.q, blocks * columns);
  const auto other = bench.get(a.segments[1].q, blocks * columns);
  const auto exponents = bench.get(s.exponents, blocks);
  for (int row = 0; row < c.rows; ++row) {
    for (int head = 0; head < c.heads; ++head) {
      const auto block = static_cast<std::size_t>(row * c.heads + head);
      std::vector<float> y(x.begin() + static_cast<std::ptrdiff_t>(block * columns),
                           x.begin() + static_cast<std::ptrdiff_t>((block + 1) * columns));
      const PlainBlock plain = q16(y);
      if (c.norm) {
        y = plain_norm(y, gain, 1e-6F).y;
        const auto got = bench.get(s.normed + block * columns, columns);
        for (std::size_t j = 0; j < columns; ++j) ASSERT_EQ(bits(got[j]), bits(y[j]));
      }
      if (c.rotate) {
        for (int j = 0; j < half; ++j) {
          const auto at = static_cast<std::size_t>(row * half + j);
          const auto low = static_cast<std::size_t>(j);
          const auto high = static_cast<std::size_t>(j + half);
          const float p = y[low];
          const float r = y[high];
          const float pc = p * cosines[at];
          const float rs = r * sines[at];
          const float ps = p * sines[at];
          const float rc = r * cosines[at];
          y[low] = pc - rs;
          y[high] = ps + rc;
        }
        const auto got = bench.get(s.rotated + block * columns, columns);
        for (std::size_t j = 0; j < columns; ++j) ASSERT_EQ(bits(got[j]), bits(y[j]));
      }
      const PlainBlock want = q16(y);
      ASSERT_EQ(exponents[block], want.e);
      const int position = positions[static_cast<std::size_t>(row)];
      const std::size_t place =
          static_cast<std::size_t>(((c.each ? row : 0) * capacity + position) * c.heads + head);
      std::vector<std::int16_t> pushed;
      if (c.push) {
        pushed = bench.get(s.cache + place * static_cast<std::size_t>(a.head_pitch), columns);
        ASSERT_EQ(bench.get(s.cache_exponents + place, 1)[0], want.e);
      }
      for (std::size_t j = 0; j < columns; ++j) {
        ASSERT_EQ(q[block * columns + j], want.q[j]) << "row " << row << " head " << head;
        ASSERT_EQ(other[block * columns + j], plain.q[j]);
        if (c.push) {
          ASSERT_EQ(pushed[j], want.q[j]);
        }
      }
    }
  }
}

TEST(HeadBlocks, EqualThePlainLoop) {
  std::uint64_t seed = 1;
  for (const int columns : {2, 8, 20, 64, 128, 256}) {
    expect_heads({3, 5, columns, false, true, true, false}, seed++);
    expect_heads({3, 5, columns, true, true, true, true}, seed++);
    expect_heads({1, 1, columns, true, false, false, false}, seed++);
    expect_heads({2, 7, columns, false, false, true, true}, seed++);
  }
}

struct AttentionCase {
  int rows;
  int first_head;  ///< of this chip, in the model
  int heads;
  int group;
  int columns;
  int capacity;
  int window;
  bool each;
  int split;
  int first_position;
};

/// A cache with some zero blocks; what no row may see holds noise.
struct PlainCache {
  std::vector<std::int16_t> blocks;  ///< `[caches, capacity, key_heads, pitch]`
  std::vector<std::int8_t> exponents;
};
PlainCache plain_cache(Random& random, int blocks, int columns) {
  PlainCache cache;
  for (int i = 0; i < blocks; ++i) {
    const bool zero = random.whole(0, 9) == 0;
    cache.exponents.push_back(static_cast<std::int8_t>(zero ? kZe : random.whole(-20, -8)));
    for (int j = 0; j < pitch_of(columns); ++j) {
      const bool padding = j >= columns;
      cache.blocks.push_back(static_cast<std::int16_t>(
          zero && !padding ? 0 : random.whole(padding ? -32768 : -32767, 32767)));
    }
  }
  return cache;
}

struct PlainAttention {
  std::vector<float> scores;
  std::vector<std::int32_t> weights;
  std::int64_t sum = 0;
  std::vector<float> values;
};

/// One query over the positions [first, last] of its cache; `at(t)` is the block of position t.
template <typename BlockAt>
PlainAttention plain_attention(std::span<const std::int16_t> q, int qe, const PlainCache& keys,
                               const PlainCache& values, int columns, int first, int last,
                               BlockAt at) {
  PlainAttention result;
  const auto pitch = static_cast<std::size_t>(pitch_of(columns));
  const float root = std::sqrt(f(columns));
  const float isq = 1.0F / root;
  float m = -INFINITY;
  int top = kZe;
  for (int t = first; t <= last; ++t) {
    const std::size_t block = at(t);
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
      sum += std::int64_t{q[j]} * keys.blocks[block * pitch + j];
    }
    const int ke = keys.exponents[block];
    const float scaled = f(sum) * isq;
    const bool none = qe == kZe || ke == kZe || qe + ke < -100;
    result.scores.push_back(none ? 0.0F : power(scaled, qe + ke));
    m = std::max(m, result.scores.back());
    top = std::max<int>(top, values.exponents[block]);
  }
  std::vector<std::int64_t> sums(static_cast<std::size_t>(columns), 0);
  for (int t = first; t <= last; ++t) {
    const std::size_t block = at(t);
    const float below = result.scores[static_cast<std::size_t>(t - first)] - m;
    const float p = plain_exp(below);
    result.sum += r(p, 23);
    const int ve = values.exponents[block];
    const std::int64_t weight = ve == kZe ? 0 : r(p, 23 + ve - top);
    result.weights.push_back(static_cast<std::int32_t>(weight));
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] += weight * values.blocks[block * pitch + j];
    }
  }
  const float inverse = 8388608.0F / f(result.sum);
  for (const std::int64_t sum : sums) {
    const float product = f(sum) * inverse;
    result.values.push_back(top == kZe ? 0.0F : power(product, top - 23));
  }
  return result;
}

void expect_attention(const AttentionCase& c, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message()
               << c.rows << " rows, heads " << c.first_head << " and on of " << c.heads
               << ", group " << c.group << ", " << c.columns << " columns, window " << c.window
               << ", split " << c.split << ", seed " << seed);
  Random random(seed);
  const int first_key = c.first_head / c.group;
  const int key_heads = (c.first_head + c.heads - 1) / c.group - first_key + 1;
  const int caches = c.each ? c.rows : 1;
  const auto columns = static_cast<std::size_t>(c.columns);
  std::vector<std::int16_t> q;
  std::vector<std::int8_t> exponents;
  std::vector<std::int32_t> positions;
  for (int r = 0; r < c.rows; ++r) {
    positions.push_back(c.each ? static_cast<int>(random.whole(0, c.capacity - 1))
                               : c.first_position + r);
    for (int h = 0; h < c.heads; ++h) {
      exponents.push_back(static_cast<std::int8_t>(h == 1 ? kZe : random.whole(-16, -10)));
      for (int j = 0; j < c.columns; ++j) {
        q.push_back(static_cast<std::int16_t>(random.whole(-32767, 32767)));
      }
    }
  }
  const int blocks = caches * c.capacity * key_heads;
  const PlainCache keys = plain_cache(random, blocks, c.columns);
  const PlainCache values = plain_cache(random, blocks, c.columns);

  KernelBench bench(0x7FC00000, seed);
  AttentionArguments<Pointer> a{};
  a.q = bench.put(q);
  a.exponents = bench.put(exponents);
  a.keys = bench.put(keys.blocks);
  a.key_exponents = bench.put(keys.exponents);
  a.values = bench.put(values.blocks);
  a.value_exponents = bench.put(values.exponents);
  a.positions = bench.put(positions);
  a.rows = a.tile_rows = c.rows;
  a.heads = c.heads;
  a.key_heads = key_heads;
  a.columns = c.columns;
  a.head_pitch = pitch_of(c.columns);
  a.group = c.group;
  a.first_head = c.first_head;
  a.first_key = first_key;
  a.window = c.window;
  a.each = c.each ? 1 : 0;
  a.split = c.split;
  a.row_tile = c.each ? 1 : std::max(kBlockQueries / c.group, 1);
  a.capacity = c.capacity;
  a.splits = (c.capacity + c.split - 1) / c.split;
  const auto queries = static_cast<std::size_t>(c.rows * c.heads);
  const auto splits = static_cast<std::size_t>(a.splits);
  const auto span = splits * static_cast<std::size_t>(a.split);
  a.scores = bench.room<float>(queries * span);
  a.weights = bench.room<std::int32_t>(queries * span);
  a.maxima = bench.room<std::uint32_t>(queries * splits);
  a.tops = bench.room<std::int32_t>(static_cast<std::size_t>(c.rows * key_heads) * splits);
  a.weight_sums = bench.room<std::int64_t>(queries * splits);
  a.value_sums = bench.room<std::int64_t>(queries * splits * columns);
  a.totals = bench.room<std::int64_t>(queries);
  const std::size_t row_columns = static_cast<std::size_t>(c.heads) * columns;
  const auto rows = static_cast<std::size_t>(c.rows);
  const std::size_t pitch = (row_columns + 31) / 32 * 32;
  a.row.out = bench.room<float>(rows * row_columns);
  a.row.hi = bench.room<std::int8_t>(rows * pitch);
  a.row.lo = bench.room<std::uint8_t>(rows * pitch);
  a.row.exponents = bench.room<std::int8_t>(rows);
  a.row.fault = bench.put(std::vector<std::uint32_t>{0});
  a.row.pitch = static_cast<std::int32_t>(pitch);

  const Dim3 grid{static_cast<std::uint32_t>(a.splits), static_cast<std::uint32_t>(key_heads),
                  static_cast<std::uint32_t>((c.rows + a.row_tile - 1) / a.row_tile)};
  const auto threads = static_cast<std::uint32_t>(std::min(c.split, 128));
  bench.launch(kernels().attention_scores, grid, threads, 8 * (256 / 8 * 16 + 8), a);
  bench.launch(kernels().attention_values, grid, threads,
               static_cast<std::size_t>(8 * (4 * c.split + 16)), a);
  bench.launch(kernels().attention_rows, {static_cast<std::uint32_t>(c.rows)}, 64,
               512 + (static_cast<std::size_t>(c.heads) * 8 + 15) / 16 * 16 + 4 * row_columns, a);

  const auto scores = bench.get(a.scores, queries * span);
  const auto weights = bench.get(a.weights, queries * span);
  const auto totals = bench.get(a.totals, queries);
  const auto out = bench.get(a.row.out, rows * row_columns);
  const auto hi = bench.get(a.row.hi, rows * pitch);
  const auto lo = bench.get(a.row.lo, rows * pitch);
  const auto tags = bench.get(a.row.exponents, rows);
  for (int row = 0; row < c.rows; ++row) {
    const int last = positions[static_cast<std::size_t>(row)];
    const int first = c.window == 0 ? 0 : std::max(0, last - c.window + 1);
    std::vector<float> whole;
    for (int head = 0; head < c.heads; ++head) {
      const auto query = static_cast<std::size_t>(row * c.heads + head);
      const int key = (c.first_head + head) / c.group - first_key;
      const auto at = [&](int t) {
        return static_cast<std::size_t>(((c.each ? row : 0) * c.capacity + t) * key_heads + key);
      };
      const PlainAttention want =
          plain_attention(std::span(q).subspan(query * columns, columns), exponents[query], keys,
                          values, c.columns, first, last, at);
      ASSERT_EQ(totals[query], want.sum) << "row " << row << " head " << head;
      for (int t = first; t <= last; ++t) {
        const auto i = static_cast<std::size_t>(t - first);
        const std::size_t place = query * span + static_cast<std::size_t>(t);
        ASSERT_EQ(bits(scores[place]), bits(want.scores[i])) << "position " << t;
        ASSERT_EQ(weights[place], want.weights[i]) << "position " << t;
      }
      for (std::size_t j = 0; j < columns; ++j) {
        ASSERT_EQ(bits(out[query * columns + j]), bits(want.values[j]))
            << "row " << row << " head " << head << " column " << j;
      }
      whole.insert(whole.end(), want.values.begin(), want.values.end());
    }
    const PlainBlock block = q16(whole);
    ASSERT_EQ(tags[static_cast<std::size_t>(row)], block.e);
    for (std::size_t j = 0; j < pitch; ++j) {
      const std::size_t place = static_cast<std::size_t>(row) * pitch + j;
      ASSERT_EQ(256 * hi[place] + lo[place], j < row_columns ? block.q[j] : 0);
    }
  }
}

TEST(Attention, OfStepsEqualsThePlainLoop) {
  std::uint64_t seed = 1;
  for (const int columns : {2, 8, 20, 64, 256}) {
    expect_attention({1, 0, 8, 2, columns, 40, 0, false, 64, 39}, seed++);
    expect_attention({1, 0, 4, 4, columns, 200, 0, false, 64, 150}, seed++);
    expect_attention({1, 0, 3, 1, columns, 1, 0, false, 64, 0}, seed++);
  }
}

TEST(Attention, OfChunksIsCausal) {
  std::uint64_t seed = 50;
  for (const int split : {64, 128, 256}) {
    expect_attention({11, 0, 4, 2, 32, 161, 0, false, split, 150}, seed++);
    expect_attention({65, 0, 2, 1, 8, 70, 0, false, split, 5}, seed++);
    expect_attention({3, 0, 12, 12, 8, 90, 0, false, split, 60}, seed++);
  }
}

TEST(Attention, OfAWindowSeesNoMore) {
  std::uint64_t seed = 80;
  for (const int window : {1, 2, 64, 65, 500}) {
    expect_attention({1, 0, 4, 2, 16, 300, window, false, 64, 299}, seed++);
    expect_attention({9, 0, 4, 2, 16, 300, window, false, 64, 100}, seed++);
    expect_attention({5, 0, 2, 2, 16, 300, window, true, 64, 0}, seed++);
  }
}

TEST(Attention, OfABatchReadsEachRowsOwnCache) {
  std::uint64_t seed = 110;
  for (const int rows : {1, 2, 7}) {
    expect_attention({rows, 0, 6, 3, 24, 130, 0, true, 64, 0}, seed++);
  }
}

TEST(Attention, OfAChipsHeadsThatCutAGroupEqualsThePlainLoop) {
  std::uint64_t seed = 140;
  for (const auto& [first, heads] : {std::pair{1, 2}, {2, 3}, {5, 7}, {3, 1}, {7, 9}}) {
    expect_attention({1, first, heads, 4, 16, 100, 0, false, 64, 99}, seed++);
    expect_attention({5, first, heads, 4, 16, 100, 30, false, 64, 70}, seed++);
    expect_attention({4, first, heads, 4, 16, 100, 0, true, 64, 0}, seed++);
  }
}

TEST(Attention, OfMoreQueriesThanABlockHoldsEqualsThePlainLoop) {
  expect_attention({1, 0, 24, 24, 16, 70, 0, false, 64, 69}, 170);
  expect_attention({2, 4, 20, 16, 16, 70, 0, true, 64, 0}, 171);
}

}  // namespace
}  // namespace logos::cuda::testing
