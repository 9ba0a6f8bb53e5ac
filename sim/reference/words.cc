#include "sim/reference/words.h"

#include <algorithm>

#include "program/check.h"
#include "sim/reference/arithmetic.h"
#include "sim/reference/product.h"

namespace logos::reference {
namespace {

std::size_t elements(const Value& value) {
  return static_cast<std::size_t>(value.rows * row_size(value));
}

}  // namespace

void embedded(const Matrix& share, const MatrixView& weights, std::span<const std::int64_t> tokens,
              const Value& result, Cell& to) {
  to.x.resize(elements(result));
  to.held.resize(tokens.size());
  for (std::int64_t r = 0; r < result.rows; ++r) {
    const std::int64_t n = tokens[static_cast<std::size_t>(r)] - 1;
    const bool held = n >= share.row_share.begin && n < share.row_share.end;
    to.held[static_cast<std::size_t>(r)] = held;
    if (!held) continue;
    const auto row = static_cast<std::size_t>(n);
    const auto q = weights.q.subspan(row * static_cast<std::size_t>(weights.pitch));
    const std::size_t group = row * static_cast<std::size_t>(weights.groups);
    const auto x = part_of(to.x, r, result.columns);
    if (weights.profile() == Profile::kB) {
      embedding_row(q, weights.halves.subspan(group), x);
    } else {
      embedding_row(q, weights.multipliers.subspan(group), weights.scales[row], x);
    }
  }
}

bool rms_norm(const Value& type, const Cell& x, std::span<const float> gain, float epsilon,
              Cell& to) {
  to.x.resize(elements(type));
  bool fault = false;
  for (std::int64_t unit = 0; unit < units_of(type); ++unit) {
    fault |= rms_norm(part_of(x.x, unit, type.columns), gain, epsilon,
                      part_of(to.x, unit, type.columns));
  }
  return fault;
}

bool quantized(const Value& type, const Cell& x, Cell& to) {
  to.q.resize(elements(type));
  to.exponents.resize(static_cast<std::size_t>(units_of(type)));
  bool fault = false;
  for (std::int64_t unit = 0; unit < units_of(type); ++unit) {
    const BlockScale scale =
        quantize(part_of(x.x, unit, type.columns), part_of(to.q, unit, type.columns));
    to.exponents[static_cast<std::size_t>(unit)] = scale.exponent;
    fault |= scale.fault;
  }
  return fault;
}

void with_bias(const Value& type, const Cell& y, std::span<const float> bias, Cell& to) {
  to.x = y.x;
  for (std::int64_t r = 0; r < type.rows; ++r) {
    const auto row = part_of(to.x, r, type.columns);
    for (std::size_t n = 0; n < row.size(); ++n) row[n] = row[n] + bias[n];
  }
}

void rotated(const Value& type, const Cell& heads, const RotaryTable& table, Cell& to) {
  to.x.resize(elements(type));
  for (std::int64_t unit = 0; unit < units_of(type); ++unit) {
    const std::int64_t r = unit / type.heads;
    rotate(part_of(heads.x, unit, type.columns), part_of(table.cosines, r, table.pairs),
           part_of(table.sines, r, table.pairs), part_of(to.x, unit, type.columns));
  }
}

void push(const Value& type, const Cell& block, const Cache& cache,
          std::span<const std::int64_t> positions, std::span<KvCache> caches) {
  for (std::int64_t r = 0; r < type.rows; ++r) {
    KvCache& of_row = caches[cache.one_for_each_row ? static_cast<std::size_t>(r) : 0];
    KvCache::Layer& layer = of_row.layer(cache.layer);
    auto& integers = cache.keys ? layer.keys : layer.values;
    auto& exponents = cache.keys ? layer.key_exponents : layer.value_exponents;
    const std::int64_t position = positions[static_cast<std::size_t>(r)] - 1;
    for (std::int64_t h = 0; h < type.heads; ++h) {
      const std::int64_t from = r * type.heads + h;
      const std::int64_t at = position * cache.heads + cache.head_share.begin + h;
      const auto head = part_of(block.q, from, type.columns);
      std::copy(head.begin(), head.end(), integers.begin() + at * type.columns);
      exponents[static_cast<std::size_t>(at)] = block.exponents[static_cast<std::size_t>(from)];
    }
  }
}

void silu_of(const Cell& x, Cell& to) {
  to.x.resize(x.x.size());
  std::transform(x.x.begin(), x.x.end(), to.x.begin(), silu);
}

void multiplied(const Cell& x, const Cell& y, Cell& to) {
  to.x.resize(x.x.size());
  for (std::size_t i = 0; i < x.x.size(); ++i) to.x[i] = x.x[i] * y.x[i];
}

void added(const Cell& x, const Cell& y, Cell& to) {
  to.x.resize(x.x.size());
  std::transform(x.x.begin(), x.x.end(), y.x.begin(), to.x.begin(), residual);
}

void last_row(const Value& type, const Cell& x, Cell& to) {
  const auto last = part_of(x.x, type.rows - 1, row_size(type));
  to.x.assign(last.begin(), last.end());
}

void peak(const Value& type, const Cell& x, Cell& to) {
  to.peaks.resize(static_cast<std::size_t>(type.rows));
  for (std::int64_t r = 0; r < type.rows; ++r) {
    to.peaks[static_cast<std::size_t>(r)] = peak_of(part_of(x.x, r, row_size(type)));
  }
}

bool quantized_at(const Value& type, const Cell& x, const Cell& peaks, Cell& to) {
  to.q.resize(elements(type));
  to.exponents.resize(static_cast<std::size_t>(type.rows));
  bool fault = false;
  for (std::int64_t r = 0; r < type.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    const BlockScale scale = quantize_at(part_of(x.x, r, row_size(type)), peaks.peaks[row],
                                         part_of(to.q, r, row_size(type)));
    to.exponents[row] = scale.exponent;
    fault |= scale.fault;
  }
  return fault;
}

void sums(const Value& type, const Cell& block, const Matrix& share, const MatrixView& weights,
          Workers& workers, Instructions instructions, Cell& to) {
  to.sums.resize(static_cast<std::size_t>(type.rows * share.row_share.size()));
  exact_sums(weights, share.row_share, share.column_share, block.q, type.rows, to.sums, workers,
             instructions);
  to.exponents = block.exponents;
  if (weights.profile() == Profile::kB) {
    to.scales.assign(static_cast<std::size_t>(share.row_share.size()), kScaleB);
    return;
  }
  const auto scales = weights.scales.subspan(static_cast<std::size_t>(share.row_share.begin),
                                             static_cast<std::size_t>(share.row_share.size()));
  to.scales.assign(scales.begin(), scales.end());
}

void scaled(const Value& type, const Cell& sums, Cell& to) {
  to.x.resize(sums.sums.size());
  for (std::int64_t r = 0; r < type.rows; ++r) {
    const auto from = part_of(sums.sums, r, type.columns);
    const auto row = part_of(to.x, r, type.columns);
    const std::int8_t exponent = sums.exponents[static_cast<std::size_t>(r)];
    for (std::size_t n = 0; n < row.size(); ++n) {
      row[n] = scaled_sum(from[n], exponent, sums.scales[n]);
    }
  }
}

void attended(const AttentionContext& context, const Operation& operation, const Value& type,
              const Cell& block, Cell& to, std::vector<HeadTrace>* traces) {
  const Program& program = context.program;
  const Cache& keys = program.caches[static_cast<std::size_t>(operation.keys)];
  to.x.resize(elements(type));
  if (traces != nullptr) traces->resize(static_cast<std::size_t>(units_of(type)));
  context.workers.share(units_of(type), 1, [&](std::int64_t begin, std::int64_t end) {
    HeadTrace scratch;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const auto row = static_cast<std::size_t>(unit / type.heads);
      const KvCache& cache = context.caches[keys.one_for_each_row ? row : 0];
      const KvCache::Layer& layer = cache.layer(keys.layer);
      const std::int64_t key_head = (type.first + unit % type.heads) / program.query_group;
      const std::int64_t last = context.positions[row] - 1;
      const std::int64_t first =
          program.window ? std::max<std::int64_t>(0, last - *program.window + 1) : 0;
      HeadTrace& trace = traces != nullptr ? (*traces)[static_cast<std::size_t>(unit)] : scratch;
      attend(part_of(block.q, unit, type.columns), block.exponents[static_cast<std::size_t>(unit)],
             layer, cache.heads, key_head, first, last, part_of(to.x, unit, type.columns), trace,
             context.instructions);
    }
  });
}

void greatest_over_chips(std::span<const Cell* const> from, std::span<Cell* const> to) {
  std::vector<std::uint32_t> peaks = from.front()->peaks;
  for (const Cell* cell : from) {
    for (std::size_t r = 0; r < peaks.size(); ++r) peaks[r] = std::max(peaks[r], cell->peaks[r]);
  }
  for (Cell* cell : to) cell->peaks = peaks;
}

void sum_over_chips(std::span<const Cell* const> from, std::span<Cell* const> to) {
  std::vector<std::int64_t> total = from.front()->sums;
  for (const Cell* cell : from.subspan(1)) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += cell->sums[i];
  }
  for (std::size_t chip = 0; chip < to.size(); ++chip) {
    to[chip]->sums = total;
    to[chip]->exponents = from[chip]->exponents;
    to[chip]->scales = from[chip]->scales;
  }
}

void joined_over_chips(std::span<const Value* const> types, std::span<const Cell* const> from,
                       std::span<Cell* const> to) {
  const Value& first = *types.front();
  const std::int64_t width = first.kind == ValueKind::kHeads ? first.columns : 1;
  const std::int64_t whole = first.whole * width;
  std::vector<float> joined(static_cast<std::size_t>(first.rows * whole));
  for (std::size_t chip = 0; chip < from.size(); ++chip) {
    const Value& type = *types[chip];
    for (std::int64_t r = 0; r < type.rows; ++r) {
      const auto part = part_of(from[chip]->x, r, row_size(type));
      std::copy(part.begin(), part.end(), joined.begin() + r * whole + type.first * width);
    }
  }
  for (Cell* cell : to) cell->x = joined;
}

void held_over_chips(const Value& type, std::span<const Cell* const> from,
                     std::span<Cell* const> to) {
  std::vector<float> rows(elements(type));
  for (std::int64_t r = 0; r < type.rows; ++r) {
    const auto holder = std::find_if(from.begin(), from.end(), [&](const Cell* cell) {
      return cell->held[static_cast<std::size_t>(r)];
    });
    CHECK(holder != from.end());
    const auto row = part_of((*holder)->x, r, row_size(type));
    std::copy(row.begin(), row.end(), rows.begin() + r * row_size(type));
  }
  for (Cell* cell : to) cell->x = rows;
}

}  // namespace logos::reference
