#include "bench/bringup/bringup.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "bench/bringup/bringup_options.h"
#include "bench/bringup/cut_answers.h"
#include "bench/bringup/unit_answers.h"
#include "bench/command_files.h"
#include "bench/configurations.h"
#include "bench/model.h"
#include "program/error.h"
#include "program/standard_streams.h"
#include "rtl/board/board_config.h"
#include "rtl/board/fault.h"
#include "rtl/board/sim_transport.h"
#include "rtl/bringup/answer_file.h"
#include "rtl/bringup/ladder.h"
#include "rtl/bringup/ladder_report.h"
#include "rtl/driver/opae_transport.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

using namespace d5005;  // NOLINT: this is a tool of that machine alone

constexpr int kBadUsage = 2;
constexpr std::int64_t kRows = 8;  // of the engine that is brought up
constexpr std::int64_t kMacRows = 8;
constexpr int kRandomPrograms = 8;

std::string fault_list() {
  std::string text = "faults, UNIT:KIND@CYCLE (cycles of the unit's own clock from power-up on)\n";
  for (const FaultKind& kind : fault_kinds()) {
    const std::string unit = kind.unit == "bank" ? "bank0 to bank3" : std::string(kind.unit);
    text += fmt::format("  {:<15} {:<12} {}\n", unit, kind.kind, kind.effect);
  }
  return text;
}

/// What the reference and the instruction model say.
AnswerSet compute_answers(const BringupOptions& options) {
  Model model = read_model("kjv");
  load_weights({}, model);
  const EngineSize engine = engine_size(kRows, kMacRows);
  AnswerSet set;
  set.rows = kRows;
  set.mac_rows = kMacRows;
  set.source = fmt::format("model {}, weights {}", model.name, model.weights->sha256());
  for (auto answers : {unit_answers(engine), cut_answers(model, engine, options.seed),
                       random_answers(engine, options.seed, kRandomPrograms)}) {
    std::move(answers.begin(), answers.end(), std::back_inserter(set.answers));
  }
  return set;
}

std::unique_ptr<Transport> open_board(const BringupOptions& options,
                                      const BoardParameters& parameters) {
  if (options.board == BoardKind::kOpae) return std::make_unique<OpaeTransport>(options.library);
  BoardOptions board;
  board.fill.noise = !options.fill.has_value();
  board.fill.word = options.fill.value_or(0);
  board.fill.seed = options.seed;
  for (const std::string& fault : options.faults) plant_fault(fault, board);
  auto transport = std::make_unique<SimTransport>(make_board(kRows, kMacRows, parameters, board));
  if (options.stalls) transport->disturb(*options.stalls + 1);
  return transport;
}

LadderSettings settings_of(const BringupOptions& options, const BoardParameters& parameters) {
  LadderSettings settings;
  settings.engine_mhz = parameters.clocks.engine_mhz;
  settings.bank_mhz = parameters.clocks.bank_mhz;
  settings.host_mhz = parameters.clocks.host_mhz;
  settings.super_beats = engine_size(kRows, kMacRows).super_beats;
  settings.seed = options.seed;
  settings.soak_steps = options.soak_steps;
  settings.stalls = options.stalls;
  return settings;
}

void check_outputs(const BringupOptions& options) {
  check_standard_output();
  CommandFiles files;
  std::error_code failed;
  if (options.replay_from) {
    for (const auto& entry : std::filesystem::directory_iterator(*options.replay_from, failed)) {
      files.read("--replay", entry.path());
    }
    files.keep_folder("--replay", *options.replay_from, "");
  }
  if (options.export_to) files.keep_folder("--export", *options.export_to, "");
  if (options.json) files.write("--json", *options.json);
  if (options.junit) files.write("--junit", *options.junit);
}

/// The ladder walks all address lines that the engine has.
void check_memory(const BoardParameters& parameters) {
  const std::int64_t want = engine_size(kRows, kMacRows).super_beats * 64;
  const auto got = static_cast<std::int64_t>(parameters.ddr4.bytes());
  if (got >= want) return;
  throw Error("--set board.ddr4", "a bank is smaller than the engine's address space",
              fmt::format("{} bytes", got), fmt::format("{} bytes", want));
}

/// The outputs of a run. One that cannot be written is said and keeps no other from being written.
class Outputs {
 public:
  void print(std::string_view text) {
    if (printable_) printable_ = attempt([&] { write_standard_output(text); });
  }
  void write(const std::filesystem::path& file, std::string_view bytes) {
    attempt([&] { write_whole_file(file, bytes); });
  }
  bool all_written() const { return all_written_; }

 private:
  bool attempt(const std::function<void()>& write) {
    try {
      write();
      return true;
    } catch (const Error& error) {
      write_standard_error(fmt::format("bringup: {}\n", error.what()));
      return all_written_ = false;
    }
  }

  bool printable_ = true;
  bool all_written_ = true;
};

void write_reports(const BringupOptions& options, const std::vector<RungReport>& reports,
                   const LadderContext& context, Outputs& outputs) {
  if (options.json) outputs.write(*options.json, ladder_json(reports, context).dump(2) + "\n");
  if (options.junit) outputs.write(*options.junit, ladder_junit(reports, context));
}

int climb_board(const BringupOptions& options, LadderContext& context, Outputs& outputs) {
  const BoardParameters parameters =
      load_board(configuration_file(kBoards, std::nullopt), options.board_settings);
  check_memory(parameters);
  const std::unique_ptr<Transport> board = open_board(options, parameters);
  const AnswerSet answers =
      options.replay_from ? read_answers(*options.replay_from) : compute_answers(options);
  if (options.export_to) write_answers(answers, *options.export_to);
  context.answers = answers.source;
  outputs.print(fmt::format("board {}, known answers of {}{}\n{}", context.board, context.answers,
                            context.fault.empty() ? "" : ", fault " + context.fault, table_head()));
  const auto reports = climb(*board, answers, settings_of(options, parameters),
                             [&](const RungReport& report) { outputs.print(table_lines(report)); });
  write_reports(options, reports, context, outputs);
  outputs.print(table_end(reports, context));
  if (!outputs.all_written()) return kBadUsage;
  return all_passed(reports) && !left_no_trace(reports, context) ? 0 : 1;
}

int run(const BringupOptions& options) {
  check_outputs(options);
  LadderContext context;
  context.board = options.board == BoardKind::kSim ? "sim" : "opae";
  for (const std::string& fault : options.faults) {
    context.fault += (context.fault.empty() ? "" : " ") + fault;
  }
  Outputs outputs;
  try {
    return climb_board(options, context, outputs);
  } catch (const std::exception& error) {
    // Else a report of an earlier run would stay, and pass for this one's.
    context.refused = error.what();
    write_reports(options, {}, context, outputs);
    throw;
  }
}

}  // namespace

int bringup_main(const std::vector<std::string>& arguments) {
  prepare_standard_streams();
  try {
    const BringupParsed parsed = parse_bringup_options(arguments);
    if (!parsed.options || parsed.options->list) {
      write_standard_output(parsed.options ? fault_list() : parsed.usage);
      return 0;
    }
    return run(*parsed.options);
  } catch (const Error& error) {
    write_standard_error(fmt::format("bringup: {}\n", error.what()));
  } catch (const std::exception& error) {
    write_standard_error(fmt::format("bringup: {}\n", error.what()));
  }
  return kBadUsage;
}

}  // namespace logos::bench
