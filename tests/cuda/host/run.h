#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cuda/host/executor.h"

namespace logos::cuda {

/// Runs a lambda as a kernel.
template <typename Body>
Counters run(host::Executor& executor, const LaunchShape& shape, const Body& body,
             bool early_exit = false) {
  return executor.run(
      "test", shape, [](const void* b) { (*static_cast<const Body*>(b))(); }, &body, early_exit);
}

/// What the fault of a lambda as a kernel says; "" where it has none.
template <typename Body>
std::string fault_of(const LaunchShape& shape, const Body& body, bool early_exit = false) {
  host::Executor executor;
  try {
    run(executor, shape, body, early_exit);
  } catch (const host::KernelFault& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace logos::cuda
