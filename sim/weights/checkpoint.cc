#include "sim/weights/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <vector>

#include "program/check.h"
#include "program/error.h"
#include "program/input_file.h"
#include "sim/weights/digest.h"

namespace logos {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors values are little-endian");

enum class Type { kF32, kF16, kBf16 };

/// Refuses types that are not read.
Type type_of(const TensorInfo& tensor) {
  check_readable_type(tensor);
  if (tensor.dtype == "F32") return Type::kF32;
  return tensor.dtype == "F16" ? Type::kF16 : Type::kBf16;
}

std::size_t bytes_of(Type type) { return type == Type::kF32 ? 4 : 2; }

/// binary16 to binary32, exact; NaN stays NaN, Inf stays Inf.
float widen_half(std::uint16_t half) {
  const std::uint32_t sign = (std::uint32_t{half} & 0x8000U) << 16;
  const std::uint32_t rest = std::uint32_t{half} & 0x7FFFU;
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  std::uint32_t bits = (rest << 13) + kRebias;
  if (rest < 0x0400U) {  // zero and subnormals: multiples of 2^-24
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(rest) * 0x1p-24F);
  } else if (rest >= 0x7C00U) {
    bits = kInfinity | (rest << 13);
  }
  return std::bit_cast<float>(bits | sign);
}

void widen(Type type, std::span<const std::byte> raw, std::span<float> values) {
  if (type == Type::kF32) {
    std::memcpy(values.data(), raw.data(), raw.size());
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, raw.data() + 2 * i, sizeof half);
    values[i] =
        type == Type::kF16 ? widen_half(half) : std::bit_cast<float>(std::uint32_t{half} << 16);
  }
}

}  // namespace

struct Checkpoint::Impl {
  explicit Impl(const std::filesystem::path& directory)
      : dir(directory), header(read_checkpoint_header(directory)) {
    for (const TensorInfo& tensor : header.tensors) {
      if (files.contains(tensor.file)) continue;
      files.emplace(tensor.file, InputFile(tensor.file));
    }
    check_sizes();
  }

  /// Each file still ends where its last tensor does.
  void check_sizes() const {
    for (const auto& [path, file] : files) {
      std::uint64_t end = 0;
      for (const TensorInfo& tensor : header.tensors) {
        if (tensor.file == path) end = std::max(end, tensor.end);
      }
      if (file.size() != end) {
        throw Error(path.string(), "the file changed while it was opened",
                    fmt::format("{} bytes", file.size()), fmt::format("{} bytes", end));
      }
    }
  }

  std::filesystem::path dir;
  CheckpointHeader header;
  std::map<std::filesystem::path, InputFile> files;
};

Checkpoint::Checkpoint(const std::filesystem::path& dir) : impl_(std::make_unique<Impl>(dir)) {}
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;

const CheckpointHeader& Checkpoint::header() const { return impl_->header; }

void Checkpoint::read_row(std::string_view tensor, std::int64_t row,
                          std::span<float> values) const {
  read_rows(tensor, row, 1, values);
}

void Checkpoint::read_rows(std::string_view tensor, std::int64_t first, std::int64_t count,
                           std::span<float> values) const {
  const TensorInfo* info = impl_->header.find(tensor);
  if (info == nullptr) throw Error(tensor_place(impl_->dir, tensor), "is missing");
  const std::string where = tensor_place(info->file, tensor);
  const Type type = type_of(*info);
  if (info->shape.empty() || info->shape.size() > 2) {
    throw Error(where, "is neither a vector nor a matrix",
                fmt::format("{} dimensions", info->shape.size()), "1 or 2");
  }
  const std::int64_t rows = info->shape.size() == 2 ? info->shape[0] : 1;
  const auto columns = static_cast<std::uint64_t>(info->shape.back());
  CHECK(first >= 0 && count >= 0 && first <= rows && count <= rows - first);
  CHECK(values.size() == static_cast<std::uint64_t>(count) * columns);
  const InputFile& file = impl_->files.at(info->file);
  std::vector<std::byte> raw(values.size() * bytes_of(type));
  const std::uint64_t begin =
      info->begin + static_cast<std::uint64_t>(first) * columns * bytes_of(type);
  if (file.size_now() < info->end) {
    throw Error(where, "its file shrank while it was read",
                fmt::format("{} bytes", file.size_now()), fmt::format("{} bytes", file.size()));
  }
  file.read_at(begin, raw);
  widen(type, raw, values);
}

std::string Checkpoint::content_sha256() const {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  Sha256 whole;
  std::vector<std::byte> block(kBlock);
  for (const auto& [path, file] : impl_->files) {
    Sha256 digest;
    for (std::uint64_t at = 0; at < file.size(); at += kBlock) {
      const std::span<std::byte> part(block.data(), std::min(kBlock, file.size() - at));
      file.read_at(at, part);
      digest.add(part);
    }
    whole.add(digest.hex());
  }
  return whole.hex();
}

void Checkpoint::check_unchanged() const {
  for (const auto& [path, file] : impl_->files) file.check_unchanged();
}

}  // namespace logos
