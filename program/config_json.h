#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace logos {

/// An object of a `config.json`, read with refusals that name the key.
class ConfigObject {
 public:
  /// `where`: file; `path`: the keys that lead to the object, "" for the top.
  ConfigObject(const nlohmann::json* object, std::string where, std::string path);

  const nlohmann::json& members() const { return *object_; }
  bool has(std::string_view key) const;  ///< present and not null
  const nlohmann::json* find(std::string_view key) const;

  /// Null where the key is missing or null; throws Error where it holds another type.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string> string(std::string_view key) const;
  std::optional<ConfigObject> object(std::string_view key) const;

  /// Throws Error with the key's place.
  [[noreturn]] void fail(std::string_view key, std::string_view what) const;
  [[noreturn]] void fail(std::string_view key, std::string_view what, std::string_view got,
                         std::string_view want) const;
  [[noreturn]] void fail_type(std::string_view key, std::string_view want) const;

 private:
  std::string place(std::string_view key) const;

  const nlohmann::json* object_;
  std::string where_;
  std::string path_;
};

/// Parses the text of a `config.json`: strict JSON, an object, no key twice, no number beyond
/// binary64, bounded in size and depth. Throws Error naming the key at which it stopped.
nlohmann::json parse_config(std::string_view text, std::string_view where);

/// A value as errors show it, cut to a readable length.
std::string shown(const nlohmann::json& value);

}  // namespace logos
