#include "tests/rtl/model_run.h"

#include <algorithm>
#include <deque>

#include "bench/bringup/instruction_model.h"
#include "rtl/lowering/exchange.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/memory_image.h"

namespace logos::d5005 {
namespace {

/// A board: its memory and an engine.
struct ModelBoard {
  BoardMemory memory{std::byte{0x5B}};
  InstructionModel engine;
  ModelBoard(const EngineSize& size, std::uint32_t seed) : engine(size, memory, seed) {}

  void write(std::int64_t at, std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(kSuperBeatBytes)) {
      memory.write(at++, bytes.first(kSuperBeatBytes));
    }
  }

  /// The program as it lies in memory: what write_image put there is what runs.
  std::vector<Instruction> program_at(std::int64_t base, std::size_t count) const {
    std::vector<Instruction> program;
    for (std::size_t n = 0; n < count; ++n) {
      const auto& beat = memory.read(base + 1 + static_cast<std::int64_t>(n / 4));
      const auto bytes =
          std::span(beat).subspan(n % 4 * kInstructionBytes).first<kInstructionBytes>();
      program.push_back(decode(bytes));
    }
    return program;
  }

  std::vector<std::byte> stored(std::size_t bytes) const {
    std::vector<std::byte> buffer(bytes, std::byte{0xEE});
    for (const auto& [line, content] : engine.host()) {
      const auto at = static_cast<std::size_t>(line) * content.size();
      if (at < bytes)
        std::copy(content.begin(), content.end(), buffer.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return buffer;
  }
};

class ModelBoards {
 public:
  ModelBoards(const Plan& plan, const contract::Job& job, const Inputs& inputs, std::uint32_t seed,
              bool observed)
      : plan_(plan), job_(job), inputs_(inputs), observed_(observed) {
    for (std::size_t b = 0; b < plan.boards.size(); ++b) {
      ModelBoard& board = boards_.emplace_back(plan.engine, seed + static_cast<std::uint32_t>(b));
      write_image(
          plan, b, *job.weights, inputs, job.identity, std::byte{0xA5},
          [&](std::int64_t at, std::span<const std::byte> bytes) { board.write(at, bytes); });
    }
  }

  ModelRun run() {
    const std::int64_t each = boards_.size() == 1 ? plan_.rows : plan_.engine.rows;
    for (std::int64_t first = 0; first < plan_.rows; first += each) {
      run_pass({first, std::min(each, plan_.rows - first)}, first / each);
    }
    ModelRun result{std::move(outputs_), false, inputs_, std::move(buffers_)};
    for (std::size_t b = 0; b < boards_.size(); ++b) {
      result.fault |= boards_[b].engine.fault();
      read_pushed(
          plan_, b,
          [&](std::int64_t at, std::span<std::byte> bytes) {
            const auto& beat = boards_[b].memory.read(at);
            std::copy(beat.begin(), beat.end(), bytes.begin());
          },
          result.inputs);
    }
    return result;
  }

 private:
  void run_pass(const RowRange& rows, std::int64_t pass) {
    const bool last = rows.first + rows.count == plan_.rows;
    for (std::size_t s = 0; s <= plan_.exchanges.size(); ++s) {
      const bool shows = s == plan_.exchanges.size();
      const bool silent = shows && !last && plan_.output_rows < plan_.rows;
      if (silent && !observed_) return;
      std::vector<std::vector<std::byte>> stored;
      for (std::size_t b = 0; b < boards_.size(); ++b) {
        const BoardPlan& board = plan_.boards[b];
        const Segment whole{board.program_base, 0, static_cast<std::int64_t>(board.program.size()),
                            1};
        const Segment& segment = board.segments.empty() ? whole : board.segments[s];
        boards_[b].engine.run(boards_[b].program_at(program_of_pass(segment, pass),
                                                    static_cast<std::size_t>(segment.count)),
                              row_table(plan_, b, inputs_, rows));
        stored.push_back(boards_[b].stored(static_cast<std::size_t>(plan_.host_units) * 64));
      }
      if (!shows) {
        exchange(plan_.exchanges[s], rows, stored);
      } else {
        if (!silent) show(rows, stored);
        buffers_.insert(buffers_.end(), stored.begin(), stored.end());
      }
    }
  }

  void exchange(const Exchange& exchange, const RowRange& rows, StoredLines stored) {
    const auto bytes = exchanged(plan_, exchange, *job_.weights, inputs_, rows, stored);
    for (std::size_t b = 0; b < boards_.size(); ++b) {
      boards_[b].write(exchange_base(plan_.boards[b], exchange.kind), bytes);
    }
  }

  void show(const RowRange& rows, StoredLines stored) {
    const RowRange shown = plan_.output_rows < plan_.rows ? RowRange{plan_.rows - 1, 1} : rows;
    const std::size_t before = outputs_.size();
    outputs_.resize(before + static_cast<std::size_t>(shown.count * plan_.output_columns));
    take_outputs(plan_, inputs_, shown, stored, std::span(outputs_).subspan(before));
  }

  const Plan& plan_;
  const contract::Job& job_;
  const Inputs& inputs_;
  std::deque<ModelBoard> boards_;
  bool observed_;
  std::vector<float> outputs_;
  std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace

ModelRun run_on_models(const Plan& plan, const contract::Job& job, const Inputs& inputs,
                       std::uint32_t seed, bool observed) {
  return ModelBoards(plan, job, inputs, seed, observed).run();
}

}  // namespace logos::d5005
