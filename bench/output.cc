#include "bench/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "bench/command_files.h"
#include "bench/runner.h"
#include "program/error.h"
#include "program/standard_streams.h"
#include "sim/file_beside.h"
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

/// What killed runs left is removed; what stands under an artifact's name must be a file that can
/// be read. Which artifacts a run will use is known only when it lowers them, after the weights are
/// packed.
void check_artifacts(const fs::path& folder) {
  remove_abandoned_files(folder);
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() != kArtifactExtension) continue;
    if (!entry.is_regular_file(failed)) {
      throw Error("--artifacts", fmt::format("{}: is not a regular file", entry.path().string()));
    }
    if (::access(entry.path().c_str(), R_OK) != 0) {
      throw Error("--artifacts", fmt::format("{}: cannot be read: {}", entry.path().string(),
                                             std::strerror(errno)));
    }
  }
}

}  // namespace

void check_outputs(const Options& options) {
  check_standard_output();
  if (options.artifacts) {
    check_folder(*options.artifacts);
    check_artifacts(*options.artifacts);
  }
  CommandFiles files;
  files.read_inputs(options);
  const auto take = [&](std::string_view name, const std::optional<fs::path>& file) {
    if (file) files.write(name, *file);
  };
  if (options.history) {
    check_writable(*options.history);
    files.keep_history(*options.history);
  }
  take("--out", options.out);
  take("--dump", options.dump);
  take("--trace", options.trace);
  take("--report", options.report);
  take("--benchmark_out", options.benchmark_out);
  if (!options.wave) return;
  // Its writer puts a new file in the place of what is there.
  std::error_code failed;
  const fs::file_status status = fs::status(options.wave->file, failed);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error("--wave", fmt::format("{} is not a regular file", options.wave->file.string()));
  }
  take("--wave", options.wave->file);
}

}  // namespace logos::bench
