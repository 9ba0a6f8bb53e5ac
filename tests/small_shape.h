#pragma once

#include <cstdint>

#include "program/model_spec.h"

namespace logos {

/// A model of two layers for tests, epsilon 1e-5, of the sizes that are given.
inline ModelSpec small_shape(std::int64_t columns, std::int64_t query_heads, std::int64_t key_heads,
                             std::int64_t head_columns, std::int64_t hidden_columns,
                             std::int64_t vocabulary = 97) {
  ModelSpec spec;
  spec.layers = 2;
  spec.columns = columns;
  spec.query_heads = query_heads;
  spec.key_heads = key_heads;
  spec.head_columns = head_columns;
  spec.hidden_columns = hidden_columns;
  spec.vocabulary = vocabulary;
  spec.norm_epsilon = 1e-5;
  return spec;
}

}  // namespace logos
