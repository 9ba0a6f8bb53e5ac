#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "program/input_file.h"

namespace logos {

/// The types of a GGUF key, by their numbers in the file.
enum class GgufType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};
/// As messages name it: "UINT32", "ARRAY", …
std::string_view name_of(GgufType type);

/// An array. Only strings are kept; of other elements it is known that they lie in the file.
struct GgufArray {
  GgufType element = GgufType::kUint8;
  std::uint64_t count = 0;
  std::vector<std::string> strings;
};

struct GgufValue {
  GgufType type = GgufType::kUint8;
  /// Unsigned types and signed ones in their own; binary32 and binary64 as a double.
  std::variant<std::uint64_t, std::int64_t, double, bool, std::string, GgufArray> value;
};

/// The types of tensors that are read.
enum class GgufTensorType : std::uint32_t { kF32 = 0, kQ8_0 = 8 };
std::string_view name_of(GgufTensorType type);

/// A block of Q8_0: a binary16 scale, then the integers.
inline constexpr std::uint64_t kQ8BlockColumns = 32;
inline constexpr std::uint64_t kQ8BlockBytes = 2 + kQ8BlockColumns;

/// One tensor of a file. `begin` and `end` are byte offsets from the start of the file.
struct GgufTensor {
  std::string name;
  GgufTensorType type = GgufTensorType::kF32;
  std::vector<std::int64_t> shape;  ///< as the file has it: columns first, then rows
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct GgufHeader {
  std::filesystem::path file;
  std::map<std::string, GgufValue, std::less<>> values;  ///< by key
  std::vector<GgufTensor> tensors;                       ///< sorted by name

  const GgufValue* value(std::string_view key) const;     ///< null where absent
  const GgufTensor* tensor(std::string_view name) const;  ///< null where absent
};

/// The place that messages name: `FILE: key "KEY"`.
std::string key_place(const std::filesystem::path& file, std::string_view key);

/// Reads keys and tensors of a GGUF file (version 3, little-endian, one file). Every length and
/// count is held against what is left of the file before anything is allocated for it; keys and
/// names stand once; each byte of the data belongs to one tensor or pads to the alignment. The data
/// is not read. Throws Error naming file, key or tensor; also for a tensor of another type than F32
/// and Q8_0.
GgufHeader read_gguf_header(const InputFile& file);

}  // namespace logos
