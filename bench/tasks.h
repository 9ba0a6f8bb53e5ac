#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.h"

namespace logos::bench {

/// What one repetition of a task took, in the lane's own time.
struct TaskTime {
  double seconds = 0;
  std::optional<double> tokens = std::nullopt;  ///< counted as tokens/s
  std::optional<double> bytes = std::nullopt;   ///< counted as bytes/s
  std::optional<double> cycles = std::nullopt;
  std::string note = {};   ///< of the time: its class, and what its lane says of it
  std::string error = {};  ///< not empty: the benchmark ends in this error
};

/// One registered benchmark: manual time, one iteration.
struct Task {
  std::string name;
  std::function<TaskTime()> run;
};

/// What Google Benchmark itself reports, where it was asked to.
struct TaskReports {
  std::size_t matched = 0;
  std::string display;  ///< --benchmark_format, --benchmark_list_tests
  std::string file;     ///< --benchmark_out
  std::string remarks;  ///< why nothing matched
};

/// Registers the tasks with Google Benchmark and runs those that its flags select.
TaskReports run_tasks(const std::vector<Task>& tasks, const Options& options);

}  // namespace logos::bench
