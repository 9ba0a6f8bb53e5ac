#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/timing.h"
#include "spatial/chip/message.h"
#include "spatial/network/chip_links.h"
#include "spatial/network/network.h"

namespace logos::spatial {

/// An executed step of a tile. Times count from the begin of the run.
struct StepRecord {
  Cycles start = 0;
  Cycles end = 0;
  std::int32_t step = 0;  ///< of the stage's schedule
  std::int32_t block = 0;
  Category bound = Category::kIdle;  ///< what its time went into
  Origin cause;                      ///< of what it waited for last, where it had to
};

/// What one sequencer did: block after block, its stage's schedule.
struct SequencerTrace {
  std::int32_t stage = 0;
  std::int32_t tile = 0;
  std::int32_t slot = 0;
  std::vector<StepRecord> records;
};

/// A block of rows in a stage: from the leader's full entry to the last tile's result.
struct StageTime {
  std::int32_t stage = 0;
  std::int32_t block = 0;
  Cycles begin = 0;
  Cycles end = 0;
};

/// A tile of a chip over the whole run.
struct TileReport {
  Cycles mac_busy = 0;
  Cycles vector_busy = 0;
  Cycles sender_busy = 0;
  std::uint64_t sram_bytes = 0;
  std::uint64_t passes = 0;  ///< of the MAC array
  std::uint64_t macs = 0;    ///< useful ones
};

/// What links carried over time: sample i in the cycles [i, i + 1) * stretch.
struct LinkTime {
  Cycles stretch = 0;
  std::vector<std::vector<std::vector<std::uint32_t>>> flits;  ///< [sample][chip][link of `links`]
  std::vector<std::vector<std::uint64_t>> chip_link_cycles;    ///< [sample][chip link]: busy
};

struct RunReport {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> outputs;  ///< `[rows, columns]`
  std::optional<int> fault;    ///< the first operation, in program order, that raised FAULT
  Cycles cycles = 0;  ///< from time zero to the end of the last step, with every output in a tile
  std::vector<StageTime> stage_times;          ///< by stage, then block
  std::vector<std::vector<TileReport>> tiles;  ///< [chip][tile]
  std::vector<std::vector<LinkLoad>> links;    ///< [chip]
  std::vector<ChipLinkLoad> chip_links;
  std::uint64_t weight_bytes = 0;  ///< read from SRAM for products
  std::uint64_t kv_bytes = 0;      ///< of caches, read and written
  std::uint64_t link_bytes = 0;    ///< sent into meshes by tiles
  std::uint64_t host_bytes = 0;    ///< headings, rotary rows and given rows, at no cost in time
  std::vector<SequencerTrace> traces;
  LinkTime link_time;                 ///< where the run was asked for it
  std::vector<std::string> warnings;  ///< of the networks
};

}  // namespace logos::spatial
