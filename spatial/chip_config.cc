#include "spatial/chip_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/config_json.h"
#include "program/error.h"
#include "sim/sourced_section.h"

namespace logos::spatial {
namespace {

using nlohmann::json;

constexpr int kMostCycles = 1'000'000;
constexpr double kHighestRate = 1e6;

/// Reads the flat keys of a chip; each is named in the Error that refuses it.
class ChipReader {
 public:
  ChipReader(const json& section, std::string_view where)
      : section_(section, where), where_(where) {}

  ChipConfig read() {
    ChipConfig chip;
    chip.clock_hz = section_.number("clock_mhz", 1, 100'000) * 1e6;
    read_mesh(chip);
    read_tile(chip);
    read_vector_unit(chip);
    read_placement(chip);
    read_links(chip);
    section_.finish();
    return chip;
  }

 private:
  int whole(const char* key, int lowest, int highest) {
    const int value = section_.integer(key);
    if (value < lowest || value > highest) {
      throw Error(fmt::format("{}.{}", where_, key), "out of range", fmt::to_string(value),
                  fmt::format("{} to {}", lowest, highest));
    }
    return value;
  }

  void read_mesh(ChipConfig& chip) {
    chip.mesh.width = whole("mesh_width", 1, 256);
    chip.mesh.height = whole("mesh_height", 1, 256);
    chip.mesh.router_cycles = whole("router_cycles", 1, 64);
    chip.mesh.link_cycles = whole("link_cycles", 1, 64);
    // A router keeps a bit for each of its 5 x virtual channels in one word.
    chip.mesh.virtual_channels = whole("virtual_channels", 1, 12);
    chip.mesh.buffer_flits = whole("buffer_flits", 2, 4096);
    chip.link_bytes = whole("link_bytes", 8, 4096);
    const bool flits = section_.choice("network", "flit", "packet");
    chip.network = flits ? NetworkModel::kFlit : NetworkModel::kPacket;
  }

  void read_tile(ChipConfig& chip) {
    chip.sram_bytes = whole("sram_bytes", 1024, 1 << 30);
    const double fraction = section_.number("weight_fraction", 0.01, 1);
    chip.weight_bytes = static_cast<std::int64_t>(fraction * static_cast<double>(chip.sram_bytes));
    chip.sram_bytes_per_cycle = whole("sram_bytes_per_cycle", 1, 65536);
    chip.mac_rows = whole("mac_rows", 1, 4096);
    chip.mac_columns = whole("mac_columns", 1, 4096);
    chip.mac_latency = whole("mac_latency", 0, kMostCycles);
    chip.operand_bytes = whole("operand_bytes", 64, 1 << 30);
  }

  VectorOperation operation(const std::string& name) {
    VectorOperation operation;
    operation.interval = whole((name + "_interval").c_str(), 1, kMostCycles);
    operation.latency = whole((name + "_latency").c_str(), 1, kMostCycles);
    return operation;
  }

  void read_vector_unit(ChipConfig& chip) {
    chip.vector_lanes = whole("vector_lanes", 1, 65536);
    chip.vector_bytes = whole("vector_bytes", 0, 1 << 30);
    chip.maximum = operation("maximum");
    chip.square = operation("square");
    chip.scale = operation("scale");
    chip.quantize = operation("quantize");
    chip.convert = operation("convert");
    chip.add = operation("add");
    chip.rotate = operation("rotate");
    chip.exponential = operation("exponential");
    chip.silu = operation("silu");
    chip.root = operation("root");
    chip.divide = operation("divide");
  }

  void read_placement(ChipConfig& chip) {
    const bool own = section_.choice("placement", "own", "shared");
    chip.placement = own ? PlacementKind::kOwn : PlacementKind::kShared;
    const int tiles = chip.mesh.width * chip.mesh.height;
    chip.layer_tiles = whole("layer_tiles", 0, tiles);
    chip.head_tiles = whole("head_tiles", 0, tiles);
    const auto refuse_own = [&](const char* key, std::int32_t value) {
      if (own || value == 0) return;
      throw Error(fmt::format("{}.{}", where_, key), "tiles of its own where placement is shared",
                  fmt::to_string(value), "0, or placement own");
    };
    refuse_own("layer_tiles", chip.layer_tiles);
    refuse_own("head_tiles", chip.head_tiles);
    chip.block_rows = whole("block_rows", 1, 1024);
    chip.streams = whole("streams", 1, 16);
  }

  void read_links(ChipConfig& chip) {
    chip.chips = whole("chips", 1, kMostChips);
    const bool line = section_.choice("topology", "line", "ring");
    chip.topology = line ? Topology::kLine : Topology::kRing;
    chip.chip_link_bytes_per_second =
        section_.number("chip_link_gb_per_s", 1e-3, kHighestRate) * 1e9;
    chip.chip_link_seconds = section_.number("chip_link_ns", 0, kHighestRate) * 1e-9;
    chip.host_link_bytes_per_second =
        section_.number("host_link_gb_per_s", 1e-3, kHighestRate) * 1e9;
    chip.host_link_seconds = section_.number("host_link_ns", 0, kHighestRate) * 1e-9;
  }

  SourcedSection section_;
  std::string where_;
};

ChipConfig read_chip(const json& root, std::string_view where) {
  if (!root.is_object()) throw Error(where, "not an object", root.type_name(), "an object of keys");
  const auto name = root.find("name");
  if (name == root.end()) throw Error(fmt::format("{}.name", where), "missing key");
  if (!name->is_string()) {
    throw Error(fmt::format("{}.name", where), "wrong type", name->dump(), "a string");
  }
  json keys = root;
  keys.erase("name");
  ChipConfig chip = ChipReader(keys, where).read();
  chip.name = name->get<std::string>();
  return chip;
}

}  // namespace

LaneConfig load_chip_config(const std::filesystem::path& file,
                            std::span<const ChipSetting> settings) {
  json root = parse_sourced_file(file);
  read_chip(root, file.string());  // the file's own faults first
  for (const auto& [key, value] : settings) {
    const std::string option = fmt::format("--set chip.{}={}", key, value);
    if (key == "name") throw Error(option, "cannot be set");
    set_value(root, key, value, option);
    root[key]["source"] = "--set";
  }
  // Together: a smaller mesh and fewer tiles of a layer may be possible only both.
  if (!settings.empty()) read_chip(root, "--set chip");
  return LaneConfig{root.dump()};
}

ChipConfig parse_chip_config(std::string_view text) {
  return read_chip(json::parse(text, nullptr, /*allow_exceptions=*/false), "chip configuration");
}

}  // namespace logos::spatial
