#include "spatial/bound.h"

#include <algorithm>

#include "program/divide_up.h"
#include "spatial/chip/critical_path.h"
#include "spatial/chip/stage_map.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kGroup = 32;  // columns that share a multiplier

std::uint64_t u64(std::int64_t n) { return static_cast<std::uint64_t>(n); }

/// Matrix rows and columns that a tile multiplies in a step.
struct Product {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t scale_bytes = 0;  ///< of a row
};

Product product_of(const Stage& stage, int matrix, std::int64_t rows) {
  const Share& share = stage.matrices[static_cast<std::size_t>(matrix)].column_share;
  const std::int64_t groups = divide_up(share.end, kGroup) - share.begin / kGroup;
  return {rows, share.size(), scale_bytes(stage.profile, groups)};
}

std::int64_t bytes_of(const Product& product) {
  return product.rows * (product.columns + product.scale_bytes);
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

/// Bytes into a tile a row from others: the row from the leader; of what all tiles make together,
/// all but its own part, which for some tile is no more than an even share.
std::int64_t gathered_bytes(const Stage& stage) {
  if (stage.tiles == 1) return 0;
  const auto row_bytes = [&](int buffer) {
    return buffer < 0 ? 0 : stage.buffers[static_cast<std::size_t>(buffer)].row_bytes;
  };
  const std::int64_t together = row_bytes(stage.named.attention) + row_bytes(stage.named.middle) +
                                row_bytes(stage.named.hidden);
  return row_bytes(stage.named.row) + together * (stage.tiles - 1) / stage.tiles;
}

/// Least cycles of a tile for a block of rows.
struct TileBound {
  std::uint64_t sram = 0;
  std::uint64_t passes = 0;
};

/// Of each tile of a stage.
std::vector<TileBound> bounds_of_tiles(const Plan& plan, const ChipConfig& config,
                                       const Stage& stage, std::int64_t rows,
                                       std::span<const std::int64_t> positions) {
  std::vector<TileBound> bounds;
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    std::int64_t bytes = 0;
    std::int64_t passes = 0;
    for_each_product(stage, tile, [&](const Product& product) {
      bytes += bytes_of(product);
      passes += rows * divide_up(product.rows, config.mac_rows) *
                divide_up(product.columns, config.mac_columns);
    });
    for (const Group& group : stage.groups) {
      if (tile < group.first_tile || tile >= group.first_tile + group.tiles) continue;
      for (const std::int64_t position : positions) {
        const std::int64_t held = entries_of(position - visible(plan, position), position - 1,
                                             tile - group.first_tile, group.tiles)
                                      .size();
        bytes += held * 2 * (2 * plan.head_columns + 1);
        passes += group.queries * 2 * divide_up(held, config.mac_rows) *
                  divide_up(plan.head_columns, config.mac_columns);
        passes += group.queries * 3 * divide_up(plan.head_columns, config.mac_rows) *
                  divide_up(held, config.mac_columns);
      }
    }
    bounds.push_back({u64(divide_up(bytes, config.sram_bytes_per_cycle)), u64(passes)});
  }
  return bounds;
}

/// That of the tile with the most work, by kind.
StageBound most_of(const std::vector<TileBound>& tiles, std::uint64_t links) {
  StageBound bound;
  bound.links = links;
  for (const TileBound& tile : tiles) {
    bound.sram = std::max(bound.sram, tile.sram);
    bound.passes = std::max(bound.passes, tile.passes);
  }
  return bound;
}

std::uint64_t link_cycles(const ChipConfig& config, const Stage& stage, std::int64_t rows) {
  return u64(rows * gathered_bytes(stage) / config.link_bytes);
}

}  // namespace

std::uint64_t StageBound::cycles() const { return std::max({sram, passes, links}); }

StageBound bound_of(const Plan& plan, const ChipConfig& config, const Stage& stage,
                    std::int64_t rows, std::span<const std::int64_t> positions) {
  return most_of(bounds_of_tiles(plan, config, stage, rows, positions),
                 link_cycles(config, stage, rows));
}

namespace {

/// Positions of a block's rows; only layers have any.
std::span<const std::int64_t> rows_of(const Stage& stage, std::span<const std::int64_t> positions,
                                      std::int64_t first, std::int64_t rows) {
  if (stage.kind != StageKind::kLayer) return {};
  return positions.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
}

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

/// The bounds of a stage for each of its blocks, and for all of them: the three kinds of work of
/// different blocks overlap, and each tile has its own share of each block.
struct StageBounds {
  std::vector<StageBound> blocks;
  StageBound all;
};

StageBounds bounds_of_blocks(const Plan& plan, const ChipConfig& config, const Stage& stage,
                             std::span<const std::int64_t> positions) {
  StageBounds bounds;
  std::vector<TileBound> sums(static_cast<std::size_t>(stage.tiles));
  std::uint64_t links = 0;
  for (std::int64_t first = 0; first < stage.rows; first += plan.block_rows) {
    const std::int64_t rows = std::min<std::int64_t>(plan.block_rows, stage.rows - first);
    const std::vector<TileBound> tiles =
        bounds_of_tiles(plan, config, stage, rows, rows_of(stage, positions, first, rows));
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
      sums[tile].sram += tiles[tile].sram;
      sums[tile].passes += tiles[tile].passes;
    }
    const std::uint64_t block_links = link_cycles(config, stage, rows);
    links += block_links;
    bounds.blocks.push_back(most_of(tiles, block_links));
  }
  bounds.all = most_of(sums, links);
  return bounds;
}

std::uint64_t least(const std::vector<StageBound>& blocks) {
  const auto less = [](const StageBound& a, const StageBound& b) {
    return a.cycles() < b.cycles();
  };
  return std::min_element(blocks.begin(), blocks.end(), less)->cycles();
}

/// Cycles before the first block can be in stage `s`. Rows of a chunk see the keys of those before
/// them, so no block can be more than a stage ahead of the first one; rows of a batch can.
std::uint64_t way_to(const std::vector<StageBounds>& stages, std::size_t s, bool is_chunk) {
  std::uint64_t cycles = 0;
  for (std::size_t before = 0; before < s; ++before) {
    const bool first_leads = is_chunk && before + 1 < s;
    cycles += first_leads ? stages[before].blocks.front().cycles() : least(stages[before].blocks);
  }
  return cycles;
}

/// Cycles after the last block has left stage `s`. A stage that not every block goes through (the
/// head of a chunk) may be done with its own by then.
std::uint64_t way_from(const std::vector<StageBounds>& stages, std::size_t s) {
  std::uint64_t cycles = 0;
  for (std::size_t after = s + 1; after < stages.size(); ++after) {
    if (stages[after].blocks.size() != stages[s].blocks.size()) continue;
    cycles += least(stages[after].blocks);
  }
  return cycles;
}

}  // namespace

PlanBound bound_of(const Plan& plan, const ChipConfig& config,
                   std::span<const std::int64_t> positions) {
  PlanBound whole;
  std::vector<StageBounds> stages;  // text chips work side by side: those of the first
  StageBound by_name;
  for (const Stage& stage : plan.stages) {
    for (std::int64_t first = 0; first < stage.rows; first += plan.block_rows) {
      const std::int64_t rows = std::min<std::int64_t>(plan.block_rows, stage.rows - first);
      count_work(plan, stage, rows, rows_of(stage, positions, first, rows), whole);
    }
    if (stage.text_chip != 0) continue;
    stages.push_back(bounds_of_blocks(plan, config, stage, positions));
    const StageBound& sum = stages.back().all;
    if (sum.sram == sum.cycles()) {
      by_name.sram += sum.sram;
    } else if (sum.passes == sum.cycles()) {
      by_name.passes += sum.passes;
    } else {
      by_name.links += sum.links;
    }
  }
  for (std::size_t s = 0; s < stages.size(); ++s) {
    whole.cycles = std::max(whole.cycles, way_to(stages, s, plan.is_chunk) +
                                              stages[s].all.cycles() + way_from(stages, s));
  }
  whole.name = by_name.sram == by_name.cycles()     ? "sram"
               : by_name.passes == by_name.cycles() ? "mac_array"
                                                    : "links";
  return whole;
}

namespace {

class WorkByLine {
 public:
  explicit WorkByLine(const Plan& plan) : plan_(plan) {}

  void add(const Stage& stage, std::int64_t rows, std::span<const std::int64_t> positions) {
    for (std::size_t s = 0; s < stage.steps.size(); ++s) {
      const Step& step = stage.steps[s];
      const std::int32_t line = line_of_step(plan_, stage, static_cast<std::int32_t>(s));
      if (step.opcode == Opcode::kProject) {
        std::size_t vectors = 0;  // q, k and v are one step
        for (const Group& group : stage.groups) vectors += group.vectors.size();
        const std::int64_t outputs = static_cast<std::int64_t>(vectors) * plan_.head_columns;
        add(line, product_of(stage, stage.query_matrix, outputs), rows);
      } else if (step.opcode == Opcode::kHeads) {
        const std::uint64_t pushed = stage.groups.size() * positions.size();
        lines[line].bytes += pushed * 2 * u64(vector_bytes());
      } else if (step.opcode == Opcode::kProduct && step.first_column == 0) {
        const auto& boundary = stage.partitions[static_cast<std::size_t>(step.partition)].boundary;
        const std::int64_t outputs = boundary.back() - boundary.front();
        for (const int matrix : step.matrices) {
          add(line, product_of(stage, matrix, outputs), rows);
        }
      }
    }
    for (const Group& group : stage.groups) add_attention(stage, group, positions);
  }

  std::map<std::int32_t, LineWork> lines;

 private:
  LineWork& of(int operation) {
    return lines[operation < 0 ? 0 : plan_.lines[static_cast<std::size_t>(operation)]];
  }

  void add(std::int32_t line, const Product& product, std::int64_t rows) {
    lines[line].bytes += u64(bytes_of(product));
    lines[line].macs += u64(rows * product.rows * product.columns);
  }

  std::int64_t vector_bytes() const { return 2 * plan_.head_columns + 1; }

  void add_attention(const Stage& stage, const Group& group,
                     std::span<const std::int64_t> positions) {
    for (const std::int64_t position : positions) {
      const std::int64_t seen = visible(plan_, position);
      of(stage.attended).bytes += u64(seen * 2 * vector_bytes());
      of(stage.attended).macs += u64(2 * seen * group.queries * plan_.head_columns);
    }
  }

  const Plan& plan_;
};

}  // namespace

std::map<std::int32_t, LineWork> work_by_line(const Plan& plan,
                                              std::span<const std::int64_t> positions) {
  WorkByLine work(plan);
  for (const Stage& stage : plan.stages) {
    for (std::int64_t first = 0; first < stage.rows; first += plan.block_rows) {
      const std::int64_t rows = std::min<std::int64_t>(plan.block_rows, stage.rows - first);
      work.add(stage, rows, rows_of(stage, positions, first, rows));
    }
  }
  return std::move(work.lines);
}

}  // namespace logos::spatial
