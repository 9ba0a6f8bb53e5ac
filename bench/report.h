#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bench/outcome.h"

namespace logos::bench {

/// The object that `--format json` prints (keys: architecture.md, Commands). Numbers that are not
/// finite are null.
nlohmann::ordered_json report_json(const Report& report);

/// The text of a strict JSON object, invalid UTF-8 replaced, with a line feed at its end.
std::string json_text(const nlohmann::ordered_json& object);

/// One line a lane with the same numbers: made from the JSON object, so they cannot differ.
std::string report_csv(const nlohmann::ordered_json& report);

/// The table for people. `color` puts in ANSI colours; `columns` is the width of the terminal, 0
/// where the text goes elsewhere: nothing is shortened or broken then.
std::string report_console(const Report& report, bool color, std::size_t columns);

/// "1.23 ms", "4.5 s"; "1.2 MB" (powers of ten); "12,345".
std::string human_seconds(double seconds);
std::string human_bytes(double bytes);
std::string human_count(double count);

}  // namespace logos::bench
