#include "rtl/lowering/memory_image.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/weights/rotary_table.h"

namespace logos::d5005 {
namespace {

constexpr std::size_t kBeatBytes = 64;
using SuperBeat = std::array<std::byte, static_cast<std::size_t>(kSuperBeatBytes)>;

void write_given(const Plan& plan, const BoardPlan& board, const Inputs& inputs, std::byte fill,
                 const SuperBeatSink& sink) {
  const auto columns = static_cast<std::size_t>(plan.columns);
  for (std::int64_t r = 0; r < plan.rows; ++r) {
    write_row(board.given_base + r * row_beats(plan.columns),
              std::span(inputs.given).subspan(static_cast<std::size_t>(r) * columns, columns), fill,
              sink);
  }
}

/// The rows of the rotary table that the run's positions need.
void write_rotary(const Plan& plan, const BoardPlan& board, const Inputs& inputs, std::byte fill,
                  const SuperBeatSink& sink) {
  const RotaryTable table = rotary_table(plan.rotary, plan.head_columns, inputs.positions);
  const auto pairs = static_cast<std::size_t>(table.pairs);
  std::vector<float> row(2 * pairs);
  for (std::size_t r = 0; r < inputs.positions.size(); ++r) {
    for (std::size_t p = 0; p < pairs; ++p) {
      row[2 * p] = table.cosines[r * pairs + p];
      row[2 * p + 1] = table.sines[r * pairs + p];
    }
    write_row(board.rotary_base + (inputs.positions[r] - 1) * rotary_beats(plan.head_columns), row,
              fill, sink);
  }
}

/// Keys (or values) of 4 positions as super-beats. Beat j holds columns 32j … of each.
void copy_quad(const std::vector<std::int16_t>& values, std::size_t at, std::size_t step,
               std::size_t columns, std::size_t positions, std::span<SuperBeat> beats) {
  for (std::size_t b = 0; b < positions; ++b) {
    for (std::size_t c = 0; c < beats.size() * 32; ++c) {
      const auto bits = static_cast<std::uint16_t>(c < columns ? values[at + b * step + c] : 0);
      std::byte* to = beats[c / 32].data() + b * kBeatBytes + c % 32 * 2;
      to[0] = static_cast<std::byte>(bits & 0xFF);
      to[1] = static_cast<std::byte>(bits >> 8);
    }
  }
}

/// Positions 0 to `positions` - 1 of one head.
void write_head(const CacheItem& item, std::int64_t base, const KvCache& cache, std::int64_t head,
                std::int64_t positions, std::byte fill, const SuperBeatSink& sink) {
  const KvCache::Layer& layer = cache.layer(item.layer);
  const auto columns = static_cast<std::size_t>(cache.head_columns);
  const auto step = static_cast<std::size_t>(cache.heads) * columns;
  std::vector<SuperBeat> beats((columns + 31) / 32);
  SuperBeat exponents;
  for (std::int64_t p = 0; p < positions; p += kBanks) {
    const CachePlace place = cache_place(item, cache.head_columns, p);
    const auto index = static_cast<std::size_t>(p * cache.heads + head);
    const auto quad = static_cast<std::size_t>(std::min(kBanks, positions - p));
    if (p % 128 == 0) exponents.fill(fill);
    for (std::size_t b = 0; b < quad; ++b) {
      const std::size_t of = index + b * static_cast<std::size_t>(cache.heads);
      std::byte* to =
          exponents.data() + b * kBeatBytes + static_cast<std::size_t>(place.exponent_byte);
      to[0] = static_cast<std::byte>(layer.key_exponents[of]);
      to[1] = static_cast<std::byte>(layer.value_exponents[of]);
    }
    if (p % 128 == 124 || p + kBanks >= positions) sink(base + place.exponents, exponents);
    for (const bool keys : {true, false}) {
      for (SuperBeat& beat : beats) beat.fill(fill);
      copy_quad(keys ? layer.keys : layer.values, index * columns, step, columns, quad, beats);
      for (std::size_t j = 0; j < beats.size(); ++j) {
        sink(base + (keys ? place.keys : place.values) + static_cast<std::int64_t>(j), beats[j]);
      }
    }
  }
}

std::int64_t head_base(const CacheItem& item, std::size_t cache, std::int64_t head) {
  return item.base + static_cast<std::int64_t>(cache) * item.row_stride + head * item.head_stride;
}

/// Positions of a cache that a run may read: those before its last.
std::int64_t reach_of(const Plan& plan, const Inputs& inputs, std::size_t cache) {
  if (plan.each_row_caches) return inputs.positions[cache];
  return *std::max_element(inputs.positions.begin(), inputs.positions.end());
}

/// The board's program, or those of its segments with a copy for each pass that needs its own.
void write_programs(const Plan& plan, std::size_t board_index, const Identity& identity,
                    const SuperBeatSink& sink) {
  const BoardPlan& board = plan.boards[board_index];
  const auto chip = static_cast<std::int64_t>(board_index);
  const auto chips = static_cast<std::int64_t>(plan.boards.size());
  if (board.segments.empty()) {
    write_program(board.program_base, identity.sha256, chip, chips, board.program, sink);
  }
  for (const Segment& segment : board.segments) {
    const auto program = std::span(board.program)
                             .subspan(static_cast<std::size_t>(segment.first),
                                      static_cast<std::size_t>(segment.count));
    for (std::int64_t pass = 0; pass < segment.copies; ++pass) {
      std::vector<Instruction> copy;
      for (const Instruction& i : program) {
        copy.push_back(at_row(i, pass * plan.engine.rows, plan.has_given));
      }
      write_program(program_of_pass(segment, pass), identity.sha256, chip, chips, copy, sink);
    }
  }
}

}  // namespace

void write_image(const Plan& plan, std::size_t board_index, const WeightStore& weights,
                 const Inputs& inputs, const Identity& identity, std::byte fill,
                 const SuperBeatSink& sink) {
  const BoardPlan& board = plan.boards[board_index];
  for (const MatrixItem& item : board.matrices) write_matrix(item, weights, fill, sink);
  for (const GainItem& item : board.gains) write_gain(item, weights, fill, sink);
  for (const EmbeddingItem& item : board.embeddings) write_embedding(item, weights, fill, sink);
  if (plan.has_given) write_given(plan, board, inputs, fill, sink);
  if (!board.caches.empty()) write_rotary(plan, board, inputs, fill, sink);
  for (const CacheItem& item : board.caches) {
    for (std::size_t c = 0; c < inputs.caches.size(); ++c) {
      for (std::int64_t head = 0; head < item.heads; ++head) {
        write_head(item, head_base(item, c, head), inputs.caches[c], item.first_head + head,
                   reach_of(plan, inputs, c), fill, sink);
      }
    }
  }
  write_programs(plan, board_index, identity, sink);
}

void read_pushed(const Plan& plan, std::size_t board_index, const SuperBeatSource& source,
                 Inputs& inputs) {
  const auto columns = static_cast<std::size_t>(plan.head_columns);
  SuperBeat beat;
  for (const CacheItem& item : plan.boards[board_index].caches) {
    for (std::size_t r = 0; r < inputs.positions.size(); ++r) {
      const std::size_t c = plan.each_row_caches ? r : 0;
      KvCache& cache = inputs.caches[c];
      KvCache::Layer& layer = cache.layer(item.layer);
      const std::int64_t position = inputs.positions[r] - 1;
      const CachePlace place = cache_place(item, plan.head_columns, position);
      for (std::int64_t head = 0; head < item.heads; ++head) {
        const std::int64_t base = head_base(item, c, head);
        const auto index =
            static_cast<std::size_t>(position * cache.heads + item.first_head + head);
        const std::size_t bank = static_cast<std::size_t>(place.bank) * kBeatBytes;
        source(base + place.exponents, beat);
        const std::size_t exponent = bank + static_cast<std::size_t>(place.exponent_byte);
        layer.key_exponents[index] = static_cast<std::int8_t>(beat[exponent]);
        layer.value_exponents[index] = static_cast<std::int8_t>(beat[exponent + 1]);
        for (const bool keys : {true, false}) {
          auto& values = keys ? layer.keys : layer.values;
          for (std::size_t i = 0; i < columns; ++i) {
            if (i % 32 == 0) {
              source(base + (keys ? place.keys : place.values) + static_cast<std::int64_t>(i / 32),
                     beat);
            }
            const std::size_t from = bank + i % 32 * 2;
            values[index * columns + i] =
                static_cast<std::int16_t>(std::to_integer<unsigned>(beat[from]) |
                                          std::to_integer<unsigned>(beat[from + 1]) << 8);
          }
        }
      }
    }
  }
}

}  // namespace logos::d5005
