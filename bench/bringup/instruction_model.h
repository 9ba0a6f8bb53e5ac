#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "rtl/driver/driver.h"
#include "rtl/lowering/instruction.h"
#include "rtl/lowering/plan.h"
#include "sim/kv_cache.h"
#include "sim/reference/attention.h"

namespace logos::d5005 {

/// A board's memory by super-beats; what was never written reads as a fill byte.
class BoardMemory {
 public:
  using SuperBeat = std::array<std::byte, static_cast<std::size_t>(kSuperBeatBytes)>;

  explicit BoardMemory(std::byte fill) : fill_(fill) {}
  const SuperBeat& read(std::int64_t at) const;
  void write(std::int64_t at, std::span<const std::byte> bytes);
  /// One byte of a bank's beat.
  void write_byte(std::int64_t at, int bank, int byte, std::byte value);

 private:
  std::byte fill_;
  std::map<std::int64_t, SuperBeat> beats_;
  mutable SuperBeat empty_{};
};

/// The binary32 that stands at byte `at`.
float float_at(std::span<const std::byte> bytes, std::int64_t at);

/// What the engine's instructions mean, instruction by instruction, with the scalar arithmetic: the
/// other reading of rtl/README.md that lowering and RTL are tested against. Units run in any order
/// that the need counts allow, chosen at random by seed, so a missing need shows as wrong bits.
class InstructionModel {
 public:
  InstructionModel(const EngineSize& engine, BoardMemory& memory, std::uint32_t seed);

  /// Runs the program over all rows of the table; its memories keep what is in them for the next.
  /// Throws Error on a deadlock or a use outside a memory.
  void run(std::span<const Instruction> program, std::span<const TableRow> table);

  /// The output buffer, by 64-byte lines.
  const std::map<std::int64_t, std::array<std::byte, 64>>& host() const { return host_; }
  bool fault() const { return fault_line_ != 0; }
  std::uint32_t fault_line() const { return fault_line_; }

 private:
  struct Pass {
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t row = 0;  ///< where row 0 lies in the pass
  };

  void run_pass(std::span<const Instruction> program, std::int64_t first, std::int64_t rows,
                bool last);
  void execute(const Instruction& i, Pass pass);
  void load(const Instruction& i, const Pass& pass);
  void embed(const Instruction& i, const Pass& pass);
  void gain(const Instruction& i);
  void rotary(const Instruction& i, const Pass& pass);
  void norm(const Instruction& i, const Pass& pass);
  void quantize(const Instruction& i, const Pass& pass);
  void product(const Instruction& i, const Pass& pass);
  void heads(const Instruction& i, const Pass& pass);
  void peak(const Instruction& i, const Pass& pass);
  void scale(const Instruction& i, const Pass& pass);
  KvCache cached_head(const Instruction& i, std::int64_t base, std::int64_t first,
                      std::int64_t last) const;
  void attend(const Instruction& i, const Pass& pass);
  void store(const Instruction& i, const Pass& pass);
  /// Of what lies outside of vector memory.
  void store_others(const Instruction& i, const Pass& pass);
  void store_query(const Instruction& i, std::int64_t r, std::int64_t line);
  void store_pair(const Instruction& i, std::int64_t line);
  /// Bytes to lines of the output buffer; those after the end stay.
  void put_lines(std::int64_t line, std::span<const std::byte> bytes);

  float& vector(std::int64_t word, std::int64_t element);
  std::vector<float> row(std::int64_t base, std::int64_t stride, std::int64_t r,
                         std::int64_t columns);
  /// Writes a row, the rest of its last word as zeros.
  void put_row(const Instruction& i, std::int64_t r, std::span<const float> values);
  void to_activation(const Instruction& i, std::int64_t r, std::span<const float> values,
                     std::uint32_t peak);
  void push(const Instruction& i, const Pass& pass, std::int64_t r, std::int64_t head,
            std::span<const std::int16_t> q, std::int8_t exponent);
  std::vector<std::byte> stream(std::int64_t at, std::int64_t beats) const;
  std::vector<float> floats(std::int64_t at, std::int64_t count) const;

  EngineSize engine_;
  BoardMemory& memory_;
  std::mt19937 random_;
  std::vector<TableRow> table_;
  std::vector<float> vectors_;
  std::vector<std::vector<std::int16_t>> activations_;  ///< [row][column]
  std::vector<std::int8_t> exponents_;
  std::vector<std::int16_t> queries_;
  std::map<std::int64_t, std::int8_t> query_exponents_;  ///< by first word
  std::vector<float> gains_;
  std::vector<std::vector<float>> cosines_, sines_;  ///< [row][pair]
  std::array<std::vector<std::uint32_t>, 3> peaks_;
  std::map<std::int64_t, std::array<std::byte, 64>> host_;
  std::uint32_t fault_line_ = 0;
  /// What the attend unit worked on last.
  struct Pair {
    std::int64_t first = 0;    ///< visible position
    std::uint32_t target = 0;  ///< where it stopped
    std::vector<reference::HeadTrace> traces;
  };
  Pair pair_;
};

}  // namespace logos::d5005
