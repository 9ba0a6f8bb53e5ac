#include "program/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "program/error.h"
#include "program/input_file.h"
#include "program/printable.h"
#include "program/safetensors_json.h"

namespace logos {
namespace {

constexpr std::uint64_t kLengthBytes = 8;     // the little-endian length before the JSON
constexpr std::uint64_t kShortestHeader = 2;  // "{}"
constexpr std::size_t kLongestTypeName = 32;  // shown in a message
constexpr std::string_view kReadableTypes = "F32, F16 or BF16";

/// The size of an element in bits, of every type of the safetensors format; none for others.
std::optional<std::uint64_t> bits_of_type(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 22> kTypes = {
      {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
       {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
       {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
       {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
       {"I64", 64},        {"U64", 64}}};
  for (const auto& [name, bits] : kTypes) {
    if (name == type) return bits;
  }
  return std::nullopt;
}

std::string range_of(const TensorInfo& tensor) {
  return fmt::format("[{}, {})", tensor.begin, tensor.end);
}

/// The bytes that shape times type take; refuses an unknown type and a product that overflows.
std::uint64_t bytes_of_shape(const TensorInfo& tensor) {
  const auto bits = bits_of_type(tensor.dtype);
  if (!bits) {
    throw Error(tensor_place(tensor.file, tensor.name), "unknown type",
                in_quotes(shortened(tensor.dtype, kLongestTypeName)), kReadableTypes);
  }
  std::uint64_t product = *bits;
  const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  if (empty) return 0;
  for (const std::int64_t size : tensor.shape) {
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) {
      throw Error(tensor_place(tensor.file, tensor.name), "the product of its shape overflows",
                  fmt::format("{}", fmt::join(tensor.shape, " x ")), "fewer than 2^64 bits");
    }
  }
  if (product % 8 != 0) {
    throw Error(tensor_place(tensor.file, tensor.name),
                "its elements fill no whole number of bytes", fmt::format("{} bits", product),
                "a multiple of 8");
  }
  return product / 8;
}

/// A range must be as long as shape times type say. Where it is not, a type that no loader reads is
/// the first thing to tell: its length follows rules of its own.
void check_length(const TensorInfo& tensor) {
  const std::string where = tensor_place(tensor.file, tensor.name);
  if (tensor.begin > tensor.end) {
    throw Error(where, "its range begins after its end", range_of(tensor), "begin <= end");
  }
  const std::uint64_t want = bytes_of_shape(tensor);
  if (tensor.end - tensor.begin == want) return;
  const std::string range =
      fmt::format("its range {} is unlike its shape [{}] of {}", range_of(tensor),
                  fmt::join(tensor.shape, ", "), tensor.dtype);
  if (!is_readable_type(tensor.dtype)) {
    throw Error(where, fmt::format("its type is not read here, and {}", range), tensor.dtype,
                kReadableTypes);
  }
  throw Error(where, range, fmt::format("{} bytes", tensor.end - tensor.begin),
              fmt::format("{} bytes", want));
}

/// Refuses bytes that two tensors own; `order` is by the ranges' begins. (Before holes are looked
/// for: where one tensor was put onto another, its own place is a hole as well.)
void check_overlaps(const std::vector<const TensorInfo*>& order) {
  const TensorInfo* furthest = nullptr;  // of those before, the one that reaches furthest
  for (const TensorInfo* tensor : order) {
    if (furthest != nullptr && tensor->begin < furthest->end) {
      throw Error(tensor_place(tensor->file, tensor->name),
                  fmt::format("its range {} overlaps tensor {} {}", range_of(*tensor),
                              in_quotes(furthest->name), range_of(*furthest)));
    }
    if (furthest == nullptr || tensor->end >= furthest->end) furthest = tensor;
  }
}

/// Refuses bytes between the start of the data and the last tensor that no tensor owns.
void check_holes(const std::vector<const TensorInfo*>& order) {
  std::uint64_t end = 0;
  std::string before = "the start of the data";
  for (const TensorInfo* tensor : order) {
    if (tensor->begin > end) {
      throw Error(tensor_place(tensor->file, tensor->name),
                  fmt::format("a hole of {} bytes lies between {} and its range {}",
                              tensor->begin - end, before, range_of(*tensor)));
    }
    end = tensor->end;
    before = fmt::format("tensor {} {}", in_quotes(tensor->name), range_of(*tensor));
  }
}

/// Checks each range against shape and type, then all of them together: from the start of the data
/// to the end of the file each byte belongs to one tensor. Offsets are relative to the data here.
void check_ranges(const std::vector<TensorInfo>& tensors, std::uint64_t data_bytes,
                  std::uint64_t data_start, const std::filesystem::path& file) {
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : tensors) {
    check_length(tensor);
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  check_overlaps(order);
  check_holes(order);
  const std::uint64_t end = order.empty() ? 0 : order.back()->end;
  if (end == data_bytes) return;
  const std::string have = fmt::format("{} bytes", data_start + data_bytes);
  if (end < data_bytes) {
    throw Error(file.string(),
                fmt::format("{} bytes at the end belong to no tensor", data_bytes - end), have,
                fmt::format("{} bytes", data_start + end));
  }
  const bool fits = end <= UINT64_MAX - data_start;
  throw Error(file.string(),
              fmt::format("the file is too short for tensor {} {}", in_quotes(order.back()->name),
                          range_of(*order.back())),
              have, fits ? fmt::format("{} bytes", data_start + end) : "more than 2^64 bytes");
}

/// Sorts by name and refuses a name that stands twice.
void sort_by_name(std::vector<TensorInfo>& tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(tensors.begin(), tensors.end(),
                         [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; });
  if (twice != tensors.end()) {
    throw Error(tensor_place(twice->file, twice->name), "the tensor stands twice in the header");
  }
}

/// Where a clone without Git LFS left the pointer in place of the data: both sizes.
void refuse_lfs_pointer(std::string_view head, const InputFile& file) {
  if (!head.starts_with("version https://git-lfs")) return;
  constexpr std::string_view kKey = "\nsize ";
  const std::size_t at = head.find(kKey);
  std::string want = "the tensors";
  if (at != std::string_view::npos) {
    const std::string_view rest = head.substr(at + kKey.size());
    want = fmt::format("{} bytes", rest.substr(0, rest.find('\n')));
  }
  throw Error(file.path().string(),
              "holds a Git LFS pointer in place of the tensors (git lfs pull)",
              fmt::format("{} bytes", file.size()), want);
}

/// The length that the first 8 bytes state, checked against the file's size.
std::uint64_t header_length(const InputFile& file) {
  std::array<char, 512> head = {};
  const std::size_t have = std::min<std::uint64_t>(head.size(), file.size());
  file.read_at(0, std::as_writable_bytes(std::span(head.data(), have)));
  refuse_lfs_pointer(std::string_view(head.data(), have), file);
  if (file.size() < kLengthBytes + kShortestHeader) {
    throw Error(file.path().string(), "is too short for a safetensors file",
                fmt::format("{} bytes", file.size()),
                fmt::format("at least {} bytes", kLengthBytes + kShortestHeader));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  }
  if (length < kShortestHeader || length > file.size() - kLengthBytes) {
    throw Error(file.path().string(),
                fmt::format("the header's length does not fit the file of {} bytes", file.size()),
                fmt::format("{} bytes", length),
                fmt::format("{} to {} bytes", kShortestHeader, file.size() - kLengthBytes));
  }
  return length;
}

std::vector<char> read_bytes(const InputFile& file, std::uint64_t offset, std::uint64_t length) {
  std::vector<char> bytes(length);
  file.read_at(offset, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

/// A shard's name leads to a file of the directory itself and to nowhere else.
void check_shard_name(const std::string& shard, const std::string& tensor,
                      const std::filesystem::path& index) {
  const bool plain = !shard.empty() && shard != "." && shard != ".." &&
                     shard.find('/') == std::string::npos &&
                     shard.find('\\') == std::string::npos && shard.find('\0') == std::string::npos;
  if (!plain) {
    throw Error(tensor_place(index, tensor), "its shard is no plain file name", in_quotes(shard),
                "a file of the same directory");
  }
}

CheckpointHeader read_shards(const std::filesystem::path& dir, const std::filesystem::path& index) {
  const InputFile file(index);
  const std::vector<char> text = read_bytes(file, 0, file.size());
  const std::map<std::string, std::string> shard_of = read_index_json(text, index);

  std::set<std::string> shards;
  for (const auto& [tensor, shard] : shard_of) {
    check_shard_name(shard, tensor, index);
    shards.insert(shard);
  }
  CheckpointHeader header;
  for (const std::string& shard : shards) {
    CheckpointHeader part = read_safetensors_header(dir / shard);
    for (TensorInfo& tensor : part.tensors) {
      const auto mapped = shard_of.find(tensor.name);
      if (mapped == shard_of.end() || mapped->second != shard) {
        throw Error(
            tensor_place(index, tensor.name), "its place in weight_map is not where it lies",
            mapped == shard_of.end() ? "none" : in_quotes(mapped->second), in_quotes(shard));
      }
      header.tensors.push_back(std::move(tensor));
    }
  }
  sort_by_name(header.tensors);
  for (const auto& [tensor, shard] : shard_of) {
    if (header.find(tensor) == nullptr) {
      throw Error(tensor_place(index, tensor),
                  fmt::format("is missing in its shard {}", in_quotes(shard)));
    }
  }
  return header;
}

}  // namespace

bool is_readable_type(std::string_view dtype) {
  return dtype == "F32" || dtype == "F16" || dtype == "BF16";
}

void check_readable_type(const TensorInfo& tensor) {
  if (is_readable_type(tensor.dtype)) return;
  throw Error(tensor_place(tensor.file, tensor.name), "its type is not read here", tensor.dtype,
              kReadableTypes);
}

std::string tensor_place(const std::filesystem::path& file, std::string_view tensor) {
  return fmt::format("{}: tensor {}", file.string(), in_quotes(tensor));
}

const TensorInfo* CheckpointHeader::find(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const TensorInfo& tensor, std::string_view key) { return tensor.name < key; });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

CheckpointHeader parse_safetensors_header(std::span<const char> json, std::uint64_t file_bytes,
                                          const std::filesystem::path& file) {
  const std::uint64_t data_start = kLengthBytes + json.size();
  if (file_bytes < data_start) {
    throw Error(file.string(), "the file ends within its header",
                fmt::format("{} bytes", file_bytes), fmt::format("at least {} bytes", data_start));
  }
  if (json.empty() || json.front() != '{') {
    throw Error(file.string(), "the header does not begin with {");
  }
  CheckpointHeader header{read_header_json(json, file)};
  sort_by_name(header.tensors);
  check_ranges(header.tensors, file_bytes - data_start, data_start, file);
  for (TensorInfo& tensor : header.tensors) {
    tensor.begin += data_start;
    tensor.end += data_start;
  }
  return header;
}

CheckpointHeader read_safetensors_header(const std::filesystem::path& path) {
  const InputFile file(path);
  const std::uint64_t length = header_length(file);
  const std::vector<char> json = read_bytes(file, kLengthBytes, length);
  return parse_safetensors_header(json, file.size(), path);
}

CheckpointHeader read_checkpoint_header(const std::filesystem::path& dir) {
  // symlink_status: a link that leads nowhere is a broken checkpoint, not an absent one.
  const auto present = [](const std::filesystem::path& file) {
    return std::filesystem::symlink_status(file).type() != std::filesystem::file_type::not_found;
  };
  const std::filesystem::path single = dir / "model.safetensors";
  if (present(single)) return read_safetensors_header(single);
  const std::filesystem::path index = dir / "model.safetensors.index.json";
  if (present(index)) return read_shards(dir, index);
  return {};
}

}  // namespace logos
