#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/runner.h"
#include "program/cut.h"
#include "sim/comparison.h"
#include "sim/inputs.h"

namespace logos::bench {

/// One run of a lane as it was given and what came out: enough to run it again.
struct Record {
  Cut cut;
  Inputs inputs;  ///< before the run
  Result result;
};

/// Where a longer computation (a generation, a score) runs its cuts.
class Tape {
 public:
  virtual ~Tape() = default;
  virtual Result run(const Cut& cut, Inputs& inputs) = 0;
};

/// Runs on a lane and keeps a digest of each run's outputs, in order, and the sum of what they
/// took.
class DigestTape : public Tape {
 public:
  explicit DigestTape(Runner& runner, Observer* observer = nullptr)
      : runner_(runner), observer_(observer) {}
  Result run(const Cut& cut, Inputs& inputs) override;

  const std::vector<std::string>& digests() const { return digests_; }
  double seconds() const { return seconds_; }  ///< in the lane's own time class
  double host_seconds() const { return host_seconds_; }
  std::optional<TimeClass> time_class() const { return time_class_; }
  const std::string& time_remark() const { return time_remark_; }
  bool fault() const { return fault_; }

 private:
  Runner& runner_;
  Observer* observer_;
  std::vector<std::string> digests_;
  double seconds_ = 0;
  double host_seconds_ = 0;
  std::optional<TimeClass> time_class_;
  std::string time_remark_;
  bool fault_ = false;
};

/// Runs `computation` on a lane again as far as its run `index` (from 0) and gives that one.
Record replay(Runner& runner, const std::function<void(Tape&)>& computation, std::size_t index);

/// The index of the first run whose digests differ or that only one has; null where none does.
std::optional<std::size_t> first_difference(const std::vector<std::string>& expected,
                                            const std::vector<std::string>& got);

/// Where two runs of one cut part: the first operation, else the first element of the outputs or
/// the fault. Null where neither differs.
std::optional<Divergence> divergence_of(Runner& expected, const Record& expected_run, Runner& got,
                                        const Record& got_run);

}  // namespace logos::bench
