#include "cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace logos::cuda {
namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

template <typename Function>
void find(void* library, const std::string& name, const char* symbol, Function*& function) {
  void* address = dlsym(library, symbol);
  if (address == nullptr) {
    throw DeviceError(fmt::format("{}: too old or damaged: no {}", name, symbol));
  }
  function = reinterpret_cast<Function*>(address);
}

}  // namespace

Driver::Driver(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW)) {
  if (library_ == nullptr) throw DeviceError(fmt::format("no CUDA driver: {}", loader_error()));
#define LOGOS_DRIVER_FIND(symbol, member, parameters) find(library_, library, #symbol, member);
  LOGOS_DRIVER_FUNCTIONS(LOGOS_DRIVER_FIND)
#undef LOGOS_DRIVER_FIND
}

void Driver::check(driver::Result result, const char* call) const {
  if (result == driver::kSuccess) return;
  const char* text = nullptr;
  if (get_error_string(result, &text) != driver::kSuccess || text == nullptr) text = "unknown";
  throw DeviceError(fmt::format("{}: error {} ({})", call, result, text));
}

}  // namespace logos::cuda
