#include "sim/reference/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "program/check.h"
#include "program/error.h"
#include "sim/reference/observation.h"
#include "sim/reference/words.h"

namespace logos::reference {
namespace {

MatrixView checked_matrix(const WeightStore& weights, const Matrix& matrix) {
  const MatrixView view = weights.matrix(matrix.tensor);
  if (view.rows != matrix.rows || view.columns != matrix.columns) {
    throw Error(matrix.tensor, "another shape in the weights",
                fmt::format("{} rows of {}", view.rows, view.columns),
                fmt::format("{} rows of {}", matrix.rows, matrix.columns));
  }
  return view;
}

std::span<const float> checked_vector(const WeightStore& weights, const Vector& vector) {
  const auto values = weights.vector(vector.tensor);
  if (static_cast<std::int64_t>(values.size()) != vector.size) {
    throw Error(vector.tensor, "another size in the weights", fmt::to_string(values.size()),
                fmt::to_string(vector.size));
  }
  return values.subspan(static_cast<std::size_t>(vector.share.begin),
                        static_cast<std::size_t>(vector.share.size()));
}

/// One chip: its program, what it holds of the weights, its values.
struct Chip {
  Chip(const Program& program_of, const WeightStore& weights)
      : program(program_of), cells(program_of.values.size()) {
    for (const Matrix& matrix : program.matrices) {
      matrices.push_back(checked_matrix(weights, matrix));
      check_profile(matrices.back(), program.profile, matrix.tensor);
    }
    for (const Vector& vector : program.vectors) vectors.push_back(checked_vector(weights, vector));
  }

  const Program& program;
  std::vector<MatrixView> matrices;
  std::vector<std::span<const float>> vectors;
  std::vector<Cell> cells;
};

class Executor {
 public:
  Executor(std::span<const Program> programs, Inputs& inputs, const WeightStore& weights,
           const ExecuteOptions& options);
  Execution run();

 private:
  void execute(std::size_t index);
  bool on_chip(Chip& chip, const Operation& operation, std::vector<HeadTrace>* traces);
  void over_chips(const Operation& operation);
  void show(const Operation& operation, const std::vector<std::vector<HeadTrace>>& traces);
  void release(std::size_t index);

  const Value& value(const Chip& chip, int id) const {
    return chip.program.values[static_cast<std::size_t>(id)];
  }

  Inputs& inputs_;
  ExecuteOptions options_;
  Workers workers_;
  std::vector<Chip> chips_;
  RotaryTable rotary_;
  std::vector<std::size_t> last_use_;  ///< of each value: the last operation that reads it
  Execution execution_;
};

Executor::Executor(std::span<const Program> programs, Inputs& inputs, const WeightStore& weights,
                   const ExecuteOptions& options)
    : inputs_(inputs), options_(options), workers_(options.threads) {
  CHECK(!programs.empty());
  const Program& first = programs.front();
  CHECK(first.chips == static_cast<std::int64_t>(programs.size()));
  check_inputs(first, inputs);
  for (const Program& program : programs) {
    CHECK(program.operations.size() == first.operations.size());
    chips_.emplace_back(program, weights);
  }
  last_use_.assign(first.values.size(), 0);
  for (std::size_t i = 0; i < first.operations.size(); ++i) {
    for (const int argument : first.operations[i].arguments) {
      last_use_[static_cast<std::size_t>(argument)] = i;
    }
    if (first.operations[i].word == Word::kRotated && rotary_.pairs == 0) {
      rotary_ = rotary_table(first.rotary, first.head_columns, inputs.positions);
    }
  }
}

Execution Executor::run() {
  const auto start = std::chrono::steady_clock::now();
  const auto since_start = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::size_t operations = chips_.front().program.operations.size();
  for (std::size_t i = 0; i < operations; ++i) {
    const double begin = options_.spans ? since_start() : 0;
    execute(i);
    release(i);
    if (options_.spans) execution_.spans.push_back({begin, since_start()});
  }
  execution_.seconds = since_start();
  return std::move(execution_);
}

void Executor::execute(std::size_t index) {
  const Operation& first = chips_.front().program.operations[index];
  std::vector<std::vector<HeadTrace>> traces(chips_.size());
  switch (first.word) {
    case Word::kGreatestOverChips:
    case Word::kSumOverChips:
    case Word::kJoinedOverChips:
    case Word::kHeldOverChips:
      over_chips(first);
      break;
    default: {
      bool fault = false;
      const bool traced = options_.observer != nullptr && first.word == Word::kAttended;
      for (std::size_t c = 0; c < chips_.size(); ++c) {
        fault |=
            on_chip(chips_[c], chips_[c].program.operations[index], traced ? &traces[c] : nullptr);
      }
      if (fault && !execution_.fault) execution_.fault = FaultSite{first.layer, first.line};
    }
  }
  if (options_.observer != nullptr) show(first, traces);
}

/// One operation on one chip; says whether it raised FAULT.
bool Executor::on_chip(Chip& chip, const Operation& operation, std::vector<HeadTrace>* traces) {
  Cell none;
  const auto argument = [&](std::size_t i) -> const Cell& {
    return chip.cells[static_cast<std::size_t>(operation.arguments[i])];
  };
  const auto type = [&](std::size_t i) -> const Value& {
    return value(chip, operation.arguments[i]);
  };
  const auto matrix = static_cast<std::size_t>(operation.matrix);
  const auto vector = static_cast<std::size_t>(operation.vector);
  Cell& to = operation.result < 0 ? none : chip.cells[static_cast<std::size_t>(operation.result)];
  switch (operation.word) {
    case Word::kGiven:
      to.x = inputs_.given;
      return false;
    case Word::kEmbedded:
      embedded(chip.program.matrices[matrix], chip.matrices[matrix], inputs_.tokens,
               value(chip, operation.result), to);
      return false;
    case Word::kRmsNorm:
      return rms_norm(type(0), argument(0), chip.vectors[vector],
                      static_cast<float>(chip.program.norm_epsilon), to);
    case Word::kQuantized:
      return quantized(type(0), argument(0), to);
    case Word::kProduct: {
      Cell exact;
      sums(type(0), argument(0), chip.program.matrices[matrix], chip.matrices[matrix], workers_,
           options_.instructions, exact);
      scaled(value(chip, operation.result), exact, to);
      return false;
    }
    case Word::kWithBias:
      with_bias(type(0), argument(0), chip.vectors[vector], to);
      return false;
    case Word::kHeads:
      to.x = argument(0).x;
      return false;
    case Word::kRotated:
      rotated(type(0), argument(0), rotary_, to);
      return false;
    case Word::kPush:
      push(type(0), argument(0), chip.program.caches[static_cast<std::size_t>(operation.keys)],
           inputs_.positions, inputs_.caches);
      return false;
    case Word::kAttended:
      attended({chip.program, inputs_.positions, inputs_.caches, workers_, options_.instructions},
               operation, type(0), argument(0), to, traces);
      return false;
    case Word::kSilu:
      silu_of(argument(0), to);
      return false;
    case Word::kMultiply:
      multiplied(argument(0), argument(1), to);
      return false;
    case Word::kAdd:
      added(argument(0), argument(1), to);
      return false;
    case Word::kLastRow:
      last_row(type(0), argument(0), to);
      return false;
    case Word::kPeak:
      peak(type(0), argument(0), to);
      return false;
    case Word::kQuantizedAt:
      return quantized_at(type(0), argument(0), argument(1), to);
    case Word::kSums:
      sums(type(0), argument(0), chip.program.matrices[matrix], chip.matrices[matrix], workers_,
           options_.instructions, to);
      return false;
    case Word::kScaled:
      scaled(type(0), argument(0), to);
      return false;
    case Word::kShow:
      if (&chip == &chips_.front()) {
        execution_.rows = type(0).rows;
        execution_.columns = type(0).columns;
        execution_.outputs = argument(0).x;
      }
      return false;
    case Word::kGreatestOverChips:
    case Word::kSumOverChips:
    case Word::kJoinedOverChips:
    case Word::kHeldOverChips:
      break;
  }
  CHECK_UNREACHABLE();
}

void Executor::over_chips(const Operation& operation) {
  const auto argument = static_cast<std::size_t>(operation.arguments.front());
  std::vector<const Value*> types;
  std::vector<const Cell*> from;
  std::vector<Cell*> to;
  for (Chip& chip : chips_) {
    types.push_back(&chip.program.values[argument]);
    from.push_back(&chip.cells[argument]);
    to.push_back(&chip.cells[static_cast<std::size_t>(operation.result)]);
  }
  switch (operation.word) {
    case Word::kGreatestOverChips:
      return greatest_over_chips(from, to);
    case Word::kSumOverChips:
      return sum_over_chips(from, to);
    case Word::kJoinedOverChips:
      return joined_over_chips(types, from, to);
    case Word::kHeldOverChips:
      return held_over_chips(*types.front(), from, to);
    default:
      CHECK_UNREACHABLE();
  }
}

void Executor::show(const Operation& operation, const std::vector<std::vector<HeadTrace>>& traces) {
  if (operation.name.empty() || operation.result < 0) return;
  Parts parts;
  for (Chip& chip : chips_) {
    parts.values.push_back(&value(chip, operation.result));
    parts.cells.push_back(&chip.cells[static_cast<std::size_t>(operation.result)]);
  }
  // After `last_row` one row is left, the last.
  std::span<const std::int64_t> positions = inputs_.positions;
  if (!positions.empty()) {
    positions = positions.last(static_cast<std::size_t>(parts.values.front()->rows));
  }
  if (operation.word == Word::kAttended) {
    show_attention(operation, traces, positions, *options_.observer);
  }
  show_result(operation, parts, positions, *options_.observer);
}

/// Frees the values that no later operation reads: a chunk's would not fit all together.
void Executor::release(std::size_t index) {
  for (const int argument : chips_.front().program.operations[index].arguments) {
    if (last_use_[static_cast<std::size_t>(argument)] != index) continue;
    for (Chip& chip : chips_) chip.cells[static_cast<std::size_t>(argument)] = Cell{};
  }
}

}  // namespace

void check_weights(std::span<const Program> programs, const WeightStore& weights) {
  for (const Program& program : programs) Chip(program, weights);
}

Execution execute(std::span<const Program> programs, Inputs& inputs, const WeightStore& weights,
                  const ExecuteOptions& options) {
  return Executor(programs, inputs, weights, options).run();
}

}  // namespace logos::reference
