#include "program/config_json.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <vector>

#include "program/error.h"
#include "program/json_fault.h"
#include "program/printable.h"

namespace logos {
namespace {

using nlohmann::json;

// Published configs have a few kilobytes and nest three deep.
constexpr std::size_t kMostConfigBytes = std::size_t{4} << 20;
constexpr int kMostDepth = 32;

/// Follows the parser: keeps the keys of the objects it is in, refuses one that comes twice.
class KeyWatch {
 public:
  explicit KeyWatch(std::string_view where) : where_(where) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMostDepth) throw Error(place(), fmt::format("nested deeper than {}", kMostDepth));
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key) {
      last_ = parsed.get<std::string>();
      if (!keys_.back().insert(last_).second) throw Error(place(), "the key stands twice");
    }
    return true;
  }

  std::string place() const {
    return last_.empty() ? std::string(where_)
                         : fmt::format("{}: {}", where_, shortened(last_, 80));
  }

 private:
  std::string_view where_;
  std::vector<std::set<std::string>> keys_;
  std::string last_;
};

}  // namespace

ConfigObject::ConfigObject(const json* object, std::string where, std::string path)
    : object_(object), where_(std::move(where)), path_(std::move(path)) {}

const json* ConfigObject::find(std::string_view key) const {
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

bool ConfigObject::has(std::string_view key) const {
  const json* value = find(key);
  return value != nullptr && !value->is_null();
}

std::optional<std::int64_t> ConfigObject::integer(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const json& value = *find(key);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMost);
  if (!fits) fail_type(key, "a whole number");
  return value.get<std::int64_t>();
}

std::optional<double> ConfigObject::number(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const json& value = *find(key);
  if (!value.is_number()) fail_type(key, "a number");
  return value.get<double>();
}

std::optional<bool> ConfigObject::flag(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const json& value = *find(key);
  if (!value.is_boolean()) fail_type(key, "true or false");
  return value.get<bool>();
}

std::optional<std::string> ConfigObject::string(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const json& value = *find(key);
  if (!value.is_string()) fail_type(key, "a string");
  return value.get<std::string>();
}

std::optional<ConfigObject> ConfigObject::object(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const json& value = *find(key);
  if (!value.is_object()) fail_type(key, "an object or null");
  return ConfigObject(&value, where_, path_ + std::string(key) + ".");
}

std::string ConfigObject::place(std::string_view key) const {
  return fmt::format("{}: {}{}", where_, path_, key);
}

void ConfigObject::fail(std::string_view key, std::string_view what) const {
  throw Error(place(key), what);
}

void ConfigObject::fail(std::string_view key, std::string_view what, std::string_view got,
                        std::string_view want) const {
  throw Error(place(key), what, got, want);
}

void ConfigObject::fail_type(std::string_view key, std::string_view want) const {
  const json* value = find(key);
  throw Error(place(key), "another value than this key takes",
              value == nullptr ? "nothing" : shown(*value), want);
}

json parse_config(std::string_view text, std::string_view where) {
  if (text.size() > kMostConfigBytes) {
    throw Error(where, "too large for a config", fmt::format("{} bytes", text.size()),
                fmt::format("at most {} bytes", kMostConfigBytes));
  }
  refuse_zero_byte(text, where);
  KeyWatch watch(where);
  json config;
  try {
    config = json::parse(text.begin(), text.end(), std::ref(watch));
  } catch (const json::exception& fault) {
    throw Error(watch.place(), fmt::format("not JSON here or just after: {}", json_fault(fault)));
  }
  if (!config.is_object()) throw Error(where, "not a config", shown(config), "a JSON object");
  return config;
}

std::string shown(const json& value) {
  constexpr std::size_t kMost = 60;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "…";
}

}  // namespace logos
