#include "bench/configurations.h"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/time_model.h"
#include "program/config_json.h"
#include "program/error.h"
#include "program/text_file.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

fs::path folder_of(const ConfigurationKind& kind) {
  const fs::path sources = fs::path(LOGOS_SOURCE_DIR) / "configs";
  std::error_code failed;
  if (fs::is_directory(sources, failed)) return sources / kind.folder;
  // The sources moved after the build: look from the program, build/bin/bench.
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return program.parent_path().parent_path().parent_path() / "configs" / kind.folder;
}

std::vector<fs::path> files_of(const ConfigurationKind& kind) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_of(kind), failed)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string title_of(const fs::path& file) {
  const nlohmann::json object = parse_config(read_text_file(file, kMostBytes), file.string());
  const auto name = object.find("name");
  return name != object.end() && name->is_string() ? name->get<std::string>() : "";
}

}  // namespace

const ConfigurationKind kGpus = {"--gpu", "gpus", cuda::kDefaultGpu};

std::vector<Configuration> configurations(const ConfigurationKind& kind) {
  std::vector<Configuration> found;
  for (const fs::path& file : files_of(kind)) found.push_back({file, title_of(file)});
  return found;
}

fs::path configuration_file(const ConfigurationKind& kind, const std::optional<fs::path>& asked) {
  if (!asked) return folder_of(kind) / kind.standard;
  std::error_code failed;
  const std::string name = asked->string();
  const bool is_path = name.find('/') != std::string::npos;
  if (is_path || (fs::exists(*asked, failed) && !fs::is_directory(*asked, failed))) return *asked;
  const std::vector<fs::path> files = files_of(kind);
  std::string names;
  for (const fs::path& file : files) {
    if (file.filename() == name || file.stem() == name) return file;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", file.filename().string());
  }
  for (const fs::path& file : files) {
    if (!name.empty() && title_of(file) == name) return file;
  }
  throw Error(kind.option, "neither a file nor the name of a configuration",
              fmt::format("\"{}\"", name), fmt::format("a file, or one of {}", names));
}

}  // namespace logos::bench
