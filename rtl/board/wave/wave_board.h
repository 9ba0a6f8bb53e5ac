#pragma once

#include <memory>

#include "rtl/board/board.h"
#include "rtl/board/wave_window.h"

namespace logos::d5005 {

/// A board with the engine of 8/8 rows that writes an FST waveform of the window (format of
/// GTKWave; times in picoseconds since power-up). Throws Error for another size and where the file
/// cannot be written. A build of its own: an engine that can be traced takes a minute more to
/// compile, and runs 300 times slower while it is.
std::unique_ptr<Board> make_wave_board(std::int64_t rows, std::int64_t mac_rows,
                                       const BoardParameters& parameters,
                                       const BoardOptions& options, const WaveWindow& window);

}  // namespace logos::d5005
