#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace logos::ddr4 {

/// One access moves one burst of 8 on 64 bits: the unit of requests, and 4 clocks of the data bus.
inline constexpr int kLineBytes = 64;
inline constexpr int kSlotClocks = 4;
/// Banks over all ranks; the controller keeps sets of banks in one 32-bit word.
inline constexpr int kMaxBanks = 32;
inline constexpr int kMaxRanks = 2;
inline constexpr int kMaxGroups = 8;  ///< bank groups over all ranks

enum class ResponseOrder {
  kInOrder,     ///< the order in which requests were accepted, reads and writes apart
  kAsCompleted  ///< as the data come (how DRAMsim3 calls back)
};

enum class WriteResponse {
  kAccepted,  ///< posted: reads that follow on the same channel see the data anyway
  kWritten    ///< after the last beat on the memory's data bus
};

/// What fixes a channel's behaviour. There are no defaults: all of it comes from a configuration
/// (`configs/boards/*.json`, section "ddr4") or from a caller that states every value. Times `t_*`,
/// latencies and limits count memory clocks (1200 MHz nominal).
struct Parameters {
  // Organisation: powers of two. One channel, 64 data bits, bursts of 8.
  int ranks;
  int bank_groups;      ///< of a rank
  int banks_per_group;  ///< of a bank group
  int rows;             ///< of a bank
  int columns;          ///< of a row, each `data_bits` wide
  int data_bits;
  int burst_length;
  double memory_clock_mhz;

  // Timing of the device and of the shared data bus (JEDEC names).
  int t_rcd;              ///< ACT to RD or WR
  int t_rp;               ///< PRE to ACT or REF
  int cl;                 ///< RD to its first data
  int cwl;                ///< WR to its first data
  int t_ras;              ///< ACT to PRE
  int t_rc;               ///< ACT to ACT or REF, one bank
  int t_ccd_s, t_ccd_l;   ///< RD to RD, WR to WR: other group, same group
  int t_rrd_s, t_rrd_l;   ///< ACT to ACT: other group, same group
  int t_faw;              ///< window that holds at most four ACTs of a rank
  int t_wr;               ///< last write data to PRE
  int t_wtr_s, t_wtr_l;   ///< last write data to RD: other group, same group
  int t_rtp;              ///< RD to PRE
  int t_refi;             ///< mean distance of two REFs of a rank
  int t_rfc;              ///< REF to ACT or REF
  int rank_switch;        ///< idle data clocks between bursts of different ranks
  int read_to_write_gap;  ///< idle data clocks between read data and write data

  // Controller.
  std::string address_order;    ///< see AddressMap
  int read_queue, write_queue;  ///< entries that wait for a place in their bank's queue, each
  int bank_queue;               ///< entries of a bank and direction that the scheduler sees
  int write_high;               ///< writes pending from which on they are drained
  int write_low;                ///< draining ends here when reads wait
  int write_wait_limit;         ///< a write waits no longer before draining begins
  int starvation_limit;         ///< requests that may be served before the oldest; 0: no limit
  int refresh_postpone;         ///< REFs that may be owed while requests wait, 0 to 8
  int request_latency;          ///< acceptance to the first clock at which a command may follow
  int response_latency;         ///< last data on the bus to the response at the port
  int in_flight;                ///< reads, and writes, accepted and not yet taken as responses
  ResponseOrder response_order;
  WriteResponse write_response;

  int banks() const { return bank_groups * banks_per_group; }  ///< of a rank
  std::uint64_t bytes() const;                                 ///< of the channel
};

/// Refuses, naming `where`.key, what the model cannot honour: values out of range, sizes that are
/// no powers of two, times below a slot where a slot decides once.
void validate(const Parameters& parameters, std::string_view where);

}  // namespace logos::ddr4
