#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rtl/lowering/instruction.h"
#include "tests/rtl/image_layout.h"
#include "tests/rtl/vector_model.h"

namespace logos {

/// One instruction of the product unit with all that it reads.
struct ProductJob {
  d5005::Instruction instruction;
  std::uint32_t rows = 1;         ///< of the pass
  std::vector<ImageBeat> stream;  ///< its super-beats
  // OpProduct: one matrix, or gate and up.
  PlainMatrix matrix;
  PlainMatrix up;
  // OpScale: sums[row][chip][column]; `matrix` holds the constants.
  std::vector<std::vector<std::vector<std::int64_t>>> sums;
};

/// The activations that all jobs of a case read: q[row][column], zeros up to a whole word.
struct Activations {
  std::vector<std::vector<std::int16_t>> q;
  std::vector<std::int8_t> exponents;
  int columns = 0;

  int words() const { return (columns + 63) / 64; }
};

/// Which numbers a case holds.
enum class Numbers { kRandom, kLargest };

/// Makes jobs at random; the seed is all that matters.
class ProductCase {
 public:
  ProductCase(std::uint32_t seed, std::uint32_t rows, int columns,
              Numbers numbers = Numbers::kRandom);

  /// Adds an OpProduct with `outputs` outputs (of each matrix with SiLU).
  ProductJob& product(int outputs, d5005::Post post, bool bias = false, bool track = false);
  /// Adds an OpScale.
  ProductJob& scale(int outputs, int chips, d5005::Post post, bool bias, bool track);

  const Activations& activations() const { return activations_; }
  std::vector<ProductJob>& jobs() { return jobs_; }
  std::mt19937& random() { return random_; }

 private:
  PlainMatrix random_matrix(int outputs, bool bias);
  void place(ProductJob& job, int outputs, d5005::Post post, bool bias, bool track);
  ImageFill garbage();
  float random_scale();

  std::mt19937 random_;
  std::uint32_t rows_;
  Numbers numbers_;
  Activations activations_;
  std::vector<ProductJob> jobs_;
  std::uint32_t next_word_ = 3;  ///< of vector memory
};

/// The 32-bit lanes of a row's quad after a job: 4, or 8 of PostSums.
std::vector<std::uint32_t> expected_quad(const ProductJob& job, const Activations& activations,
                                         const VectorModel& before, std::uint32_t row, int quad);

/// Quads of a row that a job writes.
int written_quads(const ProductJob& job);

}  // namespace logos
