#pragma once

#include <bit>
#include <cstdint>
#include <span>

/// The arithmetic OFA-1 as a tile's vector unit does it (design/arithmetic.md; the numbers in
/// brackets are its sections). All of it is elementwise binary32 or exact integers.
namespace logos::spatial {

/// ZE, the exponent of a block that is all zero [1].
inline constexpr std::int8_t kZeroBlock = -128;

/// 2^e as binary32, e in [-126, 127].
inline float two_to(int e) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

/// The bits of |x|: of finite numbers, the larger has the larger bits.
inline std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu; }

/// R(x, s) [1]: the integer nearest to x * 2^s, ties to even; 0 for subnormal x. The result must be
/// below 2^62.
std::int64_t to_integer(float x, int s);

/// F(i) [1]: the binary32 nearest to i, ties to even, in one rounding.
inline float to_float(std::int64_t i) { return static_cast<float>(i); }

/// exp(x) of x <= 0 [7].
float exp_neg(float x);
/// f32(SiLU(gate) * up) [7].
float silu_times(float gate, float up);
/// The residual sum [7]: +0 where it is smaller than 2^-60.
inline float residual_sum(float x, float y) {
  const float z = x + y;
  return magnitude(z) < magnitude(0x1p-60f) ? 0.0f : z;
}

/// What a quantizer says of a block beside its integers [2].
struct BlockTag {
  std::int8_t exponent = kZeroBlock;
  bool fault = false;
};

/// The largest magnitude of a block; 0 of an empty one.
std::uint32_t largest_magnitude(std::span<const float> x);
/// Q16 of x, a part of a block whose largest magnitude is `peak` [2].
BlockTag quantize_at(std::span<const float> x, std::uint32_t peak, std::span<std::int16_t> q);
/// Q16 of a whole block [2].
BlockTag quantize(std::span<const float> x, std::span<std::int16_t> q);

/// RMSNorm of a row or a head [5] into y, which may be x; says whether its quantizer raised FAULT.
/// `scratch` has room for the row's integers.
bool rms_norm(std::span<const float> x, std::span<const float> gain, float epsilon,
              std::span<float> y, std::span<std::int16_t> scratch);

/// 2^e * f32(F(acc) * D), +0 where e is ZE [4].
inline float scaled_sum(std::int64_t acc, std::int8_t exponent, float scale) {
  return exponent == kZeroBlock ? 0.0f : two_to(exponent) * (to_float(acc) * scale);
}
/// A row of sums scaled, each by its matrix row's D [4].
void scale_sums(std::span<const std::int64_t> sums, std::int8_t exponent,
                std::span<const float> scales, std::span<float> y);

/// x_i = f32(F(q * c) * D) of a row of the embedding [4]; c counts groups of 32 columns.
void embed_bytes(std::span<const std::int8_t> q, std::span<const std::uint8_t> c, float scale,
                 std::span<float> x);
/// The same of profile B: c is d * 2^24 of a binary16 a group, D is 2^-24.
void embed_halves(std::span<const std::int8_t> q, std::span<const std::uint16_t> d,
                  std::span<float> x);

/// Rotates a head in place: x[j] with x[j + size / 2] by the position's angles [6].
void rotate_head(std::span<float> x, std::span<const float> cosines, std::span<const float> sines);

}  // namespace logos::spatial
