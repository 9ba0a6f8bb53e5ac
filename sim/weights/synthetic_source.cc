#include "sim/weights/synthetic_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "sim/weights/store.h"

namespace logos {
namespace {

static_assert(std::endian::native == std::endian::little, "words are split into bytes as they lie");

/// Element `counter` of the splitmix64 sequence that starts at `key`.
std::uint64_t word(std::uint64_t key, std::uint64_t counter) {
  std::uint64_t z = key + (counter + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// FNV-1a over the name, then mixed with the seed.
std::uint64_t tensor_key(std::string_view name, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  }
  return word(hash ^ word(seed, 0), 0);
}

enum Stream : std::uint64_t { kValues, kMultipliers, kScales };

constexpr std::size_t kWordsPerGroup = kGroup / 8;

/// 32 integers of mean 0: the bytes as they come, but 0 for -128 where `symmetric`.
void fill_group(std::uint64_t key, std::uint64_t group, bool symmetric, std::span<std::int8_t> q) {
  std::array<std::int8_t, kGroup> values;
  for (std::size_t i = 0; i < kWordsPerGroup; ++i) {
    const std::uint64_t bytes = word(key, group * kWordsPerGroup + i);
    std::memcpy(values.data() + 8 * i, &bytes, sizeof bytes);
  }
  for (std::int8_t& value : values) {
    if (symmetric && value == -128) value = 0;
  }
  std::memcpy(q.data(), values.data(), q.size());
}

}  // namespace

float SyntheticSource::matrix_row(const PlannedTensor& tensor, std::int64_t row,
                                  std::span<std::uint8_t> multipliers, std::span<std::int8_t> q) {
  const std::uint64_t key = tensor_key(tensor.name, seed_);
  const std::uint64_t value_key = word(key, kValues);
  const std::uint64_t multiplier_key = word(key, kMultipliers);
  const auto at = static_cast<std::uint64_t>(row);
  for (std::size_t g = 0; g < multipliers.size(); ++g) {
    const std::uint64_t group = at * multipliers.size() + g;
    const std::uint64_t random = word(multiplier_key, group);
    const bool zero = (random & 0xFF) == 0;
    multipliers[g] = static_cast<std::uint8_t>(zero ? 0 : 128 + ((random >> 8) & 127));
    const std::span<std::int8_t> part =
        q.subspan(g * kGroup, std::min<std::size_t>(kGroup, q.size() - g * kGroup));
    if (zero) {
      std::fill(part.begin(), part.end(), std::int8_t{0});
    } else {
      fill_group(value_key, group, true, part);
    }
  }
  // The deviation of q is 73.5 and the root mean square of c is 195: together 14300.
  const std::uint64_t random = word(word(key, kScales), at);
  const double factor = static_cast<double>(768 + (random & 511)) / 1024.0;  // [0.75, 1.25)
  return static_cast<float>(factor / (14300.0 * std::sqrt(static_cast<double>(tensor.columns))));
}

void SyntheticSource::half_row(const PlannedTensor& tensor, std::int64_t row,
                               std::span<std::uint16_t> halves, std::span<std::int8_t> q) {
  const std::uint64_t key = tensor_key(tensor.name, seed_);
  const std::uint64_t value_key = word(key, kValues);
  const std::uint64_t half_key = word(key, kMultipliers);
  // The deviation of q is 73.9, so d is about 1 / (73.9 * sqrt(columns)): a power of two of at most
  // that, times a factor from 1 to 2 whose root mean square is 1.5.
  const double wanted = 1 / (73.9 * 1.5 * std::sqrt(static_cast<double>(tensor.columns)));
  int exponent = 0;
  std::frexp(wanted, &exponent);
  const auto biased = static_cast<std::uint64_t>(std::max(exponent + 14, 1));
  for (std::size_t g = 0; g < halves.size(); ++g) {
    const std::uint64_t group = static_cast<std::uint64_t>(row) * halves.size() + g;
    const std::uint64_t random = word(half_key, group);
    const std::uint64_t sign = (random >> 8 & 3) == 0 ? 1 : 0;
    const bool zero = (random & 0xFF) == 0;
    const std::uint64_t fraction = random >> 16 & 1023;
    halves[g] = static_cast<std::uint16_t>(sign << 15 | (zero ? 0 : biased << 10 | fraction));
    fill_group(value_key, group, false, q.subspan(g * kGroup, kGroup));
  }
}

void SyntheticSource::vector(const PlannedTensor& tensor, std::span<float> values) {
  const std::uint64_t key = word(tensor_key(tensor.name, seed_), kValues);
  const bool is_bias = tensor.name.ends_with(".bias");
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A multiple of 2^-18 in [-1/8, 1/8): exact in binary32, also with 1 added.
    const auto step = static_cast<float>(static_cast<int>(word(key, i) & 0xFFFF) - 0x8000);
    values[i] = (is_bias ? 0.0F : 1.0F) + step * 0x1p-18F;
  }
}

}  // namespace logos
