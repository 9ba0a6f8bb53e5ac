#include "sim/weights/checkpoint_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "program/error.h"
#include "sim/weights/quantizer.h"

namespace logos {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<std::int64_t> shape_of(const PlannedTensor& tensor) {
  if (tensor.is_matrix) return {tensor.rows, tensor.columns};
  return {tensor.columns};
}

void check_tensor(const TensorInfo& info, const PlannedTensor& planned) {
  check_readable_type(info);  // first: packed types come in shapes of their own
  if (info.shape != shape_of(planned)) {
    throw Error(tensor_place(info.file, info.name),
                "its shape is not the one that the config states", shape_text(info.shape),
                shape_text(shape_of(planned)));
  }
}

}  // namespace

void check_tensors(const CheckpointHeader& header, const std::vector<PlannedTensor>& plan,
                   const ModelSpec& spec, const std::filesystem::path& dir,
                   std::vector<std::string>& remarks) {
  std::set<std::string_view> known;
  for (const PlannedTensor& planned : plan) {
    known.insert(planned.name);
    const TensorInfo* info = header.find(planned.name);
    if (info == nullptr) {
      throw Error(tensor_place(dir, planned.name), "is missing in the checkpoint", "none",
                  shape_text(shape_of(planned)));
    }
    check_tensor(*info, planned);
  }
  for (const TensorInfo& info : header.tensors) {
    if (known.contains(info.name)) continue;
    // Old checkpoints keep the rotary frequencies; ours come from the config (rotary_table.h).
    if (info.name.ends_with("rotary_emb.inv_freq")) continue;
    if (spec.tied_head && info.name == "lm_head.weight") {
      remarks.push_back(fmt::format("{} is unused: the head is tied to the embedding",
                                    tensor_place(info.file, info.name)));
      continue;
    }
    throw Error(tensor_place(info.file, info.name),
                "the model that the config states has no such tensor",
                fmt::format("{} {}", info.dtype, shape_text(info.shape)), "none");
  }
}

float CheckpointSource::matrix_row(const PlannedTensor& tensor, std::int64_t row,
                                   std::span<std::uint8_t> multipliers, std::span<std::int8_t> q) {
  constexpr std::int64_t kBlockValues = std::int64_t{1} << 18;  // read at a time
  if (tensor.name != tensor_ || row < first_ || row >= end_) {
    if (tensor.name != tensor_) {
      tensor_ = tensor.name;
      place_ = place(tensor);
    }
    first_ = row;
    end_ = std::min(tensor.rows, row + std::max<std::int64_t>(kBlockValues / tensor.columns, 1));
    buffer_.resize(static_cast<std::size_t>((end_ - first_) * tensor.columns));
    checkpoint_.read_rows(tensor.name, first_, end_ - first_, buffer_);
  }
  const std::span<const float> values =
      std::span(buffer_).subspan(static_cast<std::size_t>((row - first_) * tensor.columns),
                                 static_cast<std::size_t>(tensor.columns));
  return quantize_row_into(values, multipliers, q, fmt::format("{}, row {}", place_, row));
}

void CheckpointSource::vector(const PlannedTensor& tensor, std::span<float> values) {
  checkpoint_.read_row(tensor.name, 0, values);
  admit_vector(values, place(tensor));
}

std::string CheckpointSource::place(const PlannedTensor& tensor) const {
  return tensor_place(checkpoint_.header().find(tensor.name)->file, tensor.name);
}

}  // namespace logos
