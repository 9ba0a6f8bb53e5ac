#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "program/facts.h"
#include "program/program.h"
#include "program/text/syntax.h"

namespace logos {

/// The value of a name inside a hole; null where there is none.
using HoleValue = std::function<std::optional<std::int64_t>(std::string_view name)>;

/// Fills the holes `{n}` and `{n - 1}` of a string that stands at `place` (its opening quote).
std::string fill_holes(const Source& source, Place place, std::string_view text,
                       const HoleValue& value);

/// A declaration as the unrolled program sees it: where it stands, how chips hold it, its use.
struct Declared {
  const Declaration* declaration = nullptr;
  int index = 0;  ///< into matrices, vectors or caches
  bool used = false;
  bool pushed = false;  ///< caches
};

/// The manifest with its loop unrolled. Every declaration's name, shape and share are those of the
/// model that the text states.
struct Manifest {
  std::vector<Matrix> matrices;
  std::vector<Vector> vectors;
  std::vector<Cache> caches;
  std::map<std::string, Declared> declared;  ///< by noun and name: `weight query 3`

  /// Null where no declaration has that name.
  Declared* find(std::string_view noun, std::string_view name);
};

Manifest unroll_manifest(const Source& source, const Syntax& syntax, const Facts& facts,
                         std::int64_t chip);

}  // namespace logos
