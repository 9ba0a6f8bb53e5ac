#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts when an invariant of our own is broken (never for what a user can cause: logos::Error).
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
