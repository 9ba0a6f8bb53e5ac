#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace logos {

/// One part of a machine that does things one after another: a unit, a bank, a tile, a link.
struct Track {
  std::string group;  ///< "units", "banks", "chip 1", "links"
  std::string name;   ///< "product", "bank 2", "tile 3,4"
};

/// A stretch of a track's time. Those of one track follow one another or nest.
struct Slice {
  std::int32_t track = 0;  ///< into Timeline::tracks
  std::int32_t line = 0;   ///< of the placeholder form; 0: of no line
  std::int32_t layer = 0;  ///< from 1; 0: outside the layers
  double begin_ns = 0;     ///< from the start of the run
  double end_ns = 0;
  std::string name = {};  ///< of what is of no line ("refresh"); else ""
};

struct Sample {
  double ns = 0;
  double value = 0;
};

/// A quantity over time, which holds each value until the next sample.
struct Counter {
  std::int32_t track = 0;
  std::string name;  ///< "read", "stalled"
  std::string unit;  ///< "GB/s", "fraction"
  std::vector<Sample> samples;
};

/// What a line of the program (all its layers and rows) took. Seconds are shares of the run's own
/// time, so that all lines and line 0 (what is of no line) add up to Timing::seconds.
struct LineUse {
  std::int32_t line = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;  ///< useful ones, of the memory that Timeline::memory names
  std::uint64_t macs = 0;
};

/// What a run did when, for --trace and --report. Made only where RunOptions::timeline asks for it.
struct Timeline {
  std::vector<Track> tracks;
  std::vector<Slice> slices;      ///< by track, then by begin, the longer first
  std::vector<Counter> counters;  ///< samples by time
  std::vector<LineUse> lines;     ///< by line
  std::string memory;             ///< the key of Timing::bytes that the roof is of: "ram", "hbm"
  double bytes_per_second = 0;    ///< its peak
  double macs_per_second = 0;     ///< the peak of the machine
  std::string sampling;           ///< "" where everything is there; else what was left out
};

}  // namespace logos
