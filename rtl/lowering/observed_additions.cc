#include "rtl/lowering/observed_additions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "program/divide_up.h"
#include "program/error.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/lowering_units.h"
#include "rtl/lowering/observed_stores.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kBlock = 128;  ///< positions of a cache block
/// Quads after which a product's stream may begin anew: scales come every 16, multipliers every 32
/// words.
constexpr std::int64_t kRestart = 32;

VectorRows source_of(const Instruction& i) { return {i.source, i.source_stride}; }
VectorRows destination_of(const Instruction& i) { return {i.destination, i.destination_stride}; }

/// The part of a product of whole quads [first, first + quads): its stream and its columns.
Instruction quads_of(Instruction product, std::int64_t first, std::int64_t quads) {
  const std::int64_t constants = 1 + product.bias;
  const auto beats = [&](std::int64_t count) {
    const std::int64_t words = count * product.words;
    return divide_up(count, 16) * constants + divide_up(words, 32) + words;
  };
  product.stream_base = narrow_observed(product.stream_base + beats(first));
  product.stream_beats = narrow_observed(beats(quads));
  product.columns = narrow_observed(4 * quads);
  return product;
}

/// Goes through a program and says what shows the operations of each instruction.
class Additions : private ObservedStores {
 public:
  Additions(const Plan& plan, std::size_t index, std::span<const std::int64_t> positions,
            std::vector<ObservedOperation>* operations, BoardPlan* board)
      : ObservedStores(plan, index, operations), positions_(positions), to_(*board) {}

  std::vector<Addition> all() {
    const std::vector<Instruction>& program = board().program;
    for (std::size_t at = 0; at < program.size(); ++at) {
      go_to(at);
      visit(program[at]);
    }
    return take();
  }

 private:
  void visit(const Instruction& i) {
    switch (static_cast<Op>(i.op)) {
      case Op::kLoad:
      case Op::kEmbed:
        return see_rows(i);
      case Op::kNorm:
        if (is_first()) see_norm(i);
        return;
      case Op::kQuantize:
        after();
        return show_activation(line_of(i).name, i);
      case Op::kProduct:
        return see_product(i);
      case Op::kHeads:
        return see_heads(i);
      case Op::kAttend:
        return see_attention(i);
      case Op::kScale:
        if (is_first()) see_scale(i);
        return;
      case Op::kGain:
      case Op::kRotary:
      case Op::kPeak:
      case Op::kStore:
      case Op::kEnd:
        return;
    }
    throw Error(kObservation,
                fmt::format("damaged plan: an instruction that is none: {}", describe(i)));
  }

  /// Embedded rows: each of the board that holds it, or once all boards have them.
  void see_rows(const Instruction& i) {
    x_end_ = i.destination + i.destination_stride * rows_of_pass();
    if (line_of(i).name.empty() || (i.op == code(Op::kLoad) && !is_first())) return;
    show_after(i, destination_of(i));
  }

  void see_norm(const Instruction& i) {
    const std::string& name = line_of(i).name;
    after();
    show_vector(name, i, destination_of(i), i.columns);
    show_activation(name + ".q16", i);
  }

  void see_product(const Instruction& i) {
    const std::string& name = line_of(i).name;
    switch (static_cast<Post>(i.variant)) {
      case Post::kPlain:
        if (name.empty() || name == "logits") return;  // its store stands in the program
        return see_projection(name, i);
      case Post::kSilu:
        return see_pairs(i);
      case Post::kResidual:
        before();
        show_plain(name, i);
        after();
        return show_vector(name == "o" ? "residual_1" : "residual_2", i, destination_of(i),
                           i.columns);
      case Post::kSums:
        return;  // what becomes of them is shown
    }
    throw Error(kObservation, fmt::format("damaged plan: a product that is none: {}", describe(i)));
  }

  /// Slots in front of a board's share of the hidden columns are none of it.
  void see_pairs(const Instruction& i) {
    const std::int64_t lead = matrix_of(i).parts.front().lead;
    before();
    show_pairs(i, lead);
    after();
    ObservedPiece piece = store_vector(i, destination_of(i), i.columns);
    piece.drop = lead;
    show("silu_times", i, StoreSource::kVector, piece);
  }

  /// The sums of all boards scaled, then added to the row stream.
  void see_scale(Instruction i) {
    const std::string& name = line_of(i).name;
    const VectorRows x = destination_of(i);
    before();
    Instruction plain = i;
    plain.variant = code(Post::kPlain);
    plain.track = 0;
    plain.destination = narrow_observed(x_end_);
    plain.destination_stride = narrow_observed(divide_up(i.columns, kLanes));
    check_room(divide_up(i.columns, kLanes));
    add(plain);
    show_vector(name, plain, destination_of(plain), i.columns);
    after();
    show_vector(name == "o" ? "residual_1" : "residual_2", i, x, i.columns);
  }

  void see_projection(const std::string& name, const Instruction& i) {
    if (i.bias == 0) {
      after();
      return show_heads(name, i, destination_of(i), i.columns);
    }
    before();
    add(without_bias(i));
    show_heads(name, i, destination_of(i), i.columns);
    after();
    show_heads(name + ".bias", i, destination_of(i), i.columns);
  }

  /// The stream has the biases in it, so the same rows are laid out once more without.
  Instruction without_bias(Instruction i) {
    MatrixItem plain = matrix_of(i);
    for (MatrixPart& part : plain.parts) part.bias.clear();
    plain.base = to_.super_beats;
    i.bias = 0;
    i.stream_base = narrow_observed(plain.base);
    i.stream_beats = narrow_observed(matrix_beats(plain));
    to_.super_beats += matrix_beats(plain);
    to_.matrices.push_back(std::move(plain));
    return i;
  }

  const MatrixItem& matrix_of(const Instruction& product) const {
    for (const MatrixItem& item : board().matrices) {
      if (item.base == product.stream_base && !item.parts.empty()) return item;
    }
    throw Error(kObservation,
                fmt::format("damaged plan: a product of no matrix: {}", describe(product)));
  }

  /// Words of a row that vector memory has room for behind the row stream.
  std::int64_t room() const {
    return (plan().engine.vector_words - x_end_) / std::max<std::int64_t>(rows_of_pass(), 1);
  }
  void check_room(std::int64_t words) const {
    if (words <= room()) return;
    throw Error(kObservation, "words of vector memory for results beside the row stream",
                fmt::to_string(room()), fmt::format("{} a row", words));
  }

  /// Runs a product's sums alone, as many quads at a time as vector memory has room for behind the
  /// row stream, which is all that must stay. `shown` gets each part.
  template <typename Shown>
  void run_plain(Instruction i, std::int64_t quads, Shown&& shown) {
    std::int64_t most = room() * kLanes / 4;
    if (most < quads) most = most / kRestart * kRestart;
    if (most <= 0) check_room(kRestart * 4 / kLanes);
    i.variant = code(Post::kPlain);
    i.track = 0;
    i.destination = narrow_observed(x_end_);
    for (std::int64_t first = 0; first < quads; first += most) {
      Instruction part = quads_of(i, first, std::min(most, quads - first));
      part.destination_stride = narrow_observed(divide_up(part.columns, kLanes));
      add(part);
      shown(part, first);
    }
  }

  void show_plain(std::string_view name, const Instruction& i) {
    run_plain(i, divide_up(i.columns, 4), [&](const Instruction& part, std::int64_t first) {
      const std::int64_t columns =
          std::min<std::int64_t>(part.columns, std::int64_t{i.columns} - 4 * first);
      show_vector(name, part, destination_of(part), columns);
    });
  }

  /// Quads of gate and up alternate.
  void show_pairs(const Instruction& i, std::int64_t lead) {
    const std::int64_t pairs = divide_up(i.columns, 4);
    run_plain(i, 2 * pairs, [&](const Instruction& part, std::int64_t first) {
      ObservedPiece piece = store_vector(part, destination_of(part), part.columns);
      piece.blocks = part.columns / 8;
      piece.block_bytes = 32;
      piece.elements = 4;
      piece.count = std::min(4 * piece.blocks, std::int64_t{i.columns} - 2 * first);
      if (first == 0) piece.drop = lead;
      show("gate", part, StoreSource::kVector, piece);
      piece.skip = 16;
      show("up", part, StoreSource::kVector, piece);
    });
  }

  /// What it quantized; then its source once more through each of the steps before.
  void see_heads(Instruction i) {
    const std::string name = block_of(i).name;
    const std::string value = name.substr(0, name.find('.'));
    const std::int64_t slots = i.heads * slots_of_head(i.head_columns);
    after();
    if (i.target !=
        code(HeadTarget::kQuery)) {  // query memory is free until this layer's queries come
      i.target = code(HeadTarget::kQuery);
      add(i);
    }
    show_query(name, i);
    i.target = code(HeadTarget::kNowhere);
    i.write_back = 1;
    Instruction step = i;
    if (i.norm != 0) {
      step.rotate = 0;
      add(step);
      show_heads(value + ".norm", step, source_of(step), slots);
    }
    step = i;
    step.norm = 0;
    if (i.rotate == 0) return;
    add(step);
    show_heads(value + ".rope", step, source_of(step), slots);
  }

  void see_attention(const Instruction& i) {
    for (std::int64_t head = 0; head < i.heads; ++head) {
      before();
      show_key_head(i, head);
    }
    after();
    ObservedPiece piece = store_vector(i, destination_of(i), i.first + i.columns);
    piece.skip = 4 * i.first;
    piece.elements = piece.count = i.columns;
    show("attention", i, StoreSource::kVector, piece);
  }

  /// Of each row the query heads that read a key head: the unit keeps scores or weights of one such
  /// pair only.
  void show_key_head(Instruction i, std::int64_t head) {
    const auto first = static_cast<std::int16_t>(i.source);
    const std::int64_t begin = first + head * i.group;
    const std::int64_t end = std::min<std::int64_t>(begin + i.group, i.words);
    i.source = narrow_observed(begin & 0xFFFF);
    i.first_head = narrow_observed(i.first_head + head);
    i.heads = 1;
    i.track = 0;
    Instruction shape;
    shape.group =
        narrow_observed(std::max<std::int64_t>(end - std::max<std::int64_t>(begin, 0), 0));
    shape.columns = narrow_observed(most_positions(i.window));
    const std::int64_t score_lines = lines_of(4 * std::int64_t{shape.columns});
    Instruction sums;
    sums.group = shape.group;
    const std::int64_t sum_lines = lines_of(8 * std::int64_t{shape.group});
    // Rows of the pass are stored each by its own instruction, but in places by their index.
    const std::int64_t units = 2 * shape.group * score_lines + sum_lines;
    ObservedPiece scores, weights, weight_sums;
    for (std::int64_t row = 1; row <= rows_of_pass(); ++row) {
      current().host_units = 0;
      i.only_row = shape.only_row = sums.only_row = narrow_observed(row);
      i.target = code(AttendStop::kToScores);
      add(i);
      scores = store(i, StoreSource::kScores, shape, shape.group * score_lines);
      i.target = code(AttendStop::kToWeights);
      add(i);
      weights = store(i, StoreSource::kScores, shape, shape.group * score_lines);
      weight_sums = store(i, StoreSource::kWeightSums, sums, sum_lines);
    }
    current().host_units = units * rows_of_run();
    for (ObservedPiece* piece : {&scores, &weights}) {
      piece->blocks = shape.group;
      piece->block_bytes = score_lines * kLineBytes;
      piece->visible = true;
    }
    weight_sums.elements = weight_sums.count = shape.group;
    show("scores", i, StoreSource::kScores, scores);
    show("weights", i, StoreSource::kScores, weights);
    show("weight_sum", i, StoreSource::kWeightSums, weight_sums);
  }

  /// Positions that a row reads, from the begin of its first block on, of the row with most.
  std::int64_t most_positions(std::int64_t window) const {
    std::int64_t most = 0;
    for (const std::int64_t position : positions_) {
      const std::int64_t first = window == 0 ? 0 : std::max<std::int64_t>(0, position - window);
      most = std::max(most, position - first / kBlock * kBlock);
    }
    return most;
  }

  std::span<const std::int64_t> positions_;
  BoardPlan& to_;           ///< gets the matrices that the additions read
  std::int64_t x_end_ = 0;  ///< first word behind the row stream
};

}  // namespace

std::vector<Addition> additions_of(const Plan& plan, std::size_t index,
                                   std::span<const std::int64_t> positions,
                                   std::vector<ObservedOperation>* operations, BoardPlan* board) {
  return Additions(plan, index, positions, operations, board).all();
}

}  // namespace logos::d5005
