#pragma once

#include <cstdint>
#include <string_view>

#include "program/model_spec.h"

namespace logos {

/// The `max_position_embeddings` that a preset's maker published; 0 for another name.
std::int64_t preset_trained_positions(std::string_view name);

}  // namespace logos
