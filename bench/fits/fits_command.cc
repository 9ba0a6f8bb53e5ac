#include "bench/fits/fits_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/command_files.h"
#include "bench/fits/fit.h"
#include "bench/model.h"
#include "bench/outcome.h"
#include "bench/report.h"
#include "bench/subcommands.h"
#include "bench/text_table.h"
#include "program/error.h"
#include "program/printable.h"
#include "program/standard_streams.h"
#include "program/written.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDefaultCut = "decode:1024";

std::vector<FitLane> lanes_of(const Options& options) {
  std::vector<FitLane> all = {cuda_fit(options), d5005_fit(options)};
#if LOGOS_SPATIAL
  all.push_back(spatial_fit(options));
#endif
  if (options.lanes.empty()) return all;
  std::vector<FitLane> chosen;
  for (const std::string& name : options.lanes) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const FitLane& lane) { return lane.name == name; });
    if (found == all.end()) {
      throw Error("--lanes", "no machine that fits knows", fmt::format("\"{}\"", name),
                  "cuda, d5005 or spatial (where it is built)");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json answer_json(const FitAnswer& answer, const Cut& cut) {
  Json object = {{"lane", answer.lane},
                 {"fits", answer.reason.empty()},
                 {"reason", answer.reason.empty() ? Json(nullptr) : Json(answer.reason)},
                 {"memories", Json::array()},
                 {"machines", nullptr},
                 {"chips_needed", or_null(answer.chips_needed)},
                 {"largest_context", or_null(answer.largest_context)},
                 {"largest_batch", or_null(answer.largest_batch)},
                 {"bound", nullptr},
                 {"notes", Json::array()}};
  if (!answer.fit) return object;
  const Fit& fit = *answer.fit;
  for (const MemoryUse& memory : fit.memories) {
    object["memories"].push_back({{"name", memory.name.substr(memory.name.find_first_not_of(' '))},
                                  {"unit", memory.unit},
                                  {"needed", memory.needed},
                                  {"there_is", memory.there_is}});
  }
  object["machines"] = {{"needed", fit.chips}, {"there_are", fit.chips_are}};
  if (fit.bound_seconds > 0) {
    object["bound"] = {{"name", fit.bound},
                       {"seconds", fit.bound_seconds},
                       {"tokens_per_second", or_null(tokens_per_second(cut, fit.bound_seconds))}};
  }
  for (const std::string& note : fit.notes) object["notes"].push_back(note);
  return object;
}

/// "12,345", or "4,096 or more" at the end of what is searched.
std::string largest_text(const Json& value, std::int64_t most) {
  if (value.is_null()) return "none";
  const auto number = value.get<std::int64_t>();
  return human_count(static_cast<double>(number)) + (number == most ? " or more" : "");
}

std::string amount(const Json& value, const std::string& unit) {
  const auto number = value.get<double>();
  return unit == "bytes" ? human_bytes(number) : human_count(number);
}

std::string console(const Json& fits, bool is_chunk) {
  std::string text = fmt::format("{}: {} on {} chip(s) of the program\n",
                                 escaped(fits["model"].get<std::string>()),
                                 fits["cut"].get<std::string>(), fits["chips"].get<std::int64_t>());
  for (const Json& lane : fits["lanes"]) {
    text += fmt::format(
        "\n{}: {}\n", lane["lane"].get<std::string>(),
        lane["fits"] == true ? "fits" : "does not fit: " + lane["reason"].get<std::string>());
    std::vector<std::vector<std::string>> rows;
    for (const Json& memory : lane["memories"]) {
      const std::string unit = memory["unit"].get<std::string>();
      rows.push_back({"  " + memory["name"].get<std::string>(), amount(memory["needed"], unit),
                      "of " + amount(memory["there_is"], unit)});
    }
    if (!lane["machines"].is_null()) {
      rows.push_back({"  machines", lane["machines"]["needed"].dump(),
                      "of " + lane["machines"]["there_are"].dump()});
    }
    rows.push_back({"  chips of the program needed", lane["chips_needed"].is_null()
                                                         ? "none holds it"
                                                         : lane["chips_needed"].dump()});
    rows.push_back({is_chunk ? "  largest context of a decode step" : "  largest context",
                    largest_text(lane["largest_context"], kMostContext)});
    rows.push_back({"  largest batch", largest_text(lane["largest_batch"], kMostBatch)});
    if (!lane["bound"].is_null()) {
      const Json& bound = lane["bound"];
      const Json& tokens = bound["tokens_per_second"];
      rows.push_back({"  bound by " + bound["name"].get<std::string>(),
                      human_seconds(bound["seconds"].get<double>()),
                      tokens.is_null()
                          ? ""
                          : fmt::format("at most {} tokens/s", human_count(tokens.get<double>()))});
    }
    text += text_table(rows);
    for (const Json& note : lane["notes"]) text += fmt::format("  {}\n", note.get<std::string>());
  }
  return text;
}

std::string csv(const Json& fits) {
  std::vector<std::vector<std::string>> rows = {
      {"model", "cut", "chips", "lane", "fits", "reason", "chips_needed", "largest_context",
       "largest_batch", "searched_context", "searched_batch", "machines_needed",
       "machines_there_are", "bound", "bound_seconds", "bound_tokens_per_second"}};
  const auto text = [](const Json& value) {
    if (value.is_null()) return std::string();
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  for (const Json& lane : fits["lanes"]) {
    const auto or_none = [](const Json& part) { return part.is_null() ? Json::object() : part; };
    const Json bound = or_none(lane["bound"]);
    const Json machines = or_none(lane["machines"]);
    rows.push_back({text(fits["model"]), text(fits["cut"]), text(fits["chips"]), text(lane["lane"]),
                    text(lane["fits"]), text(lane["reason"]), text(lane["chips_needed"]),
                    text(lane["largest_context"]), text(lane["largest_batch"]),
                    text(fits["searched"]["context"]), text(fits["searched"]["batch"]),
                    text(machines.value("needed", Json(nullptr))),
                    text(machines.value("there_are", Json(nullptr))),
                    text(bound.value("name", Json(nullptr))),
                    text(bound.value("seconds", Json(nullptr))),
                    text(bound.value("tokens_per_second", Json(nullptr)))});
  }
  return csv_table(rows);
}

/// The options of a run, of which there is none here.
void refuse_options(const Options& options) {
  const auto refuse = [](bool given, std::string_view option) {
    if (given) throw Error(option, "not of fits: nothing is run");
  };
  const std::string_view of_one_run = option_of_one_run(options);
  refuse(!of_one_run.empty(), of_one_run);
  refuse(options.tokens.has_value(), "--tokens");
  refuse(options.prompt.has_value(), "--prompt");
  refuse(options.position.has_value(), "--position");
  refuse(options.report.has_value(), "--report");
  refuse(options.history.has_value(), "--history");
  refuse(!options.faults.empty(), "--fault");
  refuse(options.exact, "--exact");
  refuse(options.stalls.has_value(), "--stalls");
  refuse(options.fill.has_value(), "--fill");
  refuse(options.cycle_limit.has_value(), "--cycle-limit");
  refuse(options.map, "--map");
}

Options parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> with = arguments;
  const bool has_cut = std::any_of(with.begin(), with.end(), [](const std::string& argument) {
    return argument == "--cut" || argument.starts_with("--cut=");
  });
  if (!has_cut) with.insert(with.end(), {"--cut", std::string(kDefaultCut)});
  const Parsed parsed = parse_options(with);
  if (!parsed.options) throw Error("fits", "--version is of no use here");
  if (parsed.options->cuts.size() != 1) {
    throw Error("fits: --cut", "takes one cut", fmt::format("{} cuts", parsed.options->cuts.size()),
                "1");
  }
  Options options = *parsed.options;
  Cut& cut = options.cuts.front();
  if (options.context && !has_cut) cut = Cut::parse(fmt::format("decode:{}", *options.context));
  if (options.context && *options.context != cut.context) {
    if (cut.context == 0) throw Error("--context", "fits takes it in a cut's place: decode:N");
    throw Error("--context", fmt::format("{} states its own context", cut.text()),
                fmt::to_string(*options.context), fmt::to_string(cut.context));
  }
  refuse_options(options);
  return options;
}

constexpr std::string_view kUsage =
    "Says what each machine needs for a model and what it can hold, before anything is simulated.\n"
    "Usage: bench fits [OPTIONS]\n\n"
    "  --model MODEL       as in a run (kjv)\n"
    "  --cut CUT           what is asked for (decode:1024)\n"
    "  --context N         decode:N where no cut is given\n"
    "  --chips N           chips of the program (1)\n"
    "  --lanes LANES       cuda, d5005, spatial; all when left out\n"
    "  --gpu, --board, --engine-rows, --chip-config, --set   as in a run\n"
    "  --format FORMAT     console, json or csv\n"
    "  --out FILE          write the result to a file too\n"
    "Exit status: 0 the cut fits all machines asked for, 2 it does not, or bad usage.\n";

}  // namespace

int fits_command(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument != "--help" && argument != "-h") continue;
    write_standard_output(kUsage);
    return 0;
  }
  const Options options = parse(arguments);
  check_standard_output();
  CommandFiles files;
  files.read_inputs(options);
  if (options.out) files.write("--out", *options.out);
  const std::vector<FitLane> lanes = lanes_of(options);
  const Model model = read_model(options.model.empty() ? kDefaultModel : options.model);
  const Cut& cut = options.cuts.front();
  const std::int64_t chips = options.chips.value_or(1);
  // Refuses what no machine could be asked: a layer past the last, more chips than heads.
  written_split(model.spec, cut, chips);
  Json fits = {{"model", model.name},
               {"cut", cut.text()},
               {"chips", chips},
               {"trained_positions", model.trained_positions},
               {"searched", {{"context", kMostContext}, {"batch", kMostBatch}}},
               {"lanes", Json::array()}};
  bool all = true;
  for (const FitLane& lane : lanes) {
    const FitAnswer answer = answer_of(lane, model.spec, cut, chips);
    all = all && answer.reason.empty();
    fits["lanes"].push_back(answer_json(answer, cut));
  }
  const std::string text = options.format == Format::kJson ? json_text(fits)
                           : options.format == Format::kCsv
                               ? csv(fits)
                               : console(fits, cut.work == Cut::Work::kPrefill);
  write_result(text, options.out ? options.out->string() : "");
  return all ? 0 : 2;
}

}  // namespace logos::bench
