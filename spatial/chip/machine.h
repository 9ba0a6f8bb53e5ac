#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/weights/rotary_table.h"
#include "spatial/chip/collector.h"
#include "spatial/chip/process.h"
#include "spatial/chip/run.h"
#include "spatial/chip/stage_map.h"
#include "spatial/chip/tile_state.h"
#include "spatial/chip/units.h"
#include "spatial/tile/tile_product.h"

namespace logos::spatial {

class Sequencer;

/// A tile of a chip: what its stages share.
struct ChipTile {
  explicit ChipTile(std::int64_t sram_bytes_per_cycle) : port(sram_bytes_per_cycle) {}

  SramPort port;
  Unit mac;
  Unit vector;
  Unit sender;
  std::uint64_t passes = 0;
  std::uint64_t macs = 0;
  std::uint64_t random = 0;  ///< state of its delays
  std::vector<Sequencer*> sequencers;
};

/// A stage in a run.
struct StageRun {
  StageRun(const Plan& plan, int index, const ChipConfig& config, const WeightStore& weights);

  const Stage& stage;
  std::int32_t index;
  StageMap map;
  std::vector<MatrixView> matrices;
  std::vector<std::span<const float>> vectors;
  std::vector<std::int64_t> positions;  ///< from 1, one a row; empty where the cut has none
  std::vector<std::unique_ptr<TileState>> tiles;
  std::vector<std::vector<Sequencer*>> sequencers;  ///< [tile][slot]
  std::vector<std::int32_t> senders;                ///< stages that send to it
  std::vector<Cycles> begin;                        ///< [block]
  std::vector<Cycles> end;                          ///< [block]
};

/// The chips of a run and all that their tiles share: who is told what when, the host's part, the
/// results.
class Machine {
  Threads own_threads_;

 public:
  Machine(const Plan& plan, const ChipConfig& config, const WeightStore& weights, Inputs& inputs,
          const ChipRun& options);
  ~Machine();

  RunReport run();

  // For sequencers.
  const Plan& plan;
  const ChipConfig& config;
  const ChipRun& options;
  Threads& threads;
  Transport transport;
  Collector collector;
  TileProduct product;  ///< its working memory; the tiles take turns
  float isq = 0;        ///< f32(1 / f32sqrt(head_columns))

  Cycles now() const;  ///< since the begin of the run
  StageRun& stage(int index) { return *stages_[static_cast<std::size_t>(index)]; }
  ChipTile& tile(std::int32_t chip, Node node) {
    return tiles_[static_cast<std::size_t>(chip)][static_cast<std::size_t>(node)];
  }
  /// A part of a message has come to a tile of its stage: written and counted.
  void receive(StageRun& run, std::int32_t tile, const MessagePart& part);
  /// A stage's leader has passed a block on: what the host feeds is full again.
  void entry_freed(StageRun& run, std::int32_t block, const Origin& by);
  void raise_fault(int operation);
  void show(std::int64_t row, std::int64_t column, std::span<const float> values);
  void result_ready(StageRun& run, std::int32_t block);
  /// Whether the planted early read strikes a wait of a tile now.
  bool reads_early(std::int32_t chip, Node node);
  void count_weights(std::int64_t bytes) {
    report_.weight_bytes += static_cast<std::uint64_t>(bytes);
  }
  void count_cache(std::int64_t bytes) { report_.kv_bytes += static_cast<std::uint64_t>(bytes); }
  void count_sent(std::int64_t bytes) { report_.link_bytes += static_cast<std::uint64_t>(bytes); }
  /// Keeps the first error; everything ends at its next chance.
  void fail(std::exception_ptr error);

 private:
  void add_stage(int index);
  void link_senders();
  void load_caches();
  void store_caches();
  template <typename Visit>
  void for_each_cache(const Visit& visit);
  void feed(StageRun& run, std::int32_t block, const Origin& by);
  void check_faults() const;
  void deliver(std::int32_t chip, Node node, const MessagePart& part);
  void drained(std::int32_t chip, Node node);
  void simulate();
  void advance(Cycles cycles);
  void unwind();
  void check_end();
  std::string who_waits() const;
  void collect();

  const WeightStore& weights_;
  Inputs& inputs_;
  Cycles epoch_ = 0;
  std::vector<std::vector<ChipTile>> tiles_;
  std::vector<std::unique_ptr<StageRun>> stages_;
  std::vector<std::unique_ptr<Sequencer>> sequencers_;
  RotaryTable rotary_;
  std::exception_ptr error_;
  bool read_early_ = false;
  RunReport report_;
};

}  // namespace logos::spatial
