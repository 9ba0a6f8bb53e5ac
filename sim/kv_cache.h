#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace logos {

/// Keys and values of one sequence as OFA-1 stores them: int16 integers `[position][head][column]`
/// and an exponent `[position][head]` (ZE = -128), whole heads of the model, for a run of layers.
/// Positions are from 0 here.
struct KvCache {
  struct Layer {
    std::vector<std::int16_t> keys;
    std::vector<std::int16_t> values;
    std::vector<std::int8_t> key_exponents;
    std::vector<std::int8_t> value_exponents;
  };

  /// All zero blocks (exponent ZE).
  KvCache(std::int64_t positions, std::int64_t heads, std::int64_t head_columns,
          std::int64_t first_layer, std::int64_t layers);

  std::int64_t positions;  ///< capacity
  std::int64_t heads;      ///< key heads of the whole model
  std::int64_t head_columns;
  std::int64_t first_layer;  ///< from 1
  std::vector<Layer> layers;

  Layer& layer(std::int64_t n);  ///< from 1, as in the program
  const Layer& layer(std::int64_t n) const;
};

}  // namespace logos
