#pragma once

#include <string>
#include <vector>

namespace logos::bench {

/// `bench fits --model M [--cut CUT] …`: what each machine needs for a model and what it can hold,
/// before anything is simulated and without its weights. 0 where the cut fits all machines asked
/// for, else 2.
int fits_command(const std::vector<std::string>& arguments);

}  // namespace logos::bench
