// Products over rows that chips hold parts of, what leaves the board, and what boards exchange.

#include <algorithm>
#include <array>
#include <utility>

#include "rtl/lowering/board_lowering.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/lowering_units.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kMostColumns = (std::int64_t{1} << 20) - 64;  ///< of an instruction

std::int64_t rounded_to_words(std::int64_t columns) { return divide_up(columns, 64) * 64; }

}  // namespace

/// A product whose result is added to x.
void BoardLowering::contract(const Contraction& contraction, const Region& from,
                             std::int64_t columns, Peaks peaks, Ended ready) {
  if (split()) {
    contract_over_chips(contraction, from, columns, peaks, ready);
    return;
  }
  const Ended block = quantize(contraction.block, from, columns, peaks, ready);
  Instruction i = product_of(contraction.product, {part_of(contraction.product, -1)});
  i.variant = static_cast<std::uint32_t>(Post::kResidual);
  i.source = i.destination = narrow(x_.base);
  i.source_stride = i.destination_stride = narrow(x_.stride);
  i.track = 1;
  x_ready_ = block_read_ = emitter_.emit(Op::kProduct, i, {block});
  x_peaks_ = Peaks::kOfProduct;
}

/// The same where each chip holds some of the columns: three segments, between them all chips'
/// peaks and all chips' sums. The exponents of the quantized rows stay in the engine meanwhile.
void BoardLowering::contract_over_chips(const Contraction& contraction, const Region& from,
                                        std::int64_t columns, Peaks peaks, Ended ready) {
  Instruction s;
  s.variant = static_cast<std::uint32_t>(StoreSource::kPeaks);
  s.peaks = static_cast<std::uint32_t>(peaks);
  s.host_offset = narrow(units_);
  s.line = line(contraction.peak);
  emitter_.emit(Op::kStore, s, {ready});
  const OutputPiece own{units_, program_.chip, 1, program_.chip};
  units_ += rows_of_run();
  exchange({ExchangeKind::kPeaks, "", program_.chips, {own}});

  Instruction p;
  p.heads = narrow(program_.chips);
  p.stream_base = narrow(board_.peaks_base);
  p.line = line(contraction.greatest);
  const Ended greatest = emitter_.emit(Op::kPeak, p, {});
  const Ended block = quantize(contraction.block, from, columns, Peaks::kOfRows, greatest);
  const std::int64_t quarter = rounded_to_words(divide_up(program_.columns, 4));
  exchange({ExchangeKind::kSums, matrix_of(contraction.product).tensor, program_.columns,
            product_in_pieces(contraction.product, Post::kSums, false, contraction.product, quarter,
                              block)});

  const std::int64_t beats = sums_beats(program_.columns, program_.chips);
  Instruction i;
  i.variant = static_cast<std::uint32_t>(Post::kResidual);
  i.heads = narrow(program_.chips);
  i.columns = narrow(program_.columns);
  i.source = i.destination = narrow(x_.base);
  i.source_stride = i.destination_stride = narrow(x_.stride);
  i.stream_base = narrow(board_.sums_base);
  i.stream_beats = narrow(beats);
  i.track = 1;
  i.line = line(contraction.scaled);
  x_ready_ = block_read_ = emitter_.emit(Op::kScale, i, {});
  x_peaks_ = Peaks::kOfProduct;
}

void BoardLowering::enter_head() {
  const HeadStructure& head = *structure_.head;
  const bool last = head.last_row >= 0;
  const Ended block = norm(head.norm, head.block, input_gain(structure_.layers.size()), last);
  outputs_ =
      product_in_pieces(head.product, Post::kPlain, last, structure_.show, kMostColumns, block);
}

/// A product whose outputs leave in pieces of `most` rows of the matrix at most: one is stored
/// while the next is computed. Logits are looked at for the greatest as they pass.
std::vector<OutputPiece> BoardLowering::product_in_pieces(int product, Post post, bool last_row,
                                                          int shown, std::int64_t most,
                                                          Ended block) {
  const MatrixPart whole = part_of(product, -1);
  const std::int64_t lanes = post == Post::kSums ? 2 : 1;  // of an output
  const std::int64_t words = (engine_.vector_words - shared_at_) / (2 * engine_.rows);
  const std::int64_t piece = std::min(words * kLanes / lanes / 64 * 64, most);
  if (piece < 64) {
    hold("words of vector memory", shared_at_ + 4 * lanes * engine_.rows, engine_.vector_words);
  }
  const std::int64_t stride = divide_up(std::min(piece, whole.rows) * lanes, kLanes);
  std::array<Ended, 2> stored{};
  std::vector<OutputPiece> pieces;
  for (std::int64_t first = 0; first < whole.rows; first += piece) {
    MatrixPart part = whole;
    part.first_row += first;
    part.rows = std::min(piece, whole.rows - first);
    const auto half = static_cast<std::size_t>(first / piece % 2);
    const Region to{shared_at_ + static_cast<std::int64_t>(half) * stride * engine_.rows, stride,
                    0};
    Instruction i = product_of(product, {part});
    i.variant = static_cast<std::uint32_t>(post);
    i.destination = narrow(to.base);
    i.destination_stride = narrow(to.stride);
    i.last_row = last_row ? 1 : 0;
    const Ended ready = emitter_.emit(Op::kProduct, i, {block, stored[half]});
    OutputPiece& out = pieces.emplace_back(
        store(to, part.rows * lanes, last_row, post == Post::kPlain, shown, ready, &stored[half]));
    out.first = part.first_row;
    out.columns = part.rows;
  }
  return pieces;
}

/// The row stream is shown: by the first board, or of embedded rows by the one that holds each.
void BoardLowering::show_rows() {
  Ended ignored;
  if (program_.chip == 0 || (structure_.held >= 0 && is_embedding_alone())) {
    outputs_ = {store(x_, program_.columns, false, false, structure_.show, x_ready_, &ignored)};
  }
}

OutputPiece BoardLowering::store(const Region& from, std::int64_t lanes, bool last_row, bool greedy,
                                 int operation, Ended after, Ended* stored) {
  Instruction i;
  i.source = narrow(from.base);
  i.source_stride = last_row ? 0 : narrow(from.stride);  // what is stored is row 0
  i.columns = narrow(lanes);
  i.variant = static_cast<std::uint32_t>(StoreSource::kVector);
  i.last_row = last_row ? 1 : 0;
  i.greedy = greedy ? 1 : 0;
  i.host_offset = narrow(units_);
  i.line = line(operation);
  const OutputPiece piece{units_, 0, lanes, program_.chip};
  units_ += divide_up(lanes * 4, kLineBytes) * (last_row ? 1 : rows_of_run());
  *stored = emitter_.emit(Op::kStore, i, {after});
  return piece;
}

/// Ends the segment; the next one finds in DDR what the boards gave each other.
void BoardLowering::exchange(Exchange exchange) {
  exchanges_.push_back(std::move(exchange));
  end_segment();
}

}  // namespace logos::d5005
