#include "spatial/network/stand_on.h"

#if defined(__SANITIZE_ADDRESS__)
#define LOGOS_STAND_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOGOS_STAND_ASAN
#endif
#endif

#ifdef LOGOS_STAND_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include "program/check.h"
#endif

namespace logos::spatial {

#ifdef LOGOS_STAND_ASAN

namespace {

struct Stack {
  void* bottom = nullptr;
  std::size_t bytes = 0;
};

Stack own_stack() {
  Stack stack;
  pthread_attr_t attributes;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getstack(&attributes, &stack.bottom, &stack.bytes) == 0);
  pthread_attr_destroy(&attributes);
  return stack;
}

}  // namespace

void stand_on(const void* bottom, std::size_t bytes) {
  void* frames = nullptr;
  __sanitizer_start_switch_fiber(&frames, bottom, bytes);
  __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
}

void stand_on_new(const void* bottom, std::size_t bytes) {
  __asan_unpoison_memory_region(bottom, bytes);
  stand_on(bottom, bytes);
}

void stand_on_own() {
  thread_local const Stack own = own_stack();
  stand_on(own.bottom, own.bytes);
}

#else

void stand_on(const void* /*bottom*/, std::size_t /*bytes*/) {}
void stand_on_new(const void* /*bottom*/, std::size_t /*bytes*/) {}
void stand_on_own() {}

#endif

}  // namespace logos::spatial
