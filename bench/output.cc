#include "bench/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "program/error.h"
#include "program/standard_streams.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error("--artifacts",
                fmt::format("{}: cannot be made a folder: {}", folder.string(), failed.message()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error("--artifacts", fmt::format("{}: cannot write into the folder: {}", folder.string(),
                                           std::strerror(errno)));
  }
}

}  // namespace

void check_outputs(const Options& options) {
  check_standard_output();
  std::vector<std::pair<std::string, fs::path>> files;
  const auto take = [&](std::string_view name, const std::optional<fs::path>& file) {
    if (!file) return;
    check_writable(*file);
    std::error_code failed;
    const fs::path place = fs::weakly_canonical(*file, failed);
    for (const auto& [other, taken] : files) {
      if (!failed && taken == place && (!fs::exists(place) || fs::is_regular_file(place))) {
        throw Error(name, fmt::format("the same file as {}: {}", other, place.string()));
      }
    }
    files.emplace_back(name, place);
  };
  take("--out", options.out);
  take("--dump", options.dump);
  take("--benchmark_out", options.benchmark_out);
  if (options.artifacts) check_folder(*options.artifacts);
}

}  // namespace logos::bench
