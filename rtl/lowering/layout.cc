#include "rtl/lowering/layout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "program/check.h"
#include "program/divide_up.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kBeatBytes = 64;
constexpr std::int64_t kScalesOfBeat = 16;  ///< binary32 of a bank's beat
constexpr std::int64_t kMultiplied = 32;    ///< weight beats that a beat of multipliers serves
constexpr std::int64_t kBlock = 128;        ///< positions of a cache block
constexpr std::int64_t kSlots = kBlock / kBanks;
constexpr std::int64_t kHeadMultipliers = 252;  ///< in an embedding row's first super-beat

using SuperBeat = std::array<std::byte, static_cast<std::size_t>(kSuperBeatBytes)>;

void put_float(SuperBeat& beat, std::int64_t byte, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i) {
    beat[static_cast<std::size_t>(byte + i)] = static_cast<std::byte>(bits >> (8 * i));
  }
}

/// One part of a matrix with the views that its rows come from.
struct Source {
  MatrixPart part;
  MatrixView view;
  std::span<const float> bias;

  /// The matrix row of an output slot, or -1.
  std::int64_t row(std::int64_t slot) const {
    std::int64_t row = slot - part.lead;
    if (part.head_columns > 0 && row >= 0) {
      const std::int64_t slots = slots_of_head(part.head_columns);
      const std::int64_t column = row % slots;
      row = column < part.head_columns ? row / slots * part.head_columns + column : -1;
    }
    return row >= 0 && row < part.rows ? part.first_row + row : -1;
  }
};

/// Writes the super-beats of a matrix in stream order.
class MatrixWriter {
 public:
  MatrixWriter(const MatrixItem& item, const WeightStore& weights, std::byte fill,
               const SuperBeatSink& sink)
      : item_(item), fill_(fill), sink_(sink), words_(matrix_words(item)), at_(item.base) {
    for (const MatrixPart& part : item.parts) {
      Source source{part, weights.matrix(part.tensor), {}};
      if (!part.bias.empty()) source.bias = weights.vector(part.bias);
      CHECK(part.first_row + part.rows <= source.view.rows);
      CHECK(item.first_column + item.columns <= source.view.columns);
      sources_.push_back(source);
    }
  }

  void write() {
    const std::int64_t quads = matrix_quads(item_);
    for (std::int64_t quad = 0; quad < quads; ++quad) {
      if (quad % kScalesOfBeat == 0) {
        write_constants(quad, [](const Source& source, std::int64_t row) {
          return source.view.scales[static_cast<std::size_t>(row)];
        });
        if (has_bias(item_)) {
          write_constants(quad, [](const Source& source, std::int64_t row) {
            return source.bias[static_cast<std::size_t>(row)];
          });
        }
      }
      for (std::int64_t word = 0; word < words_; ++word) {
        const std::int64_t index = quad * words_ + word;
        if (index % kMultiplied == 0) write_multipliers(index, quads * words_);
        write_weights(quad, word);
      }
    }
  }

 private:
  /// The source and slot of bank `bank` of a quad.
  std::pair<const Source*, std::int64_t> slot(std::int64_t quad, std::int64_t bank) const {
    const auto parts = static_cast<std::int64_t>(sources_.size());
    const auto& source = sources_[static_cast<std::size_t>(quad % parts)];
    return {&source, source.row(quad / parts * kBanks + bank)};
  }

  void emit(const SuperBeat& beat) { sink_(at_++, beat); }

  template <typename Constant>
  void write_constants(std::int64_t quad, Constant&& constant) {
    SuperBeat beat;
    beat.fill(fill_);
    for (std::int64_t i = 0; i < kScalesOfBeat && quad + i < matrix_quads(item_); ++i) {
      for (std::int64_t bank = 0; bank < kBanks; ++bank) {
        const auto [source, row] = slot(quad + i, bank);
        // Slots without a row must come out as +0.
        put_float(beat, bank * kBeatBytes + 4 * i, row < 0 ? 0.0F : constant(*source, row));
      }
    }
    emit(beat);
  }

  void write_multipliers(std::int64_t index, std::int64_t end) {
    SuperBeat beat;
    beat.fill(fill_);
    for (std::int64_t j = 0; j < kMultiplied && index + j < end; ++j) {
      const std::int64_t quad = (index + j) / words_;
      const std::int64_t group = (item_.first_column + (index + j) % words_ * 64) / kGroup;
      for (std::int64_t bank = 0; bank < kBanks; ++bank) {
        const auto [source, row] = slot(quad, bank);
        for (std::int64_t half = 0; half < 2; ++half) {
          if (row < 0 || group + half >= source->view.groups) continue;
          beat[static_cast<std::size_t>(bank * kBeatBytes + 2 * j + half)] = static_cast<std::byte>(
              source->view
                  .multipliers[static_cast<std::size_t>(row * source->view.groups + group + half)]);
        }
      }
    }
    emit(beat);
  }

  void write_weights(std::int64_t quad, std::int64_t word) {
    SuperBeat beat;
    beat.fill(fill_);
    const std::int64_t count = std::min<std::int64_t>(64, item_.columns - word * 64);
    for (std::int64_t bank = 0; bank < kBanks; ++bank) {
      const auto [source, row] = slot(quad, bank);
      if (row < 0) continue;
      const std::int64_t from = row * source->view.pitch + item_.first_column + word * 64;
      std::memcpy(beat.data() + bank * kBeatBytes, source->view.q.data() + from,
                  static_cast<std::size_t>(count));
    }
    emit(beat);
  }

  const MatrixItem& item_;
  std::byte fill_;
  const SuperBeatSink& sink_;
  std::int64_t words_;
  std::int64_t at_;
  std::vector<Source> sources_;
};

/// Writes bytes from a super-beat's start on, the rest of the last one filled.
void write_bytes(std::int64_t at, std::span<const std::byte> bytes, std::byte fill,
                 const SuperBeatSink& sink) {
  constexpr auto kBytes = static_cast<std::size_t>(kSuperBeatBytes);
  for (std::size_t from = 0; from < bytes.size(); from += kBytes) {
    SuperBeat beat;
    beat.fill(fill);
    const std::size_t count = std::min(kBytes, bytes.size() - from);
    std::memcpy(beat.data(), bytes.data() + from, count);
    sink(at++, beat);
  }
}

}  // namespace

std::int64_t slots_of_head(std::int64_t head_columns) { return divide_up(head_columns, 4) * 4; }

std::int64_t part_slots(const MatrixPart& part) {
  const std::int64_t rows = part.head_columns == 0
                                ? part.rows
                                : part.rows / part.head_columns * slots_of_head(part.head_columns);
  return part.lead + rows;
}

std::int64_t matrix_quads(const MatrixItem& item) {
  std::int64_t most = 0;
  for (const MatrixPart& part : item.parts) most = std::max(most, part_slots(part));
  return divide_up(most, kBanks) * static_cast<std::int64_t>(item.parts.size());
}

std::int64_t matrix_words(const MatrixItem& item) { return divide_up(item.columns, 64); }

bool has_bias(const MatrixItem& item) { return !item.parts.front().bias.empty(); }

std::int64_t matrix_beats(const MatrixItem& item) {
  const std::int64_t quads = matrix_quads(item);
  const std::int64_t weights = quads * matrix_words(item);
  return weights + divide_up(weights, kMultiplied) +
         divide_up(quads, kScalesOfBeat) * (has_bias(item) ? 2 : 1);
}

std::int64_t row_beats(std::int64_t columns) { return divide_up(columns, 64); }
std::int64_t rotary_beats(std::int64_t head_columns) { return divide_up(head_columns, 64); }

std::int64_t embedding_beats(std::int64_t columns) {
  const std::int64_t more =
      std::max<std::int64_t>(divide_up(columns, kGroup) - kHeadMultipliers, 0);
  return 1 + divide_up(more, kSuperBeatBytes) + divide_up(columns, kSuperBeatBytes);
}

std::int64_t value_block_beats(std::int64_t head_columns) {
  return kSlots * divide_up(head_columns, 32);
}
std::int64_t key_block_beats(std::int64_t head_columns) {
  return 1 + value_block_beats(head_columns);
}
std::int64_t cache_head_beats(std::int64_t head_columns, std::int64_t positions) {
  return divide_up(positions, kBlock) *
         (key_block_beats(head_columns) + value_block_beats(head_columns));
}

std::int64_t program_beats(std::size_t instructions) {
  return 1 +
         divide_up(static_cast<std::int64_t>(instructions * kInstructionBytes), kSuperBeatBytes);
}

std::int64_t sums_beats(std::int64_t columns, std::int64_t chips) {
  return divide_up(columns, 64) * (1 + 2 * chips);
}

std::int64_t program_of_pass(const Segment& segment, std::int64_t pass) {
  const std::int64_t beats = program_beats(static_cast<std::size_t>(segment.count));
  return segment.base + (segment.copies > 1 ? pass * beats : 0);
}

Instruction at_row(Instruction instruction, std::int64_t first_row, bool given) {
  const auto rows = static_cast<std::uint32_t>(first_row);
  switch (static_cast<Op>(instruction.op)) {
    case Op::kLoad:
      if (given) instruction.stream_base += rows * instruction.stream_beats;
      break;
    case Op::kHeads:
    case Op::kAttend:
      instruction.cache_base += rows * instruction.cache_row_stride;
      break;
    default:
      break;
  }
  return instruction;
}

void write_matrix(const MatrixItem& item, const WeightStore& weights, std::byte fill,
                  const SuperBeatSink& sink) {
  MatrixWriter(item, weights, fill, sink).write();
}

void write_row(std::int64_t at, std::span<const float> row, std::byte fill,
               const SuperBeatSink& sink) {
  static_assert(std::endian::native == std::endian::little);
  write_bytes(at, std::as_bytes(row), fill, sink);
}

void write_gain(const GainItem& item, const WeightStore& weights, std::byte fill,
                const SuperBeatSink& sink) {
  const std::span<const float> gain = weights.vector(item.tensor);
  CHECK(std::cmp_equal(gain.size(), item.size));
  write_row(item.base, gain, fill, sink);
}

void write_embedding(const EmbeddingItem& item, const WeightStore& weights, std::byte fill,
                     const SuperBeatSink& sink) {
  const MatrixView view = weights.matrix(item.tensor);
  CHECK(view.columns == item.columns && item.first_row + item.rows <= view.rows);
  const std::int64_t beats = embedding_beats(item.columns);
  for (std::int64_t i = 0; i < item.rows; ++i) {
    const std::int64_t row = item.first_row + i;
    std::vector<std::byte> bytes(static_cast<std::size_t>(beats * kSuperBeatBytes), fill);
    const float scale = view.scales[static_cast<std::size_t>(row)];
    std::memcpy(bytes.data(), &scale, sizeof scale);
    std::memcpy(bytes.data() + 4, view.multipliers.data() + row * view.groups,
                static_cast<std::size_t>(view.groups));
    const std::int64_t weights_at = beats - divide_up(item.columns, kSuperBeatBytes);
    std::memcpy(bytes.data() + weights_at * kSuperBeatBytes, view.q.data() + row * view.pitch,
                static_cast<std::size_t>(item.columns));
    write_bytes(item.base + i * beats, bytes, fill, sink);
  }
}

void write_program(std::int64_t at, std::string_view identity, std::int64_t chip,
                   std::int64_t chips, std::span<const Instruction> program,
                   const SuperBeatSink& sink) {
  CHECK(identity.size() == 64);
  SuperBeat header{};
  for (std::size_t i = 0; i < 32; ++i) {
    const std::string digits(identity.substr(2 * i, 2));
    header[i] = static_cast<std::byte>(std::stoul(digits, nullptr, 16));
  }
  const std::uint32_t words[] = {static_cast<std::uint32_t>(program.size()),
                                 0x3544474C,  // LGD5
                                 1, static_cast<std::uint32_t>(chips),
                                 static_cast<std::uint32_t>(chip)};
  std::memcpy(header.data() + 32, words, sizeof words);
  sink(at, header);
  std::vector<std::byte> bytes;
  for (const Instruction& instruction : program) {
    const auto encoded = encode(instruction);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  }
  write_bytes(at + 1, bytes, std::byte{0}, sink);
}

CachePlace cache_place(const CacheItem& cache, std::int64_t head_columns, std::int64_t position) {
  const std::int64_t beats = divide_up(head_columns, 32);
  const std::int64_t block = position / kBlock;
  const std::int64_t slot = position % kBlock / kBanks;
  CachePlace place;
  place.bank = static_cast<int>(position % kBanks);
  place.exponents = block * key_block_beats(head_columns);
  place.exponent_byte = static_cast<int>(2 * slot);
  place.keys = place.exponents + 1 + slot * beats;
  place.values = cache.values_offset + block * value_block_beats(head_columns) + slot * beats;
  return place;
}

}  // namespace logos::d5005
