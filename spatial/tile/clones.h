#pragma once

/// Functions with inner loops worth vectorising are compiled for several x86-64 levels; the loader
/// takes the best one that the processor has. Only exact integer and uncontracted binary32 loops
/// carry it (-ffp-contract=off), so the levels give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LOGOS_SPATIAL_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LOGOS_SPATIAL_CLONES
#endif
