// Attention against a plain loop: windows, splits, chunks and batches, query heads that a
// chip shares with others.

#include <gtest/gtest.h>

#include "kernel_bench.h"
#include "plain.h"

namespace logos::cuda::testing {
namespace {

int pitch_of(int columns) { return (columns + 7) / 8 * 8; }

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

/// The three launches of attention over random queries and caches.
class AttentionRun {
 public:
  AttentionRun(const AttentionCase& of, std::uint64_t seed)
      : c_(of),
        first_key_(c_.first_head / c_.group),
        key_heads_((c_.first_head + c_.heads - 1) / c_.group - first_key_ + 1),
        random_(seed),
        bench_(0x7FC00000, seed) {
    fill_queries();
    const int blocks = (c_.each ? c_.rows : 1) * c_.capacity * key_heads_;
    keys_ = plain_cache(random_, blocks, c_.columns);
    values_ = plain_cache(random_, blocks, c_.columns);
    fill_arguments();
    fill_outputs();
    launch();
    scores_ = bench_.get(a_.scores, queries() * span());
    weights_ = bench_.get(a_.weights, queries() * span());
    totals_ = bench_.get(a_.totals, queries());
    out_ = bench_.get(a_.row.out, queries() * columns());
  }

  void expect_row(int row) {
    std::vector<float> whole;
    for (int head = 0; head < c_.heads; ++head) {
      const PlainAttention want = plain(row, head);
      expect_query(row, head, want);
      whole.insert(whole.end(), want.values.begin(), want.values.end());
    }
    const PlainBlock block = q16(whole);
    const auto pitch = static_cast<std::size_t>(a_.row.pitch);
    const auto hi = bench_.get(a_.row.hi + static_cast<std::size_t>(row) * pitch, pitch);
    const auto lo = bench_.get(a_.row.lo + static_cast<std::size_t>(row) * pitch, pitch);
    ASSERT_EQ(bench_.get(a_.row.exponents + row, 1)[0], block.e);
    for (std::size_t j = 0; j < pitch; ++j) {
      ASSERT_EQ(256 * hi[j] + lo[j], j < whole.size() ? block.q[j] : 0);
    }
  }

 private:
  std::size_t columns() const { return static_cast<std::size_t>(c_.columns); }
  std::size_t queries() const { return static_cast<std::size_t>(c_.rows * c_.heads); }
  std::size_t splits() const { return static_cast<std::size_t>(a_.splits); }
  std::size_t span() const { return splits() * static_cast<std::size_t>(c_.split); }
  int last(int row) const { return positions_[static_cast<std::size_t>(row)]; }
  int first(int row) const { return c_.window == 0 ? 0 : std::max(0, last(row) - c_.window + 1); }

  void fill_queries() {
    for (int r = 0; r < c_.rows; ++r) {
      positions_.push_back(c_.each ? static_cast<int>(random_.whole(0, c_.capacity - 1))
                                   : c_.first_position + r);
      for (int h = 0; h < c_.heads; ++h) {
        exponents_.push_back(static_cast<std::int8_t>(h == 1 ? kZe : random_.whole(-16, -10)));
        for (int j = 0; j < c_.columns; ++j) {
          q_.push_back(static_cast<std::int16_t>(random_.whole(-32767, 32767)));
        }
      }
    }
  }
  void fill_arguments() {
    a_.q = bench_.put(q_);
    a_.exponents = bench_.put(exponents_);
    a_.keys = bench_.put(keys_.blocks);
    a_.key_exponents = bench_.put(keys_.exponents);
    a_.values = bench_.put(values_.blocks);
    a_.value_exponents = bench_.put(values_.exponents);
    a_.positions = bench_.put(positions_);
    a_.rows = a_.tile_rows = c_.rows;
    a_.heads = c_.heads;
    a_.key_heads = key_heads_;
    a_.columns = c_.columns;
    a_.head_pitch = pitch_of(c_.columns);
    a_.group = c_.group;
    a_.first_head = c_.first_head;
    a_.first_key = first_key_;
    a_.window = c_.window;
    a_.each = c_.each ? 1 : 0;
    a_.split = c_.split;
    a_.row_tile = c_.each ? 1 : std::max(kBlockQueries / c_.group, 1);
    a_.capacity = c_.capacity;
    a_.splits = (c_.capacity + c_.split - 1) / c_.split;
  }
  void fill_outputs() {
    const auto rows = static_cast<std::size_t>(c_.rows);
    a_.scores = bench_.room<float>(queries() * span());
    a_.weights = bench_.room<std::int32_t>(queries() * span());
    a_.maxima = bench_.room<std::uint32_t>(queries() * splits());
    a_.tops = bench_.room<std::int32_t>(rows * static_cast<std::size_t>(key_heads_) * splits());
    a_.weight_sums = bench_.room<std::int64_t>(queries() * splits());
    a_.value_sums = bench_.room<std::int64_t>(queries() * splits() * columns());
    a_.totals = bench_.room<std::int64_t>(queries());
    a_.row.pitch = (c_.heads * c_.columns + 31) / 32 * 32;
    const std::size_t plane = rows * static_cast<std::size_t>(a_.row.pitch);
    a_.row.out = bench_.room<float>(queries() * columns());
    a_.row.hi = bench_.room<std::int8_t>(plane);
    a_.row.lo = bench_.room<std::uint8_t>(plane);
    a_.row.exponents = bench_.room<std::int8_t>(rows);
    a_.row.fault = bench_.put(std::vector<std::uint32_t>{0});
  }
  void launch() {
    const int row_blocks = (c_.rows + a_.row_tile - 1) / a_.row_tile;
    const Dim3 grid{static_cast<std::uint32_t>(a_.splits), static_cast<std::uint32_t>(key_heads_),
                    static_cast<std::uint32_t>(row_blocks)};
    const auto threads = static_cast<std::uint32_t>(std::min(c_.split, 128));
    bench_.launch(kernels().attention_scores, grid, threads, 8 * (256 / 8 * 16 + 8), a_);
    bench_.launch(kernels().attention_values, grid, threads,
                  static_cast<std::size_t>(8 * (4 * c_.split + 16)), a_);
    const auto heads = static_cast<std::size_t>(c_.heads);
    bench_.launch(kernels().attention_rows, {static_cast<std::uint32_t>(c_.rows)}, 64,
                  512 + (heads * 8 + 15) / 16 * 16 + 4 * heads * columns(), a_);
  }

  PlainAttention plain(int row, int head) const {
    const int key = (c_.first_head + head) / c_.group - first_key_;
    const int cache = c_.each ? row : 0;
    const auto at = [&](int t) {
      return static_cast<std::size_t>((cache * c_.capacity + t) * key_heads_ + key);
    };
    const auto query = static_cast<std::size_t>(row * c_.heads + head);
    return plain_attention(std::span(q_).subspan(query * columns(), columns()), exponents_[query],
                           keys_, values_, c_.columns, first(row), last(row), at);
  }
  void expect_query(int row, int head, const PlainAttention& want) const {
    const auto query = static_cast<std::size_t>(row * c_.heads + head);
    ASSERT_EQ(totals_[query], want.sum) << "row " << row << " head " << head;
    for (int t = first(row); t <= last(row); ++t) {
      const auto i = static_cast<std::size_t>(t - first(row));
      const std::size_t place = query * span() + static_cast<std::size_t>(t);
      ASSERT_EQ(bits(scores_[place]), bits(want.scores[i])) << "position " << t;
      ASSERT_EQ(weights_[place], want.weights[i]) << "position " << t;
    }
    for (std::size_t j = 0; j < columns(); ++j) {
      ASSERT_EQ(bits(out_[query * columns() + j]), bits(want.values[j]))
          << "row " << row << " head " << head << " column " << j;
    }
  }

  AttentionCase c_;
  int first_key_;
  int key_heads_;
  Random random_;
  KernelBench bench_;
  AttentionArguments<Pointer> a_{};
  std::vector<std::int16_t> q_;
  std::vector<std::int8_t> exponents_;
  std::vector<std::int32_t> positions_;
  PlainCache keys_;
  PlainCache values_;
  std::vector<float> scores_;
  std::vector<std::int32_t> weights_;
  std::vector<std::int64_t> totals_;
  std::vector<float> out_;
};

void expect_attention(const AttentionCase& c, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message()
               << c.rows << " rows, heads " << c.first_head << " and on of " << c.heads
               << ", group " << c.group << ", " << c.columns << " columns, window " << c.window
               << ", split " << c.split << ", seed " << seed);
  AttentionRun run(c, seed);
  for (int row = 0; row < c.rows; ++row) run.expect_row(row);
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
