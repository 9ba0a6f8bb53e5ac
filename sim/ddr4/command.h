#pragma once

#include <cstdint>

namespace logos::ddr4 {

enum class Operation : std::uint8_t { kRead, kWrite };
inline constexpr int kOperations = 2;
constexpr int index_of(Operation operation) { return static_cast<int>(operation); }

enum class CommandKind : std::uint8_t {
  kActivate,
  kRead,
  kWrite,
  kPrecharge,
  kPrechargeAll,
  kRefresh
};

/// One command on the command bus, as a logic analyser would see it. Banks and groups count over
/// all ranks; fields that a command does not have are 0.
struct Command {
  std::int64_t clock;
  CommandKind kind;
  std::uint8_t rank;
  std::uint8_t group;
  std::uint8_t bank;
  std::uint32_t row;
  std::uint32_t column;
};

}  // namespace logos::ddr4
