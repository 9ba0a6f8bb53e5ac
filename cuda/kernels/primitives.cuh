#pragma once

// What kernels use beyond plain CUDA C++: PTX behind small functions, each with a host twin that
// gives the same bits, and the counters that the time model stands on (no code on a device).

#include <cstdint>

#include "cuda/host/simt.h"

#define LOGOS_DEVICE __device__ __forceinline__

/// Dynamic shared memory; a kernel lays out its parts in it by hand.
extern __shared__ __align__(128) unsigned char smem[];

namespace logos::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFF;

/// What a byte in device memory is, for the counters.
enum class Stream { kWeights, kKv, kOther };

/// Counts bytes that a kernel reads or writes usefully, where no load helper does it.
template <Stream kStream>
LOGOS_DEVICE void count_bytes([[maybe_unused]] std::uint64_t bytes) {
#ifndef __CUDA_ARCH__
  Traffic& traffic = host::current.counters.traffic;
  if constexpr (kStream == Stream::kWeights) {
    traffic.weight_bytes += bytes;
  } else if constexpr (kStream == Stream::kKv) {
    traffic.kv_bytes += bytes;
  } else {
    traffic.other_bytes += bytes;
  }
#endif
}

/// Counts operations of the binary32 and int32 units that do not count themselves (__fmul_rn,
/// __fadd_rn, __fdiv_rn, __fsqrt_rn, __ll2float_rn do): wide integer multiplies and the like.
LOGOS_DEVICE void count_fp32([[maybe_unused]] std::uint64_t operations) {
#ifndef __CUDA_ARCH__
  host::current.counters.traffic.fp32_ops += operations;
#endif
}

#ifndef __CUDA_ARCH__
/// On the host only: reports an access outside of every buffer, where addresses are checked.
inline void check_address(const void* address, std::size_t bytes) {
  if (host::current.ranges != nullptr && !host::current.ranges->contains(address, bytes)) {
    host::current.executor->fault_address(address, bytes);
  }
}
#endif

// --- loads and stores of device memory -------------------------------------------------------

/// 16 bytes that are read once: past the first-level cache, first to leave the second. Counted.
template <Stream kStream = Stream::kWeights>
LOGOS_DEVICE uint4 load_streaming_16(const void* address) {
  count_bytes<kStream>(16);
#ifdef __CUDA_ARCH__
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
#else
  check_address(address, 16);
  uint4 value;
  std::memcpy(&value, __builtin_assume_aligned(address, 16), 16);
  return value;
#endif
}

/// One element, counted and, on the host, checked. T is at most 16 bytes and naturally aligned.
template <Stream kStream = Stream::kOther, typename T>
LOGOS_DEVICE T load(const T* address) {
  count_bytes<kStream>(sizeof(T));
#ifndef __CUDA_ARCH__
  check_address(address, sizeof(T));
#endif
  return *address;
}

template <Stream kStream = Stream::kOther, typename T, typename V>
LOGOS_DEVICE void store(T* address, V value) {
  count_bytes<kStream>(sizeof(T));
#ifndef __CUDA_ARCH__
  check_address(address, sizeof(T));
#endif
  *address = value;
}

/// Starts a copy of 16 bytes from device to shared memory (both 16-byte aligned). Counted. The
/// bytes are there after copy_wait and a barrier. The host copies them in copy_wait, so a kernel
/// that reads too early reads what was there before.
template <Stream kStream = Stream::kWeights>
LOGOS_DEVICE void copy_async_16(void* shared, const void* global) {
  count_bytes<kStream>(16);
#ifdef __CUDA_ARCH__
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
#else
  check_address(global, 16);
  host::current.executor->copy_later(shared, global);
#endif
}

/// Closes a group of copies.
LOGOS_DEVICE void copy_commit() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  host::current.executor->copy_commit();
#endif
}

/// Waits until at most kPending of this thread's groups are under way.
template <int kPending>
LOGOS_DEVICE void copy_wait() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#else
  host::current.executor->copy_wait(kPending);
#endif
}

// --- products of bytes -----------------------------------------------------------------------

/// c + sum of four products of signed bytes.
LOGOS_DEVICE std::int32_t dot_s8_s8(std::uint32_t a, std::uint32_t b, std::int32_t c) {
  return __dp4a(static_cast<int>(a), static_cast<int>(b), c);
}

/// c + sum of four products of an unsigned byte of a and a signed byte of b.
LOGOS_DEVICE std::int32_t dot_u8_s8(std::uint32_t a, std::uint32_t b, std::int32_t c) {
#ifdef __CUDA_ARCH__
  std::int32_t d;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
#else
  host::current.counters.traffic.int8_macs += 4;
  std::int32_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::uint8_t>(a >> (8 * i)) * static_cast<std::int8_t>(b >> (8 * i));
  }
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(c) + static_cast<std::uint32_t>(sum));
#endif
}

/// Accumulators of one 16 x 8 tile in a lane: with g = lane / 4 and t = lane % 4, [0] and [1] are
/// row g, columns 2 t and 2 t + 1; [2] and [3] the same of row g + 8.
struct Accumulators {
  std::int32_t value[4];
};
/// A, 16 x 32 bytes: register r is row g + 8 * (r % 2), columns 4 t + 16 * (r / 2) and on.
struct FragmentA {
  std::uint32_t value[4];
};
/// B, 32 x 8 bytes: register r is column g, rows 4 t + 16 r and on.
struct FragmentB {
  std::uint32_t value[2];
};

namespace detail {
template <bool kUnsignedA, int kTiles>
LOGOS_DEVICE void multiply_tiles(Accumulators (&d)[kTiles], const FragmentA& a,
                                 const FragmentB (&b)[kTiles]) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    std::int32_t* c = d[i].value;
    if constexpr (kUnsignedA) {
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, {%0, %1, %2, %3};"
          : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
          : "r"(a.value[0]), "r"(a.value[1]), "r"(a.value[2]), "r"(a.value[3]), "r"(b[i].value[0]),
            "r"(b[i].value[1]));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, {%0, %1, %2, %3};"
          : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
          : "r"(a.value[0]), "r"(a.value[1]), "r"(a.value[2]), "r"(a.value[3]), "r"(b[i].value[0]),
            "r"(b[i].value[1]));
    }
  }
#else
  host::Thread& thread = *host::current.thread;
  thread.warp->mma[thread.lane] = {a.value, b[0].value, d[0].value};
  host::current.executor->collective(
      kAllLanes, kUnsignedA ? host::Collective::kMmaU8 : host::Collective::kMmaS8,
      host::Place::current(), kTiles);
#endif
}
}  // namespace detail

/// d[i] += A * B[i] for tiles that share A; all 32 lanes together. On the host all tiles cost one
/// meeting of the warp: as many as fit in registers make it fast there, too.
template <int kTiles>
LOGOS_DEVICE void mma_u8_s8(Accumulators (&d)[kTiles], const FragmentA& a,
                            const FragmentB (&b)[kTiles]) {
  detail::multiply_tiles<true>(d, a, b);
}
template <int kTiles>
LOGOS_DEVICE void mma_s8_s8(Accumulators (&d)[kTiles], const FragmentA& a,
                            const FragmentB (&b)[kTiles]) {
  detail::multiply_tiles<false>(d, a, b);
}

// --- a whole warp (all 32 lanes) -------------------------------------------------------------

LOGOS_DEVICE std::uint32_t warp_max(std::uint32_t value) {
  return __reduce_max_sync(kAllLanes, value);
}
LOGOS_DEVICE std::int32_t warp_sum(std::int32_t value) {
  return __reduce_add_sync(kAllLanes, value);
}
LOGOS_DEVICE std::int64_t warp_sum(std::int64_t value) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value += __shfl_xor_sync(kAllLanes, static_cast<long long>(value), lanes);
  }
  return value;
#else
  return static_cast<std::int64_t>(host::combine(kAllLanes, host::Collective::kSumS64,
                                                 static_cast<std::uint64_t>(value),
                                                 host::Place::current()));
#endif
}

}  // namespace logos::cuda
