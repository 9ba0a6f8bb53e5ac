#pragma once

#include <string>

#include "bench/options.h"

namespace logos::bench {

/// Takes one of Google Benchmark's flags of this build into the options. It ends the process
/// itself, with status 0, on a flag that it does not know: hence the check here. Throws Error.
void take_benchmark_flag(const std::string& argument, Options& options);

}  // namespace logos::bench
