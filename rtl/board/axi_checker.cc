#include "rtl/board/axi_checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace logos::d5005 {
namespace {

constexpr std::size_t kMostFaults = 100;  // the first tell all
constexpr unsigned kOkay = 0;
constexpr unsigned kExclusiveOkay = 1;
constexpr std::uint64_t kPage = 4096;

template <typename Queue>
std::uint64_t front_address(const Queue& queue) {
  return queue.empty() ? 0 : queue.front().address;
}

}  // namespace

void PortFaults::add(std::string_view channel, std::uint64_t address, std::string_view what) {
  if (faults_.size() >= kMostFaults) return;
  faults_.push_back(
      fmt::format("{} {} at {:#x}: {} (cycle {})", port_, channel, address, what, cycle_));
}

/// Answers come before this cycle's requests: no answer is due in the cycle of its request.
void AxiChecker::cycle(const AxiCycle& now) {
  check_stable(now);
  check_answers_are_due(now);
  if (now.r.valid && now.r.ready) take_read_beat(now.r);
  if (now.b.valid && now.b.ready) take_write_answer(now.b);
  if (now.ar.valid && now.ar.ready) take_read(now.ar);
  if (now.aw.valid && now.aw.ready) {
    check_address("AW", now.aw);
    writes_.push_back({now.aw.id, now.aw.address, now.aw.length + 1});
  }
  if (now.w.valid && now.w.ready) take_write_beat(now.w);
  match_writes();
  before_ = now;
  faults_.next_cycle();
}

void AxiChecker::finish() {
  for (const Burst& burst : reads_) faults_.add("R", burst.address, "was never answered");
  for (const Burst& burst : writes_) faults_.add("W", burst.address, "has not all its data");
  if (!loose_beats_.empty()) faults_.add("W", 0, "has data without an address");
  for (const auto& [id, addresses] : unanswered_) {
    for (const std::uint64_t address : addresses) faults_.add("B", address, "was never answered");
  }
}

void AxiChecker::check_stable(const AxiCycle& now) {
  faults_.check_stable("AR", before_.ar, now.ar, before_.ar.address);
  faults_.check_stable("AW", before_.aw, now.aw, before_.aw.address);
  faults_.check_stable("R", before_.r, now.r, front_address(reads_));
  faults_.check_stable("W", before_.w, now.w, front_address(writes_));
  faults_.check_stable("B", before_.b, now.b, 0);
}

std::deque<AxiChecker::Burst>::iterator AxiChecker::read_of(std::uint64_t id) {
  if (rules_.reads_in_order) {
    return !reads_.empty() && reads_.front().id == id ? reads_.begin() : reads_.end();
  }
  return std::find_if(reads_.begin(), reads_.end(),
                      [id](const Burst& burst) { return burst.id == id; });
}

/// What is offered, taken or not.
void AxiChecker::check_answers_are_due(const AxiCycle& now) {
  const bool new_r = now.r.valid && (!before_.r.valid || before_.r.ready);
  if (new_r && read_of(now.r.id) == reads_.end()) {
    faults_.add("R", front_address(reads_),
                fmt::format("a beat of id {} that nothing asked for", now.r.id));
  }
  if (new_r && now.r.response == kExclusiveOkay) {
    faults_.add("R", front_address(reads_), "EXOKAY, and nothing exclusive was asked for");
  }
  const bool new_b = now.b.valid && (!before_.b.valid || before_.b.ready);
  const auto written = unanswered_.find(now.b.id);
  if (new_b && (written == unanswered_.end() || written->second.empty())) {
    faults_.add("B", 0, fmt::format("an answer of id {} that nothing asked for", now.b.id));
  }
  if (new_b && now.b.response == kExclusiveOkay) {
    faults_.add("B", 0, "EXOKAY, and nothing exclusive was asked for");
  }
}

void AxiChecker::check_address(const char* channel, const AxiAddress& is) {
  const unsigned beats = is.length + 1;
  const std::uint64_t bytes = std::uint64_t{beats} * 64;
  if (is.burst != 1) faults_.add(channel, is.address, "is no INCR burst");
  if (is.size != 6) {
    faults_.add(channel, is.address, "has beats of another size than 64 bytes");
  }
  if (is.address % 64 != 0) faults_.add(channel, is.address, "is not aligned to its beat");
  if (beats > rules_.max_beats) {
    faults_.add(channel, is.address, fmt::format("has {} beats", beats));
  }
  if (is.address / kPage != (is.address + bytes - 1) / kPage) {
    faults_.add(channel, is.address, fmt::format("crosses 4 KB with {} beats", beats));
  }
}

void AxiChecker::take_read(const AxiAddress& is) {
  check_address("AR", is);
  if (rules_.read_ids_differ && std::any_of(reads_.begin(), reads_.end(), [&](const Burst& burst) {
        return burst.id == is.id;
      })) {
    faults_.add("AR", is.address, fmt::format("has id {} of a read that is under way", is.id));
  }
  reads_.push_back({is.id, is.address, is.length + 1});
  ++read_bursts_;
}

void AxiChecker::check_beat(const char* channel, const Burst& burst, bool last) {
  if (last && burst.done < burst.beats) {
    faults_.add(channel, burst.address,
                fmt::format("last is early, on beat {} of {}", burst.done, burst.beats));
  } else if (!last && burst.done == burst.beats) {
    faults_.add(channel, burst.address, fmt::format("last is missing on beat {}", burst.beats));
  }
}

void AxiChecker::take_read_beat(const AxiData& is) {
  const auto burst = read_of(is.id);
  if (burst == reads_.end()) return;  // reported where it was offered
  ++burst->done;
  check_beat("R", *burst, is.last);
  if (is.last || burst->done == burst->beats) reads_.erase(burst);
}

void AxiChecker::take_write_beat(const AxiData& is) {
  std::uint64_t strobe = is.strobe;
  if (rules_.contiguous_strobes && strobe != 0) {
    while ((strobe & 1) == 0) strobe >>= 1;
    if ((strobe & (strobe + 1)) != 0) {
      faults_.add("W", front_address(writes_), "has strobes with holes");
    }
  }
  loose_beats_.push_back(is.last);
}

/// Data belong to the addresses in order, whichever comes first.
void AxiChecker::match_writes() {
  while (!writes_.empty() && !loose_beats_.empty()) {
    Burst& burst = writes_.front();
    const bool last = loose_beats_.front();
    loose_beats_.pop_front();
    ++burst.done;
    check_beat("W", burst, last);
    if (!last && burst.done < burst.beats) continue;
    unanswered_[burst.id].push_back(burst.address);
    ++write_bursts_;
    writes_.pop_front();
  }
}

void AxiChecker::take_write_answer(const AxiAnswer& is) {
  const auto found = unanswered_.find(is.id);
  if (found == unanswered_.end() || found->second.empty()) return;  // reported where offered
  found->second.pop_front();
}

void AxiLiteChecker::cycle(const LiteCycle& now) {
  faults_.check_stable("AR", before_.ar, now.ar, before_.ar.address);
  faults_.check_stable("AW", before_.aw, now.aw, before_.aw.address);
  faults_.check_stable("W", before_.w, now.w, before_.aw.address);
  faults_.check_stable("R", before_.r, now.r, reads_.empty() ? 0 : reads_.front().request.address);
  faults_.check_stable("B", before_.b, now.b,
                       writes_.empty() ? 0 : writes_.front().request.address);
  answer("R", now.r, true, reads_);
  answer("B", now.b, data_taken_ > 0, writes_);
  if (now.b.valid && now.b.ready && data_taken_ > 0) --data_taken_;
  request("AR", before_.ar, now.ar, reads_, read_since_);
  request("AW", before_.aw, now.aw, writes_, write_since_);
  if (now.w.valid && now.w.ready) ++data_taken_;
  before_ = now;
  faults_.next_cycle();
}

void AxiLiteChecker::answer(std::string_view channel, const LiteAnswer& now, bool due,
                            std::deque<Open>& open) {
  if (!now.valid) {
    for (const Open& waits : open) {
      if (faults_.cycle() - waits.since != most_cycles_) continue;
      faults_.add(channel, waits.request.address,
                  fmt::format("no answer within {} cycles", most_cycles_));
    }
    return;
  }
  if (open.empty() || !due) {
    if (now.ready) faults_.add(channel, 0, "an answer that nothing asked for");
    return;
  }
  if (!now.ready) return;
  const LiteRequest& asked = open.front().request;
  if (now.id != asked.id) {
    faults_.add(channel, asked.address, fmt::format("id {}, not {}", now.id, asked.id));
  }
  if (now.user != asked.user) {
    faults_.add(channel, asked.address, fmt::format("user {}, not {}", now.user, asked.user));
  }
  if (now.response != kOkay) {
    faults_.add(channel, asked.address, fmt::format("response {}, not OKAY", now.response));
  }
  open.pop_front();
}

void AxiLiteChecker::request(std::string_view channel, const LiteRequest& before,
                             const LiteRequest& now, std::deque<Open>& open, std::uint64_t& since) {
  if (!now.valid) return;
  if (!before.valid || before.ready) since = faults_.cycle();
  if (!now.ready) {
    if (faults_.cycle() - since == most_cycles_) {
      faults_.add(channel, now.address, fmt::format("not taken within {} cycles", most_cycles_));
    }
    return;
  }
  open.push_back({now, since});
}

void AxiLiteChecker::finish() {
  for (const Open& open : reads_) faults_.add("R", open.request.address, "was never answered");
  for (const Open& open : writes_) faults_.add("B", open.request.address, "was never answered");
  if (data_taken_ > writes_.size()) faults_.add("W", 0, "has data without an address");
}

}  // namespace logos::d5005
