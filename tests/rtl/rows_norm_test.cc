#include "tests/rtl/rows_norm_case.h"

namespace logos {
namespace {

using d5005::Instruction;
using d5005::Op;

TEST(RowsUnitNorm, GivesTheBitsOfTheReference) { norms_at(test_seed(11)); }

TEST(RowsUnitNorm, GivesTheSameInPlace) {
  RowsHarness rows(12);
  std::mt19937 random(12);
  for (int round = 0; round < 10; ++round) {
    rows.set_rates(70, 50, 100);
    NormCase norm(75 + 64 * static_cast<std::uint32_t>(round), 3, 0, random);
    norm.instruction.destination = norm.instruction.source;
    norm.instruction.destination_stride = norm.instruction.source_stride;
    norm.prepare(rows);
    norm.run(rows);
    norm.check(rows);
  }
}

TEST(RowsUnitNorm, StartsAfreshAfterAResetInTheMiddle) {
  RowsHarness rows(13);
  std::mt19937 random(13);
  for (const int cycles : {3, 20, 60, 150, 220, 260, 300, 350, 400}) {
    SCOPED_TRACE(cycles);
    rows.set_rates(80, 80, 100);
    NormCase norm(288, 8, 0, random);
    norm.prepare(rows);
    rows.run(norm.instruction, pass_bits(8), {}, cycles);
    rows.reset();
    norm.prepare(rows);
    norm.run(rows);
    norm.check(rows);
  }
}

TEST(RowsUnitNorm, PaysLatenciesOnce) {
  RowsHarness rows(14);
  std::mt19937 random(14);
  for (const std::uint32_t count : {1U, 8U}) {
    NormCase norm(2048, count, 0, random);
    norm.prepare(rows);
    const int cycles = norm.run(rows);
    norm.check(rows);
    const int words = static_cast<int>(count * 64);
    RecordProperty(count == 1 ? "norm_cycles_1_row" : "norm_cycles_8_rows", cycles);
    EXPECT_GE(cycles, 3 * words);
    EXPECT_LE(cycles, 3 * words + 200);
    Instruction quantize = norm.instruction;
    quantize.op = static_cast<std::uint32_t>(Op::kQuantize);
    const int quantized = rows.run(quantize, pass_bits(count), {});
    RecordProperty(count == 1 ? "quantize_cycles_1_row" : "quantize_cycles_8_rows", quantized);
    EXPECT_GE(quantized, words);
    EXPECT_LE(quantized, words + 40);
  }
}

}  // namespace
}  // namespace logos
