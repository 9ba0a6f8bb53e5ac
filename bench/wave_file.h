#pragma once

#include <filesystem>

namespace logos::bench {

/// Throws Error where a waveform (FST) is not whole: its blocks do not add up to the file, one that
/// every waveform has is missing, or the disk has no room left. The writer itself tells nobody what
/// it could not write. Else says whether it holds more than one moment.
bool check_wave_file(const std::filesystem::path& file);

/// Removes what a writer that was ended left: the file beside that it writes first, and the
/// waveform where it is not whole.
void remove_broken_wave(const std::filesystem::path& file);

}  // namespace logos::bench
