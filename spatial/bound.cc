#include "spatial/bound.h"

#include <algorithm>
#include <array>

namespace logos::spatial {
namespace {

constexpr std::int64_t kGroup = 32;  // columns that share a multiplier

std::int64_t up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }
std::uint64_t u64(std::int64_t n) { return static_cast<std::uint64_t>(n); }

/// Matrix rows and columns that a tile multiplies in a step.
struct Product {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t groups = 0;
};

Product product_of(const Stage& stage, int matrix, std::int64_t rows) {
  const Share& share = stage.matrices[static_cast<std::size_t>(matrix)].column_share;
  return {rows, share.size(), up(share.end, kGroup) - share.begin / kGroup};
}

std::int64_t bytes_of(const Product& product) {
  return product.rows * (product.columns + product.groups + 4);
}

/// Every product of a tile: a step that takes its columns chunk by chunk counts once.
template <typename Visit>
void for_each_product(const Stage& stage, std::int32_t tile, Visit&& visit) {
  for (const Step& step : stage.steps) {
    if (step.opcode == Opcode::kProject) {
      const Share share = stage.partitions[static_cast<std::size_t>(stage.projection)].of(tile);
      visit(product_of(stage, stage.query_matrix, share.size()));
    } else if (step.opcode == Opcode::kProduct && step.first_column == 0) {
      const Share share = stage.partitions[static_cast<std::size_t>(step.partition)].of(tile);
      for (const int matrix : step.matrices) visit(product_of(stage, matrix, share.size()));
    }
  }
}

/// Positions that a row at `position` sees.
std::int64_t visible(const Plan& plan, std::int64_t position) {
  return plan.window > 0 ? std::min(plan.window, position) : position;
}

/// Bytes into a tile a row: what all tiles are given whole.
std::int64_t gathered_bytes(const Stage& stage) {
  std::int64_t bytes = 0;
  for (const int index :
       {stage.named.row, stage.named.attention, stage.named.middle, stage.named.hidden}) {
    if (index >= 0) bytes += stage.buffers[static_cast<std::size_t>(index)].row_bytes;
  }
  return bytes;
}

}  // namespace

std::uint64_t StageBound::cycles() const { return std::max({sram, passes, links}); }

StageBound bound_of(const Plan& plan, const ChipConfig& config, const Stage& stage,
                    std::int64_t rows, std::span<const std::int64_t> positions) {
  StageBound bound;
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    std::int64_t bytes = 0;
    std::int64_t passes = 0;
    for_each_product(stage, tile, [&](const Product& product) {
      bytes += bytes_of(product);
      passes += rows * up(product.rows, config.mac_rows) * up(product.columns, config.mac_columns);
    });
    for (const Group& group : stage.groups) {
      if (tile < group.first_tile || tile >= group.first_tile + group.tiles) continue;
      for (const std::int64_t position : positions) {
        const std::int64_t held = up(visible(plan, position), group.tiles);
        bytes += held * 2 * (2 * plan.head_columns + 1);
        passes += group.queries * 2 * up(held, config.mac_rows) *
                  up(plan.head_columns, config.mac_columns);
        passes += group.queries * 3 * up(plan.head_columns, config.mac_rows) *
                  up(held, config.mac_columns);
      }
    }
    bound.sram = std::max(bound.sram, u64(up(bytes, config.sram_bytes_per_cycle)));
    bound.passes = std::max(bound.passes, u64(passes));
  }
  bound.links = u64(rows * up(gathered_bytes(stage), config.link_bytes));
  return bound;
}

namespace {

/// Adds what a block of rows asks of a stage, over all its tiles.
void count_work(const Plan& plan, const Stage& stage, std::int64_t rows,
                std::span<const std::int64_t> positions, PlanBound& bound) {
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    for_each_product(stage, tile, [&](const Product& product) {
      bound.weight_bytes += u64(bytes_of(product));
      bound.macs += u64(rows * product.rows * product.columns);
    });
  }
  for (const Group& group : stage.groups) {
    for (const std::int64_t position : positions) {
      const std::int64_t seen = visible(plan, position);
      bound.kv_bytes += u64((seen + 1) * 2 * (2 * plan.head_columns + 1));
      bound.macs += u64(2 * seen * group.queries * plan.head_columns);
    }
  }
}

}  // namespace

PlanBound bound_of(const Plan& plan, const ChipConfig& config,
                   std::span<const std::int64_t> positions) {
  PlanBound whole;
  std::array<std::uint64_t, 3> by_name{};
  std::vector<std::uint64_t> slowest;  // of each block
  std::int64_t total = 0;
  for (const Stage& stage : plan.stages) {
    for (std::int64_t first = 0, block = 0; first < stage.rows; first += plan.block_rows, ++block) {
      const std::int64_t rows = std::min<std::int64_t>(plan.block_rows, stage.rows - first);
      std::span<const std::int64_t> own;
      if (stage.kind == StageKind::kLayer) {
        own = positions.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
      }
      count_work(plan, stage, rows, own, whole);
      if (stage.text_chip != 0) continue;  // text chips work side by side
      const StageBound bound = bound_of(plan, config, stage, rows, own);
      const auto b = static_cast<std::size_t>(block);
      if (slowest.size() <= b) slowest.resize(b + 1, 0);
      slowest[b] = std::max(slowest[b], bound.cycles());
      if (block == 0) total += static_cast<std::int64_t>(bound.cycles());
      const std::array<std::uint64_t, 3> three = {bound.sram, bound.passes, bound.links};
      const auto largest = std::max_element(three.begin(), three.end()) - three.begin();
      by_name[static_cast<std::size_t>(largest)] += bound.cycles();
    }
  }
  whole.cycles = u64(total);
  for (std::size_t block = 1; block < slowest.size(); ++block) whole.cycles += slowest[block];
  whole.interval = slowest.empty() ? 0 : *std::max_element(slowest.begin(), slowest.end());
  constexpr std::array<const char*, 3> kNames = {"sram", "mac_array", "links"};
  whole.name = kNames[static_cast<std::size_t>(std::max_element(by_name.begin(), by_name.end()) -
                                               by_name.begin())];
  return whole;
}

}  // namespace logos::spatial
