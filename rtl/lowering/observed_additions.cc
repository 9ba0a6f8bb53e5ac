#include "rtl/lowering/observed_additions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "program/error.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kBlock = 128;  ///< positions of a cache block
constexpr std::int64_t kLineBytes = 64;
/// Quads after which a product's stream may begin anew: scales come every 16, multipliers every 32
/// words.
constexpr std::int64_t kRestart = 32;
/// Instructions that show a model's operations: far above any model's.
constexpr std::int64_t kMostAdded = std::int64_t{1} << 20;
constexpr const char* kWhere = "d5005: observation";

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
std::int64_t lines_of(std::int64_t bytes) { return divide_up(bytes, kLineBytes); }

std::uint32_t narrow(std::int64_t value) {
  if (value < 0 || value >= (std::int64_t{1} << 32)) {
    throw Error(kWhere, "damaged plan: an instruction out of range", fmt::to_string(value),
                "32 bits");
  }
  return static_cast<std::uint32_t>(value);
}

template <typename Enum>
std::uint32_t code(Enum value) {
  return static_cast<std::uint32_t>(value);
}

ElementType type_of(StoreSource source) {
  switch (source) {
    case StoreSource::kActivation:
    case StoreSource::kQuery:
      return ElementType::kI16;
    case StoreSource::kWeightSums:
      return ElementType::kI64;
    default:
      return ElementType::kF32;
  }
}

/// Rows of vector memory.
struct Rows {
  std::int64_t base = 0;
  std::int64_t stride = 0;
};

Rows source_of(const Instruction& i) { return {i.source, i.source_stride}; }
Rows destination_of(const Instruction& i) { return {i.destination, i.destination_stride}; }

/// The part of a product of whole quads [first, first + quads): its stream and its columns.
Instruction quads_of(Instruction product, std::int64_t first, std::int64_t quads) {
  const std::int64_t constants = 1 + product.bias;
  const auto beats = [&](std::int64_t count) {
    const std::int64_t words = count * product.words;
    return divide_up(count, 16) * constants + divide_up(words, 32) + words;
  };
  product.stream_base = narrow(product.stream_base + beats(first));
  product.stream_beats = narrow(beats(quads));
  product.columns = narrow(4 * quads);
  return product;
}

/// Goes through a program and says what shows the operations of each instruction.
class Additions {
 public:
  Additions(const Plan& plan, std::size_t index, std::span<const std::int64_t> positions,
            std::vector<ObservedOperation>* operations, BoardPlan* board)
      : plan_(plan),
        index_(index),
        positions_(positions),
        operations_(*operations),
        board_(*board),
        rows_(std::min(plan.rows, plan.engine.rows)),
        rows_of_run_(plan.boards.size() == 1 ? plan.rows : rows_) {}

  std::vector<Addition> all() {
    const std::vector<Instruction>& program = plan_.boards[index_].program;
    for (at_ = 0; at_ < program.size(); ++at_) visit(program[at_]);
    return std::move(additions_);
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
    throw Error(kWhere, fmt::format("damaged plan: an instruction that is none: {}", describe(i)));
  }

  /// What all boards hold whole is shown by the first.
  bool is_first() const { return index_ == 0; }

  const PlanLine& line_of(const Instruction& i) const {
    if (i.line >= plan_.lines.size()) {
      throw Error(kWhere, "damaged plan: an instruction of an operation that is none",
                  fmt::to_string(i.line), fmt::format("below {}", plan_.lines.size()));
    }
    return plan_.lines[i.line];
  }

  /// Begins an addition in front of the instruction at hand, or behind it.
  void before() { additions_.push_back({at_, {}, 0, {}}); }
  void after() { additions_.push_back({at_ + 1, {}, 0, {}}); }
  void add(const Instruction& i) {
    if (++added_ > kMostAdded) {
      throw Error(kWhere, "damaged plan: instructions that show operations",
                  fmt::format("more than {}", kMostAdded), "fewer");
    }
    additions_.back().instructions.push_back(i);
  }

  /// Appends a store of what `like` is of and gives where its rows go.
  ObservedPiece store(const Instruction& like, StoreSource what, Instruction shape,
                      std::int64_t lines) {
    Addition& to = additions_.back();
    shape.op = code(Op::kStore);
    shape.variant = code(what);
    shape.line = like.line;
    shape.last_row = like.last_row;
    shape.host_offset = narrow(to.host_units);
    add(shape);
    ObservedPiece piece;
    piece.board = index_;
    piece.offset = to.host_units;
    piece.lines = lines;
    to.host_units += lines * (like.last_row != 0 ? 1 : rows_of_run_);
    return piece;
  }

  /// Says that a piece belongs to the operation of that name in the layer of `like`.
  void show(std::string_view name, const Instruction& like, StoreSource what,
            const ObservedPiece& piece) {
    const std::int64_t layer = line_of(like).layer;
    for (std::size_t o = 0; o < operations_.size(); ++o) {
      ObservedOperation& operation = operations_[o];
      if (operation.name != name || operation.layer != layer) continue;
      operation.type = name == "weights" ? ElementType::kI32 : type_of(what);
      operation.rows = like.last_row != 0 ? 1 : plan_.rows;
      operation.held = like.op == code(Op::kEmbed) && plan_.boards.size() > 1;
      additions_.back().pieces.push_back({o, piece});
      return;
    }
    throw Error(kWhere, fmt::format("damaged plan: no line for {} of layer {}", name, layer));
  }

  ObservedPiece store_vector(const Instruction& like, const Rows& from, std::int64_t columns) {
    Instruction shape;
    shape.source = narrow(from.base);
    shape.source_stride = like.last_row != 0 ? 0 : narrow(from.stride);  // it is row 0
    shape.columns = narrow(columns);
    ObservedPiece piece = store(like, StoreSource::kVector, shape, lines_of(4 * columns));
    piece.elements = piece.count = columns;
    return piece;
  }

  void show_vector(std::string_view name, const Instruction& like, const Rows& from,
                   std::int64_t columns) {
    show(name, like, StoreSource::kVector, store_vector(like, from, columns));
  }

  /// The values that the instruction's own operation left.
  void show_after(const Instruction& i, const Rows& from) {
    after();
    show_vector(line_of(i).name, i, from, i.columns);
  }

  /// Heads that begin at multiples of 4 columns.
  void show_heads(std::string_view name, const Instruction& like, const Rows& from,
                  std::int64_t slots) {
    const std::int64_t slots_of_one = std::max<std::int64_t>(slots_of_head(plan_.head_columns), 1);
    ObservedPiece piece = store_vector(like, from, slots);
    piece.blocks = slots / slots_of_one;
    piece.block_bytes = 4 * slots_of_one;
    piece.elements = plan_.head_columns;
    show_own_heads(name, like, StoreSource::kVector, piece);
  }

  /// Key heads that the board before holds, too, are shown by that one.
  void show_own_heads(std::string_view name, const Instruction& like, StoreSource what,
                      ObservedPiece piece) {
    const std::int64_t shared = std::min(shared_heads(name, line_of(like).layer), piece.blocks);
    piece.skip += shared * piece.block_bytes;
    piece.blocks -= shared;
    piece.count = piece.blocks * piece.elements;
    if (piece.blocks > 0) show(name, like, what, piece);
  }

  std::int64_t shared_heads(std::string_view name, std::int64_t layer) const {
    if (is_first() || name.substr(0, name.find('.')) == "q") return 0;
    const auto heads_of = [&](const BoardPlan& board) {
      for (const CacheItem& item : board.caches) {
        if (item.layer == layer) return item;
      }
      throw Error(kWhere, fmt::format("damaged plan: no cache of layer {}", layer));
    };
    const CacheItem before = heads_of(plan_.boards[index_ - 1]);
    return std::max<std::int64_t>(
        before.first_head + before.heads - heads_of(plan_.boards[index_]).first_head, 0);
  }

  void show_activation(std::string_view name, const Instruction& i) {
    Instruction shape;
    const std::int64_t columns = i.first + i.columns;
    shape.columns = narrow(columns);
    const std::int64_t lines = lines_of(2 * columns);
    ObservedPiece piece = store(i, StoreSource::kActivation, shape, lines + 1);
    piece.skip = 2 * i.first;
    piece.elements = piece.count = i.columns;
    if (is_first()) piece.exponent_at = lines * kLineBytes - piece.skip;  // all boards have it
    show(name, i, StoreSource::kActivation, piece);
  }

  /// Embedded rows: each of the board that holds it, or once all boards have them.
  void see_rows(const Instruction& i) {
    x_end_ = i.destination + i.destination_stride * rows_;
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
    throw Error(kWhere, fmt::format("damaged plan: a product that is none: {}", describe(i)));
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
    const Rows x = destination_of(i);
    before();
    Instruction plain = i;
    plain.variant = code(Post::kPlain);
    plain.track = 0;
    plain.destination = narrow(x_end_);
    plain.destination_stride = narrow(divide_up(i.columns, kLanes));
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
    plain.base = board_.super_beats;
    i.bias = 0;
    i.stream_base = narrow(plain.base);
    i.stream_beats = narrow(matrix_beats(plain));
    board_.super_beats += matrix_beats(plain);
    board_.matrices.push_back(std::move(plain));
    return i;
  }

  const MatrixItem& matrix_of(const Instruction& product) const {
    for (const MatrixItem& item : plan_.boards[index_].matrices) {
      if (item.base == product.stream_base && !item.parts.empty()) return item;
    }
    throw Error(kWhere, fmt::format("damaged plan: a product of no matrix: {}", describe(product)));
  }

  /// Words of a row that vector memory has room for behind the row stream.
  std::int64_t room() const {
    return (plan_.engine.vector_words - x_end_) / std::max<std::int64_t>(rows_, 1);
  }
  void check_room(std::int64_t words) const {
    if (words <= room()) return;
    throw Error(kWhere, "words of vector memory for results beside the row stream",
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
    i.destination = narrow(x_end_);
    for (std::int64_t first = 0; first < quads; first += most) {
      Instruction part = quads_of(i, first, std::min(most, quads - first));
      part.destination_stride = narrow(divide_up(part.columns, kLanes));
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
    const std::string name = line_of(i).name;
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

  void show_query(std::string_view name, const Instruction& i) {
    Instruction shape;
    shape.heads = i.heads;
    shape.head_columns = i.head_columns;
    const std::int64_t lines = lines_of(2 * std::int64_t{i.head_columns});
    ObservedPiece piece = store(i, StoreSource::kQuery, shape, i.heads * (lines + 1));
    piece.blocks = i.heads;
    piece.block_bytes = (lines + 1) * kLineBytes;
    piece.elements = i.head_columns;
    piece.exponent_at = lines * kLineBytes;
    show_own_heads(name, i, StoreSource::kQuery, piece);
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
    i.source = narrow(begin & 0xFFFF);
    i.first_head = narrow(i.first_head + head);
    i.heads = 1;
    i.track = 0;
    Instruction shape;
    shape.group = narrow(std::max<std::int64_t>(end - std::max<std::int64_t>(begin, 0), 0));
    shape.columns = narrow(most_positions(i.window));
    const std::int64_t score_lines = lines_of(4 * std::int64_t{shape.columns});
    Instruction sums;
    sums.group = shape.group;
    const std::int64_t sum_lines = lines_of(8 * std::int64_t{shape.group});
    // Rows of the pass are stored each by its own instruction, but in places by their index.
    const std::int64_t units = 2 * shape.group * score_lines + sum_lines;
    ObservedPiece scores, weights, weight_sums;
    for (std::int64_t row = 1; row <= rows_; ++row) {
      additions_.back().host_units = 0;
      i.only_row = shape.only_row = sums.only_row = narrow(row);
      i.target = code(AttendStop::kToScores);
      add(i);
      scores = store(i, StoreSource::kScores, shape, shape.group * score_lines);
      i.target = code(AttendStop::kToWeights);
      add(i);
      weights = store(i, StoreSource::kScores, shape, shape.group * score_lines);
      weight_sums = store(i, StoreSource::kWeightSums, sums, sum_lines);
    }
    additions_.back().host_units = units * rows_of_run_;
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

  const Plan& plan_;
  std::size_t index_;  ///< of the board
  std::span<const std::int64_t> positions_;
  std::vector<ObservedOperation>& operations_;
  BoardPlan& board_;
  std::int64_t rows_;  ///< of the largest pass
  std::int64_t rows_of_run_;
  std::int64_t x_end_ = 0;  ///< first word behind the row stream
  std::size_t at_ = 0;      ///< the instruction at hand
  std::vector<Addition> additions_;
  std::int64_t added_ = 0;
};

}  // namespace

std::vector<Addition> additions_of(const Plan& plan, std::size_t index,
                                   std::span<const std::int64_t> positions,
                                   std::vector<ObservedOperation>* operations, BoardPlan* board) {
  return Additions(plan, index, positions, operations, board).all();
}

}  // namespace logos::d5005
