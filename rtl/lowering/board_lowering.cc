#include "rtl/lowering/board_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "program/check.h"
#include "program/error.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/lowering_units.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kMostBoards = kSuperBeatBytes / 4;  ///< whose peaks a super-beat holds

/// Elements in front of a share's first column: its matrix is laid out from the multiple of 32
/// before it on.
std::int64_t lead_of(std::int64_t first_column) { return first_column % kLanes; }

}  // namespace

void hold(std::string_view what, std::int64_t needed, std::int64_t there_is) {
  if (needed > there_is) {
    throw Error("d5005: lowering", fmt::format("{}: more than the engine holds", what),
                fmt::to_string(needed), fmt::format("{} at most", there_is));
  }
}

BoardLowering::BoardLowering(const Program& program, const EngineSize& engine,
                             std::int64_t capacity)
    : program_(program),
      engine_(engine),
      structure_(structure_of(program, "d5005")),
      capacity_(capacity) {}

BoardPlan BoardLowering::lower(Plan* plan) {
  hold("boards", program_.chips, kMostBoards);
  place_vectors();
  enter_source();
  for (std::size_t i = 0; i < structure_.layers.size(); ++i) enter_layer(i);
  if (structure_.head) {
    enter_head();
  } else {
    show_rows();
  }
  end_segment();
  place_programs();
  board_.super_beats = next_;
  hold("super-beats of DDR", next_, engine_.super_beats);
  plan->host_units = std::max(plan->host_units, host_units_);
  plan->outputs.insert(plan->outputs.end(), outputs_.begin(), outputs_.end());
  if (plan->exchanges.empty()) plan->exchanges.resize(exchanges_.size());
  CHECK(plan->exchanges.size() == exchanges_.size());
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    std::vector<OutputPiece> pieces = std::move(plan->exchanges[i].pieces);
    pieces.insert(pieces.end(), exchanges_[i].pieces.begin(), exchanges_[i].pieces.end());
    plan->exchanges[i] = std::move(exchanges_[i]);
    plan->exchanges[i].pieces = std::move(pieces);
  }
  return std::move(board_);
}

const Operation& BoardLowering::op(int index) const {
  return program_.operations[static_cast<std::size_t>(index)];
}
const Value& BoardLowering::result(int index) const {
  return program_.values[static_cast<std::size_t>(op(index).result)];
}
const Matrix& BoardLowering::matrix_of(int index) const {
  return program_.matrices[static_cast<std::size_t>(op(index).matrix)];
}

void BoardLowering::require_share(std::string_view of_what, std::int64_t share,
                                  std::int64_t whole) const {
  if (share > 0) return;
  throw Error("d5005: boards", fmt::format("one of them would hold no {}", of_what),
              fmt::to_string(program_.chips), fmt::format("{} at most", whole));
}

std::int64_t BoardLowering::rows_of_run() const {
  return split() ? std::min(program_.rows, engine_.rows) : program_.rows;
}

std::int64_t BoardLowering::allocate(std::int64_t super_beats) {
  const std::int64_t at = next_;
  next_ += super_beats;
  return at;
}

/// Output slots of a projection.
std::int64_t BoardLowering::head_slots(const Projection& projection) const {
  const Value& heads = result(projection.block);
  return heads.heads * slots_of_head(heads.columns);
}

Region BoardLowering::region(std::int64_t columns, std::int64_t first) {
  Region r{next_word_, divide_up(first + columns, kLanes), first};
  next_word_ += r.stride * engine_.rows;
  return r;
}

/// x and its norm live side by side, attended rows in the norm's place; projections, hidden rows,
/// sums and logits share what is left.
void BoardLowering::place_vectors() {
  x_ = region(program_.columns, 0);
  std::int64_t attended = 0;
  std::int64_t hidden = 0;
  if (!structure_.layers.empty()) {
    const LayerStructure& layer = structure_.layers.front();
    attended = result(layer.attended).columns;
    attention_.first = lead_of(result(layer.attended).first);
    hidden = result(layer.multiply).columns;
    hidden_.first = lead_of(result(layer.multiply).first);
    require_share("hidden columns", hidden, matrix_of(layer.gate).rows);
  }
  t_ = region(std::max(program_.columns, attention_.first + attended), 0);
  attention_ = {t_.base, t_.stride, attention_.first};
  shared_at_ = next_word_;
  std::int64_t end = shared_at_;
  if (!structure_.layers.empty()) {
    const LayerStructure& layer = structure_.layers.front();
    q_ = region(head_slots(layer.query), 0);
    k_ = region(head_slots(layer.key), 0);
    v_ = region(head_slots(layer.value), 0);
    end = next_word_;
    next_word_ = shared_at_;
    hidden_ = region(hidden, hidden_.first);
    end = std::max(end, next_word_);
  }
  hold("words of vector memory", end, engine_.vector_words);
  next_word_ = end;
  const std::int64_t widest =
      std::max({program_.columns, attention_.first + attended, hidden_.first + hidden});
  hold("words of activation memory", divide_up(widest, 64) * (engine_.rows / engine_.mac_rows),
       engine_.activation_words);
}

void BoardLowering::enter_source() {
  if (structure_.given >= 0) {
    board_.given_base = allocate(row_beats(program_.columns) * program_.rows);
    load_rows(structure_.given);
  } else {
    embed();
    if (split() && !is_embedding_alone()) {
      Ended ignored;
      const OutputPiece rows =
          store(x_, program_.columns, false, false, structure_.embedded, x_ready_, &ignored);
      exchange({ExchangeKind::kHeldRows, "", program_.columns, {rows}});
      board_.given_base = allocate(row_beats(program_.columns) * rows_of_run());
      load_rows(structure_.held);
    }
  }
  if (split() && !structure_.layers.empty()) {
    board_.peaks_base = allocate(rows_of_run());
    board_.sums_base = allocate(sums_beats(program_.columns, program_.chips) * rows_of_run());
  }
  load_rotary_and_gains();
}

/// Rows of x that the host has put into DDR.
void BoardLowering::load_rows(int operation) {
  Instruction i;
  i.destination = narrow(x_.base);
  i.destination_stride = narrow(x_.stride);
  i.columns = narrow(program_.columns);
  i.stream_base = narrow(board_.given_base);
  i.stream_beats = narrow(row_beats(program_.columns));
  i.line = line(operation);
  x_ready_ = emitter_.emit(Op::kLoad, i, {});
  x_peaks_ = Peaks::kOfRows;
}

void BoardLowering::embed() {
  const Matrix& matrix = matrix_of(structure_.embedded);
  EmbeddingItem item;
  item.tensor = matrix.tensor;
  item.first_row = matrix.row_share.begin;
  item.rows = matrix.row_share.size();
  require_share("rows of the embedding", item.rows, matrix.rows);
  item.columns = matrix.columns;
  item.base = allocate(embedding_beats(matrix.columns) * item.rows);
  Instruction i;
  i.destination = narrow(x_.base);
  i.destination_stride = narrow(x_.stride);
  i.columns = narrow(program_.columns);
  i.stream_base = narrow(item.base);
  i.stream_beats = narrow(embedding_beats(matrix.columns));
  // Rows that the boards do not gather are shown as they lie.
  i.line = line(split() && is_embedding_alone() ? structure_.held : structure_.embedded);
  board_.embeddings.push_back(item);
  x_ready_ = emitter_.emit(Op::kEmbed, i, {});
  x_peaks_ = Peaks::kOfRows;
}

void BoardLowering::load_rotary_and_gains() {
  if (!structure_.layers.empty()) {
    Instruction r;
    r.head_columns = narrow(program_.head_columns);
    r.stream_beats = narrow(rotary_beats(program_.head_columns));
    board_.rotary_base = allocate(rotary_beats(program_.head_columns) * capacity_);
    r.stream_base = narrow(board_.rotary_base);
    r.line = line(structure_.layers.front().query.rotation);
    rotary_ready_ = emitter_.emit(Op::kRotary, r, {});
    load_layer_gains(0);
  } else if (structure_.head) {
    load_gain(structure_.head->norm, 0);
  }
}

// Gain memory: two slots for the norm in front of a layer (the next layer's is loaded while this
// one runs), one for the norm in its middle, two for the norms of query and key heads.
std::int64_t BoardLowering::input_gain(std::size_t layer) const {
  return static_cast<std::int64_t>(layer % 2) * divide_up(program_.columns, kLanes);
}
std::int64_t BoardLowering::post_gain() const { return 2 * divide_up(program_.columns, kLanes); }
std::int64_t BoardLowering::head_gain(std::size_t layer, bool key) const {
  const std::int64_t words = divide_up(program_.head_columns, kLanes);
  return 3 * divide_up(program_.columns, kLanes) +
         (static_cast<std::int64_t>(layer % 2) * 2 + (key ? 1 : 0)) * words;
}

void BoardLowering::load_gain(int norm, std::int64_t word) {
  const Vector& vector = program_.vectors[static_cast<std::size_t>(op(norm).vector)];
  GainItem item{allocate(row_beats(vector.size)), vector.tensor, vector.size};
  Instruction i;
  i.columns = narrow(vector.size);
  i.gain = narrow(word);
  i.stream_base = narrow(item.base);
  i.stream_beats = narrow(row_beats(vector.size));
  i.line = line(norm);
  hold("words of gain memory", word + divide_up(vector.size, kLanes), engine_.gain_words);
  board_.gains.push_back(std::move(item));
  gains_ready_ = emitter_.emit(Op::kGain, i, {});
}

/// The gains that the beginning of a layer needs (the last norm's after the last layer).
void BoardLowering::load_layer_gains(std::size_t layer) {
  if (layer == structure_.layers.size()) {
    if (structure_.head) load_gain(structure_.head->norm, input_gain(layer));
    return;
  }
  const LayerStructure& s = structure_.layers[layer];
  load_gain(s.input_norm, input_gain(layer));
  if (s.query.norm >= 0) load_gain(s.query.norm, head_gain(layer, false));
  if (s.key.norm >= 0) load_gain(s.key.norm, head_gain(layer, true));
}

void BoardLowering::end_segment() {
  emitter_.end_segment();
  host_units_ = std::max(host_units_, units_);
  units_ = 0;
}

/// Where programs lie: one, or each segment's, in as many copies as passes need.
void BoardLowering::place_programs() {
  const std::vector<std::int64_t> ends = emitter_.segment_ends();
  board_.program = emitter_.take();
  std::int64_t first = 0;
  for (const std::int64_t end : ends) {
    const std::int64_t count = end - first;
    hold("instructions", count, engine_.instructions);
    Segment segment{0, first, count, 1};
    for (std::int64_t n = first; split() && n < end; ++n) {
      const Instruction& i = board_.program[static_cast<std::size_t>(n)];
      if (at_row(i, 1, structure_.given >= 0) != i) {
        segment.copies = divide_up(program_.rows, engine_.rows);
      }
    }
    segment.base = allocate(program_beats(static_cast<std::size_t>(count)) * segment.copies);
    if (first == 0) board_.program_base = segment.base;
    if (split()) board_.segments.push_back(segment);
    first = end;
  }
}

}  // namespace logos::d5005
