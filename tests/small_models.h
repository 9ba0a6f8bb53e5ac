#pragma once

#include <cstdint>
#include <string>

#include "program/model_spec.h"
#include "program/program.h"
#include "sim/lane.h"
#include "sim/weights/store.h"

namespace logos {

/// A family in small: "llama", "mistral", "qwen2", "qwen3" of columns that fill no group of 32,
/// "gguf" of profile B; or "kjv", the embedded model. Throws std::runtime_error for other names.
ModelSpec small_model(const std::string& name);

/// The weights of a small model (synthetic ones by seed but for kjv), packed once a process in a
/// store of its own.
const WeightStore& small_weights(const std::string& name, std::uint64_t seed = 1);

/// Inputs of a program by seed: tokens (the last id among them), caches as a quantizer leaves them
/// with positions before those of the run, given rows. A chunk stands after two positions, a step
/// at the last of its cut, a batch's rows at different ones.
Inputs random_inputs(const Program& program, std::uint64_t seed);

}  // namespace logos
