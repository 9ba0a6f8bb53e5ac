#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/outcome.h"

namespace logos::bench {

/// What html_page shows of a run: `result` is the object of --format json, untouched; beside it the
/// programs in their placeholder form, and the timelines and maps that lanes gave.
nlohmann::ordered_json page_document(const Report& report, const nlohmann::ordered_json& result,
                                     std::string_view command);

/// "bench --cut decode:16": as a shell takes it.
std::string command_text(const std::vector<std::string>& arguments);

/// The program's lines as operations and timelines count them: those of the placeholder form,
/// without the line that says where the weights lie. The first is line 1.
std::vector<std::string> program_lines(std::string_view text);

}  // namespace logos::bench
