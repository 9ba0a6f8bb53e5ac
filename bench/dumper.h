#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "sim/dump.h"

namespace logos::bench {

/// Writes the operations of runs as JSON lines (sim/dump.h). A step may take several runs (the
/// parts of a chunk); it knows rows and positions also of parts that have none of their own.
class Dumper : public Observer {
 public:
  /// Begins a step: the position (from 1) and the sequence (from 0) of each of its rows.
  void begin(std::vector<std::int64_t> positions, std::vector<std::int64_t> sequences);
  /// The run that follows sees only the last row (the head of a chunk).
  void last_row_only(bool last) { last_row_only_ = last; }
  void observe(const Observation& observation) override;
  void end();

  std::string text() const { return out_.str(); }

 private:
  Dump dump_;
  std::ostringstream out_;
  std::vector<std::int64_t> positions_;
  std::vector<std::int64_t> sequences_;
  bool last_row_only_ = false;
};

}  // namespace logos::bench
