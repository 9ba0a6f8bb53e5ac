#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/ddr4/address_map.h"
#include "sim/ddr4/command.h"
#include "sim/ddr4/counters.h"
#include "sim/ddr4/parameters.h"
#include "sim/ddr4/request_queue.h"
#include "sim/ddr4/response_queue.h"
#include "sim/ddr4/storage.h"
#include "sim/ddr4/timing_state.h"

namespace logos::ddr4 {

/// One access of a whole line.
struct Request {
  Operation operation;
  std::uint64_t address;                          ///< in bytes, a multiple of 64
  std::uint64_t id;                               ///< comes back with the response
  const Line* data = nullptr;                     ///< of a write; copied on acceptance
  std::uint64_t byte_enable = ~std::uint64_t{0};  ///< of a write: bit n for byte n
};

/// A DDR4 channel: device, controller and contents. Time passes in slots of four memory clocks, the
/// length of a burst and of one user clock (299.76 MHz). In each slot the controller decides once:
/// at most one column command, one ACT per rank, two PREs, and what refresh needs, each at its
/// exact clock within the slot and no two at the same clock.
///
/// The controller opens and closes pages for the requests it sees as early as timing allows, serves
/// row hits first, then the oldest (with a limit to overtaking), gathers writes into batches, and
/// keeps the order of accesses to one line: data are read and written when their burst is issued.
///
/// A user clock is: try_request (any number until one is refused), tick_slot, then take responses.
/// Reads and writes share the one command channel; a refused request must be offered again before
/// later ones. Everything is a function of parameters, fill and calls.
class Channel {
 public:
  /// Refuses parameters that validate() refuses.
  Channel(const Parameters& parameters, const FillPattern& fill);

  /// Takes the request into the queues, or returns false: come again after a slot. Throws Error for
  /// an address outside the memory or within a line.
  bool try_request(const Request& request);

  void tick_slot();

  /// One user clock of a port without back-pressure on responses: offers `request` (null: none),
  /// lets the slot pass, then takes at most one response of each kind.
  struct UserClock {
    bool accepted = false;
    const Response* read = nullptr;  ///< valid until the next call of any kind
    const Response* write = nullptr;
  };
  UserClock user_clock(const Request* request);

  /// The next response that is at the port by now, or null. Valid until the next call.
  const Response* read_response() const { return read_responses_.front(now_); }
  const Response* write_response() const { return write_responses_.front(now_); }
  void pop_read_response() { read_responses_.pop(); }
  void pop_write_response() { write_responses_.pop(); }

  std::int64_t now() const { return now_; }  ///< memory clocks since power-up
  bool idle() const {
    return pending() == 0 && read_responses_.empty() && write_responses_.empty();
  }
  const Counters& counters() const { return counters_; }
  const Parameters& parameters() const { return parameters_; }

  /// The contents, without time. Writes still pending are not in it: wait for idle().
  Storage& storage() { return storage_; }
  const Storage& storage() const { return storage_; }

  /// Every command issued from now on is appended to `log` (those of one slot in no set order),
  /// until null is given. `log` must outlive that.
  void log_commands(std::vector<Command>* log) { log_ = log; }

 private:
  struct Choice {
    int index = RequestQueue::kNone;
    std::int64_t clock = 0;
  };
  struct RankRefresh {
    std::int64_t next_due = 0;
    int owed = 0;
    bool closing = false;         ///< no new ACT or column command until its REF
    std::int64_t busy_until = 0;  ///< end of the last tRFC
  };
  struct WriteData {
    Line line;
    std::uint64_t byte_enable;
  };
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  int pending() const { return queue(Operation::kRead).size() + queue(Operation::kWrite).size(); }
  RequestQueue& queue(Operation operation) { return queues_[at(index_of(operation))]; }
  const RequestQueue& queue(Operation operation) const { return queues_[at(index_of(operation))]; }
  Operation other_direction() const {
    return direction_ == Operation::kRead ? Operation::kWrite : Operation::kRead;
  }
  std::int64_t slot_end() const { return now_ + kSlotClocks; }

  // Acceptance (channel.cc).
  bool take_read(const Request& request, const Location& place);
  bool take_write(const Request& request, const Location& place);
  bool forward(const Request& request, int write);
  void enqueue(const Request& request, const Location& place, std::uint16_t ticket);

  // One slot (channel.cc).
  void choose_direction();
  BankSet servable_hits(Operation operation) const;
  void issue_column();
  Choice choose_column() const;
  void finish_read(const Pending& request, std::int64_t clock);
  void finish_write(const Pending& request, int index, std::int64_t clock);
  void count_idle_slot();
  IdleCause why_idle(int bank, const Pending& head) const;
  bool refreshing(int bank) const;

  // Rows and refresh (rows.cc).
  bool prepares_writes() const;
  void issue_activates();
  Choice choose_activate(Operation operation, BankSet banks) const;
  void issue_precharges();
  Choice choose_precharge(Operation operation, BankSet banks) const;
  void advance_refresh();
  void issue_refreshes();
  void find_hits(int bank);

  std::int64_t take_bus_clock(std::int64_t earliest);
  void record(const Command& command) {
    if (log_ != nullptr) log_->push_back(command);
  }

  Parameters parameters_;
  AddressMap map_;
  Storage storage_;
  TimingState timing_;
  std::array<RequestQueue, kOperations> queues_;
  std::vector<WriteData> write_data_;  ///< by index in the write queue
  ResponseQueue read_responses_;
  ResponseQueue write_responses_;
  bool taken_read_ = false;  ///< user_clock has handed out the front, which is still in its place
  bool taken_write_ = false;
  Counters counters_;
  std::vector<Command>* log_ = nullptr;

  std::int64_t now_ = 0;         ///< first clock of the slot to come
  std::uint32_t bus_taken_ = 0;  ///< clocks of the command bus in this slot
  std::uint64_t accepted_ = 0;

  /// Per direction and bank the oldest seen request for the open row, and the set of banks with
  /// one.
  std::array<std::array<int, kMaxBanks>, kOperations> hit_{};
  std::array<BankSet, kOperations> hits_{};
  BankSet row_is_new_ = 0;  ///< opened and not used yet

  Operation direction_ = Operation::kRead;
  int served_ = 0;             ///< bursts since the direction changed
  int batch_ = 0;              ///< bursts to serve before it changes again while both wait
  bool flush_writes_ = false;  ///< a read waits for a write of part of its line
  std::array<int, kOperations> overtaken_{};  ///< times the oldest request has been overtaken

  std::array<RankRefresh, kMaxRanks> refresh_{};
  std::int64_t next_refresh_due_ = 0;
  BankSet closing_banks_ = 0;
};

}  // namespace logos::ddr4
