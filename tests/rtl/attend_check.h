#pragma once

#include <cstdint>

#include "tests/rtl/attend_harness.h"

namespace logos {

/// Runs a case of the shape and compares all that it leaves with the reference: outputs, peaks and
/// untouched vector memory; or where it stops early, the last pair's scores, or weights and sums.
void check_attend(AttendHarness* harness, const AttendShape& shape, std::uint32_t seed);

/// The outputs of a case that has run; `expected` is vector memory before it.
void check_outputs(const AttendCase& attend, const AttendHarness& harness,
                   std::vector<std::array<std::uint32_t, 32>> expected);

}  // namespace logos
