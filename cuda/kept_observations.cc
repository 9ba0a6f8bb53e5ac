#include "cuda/kept_observations.h"

namespace logos::cuda {

void KeptObservations::observe(const Observation& observation) {
  kept_.push_back({observation,
                   std::string(observation.name),
                   {observation.values.begin(), observation.values.end()},
                   {observation.exponents.begin(), observation.exponents.end()}});
}

void KeptObservations::hand_over(Observer& to) {
  for (Kept& kept : kept_) {
    kept.observation.name = kept.name;
    kept.observation.values = kept.values;
    kept.observation.exponents = kept.exponents;
    to.observe(kept.observation);
  }
  kept_.clear();
}

}  // namespace logos::cuda
