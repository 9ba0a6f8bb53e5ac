#include "spatial/lowering/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/error.h"

namespace logos::spatial {
namespace {

constexpr Blocks kLeast = {1, 1};
constexpr std::int64_t kMostPositions = std::int64_t{1} << 24;

/// Stages one above the other in the same tiles: layers, and the bytes of a head and an embedding.
struct Stack {
  std::int64_t layers = 0;
  std::int64_t others = 0;
};

class Placer {
 public:
  Placer(const Facts& facts, const ChipConfig& config)
      : config_(config),
        sizes_(facts, config),
        part_(facts.cut.part),
        tied_(facts.spec.tied_head),
        layers_(facts.spec.layers),
        mesh_tiles_(config.mesh.width * config.mesh.height),
        least_(sizes_.least_capacity()) {}

  Placement place() {
    if (config_.placement == PlacementKind::kShared) {
      place_shared();
    } else {
      place_own();
    }
    placement_.capacity = most_capacity();
    set_bases();
    return std::move(placement_);
  }

 private:
  bool has_layers() const { return part_ == Cut::Part::kWhole || part_ == Cut::Part::kLayer; }
  bool has_tables() const { return part_ != Cut::Part::kLayer; }

  // What stages take of a tile; nothing where they were left out.
  std::int64_t layer_bytes(Blocks blocks, std::int64_t capacity) const {
    if (placement_.layer_tiles == 0) return 0;
    return sizes_.layer(placement_.layer_tiles, blocks, capacity).used;
  }
  /// A head with the embedding of a tied table beside it.
  std::int64_t head_bytes(std::int32_t tiles, Blocks blocks) const {
    return sizes_.head(tiles, blocks).used + sizes_.embedding(tiles, blocks, false).used;
  }
  /// Whether the tables' stages fit, whether or not they share the table.
  bool tables_fit(std::int32_t tiles, Blocks blocks) const {
    if (tiles == 0) return true;
    return head_bytes(tiles, blocks) <= config_.sram_bytes &&
           sizes_.embedding(tiles, blocks, true).used <= config_.sram_bytes;
  }

  /// The fewest tiles from `first` to `most` in steps for which `fits`; 0 where none do.
  template <typename Fits>
  static std::int32_t fewest(std::int32_t first, std::int32_t step, std::int32_t most,
                             const Fits& fits) {
    for (std::int32_t tiles = first; tiles <= most; tiles += step) {
      if (fits(tiles)) return tiles;
    }
    return 0;
  }
  bool fits_tile(const StageBytes& bytes) const {
    return bytes.used <= config_.sram_bytes && bytes.held <= config_.weight_bytes;
  }

  [[noreturn]] void refuse(std::string_view what, std::int32_t tiles, StageBytes needs) const {
    throw Error(
        fmt::format("spatial: {}", what), "does not fit a chip",
        fmt::format("{} bytes, {} of them weights, on each of {} tiles (the most that it "
                    "can use of {} x {})",
                    needs.used, needs.held, tiles, config_.mesh.width, config_.mesh.height),
        fmt::format("{} bytes, {} of them weights", config_.sram_bytes, config_.weight_bytes));
  }

  /// A number of tiles that was asked for.
  std::int32_t asked(std::string_view key, std::int32_t tiles, std::int32_t most,
                     const StageBytes& needs) const {
    if (tiles > most) {
      throw Error(fmt::format("chip.{}", key), "more tiles than it can use", fmt::to_string(tiles),
                  fmt::format("{} at most", most));
    }
    if (needs.used > config_.sram_bytes) {
      throw Error(fmt::format("chip.{}", key), "too few tiles",
                  fmt::format("{} bytes on each of {}", needs.used, tiles),
                  fmt::format("{} bytes at most", config_.sram_bytes));
    }
    return tiles;
  }

  /// 0 where a layer fits no chip and the cut has none.
  std::int32_t own_layer_tiles() const {
    const std::int32_t most = std::min(sizes_.most_layer_tiles(), mesh_tiles_);
    const auto needs = [&](std::int32_t tiles) { return layer_needs(tiles); };
    if (most == 0) return 0;  // a part without layers, of which some text chip has no share
    if (config_.layer_tiles > 0) {
      const std::int32_t tiles = std::min(config_.layer_tiles, most);
      return asked("layer_tiles", config_.layer_tiles, most, needs(tiles));
    }
    const std::int32_t heads = sizes_.key_heads() <= most ? sizes_.key_heads() : 1;
    const std::int32_t tiles =
        fewest(heads, heads, most, [&](std::int32_t tried) { return fits_tile(needs(tried)); });
    if (tiles == 0 && has_layers()) refuse("a layer", most, needs(most));
    return tiles;
  }

  /// 0 where a table fits no chip and the cut has none.
  std::int32_t own_table_tiles() const {
    const std::int32_t most = std::min(sizes_.most_table_tiles(), mesh_tiles_);
    if (most == 0) return 0;  // a layer alone, and a text chip has no share of the tables
    if (config_.head_tiles > 0) {
      const std::int32_t tiles = std::min(config_.head_tiles, most);
      return asked("head_tiles", config_.head_tiles, most, table_needs(tiles));
    }
    const std::int32_t first = std::min(std::max(placement_.layer_tiles, 1), most);
    const std::int32_t tiles =
        fewest(first, 1, most, [&](std::int32_t tried) { return fits_tile(table_needs(tried)); });
    if (tiles == 0 && has_tables()) refuse("the head", most, table_needs(most));
    return tiles;
  }
  /// Of a layer's stage on so many tiles; nothing on none.
  StageBytes layer_needs(std::int32_t tiles) const {
    return tiles == 0 ? StageBytes{} : sizes_.layer(tiles, kLeast, least_);
  }
  /// Of the tables' stages, whether or not they share the table; nothing on none.
  StageBytes table_needs(std::int32_t tiles) const {
    if (tiles == 0) return {};
    const std::int64_t embedding = sizes_.embedding(tiles, kLeast, true).used;
    return {sizes_.head(tiles, kLeast).held, std::max(head_bytes(tiles, kLeast), embedding)};
  }

  /// The largest blocks with which so many layers fit a tile, and a table; the least do.
  void settle_blocks(std::int64_t layers_of_tile) {
    for (const Blocks blocks : sizes_.blocks()) {
      placement_.blocks = blocks;
      const bool layers_fit = layers_of_tile * layer_bytes(blocks, least_) <= config_.sram_bytes;
      if (layers_fit && tables_fit(placement_.table_tiles, blocks)) return;
    }
  }

  std::vector<Rectangle> shapes_of(std::int32_t tiles) const {
    return rectangles(tiles, config_.mesh.width, config_.mesh.height);
  }

  void place_own() {
    placement_.layer_tiles = own_layer_tiles();
    placement_.table_tiles = own_table_tiles();
    settle_blocks(1);
    stacks_ = {{1, 0}};
    std::vector<Rectangle> shapes = shapes_of(placement_.layer_tiles);
    if (shapes.empty()) shapes.emplace_back();
    std::int32_t fewest_chips = 0;  // with one table: a second changes no shape
    for (const Rectangle& shape : shapes) {
      Floor floor(config_.mesh.width, config_.mesh.height);
      std::vector<StagePlace> layers;
      for (std::int64_t n = 0; n < layers_; ++n) layers.push_back(floor.lay({shape}));
      const StagePlace table = floor.lay(shapes_of(placement_.table_tiles));
      if (fewest_chips != 0 && floor.parts() >= fewest_chips) continue;
      fewest_chips = floor.parts();
      placement_.layers = std::move(layers);
      placement_.embedding = table;
      placement_.head = tied_ ? table : floor.lay(shapes_of(placement_.table_tiles));
      placement_.parts = floor.parts();
    }
  }

  /// As many as a stage can use, 0 where they do not hold it and the cut has none.
  std::int32_t shared_tiles(std::int32_t most, bool needed, std::string_view what,
                            const StageBytes& bytes) const {
    if (fits_tile(bytes)) return most;
    if (needed) refuse(what, most, bytes);
    return 0;
  }

  void place_shared() {
    const std::int32_t most_layer = std::min(sizes_.most_layer_tiles(), mesh_tiles_);
    const std::int32_t most_table = std::min(sizes_.most_table_tiles(), mesh_tiles_);
    const StageBytes layer = layer_needs(most_layer);
    placement_.layer_tiles = shared_tiles(most_layer, has_layers(), "a layer", layer);
    placement_.table_tiles =
        shared_tiles(most_table, has_tables(), "the head", table_needs(most_table));
    const std::int64_t together = placement_.layer_tiles == 0
                                      ? layers_
                                      : std::min({layers_, config_.sram_bytes / layer.used,
                                                  config_.weight_bytes / layer.held});
    settle_blocks(together);
    std::vector<Rectangle> shapes = shapes_of(placement_.layer_tiles);
    if (shapes.empty()) shapes.emplace_back();
    for (std::int64_t n = 0; n < layers_; ++n) {
      const auto part = static_cast<std::int32_t>(n / together);
      placement_.layers.push_back({part, shapes.front(), 0});
      stacks_.resize(static_cast<std::size_t>(part) + 1);
      ++stacks_.back().layers;
    }
    if (placement_.table_tiles > 0) stack_tables(layer.held);
    placement_.parts = static_cast<std::int32_t>(stacks_.size());
  }

  /// Onto the last chip with layers if there is room, else onto chips after it.
  void stack_tables(std::int64_t layer_held) {
    const Blocks blocks = placement_.blocks;
    const std::int32_t tiles = placement_.table_tiles;
    std::int64_t held = placement_.layer_tiles == 0 ? 0 : stacks_.back().layers * layer_held;
    const auto stack = [&](std::int64_t used, std::int64_t weights) {
      const std::int64_t layers = stacks_.back().layers * layer_bytes(blocks, least_);
      if (layers + stacks_.back().others + used > config_.sram_bytes ||
          held + weights > config_.weight_bytes) {
        stacks_.emplace_back();
        held = 0;
      }
      held += weights;
      stacks_.back().others += used;
      const auto part = static_cast<std::int32_t>(stacks_.size()) - 1;
      return StagePlace{part, shapes_of(tiles).front(), 0};
    };
    // An embedding's text does not say whether the head has its table: room for both.
    const StageBytes head = sizes_.head(tiles, blocks);
    const StageBytes embedding = sizes_.embedding(tiles, blocks, true);
    placement_.embedding = stack(std::max(head_bytes(tiles, blocks), embedding.used), head.held);
    placement_.head = tied_ ? placement_.embedding : stack(head.used, head.held);
  }

  /// A cut's own, or for a chunk, whose run decides, what the tiles still hold.
  std::int64_t most_capacity() const {
    if (sizes_.share().context > 0) return least_;
    const auto fits = [&](std::int64_t capacity) {
      const std::int64_t layer = layer_bytes(placement_.blocks, capacity);
      return std::all_of(stacks_.begin(), stacks_.end(), [&](const Stack& stack) {
        return stack.layers * layer + stack.others <= config_.sram_bytes;
      });
    };
    std::int64_t holds = least_;
    std::int64_t too_many = std::max(least_, kMostPositions) + 1;
    while (too_many - holds > 1) {
      const std::int64_t middle = (holds + too_many) / 2;
      (fits(middle) ? holds : too_many) = middle;
    }
    return holds;
  }

  void set_bases() {
    const Blocks blocks = placement_.blocks;
    const std::int32_t tiles = placement_.table_tiles;
    const bool shared = config_.placement == PlacementKind::kShared;
    std::vector<std::int64_t> next(static_cast<std::size_t>(placement_.parts), 0);
    const auto stack = [&](StagePlace& place, std::int64_t bytes) {
      std::int64_t& at = next[static_cast<std::size_t>(place.part)];
      if (shared) place.base = at;
      at += bytes;
    };
    const std::int64_t layer = layer_bytes(blocks, placement_.capacity);
    for (StagePlace& place : placement_.layers) stack(place, layer);
    if (tiles == 0) return;
    const std::int64_t head = sizes_.head(tiles, blocks).used;
    if (tied_) {
      stack(placement_.head, head);
      placement_.embedding.base = placement_.head.base + head;
    } else {
      stack(placement_.embedding, sizes_.embedding(tiles, blocks, true).used);
      stack(placement_.head, head);
    }
  }

  const ChipConfig& config_;
  Sizes sizes_;
  Cut::Part part_;
  bool tied_;
  std::int64_t layers_;
  std::int32_t mesh_tiles_;
  std::int64_t least_;  ///< positions of a cache
  Placement placement_;
  std::vector<Stack> stacks_;
};

}  // namespace

Placement place(const Facts& facts, const ChipConfig& config) {
  return Placer(facts, config).place();
}

}  // namespace logos::spatial
