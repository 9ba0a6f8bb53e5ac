#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace logos::bench {

/// A machine's configurations: the option that takes one, the folder of `configs/` they lie in, the
/// file that is taken where none is asked for.
struct ConfigurationKind {
  std::string_view option;
  std::string_view folder;
  std::string_view standard;
};
inline constexpr ConfigurationKind kBoards = {"--board", "boards", "d5005.json"};
inline constexpr ConfigurationKind kChips = {"--chip-config", "chips", "tiles-256.json"};
extern const ConfigurationKind kGpus;

/// One file of a kind.
struct Configuration {
  std::filesystem::path file;
  std::string title;  ///< the name that it states; "" where it has none
};

/// All of a kind that lie in its folder, by file name. Throws Error where one cannot be read.
std::vector<Configuration> configurations(const ConfigurationKind& kind);

/// The file that an option means: a path; or, without a slash and where no such file is, a name as
/// `--list` prints it: a file's name, with or without `.json`, or the title it states. The standard
/// one where nothing is asked for. Throws Error naming those there are.
std::filesystem::path configuration_file(const ConfigurationKind& kind,
                                         const std::optional<std::filesystem::path>& asked);

}  // namespace logos::bench
