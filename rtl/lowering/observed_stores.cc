#include "rtl/lowering/observed_stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "program/error.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

/// Instructions that show a model's operations: far above any model's.
constexpr std::int64_t kMostAdded = std::int64_t{1} << 20;

ElementType type_of(StoreSource source) {
  switch (source) {
    case StoreSource::kActivation:
    case StoreSource::kQuery:
      return ElementType::kI16;
    case StoreSource::kWeightSums:
      return ElementType::kI64;
    default:
      return ElementType::kF32;
  }
}

}  // namespace

std::int64_t lines_of(std::int64_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes; }

std::uint32_t narrow_observed(std::int64_t value) {
  if (value < 0 || value >= (std::int64_t{1} << 32)) {
    throw Error(kObservation, "damaged plan: an instruction out of range", fmt::to_string(value),
                "32 bits");
  }
  return static_cast<std::uint32_t>(value);
}

ObservedStores::ObservedStores(const Plan& plan, std::size_t board,
                               std::vector<ObservedOperation>* operations)
    : plan_(plan),
      board_(board),
      operations_(*operations),
      rows_of_pass_(std::min(plan.rows, plan.engine.rows)),
      rows_of_run_(plan.boards.size() == 1 ? plan.rows : rows_of_pass_) {}

const PlanLine& ObservedStores::line_of(const Instruction& i) const { return line_at(i.line); }

const PlanLine& ObservedStores::block_of(const Instruction& i) const {
  return line_at(std::size_t{i.line} + i.apart);
}

const PlanLine& ObservedStores::line_at(std::size_t index) const {
  if (index >= plan_.lines.size()) {
    throw Error(kObservation, "damaged plan: an instruction of an operation that is none",
                fmt::to_string(index), fmt::format("below {}", plan_.lines.size()));
  }
  return plan_.lines[index];
}

void ObservedStores::add(const Instruction& i) {
  if (++added_ > kMostAdded) {
    throw Error(kObservation, "damaged plan: instructions that show operations",
                fmt::format("more than {}", kMostAdded), "fewer");
  }
  additions_.back().instructions.push_back(i);
}

ObservedPiece ObservedStores::store(const Instruction& like, StoreSource what, Instruction shape,
                                    std::int64_t lines) {
  Addition& to = additions_.back();
  shape.op = code(Op::kStore);
  shape.variant = code(what);
  shape.line = like.line;
  shape.last_row = like.last_row;
  shape.host_offset = narrow_observed(to.host_units);
  add(shape);
  ObservedPiece piece;
  piece.board = board_;
  piece.offset = to.host_units;
  piece.lines = lines;
  to.host_units += lines * (like.last_row != 0 ? 1 : rows_of_run_);
  return piece;
}

void ObservedStores::show(std::string_view name, const Instruction& like, StoreSource what,
                          const ObservedPiece& piece) {
  const std::int64_t layer = line_of(like).layer;
  for (std::size_t o = 0; o < operations_.size(); ++o) {
    ObservedOperation& operation = operations_[o];
    if (operation.name != name || operation.layer != layer) continue;
    operation.type = name == "weights" ? ElementType::kI32 : type_of(what);
    operation.rows = like.last_row != 0 ? 1 : plan_.rows;
    operation.held = like.op == code(Op::kEmbed) && plan_.boards.size() > 1;
    additions_.back().pieces.push_back({o, piece});
    return;
  }
  throw Error(kObservation, fmt::format("damaged plan: no line for {} of layer {}", name, layer));
}

ObservedPiece ObservedStores::store_vector(const Instruction& like, const VectorRows& from,
                                           std::int64_t columns) {
  Instruction shape;
  shape.source = narrow_observed(from.base);
  shape.source_stride = like.last_row != 0 ? 0 : narrow_observed(from.stride);  // it is row 0
  shape.columns = narrow_observed(columns);
  ObservedPiece piece = store(like, StoreSource::kVector, shape, lines_of(4 * columns));
  piece.elements = piece.count = columns;
  return piece;
}

void ObservedStores::show_vector(std::string_view name, const Instruction& like,
                                 const VectorRows& from, std::int64_t columns) {
  show(name, like, StoreSource::kVector, store_vector(like, from, columns));
}

void ObservedStores::show_after(const Instruction& i, const VectorRows& from) {
  after();
  show_vector(line_of(i).name, i, from, i.columns);
}

void ObservedStores::show_heads(std::string_view name, const Instruction& like,
                                const VectorRows& from, std::int64_t slots) {
  const std::int64_t slots_of_one = std::max<std::int64_t>(slots_of_head(plan_.head_columns), 1);
  ObservedPiece piece = store_vector(like, from, slots);
  piece.blocks = slots / slots_of_one;
  piece.block_bytes = 4 * slots_of_one;
  piece.elements = plan_.head_columns;
  show_own_heads(name, like, StoreSource::kVector, piece);
}

void ObservedStores::show_own_heads(std::string_view name, const Instruction& like,
                                    StoreSource what, ObservedPiece piece) {
  const std::int64_t shared = std::min(shared_heads(name, line_of(like).layer), piece.blocks);
  piece.skip += shared * piece.block_bytes;
  piece.blocks -= shared;
  piece.count = piece.blocks * piece.elements;
  if (piece.blocks > 0) show(name, like, what, piece);
}

std::int64_t ObservedStores::shared_heads(std::string_view name, std::int64_t layer) const {
  if (is_first() || name.substr(0, name.find('.')) == "q") return 0;
  const auto heads_of = [&](const BoardPlan& board) {
    for (const CacheItem& item : board.caches) {
      if (item.layer == layer) return item;
    }
    throw Error(kObservation, fmt::format("damaged plan: no cache of layer {}", layer));
  };
  const CacheItem before = heads_of(plan_.boards[board_ - 1]);
  return std::max<std::int64_t>(
      before.first_head + before.heads - heads_of(plan_.boards[board_]).first_head, 0);
}

void ObservedStores::show_activation(std::string_view name, const Instruction& i) {
  Instruction shape;
  const std::int64_t columns = i.first + i.columns;
  shape.columns = narrow_observed(columns);
  const std::int64_t lines = lines_of(2 * columns);
  ObservedPiece piece = store(i, StoreSource::kActivation, shape, lines + 1);
  piece.skip = 2 * i.first;
  piece.elements = piece.count = i.columns;
  if (is_first()) piece.exponent_at = lines * kLineBytes - piece.skip;  // all boards have it
  show(name, i, StoreSource::kActivation, piece);
}

void ObservedStores::show_query(std::string_view name, const Instruction& i) {
  Instruction shape;
  shape.heads = i.heads;
  shape.head_columns = i.head_columns;
  const std::int64_t lines = lines_of(2 * std::int64_t{i.head_columns});
  ObservedPiece piece = store(i, StoreSource::kQuery, shape, i.heads * (lines + 1));
  piece.blocks = i.heads;
  piece.block_bytes = (lines + 1) * kLineBytes;
  piece.elements = i.head_columns;
  piece.exponent_at = lines * kLineBytes;
  show_own_heads(name, i, StoreSource::kQuery, piece);
}

}  // namespace logos::d5005
