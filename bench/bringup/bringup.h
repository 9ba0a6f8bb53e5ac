#pragma once

#include <string>
#include <vector>

namespace logos::bench {

/// The program `bringup`: 0 where all rungs pass, 1 where one fails or a planted fault leaves no
/// trace, 2 for bad usage.
int bringup_main(const std::vector<std::string>& arguments);

}  // namespace logos::bench
