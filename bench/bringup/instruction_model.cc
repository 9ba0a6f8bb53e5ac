#include "bench/bringup/instruction_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "program/divide_up.h"
#include "program/error.h"
#include "rtl/lowering/lowering_units.h"
#include "sim/kv_cache.h"
#include "sim/reference/arithmetic.h"
#include "sim/reference/attention.h"
#include "sim/reference/instructions.h"

namespace logos::d5005 {
namespace {

using namespace logos::reference;  // NOLINT: the scalar arithmetic by its own names

}  // namespace

float float_at(std::span<const std::byte> bytes, std::int64_t at) {
  float value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

const BoardMemory::SuperBeat& BoardMemory::read(std::int64_t at) const {
  const auto found = beats_.find(at);
  if (found != beats_.end()) return found->second;
  empty_.fill(fill_);
  return empty_;
}

void BoardMemory::write(std::int64_t at, std::span<const std::byte> bytes) {
  std::copy(bytes.begin(), bytes.end(), beats_[at].begin());
}

void BoardMemory::write_byte(std::int64_t at, int bank, int byte, std::byte value) {
  auto [entry, fresh] = beats_.try_emplace(at);
  if (fresh) entry->second.fill(fill_);
  entry->second[static_cast<std::size_t>(bank) * 64 + static_cast<std::size_t>(byte)] = value;
}

InstructionModel::InstructionModel(const EngineSize& engine, BoardMemory& memory,
                                   std::uint32_t seed)
    : engine_(engine), memory_(memory), random_(seed) {
  const auto rows = static_cast<std::size_t>(engine.rows);
  vectors_.resize(static_cast<std::size_t>(engine.vector_words * kLanes), -7.0F);
  activations_.assign(
      rows, std::vector<std::int16_t>(static_cast<std::size_t>(engine.activation_words * 64), 77));
  exponents_.resize(rows);
  queries_.resize(static_cast<std::size_t>(engine.query_words * kLanes), 99);
  gains_.resize(static_cast<std::size_t>(engine.gain_words * kLanes), 5.0F);
  cosines_.resize(rows);
  sines_.resize(rows);
  for (auto& set : peaks_) set.resize(rows);
}

void InstructionModel::run(std::span<const Instruction> program, std::span<const TableRow> table) {
  table_.assign(table.begin(), table.end());
  const auto total = static_cast<std::int64_t>(table.size());
  for (std::int64_t first = 0; first < total; first += engine_.rows) {
    const std::int64_t rows = std::min(engine_.rows, total - first);
    run_pass(program, first, rows, first + rows == total);
  }
}

/// Queues of 4 in front of each unit, filled in program order; the head of a queue may run once
/// its needs are met. Which of them does is a matter of chance.
void InstructionModel::run_pass(std::span<const Instruction> program, std::int64_t first,
                                std::int64_t rows, bool last) {
  constexpr std::size_t kQueue = 4;
  struct Waiting {
    Instruction instruction;
    std::array<int, kUnits> need;
  };
  std::array<std::deque<Waiting>, kUnits> queues;
  std::array<int, kUnits> given{}, ended{};
  std::size_t next = 0;
  for (;;) {
    while (program[next].op != 0) {
      const auto unit = static_cast<std::size_t>(unit_of(static_cast<Op>(program[next].op)));
      if (queues[unit].size() == kQueue) break;
      Waiting waiting{program[next], {}};
      for (std::size_t u = 0; u < kUnits; ++u) {
        // The greatest count with these low bits that has been given out.
        waiting.need[u] = given[u] - ((given[u] - program[next].need[u]) & 0xFF);
      }
      queues[unit].push_back(waiting);
      ++given[unit];
      ++next;
    }
    std::vector<std::size_t> ready;
    for (std::size_t u = 0; u < kUnits; ++u) {
      if (queues[u].empty()) continue;
      bool may = true;
      for (std::size_t v = 0; v < kUnits; ++v) may &= ended[v] >= queues[u].front().need[v];
      if (may) ready.push_back(u);
    }
    if (ready.empty()) {
      if (program[next].op == 0 &&
          std::all_of(queues.begin(), queues.end(), [](const auto& q) { return q.empty(); })) {
        return;
      }
      throw Error("instruction model", "no unit can go on: deadlock");
    }
    const std::size_t unit = ready[random_() % ready.size()];
    const Instruction i = queues[unit].front().instruction;
    queues[unit].pop_front();
    Pass pass{first, rows, 0};
    if (i.last_row != 0) pass = {first + rows - 1, 1, rows - 1};
    if (i.last_row == 0 || last) execute(i, pass);
    ++ended[unit];
  }
}

void InstructionModel::execute(const Instruction& instruction, Pass pass) {
  Instruction i = instruction;
  i.source += static_cast<std::uint32_t>(pass.row) * i.source_stride;
  switch (static_cast<Op>(i.op)) {
    case Op::kLoad:
      return load(i, pass);
    case Op::kEmbed:
      return embed(i, pass);
    case Op::kGain:
      return gain(i);
    case Op::kRotary:
      return rotary(i, pass);
    case Op::kNorm:
      return norm(i, pass);
    case Op::kQuantize:
      return quantize(i, pass);
    case Op::kProduct:
      return product(i, pass);
    case Op::kHeads:
      return heads(i, pass);
    case Op::kAttend:
      return attend(i, pass);
    case Op::kStore:
      return store(i, pass);
    case Op::kPeak:
      return peak(i, pass);
    case Op::kScale:
      return scale(i, pass);
    case Op::kEnd:
      break;
  }
  throw Error("instruction model", "an op it does not know", describe(i), "another");
}

float& InstructionModel::vector(std::int64_t word, std::int64_t element) {
  const std::int64_t at = word * kLanes + element;
  if (at < 0 || at >= static_cast<std::int64_t>(vectors_.size())) {
    throw Error("instruction model", "vector memory", fmt::to_string(at), "inside");
  }
  return vectors_[static_cast<std::size_t>(at)];
}

std::vector<float> InstructionModel::row(std::int64_t base, std::int64_t stride, std::int64_t r,
                                         std::int64_t columns) {
  std::vector<float> values;
  for (std::int64_t c = 0; c < columns; ++c) values.push_back(vector(base + r * stride, c));
  return values;
}

void InstructionModel::put_row(const Instruction& i, std::int64_t r,
                               std::span<const float> values) {
  const std::int64_t word = i.destination + r * i.destination_stride;
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t c = 0; c < divide_up(count, kLanes) * kLanes; ++c) {
    vector(word, c) = c < count ? values[static_cast<std::size_t>(c)] : 0.0F;
  }
}

std::vector<std::byte> InstructionModel::stream(std::int64_t at, std::int64_t beats) const {
  std::vector<std::byte> bytes;
  for (std::int64_t b = 0; b < beats; ++b) {
    const auto& beat = memory_.read(at + b);
    bytes.insert(bytes.end(), beat.begin(), beat.end());
  }
  return bytes;
}

std::vector<float> InstructionModel::floats(std::int64_t at, std::int64_t count) const {
  const auto bytes = stream(at, divide_up(count, 64));
  std::vector<float> values;
  for (std::int64_t c = 0; c < count; ++c) values.push_back(float_at(bytes, 4 * c));
  return values;
}

void InstructionModel::load(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const auto values = floats(i.stream_base + (pass.first_row + r) * i.stream_beats, i.columns);
    put_row(i, r, values);
    peaks_[0][static_cast<std::size_t>(r)] = peak_of(values);
  }
}

void InstructionModel::embed(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const std::int64_t token = table_[static_cast<std::size_t>(pass.first_row + r)].token;
    const auto bytes = stream(i.stream_base + token * i.stream_beats, i.stream_beats);
    const std::int64_t weights = i.stream_beats - divide_up(i.columns, kSuperBeatBytes);
    std::vector<float> x(i.columns);
    embedding_row(
        {reinterpret_cast<const std::int8_t*>(bytes.data()) + weights * kSuperBeatBytes, i.columns},
        {reinterpret_cast<const std::uint8_t*>(bytes.data()) + 4,
         static_cast<std::size_t>(divide_up(i.columns, 32))},
        float_at(bytes, 0), x);
    put_row(i, r, x);
    peaks_[0][static_cast<std::size_t>(r)] = peak_of(x);
  }
}

void InstructionModel::gain(const Instruction& i) {
  const auto values = floats(i.stream_base, i.columns);
  for (std::size_t c = 0; c < values.size(); ++c) {
    gains_.at(static_cast<std::size_t>(i.gain * kLanes) + c) = values[c];
  }
}

void InstructionModel::rotary(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const std::int64_t position = table_[static_cast<std::size_t>(pass.first_row + r)].position;
    const auto values = floats(i.stream_base + position * i.stream_beats, i.head_columns);
    auto& cosines = cosines_[static_cast<std::size_t>(r)];
    auto& sines = sines_[static_cast<std::size_t>(r)];
    cosines.clear();
    sines.clear();
    for (std::size_t p = 0; 2 * p < values.size(); ++p) {
      cosines.push_back(values[2 * p]);
      sines.push_back(values[2 * p + 1]);
    }
  }
}

void InstructionModel::to_activation(const Instruction& i, std::int64_t r,
                                     std::span<const float> values, std::uint32_t peak) {
  auto& row = activations_[static_cast<std::size_t>(r)];
  const std::size_t columns = std::size_t{i.words} * 64;
  if (columns > row.size() || values.size() > columns) {
    throw Error("instruction model", "activation memory", fmt::to_string(i.words), "inside");
  }
  std::vector<std::int16_t> q(values.size());
  const BlockScale scale = quantize_at(values, peak, q);
  std::fill_n(row.begin(), columns, std::int16_t{0});
  std::copy(q.begin(), q.end(), row.begin());
  exponents_[static_cast<std::size_t>(r)] = scale.exponent;
  if (scale.fault && fault_line_ == 0) fault_line_ = i.line;
}

void InstructionModel::norm(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const auto x = row(i.source, i.source_stride, r, i.columns);
    if (peaks_[i.peaks][static_cast<std::size_t>(pass.row + r)] != peak_of(x)) {
      throw Error("instruction model", "peaks of another value", describe(i), "x's own");
    }
    std::vector<float> y(x.size());
    const std::span<const float> gains(gains_.data() + i.gain * kLanes, x.size());
    if (rms_norm(x, gains, std::bit_cast<float>(i.epsilon), y) && fault_line_ == 0) {
      fault_line_ = i.line;
    }
    put_row(i, r, y);
    to_activation(i, r, y, peak_of(y));
  }
}

void InstructionModel::quantize(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    auto x = row(i.source, i.source_stride, r, i.first + i.columns);
    std::fill_n(x.begin(), i.first, 0.0F);
    to_activation(i, r, x, peaks_[i.peaks][static_cast<std::size_t>(pass.row + r)]);
  }
}

void InstructionModel::store(const Instruction& i, const Pass& pass) {
  if (i.variant == static_cast<std::uint32_t>(StoreSource::kPeaks)) {
    for (std::int64_t r = 0; r < pass.rows; ++r) {
      const std::int64_t t = i.last_row != 0 ? 0 : pass.first_row + r;
      std::memcpy(host_[i.host_offset + t].data(),
                  &peaks_[i.peaks][static_cast<std::size_t>(pass.row + r)], 4);
    }
    return;
  }
  if (i.variant != static_cast<std::uint32_t>(StoreSource::kVector)) return store_others(i, pass);
  const std::int64_t lines = divide_up(i.columns, 16);
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const std::int64_t t = i.last_row != 0 ? 0 : pass.first_row + r;
    const auto x = row(i.source, i.source_stride, r, i.columns);
    for (std::size_t c = 0; c < x.size(); ++c) {
      auto& line = host_[i.host_offset + t * lines + static_cast<std::int64_t>(c / 16)];
      std::memcpy(line.data() + c % 16 * 4, &x[c], 4);
    }
  }
}

}  // namespace logos::d5005
