#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sim/ddr4/address_map.h"
#include "sim/ddr4/command.h"
#include "sim/ddr4/parameters.h"

namespace logos::ddr4 {

using BankSet = std::uint32_t;
constexpr BankSet one_bank(int bank) { return BankSet{1} << static_cast<unsigned>(bank); }
/// The first of a set, which is not empty.
inline int first_bank(BankSet set) { return std::countr_zero(set); }

/// The device's state: open rows, and for each kind of command the first clock at which the timing
/// parameters allow it. `*_at` ask, the others record a command issued at `clock`.
class TimingState {
 public:
  explicit TimingState(const Parameters& parameters);

  BankSet open_banks() const { return open_; }
  std::uint32_t open_row(int bank) const { return row_[index(bank)]; }
  BankSet banks_of_rank(int rank) const { return rank_banks_ << (rank * banks_per_rank_); }
  int rank_of(int bank) const { return bank / banks_per_rank_; }
  int group_of(int bank) const { return bank / banks_per_group_; }

  std::int64_t column_at(Operation operation, int rank, int group, int bank) const {
    return std::max({bank_column_[index(bank)], group_column_at(operation, group),
                     rank_column_at(operation, rank)});
  }
  /// The parts of column_at: the row's opening; tCCD_L and tWTR_L; the bus, tCCD_S and tWTR_S.
  std::int64_t row_ready_at(int bank) const { return bank_column_[index(bank)]; }
  std::int64_t group_column_at(Operation operation, int group) const {
    return group_column_[index(index_of(operation))][index(group)];
  }
  std::int64_t rank_column_at(Operation operation, int rank) const {
    return rank_column_[index(index_of(operation))][index(rank)];
  }

  /// tRRD_S and tFAW; then tRRD_L; then tRP, tRC and tRFC.
  std::int64_t rank_activate_at(int rank) const { return rank_activate_[index(rank)]; }
  std::int64_t activate_at(int rank, int group, int bank) const {
    return std::max(
        {rank_activate_[index(rank)], group_activate_[index(group)], bank_activate_[index(bank)]});
  }
  std::int64_t bank_activate_at(int bank) const { return bank_activate_[index(bank)]; }

  std::int64_t precharge_at(int bank) const { return bank_precharge_[index(bank)]; }
  /// All open banks of a rank at once; at least one is open.
  std::int64_t precharge_all_at(int rank) const;
  /// All banks of the rank are closed.
  std::int64_t refresh_at(int rank) const;

  void activate(std::int64_t clock, int rank, int group, int bank, std::uint32_t row);
  void read(std::int64_t clock, int rank, int group, int bank);
  void write(std::int64_t clock, int rank, int group, int bank);
  void precharge(std::int64_t clock, int bank);
  void precharge_all(std::int64_t clock, int rank);
  void refresh(std::int64_t clock, int rank);

 private:
  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static void raise(std::int64_t& time, std::int64_t least) { time = std::max(time, least); }

  /// From a column command of one kind to the next of each kind, as distances in clocks.
  struct Spacing {
    int same_group[kOperations];
    int same_rank[kOperations];
    int other_rank[kOperations];
  };
  void column(std::int64_t clock, const Spacing& spacing, int rank, int group);

  int ranks_;
  int banks_per_group_;
  int banks_per_rank_;
  BankSet rank_banks_;  ///< the banks of rank 0
  int t_rcd_, t_rp_, t_ras_, t_rc_, t_rrd_s_, t_rrd_l_, t_faw_, t_rtp_, t_rfc_;
  int write_to_precharge_;
  Spacing after_read_, after_write_;

  BankSet open_ = 0;
  std::array<std::uint32_t, kMaxBanks> row_{};
  std::array<std::int64_t, kMaxBanks> bank_column_{};
  std::array<std::int64_t, kMaxBanks> bank_precharge_{};
  std::array<std::int64_t, kMaxBanks> bank_activate_{};
  std::array<std::array<std::int64_t, kMaxGroups>, kOperations> group_column_{};
  std::array<std::int64_t, kMaxGroups> group_activate_{};
  std::array<std::array<std::int64_t, kMaxRanks>, kOperations> rank_column_{};
  std::array<std::int64_t, kMaxRanks> rank_activate_{};
  std::array<std::array<std::int64_t, 4>, kMaxRanks> last_activates_{};  ///< a ring per rank
  std::array<std::uint32_t, kMaxRanks> activates_{};
};

}  // namespace logos::ddr4
