#pragma once

#include <string>
#include <vector>

namespace logos::bench {

/// `bench history --history FILE …`: lists what the file holds, or prints a run as it was printed
/// then. Gives the exit status.
int history_command(const std::vector<std::string>& arguments);

/// `bench compare A B --history FILE …`: 0, or 1 where B has regressions.
int compare_command(const std::vector<std::string>& arguments);

}  // namespace logos::bench
