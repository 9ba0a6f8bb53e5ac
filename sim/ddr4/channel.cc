#include "sim/ddr4/channel.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/check.h"
#include "program/error.h"

namespace logos::ddr4 {
namespace {

constexpr std::uint64_t kWholeLine = ~std::uint64_t{0};

const Parameters& validated(const Parameters& parameters) {
  validate(parameters, "ddr4");
  return parameters;
}

}  // namespace

Channel::Channel(const Parameters& parameters, const FillPattern& fill)
    : parameters_(validated(parameters)),
      map_(parameters, "ddr4"),
      storage_(parameters.bytes(), fill),
      timing_(parameters),
      queues_{RequestQueue(parameters.read_queue, parameters.bank_queue,
                           parameters.ranks * parameters.banks()),
              RequestQueue(parameters.write_queue, parameters.bank_queue,
                           parameters.ranks * parameters.banks())},
      write_data_(at(queues_[at(index_of(Operation::kWrite))].places())),
      read_responses_(parameters.in_flight, parameters.response_order),
      write_responses_(parameters.in_flight, parameters.response_order) {
  for (auto& hits : hit_) hits.fill(RequestQueue::kNone);
  // Refreshes of the ranks are spread over the interval, so that one of them can always work.
  for (int rank = 0; rank < parameters.ranks; ++rank) {
    refresh_[at(rank)].next_due =
        static_cast<std::int64_t>(parameters.t_refi) * (rank + 1) / parameters.ranks;
  }
  next_refresh_due_ = refresh_[0].next_due;
}

bool Channel::try_request(const Request& request) {
  if (request.address >= map_.bytes()) {
    throw Error("ddr4", "address outside the memory", fmt::format("{:#x}", request.address),
                fmt::format("below {:#x}", map_.bytes()));
  }
  if (request.address % kLineBytes != 0) {
    throw Error("ddr4", "address within a line", fmt::format("{:#x}", request.address),
                "a multiple of 64");
  }
  const Location place = map_.locate(request.address);
  const bool taken = request.operation == Operation::kRead ? take_read(request, place)
                                                           : take_write(request, place);
  if (!taken) ++counters_.refused;
  return taken;
}

bool Channel::take_read(const Request& request, const Location& place) {
  if (read_responses_.full()) return false;
  const int write = queue(Operation::kWrite).youngest_for(place.bank, request.address);
  if (write != RequestQueue::kNone) return forward(request, write);
  if (!queue(Operation::kRead).has_room()) return false;
  storage_.prefetch(request.address);
  enqueue(request, place, read_responses_.allocate(request.id, now_));
  return true;
}

/// A read behind a write of the same line takes the data from the queue if it holds the whole line;
/// otherwise it waits at the door until that write is done.
bool Channel::forward(const Request& request, int write) {
  const WriteData& data = write_data_[at(write)];
  if (data.byte_enable != kWholeLine) {
    flush_writes_ = true;
    return false;
  }
  const std::uint16_t ticket = read_responses_.allocate(request.id, now_);
  read_responses_.data(ticket) = data.line;
  read_responses_.complete(
      ticket, now_ + parameters_.request_latency + kSlotClocks + parameters_.response_latency);
  ++counters_.forwarded;
  return true;
}

bool Channel::take_write(const Request& request, const Location& place) {
  CHECK(request.data != nullptr);
  if (write_responses_.full() || !queue(Operation::kWrite).has_room()) return false;
  // A write may not overtake a read of its line: it waits at the door.
  if (queue(Operation::kRead).youngest_for(place.bank, request.address) != RequestQueue::kNone) {
    return false;
  }
  storage_.prefetch(request.address);
  const std::uint16_t ticket = write_responses_.allocate(request.id, now_);
  enqueue(request, place, ticket);
  if (parameters_.write_response == WriteResponse::kAccepted) {
    write_responses_.complete(ticket, now_ + parameters_.request_latency);
  }
  return true;
}

void Channel::enqueue(const Request& request, const Location& place, std::uint16_t ticket) {
  RequestQueue& to = queue(request.operation);
  const int index = to.push({request.address, now_ + parameters_.request_latency, accepted_++,
                             place.row, place.column, place.rank, place.group, place.bank, ticket});
  if (request.operation == Operation::kWrite) {
    write_data_[at(index)] = {*request.data, request.byte_enable};
  }
  const BankSet bank = one_bank(place.bank);
  const std::size_t operation = at(index_of(request.operation));
  if ((timing_.open_banks() & bank) != 0 && (hits_[operation] & bank) == 0 &&
      timing_.open_row(place.bank) == place.row) {
    find_hits(place.bank);
  }
}

Channel::UserClock Channel::user_clock(const Request* request) {
  // What the last call handed out is taken now: its place may be used again.
  if (taken_read_) read_responses_.pop();
  if (taken_write_) write_responses_.pop();
  UserClock result;
  result.accepted = request != nullptr && try_request(*request);
  tick_slot();
  result.read = read_response();
  result.write = write_response();
  taken_read_ = result.read != nullptr;
  taken_write_ = result.write != nullptr;
  return result;
}

void Channel::tick_slot() {
  ++counters_.slots;
  bus_taken_ = 0;
  if (now_ >= next_refresh_due_ || closing_banks_ != 0) advance_refresh();
  if (pending() == 0) {
    ++counters_.idle_slots[at(static_cast<int>(IdleCause::kNoRequest))];
  } else {
    choose_direction();
    issue_column();
    issue_activates();
    issue_precharges();
  }
  if (closing_banks_ != 0) issue_refreshes();
  now_ = slot_end();
}

/// Writes are gathered: they get the bus when enough of them wait, when one has waited too long, or
/// when nothing else does. Neither direction gives way before it has served what was there when its
/// turn began, so that neither can starve the other.
void Channel::choose_direction() {
  const RequestQueue& reads = queue(Operation::kRead);
  const RequestQueue& writes = queue(Operation::kWrite);
  if (writes.size() == 0) flush_writes_ = false;
  bool change = false;
  if (direction_ == Operation::kRead) {
    if (writes.size() == 0) return;
    const bool aged = now_ - writes[writes.oldest()].ready >= parameters_.write_wait_limit;
    const bool turn_over = reads.size() == 0 || served_ >= batch_;
    const bool alone = reads.size() == 0 && writes.size() > parameters_.write_low;
    const bool enough = writes.size() >= parameters_.write_high || aged;
    change = flush_writes_ || alone || (enough && turn_over);
  } else {
    const bool waits_for_rows = served_ * 2 >= batch_ && servable_hits(Operation::kWrite) == 0 &&
                                servable_hits(Operation::kRead) != 0;
    const bool turn_over =
        writes.size() <= parameters_.write_low || served_ >= batch_ || waits_for_rows;
    change = writes.size() == 0 || (reads.size() > 0 && turn_over && !flush_writes_);
  }
  if (!change) return;
  direction_ = other_direction();
  served_ = 0;
  batch_ = queue(direction_).size();
  if (direction_ == Operation::kRead) batch_ = std::min(batch_, parameters_.write_high / 2);
}

/// Banks with a row hit that may be served. Once the oldest request has been overtaken often
/// enough, its bank serves nothing else.
BankSet Channel::servable_hits(Operation operation) const {
  const std::size_t direction = at(index_of(operation));
  BankSet hits = hits_[direction];
  if (parameters_.starvation_limit > 0 && overtaken_[direction] >= parameters_.starvation_limit) {
    const RequestQueue& requests = queue(operation);
    const int oldest = requests.oldest();
    const int bank = requests[oldest].bank;
    if (hit_[direction][at(bank)] != oldest) hits &= ~one_bank(bank);
  }
  return hits;
}

Channel::Choice Channel::choose_column() const {
  const std::size_t direction = at(index_of(direction_));
  const RequestQueue& requests = queue(direction_);
  BankSet banks = servable_hits(direction_) & ~closing_banks_;
  for (int rank = 0; rank < parameters_.ranks; ++rank) {
    if (timing_.rank_column_at(direction_, rank) >= slot_end())
      banks &= ~timing_.banks_of_rank(rank);
  }
  const bool oldest_first =
      parameters_.starvation_limit > 0 && overtaken_[direction] >= parameters_.starvation_limit;
  Choice best;
  best.clock = slot_end();
  std::uint64_t best_order = 0;
  for (; banks != 0; banks &= banks - 1) {
    const int bank = first_bank(banks);
    const int index = hit_[direction][at(bank)];
    const Pending& request = requests[index];
    const std::int64_t clock = std::max(
        {timing_.column_at(direction_, request.rank, request.group, bank), request.ready, now_});
    if (clock >= slot_end()) continue;
    if (oldest_first && index == requests.oldest()) return {index, clock};
    if (clock < best.clock || (clock == best.clock && request.order < best_order)) {
      best = {index, clock};
      best_order = request.order;
    }
  }
  return best;
}

void Channel::issue_column() {
  const Choice choice = choose_column();
  if (choice.index == RequestQueue::kNone) {
    count_idle_slot();
    return;
  }
  const std::size_t direction = at(index_of(direction_));
  RequestQueue& requests = queue(direction_);
  const Pending& request = requests[choice.index];          // stays in place when it is removed
  const std::int64_t clock = take_bus_clock(choice.clock);  // the first command of the slot
  CHECK(clock == choice.clock);
  if (direction_ == Operation::kRead) {
    timing_.read(clock, request.rank, request.group, request.bank);
    finish_read(request, clock);
  } else {
    timing_.write(clock, request.rank, request.group, request.bank);
    finish_write(request, choice.index, clock);
  }
  const BankSet bank = one_bank(request.bank);
  ++((row_is_new_ & bank) != 0 ? counters_.row_misses : counters_.row_hits);
  row_is_new_ &= ~bank;
  ++counters_.busy_slots;
  ++served_;
  overtaken_[direction] = choice.index == requests.oldest() ? 0 : overtaken_[direction] + 1;
  requests.remove(choice.index);
  find_hits(request.bank);
}

void Channel::finish_read(const Pending& request, std::int64_t clock) {
  ++counters_.reads;
  storage_.read_line(request.address, read_responses_.data(request.ticket));
  read_responses_.complete(request.ticket,
                           clock + parameters_.cl + kSlotClocks + parameters_.response_latency);
  record({clock, CommandKind::kRead, request.rank, request.group, request.bank, request.row,
          request.column});
}

void Channel::finish_write(const Pending& request, int index, std::int64_t clock) {
  ++counters_.writes;
  const WriteData& data = write_data_[at(index)];
  storage_.write_line(request.address, data.line, data.byte_enable);
  if (parameters_.write_response == WriteResponse::kWritten) {
    write_responses_.complete(request.ticket,
                              clock + parameters_.cwl + kSlotClocks + parameters_.response_latency);
  }
  record({clock, CommandKind::kWrite, request.rank, request.group, request.bank, request.row,
          request.column});
}

bool Channel::refreshing(int bank) const {
  const RankRefresh& refresh = refresh_[at(timing_.rank_of(bank))];
  return refresh.closing || refresh.busy_until >= slot_end();
}

/// What keeps a bank, which is not refreshing, from a burst in this slot.
IdleCause Channel::why_idle(int bank, const Pending& head) const {
  if ((servable_hits(direction_) & one_bank(bank)) != 0) {
    if (timing_.row_ready_at(bank) >= slot_end()) return IdleCause::kPage;
    if (timing_.rank_column_at(direction_, head.rank) >= slot_end()) return IdleCause::kTurnaround;
    // A group waits for tCCD_L, or for tWTR_L before the first read of a turn.
    return direction_ == Operation::kRead && served_ == 0 ? IdleCause::kTurnaround
                                                          : IdleCause::kColumnSpacing;
  }
  const bool closed = (timing_.open_banks() & one_bank(bank)) == 0;
  if (closed && timing_.bank_activate_at(bank) < slot_end() &&
      timing_.activate_at(head.rank, head.group, bank) >= slot_end()) {
    return IdleCause::kActivateLimit;
  }
  return IdleCause::kPage;
}

/// Nothing was started in this slot: counts the first cause, in the order of IdleCause, that holds
/// for a bank with requests.
void Channel::count_idle_slot() {
  const RequestQueue& requests = queue(direction_);
  bool any_ready = false;
  bool any_in_service = false;
  IdleCause cause = IdleCause::kPage;
  for (BankSet banks = requests.banks(); banks != 0; banks &= banks - 1) {
    const int bank = first_bank(banks);
    const Pending& head = requests[requests.head(bank)];
    if (head.ready >= slot_end()) continue;
    any_ready = true;
    if (refreshing(bank)) continue;
    any_in_service = true;
    cause = std::min(cause, why_idle(bank, head));
    if (cause == IdleCause::kTurnaround) break;  // none that could come before
  }
  if (!any_in_service) cause = any_ready ? IdleCause::kRefresh : IdleCause::kNoRequest;
  ++counters_.idle_slots[at(static_cast<int>(cause))];
}

std::int64_t Channel::take_bus_clock(std::int64_t earliest) {
  for (std::int64_t clock = std::max(earliest, now_); clock < slot_end(); ++clock) {
    const std::uint32_t bit = 1U << static_cast<unsigned>(clock - now_);
    if ((bus_taken_ & bit) == 0) {
      bus_taken_ |= bit;
      return clock;
    }
  }
  return -1;
}

}  // namespace logos::ddr4
