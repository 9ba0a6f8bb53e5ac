#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program/program.h"
#include "sim/inputs.h"
#include "sim/observer.h"
#include "sim/reference/instructions.h"
#include "sim/result.h"
#include "sim/weights/store.h"

namespace logos::reference {

struct ExecuteOptions {
  Observer* observer = nullptr;
  int threads = 1;
  Instructions instructions = best_instructions();
  bool spans = false;  ///< fill Execution::spans
};

/// When an operation began and ended, in seconds from the start of the execution.
struct Span {
  double begin = 0;
  double end = 0;
};

/// What an execution gave: the outputs as `Result` has them, and the host's time for the
/// operations alone (not for the rotary table, which is data, nor for looking weights up).
struct Execution {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> outputs;
  std::optional<FaultSite> fault;
  double seconds = 0;
  std::vector<Span> spans;  ///< of each operation, where asked for
};

/// Throws Error where the store lacks a tensor of the programs, holds it in another shape, or the
/// programs want an encoding that the store's matrices do not have.
void check_weights(std::span<const Program> programs, const WeightStore& weights);

/// Executes a program, `programs` holding it as each chip sees it: operation after operation, chip
/// after chip. This defines the right bits. Writes what the program pushes into `inputs.caches`.
/// Throws Error where the inputs do not fit (check_inputs) or the weights do not (check_weights).
Execution execute(std::span<const Program> programs, Inputs& inputs, const WeightStore& weights,
                  const ExecuteOptions& options = {});

}  // namespace logos::reference
