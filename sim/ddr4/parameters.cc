#include "sim/ddr4/parameters.h"

#include <fmt/format.h>

#include <bit>

#include "program/error.h"
#include "sim/ddr4/address_map.h"

namespace logos::ddr4 {
namespace {

/// No time of a DDR4 part comes near; keeps every sum of times far from overflow.
constexpr int kMaxClocks = 1'000'000;

class Validator {
 public:
  explicit Validator(std::string_view where) : where_(where) {}

  void in_range(std::string_view key, int value, int least, int most) const {
    if (value >= least && value <= most) return;
    throw Error(fmt::format("{}.{}", where_, key), "value out of range", std::to_string(value),
                fmt::format("{} to {}", least, most));
  }

  void power_of_two(std::string_view key, int value, int most) const {
    in_range(key, value, 1, most);
    if (std::has_single_bit(static_cast<unsigned>(value))) return;
    throw Error(fmt::format("{}.{}", where_, key), "not a power of two", std::to_string(value),
                "a power of two");
  }

  void not_below(std::string_view key, int value, std::string_view other, int least) const {
    if (value >= least) return;
    throw Error(fmt::format("{}.{}", where_, key), "too small", std::to_string(value),
                fmt::format("at least {} ({})", least, other));
  }

 private:
  std::string_view where_;
};

void validate_organisation(const Parameters& p, std::string_view where) {
  const Validator valid(where);
  valid.power_of_two("ranks", p.ranks, kMaxRanks);
  valid.power_of_two("bank_groups", p.bank_groups, kMaxGroups / kMaxRanks);
  valid.power_of_two("banks_per_group", p.banks_per_group, 4);
  valid.power_of_two("rows", p.rows, 1 << 18);
  valid.power_of_two("columns", p.columns, 1 << 12);
  valid.not_below("columns", p.columns, "one burst", 8);
  valid.in_range("data_bits", p.data_bits, 64, 64);
  valid.in_range("burst_length", p.burst_length, 8, 8);
  if (!(p.memory_clock_mhz >= 1 && p.memory_clock_mhz <= 10'000)) {
    throw Error(fmt::format("{}.memory_clock_mhz", where), "value out of range",
                fmt::format("{}", p.memory_clock_mhz), "1 to 10000");
  }
}

/// Two commands of a kind that can follow each other within a slot would need two decisions in it:
/// hence the lower bounds of 4 clocks. All are below what JEDEC allows for DDR4.
void validate_timing(const Parameters& p, std::string_view where) {
  const Validator valid(where);
  valid.in_range("t_rcd", p.t_rcd, kSlotClocks, kMaxClocks);
  valid.in_range("t_rp", p.t_rp, kSlotClocks, kMaxClocks);
  valid.in_range("cl", p.cl, 1, kMaxClocks);
  valid.in_range("cwl", p.cwl, 1, kMaxClocks);
  valid.in_range("t_ras", p.t_ras, kSlotClocks, kMaxClocks);
  valid.in_range("t_rc", p.t_rc, kSlotClocks, kMaxClocks);
  valid.in_range("t_ccd_s", p.t_ccd_s, kSlotClocks, kMaxClocks);
  valid.in_range("t_ccd_l", p.t_ccd_l, kSlotClocks, kMaxClocks);
  valid.not_below("t_ccd_l", p.t_ccd_l, "t_ccd_s", p.t_ccd_s);
  valid.in_range("t_rrd_s", p.t_rrd_s, kSlotClocks, kMaxClocks);
  valid.in_range("t_rrd_l", p.t_rrd_l, kSlotClocks, kMaxClocks);
  valid.not_below("t_rrd_l", p.t_rrd_l, "t_rrd_s", p.t_rrd_s);
  valid.in_range("t_faw", p.t_faw, kSlotClocks, kMaxClocks);
  valid.in_range("t_wr", p.t_wr, 1, kMaxClocks);
  valid.in_range("t_wtr_s", p.t_wtr_s, 1, kMaxClocks);
  valid.in_range("t_wtr_l", p.t_wtr_l, 1, kMaxClocks);
  valid.not_below("t_wtr_l", p.t_wtr_l, "t_wtr_s", p.t_wtr_s);
  valid.in_range("t_rtp", p.t_rtp, kSlotClocks, kMaxClocks);
  valid.in_range("t_rfc", p.t_rfc, kSlotClocks, kMaxClocks);
  valid.in_range("t_refi", p.t_refi, 1, kMaxClocks);
  // Else a rank could do nothing but refresh and fall behind all the same.
  valid.not_below("t_refi", p.t_refi, "twice the time of a refresh with all pages closed",
                  2 * (p.t_rfc + p.t_rp + p.t_rc + p.t_ras + p.t_wr + p.cwl + p.t_rcd));
  valid.in_range("rank_switch", p.rank_switch, 0, 64);
  valid.in_range("read_to_write_gap", p.read_to_write_gap, 0, 64);
}

void validate_controller(const Parameters& p, std::string_view where) {
  const Validator valid(where);
  valid.in_range("read_queue", p.read_queue, 1, 1024);
  valid.in_range("write_queue", p.write_queue, 1, 1024);
  valid.in_range("bank_queue", p.bank_queue, 1, 64);
  // Not above what one bank alone can hold, or a drain would never begin for lack of room.
  valid.in_range("write_high", p.write_high, 1, p.write_queue + p.bank_queue);
  valid.in_range("write_low", p.write_low, 0, p.write_high - 1);
  valid.in_range("write_wait_limit", p.write_wait_limit, 1, kMaxClocks);
  valid.in_range("starvation_limit", p.starvation_limit, 0, kMaxClocks);
  valid.in_range("refresh_postpone", p.refresh_postpone, 0, 8);
  valid.in_range("request_latency", p.request_latency, 0, kMaxClocks);
  valid.in_range("response_latency", p.response_latency, 0, kMaxClocks);
  valid.in_range("in_flight", p.in_flight, 1, 1 << 16);
}

}  // namespace

std::uint64_t Parameters::bytes() const {
  return static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(banks()) *
         static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) *
         static_cast<std::uint64_t>(data_bits / 8);
}

void validate(const Parameters& parameters, std::string_view where) {
  validate_organisation(parameters, where);
  validate_timing(parameters, where);
  validate_controller(parameters, where);
  AddressMap(parameters, where);  // refuses a wrong order
}

}  // namespace logos::ddr4
