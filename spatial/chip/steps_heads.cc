// Heads and attention.
#include <algorithm>
#include <cstring>
#include <limits>

#include "program/check.h"
#include "program/divide_up.h"
#include "spatial/chip/sequencer.h"
#include "spatial/tile/attention.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kValue = 4;    ///< bytes of a binary32
constexpr std::int64_t kInteger = 2;  ///< of a key's, value's or query's column
constexpr std::int64_t kSum = 8;
/// 16x16 bits of a query and a key take two passes of 8x16, 25x16 of a weight and a value three.
constexpr std::int64_t kScorePasses = 2;
constexpr std::int64_t kWeighPasses = 3;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void append(std::vector<std::byte>& to, const void* from, std::int64_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

/// What a tile says of its positions for a group's row, as it stands in `peaks`.
float score_at(const std::byte* peaks, std::int64_t query) {
  float score = 0;
  std::memcpy(&score, peaks + query * kValue, sizeof score);
  return score;
}

}  // namespace

/// Of the key heads that two text chips hold, the first one's is shown.
bool Sequencer::shows_head(const PlacedVector& placed) const {
  if (placed.vector.kind == VectorKind::kQuery || stage().text_chip == 0) return true;
  const Stage& before = machine_.stage(stage().peers[at(stage().text_chip - 1)]).stage;
  return stage().key_heads.begin + placed.vector.head >= before.key_heads.end;
}

void Sequencer::heads(const Step& /*step*/) {
  state_.require_full(stage().named.vectors, 0, block_, "the work on heads");
  const std::int64_t n = plan().head_columns;
  const ChipConfig& chip = machine_.config;
  std::int64_t all = 0, normed = 0, rotated = 0;
  for (const std::int32_t index : state_.map().owned) {
    const VectorKind kind = stage_.map.vectors[at(index)].vector.kind;
    const int gain = kind == VectorKind::kQuery ? stage().query_gain : stage().key_gain;
    all += rows_.count * n;
    if (kind == VectorKind::kValue) continue;
    rotated += rows_.count * n;
    if (gain >= 0) normed += rows_.count * n;
  }
  const bool kept = row_is_kept(n * kValue);
  const auto again = [&](std::int64_t elements) { return kept ? 0 : elements * kValue; };
  vector_work(chip.maximum, normed, normed * kValue);
  vector_work(chip.square, normed, again(normed));
  vector_work(chip.root, normed / n, 0);
  vector_work(chip.scale, normed, 2 * again(normed) + normed * kValue);
  const std::int64_t first_read = normed > 0 ? again(rotated) : rotated * kValue;
  vector_work(chip.rotate, rotated, first_read + again(rotated) + rotated * kValue);
  vector_work(chip.maximum, all, (all - rotated) * kValue + again(rotated));
  vector_work(chip.quantize, all, again(all));
  for (const std::int32_t index : state_.map().owned) finish_vector(stage_.map.vectors[at(index)]);
}

/// Norm, rotation and quantizer of a head in every row, and where it goes.
void Sequencer::finish_vector(const PlacedVector& placed) {
  const std::int64_t n = plan().head_columns;
  const VectorKind kind = placed.vector.kind;
  const bool is_query = kind == VectorKind::kQuery;
  const bool is_key = kind == VectorKind::kKey;
  const VectorOperations& operations = is_query ? stage().query
                                       : is_key ? stage().key
                                                : stage().value;
  const int gain = is_query ? stage().query_gain : is_key ? stage().key_gain : -1;
  const std::string name = is_query ? "q" : is_key ? "k" : "v";
  const std::int64_t whole = stage_.matrices[at(matrix_of(placed))].rows;
  std::vector<std::int16_t> q(at(rows_.count * n));
  std::vector<BlockTag> tags;
  std::vector<float> x(at(n));
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::byte* row = state_.buffer_row(stage().named.vectors, block_, r);
    std::memcpy(x.data(), row + placed.vectors_at, at(n * kValue));
    const std::span<std::int16_t> integers(q.data() + r * n, at(n));
    const bool shows = watches(false) && shows_head(placed);
    if (gain >= 0) {
      const auto epsilon = static_cast<float>(plan().norm_epsilon);
      if (rms_norm(x, stage_.vectors[at(gain)], epsilon, x, integers)) {
        machine_.raise_fault(operations.norm);
      }
      if (shows) put<float>(name + ".norm", r, whole, placed.row, x);
    }
    if (kind != VectorKind::kValue) {
      state_.require_full(stage().named.row, 0, block_, "a rotation");
      const std::byte* angles = state_.buffer_row(stage().named.row, block_, r) + sizeof(Heading);
      const auto* cosines = reinterpret_cast<const float*>(angles);
      rotate_head(x, {cosines, at(n / 2)}, {cosines + n / 2, at(n / 2)});
      if (shows) put<float>(name + ".rope", r, whole, placed.row, x);
    }
    tags.push_back(quantize(x, integers));
    if (tags.back().fault) machine_.raise_fault(operations.block);
    if (!shows) continue;
    put<std::int16_t>(name + ".q16", r, whole, placed.row, integers);
    put_exponent(name + ".q16", r, whole / n, placed.row / n, tags.back().exponent);
  }
  if (is_query) {
    send_query(placed, q, tags);
  } else {
    send_to_cache(placed, q, tags);
  }
}

void Sequencer::send_query(const PlacedVector& placed, std::span<const std::int16_t> q,
                           std::span<const BlockTag> tags) {
  const Group& group = stage().groups[at(placed.group)];
  const std::int64_t n = plan().head_columns;
  const auto& groups = state_.map().groups;
  const auto served = std::find_if(groups.begin(), groups.end(),
                                   [&](const ServedGroup& g) { return g.group == placed.group; });
  CHECK(served != groups.end());  // in every tile of a group its queries stand at the same place
  auto query = message(stage_.index, stage().named.queries);
  query->segments[0] = {served->queries_at + placed.query * n * kInteger, n * kInteger};
  query->segments[1] = {served->queries_at + group.queries * n * kInteger + placed.query, 1};
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    append(query->data, q.data() + r * n, n * kInteger);
    append(query->data, &tags[at(r)].exponent, 1);
  }
  query->nodes = nodes_of(group.first_tile, group.tiles, state_.tile());
  send(query, true);
}

/// Row by row: each to the tile that its position falls on.
void Sequencer::send_to_cache(const PlacedVector& placed, std::span<const std::int16_t> q,
                              std::span<const BlockTag> tags) {
  const Group& group = stage().groups[at(placed.group)];
  const std::int64_t n = plan().head_columns;
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::int64_t position = headings_[at(r)].position - 1;
    auto entry = message(stage_.index, -1);
    entry->kind = MessageKind::kCache;
    entry->group = placed.group;
    entry->cache = plan().is_chunk ? 0 : static_cast<std::int32_t>(rows_.first + r);
    entry->entry = position / group.tiles;
    entry->is_value = placed.vector.kind == VectorKind::kValue;
    append(entry->data, q.data() + r * n, n * kInteger);
    append(entry->data, &tags[at(r)].exponent, 1);
    machine_.count_cache(n * kInteger + 1);
    send_to_tile(entry, group.first_tile + static_cast<std::int32_t>(position % group.tiles));
  }
}

/// Entries of the tile that a row sees.
Share Sequencer::visible(const ServedGroup& served, std::int64_t row) const {
  const std::int64_t last = headings_[at(row)].position - 1;
  const std::int64_t first =
      plan().window > 0 ? std::max<std::int64_t>(0, last - plan().window + 1) : 0;
  return entries_of(first, last, served.index, stage().groups[at(served.group)].tiles);
}

HeldCache& Sequencer::cache_of(std::int32_t served, std::int64_t row) {
  return state_.cache(served, plan().is_chunk ? 0 : rows_.first + row);
}

/// Elements of a query head over all positions that a row sees, of which the tile has some.
template <typename T>
void Sequencer::show_positions(std::string_view name, const ServedGroup& served, std::int64_t row,
                               std::int64_t query, std::span<const T> values) {
  if (!watches(false)) return;
  const Group& group = stage().groups[at(served.group)];
  const std::int64_t last = headings_[at(row)].position - 1;
  const std::int64_t first =
      plan().window > 0 ? std::max<std::int64_t>(0, last - plan().window + 1) : 0;
  const std::int64_t seen = last - first + 1;
  const std::int64_t heads = stage_.matrices[at(stage().query_matrix)].rows / plan().head_columns;
  const std::int64_t head = stage().query_heads.begin + group.first_query + query;
  const Share entries = visible(served, row);
  for (std::int64_t e = entries.begin; e < entries.end; ++e) {
    const std::int64_t position = e * group.tiles + served.index;
    put<T>(name, row, heads * seen, head * seen + position - first,
           values.subspan(at(e - entries.begin), 1));
  }
}

/// Query by query: scores are made of the sums while the array works on the next.
bool Sequencer::spend_scores(std::int64_t made, std::int64_t passes, std::int64_t bytes) {
  const ChipConfig& chip = machine_.config;
  const std::int64_t parts = rows_.count * state_.map().queries;
  const auto part = [&](std::int64_t whole, std::int64_t p) {
    return whole * (p + 1) / parts - whole * p / parts;
  };
  bool by_bytes = true;
  Cycles ready = 0;
  for (std::int64_t p = 0; p < parts; ++p) {
    by_bytes = mac_passes(part(passes, p), part(bytes, p));
    if (part(made, p) == 0) continue;
    vector_begin(chip.convert, part(made, p), part(made, p) * kValue);
    ready = vector_begin(chip.maximum, part(made, p), 0);
  }
  const Cycles drained = Wakeup::now() + static_cast<Cycles>(chip.mac_latency);
  const Cycles end = std::max(drained, ready + static_cast<Cycles>(chip.mac_latency) +
                                           static_cast<Cycles>(chip.convert.latency));
  process_->pause(end - Wakeup::now());
  return by_bytes;
}

void Sequencer::scores(const Step& /*step*/) {
  state_.require_full(stage().named.queries, 0, block_, "scores");
  state_.require_cache(block_, "scores");
  std::int64_t passes = 0, bytes = 0, made = 0;
  const ChipConfig& chip = machine_.config;
  for (const ServedGroup& served : state_.map().groups) {
    const std::int64_t queries = stage().groups[at(served.group)].queries;
    for (std::int64_t r = 0; r < rows_.count; ++r) {
      const std::int64_t held = visible(served, r).size();
      passes += queries * kScorePasses * divide_up(held, chip.mac_rows) *
                divide_up(plan().head_columns, chip.mac_columns);
      bytes += held * (kInteger * plan().head_columns + 1);
      made += held * queries;
    }
  }
  tile_.macs += static_cast<std::uint64_t>(made * plan().head_columns);
  machine_.count_cache(bytes);
  const std::int64_t queries_bytes =
      rows_.count * state_.map().queries * (kInteger * plan().head_columns + 1);
  const bool by_bytes = spend_scores(made, passes, bytes + queries_bytes);
  record_.bound = by_bytes ? Category::kKvStream : Category::kCompute;
  for (std::size_t g = 0; g < state_.map().groups.size(); ++g) {
    score_group(static_cast<std::int32_t>(g));
  }
}

void Sequencer::score_group(std::int32_t served_index) {
  const ServedGroup& served = state_.map().groups[at(served_index)];
  const Group& group = stage().groups[at(served.group)];
  const std::int64_t n = plan().head_columns;
  auto peaks = message(stage_.index, stage().named.peaks);
  const std::int64_t bytes = (group.queries + 1) * kValue;
  peaks->segments[0] = {served.peaks_at + served.index * bytes, bytes};
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const Share entries = visible(served, r);
    const HeldCache& cache = cache_of(served_index, r);
    const std::byte* row = state_.buffer_row(stage().named.queries, block_, r) + served.queries_at;
    const auto* exponents =
        reinterpret_cast<const std::int8_t*>(row + group.queries * n * kInteger);
    for (std::int64_t q = 0; q < group.queries; ++q) {
      float* scores = state_.scores(block_, r) + (served.first_query + q) * stage().cache_entries +
                      entries.begin;
      const std::span<float> made(scores, at(entries.size()));
      std::vector<std::int16_t> query(at(n));
      std::memcpy(query.data(), row + q * n * kInteger, at(n * kInteger));
      scores_of(query, exponents[q], {cache.keys.data(), cache.key_exponents.data()}, entries.begin,
                machine_.isq, made);
      float largest = -std::numeric_limits<float>::infinity();
      for (const float score : made) largest = std::max(largest, score);
      append(peaks->data, &largest, sizeof largest);
      show_positions("scores", served, r, q, std::span<const float>(made));
    }
    std::int32_t exponent = kZeroBlock;
    for (std::int64_t e = entries.begin; e < entries.end; ++e) {
      exponent = std::max<std::int32_t>(exponent, cache.value_exponents[at(e)]);
    }
    append(peaks->data, &exponent, sizeof exponent);
  }
  peaks->nodes = nodes_of(group.first_tile, group.tiles, state_.tile());
  send(peaks, true);
}

/// As many weights as the array takes columns: the next are made while it works on those.
bool Sequencer::spend_weights(std::int64_t made, std::int64_t passes, std::int64_t bytes) {
  const VectorOperation& exponential = machine_.config.exponential;
  const std::int64_t parts =
      std::max<std::int64_t>(1, divide_up(made, machine_.config.mac_columns));
  const auto part = [&](std::int64_t whole, std::int64_t p) {
    return whole * (p + 1) / parts - whole * p / parts;
  };
  bool by_bytes = true;
  const Cycles last = vector_begin(exponential, made, 2 * made * kValue);
  const Cycles latency = made > 0 ? static_cast<Cycles>(exponential.latency) : 0;
  const Cycles begin = Wakeup::now();
  const Cycles span = made > 0 ? last - latency - begin : 0;
  for (std::int64_t p = 0; p < parts; ++p) {
    const Cycles ready =
        begin + latency + span * static_cast<Cycles>(p + 1) / static_cast<Cycles>(parts);
    if (ready > Wakeup::now()) process_->pause(ready - Wakeup::now());
    by_bytes = mac_passes(part(passes, p), part(bytes, p) + part(made, p) * kValue);
  }
  process_->pause(static_cast<Cycles>(machine_.config.mac_latency));
  return by_bytes;
}

void Sequencer::weigh(const Step& /*step*/) {
  state_.require_full(stage().named.peaks, 0, block_, "the weights");
  std::int64_t passes = 0, bytes = 0, made = 0;
  const ChipConfig& chip = machine_.config;
  for (const ServedGroup& served : state_.map().groups) {
    const std::int64_t queries = stage().groups[at(served.group)].queries;
    for (std::int64_t r = 0; r < rows_.count; ++r) {
      const std::int64_t held = visible(served, r).size();
      passes += queries * kWeighPasses * divide_up(plan().head_columns, chip.mac_rows) *
                divide_up(held, chip.mac_columns);
      bytes += held * (kInteger * plan().head_columns + 1);
      made += held * queries;
    }
  }
  tile_.macs += static_cast<std::uint64_t>(made * plan().head_columns);
  machine_.count_cache(bytes);
  const bool by_bytes = spend_weights(made, passes, bytes);
  record_.bound = by_bytes ? Category::kKvStream : Category::kCompute;
  for (std::size_t g = 0; g < state_.map().groups.size(); ++g) {
    weigh_group(static_cast<std::int32_t>(g));
  }
}

void Sequencer::weigh_group(std::int32_t served_index) {
  const ServedGroup& served = state_.map().groups[at(served_index)];
  const Group& group = stage().groups[at(served.group)];
  const std::int64_t n = plan().head_columns;
  const std::int64_t tile_bytes = (group.queries + 1) * kValue;
  for (std::int64_t q = 0; q < group.queries; ++q) {
    const PlacedVector& placed = query_of(served.group, q);
    auto partial = message(stage_.index, stage().named.partials);
    const std::int64_t bytes = (1 + n) * kSum;
    partial->segments[0] = {placed.partials_at + served.index * bytes, bytes};
    for (std::int64_t r = 0; r < rows_.count; ++r) {
      const std::byte* peaks = state_.buffer_row(stage().named.peaks, block_, r) + served.peaks_at;
      float largest = score_at(peaks, q);
      std::int32_t exponent = kZeroBlock;
      for (std::int64_t t = 0; t < group.tiles; ++t) {
        largest = std::max(largest, score_at(peaks + t * tile_bytes, q));
        std::int32_t of_tile = 0;
        std::memcpy(&of_tile, peaks + t * tile_bytes + group.queries * kValue, sizeof of_tile);
        exponent = std::max(exponent, of_tile);
      }
      exponents_[at(served_index)][at(r)] = exponent;
      const Share entries = visible(served, r);
      const HeldCache& cache = cache_of(served_index, r);
      float* scores = state_.scores(block_, r) + (served.first_query + q) * stage().cache_entries +
                      entries.begin;
      std::vector<std::int32_t> weights(at(entries.size()));
      std::vector<std::int64_t> sums(at(1 + n));
      sums[0] = weights_of({scores, weights.size()}, largest,
                           cache.value_exponents.data() + entries.begin, exponent, weights);
      if (!weights.empty()) {  // of the positions that the row sees, this tile may hold none
        std::memcpy(scores, weights.data(), weights.size() * sizeof weights[0]);
      }
      add_weighted(weights, {cache.values.data(), cache.value_exponents.data()}, entries.begin,
                   std::span(sums).subspan(1));
      append(partial->data, sums.data(), bytes);
      show_positions("weights", served, r, q, std::span<const std::int32_t>(weights));
    }
    send_to_tile(partial, placed.vector.owner);
  }
}

const PlacedVector& Sequencer::query_of(std::int32_t group, std::int64_t query) const {
  for (const PlacedVector& placed : stage_.map.vectors) {
    const bool is_query = placed.vector.kind == VectorKind::kQuery;
    if (is_query && placed.group == group && placed.query == query) return placed;
  }
  CHECK_UNREACHABLE();
}

void Sequencer::finish(const Step& step) {
  state_.require_full(stage().named.partials, 0, block_, "the end of attention");
  const std::int64_t n = plan().head_columns;
  const ChipConfig& chip = machine_.config;
  std::int64_t heads = 0, parts = 0;
  for (const std::int32_t index : state_.map().owned) {
    const PlacedVector& placed = stage_.map.vectors[at(index)];
    if (placed.vector.kind != VectorKind::kQuery) continue;
    heads += rows_.count;
    parts += rows_.count * stage().groups[at(placed.group)].tiles;
  }
  // L first: its division needs the sums of A no more than these need it.
  const Cycles divided = heads > 0 ? vector_begin(chip.divide, heads, parts * kSum) : 0;
  vector_work(chip.add, parts * n, parts * n * kSum);
  if (divided > Wakeup::now()) process_->pause(divided - Wakeup::now());
  vector_work(chip.convert, heads * n, heads * n * (kSum + kValue));
  for (const std::int32_t index : state_.map().owned) {
    const PlacedVector& placed = stage_.map.vectors[at(index)];
    if (placed.vector.kind == VectorKind::kQuery) finish_query(placed, step);
  }
}

void Sequencer::finish_query(const PlacedVector& placed, const Step& step) {
  const std::int64_t n = plan().head_columns;
  const Group& group = stage().groups[at(placed.group)];
  const auto& groups = state_.map().groups;
  const auto served = std::find_if(groups.begin(), groups.end(),
                                   [&](const ServedGroup& g) { return g.group == placed.group; });
  CHECK(served != groups.end());
  auto head = message(stage_.index, stage().named.attention);
  head->segments[0] = {placed.vector.head * n * kValue, n * kValue};
  std::vector<float> o(at(n));
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    std::vector<std::int64_t> total(at(1 + n));
    const std::byte* row = state_.buffer_row(stage().named.partials, block_, r);
    for (std::int64_t t = 0; t < group.tiles; ++t) {
      std::vector<std::int64_t> part(at(1 + n));
      std::memcpy(part.data(), row + placed.partials_at + t * (1 + n) * kSum, at((1 + n) * kSum));
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
    }
    const std::int32_t exponent = exponents_[at(served - groups.begin())][at(r)];
    attention_of(total[0], std::span(total).subspan(1), exponent, o);
    append(head->data, o.data(), n * kValue);
    if (!watches(false)) continue;
    const std::int64_t whole = stage_.matrices[at(stage().query_matrix)].rows;
    put<float>(plan().names[at(step.operation)], r, whole, placed.row, o);
    put<std::int64_t>("weight_sum", r, whole / n, placed.row / n, std::span(total).first(1));
  }
  send_to_all(head);
}

}  // namespace logos::spatial
