// bench with an engine whose waveform can be recorded; bench runs it where --wave is given.
#include <string>
#include <vector>

#include "bench/d5005_entry.h"
#include "bench/driver.h"
#include "program/error.h"
#include "rtl/board/wave/wave_board.h"

namespace logos::bench {
namespace {

/// The window of a run of this plan. Throws Error where no operation stands in the line asked for.
d5005::WaveWindow window_of(const Wave& wave, const d5005::Plan& plan) {
  d5005::WaveWindow window{wave.file, wave.first_cycle, wave.end_cycle, {}};
  if (!wave.line) return window;
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    if (plan.lines[i].line == *wave.line) window.operations.insert(static_cast<std::uint32_t>(i));
  }
  if (window.operations.empty()) {
    throw Error("--wave-window", "no operation of the program stands in this line",
                std::to_string(*wave.line), "a line that `program write` shows");
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

}  // namespace
}  // namespace logos::bench

int main(int argc, char** argv) {
  logos::bench::LaneTable table = logos::bench::lane_table();
  for (logos::bench::LaneKind& kind : table) {
    if (kind.name == "d5005") kind.make = logos::bench::recorded_entry;
  }
  return logos::bench::bench_main(std::vector<std::string>(argv + 1, argv + argc), table);
}
