// The controller's work on rows: opening them ahead of their bursts, closing them, and refresh.
#include <algorithm>

#include "program/check.h"
#include "sim/ddr4/channel.h"

namespace logos::ddr4 {

/// Brings hit_ and hits_ of a bank up to date with its open row and its queues.
void Channel::find_hits(int bank) {
  const bool open = (timing_.open_banks() & one_bank(bank)) != 0;
  for (std::size_t direction = 0; direction < kOperations; ++direction) {
    const int hit =
        open ? queues_[direction].first_seen(bank, timing_.open_row(bank)) : RequestQueue::kNone;
    hit_[direction][at(bank)] = hit;
    if (hit == RequestQueue::kNone) {
      hits_[direction] &= ~one_bank(bank);
    } else {
      hits_[direction] |= one_bank(bank);
    }
  }
}

/// While reads are served, rows for writes are opened only where no read waits, and only when their
/// turn is near: a row opened too early is closed again by the next read of its bank.
bool Channel::prepares_writes() const {
  return queue(Operation::kWrite).size() * 4 >= parameters_.write_high * 3;
}

Channel::Choice Channel::choose_activate(Operation operation, BankSet banks) const {
  const RequestQueue& requests = queue(operation);
  Choice best;
  best.clock = slot_end();
  std::uint64_t best_order = 0;
  for (; banks != 0; banks &= banks - 1) {
    const int bank = first_bank(banks);
    const int index = requests.head(bank);
    const Pending& request = requests[index];
    const std::int64_t clock =
        std::max({timing_.activate_at(request.rank, request.group, bank), request.ready, now_});
    if (clock < best.clock ||
        (clock == best.clock && clock < slot_end() && request.order < best_order)) {
      best = {index, clock};
      best_order = request.order;
    }
  }
  return best;
}

void Channel::issue_activates() {
  const BankSet closed = ~timing_.open_banks() & ~closing_banks_;
  const BankSet first = queue(direction_).banks() & closed;
  const bool prepare = direction_ == Operation::kWrite || prepares_writes();
  const BankSet second =
      prepare ? queue(other_direction()).banks() & ~queue(direction_).banks() & closed : 0;
  if ((first | second) == 0) return;
  for (int rank = 0; rank < parameters_.ranks; ++rank) {
    if (timing_.rank_activate_at(rank) >= slot_end()) continue;
    const BankSet of_rank = timing_.banks_of_rank(rank);
    Operation operation = direction_;
    Choice choice = choose_activate(operation, first & of_rank);
    if (choice.index == RequestQueue::kNone) {
      operation = other_direction();
      choice = choose_activate(operation, second & of_rank);
    }
    if (choice.index == RequestQueue::kNone) continue;
    const std::int64_t clock = take_bus_clock(choice.clock);
    if (clock < 0) continue;
    const Pending& request = queue(operation)[choice.index];
    timing_.activate(clock, rank, request.group, request.bank, request.row);
    row_is_new_ |= one_bank(request.bank);
    ++counters_.activates;
    find_hits(request.bank);
    record(
        {clock, CommandKind::kActivate, request.rank, request.group, request.bank, request.row, 0});
    return;
  }
}

Channel::Choice Channel::choose_precharge(Operation operation, BankSet banks) const {
  const RequestQueue& requests = queue(operation);
  Choice best;
  best.clock = slot_end();
  std::uint64_t best_order = 0;
  for (; banks != 0; banks &= banks - 1) {
    const int bank = first_bank(banks);
    const int index = requests.head(bank);
    const Pending& request = requests[index];
    const std::int64_t clock = std::max({timing_.precharge_at(bank), request.ready, now_});
    if (clock < best.clock ||
        (clock == best.clock && clock < slot_end() && request.order < best_order)) {
      best = {index, clock};
      best_order = request.order;
    }
  }
  return best;
}

void Channel::issue_precharges() {
  constexpr int kMostInSlot = 1;
  const bool prepare = direction_ == Operation::kWrite || prepares_writes();
  for (int issued = 0; issued < kMostInSlot; ++issued) {
    const BankSet open = timing_.open_banks() & ~closing_banks_;
    const BankSet first = queue(direction_).banks() & open & ~servable_hits(direction_);
    Operation operation = direction_;
    Choice choice = choose_precharge(operation, first);
    if (choice.index == RequestQueue::kNone && prepare) {
      operation = other_direction();
      const BankSet second =
          queue(operation).banks() & ~queue(direction_).banks() & open & ~servable_hits(operation);
      choice = choose_precharge(operation, second);
    }
    if (choice.index == RequestQueue::kNone) return;
    const std::int64_t clock = take_bus_clock(choice.clock);
    if (clock < 0) return;
    const Pending& request = queue(operation)[choice.index];
    timing_.precharge(clock, request.bank);
    ++counters_.precharges;
    find_hits(request.bank);
    record({clock, CommandKind::kPrecharge, request.rank, request.group, request.bank, 0, 0});
  }
}

/// Counts the REFs that have fallen due, and takes a rank out of service when it owes more than may
/// be postponed, or when it owes any and has nothing to do.
void Channel::advance_refresh() {
  next_refresh_due_ = INT64_MAX;
  closing_banks_ = 0;
  const BankSet wanted = queue(Operation::kRead).banks() | queue(Operation::kWrite).banks();
  for (int rank = 0; rank < parameters_.ranks; ++rank) {
    RankRefresh& refresh = refresh_[at(rank)];
    if (now_ >= refresh.next_due) {
      ++refresh.owed;
      refresh.next_due += parameters_.t_refi;
    }
    const BankSet banks = timing_.banks_of_rank(rank);
    const bool unwanted = refresh.owed > 0 && (wanted & banks) == 0;
    if (refresh.owed > parameters_.refresh_postpone || unwanted) refresh.closing = true;
    if (refresh.closing) closing_banks_ |= banks;
    // A rank that owes and is wanted must be looked at again in every slot: it may fall idle.
    const bool watch = refresh.owed > 0 && !refresh.closing;
    next_refresh_due_ = std::min(next_refresh_due_, watch ? now_ : refresh.next_due);
  }
}

void Channel::issue_refreshes() {
  for (int rank = 0; rank < parameters_.ranks; ++rank) {
    RankRefresh& refresh = refresh_[at(rank)];
    if (!refresh.closing) continue;
    const auto rank_id = static_cast<std::uint8_t>(rank);
    if ((timing_.open_banks() & timing_.banks_of_rank(rank)) != 0) {
      const std::int64_t clock = take_bus_clock(timing_.precharge_all_at(rank));
      if (clock < 0) continue;
      for (BankSet banks = timing_.open_banks() & timing_.banks_of_rank(rank); banks != 0;
           banks &= banks - 1) {
        timing_.precharge(clock, first_bank(banks));
        find_hits(first_bank(banks));
      }
      ++counters_.precharges;
      record({clock, CommandKind::kPrechargeAll, rank_id, 0, 0, 0, 0});
    } else {
      const std::int64_t clock = take_bus_clock(timing_.refresh_at(rank));
      if (clock < 0) continue;
      timing_.refresh(clock, rank);
      --refresh.owed;
      refresh.closing = false;
      refresh.busy_until = clock + parameters_.t_rfc;
      ++counters_.refreshes;
      record({clock, CommandKind::kRefresh, rank_id, 0, 0, 0, 0});
    }
  }
}

}  // namespace logos::ddr4
