#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "rtl/lowering/layout.h"
#include "rtl/lowering/plan.h"
#include "sim/inputs.h"
#include "sim/weights/store.h"

namespace logos::d5005 {

/// What a run finds in a board's memory: weights, program, rotary rows, given rows and caches.
/// Padding holds `fill`.
void write_image(const Plan& plan, std::size_t board, const WeightStore& weights,
                 const Inputs& inputs, const Identity& identity, std::byte fill,
                 const SuperBeatSink& sink);

/// Reads super-beats back.
using SuperBeatSource = std::function<void(std::int64_t at, std::span<std::byte> bytes)>;

/// Puts the keys and values that a run pushed into the inputs' caches.
void read_pushed(const Plan& plan, std::size_t board, const SuperBeatSource& source,
                 Inputs& inputs);

}  // namespace logos::d5005
