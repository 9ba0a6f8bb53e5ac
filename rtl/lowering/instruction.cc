#include "rtl/lowering/instruction.h"

#include <fmt/format.h>

#include "program/check.h"
#include "program/error.h"

namespace logos::d5005 {
namespace {

struct Field {
  InstructionField field;
  std::uint32_t Instruction::*member;  ///< null for `need`
};

constexpr Field kFields[] = {
    {{"op", 8}, &Instruction::op},
    {{"need", 40}, nullptr},
    {{"line", 16}, &Instruction::line},
    {{"fence", 1}, &Instruction::fence},
    {{"last_row", 1}, &Instruction::last_row},
    {{"chain", 1}, &Instruction::chain},
    {{"greedy", 1}, &Instruction::greedy},
    {{"write_back", 1}, &Instruction::write_back},
    {{"rotate", 1}, &Instruction::rotate},
    {{"norm", 1}, &Instruction::norm},
    {{"track", 1}, &Instruction::track},
    {{"bias", 1}, &Instruction::bias},
    {{"peaks", 2}, &Instruction::peaks},
    {{"target", 2}, &Instruction::target},
    {{"variant", 3}, &Instruction::variant},
    {{"group", 8}, &Instruction::group},
    {{"heads", 8}, &Instruction::heads},
    {{"head_columns", 9}, &Instruction::head_columns},
    {{"words", 12}, &Instruction::words},
    {{"columns", 20}, &Instruction::columns},
    {{"first", 5}, &Instruction::first},
    {{"source", 16}, &Instruction::source},
    {{"source_stride", 16}, &Instruction::source_stride},
    {{"destination", 16}, &Instruction::destination},
    {{"destination_stride", 16}, &Instruction::destination_stride},
    {{"gain", 16}, &Instruction::gain},
    {{"stream_base", 28}, &Instruction::stream_base},
    {{"stream_beats", 28}, &Instruction::stream_beats},
    {{"host_offset", 32}, &Instruction::host_offset},
    {{"epsilon", 32}, &Instruction::epsilon},
    {{"cache_base", 28}, &Instruction::cache_base},
    {{"cache_head_stride", 28}, &Instruction::cache_head_stride},
    {{"values_offset", 28}, &Instruction::values_offset},
    {{"cache_row_stride", 28}, &Instruction::cache_row_stride},
    {{"window", 24}, &Instruction::window},
    {{"only_row", 6}, &Instruction::only_row},
    {{"first_head", 8}, &Instruction::first_head},
    {{"fence_need", 8}, &Instruction::fence_need},
    {{"apart", 8}, &Instruction::apart},
    {{"reserved", 4}, &Instruction::reserved},
};
constexpr std::size_t kFieldCount = std::size(kFields);

struct OpName {
  Op op;
  const char* name;
};
constexpr OpName kOps[] = {
    {Op::kEnd, "end"},           {Op::kLoad, "load"},     {Op::kEmbed, "embed"},
    {Op::kGain, "gain"},         {Op::kRotary, "rotary"}, {Op::kNorm, "norm"},
    {Op::kQuantize, "quantize"}, {Op::kPeak, "peak"},     {Op::kProduct, "product"},
    {Op::kScale, "scale"},       {Op::kHeads, "heads"},   {Op::kAttend, "attend"},
    {Op::kStore, "store"}};

const char* name_of(std::uint32_t op) {
  for (const OpName& known : kOps) {
    if (static_cast<std::uint32_t>(known.op) == op) return known.name;
  }
  return nullptr;
}

/// Puts `bits` bits of `value` at bit `at`.
void put(std::array<std::byte, kInstructionBytes>& bytes, int at, int bits, std::uint64_t value) {
  for (int i = 0; i < bits; ++i) {
    const int bit = at + i;
    if ((value >> i & 1U) != 0) {
      bytes[static_cast<std::size_t>(bit / 8)] |= std::byte{1} << (bit % 8);
    }
  }
}

std::uint64_t take(std::span<const std::byte, kInstructionBytes> bytes, int at, int bits) {
  std::uint64_t value = 0;
  for (int i = 0; i < bits; ++i) {
    const int bit = at + i;
    const auto byte = std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(bit / 8)]);
    value |= (byte >> (bit % 8) & 1U) << i;
  }
  return value;
}

}  // namespace

std::span<const InstructionField> instruction_fields() {
  static const auto fields = [] {
    std::array<InstructionField, kFieldCount> names{};
    for (std::size_t i = 0; i < kFieldCount; ++i) names[i] = kFields[i].field;
    return names;
  }();
  return fields;
}

std::array<std::byte, kInstructionBytes> encode(const Instruction& instruction) {
  std::array<std::byte, kInstructionBytes> bytes{};
  int at = 0;
  for (const auto& [field, member] : kFields) {
    if (member == nullptr) {
      for (int unit = 0; unit < kUnits; ++unit) {
        put(bytes, at + 8 * unit, 8, instruction.need[static_cast<std::size_t>(unit)]);
      }
    } else {
      const std::uint32_t value = instruction.*member;
      if (field.bits < 32 && value >> field.bits != 0) {
        throw Error("d5005: instruction", fmt::format("field {}", field.name),
                    fmt::to_string(value), fmt::format("{} bits", field.bits));
      }
      put(bytes, at, field.bits, value);
    }
    at += field.bits;
  }
  CHECK(at == 8 * static_cast<int>(kInstructionBytes));
  return bytes;
}

Instruction decode(std::span<const std::byte, kInstructionBytes> bytes) {
  Instruction instruction;
  int at = 0;
  for (const auto& [field, member] : kFields) {
    if (member == nullptr) {
      for (int unit = 0; unit < kUnits; ++unit) {
        instruction.need[static_cast<std::size_t>(unit)] =
            static_cast<std::uint8_t>(take(bytes, at + 8 * unit, 8));
      }
    } else {
      instruction.*member = static_cast<std::uint32_t>(take(bytes, at, field.bits));
    }
    at += field.bits;
  }
  if (name_of(instruction.op) == nullptr) {
    throw Error("d5005: instruction", "unknown op", fmt::format("{:#04x}", instruction.op),
                "one of rtl/README.md");
  }
  if (instruction.reserved != 0) {
    throw Error("d5005: instruction", "reserved bits", fmt::format("{:#x}", instruction.reserved),
                "0");
  }
  return instruction;
}

Unit unit_of(Op op) {
  CHECK(op != Op::kEnd);
  switch (static_cast<std::uint8_t>(op) >> 4) {
    case 1:
      return Unit::kRows;
    case 2:
      return Unit::kProduct;
    case 3:
      return Unit::kHeads;
    case 4:
      return Unit::kAttend;
    default:
      return Unit::kStore;
  }
}

std::string describe(const Instruction& instruction) {
  const char* name = name_of(instruction.op);
  std::string text = name != nullptr ? name : fmt::format("op {:#04x}", instruction.op);
  for (const auto& [field, member] : kFields) {
    if (member == &Instruction::op) continue;
    if (member == nullptr) {
      text += fmt::format(" need=");
      for (int unit = 0; unit < kUnits; ++unit) {
        text += fmt::format("{}{}", unit == 0 ? "" : ",",
                            instruction.need[static_cast<std::size_t>(unit)]);
      }
    } else if (instruction.*member != 0) {
      text += fmt::format(" {}={}", field.name, instruction.*member);
    }
  }
  return text;
}

}  // namespace logos::d5005
