#include "tests/rtl/product_case.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/reference/arithmetic.h"

namespace logos {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::int64_t sum_of(const PlainMatrix& matrix, int output, const Activations& activations,
                    std::uint32_t row) {
  return reference::exact_sum(matrix.weights(output), matrix.multipliers(output), 0, matrix.columns,
                              std::span(activations.q[row]).first(at(matrix.columns)));
}

float scaled(const PlainMatrix& matrix, int output, std::int64_t sum, std::int8_t exponent,
             bool bias) {
  const float y = reference::scaled_sum(sum, exponent, matrix.d[at(output)]);
  return bias ? y + matrix.bias[at(output)] : y;
}

}  // namespace

ProductCase::ProductCase(std::uint32_t seed, std::uint32_t rows, int columns, Numbers numbers)
    : random_(seed), rows_(rows), numbers_(numbers) {
  activations_.columns = columns;
  activations_.q.assign(rows, std::vector<std::int16_t>(at(activations_.words() * 64), 0));
  for (auto& row : activations_.q) {
    for (int k = 0; k < columns; ++k) {
      const auto value = static_cast<int>(random_() % 65535) - 32767;
      row[at(k)] = static_cast<std::int16_t>(numbers == Numbers::kLargest ? 32767 : value);
    }
  }
  for (std::uint32_t r = 0; r < rows; ++r) {
    const auto e = static_cast<int>(random_() % 102) - 75;  // -75: ZE
    activations_.exponents.push_back(static_cast<std::int8_t>(e == -75 ? -128 : e));
  }
}

ImageFill ProductCase::garbage() {
  // All ones (also a NaN), a quiet NaN with its sign, infinity, or anything.
  const std::uint32_t kind = static_cast<std::uint32_t>(random_()) % 4;
  std::uint32_t count = 0;
  return [this, kind, count]() mutable {
    const std::uint32_t byte = count++ % 4;
    if (kind == 0) return std::uint8_t{0xFF};
    if (kind == 1) return static_cast<std::uint8_t>(0xFFC00000u >> 8 * byte);
    if (kind == 2) return static_cast<std::uint8_t>(0x7F800000u >> 8 * byte);
    return static_cast<std::uint8_t>(random_());
  };
}

float ProductCase::random_scale() {
  if (random_() % 16 == 0) return 0.0F;
  const auto field = static_cast<std::uint32_t>(127 - 40 + random_() % 60);
  return std::bit_cast<float>(field << 23 | (static_cast<std::uint32_t>(random_()) & 0x7FFFFF));
}

PlainMatrix ProductCase::random_matrix(int outputs, bool bias) {
  PlainMatrix matrix;
  matrix.rows = outputs;
  matrix.columns = activations_.columns;
  const bool largest = numbers_ == Numbers::kLargest;
  for (int n = 0; n < outputs; ++n) {
    matrix.d.push_back(random_scale());
    if (bias) matrix.bias.push_back(random_float(random_));
    const bool zero = matrix.d.back() == 0.0F;
    for (int k = 0; k < matrix.columns; ++k) {
      const int q = largest ? (n % 2 == 0 ? 127 : -127) : static_cast<int>(random_() % 256) - 128;
      matrix.q.push_back(static_cast<std::int8_t>(zero ? 0 : q));
    }
    for (int g = 0; g < matrix.groups(); ++g) {
      matrix.c.push_back(static_cast<std::uint8_t>(largest ? 255 : random_() % 256));
    }
  }
  return matrix;
}

void ProductCase::place(ProductJob& job, int outputs, d5005::Post post, bool bias, bool track) {
  job.rows = rows_;
  d5005::Instruction& to = job.instruction;
  to.columns = static_cast<std::uint32_t>(outputs);
  to.words = static_cast<std::uint32_t>(activations_.words());
  to.variant = static_cast<std::uint32_t>(post);
  to.bias = bias;
  to.track = track;
  to.stream_beats = static_cast<std::uint32_t>(job.stream.size());
  to.line = static_cast<std::uint32_t>(random_()) & 0xFFFF;
  const auto lanes = static_cast<std::uint32_t>(post == d5005::Post::kSums ? 2 * outputs : outputs);
  const std::uint32_t words = (lanes + 31) / 32;
  to.destination = next_word_;
  to.destination_stride = words + static_cast<std::uint32_t>(random_()) % 3;
  next_word_ += to.destination_stride * rows_ + 1;
  to.source = to.destination;  // as a residual stream is updated; sometimes from elsewhere
  to.source_stride = to.destination_stride;
  if (random_() % 3 == 0) {
    to.source = next_word_;
    to.source_stride = words + 1;
    next_word_ += to.source_stride * rows_;
  }
}

ProductJob& ProductCase::product(int outputs, d5005::Post post, bool bias, bool track) {
  ProductJob job;
  job.matrix = random_matrix(outputs, bias);
  if (post == d5005::Post::kSilu) {
    job.up = random_matrix(outputs, false);
    job.stream = lay_out_gate_and_up(job.matrix, job.up, garbage());
  } else {
    job.stream = lay_out_matrix(job.matrix, bias, garbage());
  }
  job.instruction.op = static_cast<std::uint32_t>(d5005::Op::kProduct);
  place(job, outputs, post, bias, track);
  jobs_.push_back(std::move(job));
  return jobs_.back();
}

ProductJob& ProductCase::scale(int outputs, int chips, d5005::Post post, bool bias, bool track) {
  ProductJob job;
  job.matrix = random_matrix(outputs, bias);
  for (std::uint32_t r = 0; r < rows_; ++r) {
    std::vector<std::vector<std::int64_t>> sums(at(chips));
    for (auto& chip : sums) {
      for (int n = 0; n < outputs; ++n) {
        const auto low = static_cast<std::int64_t>(random_());
        const auto high = static_cast<std::int64_t>(random_()) << 32;
        chip.push_back((high | low) >> (19 + random_() % 40));
        if (random_() % 2 == 0) chip.back() = -chip.back();
      }
    }
    const auto beats = lay_out_sums(job.matrix, sums, bias, garbage());
    job.stream.insert(job.stream.end(), beats.begin(), beats.end());
    job.sums.push_back(std::move(sums));
  }
  job.instruction.op = static_cast<std::uint32_t>(d5005::Op::kScale);
  job.instruction.heads = static_cast<std::uint32_t>(chips);
  place(job, outputs, post, bias, track);
  jobs_.push_back(std::move(job));
  return jobs_.back();
}

int written_quads(const ProductJob& job) {
  return static_cast<int>(job.instruction.columns + 3) / 4;
}

std::vector<std::uint32_t> expected_quad(const ProductJob& job, const Activations& activations,
                                         const VectorModel& before, std::uint32_t row, int quad) {
  const auto post = static_cast<d5005::Post>(job.instruction.variant);
  const bool bias = job.instruction.bias != 0;
  const std::int8_t exponent = activations.exponents[row];
  std::vector<std::uint32_t> lanes;
  for (int n = 4 * quad; n < 4 * quad + 4; ++n) {
    if (n >= static_cast<int>(job.instruction.columns)) {
      lanes.resize(post == d5005::Post::kSums ? 8 : 4, 0);
      return lanes;
    }
    std::int64_t sum = 0;
    if (job.sums.empty()) {
      sum = sum_of(job.matrix, n, activations, row);
    } else {
      for (const auto& chip : job.sums[row]) sum += chip[at(n)];
    }
    if (post == d5005::Post::kSums) {
      lanes.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum)));
      lanes.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum) >> 32));
      continue;
    }
    float y = scaled(job.matrix, n, sum, exponent, bias);
    if (post == d5005::Post::kResidual) {
      const std::size_t base = job.instruction.source + row * job.instruction.source_stride;
      y = reference::residual(std::bit_cast<float>(before.bits(base, at(n))), y);
    } else if (post == d5005::Post::kSilu) {
      y = reference::silu(y) *
          scaled(job.up, n, sum_of(job.up, n, activations, row), exponent, false);
    }
    lanes.push_back(std::bit_cast<std::uint32_t>(y));
  }
  return lanes;
}

}  // namespace logos
