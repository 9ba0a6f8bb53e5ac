#pragma once

#include <cstdint>

#include "program/facts.h"
#include "program/program.h"

namespace logos::spatial {

/// A cut's sizes and what one text chip holds of the model. Taken from what the text states of the
/// whole model, so that a part is placed as in the whole cut.
struct ModelShare {
  Profile profile = Profile::kA;
  std::int64_t text_chip = 0;  ///< from 0
  std::int64_t text_chips = 1;
  std::int64_t layers = 0;  ///< of the model, as what follows
  std::int64_t columns = 0;
  std::int64_t all_query_heads = 0;
  std::int64_t all_key_heads = 0;
  std::int64_t head_columns = 0;
  std::int64_t all_hidden = 0;
  std::int64_t vocabulary = 0;
  Share query_heads;
  Share key_heads;
  Share hidden;                ///< rows of gate and up, columns of down
  Share table_rows;            ///< of the embedding and of the head
  std::int64_t rows = 0;       ///< of the cut
  std::int64_t head_rows = 0;  ///< of them that a head takes: a chunk's last
  std::int64_t sequences = 1;  ///< caches of a layer
  std::int64_t context = 0;    ///< positions of a cache; 0: the run's

  bool split() const { return text_chips > 1; }
  std::int64_t query_group() const { return all_query_heads / all_key_heads; }
  /// Columns of attention that this text chip makes.
  Share attention() const {
    return {query_heads.begin * head_columns, query_heads.end * head_columns};
  }
};

/// More than any chips hold; every size of a stage is then far below 2^63 bytes.
inline constexpr std::int64_t kMostCachedPositions = std::int64_t{1} << 40;

/// Throws Error for sizes that no chips can hold or share out, before anything is computed of them.
/// `capacity`: positions of a cache.
void check_sizes(const Facts& facts, std::int64_t capacity);

ModelShare share_of_model(const Facts& facts, std::int64_t text_chip);

}  // namespace logos::spatial
