#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "cuda/host/host_machine.h"
#include "cuda/kernels/arguments.h"
#include "cuda/kernels/table.h"

namespace logos::cuda::testing {

/// A host machine with every check on, poisoned memory and mixed threads, and its buffers.
class KernelBench {
 public:
  explicit KernelBench(std::uint32_t fill = 0xFFFFFFFF, std::uint64_t seed = 1)
      : machine_(options(fill, seed)) {}
  ~KernelBench() { buffers_.clear(); }

  /// Memory that holds the values.
  template <typename T>
  T* put(const std::vector<T>& values) {
    T* data = room<T>(values.size());
    if (!values.empty()) {
      machine_.upload(reinterpret_cast<std::byte*>(data), std::as_bytes(std::span(values)));
    }
    return data;
  }
  /// Memory that holds the fill pattern.
  template <typename T>
  T* room(std::size_t count) {
    buffers_.push_back(machine_.allocate(count * sizeof(T), "test"));
    return buffers_.back().as<T>();
  }
  template <typename T>
  std::vector<T> get(const T* from, std::size_t count) {
    std::vector<T> values(count);
    if (count > 0) {
      machine_.download(std::as_writable_bytes(std::span(values)),
                        reinterpret_cast<const std::byte*>(from));
    }
    return values;
  }
  template <typename Arguments>
  void launch(const Kernel& kernel, const Dim3& grid, std::uint32_t threads, std::size_t shared,
              const Arguments& arguments) {
    machine_.launch(kernel, {grid, {threads}, shared}, arguments, {});
  }
  const Counters& counted() const { return *machine_.records().back().counted; }

 private:
  static HostOptions options(std::uint32_t fill, std::uint64_t seed) {
    HostOptions options;
    options.memory_fill = fill;
    options.executor.shared_fill = static_cast<std::uint8_t>(fill);
    options.executor.seed = seed;
    options.executor.mix_warps = true;
    options.check_addresses = true;
    return options;
  }
  HostMachine machine_;
  std::vector<Buffer> buffers_;
};

}  // namespace logos::cuda::testing
