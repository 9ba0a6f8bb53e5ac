#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "bench/lanes.h"
#include "bench/model.h"
#include "program/cut.h"
#include "program/written.h"
#include "sim/lane.h"

namespace logos::bench {

/// What the files of `--artifacts` end in.
inline constexpr std::string_view kArtifactExtension = ".artifact";

/// What a run gave and what it took on this host.
struct Ran {
  Result result;
  double host_seconds = 0;        ///< wall time of lower and run
  double simulation_seconds = 0;  ///< CPU time of run alone
};

/// One lane with a model's weights, split over some chips: lowers each cut once and runs it as
/// often as asked. With a folder of artifacts, what lies there is reused, and refused where it is
/// not the one asked for; what does not is saved there.
class Runner {
 public:
  Runner(const LaneEntry& lane, const Model& model, std::int64_t chips, RunOptions options,
         std::optional<std::filesystem::path> artifacts = std::nullopt);

  const std::string& lane() const { return lane_.name; }
  std::int64_t chips() const { return chips_; }
  const RunOptions& options() const { return options_; }

  /// Lowers a cut where that has not been done. `text` stands in for the placeholder form.
  /// Throws Error where the lane, or a kept artifact, refuses.
  void lower(const Cut& cut, const std::string* text = nullptr);

  /// Runs a cut (lowering it where needed). Throws Error where the run ends in one, or takes more
  /// cycles than the limit. `timeline`: makes Result::timeline.
  Ran run(const Cut& cut, Inputs& inputs, Observer* observer = nullptr, bool timeline = false);

  /// The text that was or would be lowered, with its identity.
  const Written& written(const Cut& cut);

 private:
  struct Lowered {
    Written written;
    std::optional<Artifact> artifact;
    double seconds = 0;  ///< wall time of lowering
  };
  Lowered& entry(const Cut& cut);
  Artifact lowered(const Cut& cut, const Written& written) const;

  const LaneEntry& lane_;
  const Model& model_;
  std::int64_t chips_;
  RunOptions options_;
  std::optional<std::filesystem::path> artifacts_;
  std::map<std::string, Lowered> lowered_;  ///< by the cut's text
};

/// Seconds of wall time and of this process's CPU time.
double wall_seconds();
double cpu_seconds();

}  // namespace logos::bench
