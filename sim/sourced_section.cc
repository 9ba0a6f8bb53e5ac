#include "sim/sourced_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <vector>

#include "program/config_json.h"
#include "program/error.h"
#include "program/text_file.h"

namespace logos {

using nlohmann::json;

SourcedSection::SourcedSection(const json& section, std::string_view where)
    : section_(section), where_(where) {
  if (!section.is_object()) {
    throw Error(where, "not an object", section.type_name(), "an object of keys");
  }
}

std::string SourcedSection::place(std::string_view key) const {
  return fmt::format("{}.{}", where_, key);
}

void SourcedSection::refuse(std::string_view key, const json& value, std::string_view want) const {
  throw Error(place(key), "wrong type", value.dump(), want);
}

const json& SourcedSection::take(std::string_view key) {
  const auto found = section_.find(std::string(key));
  if (found == section_.end()) throw Error(place(key), "missing key");
  taken_.insert(std::string(key));
  const json& entry = *found;
  if (!entry.is_object() || entry.size() != 2 || !entry.contains("value") ||
      !entry.contains("source") || !entry["source"].is_string() ||
      entry["source"].get_ref<const std::string&>().empty()) {
    throw Error(place(key), "not a value with its source", entry.dump(),
                R"({"value": …, "source": "…"})");
  }
  return entry["value"];
}

int SourcedSection::integer(std::string_view key) {
  const json& value = take(key);
  if (!value.is_number_integer()) refuse(key, value, "an integer");
  // Out of int's range: the limits' reader must see a number that is out of range as well.
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT32_MAX
                                               : value.get<std::int64_t>() >= INT32_MIN &&
                                                     value.get<std::int64_t>() <= INT32_MAX;
  if (!fits) refuse(key, value, "a number of 32 bits");
  return value.get<int>();
}

double SourcedSection::number(std::string_view key) {
  const json& value = take(key);
  if (!value.is_number()) refuse(key, value, "a number");
  return value.get<double>();
}

double SourcedSection::number(std::string_view key, double lowest, double highest) {
  const double value = number(key);
  if (!(value >= lowest && value <= highest)) {
    throw Error(place(key), "out of range", fmt::format("{}", value),
                fmt::format("{} to {}", lowest, highest));
  }
  return value;
}

std::string SourcedSection::text(std::string_view key) {
  const json& value = take(key);
  if (!value.is_string()) refuse(key, value, "a string");
  return value.get<std::string>();
}

bool SourcedSection::choice(std::string_view key, std::string_view first, std::string_view second) {
  const std::string word = text(key);
  if (word != first && word != second) {
    throw Error(place(key), "unknown word", word, fmt::format("{} or {}", first, second));
  }
  return word == first;
}

void SourcedSection::finish() const {
  for (const auto& [key, value] : section_.items()) {
    if (!taken_.contains(key)) throw Error(place(key), "unknown key");
  }
}

json parse_sourced_file(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  return parse_config(read_text_file(file, kMostBytes), file.string());
}

std::string keys_of(const json& section) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : section.items()) {
    if (key != "name") keys.push_back(key);
  }
  return fmt::format("one of {}", fmt::join(keys, ", "));
}

void set_value(json& section, std::string_view key, const std::string& text,
               std::string_view where) {
  const auto found = section.find(std::string(key));
  if (found == section.end()) throw Error(where, "unknown key", key, keys_of(section));
  json value = json::parse(text, nullptr, false);
  (*found)["value"] = value.is_number() ? std::move(value) : json(text);
}

}  // namespace logos
