#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "rtl/lowering/emitter.h"
#include "rtl/lowering/plan.h"
#include "sim/structure.h"

namespace logos::d5005 {

/// Throws Error where more is needed than there is.
void hold(std::string_view what, std::int64_t needed, std::int64_t there_is);

/// A value in vector memory.
struct Region {
  std::int64_t base = 0;    ///< words
  std::int64_t stride = 0;  ///< words of a row
  std::int64_t first = 0;   ///< elements in front of the value's first, fewer than a word's
};

/// Lowers the program of one chip. With several chips it becomes segments: each ends where the
/// boards must give each other something, and all that the next one needs stays in the engine's
/// memories or comes back through DDR.
class BoardLowering {
 public:
  BoardLowering(const Program& program, const EngineSize& engine, std::int64_t capacity);

  /// The board's plan; its outputs and exchanges are appended to those of `plan`.
  BoardPlan lower(Plan* plan);

 private:
  // Where values lie and where they come from (board_lowering.cc).
  const Operation& op(int index) const;
  const Value& result(int index) const;
  const Matrix& matrix_of(int index) const;
  /// An operation's number: what an instruction says of where it comes from (Plan::lines).
  static std::uint32_t line(int index) { return static_cast<std::uint32_t>(index); }
  bool split() const { return program_.chips > 1; }
  bool is_embedding_alone() const { return structure_.layers.empty() && !structure_.head; }
  std::int64_t allocate(std::int64_t super_beats);
  /// Rows of a run of the engine: all, or with several boards those of a pass.
  /// Throws Error where this board's share of the named things is empty.
  void require_share(std::string_view of_what, std::int64_t share, std::int64_t whole) const;
  std::int64_t rows_of_run() const;
  std::int64_t head_slots(const Projection& projection) const;
  Region region(std::int64_t columns, std::int64_t first);
  void place_vectors();
  void enter_source();
  void load_rows(int operation);
  void embed();
  void load_rotary_and_gains();
  std::int64_t input_gain(std::size_t layer) const;
  std::int64_t post_gain() const;
  std::int64_t head_gain(std::size_t layer, bool key) const;
  void load_gain(int norm, std::int64_t word);
  void load_layer_gains(std::size_t layer);
  void end_segment();
  void place_programs();

  // What a layer does (board_layer.cc).
  void enter_layer(std::size_t index);
  std::uint32_t epsilon() const;
  Ended norm(int norm_op, int block, std::int64_t gain, bool last_row);
  Ended quantize(int block, const Region& from, std::int64_t columns, Peaks peaks, Ended after);
  MatrixPart part_of(int product, int bias) const;
  Instruction product_of(int product, std::vector<MatrixPart> parts);
  Ended project(const Projection& projection, const Region& to, Ended block);
  Ended process_heads(const Projection& projection, const Region& from, HeadTarget target,
                      std::int64_t gain, const CacheItem& cache, Ended product);
  CacheItem place_cache(const LayerStructure& layer);
  Ended attend(const LayerStructure& layer, const CacheItem& cache, Ended query, Ended writes);
  Ended gate_and_up(const LayerStructure& layer, Ended block);

  // Products whose columns are split, what leaves the board, what boards exchange
  // (board_exchange.cc).
  void contract(const Contraction& contraction, const Region& from, std::int64_t columns,
                Peaks peaks, Ended ready);
  void contract_over_chips(const Contraction& contraction, const Region& from, std::int64_t columns,
                           Peaks peaks, Ended ready);
  void enter_head();
  std::vector<OutputPiece> product_in_pieces(int product, Post post, bool last_row, int shown,
                                             std::int64_t most, Ended block);
  void show_rows();
  OutputPiece store(const Region& from, std::int64_t lanes, bool last_row, bool greedy,
                    int operation, Ended after, Ended* stored);
  void exchange(Exchange exchange);

  const Program& program_;
  const EngineSize& engine_;
  Structure structure_;
  std::int64_t capacity_;
  BoardPlan board_;
  std::vector<Exchange> exchanges_;
  std::vector<OutputPiece> outputs_;
  Emitter emitter_;
  std::int64_t next_ = 0;        ///< first free super-beat
  std::int64_t next_word_ = 0;   ///< first free word of vector memory
  std::int64_t units_ = 0;       ///< of the output buffer that this segment has used
  std::int64_t host_units_ = 0;  ///< greatest of all segments
  Region x_, t_, attention_, q_, k_, v_, hidden_;
  std::int64_t shared_at_ = 0;  ///< first word of what projections, hidden rows, … share
  Peaks x_peaks_ = Peaks::kOfRows;
  Ended x_ready_;       ///< x is written
  Ended block_read_;    ///< the last product that reads activation memory
  Ended heads_read_;    ///< projections may be written again
  Ended queries_read_;  ///< query memory may be written again
  Ended norm_read_;     ///< the norm's own rows may be written again
  Ended rotary_ready_;
  Ended gains_ready_;
};

}  // namespace logos::d5005
