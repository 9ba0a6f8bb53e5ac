#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "program/identity.h"
#include "sim/artifact.h"
#include "sim/inputs.h"
#include "sim/observer.h"
#include "sim/result.h"
#include "sim/weights/store.h"

namespace logos {

/// What changes an artifact or a time, as canonical JSON text (`{}` for the reference).
struct LaneConfig {
  std::string json = "{}";
  std::string sha256() const { return sha256_hex(json); }
};

/// What may change how a run goes, but neither a bit of the outputs nor the artifact.
struct RunOptions {
  Observer* observer = nullptr;
  std::uint64_t seed = 1;             ///< of thread orders, stalls, arbitration
  bool stalls = false;                ///< random back-pressure on the simulated lanes
  std::optional<std::uint32_t> fill;  ///< what unused memory and padding hold
  int threads = 1;                    ///< host threads of the reference
  std::optional<std::uint64_t> cycle_limit;
  bool timeline = false;  ///< make Result::timeline
};

/// A machine that runs every cut. Stateless: the caches are in the inputs.
class Lane {
 public:
  virtual ~Lane() = default;
  virtual std::string_view name() const = 0;

  /// Text -> artifact. Refuses a text that `author` did not write, another identity than asked
  /// for, and what the configuration cannot hold.
  virtual Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                         const LaneConfig& config) const = 0;

  /// Runs an artifact; refuses one whose identity, weights digest or configuration is not the one
  /// asked for, or that is damaged. Writes what the program pushed into `inputs.caches`.
  virtual Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
                     const LaneConfig& config, Inputs& inputs, const RunOptions& options) const = 0;
};

}  // namespace logos
