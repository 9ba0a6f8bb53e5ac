#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spatial/chip/machine.h"
#include "spatial/chip/process.h"
#include "spatial/tile/arithmetic.h"

namespace logos::spatial {

/// Follows a stage's schedule in one tile and slot: for blocks slot, slot + slots, …. What a step
/// computes is in memory when its time has passed; nobody else looks before.
class Sequencer {
 public:
  Sequencer(Machine& machine, StageRun& stage, std::int32_t tile, std::int32_t slot,
            std::int32_t id);

  void start();
  void wake() { process_->wake(); }
  void stop() { process_->stop(); }
  bool ended() const { return process_->ended(); }
  /// Where it stands, for a run that cannot go on.
  std::string standing() const;
  SequencerTrace& trace() { return trace_; }

 private:
  void follow();
  void begin_block(std::int32_t block);
  void execute(const Step& step);
  void compute(const Step& step);
  bool takes(const Step& step) const;

  // Waits.
  void wait_until(const std::function<bool()>& condition, const std::function<Fill()>& by);
  void wait_entry();
  void wait_buffer(const Step& step);
  void wait_full(const Step& step);
  void wait_cache();
  void wait_credit();
  bool takes_part_in_next(const Stage& next) const;
  void dawdle();

  // Units and memory, in time.
  void access(std::int64_t bytes);
  void vector_work(const VectorOperation& operation, std::int64_t elements, std::int64_t bytes);
  /// Begins such work and does not wait for it: the cycle in which its results are there.
  Cycles vector_begin(const VectorOperation& operation, std::int64_t elements, std::int64_t bytes);
  /// Passes of the MAC array over bytes from SRAM, until their sums are there; true where the bytes
  /// bind.
  bool mac_work(std::int64_t passes, std::int64_t bytes);
  bool mac_passes(std::int64_t passes, std::int64_t bytes);  ///< until the last pass
  std::shared_ptr<Message> message(int stage, int buffer, std::int32_t chunk = 0) const;
  /// Sends rows of a buffer to tiles of a stage, to this one at once where `to_self`.
  void send(const std::shared_ptr<Message>& message, bool to_self);
  void send_part(const std::shared_ptr<Message>& message, const MessagePart& part);
  void send_to_all(const std::shared_ptr<Message>& message);
  void send_to_tile(const std::shared_ptr<Message>& message, std::int32_t tile);
  Nodes nodes_of(std::int32_t first, std::int32_t count, std::int32_t but);

  // Steps (spatial/plan/plan.h), by file: steps_rows.cc …
  void forward();
  void release(const Step& step);
  void embed(const Step& step);
  void send_held(std::int64_t r, const std::vector<float>& x);
  void keep_headings();
  void keep_own(const Step& step);
  bool row_is_kept(std::int64_t row_bytes) const;
  std::int64_t gain_bytes(std::int64_t row_bytes) const;
  void norm(const Step& step);
  void quantize_attention(const Step& step);
  void quantize_hidden(const Step& step);
  void add_own(const Step& step);
  void send_middle(const Step& step);
  void send_next(const Step& step);
  void show(const Step& step);
  void tell_done();
  // … steps_products.cc
  void project(const Step& step);
  void spend_product(std::int64_t rows, Share columns, bool adds_more);
  std::span<const float> row_scales(const MatrixView& matrix, Share rows);
  std::int64_t* sums_row(std::int64_t row, std::int64_t pitch);
  float* values_row(std::int64_t row, std::int64_t pitch);
  int matrix_of(const PlacedVector& placed) const;
  void send_projected(const PlacedVector& placed, Share part, Share units);
  void multiply(const Step& step);
  void scale(const Step& step);
  void silu(const Step& step);
  // … steps_heads.cc
  bool shows_head(const PlacedVector& placed) const;
  void heads(const Step& step);
  void finish_vector(const PlacedVector& placed);
  void send_query(const PlacedVector& placed, std::span<const std::int16_t> q,
                  std::span<const BlockTag> tags);
  void send_to_cache(const PlacedVector& placed, std::span<const std::int16_t> q,
                     std::span<const BlockTag> tags);
  void scores(const Step& step);
  void score_group(std::int32_t served_index);
  Share visible(const ServedGroup& served, std::int64_t row) const;
  void weigh(const Step& step);
  bool spend_scores(std::int64_t made, std::int64_t passes, std::int64_t bytes);
  bool spend_weights(std::int64_t made, std::int64_t passes, std::int64_t bytes);
  void weigh_group(std::int32_t served_index);
  HeldCache& cache_of(std::int32_t served, std::int64_t row);
  const PlacedVector& query_of(std::int32_t group, std::int64_t query) const;
  template <typename T>
  void show_positions(std::string_view name, const ServedGroup& served, std::int64_t row,
                      std::int64_t query, std::span<const T> values);
  void finish(const Step& step);
  void finish_query(const PlacedVector& placed, const Step& step);
  // … steps_exchange.cc
  void peak(const Step& step);
  void exchange_peak(const Step& step);
  void send_to_peers(int buffer, Segment segment, const std::vector<std::byte>& data);
  Share portion(Share rows, std::int64_t text_chip) const;
  void send_peak(const Step& step);
  void send_addends(const Step& step);
  void send_totals(const Step& step);
  void take_totals(const Step& step);
  void send_joined(const Step& step);

  // What is shown to an observer.
  bool watches(bool once) const;
  template <typename T>
  void put(std::string_view name, std::int64_t row, std::int64_t whole, std::int64_t first,
           std::span<const T> values) {
    machine_.collector.put(place(name, row), whole, first, values);
  }
  void put_exponent(std::string_view name, std::int64_t row, std::int64_t whole, std::int64_t index,
                    std::int8_t exponent) {
    machine_.collector.put_exponent(place(name, row), whole, index, exponent);
  }
  Collector::Place place(std::string_view name, std::int64_t row) const;
  void put_block(std::string_view name, std::int64_t row, std::int64_t whole, std::int64_t first,
                 std::span<const std::int16_t> q, std::int8_t exponent);

  const Stage& stage() const { return stage_.stage; }
  const Plan& plan() const { return machine_.plan; }
  Share share(const Step& step) const;
  std::int64_t x_offset(StageKind kind) const;
  const float* x_row(int buffer, std::int64_t row);

  Machine& machine_;
  StageRun& stage_;
  TileState& state_;
  ChipTile& tile_;
  std::int32_t slot_;
  std::int32_t id_;
  SequencerTrace trace_;
  std::unique_ptr<Process> process_;

  // Registers of the block at hand.
  std::int32_t block_ = 0;
  BlockRows rows_;
  std::size_t step_ = 0;
  StepRecord record_;
  std::vector<Heading> headings_;
  std::vector<std::byte> kept_;         ///< leader: headings and rotary rows
  std::vector<float> equal_scales_;     ///< of profile B: kScaleB each
  std::vector<BlockTag> operand_tags_;  ///< of each row
  std::vector<BlockTag> hidden_tags_;
  std::vector<BlockTag> sums_tags_;  ///< of the operands that the sums are of
  std::vector<std::uint32_t> peaks_;
  std::vector<int> gate_up_;                          ///< matrices of the last product of two
  std::vector<std::vector<std::int32_t>> exponents_;  ///< [served group][row] largest of the values
};

}  // namespace logos::spatial
