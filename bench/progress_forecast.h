#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "program/cut.h"
#include "program/model_spec.h"

namespace logos::bench {

/// One lane's work on one cut, for a guess of how long it takes on this host.
struct ForecastTask {
  std::string lane;
  double macs = 0;  ///< about
};

/// How long what is left of a command may take. What a lane needs for a MAC is taken from what it
/// has done in this command; before that, from what it took on an ordinary host.
class Forecast {
 public:
  explicit Forecast(std::vector<ForecastTask> tasks) : tasks_(std::move(tasks)) {}

  /// Seconds for a task and those after it.
  double left(std::size_t task) const;
  /// What a task took.
  void done(std::size_t task, double seconds);

 private:
  struct Past {
    double seconds = 0;
    double macs = 0;
  };
  double seconds_of(const ForecastTask& task) const;

  std::vector<ForecastTask> tasks_;
  std::map<std::string, Past> past_;
};

/// About the MACs that a cut takes the time of: its matrices, and its attention over the cache;
/// rows in eights, for what is read for one of them would serve eight.
double rough_macs(const Cut& cut, const ModelSpec& spec);

}  // namespace logos::bench
