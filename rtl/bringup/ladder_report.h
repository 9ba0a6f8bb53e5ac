#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rtl/bringup/ladder.h"

namespace logos::d5005 {

/// A rung's lines of the table: number, name, status, cycles, seconds; what it proves or why it
/// failed and where to look.
std::string table_head();
std::string table_lines(const RungReport& report);

/// What was run, for the head of a report.
struct LadderContext {
  std::string board;      ///< "sim", "opae"
  std::string answers;    ///< where the known answers come from
  std::string fault;      ///< as planted, or ""
  std::string refused{};  ///< why no rung was begun, or ""
};

/// A fault was planted, and all rungs passed nevertheless: the ladder has failed.
bool left_no_trace(const std::vector<RungReport>& reports, const LadderContext& context);
/// The table's last line: of a fault that left no trace, with the engine's last cycle; or "".
std::string table_end(const std::vector<RungReport>& reports, const LadderContext& context);

nlohmann::json ladder_json(const std::vector<RungReport>& reports, const LadderContext& context);
/// JUnit XML: a test case a rung; a rung that was not run is skipped, its suite has failed. A fault
/// that left no trace is one more test case, which has failed, and so is a ladder that was refused.
std::string ladder_junit(const std::vector<RungReport>& reports, const LadderContext& context);

}  // namespace logos::d5005
