#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/default_inputs.h"
#include "bench/dumper.h"
#include "bench/lanes.h"
#include "bench/model.h"
#include "bench/options.h"
#include "bench/outcome.h"
#include "bench/plan.h"
#include "bench/progress.h"
#include "bench/runner.h"
#include "bench/score.h"
#include "bench/tasks.h"

namespace logos::bench {

/// What one command runs with: the model, the lanes and the reference that makes inputs.
struct Session {
  Session(const Options& options_of, const Model& model_of, const std::vector<LaneEntry>& lanes_of,
          const LaneEntry& reference_of);

  const Options& options;
  const Model& model;
  const std::vector<LaneEntry>& lanes;
  std::vector<std::unique_ptr<Runner>> runners;  ///< one a lane, over the chips asked for
  std::unique_ptr<Runner> one_chip;              ///< the reference on one chip
  InputMaker maker;
  std::optional<Dumper> dumper;
  std::function<void()> after_task;  ///< called after a lane's work on a cut; may be empty
  Progress progress;
  std::string heading;  ///< what progress shows before the cut and the lane

  /// Index of the lane that the others are compared with: the reference, else the first.
  std::size_t base() const;
};

/// What a result says of the program, this host, the model, the lanes and the inputs of `plans`,
/// before anything has run.
Report start_report(const Options& options, const Model& model, const std::vector<LaneEntry>& lanes,
                    const std::vector<Plan>& plans);

/// Runs the planned cuts on all lanes (each pair a benchmark) and compares them.
TaskReports run_cuts(Session& session, const std::vector<Plan>& plans,
                     std::vector<CutOutcome>& outcomes);

/// What --score asks for, checked before any weights are read.
ScoreWork plan_score(const Options& options, const Model& model);

/// Scores the sequences on all lanes (each a benchmark) and compares them.
TaskReports run_scores(Session& session, const ScoreWork& work, Report& report);

}  // namespace logos::bench
