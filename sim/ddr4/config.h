#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/ddr4/parameters.h"

namespace logos::ddr4 {

/// Reads the section "ddr4" of a board's file: an object of all keys of Parameters, each
/// `{"value": V, "source": "where V comes from"}`. Keys that are unknown, missing, without a source
/// or of another type are refused by name (`where`.key), and so is what validate() refuses.
Parameters read_parameters(const nlohmann::json& section, std::string_view where);

/// The channel of a board's file (`configs/boards/d5005.json`): its member "ddr4". Other members
/// are other readers' business.
Parameters read_board_channel(const std::filesystem::path& file);

}  // namespace logos::ddr4
