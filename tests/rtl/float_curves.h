#pragma once

#include <bit>
#include <cstdint>

#include "Vexp_neg_model.h"
#include "Vsilu_model.h"
#include "float_operands.h"
#include "float_pipe.h"

namespace logos {

using ExpPipe = FloatPipe<Vexp_neg_model>;
using SiluPipe = FloatPipe<Vsilu_model>;

/// Offers one x of which a given result is expected.
template <class Model>
void offer_curve(FloatPipe<Model>& pipe, std::uint32_t x, std::uint32_t expected) {
  const auto set = [](Model& model, std::uint64_t a, std::uint64_t) {
    model.x_i = static_cast<std::uint32_t>(a);
  };
  pipe.offer(set, x, 0, expected);
}

}  // namespace logos
