// The instructions that multiply: products with a matrix, heads, the peak of logits, scaling of
// sums, attention.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/bringup/instruction_model.h"
#include "program/divide_up.h"
#include "program/error.h"
#include "rtl/lowering/lowering_units.h"
#include "sim/kv_cache.h"
#include "sim/reference/arithmetic.h"
#include "sim/reference/attention.h"
#include "sim/reference/instructions.h"

namespace logos::d5005 {
namespace {

using namespace logos::reference;  // NOLINT: the scalar arithmetic by its own names

}  // namespace

void InstructionModel::product(const Instruction& i, const Pass& pass) {
  const bool pairs = i.variant == static_cast<std::uint32_t>(Post::kSilu);
  const std::int64_t quads = divide_up(i.columns, 4) * (pairs ? 2 : 1);
  const auto rows = static_cast<std::size_t>(pass.rows);
  std::vector<std::vector<float>> y(rows);             // by output slot
  std::vector<std::vector<std::int64_t>> exact(rows);  // likewise, before the roundings
  std::int64_t at = i.stream_base;
  std::vector<std::byte> scales, biases, multipliers;
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    if (quad % 16 == 0) {
      scales = stream(at++, 1);
      if (i.bias != 0) biases = stream(at++, 1);
    }
    std::array<std::vector<std::int64_t>, 4> sums;
    for (auto& bank : sums) bank.assign(rows, 0);
    for (std::int64_t word = 0; word < i.words; ++word) {
      const std::int64_t j = (quad * i.words + word) % 32;
      if (j == 0) multipliers = stream(at++, 1);
      const auto weights = stream(at++, 1);
      for (std::size_t bank = 0; bank < 4; ++bank) {
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::int64_t k = 0; k < 64; ++k) {
            const auto q =
                static_cast<std::int8_t>(weights[bank * 64 + static_cast<std::size_t>(k)]);
            const auto c = std::to_integer<std::int64_t>(
                multipliers[bank * 64 + static_cast<std::size_t>(2 * j + k / 32)]);
            sums[bank][r] += c * q * activations_[r][static_cast<std::size_t>(word * 64 + k)];
          }
        }
      }
    }
    for (std::int64_t bank = 0; bank < 4; ++bank) {
      const float scale = float_at(scales, bank * 64 + quad % 16 * 4);
      for (std::size_t r = 0; r < rows; ++r) {
        float value = scaled_sum(sums[static_cast<std::size_t>(bank)][r], exponents_[r], scale);
        if (i.bias != 0) value = value + float_at(biases, bank * 64 + quad % 16 * 4);
        y[r].push_back(value);
        exact[r].push_back(sums[static_cast<std::size_t>(bank)][r]);
      }
    }
  }
  if (at != i.stream_base + i.stream_beats) {
    throw Error("instruction model", "super-beats of a product", fmt::to_string(at - i.stream_base),
                fmt::to_string(i.stream_beats));
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (i.variant == static_cast<std::uint32_t>(Post::kSums)) {
      std::vector<float> lanes(2 * i.columns);
      std::memcpy(lanes.data(), exact[r].data(), lanes.size() * sizeof(float));
      put_row(i, static_cast<std::int64_t>(r), lanes);
      continue;
    }
    std::vector<float> out(i.columns);
    const auto row_r = static_cast<std::int64_t>(r);
    for (std::int64_t c = 0; c < i.columns; ++c) {
      const auto n = static_cast<std::size_t>(c);
      if (pairs) {
        const auto gate = static_cast<std::size_t>(c / 4 * 8 + c % 4);
        out[n] = silu(y[r][gate]) * y[r][gate + 4];
      } else if (i.variant == static_cast<std::uint32_t>(Post::kResidual)) {
        out[n] = residual(vector(i.source + row_r * i.source_stride, c), y[r][n]);
      } else {
        out[n] = y[r][n];
      }
    }
    put_row(i, row_r, out);
    if (i.track != 0) peaks_[1][r] = peak_of(out);
  }
}

void InstructionModel::push(const Instruction& i, const Pass& pass, std::int64_t r,
                            std::int64_t head, std::span<const std::int16_t> q,
                            std::int8_t exponent) {
  const std::int64_t t = pass.first_row + r;
  const std::int64_t position = table_[static_cast<std::size_t>(t)].position;
  const std::int64_t base = i.cache_base + t * i.cache_row_stride + head * i.cache_head_stride;
  const std::int64_t beats = divide_up(i.head_columns, 32);
  const std::int64_t block = position / 128;
  const std::int64_t slot = position % 128 / 4;
  const auto bank = static_cast<int>(position % 4);
  const bool keys = i.target == static_cast<std::uint32_t>(HeadTarget::kKeys);
  const std::int64_t exponents = base + block * (1 + 32 * beats);
  const std::int64_t data = keys ? exponents + 1 + slot * beats
                                 : base + i.values_offset + block * 32 * beats + slot * beats;
  memory_.write_byte(exponents, bank, static_cast<int>(2 * slot + (keys ? 0 : 1)),
                     static_cast<std::byte>(exponent));
  for (std::int64_t c = 0; c < beats * 32; ++c) {
    const auto value = static_cast<std::uint16_t>(
        c < static_cast<std::int64_t>(q.size()) ? q[static_cast<std::size_t>(c)] : 0);
    const auto byte = static_cast<int>(c % 32 * 2);
    memory_.write_byte(data + c / 32, bank, byte, static_cast<std::byte>(value & 0xFF));
    memory_.write_byte(data + c / 32, bank, byte + 1, static_cast<std::byte>(value >> 8));
  }
}

void InstructionModel::heads(const Instruction& i, const Pass& pass) {
  const std::int64_t slots = divide_up(i.head_columns, 4) * 4;
  const std::int64_t words = divide_up(i.head_columns, kLanes);
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    for (std::int64_t head = 0; head < i.heads; ++head) {
      std::vector<float> x(i.head_columns);
      const std::int64_t word = i.source + r * i.source_stride;
      for (std::size_t c = 0; c < x.size(); ++c) {
        x[c] = vector(word, head * slots + static_cast<std::int64_t>(c));
      }
      if (i.norm != 0) {
        const std::span<const float> gains(gains_.data() + i.gain * kLanes, x.size());
        if (rms_norm(x, gains, std::bit_cast<float>(i.epsilon), x) && fault_line_ == 0) {
          fault_line_ = i.line;
        }
      }
      if (i.rotate != 0) {
        rotate(x, cosines_[static_cast<std::size_t>(r)], sines_[static_cast<std::size_t>(r)], x);
      }
      if (i.write_back != 0) {
        for (std::int64_t c = 0; c < slots; ++c) {
          vector(word, head * slots + c) =
              c < i.head_columns ? x[static_cast<std::size_t>(c)] : 0.0F;
        }
      }
      if (i.target == 0) continue;
      std::vector<std::int16_t> q(x.size());
      const BlockScale scale = reference::quantize(x, q);
      if (scale.fault && fault_line_ == 0) fault_line_ = i.line;
      if (i.target != static_cast<std::uint32_t>(HeadTarget::kQuery)) {
        push(i, pass, r, head, q, scale.exponent);
        continue;
      }
      const std::int64_t at = (r * i.heads + head) * words;
      for (std::int64_t c = 0; c < words * kLanes; ++c) {
        queries_.at(static_cast<std::size_t>(at * kLanes + c)) =
            c < i.head_columns ? q[static_cast<std::size_t>(c)] : std::int16_t{0};
      }
      query_exponents_[at] = scale.exponent;
    }
  }
}

void InstructionModel::peak(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const auto& beat = memory_.read(i.stream_base + pass.first_row + r);
    std::uint32_t greatest = 0;
    for (std::size_t chip = 0; chip < i.heads; ++chip) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, beat.data() + 4 * chip, sizeof bits);
      greatest = std::max(greatest, bits);
    }
    peaks_[0][static_cast<std::size_t>(r)] = greatest;
  }
}

void InstructionModel::scale(const Instruction& i, const Pass& pass) {
  const std::int64_t group_beats = 1 + i.bias + 2 * static_cast<std::int64_t>(i.heads);
  if (i.stream_beats != divide_up(i.columns, 64) * group_beats) {
    throw Error("instruction model", "super-beats of sums", describe(i), "of its columns");
  }
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const auto row_r = static_cast<std::size_t>(r);
    std::vector<float> out(i.columns);
    for (std::int64_t c = 0; c < i.columns; ++c) {
      const auto group =
          stream(i.stream_base + (pass.first_row + r) * i.stream_beats + c / 64 * group_beats,
                 group_beats);
      const std::int64_t constant = c % 4 * 64 + c % 64 / 4 * 4;
      std::int64_t sum = 0;
      for (std::int64_t chip = 0; chip < i.heads; ++chip) {
        std::int64_t one = 0;
        std::memcpy(&one, group.data() + (1 + i.bias + 2 * chip) * kSuperBeatBytes + c % 64 * 8,
                    sizeof one);
        sum += one;
      }
      float y = scaled_sum(sum, exponents_[row_r], float_at(group, constant));
      if (i.bias != 0) y = y + float_at(group, kSuperBeatBytes + constant);
      const bool adds = i.variant == static_cast<std::uint32_t>(Post::kResidual);
      out[static_cast<std::size_t>(c)] =
          adds ? residual(vector(i.source + r * i.source_stride, c), y) : y;
    }
    put_row(i, r, out);
    if (i.track != 0) peaks_[1][row_r] = peak_of(out);
  }
}

/// A head of a row's cache up to position `last` as the cache of one layer and head.
KvCache InstructionModel::cached_head(const Instruction& i, std::int64_t base, std::int64_t first,
                                      std::int64_t last) const {
  const std::int64_t beats = divide_up(i.head_columns, 32);
  KvCache cache(last + 1, 1, i.head_columns, 1, 1);
  KvCache::Layer& layer = cache.layer(1);
  for (std::int64_t p = first; p <= last; ++p) {
    const std::int64_t slot = p % 128 / 4;
    const auto bank = static_cast<std::size_t>(p % 4 * 64);
    const std::int64_t block = base + p / 128 * (1 + 32 * beats);
    const auto& exponents = memory_.read(block);
    layer.key_exponents[static_cast<std::size_t>(p)] =
        static_cast<std::int8_t>(exponents[bank + static_cast<std::size_t>(2 * slot)]);
    layer.value_exponents[static_cast<std::size_t>(p)] =
        static_cast<std::int8_t>(exponents[bank + static_cast<std::size_t>(2 * slot + 1)]);
    for (std::int64_t c = 0; c < i.head_columns; ++c) {
      const auto to = static_cast<std::size_t>(p * i.head_columns + c);
      const auto from = bank + static_cast<std::size_t>(c % 32 * 2);
      const std::int64_t beat = slot * beats + c / 32;
      std::memcpy(&layer.keys[to], memory_.read(block + 1 + beat).data() + from, 2);
      std::memcpy(&layer.values[to],
                  memory_.read(base + i.values_offset + p / 128 * 32 * beats + beat).data() + from,
                  2);
    }
  }
  return cache;
}

void InstructionModel::attend(const Instruction& i, const Pass& pass) {
  const std::int64_t beats = divide_up(i.head_columns, 32);
  const std::int64_t query_heads = i.words;  // of a row, of this chip
  const bool whole = i.target == static_cast<std::uint32_t>(AttendStop::kWhole);
  for (auto& row_peak : peaks_[2]) row_peak = 0;
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    if (i.only_row != 0 && r + 1 != i.only_row) continue;
    const std::int64_t t = pass.first_row + r;
    const std::int64_t last = table_[static_cast<std::size_t>(t)].position;
    const std::int64_t first =
        i.window == 0 ? 0
                      : std::max<std::int64_t>(0, last - static_cast<std::int64_t>(i.window) + 1);
    const std::int64_t word = i.destination + r * i.destination_stride;
    std::int64_t end = 0;
    std::uint32_t peak = 0;
    for (std::int64_t head = 0; head < i.heads; ++head) {
      const KvCache cache = cached_head(
          i, i.cache_base + t * i.cache_row_stride + (i.first_head + head) * i.cache_head_stride,
          first, last);
      pair_ = {first, i.target, {}};
      for (std::int64_t g = 0; g < i.group; ++g) {
        const std::int64_t query = static_cast<std::int16_t>(i.source) + head * i.group + g;
        if (query < 0 || query >= query_heads) continue;  // another chip's
        const std::int64_t at = (r * query_heads + query) * beats;
        HeadTrace trace;
        std::vector<float> out(i.head_columns);
        reference::attend({queries_.data() + at * kLanes, i.head_columns}, query_exponents_.at(at),
                          cache.layer(1), 1, 0, first, last, out, trace, Instructions::kPlain);
        pair_.traces.push_back(trace);
        if (!whole) continue;
        peak = std::max(peak, peak_of(out));
        end = i.first + query * i.head_columns;
        for (const float value : out) vector(word, end++) = value;
      }
    }
    if (!whole) continue;
    for (; end % kLanes != 0; ++end) vector(word, end) = 0.0F;
    peaks_[2][static_cast<std::size_t>(r)] = peak;
  }
}

}  // namespace logos::d5005
