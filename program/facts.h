#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/cut.h"
#include "program/model_spec.h"

namespace logos {

/// Everything a LOGOS text states. `author` writes a text from it; `read_facts` reads it back.
struct Facts {
  ModelSpec spec;
  Cut cut;
  std::int64_t chips = 1;
  /// A run's inputs, counted from 1. Both empty in the placeholder form. Positions hold one for
  /// each row; a chunk's are consecutive.
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> positions;
  std::string directory;  ///< "" in the placeholder form: no `Weights lie under` line

  /// The same facts with inputs and directory left out.
  Facts placeholder() const;
  bool operator==(const Facts&) const = default;
};

}  // namespace logos
