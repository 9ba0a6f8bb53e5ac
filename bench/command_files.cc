#include "bench/command_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "bench/runner.h"
#include "program/error.h"
#include "sim/whole_file.h"

namespace logos::bench {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // as Linux follows (path_resolution(7))

/// Where a file is or will be made, whatever path names it: absolute, without links, also those to
/// what is not there yet. "" where that cannot be told.
fs::path place_of(const fs::path& file) {
  std::error_code failed;
  fs::path place = fs::absolute(file, failed);
  for (int links = 0; !failed && links < kMostLinks; ++links) {
    if (!fs::is_symlink(place, failed)) break;
    const fs::path target = fs::read_symlink(place, failed);
    place = place.parent_path() / target;
  }
  place = fs::weakly_canonical(place, failed);
  return failed ? fs::path() : place;
}

/// Whether a model is made of such a file of its folder.
bool is_of_model(const fs::path& file) {
  constexpr std::array<std::string_view, 3> kNames = {"config.json", "vocab.json", "prompt.txt"};
  const std::string name = file.filename().string();
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         name.starts_with("tokenizer") || name.ends_with(".safetensors") ||
         name.ends_with(".safetensors.index.json");
}

}  // namespace

void CommandFiles::read(std::string_view option, const fs::path& file) {
  fs::path place = place_of(file);
  if (!place.empty()) files_.emplace_back(option, std::move(place));
}

void CommandFiles::read_inputs(const Options& options) {
  if (options.text) read("--text", *options.text);
  if (options.gpu) read("--gpu", *options.gpu);
  if (options.board) read("--board", *options.board);
  if (options.chip) read("--chip-config", *options.chip);
  if (options.tokens && options.tokens->starts_with('@')) {
    read("--tokens", options.tokens->substr(1));
  }
  std::error_code failed;
  if (fs::is_regular_file(options.model, failed)) read("--model", options.model);
  for (const auto& entry : fs::directory_iterator(options.model, failed)) {
    if (is_of_model(entry.path())) read("--model", entry.path());
  }
  if (options.artifacts) keep_folder("--artifacts", *options.artifacts, kArtifactExtension);
}

void CommandFiles::keep_folder(std::string_view option, const fs::path& folder,
                               std::string_view extension) {
  folders_.push_back({std::string(option), place_of(folder), std::string(extension)});
}

void CommandFiles::keep_history(const fs::path& file) {
  const fs::path place = place_of(file);
  if (place.empty()) return;
  // https://sqlite.org/tempfiles.html: the journals are called as the database, longer.
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    take("--history", place.string() + suffix);
  }
}

void CommandFiles::write(std::string_view option, const fs::path& file) {
  check_writable(file);
  fs::path place = place_of(file);
  if (place.empty()) return;
  for (const Folder& folder : folders_) {
    if (place.parent_path() != folder.place) continue;
    if (!folder.extension.empty() && place.extension() != folder.extension) continue;
    throw Error(option, fmt::format("a file of its own in the folder of {}: {}", folder.option,
                                    place.string()));
  }
  take(option, std::move(place));
}

void CommandFiles::take(std::string_view option, fs::path place) {
  for (const auto& [other, taken] : files_) {
    if (taken == place && (!fs::exists(place) || fs::is_regular_file(place))) {
      throw Error(option, fmt::format("the same file as {}: {}", other, place.string()));
    }
  }
  files_.emplace_back(option, std::move(place));
}

}  // namespace logos::bench
