#pragma once

#include <cstdint>

#include "sim/ddr4/storage.h"

namespace logos::d5005 {

using Line = ddr4::Line;

// One AXI4 port of 512 bits as a board sees it, a field a signal. The engine's bursts are INCR,
// aligned, 64 bytes a beat; its writes are single beats.

/// What the engine drives.
struct AxiRequest {
  bool ar_valid = false;
  std::uint32_t ar_id = 0;
  std::uint64_t ar_address = 0;  ///< bytes
  std::uint32_t ar_beats = 1;
  bool r_ready = false;
  bool aw_valid = false;
  std::uint32_t aw_id = 0;
  std::uint64_t aw_address = 0;
  bool w_valid = false;
  Line w_data{};
  std::uint64_t w_strobe = 0;
  bool b_ready = false;
};

/// What the board drives.
struct AxiResponse {
  bool ar_ready = false;
  bool r_valid = false;
  std::uint32_t r_id = 0;
  Line r_data{};
  std::uint32_t r_response = 0;  ///< 0 OKAY, 2 SLVERR
  bool r_last = false;
  bool aw_ready = false;
  bool w_ready = false;
  bool b_valid = false;
  std::uint32_t b_id = 0;
  std::uint32_t b_response = 0;
};

/// What a test or a user plants into a bank, the host link or the engine's registers. All of them
/// last from their first cycle on; a flipped bit comes again every kFlipPeriod answers.
enum class PortFault {
  kNone,
  kSilent,       ///< answers nothing
  kReadError,    ///< answers reads with SLVERR
  kWriteError,   ///< answers writes with SLVERR
  kBitFlip,      ///< a bit of what is read is wrong now and then
  kStuckBit,     ///< a data line stands still
  kLostWrite,    ///< writes are answered and not kept
  kAddressLine,  ///< an address line stands at 0
  kSlow,         ///< answers at a fraction of its rate
  kReset,        ///< the engine alone: a soft reset that nobody asked for, once
  kStopped       ///< the engine alone: its clock stands still
};

inline constexpr std::uint64_t kFlipPeriod = 1009;

struct PlantedFault {
  PortFault kind = PortFault::kNone;
  std::uint64_t cycle = 0;  ///< of the unit's own clock, from power-up on
};

/// Random back-pressure: how often, of 256, a ready or a new valid is held back.
struct Stalls {
  std::uint32_t of_256 = 0;
  std::uint64_t seed = 1;
};

}  // namespace logos::d5005
