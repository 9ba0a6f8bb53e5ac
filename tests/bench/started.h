#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/process.h"

namespace logos::bench {

/// A bench that runs beside the test, its standard output in a file.
class Started {
 public:
  Started(const std::vector<std::string>& arguments, const std::filesystem::path& output);
  ~Started();  ///< kills it where it still runs
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  void kill();
  /// Its exit status; 128 + the signal that ended it.
  int wait();

 private:
  pid_t child_ = -1;
};

/// A shell's command line, with the environment of tests.
Ended run_shell(const std::string& command);

/// The program under test, quoted for a shell.
std::string bench_in_shell();

}  // namespace logos::bench
