#include "rtl/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "program/check.h"
#include "program/error.h"
#include "rtl/lowering/emitter.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/structure.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kCacheBlock = 128;  ///< positions
constexpr std::int64_t kLargestHead = 256;
constexpr std::int64_t kLargestGroup = 16;
constexpr std::int64_t kLargestColumns = 32768;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
std::uint32_t narrow(std::int64_t value) {
  CHECK(value >= 0 && value < (std::int64_t{1} << 32));
  return static_cast<std::uint32_t>(value);
}

/// Throws Error where more is needed than there is.
void hold(std::string_view what, std::int64_t needed, std::int64_t there_is) {
  if (needed > there_is) {
    throw Error("d5005: lowering", fmt::format("{}: more than the engine holds", what),
                fmt::to_string(needed), fmt::format("{} at most", there_is));
  }
}

/// A value in vector memory.
struct Region {
  std::int64_t base = 0;    ///< words
  std::int64_t stride = 0;  ///< words of a row
};

/// Lowers the program of one chip.
class BoardLowering {
 public:
  BoardLowering(const Program& program, const EngineSize& engine, std::int64_t capacity)
      : program_(program),
        engine_(engine),
        structure_(structure_of(program)),
        capacity_(capacity) {}

  /// The board's plan; the outputs' pieces are appended to `plan`.
  BoardPlan lower(Plan* plan) {
    place_vectors();
    enter_source();
    for (std::size_t i = 0; i < structure_.layers.size(); ++i) enter_layer(i);
    if (structure_.head) {
      enter_head(plan);
    } else {
      store_rows(plan);
    }
    board_.program = emitter_.finish();
    board_.program_base = allocate(program_beats(board_.program.size()));
    hold("instructions", static_cast<std::int64_t>(board_.program.size()), engine_.instructions);
    board_.super_beats = next_;
    hold("super-beats of DDR", next_, engine_.super_beats);
    return std::move(board_);
  }

 private:
  const Operation& op(int index) const {
    return program_.operations[static_cast<std::size_t>(index)];
  }
  const Value& result(int index) const {
    return program_.values[static_cast<std::size_t>(op(index).result)];
  }
  /// An operation's number: what an instruction says of where it comes from (Plan::lines).
  static std::uint32_t line(int index) { return static_cast<std::uint32_t>(index); }

  std::int64_t allocate(std::int64_t super_beats) {
    const std::int64_t at = next_;
    next_ += super_beats;
    return at;
  }

  /// Columns of a row of attention, of the hidden layer; 0 where the cut has no layer.
  std::int64_t attention_columns() const {
    if (structure_.layers.empty()) return 0;
    const Value& query = result(structure_.layers.front().query.block);
    return query.heads * query.columns;
  }
  std::int64_t hidden_columns() const {
    return structure_.layers.empty() ? 0 : result(structure_.layers.front().multiply).columns;
  }

  /// Output slots of a projection.
  std::int64_t head_slots(const Projection& projection) const {
    const Value& heads = result(projection.block);
    return heads.heads * slots_of_head(heads.columns);
  }

  Region region(std::int64_t columns) {
    Region r{next_word_, divide_up(columns, kLanes)};
    next_word_ += r.stride * engine_.rows;
    return r;
  }

  /// x and its norm live side by side; projections, hidden rows and logits share what is left.
  void place_vectors() {
    x_ = region(program_.columns);
    t_ = region(std::max(program_.columns, attention_columns()));
    const std::int64_t shared = next_word_;
    std::int64_t end = shared;
    if (!structure_.layers.empty()) {
      const LayerStructure& layer = structure_.layers.front();
      q_ = region(head_slots(layer.query));
      k_ = region(head_slots(layer.key));
      v_ = region(head_slots(layer.value));
      end = next_word_;
      next_word_ = shared;
      hidden_ = region(hidden_columns());
      end = std::max(end, next_word_);
    }
    logits_at_ = shared;
    hold("words of vector memory", end, engine_.vector_words);
    next_word_ = end;
    hold("words of activation memory",
         divide_up(std::max({program_.columns, attention_columns(), hidden_columns()}), 64) *
             (engine_.rows / engine_.mac_rows),
         engine_.activation_words);
  }

  std::uint32_t epsilon() const {
    return std::bit_cast<std::uint32_t>(static_cast<float>(program_.norm_epsilon));
  }

  void enter_source() {
    Instruction i;
    i.destination = narrow(x_.base);
    i.destination_stride = narrow(x_.stride);
    i.columns = narrow(program_.columns);
    if (structure_.given >= 0) {
      const std::int64_t beats = row_beats(program_.columns);
      board_.given_base = allocate(beats * program_.rows);
      i.stream_base = narrow(board_.given_base);
      i.stream_beats = narrow(beats);
      i.line = line(structure_.given);
      x_ready_ = emitter_.emit(Op::kLoad, i, {});
    } else {
      const Matrix& matrix =
          program_.matrices[static_cast<std::size_t>(op(structure_.embedded).matrix)];
      EmbeddingItem item;
      item.tensor = matrix.tensor;
      item.first_row = matrix.row_share.begin;
      item.rows = matrix.row_share.size();
      item.columns = matrix.columns;
      item.base = allocate(embedding_beats(matrix.columns) * item.rows);
      i.stream_base = narrow(item.base);
      i.stream_beats = narrow(embedding_beats(matrix.columns));
      i.line = line(structure_.embedded);
      board_.embeddings.push_back(item);
      x_ready_ = emitter_.emit(Op::kEmbed, i, {});
    }
    x_peaks_ = Peaks::kOfRows;
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

  /// Gain memory: two slots for the norm in front of a layer (the next layer's is loaded while
  /// this one runs), one for the norm in its middle, two for the norms of query and key heads.
  std::int64_t gain_stride() const { return divide_up(program_.columns, kLanes); }
  std::int64_t input_gain(std::size_t layer) const {
    return static_cast<std::int64_t>(layer % 2) * gain_stride();
  }
  std::int64_t post_gain() const { return 2 * gain_stride(); }
  std::int64_t head_gain(std::size_t layer, bool key) const {
    const std::int64_t words = divide_up(program_.head_columns, kLanes);
    return 3 * gain_stride() + (static_cast<std::int64_t>(layer % 2) * 2 + (key ? 1 : 0)) * words;
  }

  void load_gain(int norm, std::int64_t word) {
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
  void load_layer_gains(std::size_t layer) {
    if (layer == structure_.layers.size()) {
      if (structure_.head) load_gain(structure_.head->norm, input_gain(layer));
      return;
    }
    const LayerStructure& s = structure_.layers[layer];
    load_gain(s.input_norm, input_gain(layer));
    if (s.query.norm >= 0) load_gain(s.query.norm, head_gain(layer, false));
    if (s.key.norm >= 0) load_gain(s.key.norm, head_gain(layer, true));
  }

  Ended norm(int norm_op, std::int64_t gain, bool last_row) {
    Instruction i;
    i.source = narrow(x_.base);
    i.source_stride = narrow(x_.stride);
    i.destination = narrow(t_.base);
    i.destination_stride = narrow(t_.stride);
    i.columns = narrow(program_.columns);
    i.words = narrow(divide_up(program_.columns, 64));
    i.gain = narrow(gain);
    i.epsilon = epsilon();
    i.peaks = static_cast<std::uint32_t>(x_peaks_);
    i.last_row = last_row ? 1 : 0;
    i.line = line(norm_op);
    return emitter_.emit(Op::kNorm, i, {x_ready_, block_read_});
  }

  Ended quantize(int block, const Region& from, std::int64_t columns, Peaks peaks, Ended after) {
    Instruction i;
    i.source = narrow(from.base);
    i.source_stride = narrow(from.stride);
    i.columns = narrow(columns);
    i.words = narrow(divide_up(columns, 64));
    i.peaks = static_cast<std::uint32_t>(peaks);
    i.line = line(block);
    return emitter_.emit(Op::kQuantize, i, {after, block_read_});
  }

  MatrixPart part_of(int product, int bias) const {
    const Matrix& matrix = program_.matrices[static_cast<std::size_t>(op(product).matrix)];
    MatrixPart part;
    part.tensor = matrix.tensor;
    part.first_row = matrix.row_share.begin;
    part.rows = matrix.row_share.size();
    if (bias >= 0) {
      part.bias = program_.vectors[static_cast<std::size_t>(op(bias).vector)].tensor;
    }
    return part;
  }

  /// Places a matrix and fills what its instruction says of it.
  Instruction product_of(int product, std::vector<MatrixPart> parts) {
    const Matrix& matrix = program_.matrices[static_cast<std::size_t>(op(product).matrix)];
    CHECK(matrix.column_share.begin == 0 && matrix.column_share.end == matrix.columns);
    MatrixItem item;
    item.parts = std::move(parts);
    item.columns = matrix.columns;
    item.base = allocate(matrix_beats(item));
    Instruction i;
    i.stream_base = narrow(item.base);
    i.stream_beats = narrow(matrix_beats(item));
    i.words = narrow(matrix_words(item));
    i.columns = narrow(part_slots(item.parts.front()));
    i.bias = has_bias(item) ? 1 : 0;
    i.line = line(product);
    i.chain = 1;
    board_.matrices.push_back(std::move(item));
    return i;
  }

  Ended project(const Projection& projection, const Region& to, Ended block) {
    MatrixPart part = part_of(projection.product, projection.bias);
    part.head_columns = program_.head_columns;
    Instruction i = product_of(projection.product, {std::move(part)});
    i.variant = static_cast<std::uint32_t>(Post::kPlain);
    i.destination = narrow(to.base);
    i.destination_stride = narrow(to.stride);
    return emitter_.emit(Op::kProduct, i, {block, heads_read_});
  }

  Ended process_heads(const Projection& projection, const Region& from, HeadTarget target,
                      std::int64_t gain, const CacheItem& cache, Ended product) {
    const Value& value = result(projection.block);
    Instruction i;
    i.source = narrow(from.base);
    i.source_stride = narrow(from.stride);
    i.heads = narrow(value.heads);
    i.head_columns = narrow(value.columns);
    i.columns = narrow(value.heads * value.columns);
    i.target = static_cast<std::uint32_t>(target);
    i.rotate = projection.rotation >= 0 ? 1 : 0;
    i.norm = projection.norm >= 0 ? 1 : 0;
    i.gain = narrow(gain);
    i.epsilon = epsilon();
    i.chain = 1;
    i.line = line(projection.block);
    fill_cache(cache, &i);
    return emitter_.emit(Op::kHeads, i, {product, rotary_ready_, gains_ready_, queries_read_});
  }

  static void fill_cache(const CacheItem& cache, Instruction* i) {
    i->cache_base = narrow(cache.base);
    i->cache_head_stride = narrow(cache.head_stride);
    i->cache_row_stride = narrow(cache.row_stride);
    i->values_offset = narrow(cache.values_offset);
  }

  CacheItem place_cache(const LayerStructure& layer) {
    const Cache& cache = program_.caches[static_cast<std::size_t>(op(layer.attended).keys)];
    const std::int64_t blocks = divide_up(capacity_, 128);
    CacheItem item;
    item.layer = cache.layer;
    item.first_head = cache.head_share.begin;
    item.heads = cache.head_share.size();
    item.values_offset = blocks * key_block_beats(cache.head_columns);
    item.head_stride = cache_head_beats(cache.head_columns, capacity_);
    const std::int64_t row = item.head_stride * item.heads;
    item.row_stride = cache.one_for_each_row ? row : 0;
    item.base = allocate(row * (cache.one_for_each_row ? program_.rows : 1));
    return item;
  }

  Ended attend(const LayerStructure& layer, const CacheItem& cache, Ended query, Ended writes) {
    const Value& value = result(layer.query.block);
    Instruction i;
    i.heads = narrow(cache.heads);
    i.group = narrow(program_.query_group);
    i.words = narrow(value.heads);
    // Where the first key head's query heads begin: before this chip's own, it may be.
    i.source = narrow((cache.first_head * program_.query_group - value.first) & 0xFFFF);
    i.head_columns = narrow(value.columns);
    i.columns = narrow(value.heads * value.columns);
    i.window = narrow(program_.window.value_or(0));
    i.destination = narrow(t_.base);
    i.destination_stride = narrow(t_.stride);
    i.fence = 1;
    i.fence_need = narrow(writes.count % 256);
    i.track = 1;
    i.line = line(layer.attended);
    fill_cache(cache, &i);
    hold("query heads that read one key head", program_.query_group, kLargestGroup);
    hold("words of query memory", engine_.rows * value.heads * divide_up(value.columns, kLanes),
         engine_.query_words);
    return emitter_.emit(Op::kAttend, i, {query, writes, norm_read_});
  }

  /// A product whose result is added to x.
  void contract(const Contraction& contraction, Ended block) {
    Instruction i = product_of(contraction.product, {part_of(contraction.product, -1)});
    i.variant = static_cast<std::uint32_t>(Post::kResidual);
    i.source = i.destination = narrow(x_.base);
    i.source_stride = i.destination_stride = narrow(x_.stride);
    i.track = 1;
    x_ready_ = block_read_ = emitter_.emit(Op::kProduct, i, {block});
    x_peaks_ = Peaks::kOfProduct;
  }

  void enter_layer(std::size_t index) {
    const LayerStructure& layer = structure_.layers[index];
    const CacheItem& cache = board_.caches.emplace_back(place_cache(layer));
    const Ended block = norm(layer.input_norm, input_gain(index), false);
    norm_read_ = block;
    // Keys and values first: their way to the cache is over when attention reads it.
    const Ended key = project(layer.key, k_, block);
    const Ended value = project(layer.value, v_, block);
    const Ended key_done =
        process_heads(layer.key, k_, HeadTarget::kKeys, head_gain(index, true), cache, key);
    const Ended value_done = process_heads(layer.value, v_, HeadTarget::kValues, 0, cache, value);
    const Ended query = project(layer.query, q_, block);
    const Ended query_done =
        process_heads(layer.query, q_, HeadTarget::kQuery, head_gain(index, false), cache, query);
    block_read_ = query;
    heads_read_ = query_done;
    load_gain(layer.post_norm, post_gain());
    load_layer_gains(index + 1);
    CHECK(key_done.count < value_done.count);
    const Ended attention = attend(layer, cache, query_done, value_done);
    queries_read_ = attention;
    contract(layer.output,
             quantize(layer.output.block, t_, attention_columns(), Peaks::kOfAttend, attention));
    const Ended post = norm(layer.post_norm, post_gain(), false);
    const Ended hidden = gate_and_up(layer, post);
    block_read_ = hidden;
    contract(layer.down,
             quantize(layer.down.block, hidden_, hidden_columns(), Peaks::kOfProduct, hidden));
    heads_read_ = x_ready_;  // hidden rows and projections share their place
  }

  Ended gate_and_up(const LayerStructure& layer, Ended block) {
    Instruction i = product_of(layer.gate, {part_of(layer.gate, -1), part_of(layer.up, -1)});
    i.variant = static_cast<std::uint32_t>(Post::kSilu);
    i.destination = narrow(hidden_.base);
    i.destination_stride = narrow(hidden_.stride);
    i.track = 1;
    return emitter_.emit(Op::kProduct, i, {block});
  }

  /// Logits leave in pieces: one is stored while the next is computed.
  void enter_head(Plan* plan) {
    const HeadStructure& head = *structure_.head;
    const bool last = head.last_row >= 0;
    const Ended block = norm(head.norm, input_gain(structure_.layers.size()), last);
    const MatrixPart whole = part_of(head.product, -1);
    const std::int64_t words = (engine_.vector_words - logits_at_) / (2 * engine_.rows);
    const std::int64_t piece = std::min(words * kLanes / 64 * 64, (std::int64_t{1} << 20) - 64);
    if (piece < 64)
      hold("words of vector memory", logits_at_ + 4 * engine_.rows, engine_.vector_words);
    const std::int64_t stride = divide_up(std::min(piece, whole.rows), kLanes);
    std::array<Ended, 2> stored{};
    for (std::int64_t first = 0; first < whole.rows; first += piece) {
      MatrixPart part = whole;
      part.first_row += first;
      part.rows = std::min(piece, whole.rows - first);
      const auto half = static_cast<std::size_t>(first / piece % 2);
      const Region to{logits_at_ + static_cast<std::int64_t>(half) * stride * engine_.rows, stride};
      Instruction i = product_of(head.product, {part});
      i.destination = narrow(to.base);
      i.destination_stride = narrow(to.stride);
      i.last_row = last ? 1 : 0;
      const Ended product = emitter_.emit(Op::kProduct, i, {block, stored[half]});
      stored[half] = store(to, part.rows, first, last, true, line(structure_.show), product, plan);
    }
  }

  void store_rows(Plan* plan) {
    store(x_, program_.columns, 0, false, false, line(structure_.show), x_ready_, plan);
  }

  Ended store(const Region& from, std::int64_t columns, std::int64_t first, bool last_row,
              bool greedy, std::uint32_t at_line, Ended after, Plan* plan) {
    Instruction i;
    i.source = narrow(from.base);
    i.source_stride = last_row ? 0 : narrow(from.stride);  // what is stored is row 0
    i.columns = narrow(columns);
    i.variant = static_cast<std::uint32_t>(StoreSource::kVector);
    i.last_row = last_row ? 1 : 0;
    i.greedy = greedy ? 1 : 0;
    i.host_offset = narrow(plan->host_units);
    i.line = at_line;
    plan->outputs.push_back({plan->host_units, first, columns});
    plan->host_units += divide_up(columns, 16) * (last_row ? 1 : program_.rows);
    return emitter_.emit(Op::kStore, i, {after});
  }

  const Program& program_;
  const EngineSize& engine_;
  Structure structure_;
  std::int64_t capacity_;
  BoardPlan board_;
  Emitter emitter_;
  std::int64_t next_ = 0;       ///< first free super-beat
  std::int64_t next_word_ = 0;  ///< first free word of vector memory
  Region x_, t_, q_, k_, v_, hidden_;
  std::int64_t logits_at_ = 0;
  Peaks x_peaks_ = Peaks::kOfRows;
  Ended x_ready_;       ///< x is written
  Ended block_read_;    ///< the last product that reads activation memory
  Ended heads_read_;    ///< projections may be written again
  Ended queries_read_;  ///< query memory may be written again
  Ended norm_read_;     ///< the norm's own rows may be written again
  Ended rotary_ready_;
  Ended gains_ready_;
};

/// What bounds a program whatever board it runs on.
void check_sizes(const Program& program, const EngineSize& engine) {
  if (program.profile != Profile::kA) {
    throw Error("d5005: lowering", "weights of another profile", "B", "A");
  }
  hold("columns", program.columns, kLargestColumns);
  hold("columns of a head", program.head_columns, kLargestHead);
  hold("rows of a run", program.rows, engine.table_rows);
}

/// Positions of a cache: the cut's, or for a chunk, whose run decides, what the engine can attend.
/// A group's buffer counts from the begin of the first block that a row sees, four positions at a
/// time, and holds the query heads in fours.
std::int64_t capacity_of(const Program& program, const EngineSize& engine) {
  if (program.caches.empty()) return 0;
  const std::int64_t most =
      std::min(engine.positions, engine.scores / (4 * divide_up(program.query_group, 4))) / 4 * 4;
  const auto seen = [&](std::int64_t positions) {
    return std::min(positions, program.window ? *program.window + kCacheBlock - 1 : positions);
  };
  const std::int64_t capacity =
      program.context.value_or(seen(engine.positions) <= most ? engine.positions : most);
  hold("positions of a cache that a row attends to", seen(capacity), most);
  hold("rows of a chunk", program.is_chunk ? program.rows : 0, capacity);
  return capacity;
}

}  // namespace

EngineSize engine_size(std::int64_t rows, std::int64_t mac_rows) {
  const bool known = (rows == 1 && mac_rows == 1) || (rows == 8 && mac_rows == 8) ||
                     (rows == 16 && mac_rows == 16) || (rows == 32 && mac_rows == 16);
  if (!known) {
    throw Error("--engine-rows", "no such engine is built", fmt::format("{}/{}", rows, mac_rows),
                "1/1, 8/8, 16/16 or 32/16");
  }
  EngineSize size;
  size.rows = rows;
  size.mac_rows = mac_rows;
  size.vector_words = std::max<std::int64_t>(1024 * rows, 8192);
  size.activation_words = 512 * (rows / mac_rows);
  size.query_words = std::max<std::int64_t>(128 * rows, 1024);
  return size;
}

Plan lower_programs(const std::vector<Program>& programs, const EngineSize& engine) {
  const Program& program = programs.front();
  check_sizes(program, engine);
  Plan plan;
  plan.rows = program.rows;
  plan.is_chunk = program.is_chunk;
  plan.has_tokens = !program.tokens.empty();
  plan.has_positions = !program.positions.empty();
  plan.has_given = program.operations.front().word == Word::kGiven;
  plan.columns = program.columns;
  plan.vocabulary = program.vocabulary;
  plan.head_columns = program.head_columns;
  plan.context = program.context;
  plan.rotary = program.rotary;
  plan.engine = engine;
  plan.capacity = capacity_of(program, engine);
  for (const Cache& cache : program.caches) {
    plan.key_heads = cache.heads;
    plan.each_row_caches = cache.one_for_each_row;
  }
  const Value& shown =
      program.values[static_cast<std::size_t>(program.operations.back().arguments.front())];
  for (const Operation& operation : program.operations) {
    plan.lines.push_back({operation.layer, operation.line, operation.name});
  }
  plan.output_rows = shown.rows;
  plan.output_columns = shown.columns;
  for (const Program& chip : programs) {
    plan.boards.push_back(BoardLowering(chip, engine, plan.capacity).lower(&plan));
  }
  return plan;
}

}  // namespace logos::d5005
