#include <algorithm>
#include <array>
#include <optional>

#include "bench/configurations.h"
#include "bench/fits/fit.h"
#include "program/genuine.h"
#include "program/written.h"
#include "rtl/board/board_config.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/traffic.h"

namespace logos::bench {
namespace {

/// M20K blocks of the whole engine and of the card's region, as scripts/fit estimates them
/// (rtl/fit/README.md). That of 32/16 has not been estimated.
struct EngineBlocks {
  std::int64_t rows;
  std::int64_t mac_rows;
  std::int64_t m20k;
};
constexpr std::array<EngineBlocks, 3> kEngineBlocks = {
    {{1, 1, 1156}, {8, 8, 1338}, {16, 16, 2040}}};
constexpr std::int64_t kRegionBlocks = 8680;

std::optional<std::int64_t> blocks_of(const d5005::D5005Config& config) {
  for (const EngineBlocks& blocks : kEngineBlocks) {
    if (blocks.rows == config.rows && blocks.mac_rows == config.mac_rows) return blocks.m20k;
  }
  return std::nullopt;
}

/// Both peaks as the lane's own bound has them: 256 bytes a cycle of the banks, 256 products a
/// cycle and row of the array, of every board.
void add_bound(const d5005::D5005Config& config, const d5005::Plan& plan, const Cut& cut,
               Fit& fit) {
  Inputs inputs;
  inputs.positions = timed_positions(cut);
  if (plan.has_tokens) inputs.tokens.assign(static_cast<std::size_t>(cut.rows), 1);
  const d5005::Traffic traffic = d5005::traffic_of(plan, inputs);
  double bytes = 0;
  for (const std::uint64_t of_bank : traffic.ddr) bytes += static_cast<double>(of_bank);
  const auto boards = static_cast<double>(plan.boards.size());
  const double of_memory = bytes / (256 * config.board.clocks.bank_mhz * 1e6 * boards);
  const double of_products =
      static_cast<double>(traffic.weight_macs) /
      (256 * static_cast<double>(config.mac_rows) * config.board.clocks.engine_mhz * 1e6 * boards);
  fit.bound = of_memory >= of_products ? "ddr" : "mac_array";
  fit.bound_seconds = std::max(of_memory, of_products);
}

Fit fit_on(const d5005::D5005Config& config, const ModelSpec& spec, const Cut& cut,
           std::int64_t chips) {
  const Written written = written_split(spec, cut, chips);
  d5005::EngineSize engine = d5005::engine_size(config.rows, config.mac_rows);
  const std::int64_t there_is =
      std::min(engine.super_beats, static_cast<std::int64_t>(config.board.ddr4.bytes() / 64));
  engine.super_beats = std::int64_t{1} << 40;  // what is needed is asked, whatever there is
  const d5005::Plan plan =
      d5005::lower_programs(read_genuine(written.text, "program", written.identity), engine);
  Fit fit;
  std::int64_t most = 0;
  for (const d5005::BoardPlan& board : plan.boards) most = std::max(most, board.super_beats);
  fit.memories.push_back({"DDR of a board", "bytes", most * d5005::kSuperBeatBytes,
                          there_is * d5005::kSuperBeatBytes});
  if (const auto blocks = blocks_of(config)) {
    fit.memories.push_back({"M20K of the card (estimate)", "blocks", *blocks, kRegionBlocks});
  } else {
    fit.notes.emplace_back("the M20K of this engine have not been estimated (rtl/fit)");
  }
  fit.chips = fit.chips_are = chips;  // a board each
  add_bound(config, plan, cut, fit);
  return fit;
}

}  // namespace

FitLane d5005_fit(const Options& options) {
  const EngineRows rows = options.engine_rows.value_or(EngineRows{});
  d5005::engine_size(rows.rows, rows.mac_rows);  // refuses a size that there is none of
  const LaneConfig config = d5005::load_d5005_config(
      configuration_file(kBoards, options.board), options.board_settings, rows.rows, rows.mac_rows);
  return {"d5005", [config = d5005::parse_d5005_config(config.json)](
                       const ModelSpec& spec, const Cut& cut, std::int64_t chips) {
            return fit_on(config, spec, cut, chips);
          }};
}

}  // namespace logos::bench
