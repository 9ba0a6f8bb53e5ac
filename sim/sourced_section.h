#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace logos {

/// A section of a machine's configuration: an object whose keys hold `{"value": V, "source": "where
/// V comes from"}`. Takes the keys one by one; what is missing, without a source, of another type
/// or left over is refused by name (`where`.key).
class SourcedSection {
 public:
  /// `section` must outlive the reader.
  SourcedSection(const nlohmann::json& section, std::string_view where);

  int integer(std::string_view key);
  double number(std::string_view key);
  /// A number from `lowest` to `highest`.
  double number(std::string_view key, double lowest, double highest);
  std::string text(std::string_view key);
  /// Whether it is the first of two words.
  bool choice(std::string_view key, std::string_view first, std::string_view second);

  /// Refuses keys that nobody took.
  void finish() const;

 private:
  const nlohmann::json& take(std::string_view key);
  std::string place(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, const nlohmann::json& value,
                           std::string_view want) const;

  const nlohmann::json& section_;
  std::string where_;
  std::set<std::string> taken_;
};

/// A configuration's file as JSON, read as strictly as a model's (`parse_config`). Throws Error
/// with file and key.
nlohmann::json parse_sourced_file(const std::filesystem::path& file);

/// "one of a, b": the keys of a section but its name, for a message about an unknown one.
std::string keys_of(const nlohmann::json& section);

/// Sets one key of a section from the text of a command line (`--set board.ddr4.KEY=V`). Refuses
/// keys that the section does not have.
void set_value(nlohmann::json& section, std::string_view key, const std::string& text,
               std::string_view where);

}  // namespace logos
