#include "rtl/lowering/traffic.h"

#include <algorithm>

#include "program/divide_up.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kGroup = 32;  // columns that share a multiplier

std::uint64_t u64(std::int64_t n) { return static_cast<std::uint64_t>(n); }

class Counter {
 public:
  Counter(const Plan& plan, const Inputs& inputs)
      : plan_(plan), inputs_(inputs), passes_(divide_up(plan.rows, plan.engine.rows)) {}

  Traffic count() {
    for (const BoardPlan& board : plan_.boards) {
      for (const MatrixItem& item : board.matrices) add_matrix(board, item);
      for (const GainItem& item : board.gains) {
        part_of(board, Op::kGain, item.base);
        spread(u64(passes_ * item.size) * sizeof(float));
      }
      for (const EmbeddingItem& item : board.embeddings) {
        part_of(board, Op::kEmbed, item.base);
        add_embedding(item);
      }
      if (!board.caches.empty()) {
        part_of(board, Op::kRotary, board.rotary_base);
        spread(u64(plan_.rows * plan_.head_columns) * sizeof(float));
      }
      if (plan_.has_given) {
        part_of(board, Op::kLoad, board.given_base);
        spread(u64(plan_.rows * plan_.columns) * sizeof(float));
      }
      for (const Instruction& i : board.program) {
        if (static_cast<Op>(i.op) == Op::kAttend) add_attention(i);
      }
      for (const CacheItem& item : board.caches) {
        part_of_push(board, item);
        for (const std::int64_t position : inputs_.positions) {
          add_positions(position - 1, position, item.heads);
        }
      }
    }
    for (std::size_t e = 0; e < plan_.exchanges.size(); ++e) add_exchange(e);
    return traffic_;
  }

 private:
  /// What is counted from here on is of the instruction that streams from `base` or behind it.
  void part_of(const BoardPlan& board, Op op, std::int64_t base) {
    const Instruction* nearest = nullptr;
    for (const Instruction& i : board.program) {
      if (static_cast<Op>(i.op) != op || i.stream_base < u64(base)) continue;
      if (nearest == nullptr || i.stream_base < nearest->stream_base) nearest = &i;
    }
    part_ = &traffic_.by_operation[nearest == nullptr ? 0 : nearest->line];
  }

  /// Of the one that writes the layer's values into the cache.
  void part_of_push(const BoardPlan& board, const CacheItem& item) {
    const auto found =
        std::find_if(board.program.begin(), board.program.end(), [&](const Instruction& i) {
          return static_cast<Op>(i.op) == Op::kHeads && i.cache_base == u64(item.base) &&
                 static_cast<HeadTarget>(i.target) == HeadTarget::kValues;
        });
    part_ = &traffic_.by_operation[found == board.program.end() ? 0 : found->line];
  }

  void add_macs(std::uint64_t macs) {
    traffic_.macs += macs;
    part_->macs += macs;
  }

  /// Over the four banks as evenly as bytes go.
  void spread(std::uint64_t bytes) {
    part_->bytes += bytes;
    for (std::size_t b = 0; b < kBanks; ++b) traffic_.ddr[b] += (bytes + b) / kBanks;
  }

  void add_matrix(const BoardPlan& board, const MatrixItem& item) {
    std::int64_t rows = 0;
    std::int64_t biases = 0;
    for (const MatrixPart& part : item.parts) {
      rows += part.rows;
      if (!part.bias.empty()) biases += part.rows;
    }
    const std::int64_t columns = item.columns - item.lead;
    const std::int64_t groups = (item.columns + kGroup - 1) / kGroup;
    const std::uint64_t bytes = u64(rows * (columns + groups)) + u64(rows + biases) * sizeof(float);
    part_of(board, Op::kProduct, item.base);
    const bool last_row = is_of_last_row(board, item);
    const std::int64_t passes = last_row ? 1 : passes_;
    spread(u64(passes) * bytes);
    traffic_.weight_bytes += u64(passes) * bytes;
    const std::uint64_t macs = u64((last_row ? 1 : plan_.rows) * rows) * u64(columns);
    traffic_.weight_macs += macs;
    add_macs(macs);
  }

  /// The matrix's instruction runs once, for the run's last row.
  static bool is_of_last_row(const BoardPlan& board, const MatrixItem& item) {
    return std::any_of(board.program.begin(), board.program.end(), [&](const Instruction& i) {
      return static_cast<Op>(i.op) == Op::kProduct && i.last_row != 0 &&
             i.stream_base == u64(item.base);
    });
  }

  /// What each board reads of what the boards gave each other.
  void add_exchange(std::size_t index) {
    const Exchange& exchange = plan_.exchanges[index];
    part_ = &traffic_.by_operation[last_operation(plan_.boards.front(), index)];
    const auto boards = static_cast<std::int64_t>(plan_.boards.size());
    const std::int64_t of_element = exchange.kind == ExchangeKind::kSums
                                        ? 8 * boards + std::int64_t{sizeof(float)}
                                        : std::int64_t{sizeof(float)};
    for (std::int64_t b = 0; b < boards; ++b) {
      spread(u64(plan_.rows * exchange.columns * of_element));
    }
  }

  void add_embedding(const EmbeddingItem& item) {
    const std::int64_t groups = (item.columns + kGroup - 1) / kGroup;
    const auto held =
        std::count_if(inputs_.tokens.begin(), inputs_.tokens.end(), [&](std::int64_t token) {
          return token - 1 >= item.first_row && token - 1 < item.first_row + item.rows;
        });
    spread(u64(held) * (u64(item.columns + groups) + sizeof(float)));
  }

  void add_attention(const Instruction& i) {
    part_ = &traffic_.by_operation[i.line];
    for (const std::int64_t position : inputs_.positions) {
      const std::int64_t window = i.window;
      const std::int64_t first = window != 0 ? std::max<std::int64_t>(0, position - window) : 0;
      add_positions(first, position, i.heads);
      add_macs(2 * u64(position - first) * i.words * i.head_columns);
    }
  }

  /// Keys and values of positions [first, end) (from 0) with their exponents; position t lies in
  /// bank t mod 4.
  void add_positions(std::int64_t first, std::int64_t end, std::int64_t heads) {
    const std::uint64_t each = u64(heads) * 2 * (2 * u64(plan_.head_columns) + 1);
    for (std::int64_t b = 0; b < kBanks; ++b) {
      const std::int64_t of_bank =
          (end - b + kBanks - 1) / kBanks - (first - b + kBanks - 1) / kBanks;
      traffic_.ddr[static_cast<std::size_t>(b)] += u64(of_bank) * each;
      part_->bytes += u64(of_bank) * each;
    }
  }

  const Plan& plan_;
  const Inputs& inputs_;
  std::int64_t passes_;
  Traffic traffic_;
  Traffic::Part* part_ = nullptr;  ///< of traffic_: what is counted is of it
};

}  // namespace

std::uint32_t last_operation(const BoardPlan& board, std::size_t segment) {
  const Segment& of = board.segments[segment];
  const std::int64_t last = of.first + std::max<std::int64_t>(of.count - 2, 0);
  return board.program[static_cast<std::size_t>(last)].line;
}

Traffic traffic_of(const Plan& plan, const Inputs& inputs) { return Counter(plan, inputs).count(); }

}  // namespace logos::d5005
