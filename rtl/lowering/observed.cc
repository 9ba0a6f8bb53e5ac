#include "rtl/lowering/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "program/error.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/observed_additions.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kBlock = 128;  ///< positions of a cache block
/// Lines of an output buffer that the engine's 512 segments of 2 MiB hold.
constexpr std::int64_t kMostUnits = 512 * (std::int64_t{1} << 21) / kLineBytes;
constexpr std::int64_t kMostRows = 32;  ///< of a pass of any engine
constexpr const char* kWhere = "d5005: observation";

/// Instructions each of which starts once all before it have ended.
class SerialProgram {
 public:
  void append(Instruction instruction) {
    const bool ends = instruction.op == static_cast<std::uint32_t>(Op::kEnd);
    if (!ends) {
      for (std::size_t unit = 0; unit < kUnits; ++unit) {
        instruction.need[unit] = static_cast<std::uint8_t>(emitted_[unit]);
      }
      const auto unit = static_cast<std::size_t>(unit_of(static_cast<Op>(instruction.op)));
      instruction.chain = 0;
      if (instruction.fence != 0) instruction.fence_need = emitted_[kHeadsUnit] & 0xFF;
      ++emitted_[unit];
    }
    program_.push_back(instruction);
  }
  std::vector<Instruction> take() { return std::move(program_); }

 private:
  static constexpr auto kHeadsUnit = static_cast<std::size_t>(Unit::kHeads);
  std::array<std::uint32_t, kUnits> emitted_{};
  std::vector<Instruction> program_;
};

/// The operations that a run shows, in the program's order; attention shows its steps.
std::vector<ObservedOperation> operations_of(const Plan& plan) {
  std::vector<ObservedOperation> operations;
  for (const PlanLine& line : plan.lines) {
    if (line.name.empty()) continue;
    const auto push = [&](std::string_view name) {
      operations.push_back({std::string(name), line.layer, line.line, ElementType::kF32, 0, {}});
    };
    if (line.name == "attention") {
      for (const std::string_view step : {"scores", "weights", "weight_sum"}) push(step);
    }
    push(line.name);
  }
  return operations;
}

/// Which additions go into the same run, and where the lines of each begin in its output buffer.
struct Packed {
  std::size_t end = 0;  ///< of the run's additions
  std::vector<std::int64_t> offsets;
  std::int64_t host_units = 0;
};

std::vector<Packed> pack(const Plan& plan, std::span<const Addition> additions) {
  const std::int64_t own = static_cast<std::int64_t>(plan.boards.front().program.size());
  const std::int64_t room = plan.engine.instructions - own;
  std::vector<Packed> runs(1);
  runs.back().host_units = plan.host_units;
  std::int64_t used = 0;
  for (std::size_t a = 0; a < additions.size(); ++a) {
    const Addition& addition = additions[a];
    const auto needed = static_cast<std::int64_t>(addition.instructions.size());
    if (needed > room) {
      throw Error(kWhere, "instructions of the program and what shows one operation",
                  fmt::to_string(own + needed),
                  fmt::format("{} at most", plan.engine.instructions));
    }
    if (plan.host_units + addition.host_units > kMostUnits) {
      throw Error(kWhere, "lines of 64 bytes of the outputs and one operation",
                  fmt::to_string(plan.host_units + addition.host_units),
                  fmt::format("{} at most", kMostUnits));
    }
    if (used + needed > room || runs.back().host_units + addition.host_units > kMostUnits) {
      runs.push_back({a, {}, plan.host_units});
      used = 0;
    }
    Packed& run = runs.back();
    run.offsets.push_back(run.host_units);
    run.host_units += addition.host_units;
    run.end = a + 1;
    used += needed;
  }
  return runs;
}

/// The program with a run's additions in it.
std::vector<Instruction> program_with(const std::vector<Instruction>& program,
                                      std::span<const Addition> additions, const Packed& run) {
  SerialProgram serial;
  std::size_t next = 0;
  for (std::size_t place = 0; place < program.size(); ++place) {
    for (; next < additions.size() && additions[next].place == place; ++next) {
      for (Instruction i : additions[next].instructions) {
        if (i.op == static_cast<std::uint32_t>(Op::kStore)) {
          i.host_offset += static_cast<std::uint32_t>(run.offsets[next]);
        }
        serial.append(i);
      }
    }
    serial.append(program[place]);
  }
  return serial.take();
}

/// The logits lie where the program itself stores them.
void find_logits(const Plan& plan, std::vector<ObservedOperation>* operations) {
  if (operations->empty() || operations->back().name != "logits") return;
  ObservedOperation& logits = operations->back();
  logits.rows = plan.output_rows;
  for (const OutputPiece& output : plan.outputs) {
    ObservedPiece piece;
    piece.offset = output.offset;
    piece.lines = (4 * output.columns + kLineBytes - 1) / kLineBytes;
    piece.elements = piece.count = output.columns;
    logits.pieces.push_back(piece);
  }
}

void check_shape(const Plan& plan) {
  if (plan.boards.size() != 1) {
    throw Error(kWhere, "boards of the plan", fmt::to_string(plan.boards.size()), "1");
  }
  if (plan.engine.rows < 1 || plan.engine.rows > kMostRows) {
    throw Error(kWhere, "rows of a pass", fmt::to_string(plan.engine.rows),
                fmt::format("1 to {}", kMostRows));
  }
}

/// Values and exponents of one row of an operation, read from the output buffers.
class RowReader {
 public:
  RowReader(std::span<const std::vector<std::byte>> outputs, std::int64_t window)
      : outputs_(outputs), window_(window) {}

  /// `position` from 1; 0 where the cut has none.
  void read(const ObservedOperation& operation, std::int64_t row, std::int64_t position) {
    values_.clear();
    exponents_.clear();
    const auto element = static_cast<std::int64_t>(bytes_of(operation.type));
    for (const ObservedPiece& piece : operation.pieces) {
      std::int64_t at = (piece.offset + row * piece.lines) * kLineBytes + piece.skip;
      std::int64_t elements = piece.elements;
      std::int64_t left = piece.count;
      if (piece.visible) {
        const std::int64_t first = window_ == 0 ? 0 : std::max<std::int64_t>(0, position - window_);
        elements = position - first;
        left = piece.blocks * elements;
        at += first % kBlock * element;
      }
      for (std::int64_t block = 0; block < piece.blocks; ++block, at += piece.block_bytes) {
        const std::int64_t taken = std::min(elements, left);
        const auto bytes = bytes_at(piece.run, at, taken * element);
        values_.insert(values_.end(), bytes.begin(), bytes.end());
        left -= taken;
        if (piece.exponent_at == 0) continue;
        // An int32; its lowest byte is the exponent as int8.
        exponents_.push_back(
            static_cast<std::int8_t>(bytes_at(piece.run, at + piece.exponent_at, 1).front()));
      }
    }
  }

  std::span<const std::byte> values() const { return values_; }
  std::span<const std::int8_t> exponents() const { return exponents_; }

 private:
  std::span<const std::byte> bytes_at(std::size_t run, std::int64_t at, std::int64_t bytes) const {
    const auto size = run < outputs_.size() ? static_cast<std::int64_t>(outputs_[run].size()) : 0;
    if (at < 0 || bytes < 0 || at > size - bytes) {
      throw Error(kWhere, "values outside the output buffer",
                  fmt::format("{} bytes at {} of run {}", bytes, at, run),
                  fmt::format("{} bytes", size));
    }
    return std::span(outputs_[run])
        .subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
  }

  std::span<const std::vector<std::byte>> outputs_;
  std::int64_t window_;
  std::vector<std::byte> values_;
  std::vector<std::int8_t> exponents_;
};

}  // namespace

ObservedPlan observe(const Plan& plan, std::span<const std::int64_t> positions) {
  check_shape(plan);
  ObservedPlan observed;
  observed.operations = operations_of(plan);
  Plan base = plan;
  BoardPlan& board = base.boards.front();
  const std::vector<Instruction> program = board.program;
  // The program is longer than the plan's own, so it moves behind all else.
  board.program_base = board.super_beats;
  board.super_beats += program_beats(static_cast<std::size_t>(plan.engine.instructions));
  const std::vector<Addition> additions =
      additions_of(plan, positions, &observed.operations, &board);
  if (board.super_beats > plan.engine.super_beats) {
    throw Error(kWhere, "super-beats of DDR: more than the board has",
                fmt::to_string(board.super_beats),
                fmt::format("{} at most", plan.engine.super_beats));
  }
  for (const Instruction& i : program) {
    if (i.op == static_cast<std::uint32_t>(Op::kAttend)) observed.window = i.window;
  }
  find_logits(plan, &observed.operations);
  std::size_t begin = 0;
  for (const Packed& packed : pack(plan, additions)) {
    const auto own = std::span(additions).subspan(begin, packed.end - begin);
    base.host_units = packed.host_units;
    board.program = program_with(program, own, packed);
    for (std::size_t a = 0; a < own.size(); ++a) {
      for (const auto& [operation, relative] : own[a].pieces) {
        ObservedPiece piece = relative;
        piece.run = observed.runs.size();
        piece.offset += packed.offsets[a];
        observed.operations[operation].pieces.push_back(piece);
      }
    }
    observed.runs.push_back(base);
    begin = packed.end;
  }
  for (const ObservedOperation& operation : observed.operations) {
    if (!operation.pieces.empty()) continue;
    throw Error(kWhere, fmt::format("damaged plan: no instruction shows {} of layer {}",
                                    operation.name, operation.layer));
  }
  return observed;
}

void hand_over(const ObservedPlan& observed, std::span<const std::vector<std::byte>> outputs,
               std::span<const std::int64_t> positions, Observer& observer) {
  RowReader reader(outputs, observed.window);
  for (const ObservedOperation& operation : observed.operations) {
    // One row alone is the run's last.
    const auto rows = static_cast<std::size_t>(operation.rows);
    if (!positions.empty() && rows > positions.size()) {
      throw Error(kWhere, "positions of the inputs", fmt::to_string(positions.size()),
                  fmt::to_string(rows));
    }
    const auto of_rows = positions.empty() ? positions : positions.last(rows);
    for (std::int64_t row = 0; row < operation.rows; ++row) {
      const std::int64_t position = positions.empty() ? 0 : of_rows[static_cast<std::size_t>(row)];
      reader.read(operation, row, position);
      Observation observation;
      observation.name = operation.name;
      observation.layer = operation.layer;
      observation.line = static_cast<int>(operation.line);
      observation.row = row;
      observation.position = position;
      observation.type = operation.type;
      observation.values = reader.values();
      observation.exponents = reader.exponents();
      observer.observe(observation);
    }
  }
}

}  // namespace logos::d5005
