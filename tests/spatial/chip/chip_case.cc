#include "tests/spatial/chip/chip_case.h"

#include <fmt/format.h>

#include "program/genuine.h"
#include "program/written.h"
#include "sim/reference/executor.h"
#include "spatial/lowering/lowering.h"
#include "tests/small_models.h"

namespace logos::spatial {

ChipCase::ChipCase(const std::string& model, const std::string& cut, std::int64_t text_chips,
                   std::uint64_t seed)
    : weights_(&small_weights(model)) {
  const Written written = written_split(small_model(model), Cut::parse(cut), text_chips);
  facts_ = read_facts(written.text, "test");
  programs_ = read_genuine(written.text, "test", written.identity);
  inputs = random_inputs(programs_.front(), seed);
}

Outcome ChipCase::on_reference() const {
  LineDigests digests;
  Inputs left = inputs;
  reference::ExecuteOptions options;
  options.observer = &digests;
  const auto execution = reference::execute(programs_, left, *weights_, options);
  std::optional<int> fault;
  if (execution.fault) fault = execution.fault->line;
  return {execution.outputs, fault, left.caches, digests.digests()};
}

Plan ChipCase::plan(const ChipConfig& config) const {
  return lower_programs(facts_, programs_, config);
}

Outcome ChipCase::on_chips(const ChipConfig& config, ChipRun options, RunReport* report) const {
  return on_chips(plan(config), config, std::move(options), report);
}

Outcome ChipCase::on_chips(const Plan& plan, const ChipConfig& config, ChipRun options,
                           RunReport* report) const {
  LineDigests digests;
  Inputs left = inputs;
  options.observer = &digests;
  RunReport ran = run_chips(plan, config, *weights_, left, options);
  std::optional<int> fault;
  if (ran.fault) fault = programs_.front().operations[static_cast<std::size_t>(*ran.fault)].line;
  Outcome outcome{ran.outputs, fault, left.caches, digests.digests()};
  if (report != nullptr) *report = std::move(ran);
  return outcome;
}

RunReport ChipCase::time(const ChipConfig& config, ChipRun options) const {
  Inputs left = inputs;
  return run_chips(plan(config), config, *weights_, left, options);
}

std::string difference(const Outcome& expected, const Outcome& got) {
  const std::size_t common = std::min(expected.operations.size(), got.operations.size());
  for (std::size_t i = 0; i < common; ++i) {
    const LineDigest& a = expected.operations[i];
    const LineDigest& b = got.operations[i];
    if (a.name != b.name || a.layer != b.layer || a.line != b.line || a.sha256 != b.sha256) {
      return fmt::format("operation {} of layer {}, line {} (got {} of layer {}, line {})", a.name,
                         a.layer, a.line, b.name, b.layer, b.line);
    }
  }
  if (expected.operations.size() != got.operations.size()) return "another number of operations";
  if (expected.fault_line != got.fault_line) return "the fault";
  if (expected.outputs.size() != got.outputs.size()) return "another number of outputs";
  for (std::size_t i = 0; i < got.outputs.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(expected.outputs[i]) !=
        std::bit_cast<std::uint32_t>(got.outputs[i])) {
      return fmt::format("output {}", i);
    }
  }
  for (std::size_t c = 0; c < expected.caches.size(); ++c) {
    for (std::size_t n = 0; n < expected.caches[c].layers.size(); ++n) {
      const KvCache::Layer& x = expected.caches[c].layers[n];
      const KvCache::Layer& y = got.caches[c].layers[n];
      if (x.keys != y.keys || x.values != y.values || x.key_exponents != y.key_exponents ||
          x.value_exponents != y.value_exponents) {
        return fmt::format("cache {}, layer {}", c, n);
      }
    }
  }
  return "";
}

}  // namespace logos::spatial
