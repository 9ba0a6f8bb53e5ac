#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace logos::cuda::host {

/// An execution context with a stack of its own: what one CUDA thread runs on.
///
/// Switching costs a handful of instructions on x86-64 (fiber.cc: six registers and the stack
/// pointer; the floating-point control words are never changed by kernels and stay as they are).
/// Other hosts, and builds with LOGOS_FIBER_UCONTEXT, use ucontext.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  /// The context that the caller is running in; it has no stack of ours.
  Fiber();
  /// A context that calls `entry(argument)` at the first switch to it. `entry` must never return.
  Fiber(std::byte* stack, std::size_t stack_bytes, Entry entry, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves `from`, the context that is running, for `to`; returns when someone switches back.
  static void switch_from_to(Fiber& from, Fiber& to);

  /// Forgets whatever the context was doing: the next switch to it calls its entry again. Objects
  /// that lay on its stack are not destroyed.
  void restart();

 private:
  friend struct FiberStart;
  struct Ucontext;

  void* stack_pointer_ = nullptr;
  void* fake_stack_ = nullptr;  // AddressSanitizer's
  std::byte* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
  // As AddressSanitizer knows them; used in its builds only.
  [[maybe_unused]] const void* bottom_ = nullptr;
  [[maybe_unused]] std::size_t bottom_bytes_ = 0;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  [[maybe_unused]] Fiber* started_by_ = nullptr;
  std::unique_ptr<Ucontext> ucontext_;
};

/// Fibers that are made once, each with a guard page below its stack, and used again by every
/// block of every launch.
class FiberPool {
 public:
  FiberPool(Fiber::Entry entry, void* argument);
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  Fiber* take() {
    if (free_.empty()) grow();
    Fiber* fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  void give_back(Fiber* fiber) { free_.push_back(fiber); }
  /// Takes every fiber back, whatever it was doing.
  void restart_all();

 private:
  void grow();

  Fiber::Entry entry_;
  void* argument_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<std::byte*> slabs_;
  std::vector<Fiber*> free_;  // the last one given back is the warmest
};

}  // namespace logos::cuda::host
