#pragma once

#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/bringup/instruction_model.h"
#include "rtl/bringup/known_answer.h"
#include "rtl/lowering/emitter.h"
#include "rtl/lowering/plan.h"
#include "sim/weights/store.h"

namespace logos::d5005 {

/// A small program with its image, made by hand; the instruction model says what it gives.
class VectorBuilder {
 public:
  VectorBuilder(const EngineSize& engine, std::size_t rows, std::uint64_t seed);

  // Random numbers of a vector.
  std::uint32_t between(std::uint32_t low, std::uint32_t high);
  /// Normal binary32 with exponents in [low, high].
  float real(int low, int high);

  // The image. Each gives the super-beat where it lies; padding is noise.
  std::uint32_t put(std::span<const std::byte> bytes);
  /// A row of reals in [-2^high, 2^high] for each row of the run.
  std::uint32_t put_rows(std::uint32_t columns, int low = -6, int high = 2);
  std::uint32_t put_reals(std::uint32_t columns, int low, int high);
  /// Random matrices (two: their quads alternate). Fills words, columns, bias and the stream.
  void put_matrix(Instruction& product, std::uint32_t outputs, std::uint32_t columns, bool bias,
                  int matrices);
  std::uint32_t put_embedding(std::uint32_t tokens, std::uint32_t columns);
  /// Room that holds noise that is legal in a cache: `heads` of `positions`, for each row of the
  /// run where `each_row`. Fills the cache's fields.
  void put_cache(Instruction& instruction, std::uint32_t heads, std::uint32_t positions,
                 bool each_row);
  /// Cosines and sines of positions 0 to `positions` - 1.
  std::uint32_t put_rotary(std::uint32_t head_columns, std::uint32_t positions);

  // The program. Words of vector memory for a row of each of the engine's rows.
  std::uint32_t vector_words(std::uint32_t columns);
  Ended emit(Op op, Instruction instruction, std::initializer_list<Ended> after);
  /// Loads rows into vector memory: sets destination and stride, which `instruction` returns.
  Ended load(std::uint32_t columns, Instruction* where, int low = -6, int high = 2);
  /// Loads rows and quantizes them into activation memory.
  Ended activations(std::uint32_t columns);
  Ended store_vector(std::uint32_t source, std::uint32_t stride, std::uint32_t columns, Ended after,
                     bool greedy = false);
  Ended store_activation(std::uint32_t columns, Ended after);
  Ended store_query(const Instruction& heads, Ended after);
  Ended store_pair(StoreSource what, std::uint32_t group, std::uint32_t columns, Ended after);
  Ended store_peaks(Peaks peaks, Ended after);

  std::vector<TableRow>& table() { return table_; }
  std::size_t rows() const { return table_.size(); }

  /// Runs the model and gives the answer. `element_bytes` and `bank_of` say how to read its rows.
  /// With `memory_too` the memory that the run writes belongs to the answer.
  KnownAnswer finish(std::string name, std::string proves, std::string look_at,
                     std::int64_t element_bytes, BankOf bank_of, bool memory_too = false);

 private:
  /// A piece of the output buffer that a store fills.
  struct Stored {
    std::int64_t at;
    std::size_t bytes;
  };
  void expect_lines(std::int64_t line, std::size_t bytes);
  std::uint32_t allocate(std::int64_t super_beats);
  void write(std::int64_t at, std::span<const std::byte> beats);

  EngineSize engine_;
  std::mt19937_64 random_;
  std::vector<TableRow> table_;
  Emitter emitter_;
  std::map<std::int64_t, BoardMemory::SuperBeat> image_;
  std::int64_t cache_begin_ = 0;  ///< what the program may write lies from here
  std::int64_t cache_end_ = 0;    ///< to here
  std::vector<Stored> stored_;
  bool greedy_ = false;
  std::int64_t next_ = 64;       ///< super-beat; the program lies below
  std::uint32_t next_word_ = 0;  ///< of vector memory
  std::int64_t next_line_ = 0;   ///< of the output buffer
  std::uint32_t next_text_line_ = 1;
};

}  // namespace logos::d5005
