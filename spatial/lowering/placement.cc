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
  // What a stage of a kind takes of a tile, in blocks of the size that is settled, or the least.
  std::int64_t layer_bytes(Blocks blocks, std::int64_t capacity) const {
    return sizes_.layer(placement_.layer_tiles, blocks, capacity).used;
  }
  /// A head with the embedding of a tied table beside it.
  std::int64_t head_bytes(std::int32_t tiles, Blocks blocks) const {
    return sizes_.head(tiles, blocks).used + sizes_.embedding(tiles, blocks, false).used;
  }
  /// Whether the tables' stages fit, whether or not they share the table.
  bool tables_fit(std::int32_t tiles, Blocks blocks) const {
    return head_bytes(tiles, blocks) <= config_.sram_bytes &&
           sizes_.embedding(tiles, blocks, true).used <= config_.sram_bytes;
  }

  /// The fewest tiles from `first` in steps for which `fits`; Error where even `most` do not.
  template <typename Fits, typename Describe>
  std::int32_t fewest(std::int32_t first, std::int32_t step, std::int32_t most, const Fits& fits,
                      std::string_view what, const Describe& describe) const {
    std::int32_t tiles = first;
    for (; tiles <= most; tiles += step) {
      if (fits(tiles)) return tiles;
    }
    refuse(what, tiles - step, describe(tiles - step));
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

  std::int32_t own_layer_tiles() const {
    const std::int32_t most = std::min(sizes_.most_layer_tiles(), mesh_tiles_);
    const auto needs = [&](std::int32_t tiles) { return sizes_.layer(tiles, kLeast, least_); };
    if (config_.layer_tiles > 0) {
      const std::int32_t tiles = std::min(config_.layer_tiles, most);
      return asked("layer_tiles", config_.layer_tiles, most, needs(tiles));
    }
    const std::int32_t heads = sizes_.key_heads() <= most ? sizes_.key_heads() : 1;
    const auto fits = [&](std::int32_t tiles) {
      const StageBytes bytes = needs(tiles);
      return bytes.used <= config_.sram_bytes && bytes.held <= config_.weight_bytes;
    };
    return fewest(heads, heads, most, fits, "a layer", needs);
  }

  std::int32_t own_table_tiles() const {
    const std::int32_t most = std::min(sizes_.most_table_tiles(), mesh_tiles_);
    const auto needs = [&](std::int32_t tiles) {
      const std::int64_t embedding = sizes_.embedding(tiles, kLeast, true).used;
      return StageBytes{sizes_.head(tiles, kLeast).held,
                        std::max(head_bytes(tiles, kLeast), embedding)};
    };
    if (config_.head_tiles > 0) {
      const std::int32_t tiles = std::min(config_.head_tiles, most);
      return asked("head_tiles", config_.head_tiles, most, needs(tiles));
    }
    const auto fits = [&](std::int32_t tiles) {
      const StageBytes bytes = needs(tiles);
      return bytes.used <= config_.sram_bytes && bytes.held <= config_.weight_bytes;
    };
    const std::int32_t first = std::min(placement_.layer_tiles, most);
    return fewest(first, 1, most, fits, "the head", needs);
  }

  /// The largest blocks for which `fits`; the least fit.
  template <typename Fits>
  void settle_blocks(const Fits& fits) {
    for (const Blocks blocks : sizes_.blocks()) {
      placement_.blocks = blocks;
      if (fits(blocks)) return;
    }
  }

  void place_own() {
    placement_.layer_tiles = own_layer_tiles();
    placement_.table_tiles = own_table_tiles();
    settle_blocks([&](Blocks blocks) {
      return layer_bytes(blocks, least_) <= config_.sram_bytes &&
             tables_fit(placement_.table_tiles, blocks);
    });
    stacks_ = {{1, 0}};
    const std::vector<Rectangle> shapes =
        rectangles(placement_.layer_tiles, config_.mesh.width, config_.mesh.height);
    const std::vector<Rectangle> table =
        rectangles(placement_.table_tiles, config_.mesh.width, config_.mesh.height);
    for (const Rectangle& shape : shapes) {
      Floor floor(config_.mesh.width, config_.mesh.height);
      std::vector<StagePlace> layers;
      for (std::int64_t n = 0; n < layers_; ++n) layers.push_back(floor.lay({shape}));
      const StagePlace first = floor.lay(table);
      const std::int32_t parts = floor.parts();
      if (placement_.parts != 0 && parts >= fewest_parts_) continue;
      fewest_parts_ = parts;
      placement_.layers = std::move(layers);
      placement_.embedding = first;
      placement_.head = tied_ ? first : floor.lay(table);
      placement_.parts = floor.parts();
    }
  }

  void place_shared() {
    placement_.layer_tiles = std::min(sizes_.most_layer_tiles(), mesh_tiles_);
    placement_.table_tiles = std::min(sizes_.most_table_tiles(), mesh_tiles_);
    const StageBytes layer = sizes_.layer(placement_.layer_tiles, kLeast, least_);
    const StageBytes head = sizes_.head(placement_.table_tiles, kLeast);
    const std::int64_t together =
        std::min({layers_, config_.sram_bytes / layer.used, config_.weight_bytes / layer.held});
    if (together == 0) refuse("a layer", placement_.layer_tiles, layer);
    if (!tables_fit(placement_.table_tiles, kLeast)) {
      refuse("the head", placement_.table_tiles, head);
    }
    settle_blocks([&](Blocks blocks) {
      return together * layer_bytes(blocks, least_) <= config_.sram_bytes &&
             tables_fit(placement_.table_tiles, blocks);
    });
    const Rectangle whole =
        rectangles(placement_.layer_tiles, config_.mesh.width, config_.mesh.height).front();
    for (std::int64_t n = 0; n < layers_; ++n) {
      const auto part = static_cast<std::int32_t>(n / together);
      placement_.layers.push_back({part, whole, 0});
      stacks_.resize(static_cast<std::size_t>(part) + 1);
      ++stacks_.back().layers;
    }
    stack_tables(layer.held);
    placement_.parts = static_cast<std::int32_t>(stacks_.size());
  }

  /// Onto the last chip with layers if there is room, else onto chips after it.
  void stack_tables(std::int64_t layer_held) {
    const Blocks blocks = placement_.blocks;
    const std::int32_t tiles = placement_.table_tiles;
    std::int64_t held = stacks_.back().layers * layer_held;
    const auto stack = [&](std::int64_t used, std::int64_t weights) {
      const std::int64_t layers = stacks_.back().layers * layer_bytes(blocks, least_);
      if (layers + stacks_.back().others + used > config_.sram_bytes ||
          held + weights > config_.weight_bytes) {
        stacks_.emplace_back();
        held = 0;
      }
      held += weights;
      stacks_.back().others += used;
      const Rectangle at = rectangles(tiles, config_.mesh.width, config_.mesh.height).front();
      return StagePlace{static_cast<std::int32_t>(stacks_.size()) - 1, at, 0};
    };
    const StageBytes head = sizes_.head(tiles, blocks);
    if (tied_) {
      placement_.head = stack(head_bytes(tiles, blocks), head.held);
      placement_.embedding = placement_.head;
    } else {
      const StageBytes embedding = sizes_.embedding(tiles, blocks, true);
      placement_.embedding = stack(embedding.used, embedding.held);
      placement_.head = stack(head.used, head.held);
    }
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
  bool tied_;
  std::int64_t layers_;
  std::int32_t mesh_tiles_;
  std::int64_t least_;  ///< positions of a cache
  Placement placement_;
  std::vector<Stack> stacks_;
  std::int32_t fewest_parts_ = 0;  ///< with one table; a second one changes no shape
};

}  // namespace

Placement place(const Facts& facts, const ChipConfig& config) {
  return Placer(facts, config).place();
}

}  // namespace logos::spatial
