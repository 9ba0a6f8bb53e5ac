#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/facts.h"
#include "program/program.h"
#include "sim/comparison.h"
#include "sim/inputs.h"
#include "sim/weights/store.h"
#include "spatial/chip/run.h"
#include "spatial/chip_config.h"

namespace logos::spatial {

/// What a run gave and left.
struct Outcome {
  std::vector<float> outputs;
  std::optional<int> fault_line;
  std::vector<KvCache> caches;
  std::vector<LineDigest> operations;
};

/// A cut of a model over text chips with inputs by seed, on the reference and on chips. Models: kjv
/// and the small ones of tests/contract ("llama", "mistral", "qwen2", "qwen3").
class ChipCase {
 public:
  ChipCase(const std::string& model, const std::string& cut, std::int64_t text_chips = 1,
           std::uint64_t seed = 1);

  const Facts& facts() const { return facts_; }
  const std::vector<Program>& programs() const { return programs_; }
  const WeightStore& weights() const { return *weights_; }
  Inputs inputs;  ///< what each run starts from

  Outcome on_reference() const;
  Plan plan(const ChipConfig& config) const;
  /// Lowers and runs; with `report` also what the run took.
  Outcome on_chips(const ChipConfig& config, ChipRun options = {},
                   RunReport* report = nullptr) const;
  Outcome on_chips(const Plan& plan, const ChipConfig& config, ChipRun options = {},
                   RunReport* report = nullptr) const;
  /// The same without an observer: the time of a run.
  RunReport time(const ChipConfig& config, ChipRun options = {}) const;

 private:
  Facts facts_;
  std::vector<Program> programs_;
  const WeightStore* weights_;
};

/// "" where two outcomes agree in outputs, fault, caches and every named operation; else what not.
std::string difference(const Outcome& expected, const Outcome& got);

}  // namespace logos::spatial
