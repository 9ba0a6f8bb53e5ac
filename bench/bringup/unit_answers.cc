#include "bench/bringup/unit_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>

#include "bench/bringup/vector_builder.h"

namespace logos::d5005 {
namespace {

constexpr std::uint32_t kEpsilon = 0x3727C5AC;  // 1e-5

std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; }

/// The shape of a vector; what a kind does not need stays unused.
struct Shape {
  std::uint32_t rows = 11;
  std::uint32_t columns = 75;
  std::uint32_t outputs = 70;
  std::uint32_t heads = 2;  ///< key heads
  std::uint32_t group = 2;
  std::uint32_t head_columns = 48;
  std::uint32_t positions = 300;
  std::uint64_t seed = 1;
};

KnownAnswer rows_load(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  Instruction x;
  const Ended loaded = v.load(shape.columns, &x);
  const Ended stored = v.store_vector(x.destination, x.destination_stride, shape.columns, loaded);
  v.store_peaks(Peaks::kOfRows, stored);
  return v.finish("rows-load", "rows from the banks to vector memory and from there to the host",
                  "unit rows: rows_unit.sv; vector_memory.sv, store_unit.sv", 4, BankOf::kFloats);
}

KnownAnswer rows_embedding(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  constexpr std::uint32_t kTokens = 97;
  for (TableRow& row : v.table()) row.token = v.between(0, kTokens - 1);
  v.table().back().token = kTokens - 1;
  Instruction i;
  i.columns = shape.columns;
  i.stream_base = v.put_embedding(kTokens, shape.columns);
  i.stream_beats = 1 + divide_up(shape.columns, 256);
  i.destination = v.vector_words(shape.columns);
  i.destination_stride = divide_up(shape.columns, 32);
  const Ended embedded = v.emit(Op::kEmbed, i, {});
  v.store_vector(i.destination, i.destination_stride, shape.columns, embedded);
  return v.finish("rows-embedding", "embedding rows of the tokens in the row table",
                  "unit rows: rows_unit.sv (OpEmbed), row_table.sv, int_to_f32.sv", 4,
                  BankOf::kBytes);
}

KnownAnswer rows_norm(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  Instruction x;
  const Ended loaded = v.load(shape.columns, &x);
  Instruction gain;
  gain.columns = shape.columns;
  gain.stream_base = v.put_reals(shape.columns, -2, 1);
  gain.stream_beats = divide_up(shape.columns, 64);
  const Ended gained = v.emit(Op::kGain, gain, {});
  Instruction i;
  i.source = x.destination;
  i.source_stride = x.destination_stride;
  i.destination = v.vector_words(shape.columns);
  i.destination_stride = x.destination_stride;
  i.columns = shape.columns;
  i.words = divide_up(shape.columns, 64);
  i.epsilon = kEpsilon;
  i.peaks = static_cast<std::uint32_t>(Peaks::kOfRows);
  const Ended normed = v.emit(Op::kNorm, i, {loaded, gained});
  v.store_vector(i.destination, i.destination_stride, shape.columns, normed);
  return v.finish("rows-norm", "RMSNorm of rows with gains",
                  "unit rows: rows_unit.sv (OpNorm), f32_sqrt.sv, f32_div.sv, gain_memory.sv", 4,
                  BankOf::kAny);
}

KnownAnswer rows_quantize(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  const Ended quantized = v.activations(shape.columns);
  v.store_activation(shape.columns, quantized);
  return v.finish("rows-quantize", "Q16 of rows into activation memory, with their exponents",
                  "unit rows: rows_unit.sv (OpQuantize), round_scaled.sv, activation_memory.sv", 2,
                  BankOf::kAny);
}

/// Rows beyond what Q16 takes: the line that raised FAULT.
KnownAnswer rows_fault(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  Instruction x;
  const Ended loaded = v.load(shape.columns, &x, 46, 50);
  Instruction i;
  i.source = x.destination;
  i.source_stride = x.destination_stride;
  i.columns = shape.columns;
  i.words = divide_up(shape.columns, 64);
  const Ended quantized = v.emit(Op::kQuantize, i, {loaded});
  v.store_peaks(Peaks::kOfRows, quantized);
  return v.finish("rows-fault", "FAULT with the line that raised it",
                  "unit rows: rows_unit.sv (fault_o), run_control.sv", 4, BankOf::kAny);
}

KnownAnswer product_of(const EngineSize& engine, const Shape& shape, Post post) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  const bool pairs = post == Post::kSilu;
  const bool sums = post == Post::kSums;
  const Ended quantized = v.activations(shape.columns);
  Instruction i;
  Ended x = quantized;
  if (post == Post::kResidual) {
    Instruction loaded;
    x = v.load(shape.outputs, &loaded);
    i.source = loaded.destination;
    i.source_stride = loaded.destination_stride;
  }
  v.put_matrix(i, shape.outputs, shape.columns, post == Post::kPlain, pairs ? 2 : 1);
  i.variant = static_cast<std::uint32_t>(post);
  const std::uint32_t stored = sums ? 2 * shape.outputs : shape.outputs;
  i.destination = v.vector_words(stored);
  i.destination_stride = divide_up(stored, 32);
  i.track = sums ? 0 : 1;
  const Ended product = v.emit(Op::kProduct, i, {quantized, x});
  const Ended written = v.store_vector(i.destination, i.destination_stride, stored, product);
  if (!sums) v.store_peaks(Peaks::kOfProduct, written);
  constexpr std::array<const char*, 4> kNames = {"product-bias", "product-residual", "product-silu",
                                                 "product-sums"};
  constexpr std::array<const char*, 4> kProves = {
      "exact sums, F, row scale, exponent and bias", "the same, added to rows of vector memory",
      "gate and up matrix by turns, SiLU and their product", "the exact sums themselves"};
  const auto which = static_cast<std::size_t>(post);
  return v.finish(kNames[which], kProves[which],
                  "unit product: product_unit.sv, mac_array.sv, product_post.sv", sums ? 8 : 4,
                  BankOf::kOutputs);
}

/// Sums of two chips: row scales, then each chip's int64 sums, by groups of 64 columns.
KnownAnswer product_scale(const EngineSize& engine, const Shape& shape) {
  constexpr std::uint32_t kChips = 2;
  VectorBuilder v(engine, shape.rows, shape.seed);
  const Ended quantized = v.activations(shape.columns);
  const std::uint32_t groups = divide_up(shape.outputs, 64);
  std::vector<std::byte> bytes;
  const auto append = [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  for (std::uint32_t r = 0; r < shape.rows * groups; ++r) {
    std::array<float, 64> scales;
    for (float& scale : scales) scale = v.real(-21, -19);
    append(std::as_bytes(std::span(scales)));
    std::array<std::int64_t, 64 * kChips> sums;
    for (std::int64_t& sum : sums) {
      const std::int64_t high = static_cast<std::int32_t>(v.between(0, UINT32_MAX - 1));
      sum = high * 64 + v.between(0, 63);
    }
    append(std::as_bytes(std::span(sums)));
  }
  Instruction i;
  i.stream_base = v.put(bytes);
  i.stream_beats = groups * (1 + 2 * kChips);
  i.heads = kChips;
  i.columns = shape.outputs;
  i.destination = v.vector_words(shape.outputs);
  i.destination_stride = divide_up(shape.outputs, 32);
  const Ended scaled = v.emit(Op::kScale, i, {quantized});
  v.store_vector(i.destination, i.destination_stride, shape.outputs, scaled);
  return v.finish("product-scale", "sums of several chips added and scaled",
                  "unit product: product_sums.sv, product_post.sv", 4, BankOf::kAny);
}

/// What a heads instruction needs before it: its source, gains, rotary rows.
struct HeadsSetting {
  Instruction instruction;
  Ended ready;
  Ended rotary;
  Ended gains;
};

HeadsSetting prepare_heads(VectorBuilder& v, const Shape& shape, std::uint32_t heads,
                           bool processed) {
  HeadsSetting setting;
  Instruction x;
  setting.ready = v.load(heads * divide_up(shape.head_columns, 4) * 4, &x);
  Instruction& i = setting.instruction;
  i.source = x.destination;
  i.source_stride = x.destination_stride;
  i.heads = heads;
  i.head_columns = shape.head_columns;
  i.columns = heads * shape.head_columns;
  for (std::size_t t = 0; t < v.rows(); ++t) {
    v.table()[t].position = shape.positions - 1 - static_cast<std::uint32_t>(t);
  }
  if (!processed) return setting;
  Instruction gain;
  gain.columns = shape.head_columns;
  gain.stream_base = v.put_reals(shape.head_columns, -2, 1);
  gain.stream_beats = divide_up(shape.head_columns, 64);
  setting.gains = v.emit(Op::kGain, gain, {});
  Instruction rotary;
  rotary.head_columns = shape.head_columns;
  rotary.stream_base = v.put_rotary(shape.head_columns, shape.positions);
  rotary.stream_beats = divide_up(shape.head_columns, 64);
  setting.rotary = v.emit(Op::kRotary, rotary, {});
  i.norm = 1;
  i.rotate = 1;
  i.epsilon = kEpsilon;
  return setting;
}

KnownAnswer heads_query(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  HeadsSetting setting = prepare_heads(v, shape, shape.heads * shape.group, true);
  setting.instruction.target = static_cast<std::uint32_t>(HeadTarget::kQuery);
  const Ended done =
      v.emit(Op::kHeads, setting.instruction, {setting.ready, setting.rotary, setting.gains});
  v.store_query(setting.instruction, done);
  return v.finish("heads-query", "norm, rotation and Q16 of query heads",
                  "unit heads: heads_unit.sv, rotary_memory.sv, query_memory.sv", 2, BankOf::kAny);
}

KnownAnswer heads_cache(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  HeadsSetting keys = prepare_heads(v, shape, shape.heads, true);
  v.put_cache(keys.instruction, shape.heads, shape.positions, shape.rows > 1);
  keys.instruction.target = static_cast<std::uint32_t>(HeadTarget::kKeys);
  Instruction values = keys.instruction;
  const Ended pushed = v.emit(Op::kHeads, keys.instruction, {keys.ready, keys.rotary, keys.gains});
  values.target = static_cast<std::uint32_t>(HeadTarget::kValues);
  values.norm = values.rotate = 0;
  values.write_back = 1;
  const Ended done = v.emit(Op::kHeads, values, {pushed});
  v.store_vector(values.source, values.source_stride,
                 shape.heads * divide_up(shape.head_columns, 4) * 4, done);
  return v.finish("heads-cache", "keys and values to the cache in the banks",
                  "unit heads: heads_unit.sv, cache_writer.sv, bank_port.sv (writes)", 4,
                  BankOf::kAny, true);
}

KnownAnswer attend(const EngineSize& engine, const Shape& shape, AttendStop stop) {
  const bool whole = stop == AttendStop::kWhole;
  VectorBuilder v(engine, whole ? shape.rows : 1, shape.seed);
  const std::uint32_t key_heads = whole ? shape.heads : 1;
  const std::uint32_t query_heads = key_heads * shape.group;
  HeadsSetting setting = prepare_heads(v, shape, query_heads, false);
  setting.instruction.target = static_cast<std::uint32_t>(HeadTarget::kQuery);
  const Ended queries = v.emit(Op::kHeads, setting.instruction, {setting.ready});
  Instruction i;
  i.heads = key_heads;
  i.group = shape.group;
  i.words = query_heads;
  i.head_columns = shape.head_columns;
  i.columns = query_heads * shape.head_columns;
  i.window = whole ? 0 : shape.positions / 2 + 3;
  i.target = static_cast<std::uint32_t>(stop);
  i.destination = v.vector_words(i.columns);
  i.destination_stride = divide_up(i.columns, 32);
  i.track = 1;
  v.put_cache(i, key_heads, shape.positions, v.rows() > 1);
  const Ended attended = v.emit(Op::kAttend, i, {queries});
  if (whole) {
    const Ended stored = v.store_vector(i.destination, i.destination_stride, i.columns, attended);
    v.store_peaks(Peaks::kOfAttend, stored);
    return v.finish("attend-whole", "attention of query heads over keys and values in the banks",
                    "unit attend: attend_unit.sv, attend_outputs.sv, exp_neg.sv", 4, BankOf::kAny);
  }
  const std::uint32_t first = shape.positions - i.window;  // of the visible positions
  const std::uint32_t stored = shape.positions - first / 128 * 128;
  if (stop == AttendStop::kToScores) {
    v.store_pair(StoreSource::kScores, shape.group, stored, attended);
    return v.finish("attend-scores", "scores of query heads against a window of the cache",
                    "unit attend: exact dots and scores (attend_unit.sv)", 4, BankOf::kOutputs);
  }
  const Ended sums = v.store_pair(StoreSource::kWeightSums, shape.group, 8, attended);
  v.store_pair(StoreSource::kScores, shape.group, stored, sums);
  return v.finish("attend-weights", "softmax's weights and their sums",
                  "unit attend: exp_neg.sv and the weights of attend_unit.sv", 4, BankOf::kOutputs);
}

KnownAnswer store_greedy(const EngineSize& engine, const Shape& shape) {
  VectorBuilder v(engine, shape.rows, shape.seed);
  Instruction x;
  const Ended loaded = v.load(shape.columns, &x);
  v.store_vector(x.destination, x.destination_stride, shape.columns, loaded, true);
  return v.finish("store-greedy", "the first greatest of each row that is stored",
                  "unit store: store_greedy.sv, greedy_table.sv", 4, BankOf::kFloats);
}

using Kind = KnownAnswer (*)(const EngineSize&, const Shape&);

constexpr std::array<Kind, 15> kKinds = {
    rows_load,
    rows_embedding,
    rows_norm,
    rows_quantize,
    rows_fault,
    [](const EngineSize& e, const Shape& s) { return product_of(e, s, Post::kPlain); },
    [](const EngineSize& e, const Shape& s) { return product_of(e, s, Post::kResidual); },
    [](const EngineSize& e, const Shape& s) { return product_of(e, s, Post::kSilu); },
    [](const EngineSize& e, const Shape& s) { return product_of(e, s, Post::kSums); },
    product_scale,
    heads_query,
    heads_cache,
    [](const EngineSize& e, const Shape& s) { return attend(e, s, AttendStop::kToScores); },
    [](const EngineSize& e, const Shape& s) { return attend(e, s, AttendStop::kToWeights); },
    [](const EngineSize& e, const Shape& s) { return attend(e, s, AttendStop::kWhole); },
};

Shape random_shape(std::mt19937_64& random) {
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<std::uint32_t>(low + random() % (high - low + 1));
  };
  Shape shape;
  shape.rows = between(1, 19);
  shape.columns = between(2, 300);
  shape.outputs = between(1, 300);
  shape.heads = between(1, 3);
  shape.group = between(1, 5);
  shape.head_columns = 2 * between(1, 64);
  shape.positions = between(20, 400);
  shape.seed = random();
  return shape;
}

}  // namespace

std::vector<KnownAnswer> unit_answers(const EngineSize& engine) {
  std::vector<KnownAnswer> answers;
  answers.reserve(kKinds.size() + 1);
  for (const Kind& kind : kKinds) answers.push_back(kind(engine, Shape{}));
  answers.push_back(store_greedy(engine, Shape{}));
  return answers;
}

std::vector<KnownAnswer> random_answers(const EngineSize& engine, std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<KnownAnswer> answers;
  for (int n = 0; n < count; ++n) {
    KnownAnswer answer = kKinds[random() % kKinds.size()](engine, random_shape(random));
    answer.rung = 10;
    answer.name += fmt::format("-{}", n + 1);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace logos::d5005
