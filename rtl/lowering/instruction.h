#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace logos::d5005 {

inline constexpr std::size_t kInstructionBytes = 64;
inline constexpr int kUnits = 5;

/// The units that carry out instructions (rtl/README.md).
enum class Unit : std::uint8_t { kRows, kProduct, kHeads, kAttend, kStore };

/// What an instruction does; the values are those of engine_pkg::op_e.
enum class Op : std::uint8_t {
  kEnd = 0x00,
  kLoad = 0x10,
  kEmbed = 0x11,
  kGain = 0x12,
  kRotary = 0x13,
  kNorm = 0x14,
  kQuantize = 0x15,
  kPeak = 0x16,
  kProduct = 0x20,
  kScale = 0x21,
  kHeads = 0x30,
  kAttend = 0x40,
  kStore = 0x50
};

enum class Post : std::uint8_t { kPlain, kResidual, kSilu, kSums };
enum class HeadTarget : std::uint8_t { kNowhere, kQuery, kKeys, kValues };
enum class StoreSource : std::uint8_t {
  kVector,
  kActivation,
  kQuery,
  kScores,
  kWeightSums,
  kPeaks
};
enum class Peaks : std::uint8_t { kOfRows, kOfProduct, kOfAttend };
enum class AttendStop : std::uint8_t { kWhole, kToScores, kToWeights };

/// An instruction of the engine, field by field as in engine_pkg::instruction_t, in the order of
/// the bits from the lowest on. What each means: rtl/README.md.
struct Instruction {
  std::uint32_t op = 0;
  std::array<std::uint8_t, kUnits> need{};
  std::uint32_t line = 0;
  std::uint32_t fence = 0;
  std::uint32_t last_row = 0;
  std::uint32_t chain = 0;
  std::uint32_t greedy = 0;
  std::uint32_t write_back = 0;
  std::uint32_t rotate = 0;
  std::uint32_t norm = 0;
  std::uint32_t track = 0;
  std::uint32_t bias = 0;
  std::uint32_t peaks = 0;
  std::uint32_t target = 0;
  std::uint32_t variant = 0;
  std::uint32_t group = 0;
  std::uint32_t heads = 0;
  std::uint32_t head_columns = 0;
  std::uint32_t words = 0;
  std::uint32_t columns = 0;
  std::uint32_t first = 0;
  std::uint32_t source = 0;
  std::uint32_t source_stride = 0;
  std::uint32_t destination = 0;
  std::uint32_t destination_stride = 0;
  std::uint32_t gain = 0;
  std::uint32_t stream_base = 0;
  std::uint32_t stream_beats = 0;
  std::uint32_t host_offset = 0;
  std::uint32_t epsilon = 0;
  std::uint32_t cache_base = 0;
  std::uint32_t cache_head_stride = 0;
  std::uint32_t values_offset = 0;
  std::uint32_t cache_row_stride = 0;
  std::uint32_t window = 0;
  std::uint32_t only_row = 0;
  std::uint32_t first_head = 0;
  std::uint32_t fence_need = 0;
  std::uint32_t apart = 0;
  std::uint32_t reserved = 0;

  bool operator==(const Instruction&) const = default;
};

/// A field's name and width in bits; `need` stands for its five bytes.
struct InstructionField {
  const char* name;
  int bits;
};

/// All fields from bit 0 on; together 512 bits.
std::span<const InstructionField> instruction_fields();

/// Little-endian bytes. Throws Error naming the field where a value does not fit its bits.
std::array<std::byte, kInstructionBytes> encode(const Instruction& instruction);

/// The same way back. Throws Error for an unknown op or reserved bits that are not 0.
Instruction decode(std::span<const std::byte, kInstructionBytes> bytes);

/// The unit of an op; kEnd has none (CHECK).
Unit unit_of(Op op);

/// One line for people: the op's name and every field that is not 0.
std::string describe(const Instruction& instruction);

}  // namespace logos::d5005
