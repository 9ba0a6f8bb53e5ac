#include "rtl/lowering/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "program/error.h"
#include "rtl/lowering/exchange.h"
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
    const bool end = instruction.op == static_cast<std::uint32_t>(Op::kEnd);
    if (!end) {
      for (std::size_t unit = 0; unit < kUnits; ++unit) {
        instruction.need[unit] = static_cast<std::uint8_t>(emitted_[unit]);
      }
      const auto unit = static_cast<std::size_t>(unit_of(static_cast<Op>(instruction.op)));
      instruction.chain = 0;
      if (instruction.fence != 0) instruction.fence_need = emitted_[kHeadsUnit] & 0xFF;
      ++emitted_[unit];
    }
    program_.push_back(instruction);
    if (end) emitted_ = {};  // another segment
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
      operations.push_back(
          {std::string(name), line.layer, line.line, ElementType::kF32, 0, false, {}});
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
  std::size_t begin = 0;  ///< of the run's additions
  std::size_t end = 0;
  std::vector<std::int64_t> offsets;
  std::int64_t host_units = 0;
};

bool ends(const Instruction& i) { return i.op == static_cast<std::uint32_t>(Op::kEnd); }

/// The program, or the segment of it, that an instruction's place lies in: where it begins and its
/// OpEnd.
std::pair<std::size_t, std::size_t> program_around(const std::vector<Instruction>& program,
                                                   std::size_t place) {
  std::size_t begin = place;
  while (begin > 0 && !ends(program[begin - 1])) --begin;
  std::size_t end = place;
  while (end < program.size() && !ends(program[end])) ++end;
  return {begin, end};
}

std::vector<Packed> pack(const Plan& plan, const BoardPlan& board,
                         std::span<const Addition> additions) {
  std::vector<Packed> runs = {{0, 0, {}, plan.host_units}};
  std::size_t begin_before = 0;
  std::int64_t used = 0;  // of the program memory, beside the program at hand
  for (std::size_t a = 0; a < additions.size(); ++a) {
    const Addition& addition = additions[a];
    const auto [begin, end] = program_around(board.program, addition.place);
    if (begin != begin_before) used = 0;
    begin_before = begin;
    const auto own = static_cast<std::int64_t>(end - begin) + 1;
    const std::int64_t room = plan.engine.instructions - own;
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
      runs.push_back({a, a, {}, plan.host_units});
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
    piece.board = static_cast<std::size_t>(output.board);
    piece.offset = output.offset;
    piece.lines = (4 * output.columns + kLineBytes - 1) / kLineBytes;
    piece.elements = piece.count = output.columns;
    logits.pieces.push_back(piece);
  }
}

void check_shape(const Plan& plan) {
  if (plan.engine.rows < 1 || plan.engine.rows > kMostRows) {
    throw Error(kWhere, "rows of a pass", fmt::to_string(plan.engine.rows),
                fmt::format("1 to {}", kMostRows));
  }
  for (const BoardPlan& board : plan.boards) {
    const auto count = std::count_if(board.program.begin(), board.program.end(), ends);
    const std::size_t segments = plan.boards.size() == 1 ? 1 : board.segments.size();
    if (std::cmp_not_equal(count, segments) || board.segments.size() > segments ||
        !ends(board.program.back())) {
      throw Error(kWhere, "damaged plan: segments of the boards", fmt::to_string(count),
                  fmt::to_string(segments));
    }
  }
}

/// Values and exponents of one row of an operation, read from the output buffers.
class RowReader {
 public:
  RowReader(const ObservedPlan& observed, std::span<const std::vector<std::byte>> outputs)
      : plan_(observed.runs.front()),
        window_(observed.window),
        outputs_(outputs),
        boards_(plan_.boards.size()),
        rows_of_run_(boards_ == 1 ? plan_.rows : std::min(plan_.rows, plan_.engine.rows)),
        passes_(static_cast<std::size_t>((plan_.rows + rows_of_run_ - 1) / rows_of_run_)) {}

  /// `position`, `token` from 1; 0 where the cut has none.
  void read(const ObservedOperation& operation, std::int64_t row, std::int64_t position,
            std::int64_t token) {
    values_.clear();
    exponents_.clear();
    // The run's last row alone is row 0 of what the last pass stored.
    const bool alone = operation.rows != plan_.rows;
    pass_ = alone ? passes_ - 1 : static_cast<std::size_t>(row / rows_of_run_);
    for (const ObservedPiece& piece : operation.pieces) {
      if (operation.held && !holds_token(plan_.boards.at(piece.board), token)) continue;
      read(piece, static_cast<std::int64_t>(bytes_of(operation.type)),
           alone ? 0 : row % rows_of_run_, position);
    }
  }

  std::span<const std::byte> values() const { return values_; }
  std::span<const std::int8_t> exponents() const { return exponents_; }

 private:
  void read(const ObservedPiece& piece, std::int64_t element, std::int64_t row,
            std::int64_t position) {
    std::int64_t at = (piece.offset + row * piece.lines) * kLineBytes + piece.skip;
    std::int64_t elements = piece.elements;
    std::int64_t left = piece.count;
    if (piece.visible) {
      const std::int64_t first = window_ == 0 ? 0 : std::max<std::int64_t>(0, position - window_);
      elements = position - first;
      left = piece.blocks * elements;
      at += first % kBlock * element;
    }
    std::int64_t drop = piece.drop;
    for (std::int64_t block = 0; block < piece.blocks; ++block, at += piece.block_bytes) {
      const std::int64_t taken = std::min(elements, left);
      const std::int64_t dropped = std::min(drop, taken);
      const auto bytes = bytes_at(piece, at + dropped * element, (taken - dropped) * element);
      values_.insert(values_.end(), bytes.begin(), bytes.end());
      left -= taken;
      drop -= dropped;
      if (piece.exponent_at == 0) continue;
      // An int32; its lowest byte is the exponent as int8.
      exponents_.push_back(
          static_cast<std::int8_t>(bytes_at(piece, at + piece.exponent_at, 1).front()));
    }
  }

  std::span<const std::byte> bytes_at(const ObservedPiece& piece, std::int64_t at,
                                      std::int64_t bytes) const {
    const std::size_t index = (piece.run * passes_ + pass_) * boards_ + piece.board;
    const auto size =
        index < outputs_.size() ? static_cast<std::int64_t>(outputs_[index].size()) : 0;
    if (at < 0 || bytes < 0 || at > size - bytes) {
      throw Error(kWhere, "values outside the output buffer",
                  fmt::format("{} bytes at {} of run {}", bytes, at, piece.run),
                  fmt::format("{} bytes", size));
    }
    return std::span(outputs_[index])
        .subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
  }

  const Plan& plan_;
  std::int64_t window_;
  std::span<const std::vector<std::byte>> outputs_;
  std::size_t boards_;
  std::int64_t rows_of_run_;
  std::size_t passes_;
  std::size_t pass_ = 0;  ///< of the row at hand
  std::vector<std::byte> values_;
  std::vector<std::int8_t> exponents_;
};

/// The programs have become longer than the plan's own, so they move behind all else.
void place_programs(BoardPlan& board, const EngineSize& engine) {
  std::int64_t next = board.super_beats;
  std::int64_t first = 0;
  board.program_base = next;
  for (Segment& segment : board.segments) {
    const std::size_t end = program_around(board.program, static_cast<std::size_t>(first)).second;
    segment.first = first;
    segment.count = static_cast<std::int64_t>(end) + 1 - first;
    segment.base = next;
    next += program_beats(static_cast<std::size_t>(segment.count)) * segment.copies;
    first += segment.count;
  }
  if (board.segments.empty()) next += program_beats(board.program.size());
  board.super_beats = next;
  if (next > engine.super_beats) {
    throw Error(kWhere, "super-beats of DDR: more than the board has", fmt::to_string(next),
                fmt::format("{} at most", engine.super_beats));
  }
}

/// What is added to each board, and to which run.
struct Added {
  std::vector<Addition> additions;
  std::vector<Packed> runs;
};

std::vector<Added> add_to_boards(Plan& base, std::span<const std::int64_t> positions,
                                 std::vector<ObservedOperation>* operations) {
  const Plan plan = base;
  std::vector<Added> added;
  for (std::size_t b = 0; b < plan.boards.size(); ++b) {
    Added& board = added.emplace_back();
    board.additions = additions_of(plan, b, positions, operations, &base.boards[b]);
    board.runs = pack(plan, plan.boards[b], board.additions);
    for (std::size_t r = 0; r < board.runs.size(); ++r) {
      const Packed& run = board.runs[r];
      for (std::size_t a = run.begin; a < run.end; ++a) {
        for (const auto& [operation, relative] : board.additions[a].pieces) {
          ObservedPiece piece = relative;
          piece.run = r;
          piece.offset += run.offsets[a - run.begin];
          (*operations)[operation].pieces.push_back(piece);
        }
      }
    }
  }
  return added;
}

/// The plan of a run.
Plan plan_of_run(const Plan& base, std::size_t index, std::span<const Added> added) {
  Plan plan = base;
  for (std::size_t b = 0; b < plan.boards.size(); ++b) {
    BoardPlan& board = plan.boards[b];
    const std::vector<Packed>& runs = added[b].runs;
    const Packed run = index < runs.size() ? runs[index] : Packed{0, 0, {}, base.host_units};
    board.program = program_with(
        board.program, std::span(added[b].additions).subspan(run.begin, run.end - run.begin), run);
    plan.host_units = std::max(plan.host_units, run.host_units);
    place_programs(board, plan.engine);
  }
  return plan;
}

}  // namespace

ObservedPlan observe(const Plan& plan, std::span<const std::int64_t> positions) {
  check_shape(plan);
  ObservedPlan observed;
  observed.operations = operations_of(plan);
  Plan base = plan;
  const std::vector<Added> added = add_to_boards(base, positions, &observed.operations);
  for (const Instruction& i : plan.boards.front().program) {
    if (i.op == static_cast<std::uint32_t>(Op::kAttend)) observed.window = i.window;
  }
  find_logits(plan, &observed.operations);
  std::size_t runs = 0;
  for (const Added& board : added) runs = std::max(runs, board.runs.size());
  for (std::size_t r = 0; r < runs; ++r) observed.runs.push_back(plan_of_run(base, r, added));
  for (const ObservedOperation& operation : observed.operations) {
    if (!operation.pieces.empty()) continue;
    throw Error(kWhere, fmt::format("damaged plan: no instruction shows {} of layer {}",
                                    operation.name, operation.layer));
  }
  return observed;
}

void hand_over(const ObservedPlan& observed, std::span<const std::vector<std::byte>> outputs,
               const Inputs& inputs, Observer& observer) {
  RowReader reader(observed, outputs);
  // One row alone is the run's last.
  const auto of_row = [](const std::vector<std::int64_t>& values,
                         const ObservedOperation& operation, std::int64_t row) {
    if (values.empty()) return std::int64_t{0};
    if (std::cmp_greater(operation.rows, values.size())) {
      throw Error(kWhere, "rows of the inputs", fmt::to_string(values.size()),
                  fmt::to_string(operation.rows));
    }
    return values[values.size() - static_cast<std::size_t>(operation.rows - row)];
  };
  for (const ObservedOperation& operation : observed.operations) {
    for (std::int64_t row = 0; row < operation.rows; ++row) {
      const std::int64_t position = of_row(inputs.positions, operation, row);
      reader.read(operation, row, position, of_row(inputs.tokens, operation, row));
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
