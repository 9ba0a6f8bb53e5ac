#pragma once

#include "program/model_spec.h"
#include "program/program.h"
#include "program/text/syntax.h"

namespace logos {

/// What of `units` the chip `chip` (from 0) of `chips` holds: chip c, from 1, holds units
/// floor((c-1)N/C)+1 .. floor(cN/C) of N.
Share share_of(std::int64_t units, std::int64_t chip, std::int64_t chips);

/// The query heads of a chip, and the key heads that these read (two chips may hold one).
Share query_heads_of(const ModelSpec& spec, std::int64_t chip, std::int64_t chips);
Share key_heads_of(const ModelSpec& spec, std::int64_t chip, std::int64_t chips);

/// What a clause gives a chip of `units` rows, columns or heads of a declaration.
Share held_share(HeldShare share, std::int64_t units, const ModelSpec& spec, std::int64_t chip,
                 std::int64_t chips);

}  // namespace logos
