#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "program/model_spec.h"

namespace logos {

/// The unit of work that is written, lowered, run and compared.
struct Cut {
  enum class Work { kDecode, kPrefill, kBatch };
  enum class Part { kWhole, kEmbedding, kLayer, kHead };
  Work work = Work::kDecode;
  Part part = Part::kWhole;
  std::int64_t layer = 0;    ///< from 1, for Part::kLayer
  std::int64_t rows = 1;     ///< tokens of a chunk, sequences of a batch; 1 for a decode step
  std::int64_t context = 0;  ///< cache positions of a decode step or batch; 0 for a chunk

  bool operator==(const Cut&) const = default;

  /// `decode:CTX`, `prefill:ROWS`, `batch:ROWSxCTX`, and `layer:N@…`, `embedding@…`, `head@…`.
  /// Throws Error (where = the text) for anything else, a leading zero, 0 or a number over 2^31-1.
  static Cut parse(std::string_view text);
  std::string text() const;

  /// The cut's program with the placeholder inputs that every lane replaces at run time.
  std::string write(const ModelSpec& spec) const;
};

}  // namespace logos
