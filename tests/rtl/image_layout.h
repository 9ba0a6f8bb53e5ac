#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

/// What rtl/README.md says of the layouts in DDR, written down plainly: the judge of the lowering,
/// and the source of the streams that the units' tests send.
namespace logos {

/// 256 bytes at one address of all banks; bank b holds bytes 64b .. 64b + 63.
using ImageBeat = std::array<std::uint8_t, 256>;
/// What the next byte of padding holds.
using ImageFill = std::function<std::uint8_t()>;

/// A matrix in profile A: weights [rows, columns], multipliers [rows, ceil(columns / 32)], one row
/// scale and one bias a row (none: empty).
struct PlainMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> c;
  std::vector<float> d;
  std::vector<float> bias;

  int groups() const { return (columns + 31) / 32; }
  std::span<const std::int8_t> weights(int row) const {
    return std::span(q).subspan(static_cast<std::size_t>(row) * static_cast<std::size_t>(columns),
                                static_cast<std::size_t>(columns));
  }
  std::span<const std::uint8_t> multipliers(int row) const {
    return std::span(c).subspan(static_cast<std::size_t>(row) * static_cast<std::size_t>(groups()),
                                static_cast<std::size_t>(groups()));
  }
};

namespace image {

inline ImageBeat filled(const ImageFill& fill) {
  ImageBeat beat{};
  for (std::uint8_t& byte : beat) byte = fill();
  return beat;
}

inline void put(ImageBeat& beat, int byte, const void* data, std::size_t bytes) {
  std::memcpy(beat.data() + byte, data, bytes);
}

/// Row 4i + b of the stream of a matrix; of two matrices the quads alternate.
struct Row {
  const PlainMatrix* matrix = nullptr;
  int row = 0;

  bool exists() const { return row < matrix->rows; }
};

inline Row stream_row(std::span<const PlainMatrix* const> matrices, int i, int bank) {
  const int count = static_cast<int>(matrices.size());
  return {matrices[static_cast<std::size_t>(i % count)], 4 * (i / count) + bank};
}

/// Super-beat of one binary32 for each row of the quads i .. i + 15.
inline ImageBeat constants(std::span<const PlainMatrix* const> matrices, int i, int quads,
                           std::vector<float> PlainMatrix::*constant, const ImageFill& fill) {
  ImageBeat beat = filled(fill);
  for (int j = 0; j < 16 && i + j < quads; ++j) {
    for (int bank = 0; bank < 4; ++bank) {
      const Row row = stream_row(matrices, i + j, bank);
      if (!row.exists()) continue;
      const float value = (row.matrix->*constant)[static_cast<std::size_t>(row.row)];
      put(beat, 64 * bank + 4 * j, &value, 4);
    }
  }
  return beat;
}

/// Super-beat of the group multipliers of weight super-beats index .. index + 31.
inline ImageBeat multipliers(std::span<const PlainMatrix* const> matrices, int index, int quads,
                             const ImageFill& fill) {
  ImageBeat beat = filled(fill);
  const int words = (matrices[0]->columns + 63) / 64;
  for (int j = 0; j < 32 && index + j < quads * words; ++j) {
    for (int bank = 0; bank < 4; ++bank) {
      const Row row = stream_row(matrices, (index + j) / words, bank);
      if (!row.exists()) continue;
      const auto c = row.matrix->multipliers(row.row);
      for (int half = 0; half < 2; ++half) {
        const int group = (index + j) % words * 2 + half;
        if (group >= row.matrix->groups()) continue;
        beat[static_cast<std::size_t>(64 * bank + 2 * j + half)] =
            c[static_cast<std::size_t>(group)];
      }
    }
  }
  return beat;
}

inline ImageBeat weights(std::span<const PlainMatrix* const> matrices, int quad, int word,
                         const ImageFill& fill) {
  ImageBeat beat = filled(fill);
  for (int bank = 0; bank < 4; ++bank) {
    const Row row = stream_row(matrices, quad, bank);
    if (!row.exists()) continue;
    const auto q = row.matrix->weights(row.row);
    for (int j = 0; j < 64 && 64 * word + j < row.matrix->columns; ++j) {
      beat[static_cast<std::size_t>(64 * bank + j)] =
          static_cast<std::uint8_t>(q[static_cast<std::size_t>(64 * word + j)]);
    }
  }
  return beat;
}

}  // namespace image

/// **Matrix**: one matrix, or gate and up of the same shape, in stream order.
inline std::vector<ImageBeat> lay_out_matrices(std::span<const PlainMatrix* const> matrices,
                                               bool bias, const ImageFill& fill) {
  std::vector<ImageBeat> beats;
  const int words = (matrices[0]->columns + 63) / 64;
  const int quads = (matrices[0]->rows + 3) / 4 * static_cast<int>(matrices.size());
  int weight_beats = 0;
  for (int i = 0; i < quads; ++i) {
    if (i % 16 == 0) {
      beats.push_back(image::constants(matrices, i, quads, &PlainMatrix::d, fill));
      if (bias) beats.push_back(image::constants(matrices, i, quads, &PlainMatrix::bias, fill));
    }
    for (int word = 0; word < words; ++word) {
      if (weight_beats % 32 == 0) {
        beats.push_back(image::multipliers(matrices, weight_beats, quads, fill));
      }
      beats.push_back(image::weights(matrices, i, word, fill));
      ++weight_beats;
    }
  }
  return beats;
}

inline std::vector<ImageBeat> lay_out_matrix(const PlainMatrix& matrix, bool bias,
                                             const ImageFill& fill) {
  return lay_out_matrices(std::array{&matrix}, bias, fill);
}

inline std::vector<ImageBeat> lay_out_gate_and_up(const PlainMatrix& gate, const PlainMatrix& up,
                                                  const ImageFill& fill) {
  return lay_out_matrices(std::array{&gate, &up}, false, fill);
}

/// **Sums**: one row; `chips[chip][column]` and the row scales and biases of `constants`.
inline std::vector<ImageBeat> lay_out_sums(const PlainMatrix& constants,
                                           std::span<const std::vector<std::int64_t>> chips,
                                           bool bias, const ImageFill& fill) {
  std::vector<ImageBeat> beats;
  const std::array matrices{&constants};
  const int columns = constants.rows;  // outputs of the product
  const int quads = (columns + 3) / 4;
  for (int column = 0; column < columns; column += 64) {
    beats.push_back(image::constants(matrices, column / 4, quads, &PlainMatrix::d, fill));
    if (bias) {
      beats.push_back(image::constants(matrices, column / 4, quads, &PlainMatrix::bias, fill));
    }
    for (const std::vector<std::int64_t>& sums : chips) {
      for (int half = 0; half < 2; ++half) {
        ImageBeat beat = image::filled(fill);
        for (int j = 0; j < 32 && column + 32 * half + j < columns; ++j) {
          const std::int64_t sum = sums[static_cast<std::size_t>(column + 32 * half + j)];
          image::put(beat, 8 * j, &sum, 8);
        }
        beats.push_back(beat);
      }
    }
  }
  return beats;
}

}  // namespace logos
