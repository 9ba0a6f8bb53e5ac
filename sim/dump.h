#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/observer.h"

namespace logos {

/// Writes the operations of runs in the form of golden/stories260K.ops.jsonl: one JSON object a
/// line; within a run sorted by row (position), then in the documented order of operations.
class Dump : public Observer {
 public:
  void observe(const Observation& observation) override;
  /// Ends a run. `sequences` gives the sequence (from 0) of each row of it.
  void end_run(const std::vector<std::int64_t>& sequences, std::ostream& out);

 private:
  struct Entry {
    std::int64_t row;
    std::int64_t layer;
    std::int64_t position;
    int rank;
    std::string name;
    std::string type;
    std::size_t count;
    std::vector<std::int8_t> exponents;
    std::string sha256;
    std::vector<std::string> first;
  };
  std::vector<Entry> entries_;
};

}  // namespace logos
