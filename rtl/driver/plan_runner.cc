#include "rtl/driver/plan_runner.h"

#include <algorithm>
#include <utility>

#include "program/check.h"
#include "rtl/driver/gathered_writes.h"
#include "rtl/lowering/exchange.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/memory_image.h"

namespace logos::d5005 {
namespace {

constexpr std::size_t kLineBytes = 64;

class PlanRun {
 public:
  PlanRun(const Plan& plan, std::span<Driver* const> boards, const WeightStore& weights,
          const Identity& identity, Inputs& inputs, const PlanRunOptions& options)
      : plan_(plan),
        boards_(boards),
        weights_(weights),
        identity_(identity),
        inputs_(inputs),
        options_(options),
        stored_(boards.size()) {
    CHECK(boards.size() == plan.boards.size());
  }

  PlanOutcome run() {
    for (std::size_t b = 0; b < boards_.size(); ++b) load(b);
    // One engine goes through all passes by itself.
    const std::int64_t each = boards_.size() == 1 ? plan_.rows : plan_.engine.rows;
    for (std::int64_t first = 0; first < plan_.rows; first += each) {
      run_pass({first, std::min(each, plan_.rows - first)}, first / each);
    }
    for (std::size_t b = 0; b < boards_.size(); ++b) {
      if (plan_.boards[b].caches.empty()) continue;
      read_pushed(
          plan_, b,
          [&](std::int64_t at, std::span<std::byte> bytes) { boards_[b]->read_memory(at, bytes); },
          inputs_);
    }
    return std::move(outcome_);
  }

 private:
  void load(std::size_t board) {
    Driver& driver = *boards_[board];
    driver.reset();
    GatheredWrites copies(kMostBufferBytes, [&](std::int64_t at, std::span<const std::byte> bytes) {
      driver.copy_to_board(at, bytes);
    });
    write_image(plan_, board, weights_, inputs_, identity_, options_.fill,
                [&](std::int64_t at, std::span<const std::byte> bytes) {
                  if (!driver.preload(at, bytes)) copies.write(at, bytes);
                });
    copies.flush();
  }

  void run_pass(const RowRange& rows, std::int64_t pass) {
    const std::size_t last = plan_.exchanges.size();
    for (std::size_t s = 0; s < last; ++s) {
      const Exchange& exchange = plan_.exchanges[s];
      run_segment(s, rows, pass, [&](std::size_t b) {
        return keeps_buffers() ? whole_buffer() : stored_bytes(exchange, b, rows.count);
      });
      give(s, rows);
    }
    // Where the run's last row is all that is shown, the passes before it have nothing to show, but
    // for an observer.
    const bool shows = plan_.output_rows == plan_.rows || rows.first + rows.count == plan_.rows;
    if (shows || keeps_buffers()) {
      run_segment(last, rows, pass, [&](std::size_t b) {
        return keeps_buffers() ? whole_buffer()
                               : stored_bytes(plan_.outputs, b, sizeof(float), shown(rows).count);
      });
    }
    if (shows) show(rows);
    if (keeps_buffers()) {
      for (std::vector<std::byte>& buffer : stored_) outcome_.buffers.push_back(std::move(buffer));
    }
  }

  std::size_t whole_buffer() const {
    return static_cast<std::size_t>(plan_.host_units) * kLineBytes;
  }
  bool keeps_buffers() const { return options_.keep_buffers || boards_.size() == 1; }

  /// Runs a segment on every board and takes the bytes of its output buffer that are asked for.
  template <typename Bytes>
  void run_segment(std::size_t index, const RowRange& rows, std::int64_t pass, Bytes&& bytes) {
    std::vector<RunCounters> counters;
    for (std::size_t b = 0; b < boards_.size(); ++b) {
      const BoardPlan& board = plan_.boards[b];
      const std::int64_t base = board.segments.empty()
                                    ? board.program_base
                                    : program_of_pass(board.segments[index], pass);
      const std::vector<TableRow> table = row_table(plan_, b, inputs_, rows);
      stored_[b].resize(bytes(b));
      std::optional<std::uint64_t> limit = options_.cycle_limit;
      if (limit) *limit -= std::min(*limit, outcome_.counters.cycles);
      counters.push_back(boards_[b]->run({base, identity_.sha256, table, stored_[b], limit}));
    }
    add(index, counters);
  }

  void add(std::size_t segment, std::span<const RunCounters> of_boards) {
    RunCounters& total = outcome_.counters;
    const RunCounters& longest = *std::max_element(
        of_boards.begin(), of_boards.end(),
        [](const RunCounters& a, const RunCounters& b) { return a.cycles < b.cycles; });
    outcome_.stretches.push_back({segment, false, total.cycles, longest.cycles,
                                  static_cast<std::size_t>(&longest - of_boards.data())});
    total.cycles += longest.cycles;
    total.passes += longest.passes;
    for (std::size_t c = 0; c < total.by_category.size(); ++c) {
      total.by_category[c] += longest.by_category[c];
    }
    for (const RunCounters& board : of_boards) {
      for (std::size_t b = 0; b < total.banks.size(); ++b) {
        total.banks[b].beats += board.banks[b].beats;
        total.banks[b].waiting += board.banks[b].waiting;
        total.banks[b].full += board.banks[b].full;
        total.banks[b].writes += board.banks[b].writes;
      }
      if (board.fault_line) {
        total.fault_line =
            std::min(*board.fault_line, total.fault_line.value_or(*board.fault_line));
      }
    }
  }

  /// Gives every board what all of them stored.
  void give(std::size_t index, const RowRange& rows) {
    const Exchange& exchange = plan_.exchanges[index];
    const std::vector<std::byte> bytes =
        exchanged(plan_, exchange, weights_, inputs_, rows, stored_);
    std::uint64_t longest = 0;
    std::size_t of = 0;
    for (std::size_t b = 0; b < boards_.size(); ++b) {
      const std::uint64_t before = boards_[b]->engine_clock();
      boards_[b]->copy_to_board(exchange_base(plan_.boards[b], exchange.kind), bytes);
      const std::uint64_t cycles = boards_[b]->engine_clock() - before;
      if (cycles > longest) of = b;
      longest = std::max(longest, cycles);
    }
    for (const std::vector<std::byte>& stored : stored_) {
      outcome_.exchanged_bytes += stored.size() + bytes.size();
    }
    outcome_.stretches.push_back({index, true, outcome_.counters.cycles, longest, of});
    outcome_.counters.cycles += longest;
    outcome_.counters.by_category[static_cast<std::size_t>(Category::kMovement)] += longest;
  }

  /// The rows of the run that the outputs of a pass are of.
  RowRange shown(const RowRange& rows) const {
    return plan_.output_rows == plan_.rows ? rows : RowRange{plan_.rows - 1, 1};
  }

  void show(const RowRange& rows) {
    const std::size_t before = outcome_.outputs.size();
    const RowRange of = shown(rows);
    outcome_.outputs.resize(before + static_cast<std::size_t>(of.count * plan_.output_columns));
    take_outputs(plan_, inputs_, of, stored_, std::span(outcome_.outputs).subspan(before));
  }

  const Plan& plan_;
  std::span<Driver* const> boards_;
  const WeightStore& weights_;
  const Identity& identity_;
  Inputs& inputs_;
  const PlanRunOptions& options_;
  std::vector<std::vector<std::byte>> stored_;  ///< by board: of its last segment
  PlanOutcome outcome_;
};

}  // namespace

PlanOutcome run_plan(const Plan& plan, std::span<Driver* const> boards, const WeightStore& weights,
                     const Identity& identity, Inputs& inputs, const PlanRunOptions& options) {
  return PlanRun(plan, boards, weights, identity, inputs, options).run();
}

PlanOutcome run_plan(const Plan& plan, Driver& driver, const WeightStore& weights,
                     const Identity& identity, Inputs& inputs, const PlanRunOptions& options) {
  Driver* const board = &driver;
  return run_plan(plan, std::span(&board, 1), weights, identity, inputs, options);
}

}  // namespace logos::d5005
