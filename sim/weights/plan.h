#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/model_spec.h"

namespace logos {

/// One tensor of a model by its checkpoint's name: a matrix `[rows, columns]`, or a vector (a gain
/// or a bias) of `columns` values with rows = 1.
struct PlannedTensor {
  std::string name;
  bool is_matrix = false;
  std::int64_t rows = 1;
  std::int64_t columns = 0;

  bool operator==(const PlannedTensor&) const = default;
};

/// Every tensor of a model, in the order of the LOGOS manifests: embedding, the layers, final norm,
/// then the head where it is a matrix of its own.
std::vector<PlannedTensor> weight_plan(const ModelSpec& spec);

}  // namespace logos
