#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "rtl/lowering/plan.h"
#include "sim/weights/store.h"

namespace logos::d5005 {

/// Takes consecutive super-beats from address `at` on.
using SuperBeatSink = std::function<void(std::int64_t at, std::span<const std::byte> bytes)>;

// Sizes in super-beats of what rtl/README.md lays out.
std::int64_t slots_of_head(std::int64_t head_columns);  ///< in a projection's outputs
std::int64_t part_slots(const MatrixPart& part);
std::int64_t matrix_quads(const MatrixItem& item);  ///< output quads, of both parts where two
std::int64_t matrix_words(const MatrixItem& item);  ///< words of 64 columns
bool has_bias(const MatrixItem& item);
std::int64_t matrix_beats(const MatrixItem& item);
std::int64_t row_beats(std::int64_t columns);  ///< a row of binary32
std::int64_t rotary_beats(std::int64_t head_columns);
std::int64_t embedding_beats(std::int64_t columns);       ///< of a row
std::int64_t key_block_beats(std::int64_t head_columns);  ///< of 128 positions of a head
std::int64_t value_block_beats(std::int64_t head_columns);
std::int64_t cache_head_beats(std::int64_t head_columns, std::int64_t positions);
std::int64_t program_beats(std::size_t instructions);
std::int64_t sums_beats(std::int64_t columns, std::int64_t chips);  ///< a row of OpScale

/// Where the header of a pass's copy of a segment lies.
std::int64_t program_of_pass(const Segment& segment, std::int64_t pass);

/// The instruction in an engine's run that begins with the run's row `first_row`: what it addresses
/// by rows of the run lies further on. `given`: rows that are loaded are given.
Instruction at_row(Instruction instruction, std::int64_t first_row, bool given);

/// A matrix as the product unit reads it; padding holds zeros, or `fill` in every byte.
void write_matrix(const MatrixItem& item, const WeightStore& weights, std::byte fill,
                  const SuperBeatSink& sink);
void write_gain(const GainItem& item, const WeightStore& weights, std::byte fill,
                const SuperBeatSink& sink);
void write_embedding(const EmbeddingItem& item, const WeightStore& weights, std::byte fill,
                     const SuperBeatSink& sink);
/// A row of binary32 at `at`.
void write_row(std::int64_t at, std::span<const float> row, std::byte fill,
               const SuperBeatSink& sink);
/// Header and instructions. `identity`: the SHA-256 in hex.
void write_program(std::int64_t at, std::string_view identity, std::int64_t chip,
                   std::int64_t chips, std::span<const Instruction> program,
                   const SuperBeatSink& sink);

/// Where the beats of a position lie in a head's cache, from the head's base on.
struct CachePlace {
  int bank = 0;
  std::int64_t exponents = 0;  ///< super-beat of its exponents
  int exponent_byte = 0;       ///< of the key's; the value's follows
  std::int64_t keys = 0;       ///< super-beat of its first key beat
  std::int64_t values = 0;     ///< likewise, values_offset included
};
CachePlace cache_place(const CacheItem& cache, std::int64_t head_columns, std::int64_t position);

}  // namespace logos::d5005
