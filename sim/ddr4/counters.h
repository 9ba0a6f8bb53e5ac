#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace logos::ddr4 {

/// Why no burst was started in a slot; the first that holds, in this order.
enum class IdleCause {
  kNoRequest,   ///< nothing pending that may be served (writes held back for their batch included)
  kRefresh,     ///< all that pends is in a rank that closes its pages or refreshes
  kTurnaround,  ///< data bus changes direction or rank, or tWTR
  kColumnSpacing,  ///< tCCD_L: only groups that have just been used are left
  kActivateLimit,  ///< rows to open, but tRRD or tFAW
  kPage            ///< rows being closed or opened (tRP, tRCD, tRAS, tRC, tWR, tRTP)
};
inline constexpr int kIdleCauses = 6;

constexpr std::string_view name_of(IdleCause cause) {
  switch (cause) {
    case IdleCause::kNoRequest:
      return "no_request";
    case IdleCause::kRefresh:
      return "refresh";
    case IdleCause::kTurnaround:
      return "turnaround";
    case IdleCause::kColumnSpacing:
      return "column_spacing";
    case IdleCause::kActivateLimit:
      return "activate_limit";
    case IdleCause::kPage:
      return "page";
  }
  return "";
}

struct Counters {
  std::uint64_t reads = 0;      ///< read bursts on the bus
  std::uint64_t writes = 0;     ///< write bursts on the bus
  std::uint64_t forwarded = 0;  ///< reads answered from the write queue, without a burst
  std::uint64_t activates = 0;
  std::uint64_t precharges = 0;  ///< of one bank or of all, commands
  std::uint64_t refreshes = 0;
  std::uint64_t row_hits = 0;    ///< bursts that needed no ACT of their own
  std::uint64_t row_misses = 0;  ///< the others
  std::uint64_t refused = 0;     ///< try_request that was told to come again
  std::uint64_t slots = 0;
  std::uint64_t busy_slots = 0;                         ///< slots in which a burst was started
  std::array<std::uint64_t, kIdleCauses> idle_slots{};  ///< with busy_slots they add up to slots
};

}  // namespace logos::ddr4
