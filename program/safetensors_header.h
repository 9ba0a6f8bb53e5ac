#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace logos {

/// One tensor of a checkpoint. `begin` and `end` are byte offsets from the start of `file`.
struct TensorInfo {
  std::string name;
  std::string dtype;  ///< as the file names it: "F32", "F16", "BF16", …
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::filesystem::path file;
};

/// All tensors of a checkpoint, sorted by name.
struct CheckpointHeader {
  std::vector<TensorInfo> tensors;
  const TensorInfo* find(std::string_view name) const;  ///< null where absent
};

/// The place that messages name: `FILE: tensor "NAME"`.
std::string tensor_place(const std::filesystem::path& file, std::string_view tensor);

/// Whether the loader reads values of this type: "F32", "F16" or "BF16".
bool is_readable_type(std::string_view dtype);
/// Throws Error naming tensor and type where it does not.
void check_readable_type(const TensorInfo& tensor);

/// Reads the header of one safetensors file: bounds, overlaps, holes, overflow, duplicates and
/// types' sizes are all checked; memory is bounded by the file's size. The data is not read.
/// Throws Error naming file and tensor. (Types other than F32, F16, BF16 are listed, not refused
/// here: the loader refuses a tensor it needs.)
CheckpointHeader read_safetensors_header(const std::filesystem::path& path);
/// The same from the bytes of a header (without the 8 bytes of its length), for the fuzzer.
CheckpointHeader parse_safetensors_header(std::span<const char> json, std::uint64_t file_bytes,
                                          const std::filesystem::path& file);

/// Reads `dir/model.safetensors`, or the shards that `dir/model.safetensors.index.json` names.
/// Both present: the single file is read. Neither: an empty header.
CheckpointHeader read_checkpoint_header(const std::filesystem::path& dir);

}  // namespace logos
