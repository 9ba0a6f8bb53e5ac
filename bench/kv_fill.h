#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/runner.h"
#include "bench/tokens.h"
#include "sim/kv_cache.h"

namespace logos::bench {

/// What a cache of a real model was made from. Its digest is the name of the kept file.
struct FillKey {
  std::string weights_sha256;
  std::string
      program_sha256;  ///< identity of the model's `decode:1`: everything that changes a bit
  Sequence ids;

  std::string sha256() const;
};

/// Bytes of a cache: its arrays with a header and a digest over everything.
std::string serialise_cache(const KvCache& cache, const FillKey& key);
/// Reads them back into a cache of the shape of `cache`. Throws Error where they are damaged,
/// truncated or those of another key or shape.
KvCache parse_cache(std::string_view bytes, const FillKey& key, KvCache cache,
                    std::string_view where);

/// Caches as they are before a run, made once and kept: those of a real model by the reference
/// (prefill of the preceding tokens, in chunks) and on disk; those of a preset synthetic.
class CacheMaker {
 public:
  CacheMaker(const Model& model, Runner& reference) : model_(model), reference_(reference) {}

  /// A cache of `capacity` positions, the first of them filled with what `history` leaves there,
  /// for the layers [first_layer, first_layer + layers).
  KvCache filled(const Sequence& history, std::int64_t capacity, std::int64_t first_layer,
                 std::int64_t layers);

 private:
  const KvCache& made(const Sequence& history);
  KvCache compute(const Sequence& history);
  void check_beginning(const KvCache& kept, const Sequence& history);

  const Model& model_;
  Runner& reference_;
  std::map<std::string, KvCache> kept_;  ///< by the key's digest; exactly the history's positions
};

/// A cache whose first `filled` positions hold seeded blocks such as Q16 can give: at least one
/// integer of a block from 2^14 up, exponents of values around one. A layer's content depends on
/// its number alone, so a cut and its parts see the same.
KvCache synthetic_cache(const ModelSpec& spec, std::int64_t filled, std::int64_t capacity,
                        std::int64_t first_layer, std::int64_t layers);

}  // namespace logos::bench
