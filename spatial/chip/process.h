#pragma once

#include <cstddef>
#include <functional>
#include <systemc>

#include "spatial/network/network.h"

namespace logos::spatial {

/// A thread of SystemC's kernel that can be told to end wherever it stands: then its waits throw
/// `Stopped`, which unwinds its body.
class Process {
 public:
  struct Stopped {};

  /// The body runs from the kernel's next run on. It must let nothing but Stopped out.
  explicit Process(std::function<void()> body);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // From its own body.
  void pause(Cycles cycles);  ///< goes on after so many cycles
  void sleep();               ///< until woken; who sleeps asks again whether it may go on

  void wake();  ///< in a run of the kernel; lost on a process that does not sleep
  void stop();  ///< at its next chance; between runs, or in one
  bool ended() const { return ended_; }

 private:
  void check() const {
    if (stopping_) throw Stopped();
  }

  sc_core::sc_event event_;
  sc_core::sc_process_handle handle_;
  bool stopping_ = false;
  bool ended_ = false;
};

}  // namespace logos::spatial
