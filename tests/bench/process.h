#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace logos::bench {

/// How a program is run.
struct Launch {
  std::map<std::string, std::string> environment = {};  ///< over this process's own
  bool altered = false;                                 ///< altered_bench in place of bench
  std::string standard_output = {};  ///< a file to open for it; "closed" a pipe that nobody reads
  std::string standard_error = {};   ///< a file to open for it
  std::vector<int> closed = {};      ///< descriptors that the program starts without
  std::optional<std::uint64_t> file_bytes = std::nullopt;  ///< limit of a file's size
  bool terminal = false;  ///< standard output and standard error are one terminal
};

/// How it ended.
struct Ended {
  int status = -1;  ///< exit status; 128 + the signal that ended it
  std::string out;
  std::string err;  ///< with a terminal: empty, all is in `out`
};

/// Runs bench with arguments. Caches and stores go to a folder of the build.
Ended run_bench(const std::vector<std::string>& arguments, const Launch& launch = {});

/// `@FILE`, as --tokens takes it.
std::string at_file(const std::filesystem::path& file);

/// Where those stores lie.
std::string test_store();

}  // namespace logos::bench
