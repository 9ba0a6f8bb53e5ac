#include "bench/tasks.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include "program/error.h"

namespace logos::bench {
namespace {

/// One of Google Benchmark's own reporters writing into a string, or none. (It would itself open
/// the file of --benchmark_out, and neither check it before nor write it whole.)
class Captured : public benchmark::BenchmarkReporter {
 public:
  /// `gathers`: reports all runs at once (its CSV takes the columns from the first report and
  /// aborts on a counter that comes later; lanes without cycles have none).
  Captured(std::unique_ptr<benchmark::BenchmarkReporter> inner, bool gathers)
      : inner_(std::move(inner)), gathers_(gathers) {
    SetOutputStream(&out_);
    SetErrorStream(&remarks_);
    if (!inner_) return;
    inner_->SetOutputStream(&out_);
    inner_->SetErrorStream(&remarks_);
  }

  bool ReportContext(const Context& context) override {
    return !inner_ || inner_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (gathers_) {
      gathered_.insert(gathered_.end(), runs.begin(), runs.end());
    } else if (inner_) {
      inner_->ReportRuns(runs);
    }
  }
  void Finalize() override {
    if (!gathered_.empty()) inner_->ReportRuns(gathered_);
    if (inner_) inner_->Finalize();
  }

  std::string text() const { return out_.str(); }
  std::string remarks() const { return remarks_.str(); }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> inner_;
  bool gathers_;
  std::vector<Run> gathered_;
  std::ostringstream out_;
  std::ostringstream remarks_;
};

std::unique_ptr<benchmark::BenchmarkReporter> reporter(const std::string& format) {
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  if (format == "csv") {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  }
  return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
}

/// `arguments` outlives the run: Google Benchmark keeps a pointer to the program's name.
void initialize(const Options& options, bool with_file, std::vector<std::string>& arguments) {
  arguments = {"bench"};
  arguments.insert(arguments.end(), options.benchmark_flags.begin(), options.benchmark_flags.end());
  if (options.benchmark_list_tests) arguments.emplace_back("--benchmark_list_tests=true");
  // A file reporter is only called where a file is named; ours keeps the text itself.
  if (with_file) arguments.emplace_back("--benchmark_out=/dev/null");
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::SetDefaultTimeUnit(benchmark::kMillisecond);  // --benchmark_time_unit overrides it
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) throw Error(pointers[1], "a value that Google Benchmark does not take");
}

void run_one(benchmark::State& state, const Task& task) {
  for (auto _ : state) {
    const TaskTime time = task.run();
    if (!time.error.empty()) {
      state.SkipWithError(time.error.c_str());
      break;
    }
    state.SetIterationTime(time.seconds);
    state.SetLabel(time.note);
    const auto rate = [&](const char* name, const std::optional<double>& amount) {
      if (amount && time.seconds > 0) state.counters[name] = *amount / time.seconds;
    };
    rate("tokens/s", time.tokens);
    rate("bytes/s", time.bytes);
    if (time.cycles) state.counters["cycles"] = *time.cycles;
  }
}

/// Google Benchmark prints a ratio by zero as a bare word, which no JSON reader takes.
std::string strict_json(std::string text) {
  for (const std::string_view word : {"-NaN", "NaN", "-Infinity", "Infinity", "-nan", "-inf"}) {
    const std::string bare = ": " + std::string(word);
    for (std::size_t at = text.find(bare); at != std::string::npos; at = text.find(bare, at)) {
      const std::size_t after = at + bare.size();
      const bool ends = after == text.size() || text[after] == ',' || text[after] == '\n';
      if (ends) text.replace(at, bare.size(), ": null");
      at += 2;
    }
  }
  return text;
}

}  // namespace

TaskReports run_tasks(const std::vector<Task>& tasks, const Options& options) {
  const bool with_file = options.benchmark_out.has_value();
  std::vector<std::string> arguments;
  initialize(options, with_file, arguments);
  benchmark::ClearRegisteredBenchmarks();
  for (const Task& task : tasks) {
    benchmark::RegisterBenchmark(task.name.c_str(),
                                 [&task](benchmark::State& state) { run_one(state, task); })
        ->UseManualTime()
        ->Iterations(1);
  }
  Captured display(options.benchmark_format ? reporter(*options.benchmark_format) : nullptr,
                   options.benchmark_format == "csv");
  Captured file(with_file ? reporter(options.benchmark_out_format) : nullptr,
                with_file && options.benchmark_out_format == "csv");
  TaskReports reports;
  reports.matched = benchmark::RunSpecifiedBenchmarks(&display, with_file ? &file : nullptr);
  benchmark::ClearRegisteredBenchmarks();
  reports.display = display.text();
  if (reports.matched == 0) reports.remarks = display.remarks();
  reports.file = file.text();
  if (options.benchmark_format == "json") reports.display = strict_json(reports.display);
  if (options.benchmark_out_format == "json") reports.file = strict_json(reports.file);
  return reports;
}

}  // namespace logos::bench
