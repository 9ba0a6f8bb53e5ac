#include "bench/sweep/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/option_values.h"
#include "bench/subcommands.h"
#include "program/error.h"

namespace logos::bench {
namespace {

/// What CLI11 fills in.
struct Raw {
  std::vector<std::string> cuts, chips, engine_rows, varied;
  std::string format, history, out, report;
};

void declare(CLI::App& app, Raw& raw) {
  const auto list = [&](const char* option, std::vector<std::string>& into, const char* help) {
    app.add_option(option, into, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  list("--cut", raw.cuts,
       "cuts with commas; {A..B}, {A..B+STEP} and {A..B*FACTOR} stand for numbers: "
       "'decode:{128..8192*2}'");
  list("--chips", raw.chips, "numbers of chips with commas");
  list("--engine-rows", raw.engine_rows, "ROWS[/MAC_ROWS] of the decode engine with commas");
  list("--vary", raw.varied,
       "chip.KEY=V,V…, board.SECTION.KEY=V,V… or gpu.KEY=V,V…: a parameter and its values; may be "
       "given several times");
  app.add_option("--history", raw.history,
                 "keep every point in this SQLite file; what it holds of this sweep is not run "
                 "again");
  app.add_option("--format", raw.format, "console, json or csv");
  app.add_option("--out", raw.out, "write the result to a file too");
  app.add_option("--report", raw.report, "write an HTML page with the curves");
  app.allow_extras();
  app.footer(
      "All other options are those of a run (bench --help) and hold for every point.\n"
      "Processes that mpirun or a Slurm job array started share the points out (docs/sweep.md).");
}

void add_axis(Axis axis, std::vector<Axis>& axes) {
  if (axis.values.empty()) return;
  const bool known = std::any_of(axes.begin(), axes.end(),
                                 [&](const Axis& other) { return other.name == axis.name; });
  if (known) throw Error("--vary", fmt::format("{} is varied twice", axis.name));
  axes.push_back(std::move(axis));
}

std::vector<Axis> axes_of(const Raw& raw) {
  std::vector<Axis> axes;
  add_axis(axis_of("cut", "--cut", raw.cuts), axes);
  if (axes.empty()) {
    throw Error("--cut", "missing: say what to sweep over, for example 'decode:{128..8192*2}'");
  }
  add_axis(axis_of("chips", "--chips", raw.chips), axes);
  add_axis(axis_of("engine_rows", "--engine-rows", raw.engine_rows), axes);
  for (const std::string& varied : raw.varied) {
    const std::size_t equals = varied.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == varied.size()) {
      throw Error("--vary", "no parameter with its values", fmt::format("\"{}\"", varied),
                  "chip.KEY=V,V…, board.SECTION.KEY=V,V… or gpu.KEY=V,V…");
    }
    add_axis(axis_of(varied.substr(0, equals), "--vary", {varied.substr(equals + 1)}), axes);
  }
  return axes;
}

/// The options of a run that give no point: what would be overwritten by the next, is not of cuts,
/// or is the sweep's own.
void refuse_options(const Options& options) {
  const std::string_view option = option_of_one_run(options);
  if (!option.empty()) throw Error(option, "not in a sweep: it is of one run");
}

std::vector<std::string> arguments_of(const std::vector<Axis>& axes,
                                      const std::vector<std::string>& values,
                                      std::vector<std::string> arguments) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& name = axes[i].name;
    const bool is_own = name == "cut" || name == "chips";
    if (is_own) {
      arguments.insert(arguments.end(), {"--" + name, values[i]});
    } else if (name == "engine_rows") {
      arguments.insert(arguments.end(), {"--engine-rows", values[i]});
    } else {
      arguments.insert(arguments.end(), {"--set", fmt::format("{}={}", name, values[i])});
    }
  }
  return arguments;
}

PointOptions point_of(const SweepOptions& sweep, std::vector<std::string> values) {
  try {
    const Parsed parsed = parse_options(arguments_of(sweep.axes, values, sweep.rest));
    if (!parsed.options) throw Error("sweep", "--version is of no sweep");
    refuse_options(*parsed.options);
    return {std::move(values), *parsed.options};
  } catch (const Error& error) {
    throw Error(fmt::format("sweep at {}", point_text(sweep.axes, values)), error.what());
  }
}

}  // namespace

std::string point_text(const std::vector<Axis>& axes, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", axes[i].name, values[i]);
  }
  return text;
}

std::optional<SweepOptions> parse_sweep(const std::vector<std::string>& arguments) {
  CLI::App app("Runs the product of lists of cuts and of the machines' parameters.", "bench sweep");
  Raw raw;
  declare(app, raw);
  if (parse_subcommand(app, arguments)) return std::nullopt;
  SweepOptions sweep;
  sweep.axes = axes_of(raw);
  sweep.rest = app.remaining();
  if (!raw.format.empty()) sweep.format = parse_format(raw.format);
  sweep.history = raw.history;
  sweep.out = raw.out;
  sweep.report = raw.report;
  for (auto& values : product_of(sweep.axes)) {
    sweep.points.push_back(point_of(sweep, std::move(values)));
  }
  return sweep;
}

}  // namespace logos::bench
