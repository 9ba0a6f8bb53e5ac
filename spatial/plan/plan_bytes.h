#pragma once

#include <string>
#include <string_view>

#include "spatial/plan/plan.h"

namespace logos::spatial {

/// The artifact's payload; the same plan gives the same bytes.
std::string serialise_plan(const Plan& plan);
/// Throws Error (where = `where`) for bytes that `serialise_plan` could not have written. What the
/// numbers mean is checked by `check_plan`.
Plan parse_plan(std::string_view payload, std::string_view where);

/// The same for one stage.
std::string serialise_stage(const Stage& stage);

/// SHA-256 of what the tiles of a stage follow: its tables and steps, without its place.
std::string schedule_sha256(const Stage& stage);

}  // namespace logos::spatial
