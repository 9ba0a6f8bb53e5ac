#include "rtl/board/fault.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "program/error.h"
#include "program/whole_number.h"

namespace logos::d5005 {
namespace {

constexpr std::string_view kOption = "--fault";

constexpr std::array<FaultKind, 21> kKinds = {{
    {"bank", "silent", PortFault::kSilent, "answers neither reads nor writes"},
    {"bank", "error", PortFault::kReadError, "answers reads with an error"},
    {"bank", "write-error", PortFault::kWriteError, "answers writes with an error"},
    {"bank", "flip", PortFault::kBitFlip, "one bit is wrong in one of 1,009 lines read"},
    {"bank", "stuck", PortFault::kStuckBit, "a data line reads 1"},
    {"bank", "lost", PortFault::kLostWrite, "answers writes and does not keep them"},
    {"bank", "address", PortFault::kAddressLine, "an address line stands at 0"},
    {"bank", "slow", PortFault::kSlow, "reads at a quarter of its rate"},
    {"host", "silent", PortFault::kSilent, "answers neither reads nor writes"},
    {"host", "error", PortFault::kReadError, "answers reads with an error"},
    {"host", "write-error", PortFault::kWriteError, "answers writes with an error"},
    {"host", "flip", PortFault::kBitFlip, "one bit is wrong in one of 1,009 lines read"},
    {"host", "stuck", PortFault::kStuckBit, "a data line reads 1"},
    {"host", "lost", PortFault::kLostWrite, "answers writes and does not keep them"},
    {"host", "slow", PortFault::kSlow, "carries an eighth of its lines"},
    {"engine", "silent", PortFault::kSilent, "register reads are not answered: all ones"},
    {"engine", "flip", PortFault::kBitFlip, "a bit is wrong in one of 1,009 register reads"},
    {"engine", "stuck", PortFault::kStuckBit, "a data line of register writes stands at 0"},
    {"engine", "lost", PortFault::kLostWrite, "register writes do not arrive"},
    {"engine", "reset", PortFault::kReset, "a soft reset that nobody asked for, once"},
    {"engine", "stopped", PortFault::kStopped, "its clock stands still"},
}};

std::string units_text() { return "bank0, bank1, bank2, bank3, host or engine"; }

std::string kinds_of(std::string_view unit) {
  std::string text;
  for (const FaultKind& kind : kKinds) {
    if (kind.unit != unit) continue;
    if (!text.empty()) text += ", ";
    text += kind.kind;
  }
  return text;
}

/// Where the fault of a unit stands in the options; null: no such unit. `family`: its name in the
/// table.
PlantedFault* place_of(std::string_view unit, BoardOptions& options, std::string_view* family) {
  *family = unit;
  if (unit == "host") return &options.host_fault;
  if (unit == "engine") return &options.engine_fault;
  if (unit.size() != 5 || !unit.starts_with("bank") || unit[4] < '0' || unit[4] > '3') {
    return nullptr;
  }
  *family = "bank";
  return &options.bank_faults[static_cast<std::size_t>(unit[4] - '0')];
}

std::uint64_t parse_cycle(std::string_view text) {
  std::uint64_t cycle = 0;
  if (read_whole_number(text, cycle) != std::errc{}) {
    throw Error(kOption, "no cycle", fmt::format("\"{}\"", text), "a whole number, 0 or more");
  }
  return cycle;
}

}  // namespace

std::span<const FaultKind> fault_kinds() { return kKinds; }

void plant_fault(std::string_view text, BoardOptions& options) {
  const std::size_t colon = text.find(':');
  const std::size_t at = text.find('@');
  if (colon == std::string_view::npos || at == std::string_view::npos || at < colon) {
    throw Error(kOption, "no fault", fmt::format("\"{}\"", text), "UNIT:KIND@CYCLE");
  }
  const std::string_view unit = text.substr(0, colon);
  const std::string_view name = text.substr(colon + 1, at - colon - 1);
  std::string_view family;
  PlantedFault* place = place_of(unit, options, &family);
  if (place == nullptr) {
    throw Error(kOption, "no such unit", fmt::format("\"{}\"", unit), units_text());
  }
  for (const FaultKind& kind : kKinds) {
    if (kind.unit != family || kind.kind != name) continue;
    const std::uint64_t cycle = parse_cycle(text.substr(at + 1));
    if (place->kind != PortFault::kNone) {
      throw Error(kOption, fmt::format("a second fault of unit {}", unit),
                  fmt::format("\"{}\"", text), "one a unit");
    }
    *place = {kind.fault, cycle};
    return;
  }
  throw Error(kOption, fmt::format("no such kind of fault of unit {}", unit),
              fmt::format("\"{}\"", name), kinds_of(family));
}

}  // namespace logos::d5005
