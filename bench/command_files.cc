#include "bench/command_files.h"

#include <fmt/format.h>

#include <system_error>

#include "program/error.h"
#include "sim/whole_file.h"

namespace logos::bench {

namespace fs = std::filesystem;

void CommandFiles::read(std::string_view option, const fs::path& file) {
  std::error_code failed;
  const fs::path place = fs::weakly_canonical(file, failed);
  if (!failed) files_.emplace_back(option, place);
}

void CommandFiles::write(std::string_view option, const fs::path& file) {
  check_writable(file);
  std::error_code failed;
  const fs::path place = fs::weakly_canonical(file, failed);
  for (const auto& [other, taken] : files_) {
    if (!failed && taken == place && (!fs::exists(place) || fs::is_regular_file(place))) {
      throw Error(option, fmt::format("the same file as {}: {}", other, place.string()));
    }
  }
  files_.emplace_back(option, place);
}

}  // namespace logos::bench
