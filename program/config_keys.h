#pragma once

#include <string>
#include <vector>

#include "program/config_json.h"

namespace logos {

/// The families whose model classes are known here, by `model_type`.
enum class Family { kLlama, kMistral, kQwen2, kQwen3 };

/// Refuses by name every key that changes bits in a way that is not supported, unless it holds its
/// neutral value. Keys that no model class here reads and that are not known to change nothing are
/// passed over with a remark each.
void check_keys(const ConfigObject& config, Family family, std::vector<std::string>* remarks);

/// Whether a value leaves a factor or a switch as if the key were absent: null, false, 1 or 1.0.
bool is_neutral(const nlohmann::json& value);

}  // namespace logos
