#include "cuda/plan_runner.h"

#include <fmt/format.h>

#include <cstring>
#include <tuple>
#include <type_traits>

#include "cuda/launches.h"
#include "cuda/plan_fields.h"
#include "program/check.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

constexpr std::string_view kWhere = "artifact of lane cuda";

template <typename T>
void resolve_field(const Planned<T>& planned, T*& pointer, const RunMemory& memory) {
  pointer = reinterpret_cast<T*>(memory.address(planned, alignof(T), !std::is_const_v<T>));
}
template <typename T>
void resolve_field(const T& planned, T& value, const RunMemory&) {
  value = planned;
}

/// The arguments with addresses in place of references, as the bytes that a kernel takes.
template <template <template <typename> class> class Arguments>
std::vector<std::byte> resolve(Arguments<Planned> planned, const RunMemory& memory) {
  Arguments<Pointer> arguments{};
  auto to = arguments.members();
  auto from = planned.members();
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (resolve_field(std::get<kIndex>(from), std::get<kIndex>(to), memory), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(to)>>());
  std::vector<std::byte> bytes(sizeof(arguments));
  std::memcpy(bytes.data(), &arguments, sizeof(arguments));
  return bytes;
}
std::vector<std::byte> resolve(const ProductStep& step, const RunMemory& memory) {
  return resolve(step.arguments, memory);
}

}  // namespace

PlanRunner::PlanRunner(Machine& machine, const Plan& plan, RunMemory& memory, const RunShape& run,
                       Observer* observer)
    : machine_(machine), plan_(plan), memory_(memory), run_(run), observer_(observer) {}

void PlanRunner::check(const Step& step) const {
  check_step(step, plan_, run_, kWhere,
             [&](const Reference& reference, std::int64_t bytes, bool required) {
               memory_.check(reference, bytes, required);
             });
}

void PlanRunner::launch(const Step& step, PlanOutputs* outputs) {
  for (const PlannedLaunch& launch : launches_of(step, run_)) {
    if (outputs != nullptr) {
      outputs->macs += launch.macs;
      outputs->launches.push_back({group_, step.chip, launch.traffic.bytes(), launch.macs});
    }
    const std::vector<std::byte> arguments =
        std::visit([&](const auto& work) { return resolve(work, memory_); }, launch.work);
    machine_.launch_bytes(*launch.kernel, launch.shape, arguments, launch.traffic);
    const auto* attention = std::get_if<AttentionArguments<Planned>>(&launch.work);
    if (observer_ != nullptr && outputs != nullptr && attention != nullptr &&
        launch.kernel->name == "attention_rows") {
      capture(step, *attention);
    }
  }
}

PlanOutputs PlanRunner::run() {
  PlanOutputs outputs;
  group_ = 0;
  for (const Group& group : plan_.groups) {
    captured_.assign(static_cast<std::size_t>(plan_.chips), {});
    for (const Step& step : group.steps) {
      check(step);
      launch(step, &outputs);
    }
    if (observer_ != nullptr) observe(group);
    ++group_;
  }
  outputs.outputs.resize(static_cast<std::size_t>(plan_.output_rows * plan_.output_columns));
  memory_.download(std::as_writable_bytes(std::span(outputs.outputs)), plan_.output);
  std::vector<std::uint32_t> faults(plan_.operations.size());
  if (!faults.empty()) {
    memory_.download(std::as_writable_bytes(std::span(faults)), {Space::kFault, 0, 0});
  }
  for (std::size_t i = 0; i < faults.size() && !outputs.fault; ++i) {
    if (faults[i] != 0) {
      outputs.fault = FaultSite{plan_.operations[i].layer, plan_.operations[i].line};
    }
  }
  outputs.pushed = memory_.download_caches(run_);
  machine_.synchronize();
  return outputs;
}

void PlanRunner::replay() {
  for (const Group& group : plan_.groups) {
    for (const Step& step : group.steps) launch(step, nullptr);
  }
}

}  // namespace logos::cuda
