// Norm, rotation, blocks and the push of heads, against a plain loop.

#include <gtest/gtest.h>

#include "kernel_bench.h"
#include "plain.h"

namespace logos::cuda::testing {
namespace {

struct HeadsCase {
  int rows;
  int heads;
  int columns;
  bool norm;
  bool rotate;
  bool push;
  bool each;
};

/// One launch over two projections of the same heads: one with all that the case asks for, and a
/// plain one, for neighbours must not show.
class HeadsRun {
 public:
  HeadsRun(const HeadsCase& of, std::uint64_t seed) : c_(of), bench_(0xFFFFFFFF, seed) {
    Random random(seed);
    x_ = random.numbers(blocks() * columns());
    gain_ = random.numbers(columns(), -3, 3);
    for (int i = 0; i < c_.rows * c_.columns / 2; ++i) {
      const double angle = static_cast<double>(random.whole(0, 1 << 20)) * 1e-3;
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
    for (int r = 0; r < c_.rows; ++r) {
      positions_.push_back(c_.each ? static_cast<int>(random.whole(0, kCapacity - 1)) : 2 + r);
    }
    fill_segments();
    fill_shape();
    const int warps = 2 * c_.rows * c_.heads;
    bench_.launch(kernels().head_blocks, {static_cast<std::uint32_t>((warps + 3) / 4)}, 128, 0, a_);
  }

  void expect_head(int row, int head) {
    const auto block = static_cast<std::size_t>(row * c_.heads + head);
    std::vector<float> y(x_.begin() + static_cast<std::ptrdiff_t>(block * columns()),
                         x_.begin() + static_cast<std::ptrdiff_t>((block + 1) * columns()));
    expect_block(a_.segments[1], block, q16(y));
    const HeadsSegment<Pointer>& s = a_.segments[0];
    if (c_.norm) {
      y = plain_norm(y, gain_, 1e-6F).y;
      expect_values(s.normed + block * columns(), y);
    }
    if (c_.rotate) {
      rotate(row, y);
      expect_values(s.rotated + block * columns(), y);
    }
    expect_block(s, block, q16(y));
    if (c_.push) expect_pushed(row, head, q16(y));
  }

 private:
  static constexpr int kCapacity = 11;

  std::size_t blocks() const { return static_cast<std::size_t>(c_.rows * c_.heads); }
  std::size_t columns() const { return static_cast<std::size_t>(c_.columns); }

  void fill_segments() {
    for (int i = 0; i < 2; ++i) {
      HeadsSegment<Pointer>& s = a_.segments[i];
      s.x = bench_.put(x_);
      s.heads = c_.heads;
      s.q = bench_.room<std::int16_t>(blocks() * columns());
      s.exponents = bench_.room<std::int8_t>(blocks());
      s.fault = bench_.put(std::vector<std::uint32_t>{0});
    }
    HeadsSegment<Pointer>& s = a_.segments[0];
    if (c_.norm) {
      s.gain = bench_.put(gain_);
      s.normed = bench_.room<float>(blocks() * columns());
      s.norm_fault = bench_.put(std::vector<std::uint32_t>{0});
    }
    s.rotate = c_.rotate ? 1 : 0;
    if (c_.rotate) s.rotated = bench_.room<float>(blocks() * columns());
    const auto cached = static_cast<std::size_t>((c_.each ? c_.rows : 1) * kCapacity * c_.heads);
    if (c_.push) {
      s.cache = bench_.room<std::int16_t>(cached * static_cast<std::size_t>(pitch()));
      s.cache_exponents = bench_.room<std::int8_t>(cached);
    }
  }
  void fill_shape() {
    a_.cosines = bench_.put(cosines_);
    a_.sines = bench_.put(sines_);
    a_.positions = bench_.put(positions_);
    a_.rows = c_.rows;
    a_.columns = c_.columns;
    a_.head_pitch = pitch();
    a_.used = 2;
    a_.capacity = kCapacity;
    a_.each = c_.each ? 1 : 0;
    a_.epsilon = 1e-6F;
  }
  int pitch() const { return (c_.columns + 7) / 8 * 8; }

  void rotate(int row, std::vector<float>& y) const {
    const int half = c_.columns / 2;
    for (int j = 0; j < half; ++j) {
      const auto at = static_cast<std::size_t>(row * half + j);
      float& low = y[static_cast<std::size_t>(j)];
      float& high = y[static_cast<std::size_t>(j + half)];
      const float pc = low * cosines_[at];
      const float rs = high * sines_[at];
      const float ps = low * sines_[at];
      const float rc = high * cosines_[at];
      low = pc - rs;
      high = ps + rc;
    }
  }

  void expect_values(const float* from, const std::vector<float>& want) {
    const auto got = bench_.get(from, columns());
    for (std::size_t j = 0; j < columns(); ++j) ASSERT_EQ(bits(got[j]), bits(want[j]));
  }
  void expect_block(const HeadsSegment<Pointer>& s, std::size_t block, const PlainBlock& want) {
    const auto q = bench_.get(s.q + block * columns(), columns());
    ASSERT_EQ(bench_.get(s.exponents + block, 1)[0], want.e);
    for (std::size_t j = 0; j < columns(); ++j) ASSERT_EQ(q[j], want.q[j]) << "block " << block;
  }
  void expect_pushed(int row, int head, const PlainBlock& want) {
    const int cache = c_.each ? row : 0;
    const int position = positions_[static_cast<std::size_t>(row)];
    const int place = (cache * kCapacity + position) * c_.heads + head;
    const HeadsSegment<Pointer>& s = a_.segments[0];
    const auto pushed = bench_.get(s.cache + place * pitch(), columns());
    ASSERT_EQ(bench_.get(s.cache_exponents + place, 1)[0], want.e);
    for (std::size_t j = 0; j < columns(); ++j) ASSERT_EQ(pushed[j], want.q[j]);
  }

  HeadsCase c_;
  KernelBench bench_;
  HeadsArguments<Pointer> a_{};
  std::vector<float> x_;
  std::vector<float> gain_;
  std::vector<float> cosines_;
  std::vector<float> sines_;
  std::vector<std::int32_t> positions_;
};

void expect_heads(const HeadsCase& c, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << c.heads << " heads of " << c.columns << ", seed " << seed);
  HeadsRun run(c, seed);
  for (int row = 0; row < c.rows; ++row) {
    for (int head = 0; head < c.heads; ++head) run.expect_head(row, head);
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

}  // namespace
}  // namespace logos::cuda::testing
