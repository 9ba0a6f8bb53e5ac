// bench with an engine whose waveform can be recorded; bench runs it where --wave is given.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/d5005_entry.h"
#include "bench/driver.h"
#include "bench/progress.h"
#include "bench/wave_file.h"
#include "program/error.h"
#include "program/standard_streams.h"
#include "rtl/board/wave/wave_board.h"
#include "rtl/lowering/instruction.h"

namespace logos::bench {
namespace {

constexpr int kFailed = 2;

/// The window of a run of this plan. Throws Error where no instruction of the board recorded, which
/// is the first, comes from the line asked for: the engine may do its work within another's.
d5005::WaveWindow window_of(const Wave& wave, const d5005::Plan& plan) {
  d5005::WaveWindow window{wave.file, wave.first_cycle, wave.end_cycle, {}};
  if (!wave.line) return window;
  std::set<std::int64_t> lines;
  for (const d5005::Instruction& instruction : plan.boards.front().program) {
    if (static_cast<d5005::Op>(instruction.op) == d5005::Op::kEnd) continue;
    const std::int64_t line = plan.lines[instruction.line].line;
    lines.insert(line);
    if (line == *wave.line) window.operations.insert(instruction.line);
  }
  if (window.operations.empty()) {
    throw Error("--wave-window", "no instruction of the engine comes from this line",
                std::to_string(*wave.line),
                fmt::format("one of the lines {}", fmt::join(lines, ", ")));
  }
  return window;
}

LaneEntry recorded_entry(const Options& options) {
  d5005::D5005LaneOptions lane;
  if (options.wave) {
    lane.make_first = [wave = *options.wave](const d5005::Plan& plan,
                                             const d5005::D5005Config& config,
                                             const d5005::BoardOptions& board) {
      return d5005::make_wave_board(config.rows, config.mac_rows, config.board, board,
                                    window_of(wave, plan));
    };
  }
  return d5005_entry(options, std::move(lane));
}

int run(const std::vector<std::string>& arguments) {
  LaneTable table = lane_table();
  for (LaneKind& kind : table) {
    if (kind.name == "d5005") kind.make = recorded_entry;
  }
  return bench_main(arguments, table);
}

/// Where the waveform goes; null where the command line asks for none or is at fault.
std::optional<std::filesystem::path> wave_place(const std::vector<std::string>& arguments) {
  try {
    const Parsed parsed = parse_options(arguments);
    if (parsed.options && parsed.options->wave) return parsed.options->wave->file;
  } catch (const Error&) {  // the run says it
  }
  return std::nullopt;
}

/// The writer of waveforms neither looks at what it could not write nor survives a full disk, which
/// ends it by SIGBUS in a mapped file: so it runs in a process of its own.
int run_watched(const std::vector<std::string>& arguments, const std::filesystem::path& wave) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Error("--wave", fmt::format("no process: {}", std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kFailed);
    std::exit(run(arguments));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    remove_broken_wave(wave);
    const int signal = WTERMSIG(status);
    throw Error(
        wave.string(),
        fmt::format("the run that writes the waveform was ended by signal {} ({}){}", signal,
                    ::strsignal(signal), signal == SIGBUS ? ": is the disk full?" : ""));
  }
  std::error_code failed;
  if (WEXITSTATUS(status) != kFailed && std::filesystem::exists(wave, failed) &&
      !check_wave_file(wave)) {
    say(fmt::format("{}: holds nothing: the run has no cycle in the window", wave.string()));
  }
  return WEXITSTATUS(status);
}

}  // namespace
}  // namespace logos::bench

int main(int argc, char** argv) {
  using namespace logos::bench;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto wave = wave_place(arguments);
  if (!wave) return run(arguments);
  logos::prepare_standard_streams();
  try {
    return run_watched(arguments, *wave);
  } catch (const logos::Error& error) {
    say(error.what());
    return kFailed;
  }
}
