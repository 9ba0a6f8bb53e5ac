#include "sim/ddr4/timing_state.h"

namespace logos::ddr4 {
namespace {

constexpr int kRead = index_of(Operation::kRead);
constexpr int kWrite = index_of(Operation::kWrite);
constexpr int kBurstClocks = kSlotClocks;

/// Far enough back that no window reaches from there to clock 0.
constexpr std::int64_t kLongAgo = -(std::int64_t{1} << 40);

}  // namespace

TimingState::TimingState(const Parameters& p)
    : ranks_(p.ranks),
      banks_per_group_(p.banks_per_group),
      banks_per_rank_(p.banks()),
      rank_banks_(static_cast<BankSet>((std::uint64_t{1} << p.banks()) - 1)),
      t_rcd_(p.t_rcd),
      t_rp_(p.t_rp),
      t_ras_(p.t_ras),
      t_rc_(p.t_rc),
      t_rrd_s_(p.t_rrd_s),
      t_rrd_l_(p.t_rrd_l),
      t_faw_(p.t_faw),
      t_rtp_(p.t_rtp),
      t_rfc_(p.t_rfc),
      write_to_precharge_(p.cwl + kBurstClocks + p.t_wr) {
  // Read data lie on the bus at [cl, cl + 4) after the command, write data at [cwl, cwl + 4). Never
  // less than a burst between two commands: the controller starts at most one in a slot.
  const auto spaced = [](int distance) { return std::max(distance, kBurstClocks); };
  const int turn = p.cl + kBurstClocks + p.read_to_write_gap - p.cwl;
  const int rank_turn = p.cl + kBurstClocks + std::max(p.read_to_write_gap, p.rank_switch) - p.cwl;
  after_read_.same_group[kRead] = p.t_ccd_l;
  after_read_.same_group[kWrite] = spaced(turn);
  after_read_.same_rank[kRead] = p.t_ccd_s;
  after_read_.same_rank[kWrite] = spaced(turn);
  after_read_.other_rank[kRead] = kBurstClocks + p.rank_switch;
  after_read_.other_rank[kWrite] = spaced(rank_turn);
  after_write_.same_group[kRead] = p.cwl + kBurstClocks + p.t_wtr_l;
  after_write_.same_group[kWrite] = p.t_ccd_l;
  after_write_.same_rank[kRead] = p.cwl + kBurstClocks + p.t_wtr_s;
  after_write_.same_rank[kWrite] = p.t_ccd_s;
  after_write_.other_rank[kRead] = spaced(p.cwl + kBurstClocks + p.rank_switch - p.cl);
  after_write_.other_rank[kWrite] = kBurstClocks + p.rank_switch;
  for (auto& ring : last_activates_) ring.fill(kLongAgo);
}

std::int64_t TimingState::precharge_all_at(int rank) const {
  std::int64_t at = kLongAgo;
  for (BankSet set = open_ & banks_of_rank(rank); set != 0; set &= set - 1) {
    raise(at, bank_precharge_[index(first_bank(set))]);
  }
  return at;
}

std::int64_t TimingState::refresh_at(int rank) const {
  std::int64_t at = kLongAgo;
  for (BankSet set = banks_of_rank(rank); set != 0; set &= set - 1) {
    raise(at, bank_activate_[index(first_bank(set))]);
  }
  return at;
}

void TimingState::activate(std::int64_t clock, int rank, int group, int bank, std::uint32_t row) {
  open_ |= one_bank(bank);
  row_[index(bank)] = row;
  bank_column_[index(bank)] = clock + t_rcd_;
  raise(bank_precharge_[index(bank)], clock + t_ras_);
  raise(bank_activate_[index(bank)], clock + t_rc_);
  raise(group_activate_[index(group)], clock + t_rrd_l_);
  auto& ring = last_activates_[index(rank)];
  std::uint32_t& count = activates_[index(rank)];
  ring[count++ % 4] = clock;
  // The slot of the ring that comes next holds the fourth last ACT, the one before three others.
  raise(rank_activate_[index(rank)], std::max(clock + t_rrd_s_, ring[count % 4] + t_faw_));
}

void TimingState::column(std::int64_t clock, const Spacing& spacing, int rank, int group) {
  for (std::size_t next = 0; next < kOperations; ++next) {
    raise(group_column_[next][index(group)], clock + spacing.same_group[next]);
    for (int other = 0; other < ranks_; ++other) {
      raise(rank_column_[next][index(other)],
            clock + (other == rank ? spacing.same_rank[next] : spacing.other_rank[next]));
    }
  }
}

void TimingState::read(std::int64_t clock, int rank, int group, int bank) {
  column(clock, after_read_, rank, group);
  raise(bank_precharge_[index(bank)], clock + t_rtp_);
}

void TimingState::write(std::int64_t clock, int rank, int group, int bank) {
  column(clock, after_write_, rank, group);
  raise(bank_precharge_[index(bank)], clock + write_to_precharge_);
}

void TimingState::precharge(std::int64_t clock, int bank) {
  open_ &= ~one_bank(bank);
  raise(bank_activate_[index(bank)], clock + t_rp_);
}

void TimingState::precharge_all(std::int64_t clock, int rank) {
  for (BankSet set = open_ & banks_of_rank(rank); set != 0; set &= set - 1) {
    precharge(clock, first_bank(set));
  }
}

void TimingState::refresh(std::int64_t clock, int rank) {
  for (BankSet set = banks_of_rank(rank); set != 0; set &= set - 1) {
    raise(bank_activate_[index(first_bank(set))], clock + t_rfc_);
  }
}

}  // namespace logos::ddr4
