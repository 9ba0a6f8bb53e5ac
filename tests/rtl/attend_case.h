#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "rtl/lowering/instruction.h"
#include "sim/kv_cache.h"

namespace logos {

using SuperBeat = std::array<std::uint8_t, 256>;  ///< bank b at [64b]

/// What an OpAttend is asked in a test.
struct AttendShape {
  std::int64_t head_columns = 64;
  std::int64_t group = 4;
  std::int64_t key_heads = 1;
  std::vector<std::int64_t> positions = {0};  ///< of each row of the pass, from 0
  std::int64_t window = 0;
  std::int64_t missing_front = 0;  ///< heads of the first group that another chip has
  std::int64_t missing_back = 0;   ///< and of the last
  std::int64_t first = 0;          ///< elements in front of head 0
  bool one_cache = false;          ///< all rows read the same cache
  d5005::AttendStop stop = d5005::AttendStop::kWhole;
  std::int64_t only_row = -1;   ///< from 0; -1: all
  std::int64_t only_head = -1;  ///< key head, likewise
  std::int64_t pass_row = 0;    ///< where row 0 lies in the pass
};

/// Caches, queries and the stream of a shape; whatever nobody may look at is garbage.
class AttendCase {
 public:
  AttendCase(AttendShape shape, std::uint32_t seed);

  const AttendShape& shape() const { return shape_; }
  d5005::Instruction instruction() const;
  /// All super-beats that the unit takes, in the order of rtl/README.md.
  std::deque<SuperBeat> stream() const;
  /// Query memory: words of 32 int16, an exponent for each head of each row.
  const std::vector<std::array<std::int16_t, 32>>& query_words() const { return query_words_; }
  const std::vector<std::int8_t>& query_exponents() const { return query_exponents_; }
  const std::vector<std::uint32_t>& row_positions() const { return row_positions_; }

  std::int64_t query_heads() const;
  std::int64_t first_position(std::int64_t row) const;
  std::vector<std::int64_t> rows() const;       ///< those that take part
  std::vector<std::int64_t> key_heads() const;  ///< likewise
  /// Query heads of a key head: begin and end, counted over the chip.
  std::pair<std::int64_t, std::int64_t> heads_of(std::int64_t key_head) const;
  const KvCache::Layer& layer(std::int64_t row) const;
  std::vector<std::int16_t> query(std::int64_t row, std::int64_t head) const;
  std::int8_t query_exponent(std::int64_t row, std::int64_t head) const;

 private:
  std::int64_t words() const { return (shape_.head_columns + 31) / 32; }
  std::int64_t blocks() const;
  std::int64_t keys_address(std::int64_t row, std::int64_t key_head) const;
  std::int64_t values_offset() const { return blocks() * (1 + 32 * words()); }
  void fill_layer(KvCache::Layer* layer);
  void lay_out(std::int64_t row);
  std::int8_t exponent(int low, int high);

  AttendShape shape_;
  std::mt19937 random_;
  std::int64_t capacity_ = 0;
  std::vector<KvCache::Layer> layers_;
  std::vector<SuperBeat> image_;
  std::vector<std::array<std::int16_t, 32>> query_words_;
  std::vector<std::int8_t> query_exponents_;
  std::vector<std::uint32_t> row_positions_;
};

}  // namespace logos
