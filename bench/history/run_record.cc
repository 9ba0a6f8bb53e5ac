#include "bench/history/run_record.h"

#include <fmt/format.h>

#include "bench/progress.h"
#include "bench/report.h"
#include "program/error.h"

namespace logos::bench {

RunRecord::RunRecord(const std::optional<std::filesystem::path>& file) {
  if (file) history_.emplace(*file, History::Open::kMake, say);
}

void RunRecord::begin(const std::string& command, const Report& report) {
  if (history_) run_ = history_->begin(command, report_json(report));
}

void RunRecord::keep(const Report& report) {
  if (!run_ || failed_) return;
  try {
    history_->keep(*run_, report_json(report), false);
  } catch (const Error& error) {
    failed_ = true;
    say(fmt::format("{} (the run goes on, and is kept at its end if it can be)", error.what()));
  }
}

void RunRecord::end(const Report& report) {
  if (!run_) return;
  history_->keep(*run_, report_json(report), true);
}

}  // namespace logos::bench
