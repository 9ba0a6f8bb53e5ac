#include "bench/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace logos::bench {
namespace {

RunOptions run_options(const Options& options) {
  RunOptions run;
  run.threads = options.threads;
  run.fill = options.fill;
  run.cycle_limit = options.cycle_limit;
  if (options.stalls) {
    run.stalls = true;
    run.seed = *options.stalls;
  }
  return run;
}

std::vector<std::unique_ptr<Runner>> make_runners(const Options& options, const Model& model,
                                                  const std::vector<LaneEntry>& lanes) {
  std::vector<std::unique_ptr<Runner>> runners;
  runners.reserve(lanes.size());
  for (const LaneEntry& lane : lanes) {
    runners.push_back(std::make_unique<Runner>(lane, model, options.chips.value_or(1),
                                               run_options(options), options.artifacts));
  }
  return runners;
}

/// The reference that makes inputs and checks splits: as it is, without limits or kept artifacts.
RunOptions plain_options(const Options& options) {
  RunOptions run;
  run.threads = options.threads;
  return run;
}

/// What the command asks of a run that is no part of a lane's configuration.
std::map<std::string, std::string> conditions_of(const Options& options) {
  std::map<std::string, std::string> conditions;
  const auto add = [&](const char* name, const auto& value) {
    if (value) conditions[name] = fmt::format("{}", *value);
  };
  add("context", options.context);
  add("stalls", options.stalls);
  add("fill", options.fill);
  add("cycle_limit", options.cycle_limit);
  if (options.threads != 1) conditions["threads"] = fmt::format("{}", options.threads);
  if (!options.faults.empty()) {
    conditions["fault"] = fmt::format("{}", fmt::join(options.faults, ","));
  }
  return conditions;
}

}  // namespace

Session::Session(const Options& options_of, const Model& model_of,
                 const std::vector<LaneEntry>& lanes_of, const LaneEntry& reference_of)
    : options(options_of),
      model(model_of),
      lanes(lanes_of),
      runners(make_runners(options_of, model_of, lanes_of)),
      one_chip(std::make_unique<Runner>(reference_of, model_of, 1, plain_options(options_of))),
      maker(model_of, *one_chip) {
  if (options.dump) dumper.emplace();
}

std::size_t Session::base() const {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].name == "reference") return i;
  }
  return 0;
}

Report start_report(const Options& options, const Model& model, const std::vector<LaneEntry>& lanes,
                    const std::vector<Plan>& plans) {
  Report report;
  report.build = build_facts();
  report.host = host_facts();
  report.model = model.name;
  report.weights_kind = model.weights_kind;
  report.weights_sha256 = model.weights->sha256();
  for (const LaneEntry& lane : lanes) report.configurations[lane.name] = lane.config.sha256();
  for (const Plan& plan : plans) report.inputs[plan.cut.text()] = inputs_sha256(plan);
  report.conditions = conditions_of(options);
  report.with_map = options.map;
  return report;
}

}  // namespace logos::bench
