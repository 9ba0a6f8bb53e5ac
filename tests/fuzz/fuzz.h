#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "program/error.h"

/// What libFuzzer calls with each input, and what the replay calls with each seed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace logos {

inline std::string_view bytes_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs `action`; an Error is a refusal, as it should be. Every other exception ends the fuzzer.
/// Returns whether the input was taken.
template <typename Action>
bool taken(Action action) {
  try {
    action();
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace logos
