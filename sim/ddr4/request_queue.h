#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "program/check.h"
#include "sim/ddr4/parameters.h"
#include "sim/ddr4/timing_state.h"

namespace logos::ddr4 {

/// A request that waits for its burst.
struct Pending {
  std::uint64_t address;  ///< of the line
  std::int64_t ready;     ///< first clock at which a command may serve it
  std::uint64_t order;    ///< of acceptance, over reads and writes
  std::uint32_t row;
  std::uint32_t column;
  std::uint8_t rank;
  std::uint8_t group;
  std::uint8_t bank;
  std::uint16_t ticket;  ///< of its response
};

/// The requests of one direction. Each bank has a queue of `bank_places`, which the scheduler sees
/// whole; what finds its bank's queue full waits, in order, in one of `waiting_places` that all
/// banks share, and moves up as soon as there is a place. Kept as one list per bank whose first
/// `bank_places` entries are the seen ones.
class RequestQueue {
 public:
  static constexpr int kNone = -1;

  RequestQueue(int waiting_places, int bank_places, int banks);

  bool has_room() const { return waiting_ < waiting_places_; }
  int size() const { return size_; }
  BankSet banks() const { return banks_; }  ///< those with requests
  int oldest() const { return oldest_; }
  int head(int bank) const { return list_[slot(bank)].head; }
  const Pending& operator[](int index) const { return nodes_[slot(index)].pending; }

  /// Returns the entry's index, its name until it is removed.
  int push(const Pending& pending);
  void remove(int index);

  /// The oldest seen request for `row` of `bank`, or kNone.
  int first_seen(int bank, std::uint32_t row) const {
    int index = head(bank);
    for (int i = 0; i < bank_places_ && index != kNone; ++i) {
      if (nodes_[slot(index)].pending.row == row) return index;
      index = nodes_[slot(index)].next;
    }
    return kNone;
  }

  /// The youngest request for a line of `bank`, or kNone.
  int youngest_for(int bank, std::uint64_t address) const;

  int places() const { return static_cast<int>(nodes_.size()); }

 private:
  struct Node {
    Pending pending;
    std::int16_t next, previous;  ///< in the bank's list
    std::int16_t younger, older;  ///< in the order of acceptance
  };
  struct List {
    std::int16_t head = kNone, tail = kNone;
    std::int16_t count = 0;
  };
  static constexpr std::size_t slot(int i) { return static_cast<std::size_t>(i); }
  /// Lines share counts by a few bits of their address: a count of 0 spares the search of a list.
  static constexpr std::size_t kFilter = 512;
  static std::size_t filter_slot(std::uint64_t address) { return address / kLineBytes % kFilter; }

  int waiting_places_;
  int bank_places_;
  int size_ = 0;
  int waiting_ = 0;
  BankSet banks_ = 0;
  std::int16_t oldest_ = kNone, youngest_ = kNone;
  std::array<List, kMaxBanks> list_;
  std::array<std::uint16_t, kFilter> filter_{};
  std::vector<Node> nodes_;
  std::vector<std::int16_t> free_;
};

}  // namespace logos::ddr4
