#pragma once

#include <vector>

#include "program/program.h"
#include "rtl/lowering/plan.h"

namespace logos::d5005 {

/// The programs of all chips, in order -> what each board holds and does. Throws Error for what the
/// engine or its board cannot hold, with what is needed and what there is.
Plan lower_programs(const std::vector<Program>& programs, const EngineSize& engine);

}  // namespace logos::d5005
