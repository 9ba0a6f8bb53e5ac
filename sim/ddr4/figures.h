#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/ddr4/streams.h"

namespace logos::ddr4 {

/// Address orders by what lies lowest, in DRAMsim3's notation.
inline constexpr std::string_view kGroupLow = "rorabachcobg";   ///< like the board's
inline constexpr std::string_view kColumnLow = "rochrababgco";  ///< DRAMsim3's default
inline constexpr std::string_view kGroupBankLow = "rochracobabg";
inline constexpr std::string_view kRowLow = "chrababgcoro";

/// What DRAMsim3 29817593 (DDR4_8Gb_x8_2400.ini) reaches on a stream at maximal rate, as a fraction
/// of the bus's peak, refresh included.
struct BandwidthFigure {
  std::string_view order;
  int ranks;
  Stream stream;
  double dramsim3;
  bool tabled = true;  ///< in reference/dramsim3.md; false: measured with the same build and method
};

/// With reads, of lines in row order or at random: mean and median latency at a load. p99 is that
/// of requests behind a refresh.
struct LatencyFigure {
  std::uint64_t chunk_bytes;
  Load load;
  double mean, p50, p99;
};

inline constexpr std::uint64_t kKi = 1024;

inline constexpr std::array<BandwidthFigure, 49> kBandwidthFigures = {{
    {kGroupLow, 1, {0, 0}, 0.950},
    {kColumnLow, 1, {0, 0}, 0.782},
    {kRowLow, 1, {0, 0}, 0.068},
    {kGroupBankLow, 1, {0, 0}, 0.950},
    {kGroupLow, 2, {0, 0}, 0.954},
    {kColumnLow, 2, {0, 0}, 0.777},
    {kGroupBankLow, 2, {0, 0}, 0.962},
    {kGroupLow, 1, {64, 0}, 0.580},
    {kColumnLow, 1, {64, 0}, 0.581},
    {kGroupLow, 2, {64, 0}, 0.876},
    {kGroupLow, 1, {256, 0}, 0.581},
    {kColumnLow, 1, {256, 0}, 0.936},
    {kGroupLow, 1, {1 * kKi, 0}, 0.927},
    {kColumnLow, 1, {1 * kKi, 0}, 0.930},
    {kGroupLow, 1, {4 * kKi, 0}, 0.947},
    {kColumnLow, 1, {4 * kKi, 0}, 0.842},
    {kGroupLow, 1, {16 * kKi, 0}, 0.950},
    {kColumnLow, 1, {16 * kKi, 0}, 0.778},
    {kGroupLow, 2, {16 * kKi, 0}, 0.935},
    {kGroupLow, 1, {0, 10}, 0.933},
    {kColumnLow, 1, {0, 10}, 0.799},
    {kGroupLow, 2, {0, 10}, 0.935},
    {kGroupLow, 1, {64, 10}, 0.575},
    {kColumnLow, 1, {64, 10}, 0.576},
    {kGroupLow, 1, {4 * kKi, 10}, 0.894},
    {kColumnLow, 1, {4 * kKi, 10}, 0.812},
    {kGroupLow, 1, {0, 50}, 0.887},
    {kColumnLow, 1, {0, 50}, 0.755},
    {kGroupLow, 1, {64, 50}, 0.557},
    {kColumnLow, 1, {64, 50}, 0.557},
    {kGroupLow, 1, {4 * kKi, 50}, 0.878},
    {kColumnLow, 1, {4 * kKi, 50}, 0.732},
    {kGroupLow, 1, {0, 100}, 0.948},
    {kColumnLow, 1, {0, 100}, 0.781},
    {kColumnLow, 2, {64, 0}, 0.873, false},
    {kGroupLow, 2, {256, 0}, 0.859, false},
    {kColumnLow, 2, {256, 0}, 0.964, false},
    {kGroupLow, 2, {1 * kKi, 0}, 0.957, false},
    {kColumnLow, 2, {1 * kKi, 0}, 0.937, false},
    {kGroupLow, 2, {4 * kKi, 0}, 0.938, false},
    {kColumnLow, 2, {4 * kKi, 0}, 0.803, false},
    {kColumnLow, 2, {16 * kKi, 0}, 0.754, false},
    {kGroupLow, 2, {0, 50}, 0.887, false},
    {kColumnLow, 2, {0, 10}, 0.796, false},
    {kColumnLow, 2, {0, 50}, 0.750, false},
    {kGroupLow, 1, {64, 100}, 0.580, false},
    {kColumnLow, 1, {64, 100}, 0.581, false},
    {kGroupLow, 1, {4 * kKi, 100}, 0.942, false},
    {kColumnLow, 1, {4 * kKi, 100}, 0.839, false},
}};

/// DRAMsim3, group low, 1 rank, below saturation (beyond it latency is queue policy).
inline constexpr std::array<LatencyFigure, 8> kLatencyFigures = {{
    {0, {1, 200}, 31.5, 23, 360},
    {0, {0.10, 0}, 36.5, 23, 411},
    {0, {0.50, 0}, 46.3, 23, 451},
    {0, {0.80, 0}, 76.5, 23, 482},
    {64, {1, 200}, 58.4, 57, 360},
    {64, {0.10, 0}, 71.1, 57, 453},
    {64, {0.30, 0}, 89.6, 57, 556},
    {64, {0.50, 0}, 149.7, 77, 806},
}};

}  // namespace logos::ddr4
