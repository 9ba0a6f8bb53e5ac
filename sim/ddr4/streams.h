#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/ddr4/channel.h"

namespace logos::ddr4 {

/// A stream of requests: chunks of consecutive lines at random places (or one chunk without end),
/// each request a write with the given probability.
struct Stream {
  std::uint64_t chunk_bytes;  ///< 0: sequential from address 0
  int write_percent;
};

/// How requests are offered: at most one per memory clock with all room used, or evenly spaced by a
/// fraction of the peak rate, or one every so many clocks with no other outstanding.
struct Load {
  double fraction = 1;            ///< 1: maximal
  std::int64_t every_clocks = 0;  ///< not 0: instead of a fraction
};

struct Measured {
  double fraction;  ///< of the data bus's peak, over all but the first quarter of the requests
  double mean_latency, p50_latency, p99_latency;  ///< of reads, clocks, acceptance to data
  Counters counters;                              ///< of the whole run
  std::int64_t clocks;
};

/// Addresses and directions of a stream, by seed.
class StreamSource {
 public:
  StreamSource(const Stream& stream, std::uint64_t memory_bytes, std::uint64_t seed);
  struct Item {
    Operation operation;
    std::uint64_t address;
  };
  Item next();

 private:
  Stream stream_;
  std::uint64_t memory_bytes_;
  std::mt19937_64 random_;
  std::uint64_t address_ = 0;
  std::uint64_t left_ = 0;  ///< lines of the chunk
};

/// Runs `requests` requests of a stream through a fresh channel.
Measured measure(const Parameters& parameters, const Stream& stream, const Load& load,
                 std::uint64_t requests, std::uint64_t seed);

/// DDR4-2400, 8 Gbit x8, as DRAMsim3's configs/DDR4_8Gb_x8_2400.ini has it, with an address order
/// in its notation; queues and completion like its own (32 waiting, 8 per bank, calls back at
/// once).
Parameters dramsim3_parameters(const std::string& address_order, int ranks);

}  // namespace logos::ddr4
