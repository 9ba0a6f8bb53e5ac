#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace logos::bench {

/// A page for people, whole in one HTML file: no request leaves it. `document`: {"title",
/// "command", "result": the object of --format json, "programs": [{"cut", "chips",
/// "text"}], "timelines": [{"cut", "lane", …}] (timeline_json.h), "maps": [{"cut", "lane", …}]
/// (report_map.h), "sweep": the object of `bench sweep`}. Each key but "title" may be left out; the
/// page then has no such part. Strings are data: none of them can become markup.
std::string html_page(const nlohmann::ordered_json& document);

}  // namespace logos::bench
