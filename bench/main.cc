#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/driver.h"

namespace {

/// An engine that can be recorded is a program of its own beside this one. Returns only where it
/// could not be started.
int run_recorded(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string other = (self.parent_path() / "bench_wave").string();
  execv(other.c_str(), argv);
  fmt::print(stderr,
             "bench: --wave: needs {}, which is not built: build the target bench_wave "
             "(scripts/bench does)\n",
             other);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool recorded = std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) {
    return argument == "--wave" || argument.starts_with("--wave=");
  });
  if (recorded) return run_recorded(argv);
  return logos::bench::bench_main(arguments, logos::bench::lane_table());
}
