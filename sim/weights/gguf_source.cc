#include "sim/weights/gguf_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "program/check.h"
#include "program/error.h"
#include "program/gguf_model.h"
#include "program/safetensors_header.h"
#include "sim/weights/digest.h"
#include "sim/weights/quantizer.h"
#include "sim/weights/store.h"

namespace logos {
namespace {

static_assert(kQ8BlockColumns == kGroup);

std::vector<std::int64_t> shape_of(const PlannedTensor& tensor) {
  if (tensor.is_matrix) return {tensor.columns, tensor.rows};
  return {tensor.columns};
}

std::string text_of(GgufTensorType type, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} of [{}]", name_of(type), fmt::join(shape, ", "));
}

}  // namespace

std::string GgufCheckpoint::content_sha256() const {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  Sha256 digest;
  std::vector<std::byte> block(kBlock);
  for (std::uint64_t at = 0; at < file_.size(); at += kBlock) {
    const std::span<std::byte> part(block.data(), std::min(kBlock, file_.size() - at));
    file_.read_at(at, part);
    digest.add(part);
  }
  return digest.hex();
}

void check_tensors(const GgufHeader& header, const std::vector<PlannedTensor>& plan) {
  std::set<std::string, std::less<>> known;
  for (const PlannedTensor& planned : plan) {
    const std::string name = gguf_name(planned.name);
    const auto type = planned.is_matrix ? GgufTensorType::kQ8_0 : GgufTensorType::kF32;
    const std::string want = text_of(type, shape_of(planned));
    const GgufTensor* info = header.tensor(name);
    const std::string place = tensor_place(header.file, name);
    if (info == nullptr) throw Error(place, "is missing in the file", "none", want);
    if (info->type != type || info->shape != shape_of(planned)) {
      throw Error(place, "its type or shape is not the one that the keys state",
                  text_of(info->type, info->shape), want);
    }
    known.insert(name);
  }
  for (const GgufTensor& info : header.tensors) {
    if (known.contains(info.name)) continue;
    // The factors of a Llama 3 rotation became part of the spec (program/gguf_model.h).
    if (info.name == "rope_freqs.weight" && is_llama(header)) continue;
    throw Error(tensor_place(header.file, info.name),
                "the model that the keys state has no such tensor", text_of(info.type, info.shape),
                "none");
  }
}

void GgufSource::open(const PlannedTensor& tensor) {
  if (tensor.name == tensor_) return;
  const GgufHeader& header = checkpoint_.header();
  tensor_ = tensor.name;
  info_ = header.tensor(gguf_name(tensor.name));
  CHECK(info_ != nullptr);
  place_ = tensor_place(header.file, info_->name);
  paired_ = has_paired_rows(header, tensor.name);
  first_ = 0;
  end_ = 0;
}

/// Reads the block of rows of the file around `row`: whole heads, so that the rows of a pair lie in
/// one block.
void GgufSource::read_block(std::int64_t row, std::int64_t rows) {
  constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;
  const std::int64_t row_bytes =
      static_cast<std::int64_t>(info_->end - info_->begin) / info_->shape[1];
  const std::int64_t unit = paired_ ? head_columns_ : 1;
  const std::int64_t block = std::max<std::int64_t>(kBlockBytes / row_bytes / unit, 1) * unit;
  first_ = row / block * block;
  end_ = std::min(rows, first_ + block);
  buffer_.resize(static_cast<std::size_t>((end_ - first_) * row_bytes));
  checkpoint_.file().read_at(info_->begin + static_cast<std::uint64_t>(first_ * row_bytes),
                             buffer_);
}

void GgufSource::half_row(const PlannedTensor& tensor, std::int64_t row,
                          std::span<std::uint16_t> halves, std::span<std::int8_t> q) {
  open(tensor);
  if (row < first_ || row >= end_) read_block(row, tensor.rows);
  std::int64_t from = row;
  if (paired_) {
    const std::int64_t in_head = row % head_columns_;
    const std::int64_t half = head_columns_ / 2;
    from = row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
  }
  const std::byte* block =
      buffer_.data() + static_cast<std::size_t>(from - first_) * halves.size() * kQ8BlockBytes;
  for (std::size_t g = 0; g < halves.size(); ++g, block += kQ8BlockBytes) {
    std::memcpy(&halves[g], block, sizeof halves[g]);
    std::memcpy(q.data() + g * kGroup, block + sizeof halves[g], kGroup);
    constexpr std::uint16_t kExponent = 0x7C00;
    constexpr std::uint16_t kFour = 0x4400;  // the exponent of 4
    if ((halves[g] & kExponent) < kFour) continue;
    const bool finite = (halves[g] & kExponent) != kExponent;
    throw Error(fmt::format("{}, row {}, block {}", place_, from, g), "its scale is not admitted",
                finite ? fmt::format("{}", multiplier_of_half(halves[g]) * 0x1p-24)
                       : fmt::format("0x{:04X}, not finite", halves[g]),
                "a binary16 below 4 in magnitude");
  }
}

void GgufSource::vector(const PlannedTensor& tensor, std::span<float> values) {
  open(tensor);
  checkpoint_.file().read_at(info_->begin, std::as_writable_bytes(values));
  admit_vector(values, place_);
}

}  // namespace logos
