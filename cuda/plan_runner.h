#pragma once

#include <optional>
#include <vector>

#include "cuda/machine.h"
#include "cuda/plan.h"
#include "cuda/run_memory.h"
#include "sim/inputs.h"
#include "sim/observer.h"
#include "sim/result.h"

namespace logos::cuda {

/// Where a launch of a run comes from, and its useful traffic.
struct LaunchOrigin {
  std::int32_t group = 0;  ///< into Plan::groups
  std::int32_t chip = 0;
  std::uint64_t bytes = 0;
  std::uint64_t macs = 0;
};

/// What a run left on the machine, downloaded.
struct PlanOutputs {
  std::vector<float> outputs;
  std::optional<FaultSite> fault;
  PushedCaches pushed;
  std::uint64_t macs = 0;              ///< of the model
  std::vector<LaunchOrigin> launches;  ///< in the order in which they were made
};

/// Launches a plan once on a machine. The launches are the same each time, so that a device can
/// replay them.
class PlanRunner {
 public:
  PlanRunner(Machine& machine, const Plan& plan, RunMemory& memory, const RunShape& run,
             Observer* observer);

  PlanOutputs run();

  /// The same launches again, without observing or downloading.
  void replay();

 private:
  /// The inner values of attention, collected tile by tile: bytes `[row]` for each chip and form.
  struct Captured {
    std::vector<std::vector<std::byte>> scores;
    std::vector<std::vector<std::byte>> weights;
    std::vector<std::vector<std::byte>> weight_sums;
  };

  void check(const Step& step) const;
  void launch(const Step& step, PlanOutputs* outputs);
  void capture(const Step& step, const AttentionArguments<Planned>& tile);
  void observe(const Group& group);
  void observe(const Observed& observed);
  void append_part(const Observed& observed, const ObservedPart& part, std::int64_t row,
                   std::vector<std::byte>& values, std::vector<std::byte>& exponents);
  void emit(const Observed& observed, std::int64_t row, ElementType type,
            std::span<const std::byte> values, std::span<const std::int8_t> exponents);
  std::vector<std::byte> download(const Reference& from, std::int64_t bytes) const;

  Machine& machine_;
  const Plan& plan_;
  RunMemory& memory_;
  const RunShape& run_;
  Observer* observer_;
  std::int32_t group_ = 0;          ///< that is being launched
  std::vector<Captured> captured_;  ///< by chip
};

}  // namespace logos::cuda
