#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/observer.h"

namespace logos::cuda {

/// Keeps what a run shows until the run is whole. A GPU may fail in the middle, and the host then
/// runs everything again: an observer is to see each operation once.
class KeptObservations : public Observer {
 public:
  void observe(const Observation& observation) override;
  void clear() { kept_.clear(); }
  /// Shows all of them to another, in their order, and keeps none.
  void hand_over(Observer& to);

 private:
  struct Kept {
    Observation observation;  ///< but for what the members below hold
    std::string name;
    std::vector<std::byte> values;
    std::vector<std::int8_t> exponents;
  };
  std::vector<Kept> kept_;
};

}  // namespace logos::cuda
