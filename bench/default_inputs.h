#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/kv_fill.h"
#include "bench/plan.h"
#include "sim/inputs.h"

namespace logos::bench {

/// Makes the inputs of a planned run: what a cut is given, each time anew (a run writes into its
/// caches), from caches and rows that are computed once.
class InputMaker {
 public:
  /// `reference` runs on one chip: what it computes is the same on any number.
  InputMaker(const Model& model, Runner& reference)
      : model_(model), reference_(reference), caches_(model, reference) {}

  Inputs inputs(const Plan& plan);

 private:
  std::vector<KvCache> caches(const Plan& plan, std::int64_t first_layer, std::int64_t layers);
  std::vector<float> given(const Plan& plan);
  std::vector<float> computed_rows(const Plan& plan, std::int64_t layers);

  const Model& model_;
  Runner& reference_;
  CacheMaker caches_;
  std::map<std::string, std::vector<float>> given_;  ///< by cut and inputs
};

/// Synthetic rows `[rows, columns]` in [-1, 1), multiples of 2^-23; `stream` tells parts apart.
std::vector<float> synthetic_rows(std::int64_t rows, std::int64_t columns, std::uint64_t stream);

/// Throws Error where caches and rows of a run cannot fit into this host's memory, saying what is
/// needed and what there is. `option`: the one that states the capacity, where it is not the cut.
void check_host_memory(const Cut& cut, const ModelSpec& spec, std::int64_t capacity,
                       std::string_view option = {});

}  // namespace logos::bench
