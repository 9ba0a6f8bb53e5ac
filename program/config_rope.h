#pragma once

#include <string>
#include <vector>

#include "program/config_json.h"
#include "program/model_spec.h"

namespace logos {

/// Reads `rope_theta`, `rope_scaling` and the newer `rope_parameters`.
Rotary read_rotary(const ConfigObject& config, std::vector<std::string>* remarks);

}  // namespace logos
