#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace logos {

/// A program of a machine of tiles, in its rectangle.
struct StageUse {
  std::string name;       ///< "embedding", "layer 3", "head"; with its chip where it is split
  std::int64_t chip = 0;  ///< from 0
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  std::int64_t tiles = 0;
  std::int64_t sram_bytes = 0;     ///< of a tile, at most over its tiles
  std::uint64_t block_cycles = 0;  ///< of the slowest block of rows
};

/// A tile over a run; fractions of the run's cycles.
struct TileUse {
  int stage = -1;  ///< the first that it has, into MachineMap::stages; -1: none
  double sram_fill = 0;
  double mac_busy = 0;
  double vector_busy = 0;
  double port_busy = 0;  ///< of the SRAM's bytes per cycle
};

struct LinkUse {
  std::int64_t from = 0;  ///< tile
  std::int64_t to = 0;
  double busy = 0;
};

struct ChipUse {
  std::int64_t width = 0, height = 0;
  std::vector<TileUse> tiles;  ///< row by row
  std::vector<LinkUse> links;  ///< those that carried something
};

/// A link from a chip to the next one; chips from 0.
struct ChipLinkUse {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t bytes = 0;
  double busy = 0;
};

/// Where a machine of tiles keeps and does things, and which lines its time goes into.
struct MachineMap {
  std::vector<StageUse> stages;
  std::vector<ChipUse> chips;
  std::vector<ChipLinkUse> chip_links;  ///< those that carried something
  /// Of the chain of steps that led to the last output; by line of the placeholder form.
  std::map<std::int32_t, std::uint64_t> cycles_by_line;
};

}  // namespace logos
