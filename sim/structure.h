#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace logos {

// A program's operations by the part that they play in it: indices into Program::operations, -1
// where a program has none. Lanes that fuse operations which the text
// writes one by one look for the whole that they make.

/// One of the projections of a layer and what happens to its heads.
struct Projection {
  int product = -1;
  int bias = -1;
  int norm = -1;
  int rotation = -1;
  int block = -1;
  int push = -1;
};

/// A product whose columns are split over chips: the steps between, -1 with one chip.
struct Contraction {
  int block = -1;     ///< quantized, or quantized_at
  int peak = -1;      ///< of this chip's part
  int greatest = -1;  ///< over the chips
  int product = -1;   ///< product, or sums
  int total = -1;     ///< sum_over_chips
  int scaled = -1;
  int residual = -1;  ///< x + y
};

struct LayerStructure {
  std::int64_t layer = 0;  ///< from 1
  int input_norm = -1;
  int input_block = -1;
  Projection query, key, value;
  int attended = -1;
  Contraction output;
  int post_norm = -1;
  int post_block = -1;
  int gate = -1;
  int up = -1;
  int silu = -1;
  int multiply = -1;
  Contraction down;
};

struct HeadStructure {
  int last_row = -1;
  int norm = -1;
  int block = -1;
  int product = -1;
  int joined = -1;
};

struct Structure {
  int given = -1;
  int embedded = -1;
  int held = -1;
  std::vector<LayerStructure> layers;
  std::optional<HeadStructure> head;
  int show = -1;
};

/// Throws Error naming the lane and the line where an operation has no place in the whole.
Structure structure_of(const Program& program, std::string_view lane);

}  // namespace logos
