#include "bench/dumper.h"

#include <utility>

#include "program/check.h"

namespace logos::bench {

void Dumper::begin(std::vector<std::int64_t> positions, std::vector<std::int64_t> sequences) {
  CHECK(positions.size() == sequences.size() && !positions.empty());
  positions_ = std::move(positions);
  sequences_ = std::move(sequences);
}

void Dumper::observe(const Observation& observation) {
  Observation placed = observation;
  if (placed.position == 0) {
    const auto row = static_cast<std::size_t>(placed.row);
    CHECK(row < positions_.size());
    placed.position = last_row_only_ ? positions_.back() : positions_[row];
  }
  dump_.observe(placed);
}

void Dumper::end() { dump_.end_run(sequences_, out_); }

}  // namespace logos::bench
