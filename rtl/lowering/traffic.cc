#include "rtl/lowering/traffic.h"

#include <algorithm>

#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kGroup = 32;  // columns that share a multiplier

std::uint64_t u64(std::int64_t n) { return static_cast<std::uint64_t>(n); }

class Counter {
 public:
  Counter(const Plan& plan, const Inputs& inputs)
      : plan_(plan),
        inputs_(inputs),
        passes_((plan.rows + plan.engine.rows - 1) / plan.engine.rows) {}

  Traffic count() {
    for (const BoardPlan& board : plan_.boards) {
      for (const MatrixItem& item : board.matrices) add_matrix(board, item);
      for (const GainItem& item : board.gains) spread(u64(passes_ * item.size) * sizeof(float));
      for (const EmbeddingItem& item : board.embeddings) add_embedding(item);
      if (!board.caches.empty()) spread(u64(plan_.rows * plan_.head_columns) * sizeof(float));
      if (plan_.has_given) spread(u64(plan_.rows * plan_.columns) * sizeof(float));
      for (const Instruction& i : board.program) {
        if (static_cast<Op>(i.op) == Op::kAttend) add_attention(i);
      }
      for (const CacheItem& item : board.caches) {
        for (const std::int64_t position : inputs_.positions) {
          add_positions(position - 1, position, item.heads);
        }
      }
    }
    for (const Exchange& exchange : plan_.exchanges) add_exchange(exchange);
    return traffic_;
  }

 private:
  /// Over the four banks as evenly as bytes go.
  void spread(std::uint64_t bytes) {
    for (std::size_t b = 0; b < kBanks; ++b) traffic_.ddr[b] += (bytes + b) / kBanks;
  }

  void add_matrix(const BoardPlan& board, const MatrixItem& item) {
    std::int64_t rows = 0;
    std::int64_t biases = 0;
    for (const MatrixPart& part : item.parts) {
      rows += part.rows;
      if (!part.bias.empty()) biases += part.rows;
    }
    const std::int64_t groups = (item.columns + kGroup - 1) / kGroup;
    const std::uint64_t bytes =
        u64(rows * (item.columns + groups)) + u64(rows + biases) * sizeof(float);
    const bool last_row = is_of_last_row(board, item);
    const std::int64_t passes = last_row ? 1 : passes_;
    spread(u64(passes) * bytes);
    traffic_.weight_bytes += u64(passes) * bytes;
    const std::uint64_t macs = u64((last_row ? 1 : plan_.rows) * rows) * u64(item.columns);
    traffic_.weight_macs += macs;
    traffic_.macs += macs;
  }

  /// The matrix's instruction runs once, for the run's last row.
  static bool is_of_last_row(const BoardPlan& board, const MatrixItem& item) {
    return std::any_of(board.program.begin(), board.program.end(), [&](const Instruction& i) {
      return static_cast<Op>(i.op) == Op::kProduct && i.last_row != 0 &&
             i.stream_base == u64(item.base);
    });
  }

  /// What each board reads of what the boards gave each other.
  void add_exchange(const Exchange& exchange) {
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
    for (const std::int64_t position : inputs_.positions) {
      const std::int64_t window = i.window;
      const std::int64_t first = window != 0 ? std::max<std::int64_t>(0, position - window) : 0;
      add_positions(first, position, i.heads);
      traffic_.macs += 2 * u64(position - first) * i.words * i.head_columns;
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
    }
  }

  const Plan& plan_;
  const Inputs& inputs_;
  std::int64_t passes_;
  Traffic traffic_;
};

}  // namespace

Traffic traffic_of(const Plan& plan, const Inputs& inputs) { return Counter(plan, inputs).count(); }

}  // namespace logos::d5005
