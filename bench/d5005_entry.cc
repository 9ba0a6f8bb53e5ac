#include "bench/d5005_entry.h"

#include <fmt/format.h>

#include <utility>

#include "bench/configurations.h"
#include "rtl/board/fault.h"
#include "rtl/lowering/plan.h"

namespace logos::bench {

LaneEntry d5005_entry(const Options& options, d5005::D5005LaneOptions lane_options) {
  const EngineRows rows = options.engine_rows.value_or(EngineRows{});
  d5005::engine_size(rows.rows, rows.mac_rows);  // refuses a size that there is none of
  for (const std::string& fault : options.faults) {
    d5005::BoardOptions unused;
    d5005::plant_fault(fault, unused);  // refuses one that there is none of
    lane_options.faults.push_back(fault);
  }
  return {"d5005", std::make_unique<d5005::D5005Lane>(std::move(lane_options)),
          d5005::load_d5005_config(configuration_file(kBoards, options.board),
                                   options.board_settings, rows.rows, rows.mac_rows)};
}

std::string d5005_faults() {
  std::string text;
  for (const d5005::FaultKind& kind : d5005::fault_kinds()) {
    const std::string_view number = kind.unit == "bank" ? "0-3" : "";
    text += fmt::format("  {:<20} {}\n", fmt::format("{}{}:{}", kind.unit, number, kind.kind),
                        kind.effect);
  }
  return text;
}

}  // namespace logos::bench
