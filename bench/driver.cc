#include "bench/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <string_view>
#include <utility>

#include "bench/default_inputs.h"
#include "bench/generate.h"
#include "bench/history/run_record.h"
#include "bench/list.h"
#include "bench/output.h"
#include "bench/page/document.h"
#include "bench/page/html_page.h"
#include "bench/plan.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/session.h"
#include "bench/subcommands.h"
#include "bench/trace.h"
#include "program/error.h"
#include "program/genuine.h"
#include "program/standard_streams.h"
#include "program/text/scanner.h"
#include "program/text_file.h"
#include "program/written.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

constexpr int kBadUsage = 2;

/// The text of --text with the facts that it states.
struct GivenText {
  std::string bytes;
  std::optional<Facts> facts;
  Identity identity;
};

GivenText read_given_text(const Options& options) {
  GivenText text;
  if (!options.text) return text;
  text.bytes = read_text_file(*options.text, kMostTextBytes);
  text.identity = genuine(text.bytes, options.text->string());
  text.facts = read_facts(text.bytes, options.text->string());
  if (options.chips && *options.chips != text.facts->chips) {
    throw Error("--chips", "not those of the text", fmt::to_string(*options.chips),
                fmt::to_string(text.facts->chips));
  }
  return text;
}

/// What --model names; a text says where its weights lie; else the embedded default.
std::string model_name(const Options& options, const GivenText& text) {
  if (!options.model.empty()) return options.model;
  if (text.facts && !text.facts->directory.empty()) return text.facts->directory;
  return std::string(kDefaultModel);
}

void check_text_model(const GivenText& text, const Model& model) {
  if (!text.facts) return;
  const Facts& facts = *text.facts;
  const Identity asked = written_split(model.spec, facts.cut, facts.chips).identity;
  if (text.identity == asked) return;
  throw Error("--text", fmt::format("another model's program than {}'s", model.name),
              text.identity.text(), asked.text());
}

/// What --generate adds to a cut: one sequence to continue, and a cache that this host can hold.
void check_generation(const Plan& plan, const Options& options, const Model& model) {
  Cut step;
  step.context = generate_work(plan, *options.generate, options.context).context;
  check_host_memory(step, model.spec, step.context, options.context ? "--context" : "--generate");
}

std::string result_text(const Report& report, Format format, bool color, std::size_t columns) {
  if (format == Format::kConsole) return report_console(report, color, columns);
  const auto json = report_json(report);
  return format == Format::kJson ? json_text(json) : report_csv(json);
}

bool all_ran(const Report& report) {
  const auto bad = [](Ending e) { return e == Ending::kRefused || e == Ending::kFailed; };
  for (const CutOutcome& cut : report.cuts) {
    for (const LaneOutcome& lane : cut.lanes) {
      if (bad(lane.ending)) return false;
    }
  }
  return std::none_of(report.scores.begin(), report.scores.end(),
                      [&](const ScoreOutcome& lane) { return bad(lane.ending); });
}

/// Writes one output; a failure is said and does not keep the others from being written.
int attempt(const std::function<void()>& write) {
  try {
    write();
    return 0;
  } catch (const Error& error) {
    say(error.what());
    return kBadUsage;
  }
}

int write_outputs(const Session& session, const Report& report, const TaskReports& reports,
                  const std::vector<std::string>& arguments) {
  const Options& options = session.options;
  int status = attempt([&] {
    write_standard_output(options.benchmark_format
                              ? reports.display
                              : result_text(report, options.format, may_color(STDOUT_FILENO),
                                            terminal_columns(STDOUT_FILENO)));
  });
  const auto take = [&](int other) { status = std::max(status, other); };
  if (options.out) {
    take(attempt(
        [&] { write_whole_file(*options.out, result_text(report, options.format, false, 0)); }));
  }
  if (options.report) {
    take(attempt([&] {
      const std::string command = command_text(arguments);
      write_whole_file(*options.report,
                       html_page(page_document(report, report_json(report), command)));
    }));
  }
  if (options.benchmark_out) {
    take(attempt([&] { write_whole_file(*options.benchmark_out, reports.file); }));
  }
  if (options.dump && all_ran(report)) {
    take(attempt([&] { write_whole_file(*options.dump, session.dumper->text()); }));
  }
  if (options.trace) {
    take(attempt([&] { write_whole_file(*options.trace, trace_json(report)); }));
  }
  return status;
}

int run(const Options& options, const LaneTable& table, const std::vector<std::string>& arguments) {
  const std::vector<LaneEntry> lanes = make_lanes(table, options);
  if (options.dump && lanes.size() != 1) {
    throw Error("--dump", "takes one lane", fmt::format("{} lanes", lanes.size()),
                "--lanes with one name");
  }
  check_outputs(options);
  RunRecord record(options.history);
  const GivenText text = read_given_text(options);
  Options with_chips = options;
  if (text.facts) with_chips.chips = text.facts->chips;
  Model model = read_model(model_name(options, text));
  check_text_model(text, model);
  std::optional<ScoreWork> score;
  std::vector<Plan> plans;
  if (options.score) {
    score = plan_score(options, model);
  } else {
    plans = plan_cuts(with_chips, model, text.facts, text.bytes);
    if (options.generate) {
      for (const Plan& plan : plans) check_generation(plan, options, model);
    }
  }
  load_weights(options, model);
  const LaneEntry reference = reference_entry();
  Session session(with_chips, model, lanes, reference);
  Report report = start_report(with_chips, model, lanes, plans);
  if (score) report.inputs["score"] = inputs_sha256(*score);
  if (!options.benchmark_list_tests) record.begin(command_text(arguments), report);
  session.after_task = [&] { record.keep(report); };
  const TaskReports reports =
      score ? run_scores(session, *score, report) : run_cuts(session, plans, report.cuts);
  session.progress.clear();
  if (reports.matched == 0) {
    const std::string& remarks = reports.remarks;
    throw Error("--benchmark_filter",
                fmt::format("matches no benchmark ({})",
                            std::string_view(remarks).substr(0, remarks.find('\n'))));
  }
  if (options.benchmark_list_tests) {
    write_standard_output(reports.display);
    return 0;
  }
  const int kept = attempt([&] { record.end(report); });
  const int written = std::max(kept, write_outputs(session, report, reports, arguments));
  return std::max(written, exit_status(report));
}

int command(const std::vector<std::string>& arguments, const LaneTable& table) {
  if (const auto status = run_subcommand(arguments, table)) return *status;
  const Parsed parsed = parse_options(arguments);
  if (parsed.usage) {
    write_standard_output(parsed.usage->text);
    return 0;
  }
  if (parsed.options->list) {
    write_standard_output(list_text(table));
    return 0;
  }
  return run(*parsed.options, table, arguments);
}

}  // namespace

int bench_main(const std::vector<std::string>& arguments, const LaneTable& table) {
  prepare_standard_streams();
  try {
    return command(arguments, table);
  } catch (const Error& error) {
    say(error.what());
  } catch (const std::bad_alloc&) {
    say("out of memory");
  } catch (const std::exception& error) {
    say(fmt::format("unexpected: {}", error.what()));
  }
  return kBadUsage;
}

}  // namespace logos::bench
