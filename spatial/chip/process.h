#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "spatial/network/network.h"

namespace logos::spatial {

/// Threads of SystemC's kernel, kept for the processes of later runs: the host needs longer to make
/// and free their stacks than to simulate a step of a small model.
class Threads {
 public:
  Threads();
  ~Threads();  ///< like `reserve` between runs of the kernel, when no process is left
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Between runs of the kernel: so many threads lie ready.
  void reserve(std::size_t count);

 private:
  friend class Process;
  struct Thread;

  std::vector<std::unique_ptr<Thread>> idle_;  ///< each in its wait for a body
};

/// What runs in such a thread. It can be told to end wherever it stands: then its waits throw
/// `Stopped`, which unwinds its body.
class Process {
 public:
  struct Stopped {};

  /// The body runs from the kernel's next run on. It must let nothing but Stopped out.
  Process(Threads& threads, std::function<void()> body);
  ~Process();  ///< stops what has not ended: between runs of the kernel
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // From its own body.
  void pause(Cycles cycles);  ///< goes on after so many cycles
  void sleep();               ///< until woken; who sleeps asks again whether it may go on

  void wake();  ///< in a run of the kernel; lost on a process that does not sleep
  void stop();  ///< at its next chance; between runs, or in one
  bool ended() const;

 private:
  void check() const;

  Threads& threads_;
  std::unique_ptr<Threads::Thread> thread_;
  bool stopping_ = false;
};

}  // namespace logos::spatial
