// bench with a CUDA lane that errs on purpose, so that what the program says of a wrong lane can be
// tested end to end. LOGOS_ALTER says how it errs:
//   value LAYER NAME ROW ELEMENT   one value of one operation, its lowest bit flipped, and an
//   output exponent LAYER NAME ROW BLOCK  one exponent of one operation, one more, and an output
//   output                         an output only: logit 7 of the last row is 1000
//   fault                          says that line 1 raised FAULT
//   wander                         another output at every run
//   throw | refuse                 the run, the lowering ends in an error
// With LOGOS_ALTER_POSITION only the run whose last position is that one errs.
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/driver.h"
#include "program/error.h"

namespace logos::bench {
namespace {

struct Alteration {
  std::string kind;
  std::int64_t layer = 0;
  std::string name;
  std::int64_t row = 0;
  std::size_t element = 0;
  std::int64_t position = 0;  ///< 0: every run
};

Alteration read_alteration() {
  Alteration alteration;
  const char* text = std::getenv("LOGOS_ALTER");
  std::istringstream words(text == nullptr ? "" : text);
  words >> alteration.kind >> alteration.layer >> alteration.name >> alteration.row >>
      alteration.element;
  if (const char* position = std::getenv("LOGOS_ALTER_POSITION")) {
    alteration.position = std::atoll(position);
  }
  return alteration;
}

/// Passes on what it sees, one value changed.
class AlteringObserver : public Observer {
 public:
  AlteringObserver(const Alteration& alteration, Observer& next)
      : alteration_(alteration), next_(next) {}

  void observe(const Observation& observation) override {
    if (observation.name != alteration_.name || observation.layer != alteration_.layer ||
        observation.row != alteration_.row) {
      next_.observe(observation);
      return;
    }
    Observation altered = observation;
    std::vector<std::byte> values(observation.values.begin(), observation.values.end());
    std::vector<std::int8_t> exponents(observation.exponents.begin(), observation.exponents.end());
    if (alteration_.kind == "value") {
      values.at(alteration_.element * bytes_of(observation.type)) ^= std::byte{1};
    } else if (alteration_.kind == "exponent") {
      ++exponents.at(alteration_.element);
    }
    altered.values = values;
    altered.exponents = exponents;
    next_.observe(altered);
  }

 private:
  const Alteration& alteration_;
  Observer& next_;
};

class AlteredLane : public Lane {
 public:
  AlteredLane(std::unique_ptr<Lane> inner, Alteration alteration)
      : inner_(std::move(inner)), alteration_(std::move(alteration)) {}

  std::string_view name() const override { return inner_->name(); }

  Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                 const LaneConfig& config) const override {
    if (alteration_.kind == "refuse") throw Error("altered lane", "holds no cut at all");
    return inner_->lower(text, asked, weights, config);
  }

  Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
             const LaneConfig& config, Inputs& inputs, const RunOptions& options) const override {
    if (alteration_.kind == "throw") throw Error("altered lane", "the machine caught fire");
    const bool here =
        alteration_.position == 0 ||
        (!inputs.positions.empty() && inputs.positions.back() == alteration_.position);
    if (!here || alteration_.kind.empty()) {
      return inner_->run(artifact, asked, weights, config, inputs, options);
    }
    RunOptions altered = options;
    std::unique_ptr<AlteringObserver> observer;
    if (options.observer != nullptr) {
      observer = std::make_unique<AlteringObserver>(alteration_, *options.observer);
      altered.observer = observer.get();
    }
    Result result = inner_->run(artifact, asked, weights, config, inputs, altered);
    if (alteration_.kind == "fault") {
      result.fault = FaultSite{0, 1};
      return result;
    }
    const auto last = static_cast<std::size_t>((result.rows - 1) * result.columns);
    result.outputs.at(last + 7) = alteration_.kind == "wander" ? 1000.0f + ++runs_ : 1000.0f;
    return result;
  }

 private:
  std::unique_ptr<Lane> inner_;
  Alteration alteration_;
  mutable float runs_ = 0;
};

LaneTable altered_table() {
  LaneTable table = lane_table();
  for (LaneKind& kind : table) {
    if (kind.name != "cuda") continue;
    kind.make = [make = kind.make](const Options& options) {
      LaneEntry entry = make(options);
      entry.lane = std::make_unique<AlteredLane>(std::move(entry.lane), read_alteration());
      return entry;
    };
  }
  return table;
}

}  // namespace
}  // namespace logos::bench

int main(int argc, char** argv) {
  return logos::bench::bench_main(std::vector<std::string>(argv + 1, argv + argc),
                                  logos::bench::altered_table());
}
