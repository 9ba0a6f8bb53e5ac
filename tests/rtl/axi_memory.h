#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <unordered_map>

#include "rtl/board/axi_checker.h"

namespace logos {

using d5005::AxiChecker;
using d5005::AxiCycle;
using d5005::AxiData;

using Beat = std::array<std::uint32_t, 16>;  ///< 64 bytes

/// A memory behind an AXI4 port of 64-byte beats, for benches: random delays and back-pressure by
/// seed, noise on idle data lines, faults on request. `sample` takes an edge, `drive` says what the
/// memory puts on its side of the port until the next one.
class AxiMemory {
 public:
  struct Options {
    unsigned ready_percent = 70;   ///< how often it takes a request
    unsigned answer_percent = 70;  ///< how often it gives a beat that is due
    unsigned min_latency = 5;      ///< cycles
    unsigned max_latency = 40;
    bool in_order = true;  ///< answers of reads in the order of the requests
  };

  AxiMemory(Options options, std::uint32_t seed) : options_(options), random_(seed) {}

  Beat& at(std::uint64_t address) {
    const auto found = beats_.find(address / 64);
    if (found != beats_.end()) return found->second;
    Beat noise;
    for (std::uint32_t& word : noise) word = static_cast<std::uint32_t>(random_());
    return beats_.emplace(address / 64, noise).first->second;
  }

  void set_silent(bool silent) { silent_ = silent; }
  void fail_read(std::uint64_t address) { bad_read_ = address; }
  void fail_write(std::uint64_t address) { bad_write_ = address; }
  /// A beat that nothing asked for, as soon as the port is free.
  void answer_unasked(std::uint64_t id) { unasked_ = id; }
  /// As after a reset of the memory's port.
  void forget_requests() {
    reads_.clear();
    writes_.clear();
    data_.clear();
    answers_.clear();
    side_.r.valid = side_.b.valid = false;
  }
  void set_options(const Options& options) { options_ = options; }
  std::size_t waiting() const { return reads_.size() + answers_.size(); }
  std::uint64_t beats_read() const { return beats_read_; }
  std::uint64_t beats_written() const { return beats_written_; }

  void sample(const AxiCycle& now) {
    ++cycle_;
    if (now.ar.valid && now.ar.ready) {
      reads_.push_back({now.ar.id, now.ar.address, now.ar.length + 1, due()});
    }
    if (now.aw.valid && now.aw.ready) writes_.push_back({now.aw.id, now.aw.address, 1, 0});
    if (now.w.valid && now.w.ready) data_.push_back(now.w);
    while (!writes_.empty() && !data_.empty()) {
      write(writes_.front(), data_.front());
      writes_.pop_front();
      data_.pop_front();
    }
    if (now.r.valid && now.r.ready) side_.r.valid = false;
    if (now.b.valid && now.b.ready) side_.b.valid = false;
  }

  /// Only what the memory drives is meant: ready of AR, AW, W; R; B.
  const AxiCycle& drive() {
    side_.ar.ready = !silent_ && chance(options_.ready_percent);
    side_.aw.ready = !silent_ && chance(options_.ready_percent);
    side_.w.ready = !silent_ && chance(options_.ready_percent);
    if (!side_.r.valid) {
      side_.r.valid = false;
      for (std::uint32_t& word : side_.r.data) word = static_cast<std::uint32_t>(random_());
      side_.r.last = chance(50);
      side_.r.id = random_() & 0xFF;
      if (unasked_) {
        side_.r.valid = true;
        side_.r.id = *unasked_;
        side_.r.response = 0;
        unasked_.reset();
      } else if (!silent_ && !reads_.empty() && chance(options_.answer_percent)) {
        give_beat();
      }
    }
    if (!side_.b.valid && !silent_ && !answers_.empty() && answers_.front().due <= cycle_ &&
        chance(options_.answer_percent)) {
      side_.b = {true, false, answers_.front().id,
                 answers_.front().address == bad_write_ ? 2U : 0U};
      answers_.pop_front();
    }
    return side_;
  }

 private:
  struct Request {
    std::uint64_t id;
    std::uint64_t address;
    unsigned beats;
    std::uint64_t due;
  };

  bool chance(unsigned percent) { return random_() % 100 < percent; }
  std::uint64_t due() {
    return cycle_ + options_.min_latency +
           random_() % (options_.max_latency - options_.min_latency + 1);
  }

  void give_beat() {
    std::size_t index = 0;
    if (!options_.in_order) index = random_() % reads_.size();
    Request& request = reads_[index];
    if (request.due > cycle_) return;
    side_.r.valid = true;
    side_.r.id = request.id;
    side_.r.data = at(request.address);
    side_.r.response = request.address == bad_read_ ? 2 : 0;
    side_.r.last = request.beats == 1;
    ++beats_read_;
    request.address += 64;
    if (--request.beats == 0) reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void write(const Request& request, const AxiData& data) {
    Beat& beat = at(request.address);
    for (unsigned byte = 0; byte < 64; ++byte) {
      if ((data.strobe >> byte & 1) == 0) continue;
      const std::uint32_t mask = 0xFFU << (byte % 4 * 8);
      beat[byte / 4] = (beat[byte / 4] & ~mask) | (data.data[byte / 4] & mask);
    }
    ++beats_written_;
    answers_.push_back({request.id, request.address, 1, due()});
  }

  Options options_;
  std::mt19937 random_;
  std::unordered_map<std::uint64_t, Beat> beats_;
  std::deque<Request> reads_;
  std::deque<Request> writes_;
  std::deque<AxiData> data_;
  std::deque<Request> answers_;
  AxiCycle side_;
  std::uint64_t cycle_ = 0;
  std::uint64_t beats_read_ = 0;
  std::uint64_t beats_written_ = 0;
  bool silent_ = false;
  std::optional<std::uint64_t> unasked_;
  std::uint64_t bad_read_ = ~std::uint64_t{0};
  std::uint64_t bad_write_ = ~std::uint64_t{0};
};

}  // namespace logos
