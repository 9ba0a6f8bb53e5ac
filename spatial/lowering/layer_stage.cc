#include <algorithm>

#include "program/divide_up.h"
#include "program/shares.h"
#include "spatial/lowering/groups.h"
#include "spatial/lowering/layer_steps.h"
#include "spatial/lowering/rows.h"
#include "spatial/lowering/stage_builder.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kGroupColumns = 32;  // that share a multiplier
constexpr std::int64_t kMostChunks = 4;  // of `hidden`: what a product does not wait for at first
constexpr std::int64_t kPeakBytes = 4;
constexpr std::int64_t kSumBytes = 8;

/// Collects a layer's tables; the steps are those of layer_steps.
class LayerTables {
 public:
  LayerTables(const ModelShare& share, const StageShape& shape, const StageSource& source)
      : share_(share),
        shape_(shape),
        source_(source),
        builder_(StageKind::kLayer, share, shape, source),
        stage_(builder_.stage()) {}

  Stage build() {
    const LayerStructure none;
    const LayerStructure& layer = source_.layer != nullptr ? *source_.layer : none;
    stage_.layer = static_cast<std::int32_t>(layer.layer);
    add_partitions();
    add_matrices(layer);
    add_vectors(layer);
    count_entries();
    add_row_areas();
    add_head_areas();
    add_operands();
    add_sums();
    stage_.own = builder_.slot_area("own columns", builder_.most_of(parts_.output) * kValueBytes);
    add_exchanges();
    add_cache();
    add_layer_steps(builder_, parts_, layer, source_.show);
    return builder_.finish(builder_.most([&](std::int32_t tile) { return held_bytes(tile); }));
  }

 private:
  void add_partitions() {
    parts_.output = builder_.partition({0, share_.columns});
    parts_.hidden = builder_.partition(share_.hidden);
    deal_heads(builder_, share_);
    parts_.attention_columns = share_.attention().size();
    parts_.split = share_.split();
  }

  void add_matrices(const LayerStructure& layer) {
    const Share all = {0, share_.columns};
    const std::int64_t heads = share_.all_query_heads * share_.head_columns;
    const std::int64_t key_rows = share_.all_key_heads * share_.head_columns;
    stage_.query_matrix = builder_.matrix(layer.query.product, heads, share_.columns, all);
    stage_.key_matrix = builder_.matrix(layer.key.product, key_rows, share_.columns, all);
    stage_.value_matrix = builder_.matrix(layer.value.product, key_rows, share_.columns, all);
    parts_.output_matrix =
        builder_.matrix(layer.output.product, share_.columns, heads, share_.attention());
    parts_.gate = builder_.matrix(layer.gate, share_.all_hidden, share_.columns, all);
    parts_.up = builder_.matrix(layer.up, share_.all_hidden, share_.columns, all);
    parts_.down =
        builder_.matrix(layer.down.product, share_.columns, share_.all_hidden, share_.hidden);
  }

  void add_vectors(const LayerStructure& layer) {
    const auto heads = [&](const Projection& projection, std::int64_t count, int* bias, int* gain,
                           VectorOperations* operations) {
      *operations = {projection.product, projection.bias, projection.norm, projection.rotation,
                     projection.block};
      if (projection.bias >= 0) {
        *bias = builder_.vector(projection.bias, count * share_.head_columns);
      }
      if (projection.norm >= 0) *gain = builder_.vector(projection.norm, share_.head_columns);
    };
    parts_.input_gain = builder_.vector(layer.input_norm, share_.columns);
    parts_.post_gain = builder_.vector(layer.post_norm, share_.columns);
    int none = -1;
    heads(layer.query, share_.all_query_heads, &stage_.query_bias, &stage_.query_gain,
          &stage_.query);
    heads(layer.key, share_.all_key_heads, &stage_.key_bias, &stage_.key_gain, &stage_.key);
    heads(layer.value, share_.all_key_heads, &stage_.value_bias, &none, &stage_.value);
    stage_.attended = layer.attended;
  }

  /// A bias and the gains of a head are counted in every model: a head's or an embedding's text
  /// does not say whether the layers have them, and is placed as if it did.
  std::int64_t held_bytes(std::int32_t tile) const {
    const std::int64_t projected = builder_.of(stage_.projection, tile).size();
    const std::int64_t output = builder_.of(parts_.output, tile).size();
    const std::int64_t hidden = builder_.of(parts_.hidden, tile).size();
    const std::int64_t gains = 2 * share_.columns + 2 * share_.head_columns + projected;
    return builder_.held(stage_.query_matrix, projected) +
           builder_.held(parts_.output_matrix, output) + builder_.held(parts_.gate, hidden) +
           builder_.held(parts_.up, hidden) + builder_.held(parts_.down, output) +
           gains * kValueBytes;
  }

  std::int64_t query_bytes(const Group& group) const {
    return group.queries * (2 * share_.head_columns + 1);
  }
  static std::int64_t peak_bytes(const Group& group) {
    return group.tiles * (group.queries + 1) * kPeakBytes;
  }
  /// Of an owned query: L and A of each tile of its group.
  std::int64_t partial_bytes(const Group& group) const {
    return group.tiles * (1 + share_.head_columns) * kSumBytes;
  }

  /// Rows as they come, attention and hidden rows. `middle` comes when `row` has been read, hidden
  /// rows when both and attention have.
  void add_row_areas() {
    Buffers& named = stage_.named;
    const auto everywhere = [](std::int64_t bytes) { return [=](std::int32_t) { return bytes; }; };
    const std::int64_t row = row_bytes(share_, StageKind::kLayer);
    const std::int64_t middle = share_.columns * kValueBytes;
    const std::int64_t attention = share_.attention().size() * kValueBytes;
    const std::int64_t hidden = share_.hidden.size() * kIntegerBytes;
    named.entry = builder_.leader_buffer("entry", row, 1);
    const int region = builder_.region(shape_.slots);
    const int rows = builder_.area("row", region, 0, row);
    named.row = builder_.buffer(rows, everywhere(row));
    named.middle = builder_.buffer(builder_.area("middle", region, 0, middle), everywhere(middle));
    named.attention =
        builder_.buffer(builder_.area("attention", region, builder_.end_of(rows), attention),
                        everywhere(attention));
    add_hidden(builder_.area("hidden", region, 0, hidden), hidden);
  }

  /// Head vectors, queries and peaks. Values are made only of what comes after them.
  void add_head_areas() {
    Buffers& named = stage_.named;
    const int region = builder_.region(shape_.slots);
    std::int64_t at = 0;
    const auto land = [&](const char* name, const StageBuilder::BytesOfTile& bytes) {
      const int area = builder_.area(name, region, at, builder_.most(bytes));
      at = builder_.end_of(area);
      return builder_.buffer(area, bytes);
    };
    named.vectors = land("vectors", [&](std::int32_t tile) {
      return of_owned(stage_, tile, false,
                      [&](const Group&) { return share_.head_columns * kValueBytes; });
    });
    named.queries = land("queries", [&](std::int32_t tile) {
      return of_groups(stage_, tile, [&](const Group& group) { return query_bytes(group); });
    });
    named.peaks =
        land("peaks", [&](std::int32_t tile) { return of_groups(stage_, tile, peak_bytes); });
    const std::int64_t values =
        std::max(builder_.most_of(parts_.output), builder_.most_of(parts_.hidden));
    stage_.values = builder_.area("values", region, 0, values * kValueBytes);
  }

  /// Operands; partial results, which come of tiles that had this tile's peaks, made when the
  /// projections had read the operands.
  void add_operands() {
    const int region = builder_.region(shape_.slots);
    const std::int64_t columns = std::max(share_.columns, share_.attention().size());
    stage_.operands = builder_.area("operands", region, 0, columns * kIntegerBytes);
    const auto partials = [&](std::int32_t tile) {
      return of_owned(stage_, tile, true, [&](const Group& group) { return partial_bytes(group); });
    };
    stage_.named.partials =
        builder_.buffer(builder_.area("partials", region, 0, builder_.most(partials)), partials);
  }

  /// Sums; scores, which are made and read between two products.
  void add_sums() {
    const int region = builder_.region(shape_.slots);
    const std::int64_t sums =
        std::max({builder_.most_of(stage_.projection), builder_.most_of(parts_.output),
                  2 * builder_.most_of(parts_.hidden)});
    stage_.sums = builder_.area("sums", region, 0, sums * kSumBytes);
    const std::int64_t entries = stage_.cache_entries;
    const auto scores = [&](std::int32_t tile) {
      return of_groups(stage_, tile, [&](const Group& g) { return g.queries * entries; });
    };
    stage_.scores = builder_.area("scores", region, 0, builder_.most(scores) * kValueBytes);
  }

  /// Chunks of `hidden` end with a group of 32 columns of the whole matrix, the last with the
  /// columns.
  void add_hidden(int area, std::int64_t row_bytes) {
    const Share columns = share_.hidden;
    Buffer buffer{area, row_bytes, {}};
    std::int64_t begin = columns.begin;
    for (std::int64_t chunk = 1; chunk <= kMostChunks; ++chunk) {
      const std::int64_t even = columns.begin + columns.size() * chunk / kMostChunks;
      const std::int64_t end =
          chunk == kMostChunks ? columns.end : even / kGroupColumns * kGroupColumns;
      if (end <= begin) continue;
      buffer.expected.emplace_back(stage_.tiles, (end - begin) * kIntegerBytes);
      begin = end;
    }
    stage_.buffers.push_back(std::move(buffer));
    stage_.named.hidden = static_cast<int>(stage_.buffers.size()) - 1;
  }

  void add_exchanges() {
    Buffers& named = stage_.named;
    const auto everywhere = [&](const char* name) {
      return builder_.buffer(name, [](std::int32_t) { return kPeakBytes; });
    };
    named.tile_peaks =
        builder_.leader_buffer("tile peaks", stage_.tiles * kPeakBytes, shape_.slots);
    named.peak_2 = everywhere("peak of silu_times");
    if (!share_.split()) return;
    const std::int64_t chips = share_.text_chips;
    named.chip_peaks = builder_.leader_buffer("chips' peaks", chips * kPeakBytes, shape_.slots);
    named.chip_peaks_2 =
        builder_.leader_buffer("chips' peaks of silu_times", chips * kPeakBytes, shape_.slots);
    named.peak = everywhere("peak of attention");
    const Share portion = share_of(share_.columns, share_.text_chip, chips);
    const auto addends = [&](std::int32_t tile) {
      const Share rows = builder_.of(parts_.output, tile);
      const std::int64_t own =
          std::min(rows.end, portion.end) - std::max(rows.begin, portion.begin);
      return chips * std::max<std::int64_t>(own, 0) * kSumBytes;
    };
    const auto totals = [&](std::int32_t tile) {
      return builder_.of(parts_.output, tile).size() * kSumBytes;
    };
    named.addends = builder_.buffer("addends of o", addends);
    named.totals = builder_.buffer("totals of o", totals);
    named.addends_2 = builder_.buffer("addends of down", addends);
    named.totals_2 = builder_.buffer("totals of down", totals);
  }

  void count_entries() {
    std::int64_t most = 0;
    for (const Group& group : stage_.groups) {
      most = std::max(most, divide_up(shape_.capacity, group.tiles));
    }
    stage_.cache_entries = static_cast<std::int32_t>(most);
  }

  void add_cache() {
    const std::int64_t entry_bytes = 4 * share_.head_columns + 2;
    const std::int64_t entries = share_.sequences * stage_.cache_entries;
    stage_.cache = builder_.last_area("cache", builder_.most([&](std::int32_t tile) {
      return of_groups(stage_, tile, [&](const Group&) { return entries * entry_bytes; });
    }));
  }

  const ModelShare& share_;
  const StageShape& shape_;
  const StageSource& source_;
  StageBuilder builder_;
  Stage& stage_;
  LayerParts parts_;
};

}  // namespace

Stage layer_stage(const ModelShare& share, const StageShape& shape, const StageSource& source) {
  return LayerTables(share, shape, source).build();
}

}  // namespace logos::spatial
