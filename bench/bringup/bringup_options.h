#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace logos::bench {

enum class BoardKind { kSim, kOpae };

/// The command line of `bringup`, checked as far as that goes without a board.
struct BringupOptions {
  BoardKind board = BoardKind::kSim;
  std::string library;                ///< of OPAE; "" for the one that the loader finds
  std::vector<std::string> faults;    ///< UNIT:KIND@CYCLE
  std::optional<std::uint32_t> fill;  ///< what unused memory holds; noise by seed where not given
  std::vector<std::pair<std::string, std::string>> board_settings;  ///< --set board.SECTION.KEY=V
  std::optional<std::uint64_t> stalls;
  std::uint64_t seed = 1;
  int soak_steps = 24;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> junit;
  std::optional<std::filesystem::path> export_to;
  std::optional<std::filesystem::path> replay_from;
  bool list = false;
};

/// Options, or a text to print (--help). Throws Error for everything that is wrong.
struct BringupParsed {
  std::optional<BringupOptions> options;
  std::string usage;
};
BringupParsed parse_bringup_options(const std::vector<std::string>& arguments);

}  // namespace logos::bench
