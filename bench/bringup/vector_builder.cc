#include "bench/bringup/vector_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "bench/bringup/random_weights.h"
#include "program/check.h"
#include "program/divide_up.h"
#include "program/identity.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kProgramAt = 0;
constexpr std::int64_t kLine = 64;
constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kBlockPositions = 128;  ///< of a cache's block

std::uint32_t narrow(std::int64_t value) {
  CHECK(value >= 0 && value <= INT32_MAX);
  return static_cast<std::uint32_t>(value);
}

}  // namespace

VectorBuilder::VectorBuilder(const EngineSize& engine, std::size_t rows, std::uint64_t seed)
    : engine_(engine), random_(seed), table_(rows) {}

std::uint32_t VectorBuilder::between(std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
}

float VectorBuilder::real(int low, int high) {
  const auto exponent = static_cast<std::uint32_t>(
      127 + low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1)));
  return std::bit_cast<float>(static_cast<std::uint32_t>(random_() & 0x807FFFFF) | exponent << 23);
}

std::uint32_t VectorBuilder::allocate(std::int64_t super_beats) {
  const std::int64_t at = next_;
  next_ += super_beats + 1;  // what is read too far is noise
  return narrow(at);
}

void VectorBuilder::write(std::int64_t at, std::span<const std::byte> beats) {
  for (std::size_t from = 0; from < beats.size(); from += kSuperBeatBytes) {
    BoardMemory::SuperBeat& beat = image_[at++];
    for (std::byte& byte : beat) byte = static_cast<std::byte>(random_());
    const std::size_t count = std::min<std::size_t>(beat.size(), beats.size() - from);
    std::copy_n(beats.begin() + static_cast<std::ptrdiff_t>(from), count, beat.begin());
  }
}

std::uint32_t VectorBuilder::put(std::span<const std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::uint32_t at = allocate((size + kSuperBeatBytes - 1) / kSuperBeatBytes);
  write(at, bytes);
  return at;
}

std::uint32_t VectorBuilder::put_reals(std::uint32_t columns, int low, int high) {
  std::vector<float> values(columns);
  for (float& value : values) value = real(low, high);
  return put(std::as_bytes(std::span(values)));
}

std::uint32_t VectorBuilder::put_rows(std::uint32_t columns, int low, int high) {
  const std::uint32_t beats = divide_up(columns, 64);
  const std::uint32_t at = allocate(static_cast<std::int64_t>(beats) * narrow(std::ssize(table_)));
  for (std::size_t t = 0; t < table_.size(); ++t) {
    std::vector<float> values(columns);
    // Rows of their own size, and one in nine all zero.
    const int shift = static_cast<int>(random_() % 7) - 3;
    const bool zero = random_() % 9 == 0;
    for (float& value : values) value = zero ? 0.0F : real(low + shift, high + shift);
    write(at + static_cast<std::int64_t>(t) * beats, std::as_bytes(std::span(values)));
  }
  return at;
}

void VectorBuilder::put_matrix(Instruction& product, std::uint32_t outputs, std::uint32_t columns,
                               bool bias, int matrices) {
  const RandomWeights weights(matrices, outputs, columns, random_);
  MatrixItem item;
  for (int m = 0; m < matrices; ++m) {
    const std::string name(1, static_cast<char>('0' + m));
    MatrixPart part;
    part.tensor = name;
    part.bias = bias ? name : "";
    part.rows = outputs;
    item.parts.push_back(part);
  }
  item.columns = columns;
  item.base = allocate(matrix_beats(item));
  write_matrix(item, weights, static_cast<std::byte>(random_()),
               [&](std::int64_t at, std::span<const std::byte> beats) { write(at, beats); });
  product.stream_base = narrow(item.base);
  product.stream_beats = narrow(matrix_beats(item));
  product.words = narrow(matrix_words(item));
  product.columns = outputs;
  product.bias = bias ? 1 : 0;
}

std::uint32_t VectorBuilder::put_embedding(std::uint32_t tokens, std::uint32_t columns) {
  const RandomWeights weights(1, tokens, columns, random_);
  EmbeddingItem item;
  item.tensor = "0";
  item.rows = tokens;
  item.columns = columns;
  item.base = allocate(embedding_beats(columns) * tokens);
  write_embedding(item, weights, static_cast<std::byte>(random_()),
                  [&](std::int64_t at, std::span<const std::byte> beats) { write(at, beats); });
  return narrow(item.base);
}

void VectorBuilder::put_cache(Instruction& instruction, std::uint32_t heads,
                              std::uint32_t positions, bool each_row) {
  const std::uint32_t blocks = divide_up(positions, kBlockPositions);
  const std::int64_t key_block = key_block_beats(instruction.head_columns);
  const std::int64_t values = blocks * key_block;
  const std::int64_t head = cache_head_beats(instruction.head_columns, positions);
  const std::int64_t rows = each_row ? std::ssize(table_) : 1;
  const std::uint32_t base = allocate(rows * heads * head);
  cache_begin_ = base;
  cache_end_ = base + rows * heads * head;
  for (std::int64_t at = 0; at < rows * heads * head; ++at) {
    BoardMemory::SuperBeat beat;
    const std::int64_t of_head = at % head;
    if (of_head < values && of_head % key_block == 0) {
      for (std::byte& byte : beat)
        byte = static_cast<std::byte>(-13 - static_cast<int>(random_() % 5));
    } else {
      for (std::size_t i = 0; i < beat.size(); i += 2) {
        const auto value = static_cast<std::int16_t>(static_cast<int>(random_() % 65535) - 32767);
        std::memcpy(beat.data() + i, &value, sizeof value);
      }
    }
    write(base + at, beat);
  }
  instruction.cache_base = base;
  instruction.cache_head_stride = narrow(head);
  instruction.cache_row_stride = each_row ? narrow(heads * head) : 0;
  instruction.values_offset = narrow(values);
}

std::uint32_t VectorBuilder::put_rotary(std::uint32_t head_columns, std::uint32_t positions) {
  const std::int64_t beats = rotary_beats(head_columns);
  const std::uint32_t base = allocate(beats * positions);
  for (std::uint32_t p = 0; p < positions; ++p) {
    std::vector<float> row(head_columns);
    for (float& value : row) value = real(-4, -1);
    write(base + beats * p, std::as_bytes(std::span(row)));
  }
  return base;
}

std::uint32_t VectorBuilder::vector_words(std::uint32_t columns) {
  const std::uint32_t at = next_word_;
  next_word_ += divide_up(columns, kLanes) * narrow(engine_.rows);
  CHECK(next_word_ <= engine_.vector_words);
  return at;
}

Ended VectorBuilder::emit(Op op, Instruction instruction, std::initializer_list<Ended> after) {
  instruction.line = next_text_line_++;
  return emitter_.emit(op, instruction, after);
}

Ended VectorBuilder::load(std::uint32_t columns, Instruction* where, int low, int high) {
  Instruction i;
  i.columns = columns;
  i.stream_base = put_rows(columns, low, high);
  i.stream_beats = divide_up(columns, 64);
  i.destination = vector_words(columns);
  i.destination_stride = divide_up(columns, kLanes);
  *where = i;
  return emit(Op::kLoad, i, {});
}

Ended VectorBuilder::activations(std::uint32_t columns) {
  Instruction loaded;
  const Ended x = load(columns, &loaded);
  Instruction i;
  i.source = loaded.destination;
  i.source_stride = loaded.destination_stride;
  i.columns = columns;
  i.words = divide_up(columns, 64);
  i.peaks = static_cast<std::uint32_t>(Peaks::kOfRows);
  return emit(Op::kQuantize, i, {x});
}

void VectorBuilder::expect_lines(std::int64_t line, std::size_t bytes) {
  stored_.push_back({line * kLine, bytes});
}

Ended VectorBuilder::store_vector(std::uint32_t source, std::uint32_t stride, std::uint32_t columns,
                                  Ended after, bool greedy) {
  Instruction i;
  i.source = source;
  i.source_stride = stride;
  i.columns = columns;
  i.greedy = greedy ? 1 : 0;
  i.host_offset = narrow(next_line_);
  for (std::size_t t = 0; t < table_.size(); ++t) {
    expect_lines(next_line_, 4 * std::size_t{columns});
    next_line_ += divide_up(columns, 16);
  }
  greedy_ = greedy_ || greedy;
  return emit(Op::kStore, i, {after});
}

Ended VectorBuilder::store_activation(std::uint32_t columns, Ended after) {
  Instruction i;
  i.variant = static_cast<std::uint32_t>(StoreSource::kActivation);
  i.columns = columns;
  i.host_offset = narrow(next_line_);
  for (std::size_t t = 0; t < table_.size(); ++t) {
    expect_lines(next_line_, 2 * std::size_t{columns});
    next_line_ += divide_up(columns, 32);
    expect_lines(next_line_++, 4);
  }
  return emit(Op::kStore, i, {after});
}

Ended VectorBuilder::store_query(const Instruction& heads, Ended after) {
  Instruction i;
  i.variant = static_cast<std::uint32_t>(StoreSource::kQuery);
  i.heads = heads.heads;
  i.head_columns = heads.head_columns;
  i.columns = heads.columns;
  i.host_offset = narrow(next_line_);
  for (std::size_t h = 0; h < table_.size() * heads.heads; ++h) {
    expect_lines(next_line_, 2 * std::size_t{heads.head_columns});
    next_line_ += divide_up(heads.head_columns, 32);
    expect_lines(next_line_++, 4);
  }
  return emit(Op::kStore, i, {after});
}

Ended VectorBuilder::store_pair(StoreSource what, std::uint32_t group, std::uint32_t columns,
                                Ended after) {
  CHECK(table_.size() == 1);
  Instruction i;
  i.variant = static_cast<std::uint32_t>(what);
  i.group = group;
  i.columns = columns;
  i.host_offset = narrow(next_line_);
  if (what == StoreSource::kWeightSums) {
    expect_lines(next_line_, 8 * std::size_t{group});
    next_line_ += divide_up(group, 8);
  } else {
    for (std::uint32_t g = 0; g < group; ++g) {
      expect_lines(next_line_, 4 * std::size_t{columns});
      next_line_ += divide_up(columns, 16);
    }
  }
  return emit(Op::kStore, i, {after});
}

Ended VectorBuilder::store_peaks(Peaks peaks, Ended after) {
  Instruction i;
  i.variant = static_cast<std::uint32_t>(StoreSource::kPeaks);
  i.peaks = static_cast<std::uint32_t>(peaks);
  i.host_offset = narrow(next_line_);
  for (std::size_t t = 0; t < table_.size(); ++t) expect_lines(next_line_++, 4);
  return emit(Op::kStore, i, {after});
}

namespace {

/// The first greatest of what a row stores, in the order of binary32, as its register holds it.
std::uint64_t greedy_of(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  const auto best = std::max_element(values.begin(), values.end());
  return std::uint64_t{std::bit_cast<std::uint32_t>(*best)} << 32 |
         static_cast<std::uint64_t>(best - values.begin());
}

}  // namespace

KnownAnswer VectorBuilder::finish(std::string name, std::string proves, std::string look_at,
                                  std::int64_t element_bytes, BankOf bank_of, bool memory_too) {
  KnownAnswer answer;
  answer.rung = 6;
  answer.name = std::move(name);
  answer.proves = std::move(proves);
  answer.look_at = std::move(look_at);
  answer.program = kProgramAt;
  answer.element_bytes = element_bytes;
  answer.bank_of = bank_of;
  emitter_.end_segment();
  const std::vector<Instruction> program = emitter_.take();
  std::string text;
  for (const Instruction& i : program) {
    const auto bytes = encode(i);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  answer.sha256 = sha256_hex(text);
  write_program(kProgramAt, answer.sha256, 0, 1, program,
                [&](std::int64_t at, std::span<const std::byte> beats) { write(at, beats); });
  CHECK(image_.rbegin()->first < engine_.super_beats && image_.contains(kProgramAt));

  BoardMemory memory(std::byte{0});
  KnownRun& run = answer.runs.emplace_back();
  for (const auto& [at, beat] : image_) {
    memory.write(at, beat);
    auto& to = at >= cache_begin_ && at < cache_end_ ? run.cache : run.image;
    to.push_back({at, {beat.begin(), beat.end()}});
  }
  run.image = joined(std::move(run.image));
  run.cache = joined(std::move(run.cache));
  run.table = table_;
  run.output_bytes = next_line_ * kLine;
  InstructionModel model(engine_, memory, 1);
  model.run(program, table_);
  std::vector<std::byte> output(static_cast<std::size_t>(run.output_bytes));
  for (const auto& [line, bytes] : model.host()) {
    std::copy(bytes.begin(), bytes.end(), output.begin() + line * kLine);
  }
  for (const Stored& stored : stored_) {
    const auto from = output.begin() + stored.at;
    run.expected.push_back({stored.at, {from, from + static_cast<std::ptrdiff_t>(stored.bytes)}});
  }
  if (greedy_) {
    for (const Piece& row : run.expected) run.greedy.push_back(greedy_of(row.bytes));
  }
  if (memory_too) {
    for (const auto& [at, beat] : image_) {
      const BoardMemory::SuperBeat& now = memory.read(at);
      if (now != beat) run.left.push_back({at, {now.begin(), now.end()}});
    }
    CHECK(!run.left.empty());
  }
  if (model.fault()) run.fault_line = model.fault_line();
  return answer;
}

}  // namespace logos::d5005
