#include "spatial/chip/critical_path.h"

#include <algorithm>

#include "program/check.h"

namespace logos::spatial {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class Walk {
 public:
  Walk(const Plan& plan, const RunReport& report) : plan_(plan), report_(report) { find_last(); }

  CriticalPath back() {
    while (time_ > 0) {
      const StepRecord& record = this->record();
      if (record.cause.sequencer >= 0 && record.cause.sent <= time_) {
        count(record, record.cause.sent);
        sequencer_ = at(record.cause.sequencer);
        record_ = at(record.cause.record);
      } else {
        count(record, std::min(time_, record.start));
        if (record_ == 0) break;
        --record_;
      }
    }
    CHECK(time_ == 0);
    return path_;
  }

 private:
  const StepRecord& record() const { return report_.traces[sequencer_].records[record_]; }
  const Stage& stage(const SequencerTrace& trace) const { return plan_.stages[at(trace.stage)]; }

  /// The first of the steps that ended last.
  void find_last() {
    time_ = report_.cycles;
    for (std::size_t s = 0; s < report_.traces.size(); ++s) {
      const SequencerTrace& trace = report_.traces[s];
      for (std::size_t r = 0; r < trace.records.size(); ++r) {
        if (trace.records[r].end != time_) continue;
        sequencer_ = s;
        record_ = r;
        return;
      }
    }
    CHECK(time_ == 0);
  }

  /// Everything from `from` on is this record's.
  void count(const StepRecord& record, Cycles from) {
    const Stage& stage = this->stage(report_.traces[sequencer_]);
    path_.by_category[static_cast<std::size_t>(record.bound)] += time_ - from;
    path_.by_line[line_of_step(plan_, stage, record.step)] += time_ - from;
    time_ = from;
  }

  const Plan& plan_;
  const RunReport& report_;
  CriticalPath path_;
  std::size_t sequencer_ = 0;
  std::size_t record_ = 0;
  Cycles time_ = 0;
};

}  // namespace

std::int32_t line_of_step(const Plan& plan, const Stage& stage, std::int32_t step) {
  while (step > 0 && stage.steps[static_cast<std::size_t>(step)].operation < 0) --step;
  const int operation = stage.steps[static_cast<std::size_t>(step)].operation;
  return operation < 0 ? 0 : plan.lines[static_cast<std::size_t>(operation)];
}

CriticalPath critical_path(const Plan& plan, const RunReport& report) {
  return Walk(plan, report).back();
}

}  // namespace logos::spatial
