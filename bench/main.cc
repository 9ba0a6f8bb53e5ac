#include <string>
#include <vector>

#include "bench/driver.h"

int main(int argc, char** argv) {
  return logos::bench::bench_main(std::vector<std::string>(argv + 1, argv + argc),
                                  logos::bench::lane_table());
}
