#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/bringup/cut_answers.h"
#include "bench/bringup/unit_answers.h"
#include "bench/model.h"
#include "rtl/board/board_config.h"
#include "rtl/board/fault.h"
#include "rtl/board/sim_transport.h"
#include "rtl/bringup/ladder.h"

namespace logos::d5005 {

/// The known answers of the embedded model, computed once a process.
inline const AnswerSet& known_answers() {
  static const AnswerSet set = [] {
    bench::Model model = bench::read_model("kjv");
    bench::load_weights({}, model);
    const EngineSize engine = engine_size(8, 8);
    AnswerSet made{8, 8, "kjv", unit_answers(engine)};
    for (KnownAnswer& answer : cut_answers(model, engine, 1)) made.answers.push_back(answer);
    for (KnownAnswer& answer : random_answers(engine, 1, 4)) made.answers.push_back(answer);
    return made;
  }();
  return set;
}

/// Those of the units alone, for a ladder that ends below rung 7.
inline const AnswerSet& unit_answers_alone() {
  static const AnswerSet set{8, 8, "units", unit_answers(engine_size(8, 8))};
  return set;
}

inline BoardParameters ladder_board() {
  return load_board(LOGOS_SOURCE_DIR "/configs/boards/d5005.json", {});
}

inline LadderSettings ladder_settings(int soak_steps) {
  LadderSettings settings;
  settings.super_beats = std::int64_t{1} << 27;
  settings.soak_steps = soak_steps;
  settings.watchdog_cycles = 30'000;
  return settings;
}

/// The ladder on a simulated board with a fault ("": none).
inline std::vector<RungReport> climb_with(const std::string& fault,
                                          const AnswerSet& answers = known_answers()) {
  BoardOptions options;
  options.fill.noise = true;
  if (!fault.empty()) plant_fault(fault, options);
  SimTransport board(make_board(8, 8, ladder_board(), options));
  return climb(board, answers, ladder_settings(6), [](const RungReport&) {});
}

/// The rung that failed, 0 where none did; all below it passed, none above it was run.
inline int failed_rung(const std::vector<RungReport>& reports) {
  int failed = 0;
  for (const RungReport& report : reports) {
    const RungStatus want = failed == 0 ? RungStatus::kPassed : RungStatus::kNotRun;
    if (report.status == want) continue;
    if (failed != 0 || report.status != RungStatus::kFailed) return -1;
    failed = report.number;
  }
  return failed;
}

}  // namespace logos::d5005
