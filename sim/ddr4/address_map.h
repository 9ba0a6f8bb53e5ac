#pragma once

#include <cstdint>
#include <string_view>

#include "sim/ddr4/parameters.h"

namespace logos::ddr4 {

/// Where a line lies. `bank` counts over all ranks: (rank * groups + group) * banks per group +
/// bank of the group; `group` over all ranks likewise: rank * groups + group.
struct Location {
  std::uint8_t rank;
  std::uint8_t group;
  std::uint8_t bank;
  std::uint32_t row;
  std::uint32_t column;  ///< in bursts of 8
};

/// From byte addresses to places, by an order of fields named from the highest bit down, as
/// DRAMsim3 writes it: `ch` channel (no bits here), `ra` rank, `ro` row, `ba` bank of a group, `bg`
/// bank group, `co` column in bursts. "chrarobacobg" is the CS-R-B-C-BG of Intel's controller.
class AddressMap {
 public:
  /// Refuses an order that is no permutation of the six fields, naming `where`.address_order.
  AddressMap(const Parameters& parameters, std::string_view where);

  std::uint64_t bytes() const { return bytes_; }

  /// `address` in bytes, below bytes(); its low six bits do not matter.
  Location locate(std::uint64_t address) const {
    const auto field = [&](const Field& f) {
      return static_cast<std::uint32_t>(address >> f.shift) & f.mask;
    };
    const std::uint32_t rank = field(rank_);
    const std::uint32_t group = (rank << group_bits_) | field(group_);
    const std::uint32_t bank = (group << bank_bits_) | field(bank_);
    return {static_cast<std::uint8_t>(rank), static_cast<std::uint8_t>(group),
            static_cast<std::uint8_t>(bank), field(row_), field(column_)};
  }

 private:
  struct Field {
    int shift = 0;
    std::uint32_t mask = 0;
  };

  Field rank_, row_, bank_, group_, column_;
  int group_bits_ = 0;
  int bank_bits_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace logos::ddr4
