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
  std::int64_t pitch = 0;                     ///< bytes of a row of q
  std::int64_t groups = 0;                    ///< multipliers of a row
  std::span<const std::int8_t> q;             ///< `[rows, pitch]`, 64-byte aligned
  std::span<const std::uint8_t> multipliers;  ///< c: `[rows, groups]` (profile A)
  std::span<const float> scales;              ///< D: `[rows]`
};

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

/// Synthetic weights of a shape by seed, packed once and reused like a checkpoint's.
std::unique_ptr<WeightStore> synthetic_store(const ModelSpec& spec, std::uint64_t seed,
                                             std::vector<std::string>* remarks = nullptr);

/// `$LOGOS_STORE`, else `$XDG_CACHE_HOME/logos-workbench`, else `$HOME/.cache/logos-workbench`.
std::filesystem::path store_directory();

}  // namespace logos
