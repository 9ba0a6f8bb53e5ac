#include <string>
#include <vector>

#include "bench/bringup/bringup.h"

int main(int argc, char** argv) {
  return logos::bench::bringup_main(std::vector<std::string>(argv + 1, argv + argc));
}
