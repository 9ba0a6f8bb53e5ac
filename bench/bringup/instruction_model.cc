#include "bench/bringup/instruction_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "program/error.h"
#include "sim/kv_cache.h"
#include "sim/reference/arithmetic.h"
#include "sim/reference/attention.h"
#include "sim/reference/instructions.h"

namespace logos::d5005 {
namespace {

using namespace logos::reference;  // NOLINT: the scalar arithmetic by its own names

constexpr std::int64_t kLanes = 32;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

float float_at(std::span<const std::byte> bytes, std::int64_t at) {
  float value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

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

void InstructionModel::product(const Instruction& i, const Pass& pass) {
  const bool pairs = i.variant == static_cast<std::uint32_t>(Post::kSilu);
  const std::int64_t quads = divide_up(i.columns, 4) * (pairs ? 2 : 1);
  const auto rows = static_cast<std::size_t>(pass.rows);
  std::vector<std::vector<float>> y(rows);             // by output slot
  std::vector<std::vector<std::int64_t>> exact(rows);  // likewise, before the roundings
  std::int64_t at = i.stream_base;
  std::vector<std::byte> scales, biases, multipliers;
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    if (quad % 16 == 0) {
      scales = stream(at++, 1);
      if (i.bias != 0) biases = stream(at++, 1);
    }
    std::array<std::vector<std::int64_t>, 4> sums;
    for (auto& bank : sums) bank.assign(rows, 0);
    for (std::int64_t word = 0; word < i.words; ++word) {
      const std::int64_t j = (quad * i.words + word) % 32;
      if (j == 0) multipliers = stream(at++, 1);
      const auto weights = stream(at++, 1);
      for (std::size_t bank = 0; bank < 4; ++bank) {
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::int64_t k = 0; k < 64; ++k) {
            const auto q =
                static_cast<std::int8_t>(weights[bank * 64 + static_cast<std::size_t>(k)]);
            const auto c = std::to_integer<std::int64_t>(
                multipliers[bank * 64 + static_cast<std::size_t>(2 * j + k / 32)]);
            sums[bank][r] += c * q * activations_[r][static_cast<std::size_t>(word * 64 + k)];
          }
        }
      }
    }
    for (std::int64_t bank = 0; bank < 4; ++bank) {
      const float scale = float_at(scales, bank * 64 + quad % 16 * 4);
      for (std::size_t r = 0; r < rows; ++r) {
        float value = scaled_sum(sums[static_cast<std::size_t>(bank)][r], exponents_[r], scale);
        if (i.bias != 0) value = value + float_at(biases, bank * 64 + quad % 16 * 4);
        y[r].push_back(value);
        exact[r].push_back(sums[static_cast<std::size_t>(bank)][r]);
      }
    }
  }
  if (at != i.stream_base + i.stream_beats) {
    throw Error("instruction model", "super-beats of a product", fmt::to_string(at - i.stream_base),
                fmt::to_string(i.stream_beats));
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (i.variant == static_cast<std::uint32_t>(Post::kSums)) {
      std::vector<float> lanes(2 * i.columns);
      std::memcpy(lanes.data(), exact[r].data(), lanes.size() * sizeof(float));
      put_row(i, static_cast<std::int64_t>(r), lanes);
      continue;
    }
    std::vector<float> out(i.columns);
    const auto row_r = static_cast<std::int64_t>(r);
    for (std::int64_t c = 0; c < i.columns; ++c) {
      const auto n = static_cast<std::size_t>(c);
      if (pairs) {
        const auto gate = static_cast<std::size_t>(c / 4 * 8 + c % 4);
        out[n] = silu(y[r][gate]) * y[r][gate + 4];
      } else if (i.variant == static_cast<std::uint32_t>(Post::kResidual)) {
        out[n] = residual(vector(i.source + row_r * i.source_stride, c), y[r][n]);
      } else {
        out[n] = y[r][n];
      }
    }
    put_row(i, row_r, out);
    if (i.track != 0) peaks_[1][r] = peak_of(out);
  }
}

void InstructionModel::push(const Instruction& i, const Pass& pass, std::int64_t r,
                            std::int64_t head, std::span<const std::int16_t> q,
                            std::int8_t exponent) {
  const std::int64_t t = pass.first_row + r;
  const std::int64_t position = table_[static_cast<std::size_t>(t)].position;
  const std::int64_t base = i.cache_base + t * i.cache_row_stride + head * i.cache_head_stride;
  const std::int64_t beats = divide_up(i.head_columns, 32);
  const std::int64_t block = position / 128;
  const std::int64_t slot = position % 128 / 4;
  const auto bank = static_cast<int>(position % 4);
  const bool keys = i.target == static_cast<std::uint32_t>(HeadTarget::kKeys);
  const std::int64_t exponents = base + block * (1 + 32 * beats);
  const std::int64_t data = keys ? exponents + 1 + slot * beats
                                 : base + i.values_offset + block * 32 * beats + slot * beats;
  memory_.write_byte(exponents, bank, static_cast<int>(2 * slot + (keys ? 0 : 1)),
                     static_cast<std::byte>(exponent));
  for (std::int64_t c = 0; c < beats * 32; ++c) {
    const auto value = static_cast<std::uint16_t>(
        c < static_cast<std::int64_t>(q.size()) ? q[static_cast<std::size_t>(c)] : 0);
    const auto byte = static_cast<int>(c % 32 * 2);
    memory_.write_byte(data + c / 32, bank, byte, static_cast<std::byte>(value & 0xFF));
    memory_.write_byte(data + c / 32, bank, byte + 1, static_cast<std::byte>(value >> 8));
  }
}

void InstructionModel::heads(const Instruction& i, const Pass& pass) {
  const std::int64_t slots = divide_up(i.head_columns, 4) * 4;
  const std::int64_t words = divide_up(i.head_columns, kLanes);
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    for (std::int64_t head = 0; head < i.heads; ++head) {
      std::vector<float> x(i.head_columns);
      const std::int64_t word = i.source + r * i.source_stride;
      for (std::size_t c = 0; c < x.size(); ++c) {
        x[c] = vector(word, head * slots + static_cast<std::int64_t>(c));
      }
      if (i.norm != 0) {
        const std::span<const float> gains(gains_.data() + i.gain * kLanes, x.size());
        if (rms_norm(x, gains, std::bit_cast<float>(i.epsilon), x) && fault_line_ == 0) {
          fault_line_ = i.line;
        }
      }
      if (i.rotate != 0) {
        rotate(x, cosines_[static_cast<std::size_t>(r)], sines_[static_cast<std::size_t>(r)], x);
      }
      if (i.write_back != 0) {
        for (std::size_t c = 0; c < x.size(); ++c) {
          vector(word, head * slots + static_cast<std::int64_t>(c)) = x[c];
        }
      }
      if (i.target == 0) continue;
      std::vector<std::int16_t> q(x.size());
      const BlockScale scale = reference::quantize(x, q);
      if (scale.fault && fault_line_ == 0) fault_line_ = i.line;
      if (i.target != static_cast<std::uint32_t>(HeadTarget::kQuery)) {
        push(i, pass, r, head, q, scale.exponent);
        continue;
      }
      const std::int64_t at = (r * i.heads + head) * words;
      for (std::int64_t c = 0; c < words * kLanes; ++c) {
        queries_.at(static_cast<std::size_t>(at * kLanes + c)) =
            c < i.head_columns ? q[static_cast<std::size_t>(c)] : std::int16_t{0};
      }
      query_exponents_[at] = scale.exponent;
    }
  }
}

void InstructionModel::peak(const Instruction& i, const Pass& pass) {
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const auto& beat = memory_.read(i.stream_base + pass.first_row + r);
    std::uint32_t greatest = 0;
    for (std::size_t chip = 0; chip < i.heads; ++chip) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, beat.data() + 4 * chip, sizeof bits);
      greatest = std::max(greatest, bits);
    }
    peaks_[0][static_cast<std::size_t>(r)] = greatest;
  }
}

void InstructionModel::scale(const Instruction& i, const Pass& pass) {
  const std::int64_t group_beats = 1 + i.bias + 2 * static_cast<std::int64_t>(i.heads);
  if (i.stream_beats != divide_up(i.columns, 64) * group_beats) {
    throw Error("instruction model", "super-beats of sums", describe(i), "of its columns");
  }
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    const auto row_r = static_cast<std::size_t>(r);
    std::vector<float> out(i.columns);
    for (std::int64_t c = 0; c < i.columns; ++c) {
      const auto group =
          stream(i.stream_base + (pass.first_row + r) * i.stream_beats + c / 64 * group_beats,
                 group_beats);
      const std::int64_t constant = c % 4 * 64 + c % 64 / 4 * 4;
      std::int64_t sum = 0;
      for (std::int64_t chip = 0; chip < i.heads; ++chip) {
        std::int64_t one = 0;
        std::memcpy(&one, group.data() + (1 + i.bias + 2 * chip) * kSuperBeatBytes + c % 64 * 8,
                    sizeof one);
        sum += one;
      }
      float y = scaled_sum(sum, exponents_[row_r], float_at(group, constant));
      if (i.bias != 0) y = y + float_at(group, kSuperBeatBytes + constant);
      const bool adds = i.variant == static_cast<std::uint32_t>(Post::kResidual);
      out[static_cast<std::size_t>(c)] =
          adds ? residual(vector(i.source + r * i.source_stride, c), y) : y;
    }
    put_row(i, r, out);
    if (i.track != 0) peaks_[1][row_r] = peak_of(out);
  }
}

/// A head of a row's cache up to position `last` as the cache of one layer and head.
KvCache InstructionModel::cached_head(const Instruction& i, std::int64_t base, std::int64_t first,
                                      std::int64_t last) const {
  const std::int64_t beats = divide_up(i.head_columns, 32);
  KvCache cache(last + 1, 1, i.head_columns, 1, 1);
  KvCache::Layer& layer = cache.layer(1);
  for (std::int64_t p = first; p <= last; ++p) {
    const std::int64_t slot = p % 128 / 4;
    const auto bank = static_cast<std::size_t>(p % 4 * 64);
    const std::int64_t block = base + p / 128 * (1 + 32 * beats);
    const auto& exponents = memory_.read(block);
    layer.key_exponents[static_cast<std::size_t>(p)] =
        static_cast<std::int8_t>(exponents[bank + static_cast<std::size_t>(2 * slot)]);
    layer.value_exponents[static_cast<std::size_t>(p)] =
        static_cast<std::int8_t>(exponents[bank + static_cast<std::size_t>(2 * slot + 1)]);
    for (std::int64_t c = 0; c < i.head_columns; ++c) {
      const auto to = static_cast<std::size_t>(p * i.head_columns + c);
      const auto from = bank + static_cast<std::size_t>(c % 32 * 2);
      const std::int64_t beat = slot * beats + c / 32;
      std::memcpy(&layer.keys[to], memory_.read(block + 1 + beat).data() + from, 2);
      std::memcpy(&layer.values[to],
                  memory_.read(base + i.values_offset + p / 128 * 32 * beats + beat).data() + from,
                  2);
    }
  }
  return cache;
}

void InstructionModel::attend(const Instruction& i, const Pass& pass) {
  const std::int64_t beats = divide_up(i.head_columns, 32);
  const std::int64_t query_heads = i.words;  // of a row, of this chip
  const bool whole = i.target == static_cast<std::uint32_t>(AttendStop::kWhole);
  for (auto& row_peak : peaks_[2]) row_peak = 0;
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    if (i.only_row != 0 && r + 1 != i.only_row) continue;
    const std::int64_t t = pass.first_row + r;
    const std::int64_t last = table_[static_cast<std::size_t>(t)].position;
    const std::int64_t first =
        i.window == 0 ? 0
                      : std::max<std::int64_t>(0, last - static_cast<std::int64_t>(i.window) + 1);
    const std::int64_t word = i.destination + r * i.destination_stride;
    std::int64_t end = 0;
    std::uint32_t peak = 0;
    for (std::int64_t head = 0; head < i.heads; ++head) {
      const KvCache cache = cached_head(
          i, i.cache_base + t * i.cache_row_stride + (i.first_head + head) * i.cache_head_stride,
          first, last);
      pair_ = {first, i.target, {}};
      for (std::int64_t g = 0; g < i.group; ++g) {
        const std::int64_t query = static_cast<std::int16_t>(i.source) + head * i.group + g;
        if (query < 0 || query >= query_heads) continue;  // another chip's
        const std::int64_t at = (r * query_heads + query) * beats;
        HeadTrace trace;
        std::vector<float> out(i.head_columns);
        reference::attend({queries_.data() + at * kLanes, i.head_columns}, query_exponents_.at(at),
                          cache.layer(1), 1, 0, first, last, out, trace, Instructions::kPlain);
        pair_.traces.push_back(trace);
        if (!whole) continue;
        peak = std::max(peak, peak_of(out));
        end = i.first + query * i.head_columns;
        for (const float value : out) vector(word, end++) = value;
      }
    }
    if (!whole) continue;
    for (; end % kLanes != 0; ++end) vector(word, end) = 0.0F;
    peaks_[2][static_cast<std::size_t>(r)] = peak;
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
