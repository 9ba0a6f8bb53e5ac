#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/weights/plan.h"

namespace logos {

// A packed store is one file:
//   48 bytes  kStoreMagic
//    8 bytes  size of the JSON below, a multiple of 64, little-endian
//    8 bytes  size of the whole file
//   64 bytes  SHA-256 of the JSON, in hex
//   JSON      {"content": {"arithmetic", "data_bytes", "tensors"}, "sha256", "source"}, then spaces
//   data      sections, each from a multiple of 64; offsets count from the start of the data
// A matrix of profile A has three sections in this order: q `[rows, pitch]` int8, multipliers
// `[rows, groups]` uint8, scales `[rows]` binary32. One of profile B has two: q, then halves
// `[rows, groups]` binary16, admitted by arithmetic.md, section 3 (the packer's to see to). A
// vector has one: values `[columns]` binary32. Unused bytes are 0. "sha256" is over the text of
// "content" and then the data: neither the source nor a path or a time is part of it, so equal
// weights have equal digests wherever they came from.

inline constexpr std::string_view kStoreMagic = "LOGOS Workbench: packed weights, file format 1.\n";
inline constexpr std::uint64_t kStorePrefixBytes = 128;
inline constexpr std::uint64_t kSectionAlignment = 64;

/// A tensor with the offsets of its sections in the data.
struct PlacedTensor {
  PlannedTensor tensor;
  std::uint64_t pitch = 0;   ///< bytes of a row of q
  std::uint64_t groups = 0;  ///< multipliers of a row
  std::uint64_t q = 0;
  std::uint64_t multipliers = 0;
  std::uint64_t scales = 0;
  std::uint64_t halves = 0;
  std::uint64_t values = 0;  ///< of a vector
};

struct StoreLayout {
  Profile profile = Profile::kA;
  std::vector<PlacedTensor> tensors;
  std::uint64_t data_bytes = 0;
};

/// Places tensors one after another. Throws Error (where = `where`) for a size below 1, a name that
/// stands twice, or sizes that overflow.
StoreLayout lay_out(const std::vector<PlannedTensor>& plan, std::string_view where,
                    Profile profile = Profile::kA);

/// The canonical text of "content".
std::string content_text(const StoreLayout& layout);

struct StoreHeader {
  StoreLayout layout;
  std::string source;            ///< digest of what the store was made of
  std::string sha256;            ///< of content and data
  std::uint64_t data_start = 0;  ///< in the file
  std::uint64_t file_bytes = 0;
};

/// Prefix and JSON as they stand in the file; data_start and file_bytes are filled in. Their size
/// does not depend on the digests, so room can be left before these are known.
std::string serialise_header(StoreHeader& header);

/// Reads prefix and JSON of a whole file; refuses, naming both values, what is not this format, of
/// another size than stated, or damaged. The data is not looked at.
StoreHeader parse_header(std::span<const std::byte> file, std::string_view where);

}  // namespace logos
