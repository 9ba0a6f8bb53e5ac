#include "cuda/host/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "program/check.h"

#if !defined(__x86_64__) && !defined(LOGOS_FIBER_UCONTEXT)
#define LOGOS_FIBER_UCONTEXT
#endif
#ifdef LOGOS_FIBER_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define LOGOS_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOGOS_FIBER_ASAN
#endif
#endif
#ifdef LOGOS_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef LOGOS_FIBER_UCONTEXT
// void logos_switch_stack(void** save /*rdi*/, void* load /*rsi*/): the System V ABI wants rbx, rbp
// and r12 to r15 kept over a call; everything else is the caller's.
asm(R"(
.text
.p2align 4
.globl logos_switch_stack
.hidden logos_switch_stack
.type logos_switch_stack, @function
logos_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size logos_switch_stack, .-logos_switch_stack
)");
extern "C" void logos_switch_stack(void** save, void* load);
#endif

namespace logos::cuda::host {
namespace {

#ifdef LOGOS_FIBER_ASAN
constexpr std::size_t kStackBytes = 256 * 1024;  // instrumented frames are several times larger
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif
/// Stacks that are a power of two apart share the same few sets of the first-level cache.
constexpr std::size_t kStaggerBytes = 576;
constexpr std::size_t kSlabStacks = 32;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

#ifdef LOGOS_FIBER_UCONTEXT
struct Fiber::Ucontext {
  ucontext_t context;
};
#else
struct Fiber::Ucontext {};
#endif

/// The first frame of every fiber.
struct FiberStart {
  [[noreturn]] static void begin(Fiber* fiber) {
#ifdef LOGOS_FIBER_ASAN
    // The context that started us learns here which stack it has.
    Fiber* from = fiber->started_by_;
    __sanitizer_finish_switch_fiber(nullptr, &from->bottom_, &from->bottom_bytes_);
#endif
    fiber->entry_(fiber->argument_);
    CHECK_UNREACHABLE();
  }
#ifdef LOGOS_FIBER_UCONTEXT
  static void begin_halves(unsigned high, unsigned low) {
    begin(reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 16 << 16) | low));
  }
#endif
};

#ifndef LOGOS_FIBER_UCONTEXT
// `ret` of the first switch lands in the trampoline; the fiber is in rbx.
extern "C" [[noreturn]] __attribute__((used, visibility("hidden"))) void logos_fiber_begin(
    Fiber* fiber) {
  FiberStart::begin(fiber);
}
asm(R"(
.text
.p2align 4
.hidden logos_fiber_trampoline
.globl logos_fiber_trampoline
.type logos_fiber_trampoline, @function
logos_fiber_trampoline:
  movq %rbx, %rdi
  xorl %ebp, %ebp
  call logos_fiber_begin
  ud2
.size logos_fiber_trampoline, .-logos_fiber_trampoline
)");
extern "C" void logos_fiber_trampoline();
#endif

#ifdef LOGOS_FIBER_UCONTEXT
Fiber::Fiber() : ucontext_(std::make_unique<Ucontext>()) {}
#else
Fiber::Fiber() = default;
#endif

Fiber::Fiber(std::byte* stack, std::size_t stack_bytes, Entry entry, void* argument)
    : stack_(stack),
      stack_bytes_(stack_bytes),
      bottom_(stack),
      bottom_bytes_(stack_bytes),
      entry_(entry),
      argument_(argument) {
  restart();
}

Fiber::~Fiber() = default;

void Fiber::restart() {
  fake_stack_ = nullptr;
#ifdef LOGOS_FIBER_ASAN
  __asan_unpoison_memory_region(stack_, stack_bytes_);
#endif
#ifdef LOGOS_FIBER_UCONTEXT
  ucontext_ = std::make_unique<Ucontext>();
  CHECK(getcontext(&ucontext_->context) == 0);
  ucontext_->context.uc_stack.ss_sp = stack_;
  ucontext_->context.uc_stack.ss_size = stack_bytes_;
  ucontext_->context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&ucontext_->context, reinterpret_cast<void (*)()>(&FiberStart::begin_halves), 2,
              static_cast<unsigned>(self >> 16 >> 16), static_cast<unsigned>(self));
#else
  // From the top: a zero return address ends backtraces; then the trampoline, to which the first
  // switch returns with the stack 16-byte aligned, as before a call; then six saved registers.
  std::byte* top = stack_ + stack_bytes_;
  top -= reinterpret_cast<std::uintptr_t>(top) % 16;
  void** slot = reinterpret_cast<void**>(top);
  *--slot = nullptr;
  *--slot = nullptr;
  *--slot = reinterpret_cast<void*>(&logos_fiber_trampoline);
  *--slot = nullptr;  // rbp
  *--slot = this;     // rbx
  for (int i = 0; i < 4; ++i) *--slot = nullptr;
  stack_pointer_ = slot;
#endif
}

void Fiber::switch_from_to(Fiber& from, Fiber& to) {
#ifdef LOGOS_FIBER_ASAN
  to.started_by_ = &from;
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.bottom_bytes_);
#endif
#ifdef LOGOS_FIBER_UCONTEXT
  CHECK(swapcontext(&from.ucontext_->context, &to.ucontext_->context) == 0);
#else
  logos_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#endif
#ifdef LOGOS_FIBER_ASAN
  __sanitizer_finish_switch_fiber(from.fake_stack_, nullptr, nullptr);
#endif
}

FiberPool::FiberPool(Fiber::Entry entry, void* argument) : entry_(entry), argument_(argument) {}

FiberPool::~FiberPool() {
  const std::size_t bytes = kSlabStacks * (kStackBytes + page_bytes());
  for (std::byte* slab : slabs_) {
#ifdef LOGOS_FIBER_ASAN
    // What is mapped here next (a file of weights, say) must not inherit the marks of old frames.
    __asan_unpoison_memory_region(slab, bytes);
#endif
    munmap(slab, bytes);
  }
}

/// Stacks come in slabs, since a mapping of its own for each costs as much as thousands of
/// switches.
void FiberPool::grow() {
  const std::size_t guard = page_bytes();
  const std::size_t each = kStackBytes + guard;
  void* mapping = mmap(nullptr, kSlabStacks * each, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  slabs_.push_back(static_cast<std::byte*>(mapping));
  for (std::size_t i = 0; i < kSlabStacks; ++i) {
    std::byte* low = slabs_.back() + i * each;
    CHECK(mprotect(low, guard, PROT_NONE) == 0);
    fibers_.push_back(
        std::make_unique<Fiber>(low + guard, kStackBytes - i * kStaggerBytes, entry_, argument_));
    free_.push_back(fibers_.back().get());
  }
}

void FiberPool::restart_all() {
  free_.clear();
  for (auto& fiber : fibers_) {
    fiber->restart();
    free_.push_back(fiber.get());
  }
}

}  // namespace logos::cuda::host
