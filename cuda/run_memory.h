#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/launches.h"
#include "cuda/machine.h"
#include "cuda/machine_keeper.h"
#include "cuda/plan.h"
#include "sim/inputs.h"
#include "sim/weights/store.h"

namespace logos::cuda {

/// Bytes that a run takes on a GPU, by what they hold.
struct MemoryNeed {
  std::int64_t weights = 0;
  std::int64_t caches = 0;
  std::int64_t activations = 0;
  std::int64_t all() const { return weights + caches + activations; }
};
MemoryNeed memory_need(const Plan& plan, std::int64_t reach);

/// Throws Error with the sizes where the GPU's memory does not hold a run that reaches so many
/// cache positions.
void check_memory(const Plan& plan, std::int64_t reach);

/// What a program pushed: the blocks of each cache of the plan, one position a row, in four parts
/// (keys, their exponents, values, their exponents) as they lie on the machine.
using PushedCaches = std::vector<std::array<std::vector<std::byte>, 4>>;

/// Puts what was pushed into the caches of the run.
void push_caches(const Plan& plan, const PushedCaches& pushed, const RunShape& run,
                 std::vector<KvCache>& caches);

/// The memory of one run on a machine: gives references their addresses, holds them to the bounds
/// of what they point into.
class RunMemory {
 public:
  /// Allocates, and uploads weights, inputs and caches. `observe`: with what only an observer
  /// wants.
  RunMemory(Machine& machine, WeightMemory& weights, const Plan& plan, const WeightStore& store,
            const Inputs& inputs, const RunShape& run, bool observe);

  /// Null for null references, and for what only an observer wants where there is none. Throws
  /// Error where the offset is outside, not a multiple of `alignment`, or where a kernel would
  /// write what it may only read.
  std::byte* address(const Reference& reference, std::size_t alignment, bool writes) const;

  /// Throws Error where `bytes` from the reference on are not inside its buffer, or there is none
  /// though it is `required`.
  void check(const Reference& reference, std::int64_t bytes, bool required) const;

  void download(std::span<std::byte> to, const Reference& from) const;

  /// What the program pushed, as it stands on the machine.
  PushedCaches download_caches(const RunShape& run) const;

 private:
  struct Piece {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
  };
  void own(Space space, std::size_t index, std::int64_t bytes, std::string_view name);
  template <typename T>
  void upload(Space space, const std::vector<T>& values, std::string_view name);
  void enter_weights(WeightMemory& weights, const WeightStore& store);
  void enter_weight(WeightMemory& weights, Space space, std::size_t index,
                    std::span<const std::byte> bytes, const std::string& name);
  void enter_inputs(const Inputs& inputs, const RunShape& run);
  void enter_caches(const Inputs& inputs, const RunShape& run);
  void enter_activations(const RunShape& run);
  const Piece* find(const Reference& reference) const;

  Machine& machine_;
  const Plan& plan_;
  bool observe_;
  std::vector<Buffer> buffers_;
  std::array<std::vector<Piece>, kSpaces> pieces_;
};

}  // namespace logos::cuda
