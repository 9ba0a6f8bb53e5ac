#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace logos {

/// One cycle of an address channel.
struct AxiAddress {
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  unsigned length = 0;  ///< beats - 1
  unsigned size = 6;    ///< 2^size bytes a beat
  unsigned burst = 1;   ///< INCR
};

/// One cycle of a data channel of 64 bytes; W has no id, R no strobe.
struct AxiData {
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  bool last = false;
  unsigned response = 0;
  std::uint64_t strobe = ~std::uint64_t{0};
  std::array<std::uint32_t, 16> data{};
};

struct AxiResponse {
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  unsigned response = 0;
};

struct AxiCycle {
  AxiAddress ar;
  AxiData r;
  AxiAddress aw;
  AxiData w;
  AxiResponse b;
};

/// Watches one AXI4 port of 64-byte beats and writes down every breach of its rules, with the
/// channel and the address. It shares nothing with the engine or with the memory models.
class AxiChecker {
 public:
  struct Rules {
    unsigned max_beats = 64;
    bool reads_in_order = true;  ///< answers of all ids in the order of the requests
    bool contiguous_strobes = true;
  };

  AxiChecker(std::string port, Rules rules) : port_(std::move(port)), rules_(rules) {}

  /// One rising edge: the channels as they stood before it.
  void cycle(const AxiCycle& now) {
    check_stable(now);
    if (now.ar.valid && now.ar.ready) take_address("AR", now.ar, &reads_);
    if (now.aw.valid && now.aw.ready) {
      take_address("AW", now.aw, nullptr);
      writes_.push_back({now.aw.id, now.aw.address, now.aw.length + 1});
    }
    if (now.w.valid && now.w.ready) take_write_beat(now.w);
    match_writes();
    if (now.r.valid && now.r.ready) take_read_beat(now.r);
    if (now.b.valid && now.b.ready) take_write_answer(now.b);
    before_ = now;
    ++cycle_;
  }

  /// Nothing may stand out any more.
  void finish() {
    for (const Burst& burst : reads_) fault("R", burst.address, "was never answered");
    for (const Burst& burst : writes_) fault("W", burst.address, "has not all its data");
    if (!loose_beats_.empty()) fault("W", 0, "has data without an address");
    for (const auto& [id, addresses] : unanswered_) {
      for (const std::uint64_t address : addresses) fault("B", address, "was never answered");
    }
  }

  const std::vector<std::string>& faults() const { return faults_; }
  std::uint64_t reads() const { return read_bursts_; }
  std::uint64_t writes() const { return write_bursts_; }
  std::size_t reads_open() const { return reads_.size(); }

 private:
  struct Burst {
    std::uint64_t id;
    std::uint64_t address;
    unsigned beats;
    unsigned done = 0;
  };

  void fault(const char* channel, std::uint64_t address, const std::string& what) {
    if (faults_.size() < 100) {
      faults_.push_back(
          fmt::format("{} {} at {:#x}: {} (cycle {})", port_, channel, address, what, cycle_));
    }
  }

  void check_stable(const AxiCycle& now) {
    const auto address = [&](const char* channel, const AxiAddress& was, const AxiAddress& is) {
      if (!was.valid || was.ready) return;
      if (!is.valid) {
        fault(channel, was.address, "valid fell before ready");
      } else if (is.id != was.id || is.address != was.address || is.length != was.length ||
                 is.size != was.size || is.burst != was.burst) {
        fault(channel, was.address, "changed while it waited");
      }
    };
    const auto data = [&](const char* channel, const AxiData& was, const AxiData& is,
                          std::uint64_t at) {
      if (!was.valid || was.ready) return;
      if (!is.valid) {
        fault(channel, at, "valid fell before ready");
      } else if (is.id != was.id || is.last != was.last || is.response != was.response ||
                 is.strobe != was.strobe || is.data != was.data) {
        fault(channel, at, "changed while it waited");
      }
    };
    address("AR", before_.ar, now.ar);
    address("AW", before_.aw, now.aw);
    data("R", before_.r, now.r, reads_.empty() ? 0 : reads_.front().address);
    data("W", before_.w, now.w, writes_.empty() ? 0 : writes_.front().address);
    if (before_.b.valid && !before_.b.ready && (!now.b.valid || now.b.id != before_.b.id)) {
      fault("B", 0, "fell or changed while it waited");
    }
  }

  void take_address(const char* channel, const AxiAddress& is, std::deque<Burst>* list) {
    const unsigned beats = is.length + 1;
    const std::uint64_t bytes = std::uint64_t{beats} * 64;
    if (is.burst != 1) fault(channel, is.address, "is no INCR burst");
    if (is.size != 6) fault(channel, is.address, "has beats of another size than 64 bytes");
    if (is.address % 64 != 0) fault(channel, is.address, "is not aligned to its beat");
    if (beats > rules_.max_beats) fault(channel, is.address, fmt::format("has {} beats", beats));
    if (is.address / 4096 != (is.address + bytes - 1) / 4096) {
      fault(channel, is.address, fmt::format("crosses 4 KB with {} beats", beats));
    }
    if (list != nullptr) {
      list->push_back({is.id, is.address, beats});
      ++read_bursts_;
    }
  }

  void take_read_beat(const AxiData& is) {
    for (auto burst = reads_.begin(); burst != reads_.end(); ++burst) {
      if (burst->id != is.id) {
        if (rules_.reads_in_order) break;
        continue;
      }
      ++burst->done;
      if (is.last && burst->done < burst->beats) {
        fault("R", burst->address,
              fmt::format("last is early, on beat {} of {}", burst->done, burst->beats));
      } else if (!is.last && burst->done == burst->beats) {
        fault("R", burst->address, fmt::format("last is missing on beat {}", burst->beats));
      }
      if (is.last || burst->done == burst->beats) reads_.erase(burst);
      return;
    }
    fault("R", reads_.empty() ? 0 : reads_.front().address,
          fmt::format("a beat of id {} that nothing asked for", is.id));
  }

  void take_write_beat(const AxiData& is) {
    std::uint64_t strobe = is.strobe;
    if (rules_.contiguous_strobes && strobe != 0) {
      while ((strobe & 1) == 0) strobe >>= 1;
      if ((strobe & (strobe + 1)) != 0) {
        fault("W", writes_.empty() ? 0 : writes_.front().address, "has strobes with holes");
      }
    }
    loose_beats_.push_back(is.last);
  }

  /// Data belong to the addresses in order, whichever comes first.
  void match_writes() {
    while (!writes_.empty() && !loose_beats_.empty()) {
      Burst& burst = writes_.front();
      const bool last = loose_beats_.front();
      loose_beats_.pop_front();
      ++burst.done;
      if (last && burst.done < burst.beats) {
        fault("W", burst.address,
              fmt::format("last is early, on beat {} of {}", burst.done, burst.beats));
      } else if (!last && burst.done == burst.beats) {
        fault("W", burst.address, fmt::format("last is missing on beat {}", burst.beats));
      }
      if (last || burst.done == burst.beats) {
        unanswered_[burst.id].push_back(burst.address);
        ++write_bursts_;
        writes_.pop_front();
      }
    }
  }

  void take_write_answer(const AxiResponse& is) {
    const auto found = unanswered_.find(is.id);
    if (found == unanswered_.end() || found->second.empty()) {
      fault("B", 0, fmt::format("an answer of id {} that nothing asked for", is.id));
      return;
    }
    found->second.pop_front();
  }

  std::string port_;
  Rules rules_;
  AxiCycle before_;
  std::uint64_t cycle_ = 0;
  std::deque<Burst> reads_;
  std::deque<Burst> writes_;
  std::deque<bool> loose_beats_;
  std::map<std::uint64_t, std::deque<std::uint64_t>> unanswered_;
  std::uint64_t read_bursts_ = 0;
  std::uint64_t write_bursts_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace logos
