#include "bench/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "bench/benchmark_flags.h"
#include "bench/context.h"
#include "bench/option_values.h"
#include "bench/progress.h"
#include "program/error.h"

namespace logos::bench {
namespace {

/// What CLI11 fills in; numbers are read here so that every message has one form.
struct Raw {
  std::vector<std::string> cuts, lanes, settings, faults;
  std::string weights, chips, context, position, generate, chunk, batch, format, fill, stalls,
      cycle_limit, threads, tokens, prompt, text, out, dump, trace, report, history, artifacts, gpu,
      board, engine_rows, chip, wave, wave_window;
  bool version = false;
};

void declare(CLI::App& app, Raw& raw, Options& options) {
  app.set_help_flag("-h,--help", "print this and end");
  app.add_flag("--version", raw.version, "print the version and end");
  const std::string work = "What runs";
  app.add_option("--cut", raw.cuts,
                 "decode:CTX, prefill:ROWS, batch:ROWSxCTX, or layer:N@…, embedding@…, head@… of "
                 "one; several with commas")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(work);
  app.add_option(
         "--text", raw.text,
         "run this LOGOS text; it must be genuine. It carries no cache: that is filled as by "
         "default")
      ->group(work);
  app.add_option("--model", options.model,
                 "kjv (the default), a preset, a model directory or a GGUF file")
      ->group(work);
  app.add_option("--weights", raw.weights, "synthetic:SEED instead of the model's own")
      ->group(work);
  app.add_option("--lanes", raw.lanes, "lanes with commas; all that are built when left out")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(work);
  app.add_option("--chips", raw.chips, "chips that a cut is split over (1)")->group(work);
  const std::string inputs = "Inputs";
  app.add_option("--tokens", raw.tokens,
                 "ids (from 0) with commas, or @FILE: separated by white space, one sequence a "
                 "line. CTX for a step: the last is its own, those before fill the cache; ROWS for "
                 "a chunk")
      ->group(inputs);
  app.add_option("--prompt", raw.prompt, "text for a model whose tokens are bytes")->group(inputs);
  app.add_option("--position", raw.position,
                 "of the step or the chunk's first token, from 1; a step sees the ids before it, a "
                 "chunk the default ones")
      ->group(inputs);
  app.add_option("--context", raw.context, "cache positions of a chunk, --score or --generate")
      ->group(inputs);
  app.add_option("--generate", raw.generate, "then N tokens, each the most likely one")
      ->group(inputs);
  app.add_flag("--score", options.score, "teacher-forced: digest, likelihood and perplexity")
      ->group(inputs);
  app.add_option("--chunk", raw.chunk, "--score in chunks of N tokens")->group(inputs);
  app.add_option("--batch", raw.batch, "--score with N sequences together")->group(inputs);
  const std::string outputs = "Outputs";
  app.add_option("--format", raw.format, "console, json or csv")->group(outputs);
  app.add_option("--out", raw.out, "write the result to a file too")->group(outputs);
  app.add_option("--dump", raw.dump, "write every operation of the one lane as JSON lines")
      ->group(outputs);
  app.add_option("--trace", raw.trace, "write what ran when, for Perfetto or Chrome")
      ->group(outputs);
  app.add_option("--report", raw.report, "write an HTML page that needs nothing else")
      ->group(outputs);
  app.add_option("--history", raw.history, "keep every result in this SQLite file")->group(outputs);
  app.add_option("--artifacts", raw.artifacts, "folder where lowered cuts are kept and reused")
      ->group(outputs);
  app.add_flag("--list", options.list, "cuts, models, presets, lanes, configurations")
      ->group(outputs);
  const std::string machines = "Machines";
  app.add_option("--gpu", raw.gpu, "configuration of the time model: FILE, or NAME of --list")
      ->group(machines);
  app.add_option("--board", raw.board, "configuration of the lane d5005: FILE, or NAME of --list")
      ->group(machines);
  app.add_option("--engine-rows", raw.engine_rows,
                 "ROWS[/MAC_ROWS] of the decode engine: 1, 8 (the default), 16, 32/16")
      ->group(machines);
  app.add_option("--chip-config", raw.chip,
                 "configuration of the lane spatial: FILE, or NAME of --list")
      ->group(machines);
  app.add_option("--fault", raw.faults, "plant UNIT:KIND@CYCLE in the lane of that unit (--list)")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(machines);
  app.add_option("--wave", raw.wave, "write the engine's waveform (FST) of one cut")
      ->group(machines);
  app.add_option("--wave-window", raw.wave_window,
                 "cycles A:B of it, or line:N of the program (0:10000)")
      ->group(machines);
  app.add_option("--set", raw.settings,
                 "gpu.KEY=VALUE, board.SECTION.KEY=VALUE or chip.KEY=VALUE over a configuration")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(machines);
  app.add_flag("--map", options.map,
               "also the spatial chip's map: programs, busy tiles and links, lines")
      ->group(machines);
  app.add_flag("--exact", options.exact, "also the error against binary64")->group(machines);
  app.add_option("--threads", raw.threads, "host threads of the reference (1)")->group(machines);
  app.add_option("--stalls", raw.stalls, "seed of random stalls and thread orders")
      ->group(machines);
  app.add_option("--fill", raw.fill, "what unused memory holds: 0xNN or 0xNNNNNNNN")
      ->group(machines);
  app.add_option("--cycle-limit", raw.cycle_limit, "more cycles than this are an error")
      ->group(machines);
  app.footer(
      "Flags of Google Benchmark (--benchmark_filter=…, --benchmark_repetitions=…, …) pass "
      "through.\nExit status: 0 all lanes agree, 1 one disagrees, 2 bad usage or input, or "
      "a lane that\nrefuses, fails or is not built.");
}

void take_numbers(const Raw& raw, Options& options) {
  const auto counted = [](std::string_view option, const std::string& text,
                          std::optional<std::int64_t>& value) {
    if (!text.empty()) value = number<std::int64_t>(option, text, 1);
  };
  counted("--chips", raw.chips, options.chips);
  counted("--context", raw.context, options.context);
  counted("--position", raw.position, options.position);
  counted("--generate", raw.generate, options.generate);
  counted("--chunk", raw.chunk, options.chunk);
  counted("--batch", raw.batch, options.batch);
  if (!raw.stalls.empty()) options.stalls = number<std::uint64_t>("--stalls", raw.stalls, 0);
  if (!raw.cycle_limit.empty()) {
    options.cycle_limit = number<std::uint64_t>("--cycle-limit", raw.cycle_limit, 1);
  }
  if (!raw.threads.empty()) {
    options.threads = number<int>("--threads", raw.threads, 1);
    if (options.threads > 1024) {
      throw Error("--threads", "too many", raw.threads, "1 to 1024");
    }
  }
}

void take(const CLI::App& app, const Raw& raw, Options& options) {
  const auto given = [&](const char* name) { return app.get_option(name)->count() > 0; };
  for (const char* name :
       {"--chips",  "--context",     "--position", "--generate",    "--chunk",      "--batch",
        "--stalls", "--cycle-limit", "--threads",  "--out",         "--dump",       "--trace",
        "--report", "--history",     "--gpu",      "--artifacts",   "--text",       "--model",
        "--tokens", "--fill",        "--board",    "--chip-config", "--engine-rows"}) {
    if (given(name) && app.get_option(name)->results().front().empty()) {
      throw Error(name, "an empty value");
    }
  }
  for (const std::string& cut : items("--cut", raw.cuts)) options.cuts.push_back(Cut::parse(cut));
  options.lanes = items("--lanes", raw.lanes);
  take_numbers(raw, options);
  if (given("--weights")) options.synthetic_seed = parse_weights(raw.weights);
  if (given("--fill")) options.fill = parse_fill(raw.fill);
  if (given("--format")) options.format = parse_format(raw.format);
  if (given("--tokens")) options.tokens = raw.tokens;
  if (given("--prompt")) options.prompt = raw.prompt;
  if (given("--text")) options.text = raw.text;
  if (given("--out")) options.out = raw.out;
  if (given("--dump")) options.dump = raw.dump;
  if (given("--trace")) options.trace = raw.trace;
  if (given("--report")) options.report = raw.report;
  if (given("--history")) options.history = raw.history;
  if (given("--artifacts")) options.artifacts = raw.artifacts;
  if (given("--gpu")) options.gpu = raw.gpu;
  if (given("--board")) options.board = raw.board;
  if (given("--chip-config")) options.chip = raw.chip;
  options.faults = items("--fault", raw.faults);
  if (given("--wave")) {
    if (raw.wave.empty()) throw Error("--wave", "no name of a file");
    options.wave.emplace().file = raw.wave;
  }
  if (given("--wave-window")) {
    if (!options.wave) throw Error("--wave-window", "only with --wave");
    parse_window(raw.wave_window, *options.wave);
  }
  if (given("--engine-rows")) options.engine_rows = parse_engine_rows(raw.engine_rows);
  for (const std::string& setting : raw.settings) parse_set(setting, options);
}

void refuse_together(bool both, std::string_view first, std::string_view second) {
  if (both) throw Error(first, fmt::format("cannot be given together with {}", second));
}

void check_combinations(const Options& options) {
  if (options.list) return;
  refuse_together(options.tokens && options.prompt, "--tokens", "--prompt");
  refuse_together(options.text && !options.cuts.empty(), "--text", "--cut");
  refuse_together(options.chunk && options.batch, "--chunk", "--batch");
  refuse_together(options.benchmark_format && options.format != Format::kConsole,
                  "--benchmark_format", "--format");
  if (options.wave && options.cuts.size() + (options.text ? 1 : 0) != 1) {
    throw Error("--wave", "takes one cut", fmt::format("{} cuts", options.cuts.size()), "1");
  }
  if (!options.score && options.chunk) throw Error("--chunk", "only with --score");
  if (!options.score && options.batch) throw Error("--batch", "only with --score");
  if (options.score) {
    refuse_together(!options.cuts.empty(), "--score", "--cut");
    refuse_together(options.text.has_value(), "--score", "--text");
    refuse_together(options.generate.has_value(), "--score", "--generate");
    refuse_together(options.position.has_value(), "--score", "--position");
    refuse_together(options.trace.has_value(), "--score", "--trace");
    if (!options.tokens && !options.prompt) {
      throw Error("--score", "needs the tokens to score: --tokens or --prompt");
    }
    return;
  }
  if (options.cuts.empty() && !options.text &&
      !(options.generate && (options.tokens || options.prompt))) {
    throw Error("--cut",
                "missing: say what to run, for example --cut prefill:256 (or --text, "
                "--score, --list; --help shows all)");
  }
}

}  // namespace

std::string_view option_of_one_run(const Options& options) {
  const auto is_filter = [](const std::string& flag) {
    return flag.starts_with("--benchmark_filter");
  };
  const std::vector<std::string>& flags = options.benchmark_flags;
  const std::pair<bool, std::string_view> given[] = {
      {options.generate.has_value(), "--generate"},
      {options.text.has_value(), "--text"},
      {options.score, "--score"},
      {options.dump.has_value(), "--dump"},
      {options.trace.has_value(), "--trace"},
      {options.artifacts.has_value(), "--artifacts"},
      {options.wave.has_value(), "--wave"},
      {options.list, "--list"},
      {options.benchmark_out.has_value(), "--benchmark_out"},
      {options.benchmark_format.has_value(), "--benchmark_format"},
      {options.benchmark_list_tests, "--benchmark_list_tests"},
      {std::any_of(flags.begin(), flags.end(), is_filter), "--benchmark_filter"},
  };
  for (const auto& [is_given, option] : given) {
    if (is_given) return option;
  }
  return "";
}

void say_once(const Options& options, const std::string& remark) {
  if (!options.said || options.said->insert(remark).second) say(remark);
}

Parsed parse_options(const std::vector<std::string>& arguments) {
  Options options;
  Raw raw;
  std::vector<std::string> ours;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--benchmark_") || argument.starts_with("--v=")) {
      take_benchmark_flag(argument, options);
      continue;
    }
    ours.push_back(argument);
  }
  CLI::App app(
      "Runs cuts of a language model on several machines and compares them bit for bit.\n"
      "Besides, each with its own --help: bench history, bench compare (runs that were kept), "
      "bench sweep (curves), bench fits (what a machine can hold).",
      "bench");
  declare(app, raw, options);
  try {
    std::vector<std::string> reversed(ours.rbegin(), ours.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, Usage{app.help()}};
  } catch (const CLI::ParseError& error) {
    throw Error("command line", error.what());
  }
  if (raw.version) return {std::nullopt, Usage{version_text()}};
  take(app, raw, options);
  check_combinations(options);
  return {options, std::nullopt};
}

}  // namespace logos::bench
