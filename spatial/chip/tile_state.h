#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/kv_cache.h"
#include "spatial/chip/message.h"
#include "spatial/chip/stage_map.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// The full/empty bit of a buffer's chunk in one slot, and how far it has come.
struct Fill {
  std::int32_t block = 0;  ///< that it is for
  std::int64_t got = 0;    ///< bytes
  Cycles ready = 0;        ///< when the last of them is written
  Origin last;             ///< what brought it
};

/// What a tile holds of one key head's cache of one sequence.
struct HeldCache {
  std::vector<std::int16_t> keys;    ///< [entries][head_columns]
  std::vector<std::int16_t> values;  ///< likewise
  std::vector<std::int8_t> key_exponents;
  std::vector<std::int8_t> value_exponents;
};

/// Rows of a stage that go through it together.
struct BlockRows {
  std::int32_t first = 0;
  std::int32_t count = 0;
};
BlockRows rows_of_block(const Plan& plan, const Stage& stage, std::int32_t block);
std::int32_t blocks_of(const Plan& plan, const Stage& stage);
/// Blocks that are in a stage at once.
std::int32_t slots_of(const Plan& plan, const Stage& stage);

/// A tile's memory in one stage, with the state of its buffers. What stands in weights' place is a
/// view of the store. Memory is real where something is written: caches only as far as the run's
/// positions reach.
class TileState {
 public:
  /// `positions`: from 1, one a row of the stage; empty where the cut has none.
  TileState(const Plan& plan, const Stage& stage, const StageMap& map, std::int32_t tile,
            std::span<const std::int64_t> positions, std::uint32_t fill);

  const Stage& stage() const { return stage_; }
  const TileMap& map() const { return map_.tiles[static_cast<std::size_t>(tile_)]; }
  std::int32_t tile() const { return tile_; }
  bool leads() const { return tile_ == stage_.leader; }
  /// "tile 3 of layer 2" (its stage), for errors.
  std::string name() const;

  /// Row `row` of a block in an area or a buffer whose rows are `row_bytes` apart.
  std::byte* row(int area, std::int32_t block, std::int64_t row, std::int64_t row_bytes);
  std::byte* buffer_row(int buffer, std::int32_t block, std::int64_t row);
  template <typename T>
  T* as(int area, std::int32_t block) {
    return reinterpret_cast<T*>(row(area, block, 0, 0));
  }

  /// Bytes that fill a chunk of a buffer for a block.
  std::int64_t due(int buffer, std::int32_t chunk, std::int32_t block) const;
  bool full(int buffer, std::int32_t chunk, std::int32_t block) const;
  const Fill& fill(int buffer, std::int32_t chunk, std::int32_t block) const;
  /// Throws Error where a chunk is read before it is full.
  void require_full(int buffer, std::int32_t chunk, std::int32_t block,
                    std::string_view step) const;
  /// Writes a part of a message; true where it filled its chunk. Throws Error for what comes too
  /// early or is too much.
  bool write(const Message& message, std::int64_t begin, std::int64_t end, Cycles ready);
  /// Bytes come from outside the chips.
  void write_whole(int buffer, std::int32_t block, std::span<const std::byte> bytes, Cycles ready,
                   const Origin& by);
  /// Throws Error for a buffer that is not full.
  void release(int buffer, std::int32_t block);
  /// "" or what of the buffers is not empty after the last block.
  std::string unfinished() const;

  // The caches of the groups that the tile serves, [served group][sequence].
  HeldCache& cache(std::int32_t served, std::int64_t sequence) {
    return caches_[static_cast<std::size_t>(served * sequences_ + sequence)];
  }
  std::int64_t reach() const { return reach_; }  ///< entries of a cache
  /// [queries of all served groups][Stage::cache_entries] of a row.
  float* scores(std::int32_t block, std::int64_t row);
  /// A part of a key or value comes; true where it was the last one for its block.
  bool write_cache(const Message& message, std::int64_t begin, std::int64_t end, Cycles ready);
  /// Whether all keys and values of rows up to a block's last have come.
  bool cache_complete(std::int32_t block) const;
  void require_cache(std::int32_t block, std::string_view step) const;
  const Fill& cache_fill(std::int32_t block) const {
    return cache_fills_[static_cast<std::size_t>(block)];
  }

  // What messages without rows count, at leaders and senders.
  std::vector<std::int32_t> done;   ///< leader: tiles that have done with a block
  std::vector<Fill> credits;        ///< [next stage]: `got` credits of it
  std::vector<Origin> done_origin;  ///< leader: of the last of them

 private:
  Fill& fill_of(int buffer, std::int32_t chunk, std::int32_t block);
  void check_arrival(const Message& message, std::int64_t bytes);
  void copy(const Message& message, std::int64_t begin, std::int64_t end);
  void lay_memory(std::uint32_t fill);
  void find_overlaps();

  const Plan& plan_;
  const Stage& stage_;
  const StageMap& map_;
  std::int32_t tile_;
  std::int64_t sequences_ = 0;
  std::int64_t reach_ = 0;
  std::int64_t origin_ = 0;  ///< where the memory begins in the tile's SRAM
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::int64_t bytes_ = 0;                  ///< of memory_
  std::vector<std::vector<int>> overlaps_;  ///< [buffer] others that lie over it
  std::vector<std::vector<Fill>> fills_;    ///< [buffer][slot * chunks + chunk]
  std::vector<HeldCache> caches_;
  std::vector<std::int64_t> cache_due_;  ///< [block] bytes of keys and values
  std::vector<Fill> cache_fills_;        ///< [block]
};

}  // namespace logos::spatial
