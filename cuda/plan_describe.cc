#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cuda/launches.h"
#include "cuda/plan.h"
#include "cuda/plan_fields.h"
#include "cuda/run_memory.h"

namespace logos::cuda {
namespace {

constexpr std::array<std::string_view, kSpaces> kSpaceNames = {
    "null",   "arena",         "observed",  "matrix",          "multipliers", "scales",
    "vector", "tokens",        "positions", "cosines",         "sines",       "given",
    "keys",   "key_exponents", "values",    "value_exponents", "fault",       "scratch"};

std::string text_of(const Reference& reference) {
  if (!reference) return "null";
  return fmt::format("{}[{}]+{}", kSpaceNames[static_cast<std::size_t>(reference.space)],
                     reference.index, reference.offset);
}

/// `name=value` of each field that is set, in order.
std::string arguments_text(Work work) {
  std::string text;
  std::visit(
      [&](auto& step) {
        std::string_view names;
        if constexpr (std::is_same_v<decltype(step), ProductStep&>) {
          names = step.arguments.kNames;
        } else {
          names = step.kNames;
        }
        for_each_field(step, [&](auto& field) {
          const std::size_t end = std::min(names.find(' '), names.size());
          const std::string_view name = names.substr(0, end);
          names.remove_prefix(std::min(end + 1, names.size()));
          if constexpr (kIsReference<decltype(field)>) {
            if (field) text += fmt::format(" {}={}", name, text_of(field));
          } else if (field != 0) {
            text += fmt::format(" {}={}", name, field);
          }
        });
      },
      work);
  return text;
}

void describe_launch(const PlannedLaunch& launch, std::int32_t chip, std::string& text) {
  const LaunchShape& shape = launch.shape;
  fmt::format_to(std::back_inserter(text),
                 "chip {} {} grid {}x{}x{} block {} shared {} weight_bytes {} kv_bytes {} "
                 "movement_bytes {} macs {}{}\n",
                 chip, launch.kernel->name, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
                 shape.shared_bytes, launch.traffic.weight_bytes, launch.traffic.kv_bytes,
                 launch.traffic.other_bytes, launch.macs, arguments_text(launch.work));
}

}  // namespace

std::string describe(const Plan& plan, std::int64_t positions) {
  const MemoryNeed need = memory_need(plan, positions);
  std::string text = fmt::format(
      "{} rows on {} chips; {} bytes of weights, {} of caches, {} of activations of {} of the "
      "GPU\n",
      plan.rows, plan.chips, need.weights, need.caches, need.activations, plan.memory_bytes);
  RunShape run;
  run.reach = positions;
  if (plan.has_positions) {
    for (std::int64_t row = 0; row < plan.rows; ++row) {
      const std::int64_t last = plan.is_chunk ? positions - plan.rows + row : positions - 1;
      run.positions.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(last, 0)));
    }
  }
  for (const Group& group : plan.groups) {
    for (const Step& step : group.steps) {
      for (const PlannedLaunch& launch : launches_of(step, run)) {
        describe_launch(launch, step.chip, text);
      }
    }
    for (const Observed& observed : group.observed) {
      const PlanOperation& operation =
          plan.operations[static_cast<std::size_t>(observed.operation)];
      fmt::format_to(std::back_inserter(text), "  gives {} of layer {}, line {}\n", observed.name,
                     operation.layer, operation.line);
    }
  }
  return text;
}

}  // namespace logos::cuda
