#include "spatial/lowering/packing.h"

#include <algorithm>
#include <tuple>

#include "program/check.h"
#include "program/divide_up.h"

namespace logos::spatial {

std::vector<Rectangle> rectangles(std::int32_t tiles, std::int32_t mesh_width,
                                  std::int32_t mesh_height) {
  std::vector<Rectangle> found;
  for (std::int32_t width = 1; width <= std::min(mesh_width, tiles); ++width) {
    const std::int32_t height = divide_up(tiles, width);
    if (height <= mesh_height) found.push_back({0, 0, width, height});
  }
  const auto order = [](const Rectangle& r) {
    return std::tuple(r.width + r.height, r.width * r.height, -r.width);
  };
  std::sort(found.begin(), found.end(),
            [&](const Rectangle& a, const Rectangle& b) { return order(a) < order(b); });
  return found;
}

StagePlace Floor::lay(const std::vector<Rectangle>& shapes) {
  if (shapes.empty()) return {};
  for (int chip = 0; chip < 2; ++chip) {
    for (const Rectangle& shape : shapes) {
      const std::optional<Rectangle> found = find(shape);
      if (!found) continue;
      for (std::int64_t y = found->y; y < found->y + found->height; ++y) {
        for (std::int64_t x = found->x; x < found->x + found->width; ++x) {
          taken_.back()[static_cast<std::size_t>(y * width_ + x)] = true;
        }
      }
      return {parts() - 1, *found, 0};
    }
    next_chip();
  }
  CHECK_UNREACHABLE();  // every shape fits an empty chip
}

std::optional<Rectangle> Floor::find(const Rectangle& shape) const {
  for (std::int32_t y = 0; y + shape.height <= height_; ++y) {
    for (std::int32_t x = 0; x + shape.width <= width_; ++x) {
      const Rectangle at = {x, y, shape.width, shape.height};
      if (is_free(at)) return at;
    }
  }
  return std::nullopt;
}

bool Floor::is_free(const Rectangle& at) const {
  for (std::int64_t y = at.y; y < at.y + at.height; ++y) {
    for (std::int64_t x = at.x; x < at.x + at.width; ++x) {
      if (taken_.back()[static_cast<std::size_t>(y * width_ + x)]) return false;
    }
  }
  return true;
}

void Floor::next_chip() {
  taken_.emplace_back(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), false);
}

}  // namespace logos::spatial
