#pragma once

#include <string_view>

#include "bench/options.h"

namespace logos::bench {

/// What can be known before a long run: that every file can be written, that no two are the same,
/// and that the folder of artifacts is there (it is made where it is not). Throws Error.
void check_outputs(const Options& options);

/// Writes all of it to standard output. Throws Error with the cause (a closed pipe, a full disk).
void write_standard_output(std::string_view text);

}  // namespace logos::bench
