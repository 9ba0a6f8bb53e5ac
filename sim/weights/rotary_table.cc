#include "sim/weights/rotary_table.h"

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "program/check.h"
#include "sim/weights/digest.h"

namespace logos {
namespace {

constexpr mpfr_prec_t kBits = 256;
constexpr mpfr_rnd_t kNearest = MPFR_RNDN;

/// A real number of 256 bits.
class Real {
 public:
  Real() { mpfr_init2(value_, kBits); }
  explicit Real(double value) : Real() { mpfr_set_d(value_, value, kNearest); }
  Real(const Real& other) : Real() { mpfr_set(value_, other.value_, kNearest); }
  Real& operator=(const Real& other) {
    mpfr_set(value_, other.value_, kNearest);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  float nearest_float() const { return mpfr_get_flt(value_, kNearest); }

  friend Real operator+(const Real& a, const Real& b) { return apply(mpfr_add, a, b); }
  friend Real operator-(const Real& a, const Real& b) { return apply(mpfr_sub, a, b); }
  friend Real operator*(const Real& a, const Real& b) { return apply(mpfr_mul, a, b); }
  friend Real operator/(const Real& a, const Real& b) { return apply(mpfr_div, a, b); }
  friend bool operator<(const Real& a, const Real& b) {
    return mpfr_less_p(a.value_, b.value_) != 0;
  }

 private:
  template <typename Function>
  static Real apply(Function function, const Real& a, const Real& b) {
    Real result;
    function(result.value_, a.value_, b.value_, kNearest);
    return result;
  }

  mpfr_t value_;
};

/// base^(-2 i / head_columns).
Real plain_frequency(const Rotary& rotary, std::int64_t pair, std::int64_t head_columns) {
  const Real exponent =
      Real(static_cast<double>(-2 * pair)) / Real(static_cast<double>(head_columns));
  Real frequency;
  mpfr_pow(frequency.get(), Real(rotary.base).get(), exponent.get(), kNearest);
  return frequency;
}

Real llama3_frequency(const Rotary& rotary, const Real& plain) {
  const Real original(rotary.original);
  const Real low(rotary.low);
  const Real high(rotary.high);
  Real two_pi;
  mpfr_const_pi(two_pi.get(), kNearest);
  two_pi = two_pi + two_pi;
  const Real wave_length = two_pi / plain;
  if (wave_length < original / high) return plain;
  if (original / low < wave_length) return plain / Real(rotary.factor);
  const Real smooth = (original / wave_length - low) / (high - low);
  return (Real(1) - smooth) * plain / Real(rotary.factor) + smooth * plain;
}

Real frequency_of(const Rotary& rotary, std::int64_t pair, std::int64_t head_columns) {
  const Real plain = plain_frequency(rotary, pair, head_columns);
  switch (rotary.kind) {
    case Rotary::Kind::kPlain:
      return plain;
    case Rotary::Kind::kLinear:
      return plain / Real(rotary.factor);
    case Rotary::Kind::kLlama3:
      return llama3_frequency(rotary, plain);
  }
  CHECK_UNREACHABLE();
}

/// Cosine and sine of `position` (from 0) times a frequency.
struct Angle {
  Real cosine;
  Real sine;
};

Angle angle_at(const Real& frequency, std::int64_t position) {
  Real radians;
  mpfr_mul_ui(radians.get(), frequency.get(), static_cast<unsigned long>(position), kNearest);
  Angle angle;
  mpfr_sin_cos(angle.sine.get(), angle.cosine.get(), radians.get(), kNearest);
  return angle;
}

/// The angle one step further: cos(a + f) and sin(a + f) by the theorems of addition.
Angle turned(const Angle& angle, const Angle& step) {
  return {angle.cosine * step.cosine - angle.sine * step.sine,
          angle.sine * step.cosine + angle.cosine * step.sine};
}

}  // namespace

RotaryTable rotary_table(const Rotary& rotary, std::int64_t head_columns,
                         std::span<const std::int64_t> positions) {
  CHECK(head_columns >= 2 && head_columns % 2 == 0);
  RotaryTable table;
  table.pairs = head_columns / 2;
  const auto pairs = static_cast<std::size_t>(table.pairs);
  table.cosines.resize(positions.size() * pairs);
  table.sines.resize(positions.size() * pairs);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const Real frequency = frequency_of(rotary, static_cast<std::int64_t>(pair), head_columns);
    const Angle step = angle_at(frequency, 1);
    Angle angle;
    for (std::size_t row = 0; row < positions.size(); ++row) {
      CHECK(positions[row] >= 1);
      // Consecutive positions are reached by turning, some 20 times quicker than a cosine and a
      // sine. A turn adds an error below 2^-253; after 1,000 of them at most it is below 2^-243,
      // while some 100 bits decide the nearest binary32: the bits are those of the direct way.
      constexpr std::size_t kDirectEvery = 1000;
      const bool consecutive = row % kDirectEvery != 0 && positions[row] == positions[row - 1] + 1;
      angle = consecutive ? turned(angle, step) : angle_at(frequency, positions[row] - 1);
      table.cosines[row * pairs + pair] = angle.cosine.nearest_float();
      table.sines[row * pairs + pair] = angle.sine.nearest_float();
    }
  }
  return table;
}

std::string rotary_sha256(const RotaryTable& table) {
  static_assert(std::endian::native == std::endian::little);
  Sha256 digest;
  const auto pairs = static_cast<std::size_t>(table.pairs);
  for (std::size_t first = 0; first < table.cosines.size(); first += pairs) {
    digest.add(std::as_bytes(std::span(table.cosines).subspan(first, pairs)));
    digest.add(std::as_bytes(std::span(table.sines).subspan(first, pairs)));
  }
  return digest.hex();
}

}  // namespace logos
