#include "cuda/machine.h"

#include <fmt/format.h>

#include "program/error.h"

namespace logos::cuda {
namespace {

void check_limit(std::string_view kernel, std::string_view what, std::uint64_t got,
                 std::uint64_t lowest, std::uint64_t highest) {
  if (got < lowest || got > highest) {
    throw Error(fmt::format("kernel {}", kernel), fmt::format("{} out of range", what),
                fmt::format("{}", got), fmt::format("{} to {}", lowest, highest));
  }
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) {
  weight_bytes += other.weight_bytes;
  kv_bytes += other.kv_bytes;
  other_bytes += other.other_bytes;
  int8_macs += other.int8_macs;
  fp32_ops += other.fp32_ops;
  tensor_macs += other.tensor_macs;
  return *this;
}

void check_shape(std::string_view kernel, const LaunchShape& shape) {
  check_limit(kernel, "grid.x", shape.grid.x, 1, kMaxGridX);
  check_limit(kernel, "grid.y", shape.grid.y, 1, kMaxGridYz);
  check_limit(kernel, "grid.z", shape.grid.z, 1, kMaxGridYz);
  check_limit(kernel, "block.x", shape.block.x, 1, kMaxBlockThreads);
  check_limit(kernel, "block.y", shape.block.y, 1, kMaxBlockThreads);
  check_limit(kernel, "block.z", shape.block.z, 1, 64);
  check_limit(kernel, "threads of a block", shape.block.count(), 1, kMaxBlockThreads);
  check_limit(kernel, "dynamic shared memory in bytes", shape.shared_bytes, 0, kMaxSharedBytes);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    if (machine_ != nullptr) machine_->release(data_);
    machine_ = std::exchange(other.machine_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Buffer::~Buffer() {
  if (machine_ != nullptr) machine_->release(data_);
}

}  // namespace logos::cuda
