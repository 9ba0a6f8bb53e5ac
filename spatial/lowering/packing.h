#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace logos::spatial {

/// Tiles on the mesh of one physical chip.
struct Rectangle {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;
};

/// Where a stage lies: on which of its text chip's physical chips, and where there.
struct StagePlace {
  std::int32_t part = 0;  ///< physical chip of its text chip, from 0
  Rectangle tiles;
  std::int64_t base = 0;  ///< first byte of each tile's SRAM
};

/// The rectangles of a mesh (none for 0) that hold `tiles` tiles with no whole row to spare,
/// nearest to a square first.
std::vector<Rectangle> rectangles(std::int32_t tiles, std::int32_t mesh_width,
                                  std::int32_t mesh_height);

/// Lays rectangles that never overlap onto chip after chip.
class Floor {
 public:
  Floor(std::int32_t width, std::int32_t height) : width_(width), height_(height) { next_chip(); }

  std::int32_t parts() const { return static_cast<std::int32_t>(taken_.size()); }
  /// Onto the last chip, in the first of the shapes that has room there; else onto a new one.
  /// Nowhere in particular where there is no shape.
  StagePlace lay(const std::vector<Rectangle>& shapes);

 private:
  std::optional<Rectangle> find(const Rectangle& shape) const;
  bool is_free(const Rectangle& at) const;
  void next_chip();

  std::int32_t width_;
  std::int32_t height_;
  std::vector<std::vector<bool>> taken_;  ///< [chip][tile]
};

}  // namespace logos::spatial
