#pragma once

#include <cstdio>
#include <cstdlib>

namespace logos {

/// Ends the program where an invariant of our own is broken.
[[noreturn]] inline void fail_check(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace logos

/// Aborts when an invariant of our own is broken (never for what a user can cause: logos::Error).
#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) ::logos::fail_check(__FILE__, __LINE__, #condition); \
  } while (false)

/// Stands where nothing leads: after a switch that handles every value, after a loop that returns.
#define CHECK_UNREACHABLE() ::logos::fail_check(__FILE__, __LINE__, "unreachable")
