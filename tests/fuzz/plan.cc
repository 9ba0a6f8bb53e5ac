// Launch plans of the CUDA lane: what is taken is written again byte for byte; of each step that
// passes its checks, the extents and the launches can be computed.
#include "cuda/plan.h"

#include <algorithm>

#include "cuda/launches.h"
#include "program/check.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace logos;
using namespace logos::cuda;

/// The last rows of a run that fill caches of some positions; none for a plan that takes more rows
/// than a run here has.
std::optional<RunShape> shape_of(const Plan& plan) {
  constexpr std::int64_t kReach = 300;
  if (plan.rows < 1 || plan.rows > kReach) return std::nullopt;
  RunShape run;
  run.reach = kReach;
  for (std::int64_t row = 0; row < plan.rows && plan.has_positions; ++row) {
    run.positions.push_back(static_cast<std::int32_t>(kReach - plan.rows + row));
  }
  return run;
}

void check_launches(const Step& step, const Plan& plan, const RunShape& run) {
  const bool passed = taken([&] {
    check_step(step, plan, run, "fuzz", [](const Reference& reference, std::int64_t bytes, bool) {
      CHECK(bytes >= 0 && reference.offset >= 0);
    });
  });
  if (!passed) return;
  for (const PlannedLaunch& launch : launches_of(step, run)) {
    CHECK(launch.shape.block.count() >= 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = logos::bytes_of(data, size);
  Plan plan;
  if (!taken([&] { plan = parse_plan(bytes, "fuzz"); })) return 0;
  CHECK(serialise_plan(plan) == bytes);
  const std::optional<RunShape> run = shape_of(plan);
  if (!run) return 0;
  for (const Group& group : plan.groups) {
    for (const Step& step : group.steps) check_launches(step, plan, *run);
  }
  return 0;
}
