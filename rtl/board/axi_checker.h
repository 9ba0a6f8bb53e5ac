#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace logos::d5005 {

/// One cycle of an address channel.
struct AxiAddress {
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  unsigned length = 0;  ///< beats - 1
  unsigned size = 6;    ///< 2^size bytes a beat
  unsigned burst = 1;   ///< INCR

  bool operator==(const AxiAddress&) const = default;
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

  bool operator==(const AxiData&) const = default;
};

/// One cycle of B.
struct AxiAnswer {
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  unsigned response = 0;

  bool operator==(const AxiAnswer&) const = default;
};

struct AxiCycle {
  AxiAddress ar;
  AxiData r;
  AxiAddress aw;
  AxiData w;
  AxiAnswer b;
};

/// Keeps what breaks a port's rules: "bank 2 AR at 0x1fc0: crosses 4 KB with 2 beats (cycle 17)".
class PortFaults {
 public:
  explicit PortFaults(std::string port) : port_(std::move(port)) {}

  void add(std::string_view channel, std::uint64_t address, std::string_view what);
  void next_cycle() { ++cycle_; }
  std::uint64_t cycle() const { return cycle_; }
  const std::vector<std::string>& all() const { return faults_; }

  /// Once valid, a channel stays valid and as it is until ready.
  template <typename Channel>
  void check_stable(std::string_view channel, const Channel& before, Channel now,
                    std::uint64_t address) {
    if (!before.valid || before.ready) return;
    now.ready = before.ready;
    if (!now.valid) {
      add(channel, address, "valid fell before ready");
    } else if (!(now == before)) {
      add(channel, address, "changed while it waited");
    }
  }

 private:
  std::string port_;
  std::uint64_t cycle_ = 0;
  std::vector<std::string> faults_;
};

/// Watches one AXI4 port of 64-byte beats and writes down every breach of its rules. It shares
/// nothing with the engine or with the memory models.
class AxiChecker {
 public:
  struct Rules {
    unsigned max_beats = 64;
    bool reads_in_order = true;  ///< answers of all ids in the order of the requests
    bool contiguous_strobes = true;
    bool read_ids_differ = false;  ///< of all reads under way
  };

  AxiChecker(std::string port, Rules rules) : faults_(std::move(port)), rules_(rules) {}

  /// One rising edge: the channels as they stood before it.
  void cycle(const AxiCycle& now);
  /// Nothing may stand out any more.
  void finish();

  const std::vector<std::string>& faults() const { return faults_.all(); }
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

  void check_stable(const AxiCycle& now);
  void check_answers_are_due(const AxiCycle& now);
  void check_address(const char* channel, const AxiAddress& is);
  void take_read(const AxiAddress& is);
  void take_read_beat(const AxiData& is);
  void take_write_beat(const AxiData& is);
  void match_writes();
  void take_write_answer(const AxiAnswer& is);
  void check_beat(const char* channel, const Burst& burst, bool last);
  std::deque<Burst>::iterator read_of(std::uint64_t id);

  PortFaults faults_;
  Rules rules_;
  AxiCycle before_;
  std::deque<Burst> reads_;
  std::deque<Burst> writes_;      ///< that have not all their data
  std::deque<bool> loose_beats_;  ///< data without an address: their last flags
  std::map<std::uint64_t, std::deque<std::uint64_t>> unanswered_;  ///< addresses by id
  std::uint64_t read_bursts_ = 0;
  std::uint64_t write_bursts_ = 0;
};

/// Channels of an AXI-Lite port of 8-byte words.
struct LiteRequest {  ///< AR, AW
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  std::uint64_t user = 0;
  std::uint64_t address = 0;

  bool operator==(const LiteRequest&) const = default;
};

struct LiteData {  ///< W
  bool valid = false;
  bool ready = false;
  std::uint64_t data = 0;
  std::uint64_t strobe = 0;

  bool operator==(const LiteData&) const = default;
};

struct LiteAnswer {  ///< R, B (whose data are 0)
  bool valid = false;
  bool ready = false;
  std::uint64_t id = 0;
  std::uint64_t user = 0;
  unsigned response = 0;
  std::uint64_t data = 0;

  bool operator==(const LiteAnswer&) const = default;
};

struct LiteCycle {
  LiteRequest ar;
  LiteAnswer r;
  LiteRequest aw;
  LiteData w;
  LiteAnswer b;
};

/// Watches an AXI-Lite port: answers in the order of the requests, with their ids and users, OKAY,
/// and within `most_cycles` of the request's first cycle.
class AxiLiteChecker {
 public:
  AxiLiteChecker(std::string port, std::uint64_t most_cycles)
      : faults_(std::move(port)), most_cycles_(most_cycles) {}

  void cycle(const LiteCycle& now);
  void finish();
  const std::vector<std::string>& faults() const { return faults_.all(); }

 private:
  /// Requests of one direction that are not answered, oldest first.
  struct Open {
    LiteRequest request;
    std::uint64_t since;  ///< cycle in which it came to the port
  };

  void answer(std::string_view channel, const LiteAnswer& now, bool due, std::deque<Open>& open);
  void request(std::string_view channel, const LiteRequest& before, const LiteRequest& now,
               std::deque<Open>& open, std::uint64_t& since);

  PortFaults faults_;
  std::uint64_t most_cycles_;
  LiteCycle before_;
  std::deque<Open> reads_;
  std::deque<Open> writes_;
  std::uint64_t read_since_ = 0;  ///< when what stands at AR came
  std::uint64_t write_since_ = 0;
  std::uint64_t data_taken_ = 0;  ///< W of writes that are not answered
};

}  // namespace logos::d5005
