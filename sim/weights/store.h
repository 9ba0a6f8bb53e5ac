#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/model_spec.h"

namespace logos {

inline constexpr std::int64_t kGroup = 32;  ///< columns that share a multiplier

/// A quantized matrix (arithmetic.md, section 3), row-major. Each row of `q` takes `pitch` bytes,
/// the columns rounded up to a multiple of 32; the padding is unspecified and must not be used.
struct MatrixView {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;                      ///< bytes of a row of q
  std::int64_t groups = 0;                     ///< multipliers of a row
  std::span<const std::int8_t> q;              ///< `[rows, pitch]`, 64-byte aligned
  std::span<const std::uint8_t> multipliers;   ///< c: `[rows, groups]`; none in profile B
  std::span<const float> scales;               ///< D: `[rows]`; none in profile B
  std::span<const std::uint16_t> halves = {};  ///< d: `[rows, groups]`; none in profile A

  Profile profile() const { return halves.empty() ? Profile::kA : Profile::kB; }
};

/// D of every row in profile B (arithmetic.md, section 3).
inline constexpr float kScaleB = 0x1p-24F;

/// c = d * 2^24 of a binary16 d below 4 in magnitude (profile B): exact, |c| < 2^26.
constexpr std::int32_t multiplier_of_half(std::uint16_t half) {
  const std::uint32_t exponent = half >> 10 & 31U;
  const std::uint32_t fraction = half & 1023U;
  const std::uint32_t magnitude = exponent == 0 ? fraction : (fraction | 1024U) << (exponent - 1);
  return static_cast<std::int32_t>(half >> 15 == 0 ? magnitude : 0U - magnitude);
}

/// Throws Error (where = `tensor`) where the weights are encoded in another profile than `wanted`.
void check_profile(const MatrixView& matrix, Profile wanted, std::string_view tensor);

/// A model's quantized weights, in memory, looked up by the checkpoint's tensor names.
class WeightStore {
 public:
  virtual ~WeightStore() = default;
  /// Throws Error naming the tensor where it is absent or is no matrix (vector).
  virtual MatrixView matrix(std::string_view tensor) const = 0;
  virtual std::span<const float> vector(std::string_view tensor) const = 0;  ///< gain or bias
  /// SHA-256 of the packed store.
  virtual const std::string& sha256() const = 0;
  /// What the text's `Weights lie under` line and messages name.
  virtual const std::filesystem::path& file() const = 0;
};

/// Opens a packed store; refuses one that is truncated, damaged or of another kind. With
/// `expected_source`, also one that was made of another source.
std::unique_ptr<WeightStore> open_store(const std::filesystem::path& file,
                                        std::string_view expected_source = {});

/// The store of a model directory: packed once under `store_directory()`, then reused. Checks that
/// every tensor the spec needs is there with its shape and type, and none that the spec does not
/// know. Remarks for the user (an unused head, a damaged store that is packed again) are appended
/// to `remarks`.
std::unique_ptr<WeightStore> store_of_checkpoint(const std::filesystem::path& dir,
                                                 const ModelSpec& spec,
                                                 std::vector<std::string>& remarks);

/// The store of a GGUF file, likewise: its blocks of Q8_0 as they are, the rows of a llama file's
/// query and key projections put back into the order of a rotation by halves.
std::unique_ptr<WeightStore> store_of_gguf(const std::filesystem::path& file, const ModelSpec& spec,
                                           std::vector<std::string>* remarks = nullptr);

/// Synthetic weights of a shape by seed, packed once and reused like a checkpoint's.
std::unique_ptr<WeightStore> synthetic_store(const ModelSpec& spec, std::uint64_t seed,
                                             std::vector<std::string>* remarks = nullptr);

/// `$LOGOS_STORE`, else `$XDG_CACHE_HOME/logos-workbench`, else `$HOME/.cache/logos-workbench`.
std::filesystem::path store_directory();

}  // namespace logos
