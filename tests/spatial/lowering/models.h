#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program/facts.h"
#include "program/program.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// A family's shape in small (of tests/contract), `kjv`, or a preset.
ModelSpec spec_named(const std::string& name);

using Settings = std::vector<ChipSetting>;
/// A chip of configs/chips with settings over it.
ChipConfig chip_named(const std::string& file, const Settings& settings = {});

/// A cut as `lower` of a lane reads it.
struct Job {
  Facts facts;
  std::vector<Program> programs;
};
Job job_of(const std::string& model, const std::string& cut, std::int64_t chips = 1);

Plan lowered(const std::string& model, const std::string& cut, std::int64_t chips,
             const ChipConfig& config);

}  // namespace logos::spatial
