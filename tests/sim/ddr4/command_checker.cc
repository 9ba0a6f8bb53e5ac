#include "tests/sim/ddr4/command_checker.h"

#include <algorithm>

namespace logos::ddr4 {
namespace {

constexpr std::int64_t kNever = -1'000'000'000;

}  // namespace

CommandChecker::CommandChecker(const Parameters& parameters) : p_(parameters) {
  for (int rank = 0; rank < p_.ranks; ++rank) {
    for (int group = 0; group < p_.bank_groups; ++group) {
      for (int bank = 0; bank < p_.banks_per_group; ++bank) {
        banks_.push_back({.rank = rank,
                          .group = rank * p_.bank_groups + group,
                          .activate = kNever,
                          .precharge = kNever,
                          .read = kNever,
                          .write = kNever});
      }
    }
  }
}

void CommandChecker::want(std::int64_t clock, std::int64_t since, int distance, const char* rule) {
  if (clock - since < distance) ++broken_[rule];
}

std::map<std::string, int> CommandChecker::check(std::vector<Command> log, std::int64_t end) {
  std::stable_sort(log.begin(), log.end(),
                   [](const Command& a, const Command& b) { return a.clock < b.clock; });
  std::int64_t last = kNever;
  for (const Command& command : log) {
    if (command.clock == last) ++broken_["command bus"];
    last = command.clock;
    switch (command.kind) {
      case CommandKind::kActivate:
        activate(command);
        break;
      case CommandKind::kRead:
      case CommandKind::kWrite:
        column(command);
        break;
      case CommandKind::kPrecharge:
        if (!banks_.at(command.bank).open) ++broken_["PRE of a closed bank"];
        precharge(command.clock, command.bank);
        break;
      case CommandKind::kPrechargeAll:
        for (std::size_t bank = 0; bank < banks_.size(); ++bank) {
          if (banks_[bank].rank == command.rank && banks_[bank].open) {
            precharge(command.clock, static_cast<int>(bank));
          }
        }
        break;
      case CommandKind::kRefresh:
        refresh(command);
        break;
    }
  }
  for (int rank = 0; rank < p_.ranks; ++rank) check_refresh_rate(rank, end);
  return broken_;
}

void CommandChecker::activate(const Command& command) {
  const std::int64_t clock = command.clock;
  Bank& bank = banks_.at(command.bank);
  if (bank.open) ++broken_["ACT of an open bank"];
  if (bank.rank != command.rank || bank.group != command.group) ++broken_["numbering"];
  want(clock, bank.precharge, p_.t_rp, "tRP");
  want(clock, bank.activate, p_.t_rc, "tRC");
  for (const Bank& other : banks_) {
    if (other.rank != bank.rank) continue;
    want(clock, other.activate, p_.t_rrd_s, "tRRD_S");
    if (other.group == bank.group) want(clock, other.activate, p_.t_rrd_l, "tRRD_L");
  }
  auto& activates = activates_.at(command.rank);
  if (activates.size() == 4) want(clock, activates.front(), p_.t_faw, "tFAW");
  activates.push_back(clock);
  if (activates.size() > 4) activates.pop_front();
  const auto& refreshes = refreshes_.at(command.rank);
  if (!refreshes.empty()) want(clock, refreshes.back(), p_.t_rfc, "tRFC");
  bank.open = true;
  bank.row = command.row;
  bank.activate = clock;
}

void CommandChecker::column(const Command& command) {
  const std::int64_t clock = command.clock;
  const bool is_read = command.kind == CommandKind::kRead;
  Bank& bank = banks_.at(command.bank);
  if (!bank.open || bank.row != command.row) ++broken_["row not open"];
  if (command.column >= static_cast<std::uint32_t>(p_.columns / p_.burst_length)) {
    ++broken_["column"];
  }
  want(clock, bank.activate, p_.t_rcd, "tRCD");
  for (const Bank& other : banks_) {
    if (other.rank != bank.rank) continue;
    const bool same_group = other.group == bank.group;
    const std::int64_t same_kind = is_read ? other.read : other.write;
    want(clock, same_kind, p_.t_ccd_s, "tCCD_S");
    if (same_group) want(clock, same_kind, p_.t_ccd_l, "tCCD_L");
    if (is_read) {
      const std::int64_t data_end = other.write + p_.cwl + p_.burst_length / 2;
      want(clock, data_end, p_.t_wtr_s, "tWTR_S");
      if (same_group) want(clock, data_end, p_.t_wtr_l, "tWTR_L");
    }
  }
  (is_read ? bank.read : bank.write) = clock;
  burst(command);
}

/// The data bus: no two bursts at once, and room between those of two ranks or directions.
void CommandChecker::burst(const Command& command) {
  const bool is_read = command.kind == CommandKind::kRead;
  const std::int64_t begin = command.clock + (is_read ? p_.cl : p_.cwl);
  const Burst mine = {begin, begin + p_.burst_length / 2, command.rank, is_read};
  for (const Burst& other : bursts_) {
    const Burst& first = other.begin <= mine.begin ? other : mine;
    const Burst& second = other.begin <= mine.begin ? mine : other;
    if (second.begin < first.end) ++broken_["data bus"];
    const std::int64_t gap = second.begin - first.end;
    if (first.rank != second.rank && gap < p_.rank_switch) ++broken_["rank switch"];
    if (first.is_read && !second.is_read && gap < p_.read_to_write_gap) ++broken_["read to write"];
  }
  bursts_.push_back(mine);
  if (bursts_.size() > 16) bursts_.pop_front();
}

void CommandChecker::precharge(std::int64_t clock, int index) {
  Bank& bank = banks_.at(static_cast<std::size_t>(index));
  want(clock, bank.activate, p_.t_ras, "tRAS");
  want(clock, bank.read, p_.t_rtp, "tRTP");
  want(clock, bank.write + p_.cwl + p_.burst_length / 2, p_.t_wr, "tWR");
  bank.open = false;
  bank.precharge = clock;
}

void CommandChecker::refresh(const Command& command) {
  for (const Bank& bank : banks_) {
    if (bank.rank != command.rank) continue;
    if (bank.open) ++broken_["REF with a bank open"];
    want(command.clock, bank.precharge, p_.t_rp, "tRP");
    want(command.clock, bank.activate, p_.t_rc, "tRC");
  }
  auto& refreshes = refreshes_.at(command.rank);
  if (!refreshes.empty()) want(command.clock, refreshes.back(), p_.t_rfc, "tRFC");
  refreshes.push_back(command.clock);
}

/// The interval is kept in the mean from power-up on, and no gap is longer than what may be
/// postponed; each with the time that a rank at work takes to close its pages.
void CommandChecker::check_refresh_rate(int rank, std::int64_t end) {
  const auto& refreshes = refreshes_.at(static_cast<std::size_t>(rank));
  const std::int64_t closing =
      p_.t_rcd + p_.t_ras + p_.t_rc + p_.cwl + p_.t_wr + p_.t_rtp + p_.t_rp + p_.t_rfc;
  const std::int64_t longest =
      static_cast<std::int64_t>(p_.refresh_postpone + 1) * p_.t_refi + closing;
  std::int64_t last = 0;
  for (std::size_t i = 0; i <= refreshes.size(); ++i) {
    const std::int64_t next = i < refreshes.size() ? refreshes[i] : end;
    if (next - last > longest) ++broken_["tREFI"];
    last = next;
  }
  const std::int64_t due = (end - closing) / p_.t_refi;
  if (static_cast<std::int64_t>(refreshes.size()) + p_.refresh_postpone < due) ++broken_["tREFI"];
}

}  // namespace logos::ddr4
