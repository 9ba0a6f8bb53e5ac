#include "bench/report_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bench/report.h"

namespace logos::bench {
namespace {

constexpr std::size_t kMostLinks = 3;
constexpr std::size_t kMostLines = 12;

/// The sign that stands for a program in a plan: they repeat after 62.
char sign_of(int stage) {
  constexpr std::string_view kSigns =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return stage < 0 ? '.' : kSigns[static_cast<std::size_t>(stage) % kSigns.size()];
}

/// Tenths, rounded up: a blank is a tile that did nothing.
char tenths(double fraction) {
  if (fraction <= 0) return ' ';
  return static_cast<char>('0' + std::min(9, static_cast<int>(std::ceil(fraction * 10)) - 1));
}

std::string plan_text(const ChipUse& chip) {
  std::string text;
  for (std::int64_t y = 0; y < chip.height; ++y) {
    std::string programs;
    std::string busy;
    for (std::int64_t x = 0; x < chip.width; ++x) {
      const TileUse& tile = chip.tiles[static_cast<std::size_t>(y * chip.width + x)];
      programs += sign_of(tile.stage);
      busy += tenths(tile.mac_busy);
    }
    const std::string line = fmt::format("    {}   {}", programs, busy);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string links_text(const ChipUse& chip) {
  std::vector<LinkUse> links = chip.links;
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.busy > b.busy; });
  if (links.size() > kMostLinks) links.resize(kMostLinks);
  std::string text;
  for (const LinkUse& link : links) {
    const std::string name = link.from == link.to
                                 ? fmt::format("into tile {}", link.to)
                                 : fmt::format("tile {} to {}", link.from, link.to);
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "    busiest links: " : ", ", name,
                        100 * link.busy);
  }
  return text.empty() ? "" : text + "\n";
}

std::string lines_text(const MachineMap& map, const std::vector<std::string>& lines) {
  std::vector<std::pair<std::int32_t, std::uint64_t>> sorted(map.cycles_by_line.begin(),
                                                             map.cycles_by_line.end());
  std::uint64_t sum = 0;
  for (const auto& [line, cycles] : sorted) sum += cycles;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "  lines of the program that its time goes into\n";
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostLines); ++i) {
    const auto& [line, cycles] = sorted[i];
    const auto index = static_cast<std::size_t>(line - 1);
    const std::string_view words =
        line >= 1 && index < lines.size() ? std::string_view(lines[index]) : "(no line)";
    text += fmt::format("    {:5.1f} %  {:>4}  {}\n",
                        100 * static_cast<double>(cycles) / static_cast<double>(sum), line,
                        words.substr(std::min(words.find_first_not_of(' '), words.size())));
  }
  return text;
}

}  // namespace

std::string map_text(const MachineMap& map, const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t c = 0; c < map.chips.size(); ++c) {
    const ChipUse& chip = map.chips[c];
    text += fmt::format(
        "  chip {} of {} x {} tiles: program, and how busy the MAC array was (9: all the time)\n",
        c, chip.width, chip.height);
    text += plan_text(chip) + links_text(chip);
    for (std::size_t s = 0; s < map.stages.size(); ++s) {
      const StageUse& stage = map.stages[s];
      if (stage.chip != static_cast<std::int64_t>(c)) continue;
      text += fmt::format(
          "    {} {:<22} {:>4} tiles, {} x {} at {}, {}; {} of SRAM a tile; {} cycles a block\n",
          sign_of(static_cast<int>(s)), stage.name, stage.tiles, stage.width, stage.height, stage.x,
          stage.y, human_bytes(static_cast<double>(stage.sram_bytes)),
          human_count(static_cast<double>(stage.block_cycles)));
    }
  }
  for (const ChipLinkUse& link : map.chip_links) {
    text += fmt::format("  from chip {} to chip {}: {}, {:.1f} % of the time\n", link.from, link.to,
                        human_bytes(static_cast<double>(link.bytes)), 100 * link.busy);
  }
  return text + lines_text(map, lines);
}

nlohmann::ordered_json map_json(const MachineMap& map) {
  using Json = nlohmann::ordered_json;
  Json stages = Json::array();
  for (const StageUse& stage : map.stages) {
    stages.push_back({{"name", stage.name},
                      {"chip", stage.chip},
                      {"at", {stage.x, stage.y}},
                      {"size", {stage.width, stage.height}},
                      {"tiles", stage.tiles},
                      {"sram_bytes", stage.sram_bytes},
                      {"block_cycles", stage.block_cycles}});
  }
  Json chips = Json::array();
  for (const ChipUse& chip : map.chips) {
    Json tiles = Json::array();
    for (const TileUse& tile : chip.tiles) {
      tiles.push_back({{"stage", tile.stage},
                       {"sram_fill", tile.sram_fill},
                       {"mac_busy", tile.mac_busy},
                       {"vector_busy", tile.vector_busy},
                       {"port_busy", tile.port_busy}});
    }
    Json links = Json::array();
    for (const LinkUse& link : chip.links) {
      links.push_back({{"from", link.from}, {"to", link.to}, {"busy", link.busy}});
    }
    chips.push_back({{"size", {chip.width, chip.height}}, {"tiles", tiles}, {"links", links}});
  }
  Json chip_links = Json::array();
  for (const ChipLinkUse& link : map.chip_links) {
    chip_links.push_back(
        {{"from", link.from}, {"to", link.to}, {"bytes", link.bytes}, {"busy", link.busy}});
  }
  Json by_line = Json::object();
  for (const auto& [line, cycles] : map.cycles_by_line) by_line[fmt::to_string(line)] = cycles;
  return {{"stages", stages},
          {"chips", chips},
          {"chip_links", chip_links},
          {"cycles_by_line", by_line}};
}

}  // namespace logos::bench
