#include "spatial/chip/fault.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "program/error.h"
#include "program/whole_number.h"

namespace logos::spatial {
namespace {

constexpr std::array kKinds = {
    FaultKind{"tile", "early_read", "the tile does not wait for a buffer that is not full"},
    FaultKind{"mesh", "dropped_flit", "a flit is lost on a link"},
    FaultKind{"mesh", "lost_credit", "a credit is lost on its way back"},
    FaultKind{"mesh", "swapped_destination", "a packet goes to a tile that it is not for"},
};

std::string known() {
  std::string text;
  for (const FaultKind& kind : kKinds) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}N:{}@CYCLE", kind.unit, kind.kind);
  }
  return text;
}

[[noreturn]] void refuse(std::string_view text) {
  throw Error(fmt::format("--fault {}", text), "no such fault of lane spatial", text, known());
}

template <typename T>
T number_of(std::string_view digits, std::string_view text) {
  T value = 0;
  if (read_whole_number(digits, value) != std::errc{} || digits.starts_with('-')) refuse(text);
  return value;
}

/// More chips than any configuration has.
constexpr std::int32_t kMostUnits = 1 << 20;

}  // namespace

std::span<const FaultKind> fault_kinds() { return kKinds; }

void plant_fault(std::string_view text, ChipRun& run) {
  const std::size_t colon = text.find(':');
  const std::size_t sign = text.find('@');
  if (colon == std::string_view::npos || sign == std::string_view::npos || sign < colon) {
    refuse(text);
  }
  const std::string_view unit = text.substr(0, colon);
  const std::string_view kind = text.substr(colon + 1, sign - colon - 1);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (!unit.starts_with(kKinds[i].unit) || kind != kKinds[i].kind) continue;
    const auto number = number_of<std::int32_t>(unit.substr(kKinds[i].unit.size()), text);
    const auto cycle = number_of<Cycles>(text.substr(sign + 1), text);
    if (number >= kMostUnits) refuse(text);
    bool again = false;
    if (i == 0) {
      again = run.early_read.has_value();
      run.early_read = EarlyRead{0, number, cycle};
    } else {
      const auto chip = static_cast<std::size_t>(number);
      if (run.mesh_faults.size() <= chip) run.mesh_faults.resize(chip + 1);
      again = run.mesh_faults[chip].has_value();
      constexpr std::array kMesh = {MeshFault::Kind::kDroppedFlit, MeshFault::Kind::kLostCredit,
                                    MeshFault::Kind::kSwappedDestination};
      run.mesh_faults[chip] = MeshFault{kMesh[i - 1], 0, cycle};
    }
    if (again) {
      throw Error(fmt::format("--fault {}", text),
                  fmt::format("another fault is planted in {}", i == 0 ? "the tiles" : unit));
    }
    return;
  }
  refuse(text);
}

}  // namespace logos::spatial
