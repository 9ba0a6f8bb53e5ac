#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/context.h"
#include "bench/plan.h"
#include "sim/comparison.h"
#include "sim/reference/exact.h"
#include "sim/result.h"

namespace logos::bench {

/// How a lane's work ended.
enum class Ending { kNotRun, kRan, kRefused, kFailed };

struct Generated {
  std::vector<std::int64_t> tokens;  ///< from 0
  std::optional<std::string> text;   ///< null where the model does not say what ids stand for
};

/// What a lane gave for a cut.
struct LaneOutcome {
  std::string lane;
  Ending ending = Ending::kNotRun;
  std::string reason;  ///< refused, failed
  std::optional<Result> result;
  std::string output_sha256;
  bool agrees = true;
  std::optional<Divergence> divergence;
  std::vector<double> repeated_seconds;  ///< of every repetition
  double host_seconds = 0;
  double simulation_seconds = 0;
  /// Against binary64, with --exact. Rows that are no logits: kl and top1 are NaN, and
  /// max_logit_error is the largest difference of an element.
  std::optional<reference::ErrorOfArithmetic> error;
  std::optional<Generated> generated;

  double seconds() const;  ///< median over the repetitions
};

struct CutOutcome {
  Plan plan;
  std::string compared_with;  ///< the lane that the others are compared with; "" where none ran
  std::vector<LaneOutcome> lanes;
};

/// Teacher-forced figures of a run of sequences (arithmetic in binary64).
struct Score {
  std::int64_t positions = 0;
  std::int64_t predicted = 0;
  std::string logits_sha256;
  double nll = 0;  ///< nats, over the predicted tokens
  std::optional<double> perplexity() const;
};

struct ScoreOutcome {
  std::string lane;
  Ending ending = Ending::kNotRun;
  std::string reason;
  Score total;
  std::vector<Score> sequences;
  bool fault = false;
  bool agrees = true;
  std::optional<Divergence> divergence;
  double seconds = 0;
  std::optional<TimeClass> time_class;
  std::string time_remark;  ///< what Timing says of its seconds
  double host_seconds = 0;
  std::optional<reference::ErrorOfArithmetic> error;  ///< against binary64, with --exact
};

/// Everything that a result says.
struct Report {
  BuildFacts build;
  HostFacts host;
  std::string model;
  std::string weights_kind;
  std::string weights_sha256;
  std::map<std::string, std::string> configurations;  ///< digest by lane
  std::map<std::string, std::string> inputs;          ///< digest by cut, or of "score"
  std::map<std::string, std::string> conditions;      ///< options that bear on times: name, value
  std::vector<CutOutcome> cuts;
  std::vector<ScoreOutcome> scores;
  std::string scores_compared_with;  ///< as CutOutcome::compared_with
  bool is_score = false;
  bool with_map = false;   ///< print what lanes say of where they keep and do things
  std::string score_mode;  ///< for people: "every token one decode step", …
};

/// 0 all lanes agree, 1 a lane disagrees, 2 a lane refuses or fails.
int exit_status(const Report& report);

/// "modelled: uncalibrated, +-30 %": a time's class with what its lane says of it.
std::string time_note(TimeClass time_class, std::string_view remark);
/// The note of each lane's times, where its lane says something of them.
std::map<std::string, std::string> time_notes(const Report& report);

/// Whether the outputs of a cut are logits.
bool gives_logits(const Cut& cut);
/// Rows that a cut's time is divided into tokens by; null for parts.
std::optional<double> tokens_per_second(const Cut& cut, double seconds);

}  // namespace logos::bench
