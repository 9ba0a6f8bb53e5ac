#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "program/facts.h"
#include "program/identity.h"

namespace logos {

/// A LOGOS text with the identity of its cut.
struct Written {
  std::string text;
  Identity identity;
};

Written written(const ModelSpec& spec, const Cut& cut);
/// With its weight manifest under `dir` (same identity).
Written written_in(const ModelSpec& spec, const Cut& cut, std::string_view dir);
/// Split over `chips` chips (tensor parallel); with 1 chip it is `written_in`.
Written written_split(const ModelSpec& spec, const Cut& cut, std::int64_t chips,
                      std::string_view dir = "");
/// The step at a run's own inputs (token ids and positions from 1); its identity is the cut's.
Written decode_at(const ModelSpec& spec, std::int64_t context, std::int64_t token,
                  std::int64_t position, std::string_view dir = "");
Written batch_at(const ModelSpec& spec, std::int64_t context, std::span<const std::int64_t> tokens,
                 std::span<const std::int64_t> positions, std::string_view dir = "");
Written prefill_at(const ModelSpec& spec, std::span<const std::int64_t> tokens,
                   std::int64_t first_position, std::string_view dir = "");

}  // namespace logos
