#pragma once

#include "bench/options.h"

namespace logos::bench {

/// What can be known before a long run: that standard output is open and every file can be written,
/// that no two are the same and none is one that is read,
/// and that the folder of artifacts is there (it is made where it is not). Throws Error.
void check_outputs(const Options& options);

}  // namespace logos::bench
