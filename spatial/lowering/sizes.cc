#include "spatial/lowering/sizes.h"

#include <algorithm>

#include "program/divide_up.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kLeastBefore = 64;  ///< positions

template <typename Build>
StageBytes most(const std::vector<ModelShare>& shares, const Build& build) {
  StageBytes bytes;
  for (const ModelShare& share : shares) {
    const Stage stage = build(share);
    bytes.held = std::max(bytes.held, stage.held_bytes);
    bytes.used = std::max(bytes.used, stage.used_bytes);
  }
  return bytes;
}

StageShape shape_of(std::int32_t tiles, Blocks blocks, std::int64_t capacity) {
  StageShape shape;
  shape.width = tiles;
  shape.tiles = tiles;
  shape.block_rows = blocks.rows;
  shape.slots = blocks.slots;
  shape.capacity = capacity;
  return shape;
}

}  // namespace

Sizes::Sizes(const Facts& facts, const ChipConfig& config) : config_(config) {
  for (std::int64_t chip = 0; chip < facts.chips; ++chip) {
    shares_.push_back(share_of_model(facts, chip));
  }
}

StageBytes Sizes::layer(std::int32_t tiles, Blocks blocks, std::int64_t capacity) const {
  const StageShape shape = shape_of(tiles, blocks, capacity);
  return most(shares_, [&](const ModelShare& share) { return layer_stage(share, shape, {}); });
}

StageBytes Sizes::head(std::int32_t tiles, Blocks blocks) const {
  const StageShape shape = shape_of(tiles, of_rows(blocks, share().head_rows), 0);
  return most(shares_, [&](const ModelShare& share) { return head_stage(share, shape, {}); });
}

StageBytes Sizes::embedding(std::int32_t tiles, Blocks blocks, bool own_table) const {
  const StageShape shape = shape_of(tiles, blocks, 0);
  StageSource source;
  source.own_table = own_table;
  source.show = own_table ? 0 : -1;
  return most(shares_,
              [&](const ModelShare& share) { return embedding_stage(share, shape, source); });
}

Blocks Sizes::of_rows(Blocks blocks, std::int64_t rows) {
  const auto most_rows = static_cast<std::int32_t>(std::min<std::int64_t>(rows, blocks.rows));
  const std::int64_t count = divide_up(rows, most_rows);
  return {most_rows, static_cast<std::int32_t>(std::min<std::int64_t>(count, blocks.slots))};
}

std::vector<Blocks> Sizes::blocks() const {
  std::vector<Blocks> all;
  const Blocks most = of_rows({config_.block_rows, config_.streams}, share().rows);
  for (std::int32_t rows = most.rows; rows >= 1; --rows) {
    all.push_back(of_rows({rows, config_.streams}, share().rows));
  }
  if (all.back().slots > 1) all.push_back({1, 1});
  return all;
}

std::int64_t Sizes::least_capacity() const {
  const std::int64_t rows = share().rows;
  return share().context > 0 ? share().context : rows + std::max(rows, kLeastBefore);
}

std::int32_t Sizes::most_layer_tiles() const {
  std::int64_t most = share().columns;
  for (const ModelShare& share : shares_) {
    const std::int64_t rows =
        (share.query_heads.size() + 2 * share.key_heads.size()) * share.head_columns;
    most = std::min({most, share.hidden.size(), rows});
  }
  return static_cast<std::int32_t>(most);
}

std::int32_t Sizes::most_table_tiles() const {
  std::int64_t most = share().vocabulary;
  for (const ModelShare& share : shares_) most = std::min(most, share.table_rows.size());
  return static_cast<std::int32_t>(most);
}

std::int32_t Sizes::key_heads() const {
  std::int64_t most = 1;
  for (const ModelShare& share : shares_) most = std::max(most, share.key_heads.size());
  return static_cast<std::int32_t>(most);
}

}  // namespace logos::spatial
