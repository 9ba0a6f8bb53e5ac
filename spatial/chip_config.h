#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sim/lane.h"
#include "spatial/network/network.h"

namespace logos::spatial {

/// An operation of the vector unit on `lanes` elements: a new such set every `interval` cycles,
/// each done after `latency`.
struct VectorOperation {
  std::int32_t interval = 1;
  std::int32_t latency = 1;
};

enum class PlacementKind { kOwn, kShared };
enum class NetworkModel { kFlit, kPacket };
enum class Topology { kLine, kRing };

/// configs/chips/*.json: a chip, and how several stand together. Every key is present in the file,
/// unknown ones are refused; `sources` there says where each number comes from.
struct ChipConfig {
  std::string name;
  double clock_hz = 0;

  MeshConfig mesh;
  std::int32_t link_bytes = 0;  ///< of a flit: what a link carries a cycle
  NetworkModel network = NetworkModel::kFlit;

  std::int64_t sram_bytes = 0;    ///< of a tile
  std::int64_t weight_bytes = 0;  ///< weight_fraction of them: what matrices and gains take at most
                                  ///< where tiles are as few as can be
  std::int32_t sram_bytes_per_cycle = 0;  ///< shared by everything that reads or writes it

  std::int32_t mac_rows = 0;  ///< weight rows that the array works on at once
  std::int32_t mac_columns =
      0;  ///< columns of each; mac_rows x mac_columns multipliers of 8x16 bits
  std::int32_t mac_latency = 0;    ///< from the last operand to the sum
  std::int32_t operand_bytes = 0;  ///< what the array holds of its activations

  std::int32_t vector_lanes = 0;
  std::int32_t vector_bytes = 0;  ///< its registers: rows kept from one pass over them to the next
  VectorOperation maximum;        ///< the largest of |x| bits, or of scores
  VectorOperation square;         ///< R(x), its square, the sum
  VectorOperation scale;          ///< norm: two multiplications and the largest so far
  VectorOperation quantize;       ///< R(x, s) and the clamp
  VectorOperation convert;        ///< F(acc) * D, with its bias
  VectorOperation add;            ///< residual; an addition of sums or partial results
  VectorOperation rotate;
  VectorOperation exponential;  ///< exp_neg, R(p, 23), the weight
  VectorOperation silu;         ///< SiLU(gate) * up
  VectorOperation root;         ///< the chain of a norm's scalars: F, divide, square root, divide
  VectorOperation divide;       ///< attention's last division and multiplication

  PlacementKind placement = PlacementKind::kOwn;
  std::int32_t layer_tiles = 0;  ///< tiles of a layer's region; 0: as few as hold it
  std::int32_t head_tiles = 0;   ///< likewise of the head, and of an untied embedding
  std::int32_t block_rows = 0;   ///< the most rows that go through a region together
  std::int32_t streams = 0;      ///< blocks of rows in a region at once

  std::int32_t chips = 0;
  Topology topology = Topology::kLine;
  double chip_link_bytes_per_second = 0;  ///< each direction
  double chip_link_seconds = 0;           ///< latency
  double host_link_bytes_per_second = 0;
  double host_link_seconds = 0;
};

/// KEY and VALUE of `--set chip.KEY=VALUE`, without `chip.`.
using ChipSetting = std::pair<std::string, std::string>;

/// The lane's configuration as canonical JSON, from a chip's file with settings applied.
LaneConfig load_chip_config(const std::filesystem::path& file,
                            std::span<const ChipSetting> settings);
/// Reads it back. Both throw Error naming the key for a missing, unknown, ill-typed or impossible
/// one.
ChipConfig parse_chip_config(std::string_view text);

}  // namespace logos::spatial
