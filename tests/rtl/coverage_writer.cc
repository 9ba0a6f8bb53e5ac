// In coverage builds alone: what a model counted is written when the model ends, whichever test
// made it. The linker puts __wrap_… in the place of the destructor that all models have; at that
// time their counters still stand. LOGOS_COVERAGE_DIR: where the files go, `<process>.<count>.dat`.
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>

#include <cstdlib>
#include <string>

extern "C" {
void __real__ZN13VerilatedSymsD2Ev(VerilatedSyms* model);

void __wrap__ZN13VerilatedSymsD2Ev(VerilatedSyms* model) {
  static int count = 0;
  VerilatedCovContext* const counters = model->_vm_contextp__->coveragep();
  if (const char* folder = std::getenv("LOGOS_COVERAGE_DIR")) {
    const std::string file = std::string(folder) + "/" + std::to_string(getpid()) + "." +
                             std::to_string(count++) + ".dat";
    counters->write(file.c_str());
  }
  counters->clear();  // the next model of this context must not find those of one that is gone
  __real__ZN13VerilatedSymsD2Ev(model);
}
}
