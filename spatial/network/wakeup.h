#pragma once

#include <functional>
#include <memory>

#include "spatial/network/network.h"

namespace logos::spatial {

/// A process of SystemC's kernel that runs `body` at the cycles asked for; one tick of the kernel's
/// time is one cycle. It is spawned, so it may be made before, between and inside runs of the
/// kernel, and ends with this object.
class Wakeup {
 public:
  explicit Wakeup(std::function<void()> body);
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Runs the body at cycle `when`, now or later, unless it is to run earlier; it then asks again
  /// for what it still wants. At most one call is pending.
  void at(Cycles when);

  static Cycles now();

 private:
  struct Process;
  std::unique_ptr<Process> process_;
};

/// Runs the kernel until no process has anything left to do.
void simulate();

}  // namespace logos::spatial
