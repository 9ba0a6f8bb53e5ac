#include "program/typing.h"

#include <fmt/format.h>

#include "program/check.h"

namespace logos {
namespace {

std::string_view unit_words(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kColumns:
      return " by columns";
    case Unit::kQueryHeads:
      return " by query heads";
    case Unit::kKeyHeads:
      return " by key heads";
  }
  CHECK_UNREACHABLE();
}

[[noreturn]] void fail(int argument, const Typed& found, std::string_view expected) {
  throw TypeFault{argument, describe(found), std::string(expected)};
}

void need(const Typed& x, int argument, ValueKind kind, std::string_view expected) {
  if (x.value.kind != kind) fail(argument, x, expected);
}

void need_whole(const Typed& x, int argument, std::string_view expected) {
  if (x.value.spread != Spread::kWhole) fail(argument, x, expected);
}

/// Parts of matrices, by the clause that gives them.
Unit row_unit(HeldShare share) {
  switch (share) {
    case HeldShare::kRows:
      return Unit::kColumns;  // its rows become the product's columns
    case HeldShare::kQueryHeadRows:
      return Unit::kQueryHeads;
    case HeldShare::kKeyHeadRows:
      return Unit::kKeyHeads;
    case HeldShare::kAll:
    case HeldShare::kColumns:
    case HeldShare::kQueryHeadColumns:
    case HeldShare::kKeyHeads:
      break;
  }
  return Unit::kNone;
}

Unit column_unit(HeldShare share) {
  if (share == HeldShare::kColumns) return Unit::kColumns;
  if (share == HeldShare::kQueryHeadColumns) return Unit::kQueryHeads;
  return Unit::kNone;
}

void need_row_block(const Typed& block, const Matrix& weight) {
  const std::string expected =
      fmt::format("a Block of Rows [{}, {}]", block.value.rows, weight.columns);
  need(block, 0, ValueKind::kBlock, expected);
  if (block.value.per_head || block.value.whole != weight.columns) fail(0, block, expected);
}

Typed rows_of(ValueKind kind, std::int64_t rows, std::int64_t whole, Share share, Unit unit) {
  Typed result;
  result.value.kind = kind;
  result.value.spread = unit == Unit::kNone ? Spread::kWhole : Spread::kPart;
  result.value.rows = rows;
  result.value.columns = share.size();
  result.value.first = share.begin;
  result.value.whole = whole;
  result.unit = unit;
  return result;
}

Typed made_whole(const Typed& x) {
  Typed result = x;
  result.unit = Unit::kNone;
  result.value.spread = Spread::kWhole;
  result.value.first = 0;
  const bool heads = x.value.kind == ValueKind::kHeads || x.value.per_head;
  (heads ? result.value.heads : result.value.columns) = x.value.whole;
  return result;
}

}  // namespace

bool Typed::same_type(const Typed& other) const {
  const Value& a = value;
  const Value& b = other.value;
  return a.kind == b.kind && a.spread == b.spread && a.per_head == b.per_head && a.rows == b.rows &&
         a.heads == b.heads && a.columns == b.columns && a.first == b.first && a.whole == b.whole &&
         unit == other.unit;
}

std::string describe(const Typed& typed) {
  const Value& value = typed.value;
  std::string spread;
  switch (value.spread) {
    case Spread::kWhole:
      break;
    case Spread::kPart:
      spread = fmt::format("a part{} of ", unit_words(typed.unit));
      break;
    case Spread::kPartial:
      spread = "a partial ";
      break;
    case Spread::kHeld:
      spread = "held rows of ";
      break;
  }
  switch (value.kind) {
    case ValueKind::kRows:
      return fmt::format("{}Rows [{}, {}]", spread, value.rows, value.whole);
    case ValueKind::kHeads:
      return fmt::format("{}Heads [{}, {}, {}]", spread, value.rows, value.whole, value.columns);
    case ValueKind::kBlock:
      if (value.per_head) {
        return fmt::format("{}Block of Heads [{}, {}, {}]", spread, value.rows, value.whole,
                           value.columns);
      }
      return fmt::format("{}Block of Rows [{}, {}]", spread, value.rows, value.whole);
    case ValueKind::kSums:
      return fmt::format("{}Sums [{}, {}]", spread, value.rows, value.whole);
    case ValueKind::kPeak:
      return fmt::format("{}peak of {} rows", spread, value.rows);
  }
  CHECK_UNREACHABLE();
}

Typed given_rows(std::int64_t rows, std::int64_t columns) {
  return rows_of(ValueKind::kRows, rows, columns, {0, columns}, Unit::kNone);
}

Typed type_embedded(std::int64_t rows, const Matrix& weight, HeldShare share) {
  if (column_unit(share) != Unit::kNone) {
    throw TypeFault{1, "a weight held by columns", "one held by rows"};
  }
  Typed result = given_rows(rows, weight.columns);
  if (share != HeldShare::kAll) result.value.spread = Spread::kHeld;
  return result;
}

Typed type_rms_norm(const Typed& x, const Vector& gain) {
  const bool heads = x.value.kind == ValueKind::kHeads;
  if (!heads) {
    need(x, 0, ValueKind::kRows, "whole Rows or Heads");
    need_whole(x, 0, "whole Rows");
  }
  if (gain.size != x.value.columns) {
    throw TypeFault{1, fmt::format("a gain of {} values", gain.size),
                    fmt::format("{} values", x.value.columns)};
  }
  return x;
}

Typed type_quantized(const Typed& x) {
  const bool heads = x.value.kind == ValueKind::kHeads;
  if (!heads) {
    need(x, 0, ValueKind::kRows, "whole Rows or Heads");
    need_whole(x, 0, "whole Rows");
  }
  Typed result = x;
  result.value.kind = ValueKind::kBlock;
  result.value.per_head = heads;
  return result;
}

Typed type_product(const Typed& block, const Matrix& weight, HeldShare share) {
  need_row_block(block, weight);
  need_whole(block, 0, "a whole Block (a part takes sums)");
  if (column_unit(share) != Unit::kNone) {
    throw TypeFault{1, "a weight held by columns", "one held by rows or whole"};
  }
  return rows_of(ValueKind::kRows, block.value.rows, weight.rows, weight.row_share,
                 row_unit(share));
}

Typed type_sums(const Typed& block, const Matrix& weight, HeldShare share) {
  need_row_block(block, weight);
  if (block.value.spread == Spread::kWhole) {
    if (column_unit(share) != Unit::kNone) {
      throw TypeFault{0, describe(block), "a part, as the weight is held by columns"};
    }
    return rows_of(ValueKind::kSums, block.value.rows, weight.rows, weight.row_share,
                   row_unit(share));
  }
  if (column_unit(share) == Unit::kNone || column_unit(share) != block.unit) {
    throw TypeFault{1,
                    column_unit(share) == Unit::kNone ? "a weight not held by columns"
                                                      : "a weight held by other columns",
                    fmt::format("one held as {}", describe(block))};
  }
  CHECK(block.value.first == weight.column_share.begin &&
        block.value.columns == weight.column_share.size());
  Typed result =
      rows_of(ValueKind::kSums, block.value.rows, weight.rows, weight.row_share, Unit::kNone);
  result.value.spread = Spread::kPartial;
  return result;
}

Typed type_scaled(const Typed& sums) {
  need(sums, 0, ValueKind::kSums, "Sums");
  if (sums.value.spread == Spread::kPartial) fail(0, sums, "Sums over all chips");
  Typed result = sums;
  result.value.kind = ValueKind::kRows;
  return result;
}

Typed type_with_bias(const Typed& y, const Vector& bias, HeldShare share) {
  need(y, 0, ValueKind::kRows, "Rows");
  if (bias.size != y.value.whole) {
    throw TypeFault{1, fmt::format("a bias of {} values", bias.size),
                    fmt::format("{} values", y.value.whole)};
  }
  if (y.value.spread == Spread::kHeld || row_unit(share) != y.unit) {
    throw TypeFault{1,
                    share == HeldShare::kAll ? std::string("a bias held whole")
                                             : fmt::format("a bias held as {}", share_words(share)),
                    fmt::format("one held as {}", describe(y))};
  }
  return y;
}

Typed type_heads(const Typed& x, std::int64_t columns, std::int64_t head_columns) {
  const std::string_view expected = "Rows, whole or a part by heads";
  need(x, 0, ValueKind::kRows, expected);
  const bool fits = x.value.spread == Spread::kWhole ||
                    (x.value.spread == Spread::kPart && x.unit != Unit::kColumns);
  if (!fits) fail(0, x, expected);
  if (columns != head_columns) {
    throw TypeFault{1, fmt::format("{} columns", columns), fmt::format("{}", head_columns)};
  }
  if (x.value.whole % columns != 0) fail(0, x, fmt::format("Rows of heads of {}", columns));
  Typed result = x;
  result.value.kind = ValueKind::kHeads;
  result.value.heads = x.value.columns / columns;
  result.value.columns = columns;
  result.value.first = x.value.first / columns;
  result.value.whole = x.value.whole / columns;
  return result;
}

Typed type_rotated(const Typed& heads, std::int64_t head_columns) {
  need(heads, 0, ValueKind::kHeads, "Heads");
  CHECK(heads.value.columns == head_columns);
  return heads;
}

void type_push(const Typed& block, const Cache& cache, HeldShare share) {
  const std::string expected = fmt::format(
      "{}Block of Heads [{}, {}, {}]", share == HeldShare::kAll ? "a " : "a part by key heads of ",
      block.value.rows, cache.heads, cache.head_columns);
  need(block, 0, ValueKind::kBlock, expected);
  const Unit unit = share == HeldShare::kAll ? Unit::kNone : Unit::kKeyHeads;
  if (!block.value.per_head || block.value.whole != cache.heads || block.unit != unit) {
    fail(0, block, expected);
  }
}

Typed type_attended(const Typed& block, std::int64_t query_heads, const Cache& keys,
                    const Cache& values, HeldShare share) {
  const std::string expected =
      fmt::format("{}Block of Heads [{}, {}, {}]",
                  share == HeldShare::kAll ? "a " : "a part by query heads of ", block.value.rows,
                  query_heads, keys.head_columns);
  need(block, 0, ValueKind::kBlock, expected);
  const Unit unit = share == HeldShare::kAll ? Unit::kNone : Unit::kQueryHeads;
  if (!block.value.per_head || block.value.whole != query_heads || block.unit != unit) {
    fail(0, block, expected);
  }
  if (!keys.keys) throw TypeFault{1, quote(keys.name), "a cache of keys"};
  if (values.keys) throw TypeFault{2, quote(values.name), "a cache of values"};
  if (keys.layer != values.layer) {
    throw TypeFault{2, quote(values.name), fmt::format("that of layer {}", keys.layer)};
  }
  const std::int64_t columns = keys.head_columns;
  const Value& heads = block.value;
  return rows_of(ValueKind::kRows, heads.rows, heads.whole * columns,
                 {heads.first * columns, (heads.first + heads.heads) * columns}, block.unit);
}

Typed type_silu(const Typed& x) {
  need(x, 0, ValueKind::kRows, "Rows");
  if (x.value.spread == Spread::kHeld) fail(0, x, "Rows that every chip has");
  return x;
}

Typed type_multiply(const Typed& x, const Typed& y) {
  type_silu(x);
  if (!y.same_type(x)) fail(1, y, describe(x));
  return x;
}

Typed type_add(const Typed& x, const Typed& y) {
  type_whole_rows(x);
  if (!y.same_type(x)) fail(1, y, describe(x));
  return x;
}

Typed type_last_row(const Typed& x) {
  type_whole_rows(x);
  Typed result = x;
  result.value.rows = 1;
  return result;
}

Typed type_peak(const Typed& x) {
  type_silu(x);
  Typed result;
  result.value.kind = ValueKind::kPeak;
  result.value.spread = x.value.spread == Spread::kPart ? Spread::kPartial : Spread::kWhole;
  result.value.rows = x.value.rows;
  result.value.columns = 1;
  result.value.whole = 1;
  return result;
}

Typed type_quantized_at(const Typed& x, const Typed& peak) {
  type_silu(x);
  const std::string expected = fmt::format("a whole peak of {} rows", x.value.rows);
  need(peak, 1, ValueKind::kPeak, expected);
  need_whole(peak, 1, expected);
  if (peak.value.rows != x.value.rows) fail(1, peak, expected);
  Typed result = x;
  result.value.kind = ValueKind::kBlock;
  return result;
}

Typed type_over_chips(Word word, const Typed& x) {
  const Value& value = x.value;
  switch (word) {
    case Word::kGreatestOverChips:
      if (value.kind == ValueKind::kPeak && value.spread == Spread::kPartial) return made_whole(x);
      fail(0, x, "a partial peak");
    case Word::kSumOverChips:
      if (value.kind == ValueKind::kSums && value.spread == Spread::kPartial) return made_whole(x);
      fail(0, x, "partial Sums");
    case Word::kJoinedOverChips:
      // Parts by key heads may overlap: in order they are not the whole.
      if (value.kind == ValueKind::kRows && value.spread == Spread::kPart &&
          x.unit != Unit::kKeyHeads) {
        return made_whole(x);
      }
      fail(0, x, "a part of Rows by columns or query heads");
    case Word::kHeldOverChips:
      if (value.kind == ValueKind::kRows && value.spread == Spread::kHeld) return made_whole(x);
      fail(0, x, "held Rows");
    default:
      break;
  }
  CHECK_UNREACHABLE();
}

void type_whole_rows(const Typed& x) {
  need(x, 0, ValueKind::kRows, "whole Rows");
  need_whole(x, 0, "whole Rows");
}

}  // namespace logos
