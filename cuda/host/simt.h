#pragma once

// The CUDA names that kernels use, for a compiler that is not nvcc: each is what the CUDA C++
// Programming Guide says, carried out by cuda/host/executor.h. Under nvcc this header adds nothing,
// so a kernel includes it and stays ordinary CUDA.
//
// Shared memory. `__shared__ int part[32];` and `extern __shared__ __align__(128) unsigned char
// smem[];` both compile; the dynamic kind must have exactly that name and type. Only the dynamic
// kind is filled with a pattern before each block (a static one is a thread_local of the host,
// whose place nobody knows), so our own kernels use that (cuda/checks/check_sources.py).

#ifndef __CUDACC__

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/host/executor.h"

// CUDA's names are what this header is for.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ constinit thread_local

#define threadIdx (::logos::cuda::host::current.thread->index)
#define blockIdx (::logos::cuda::host::current.block_index)
#define blockDim (::logos::cuda::host::current.block_dim)
#define gridDim (::logos::cuda::host::current.grid_dim)
inline constexpr int warpSize = 32;

struct uint2 {
  unsigned x, y;
};
struct int2 {
  int x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
constexpr int2 make_int2(int x, int y) { return {x, y}; }
constexpr uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
constexpr int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
constexpr float2 make_float2(float x, float y) { return {x, y}; }
constexpr float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace logos::cuda::host {

template <typename T>
std::uint64_t to_slot(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof value);
  return slot;
}
template <typename T>
T from_slot(std::uint64_t slot) {
  T value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}

template <typename T>
T shuffle(unsigned mask, T value, unsigned source, Place place) {
  Thread& thread = *current.thread;
  thread.warp->value[thread.lane] = to_slot(value);
  thread.warp->source[thread.lane] = source;
  current.executor->collective(mask, Collective::kShuffle, place);
  return from_slot<T>(thread.warp->result[thread.lane]);
}

inline std::uint64_t combine(unsigned mask, Collective kind, std::uint64_t value, Place place) {
  Thread& thread = *current.thread;
  thread.warp->value[thread.lane] = value;
  current.executor->collective(mask, kind, place);
  return thread.warp->result[thread.lane];
}

/// First lane of the segment of `width` lanes that this lane belongs to.
inline unsigned segment(unsigned lane, int width) {
  return lane & ~(static_cast<unsigned>(width) - 1);
}

template <typename T, typename Change>
T read_modify_write(T* address, Change change) {
  const T old = *address;  // one thread of one block runs at a time
  *address = change(old);
  return old;
}

}  // namespace logos::cuda::host

#define LOGOS_PLACE ::logos::cuda::host::Place place = ::logos::cuda::host::Place::current()

inline void __syncthreads(LOGOS_PLACE) { ::logos::cuda::host::current.executor->barrier(place); }
inline void __syncwarp(unsigned mask = 0xFFFFFFFF, LOGOS_PLACE) {
  ::logos::cuda::host::current.executor->collective(mask, ::logos::cuda::host::Collective::kSync,
                                                    place);
}
inline void __threadfence() {}
inline void __threadfence_block() {}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, LOGOS_PLACE) {
  const unsigned lane = ::logos::cuda::host::current.thread->lane;
  const unsigned within = static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1);
  return ::logos::cuda::host::shuffle(mask, value,
                                      ::logos::cuda::host::segment(lane, width) + within, place);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, LOGOS_PLACE) {
  const unsigned lane = ::logos::cuda::host::current.thread->lane;
  const unsigned source = lane ^ static_cast<unsigned>(lanes);
  const unsigned end = ::logos::cuda::host::segment(lane, width) + static_cast<unsigned>(width);
  return ::logos::cuda::host::shuffle(mask, value, source < end ? source : lane, place);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32, LOGOS_PLACE) {
  const unsigned lane = ::logos::cuda::host::current.thread->lane;
  const unsigned end = ::logos::cuda::host::segment(lane, width) + static_cast<unsigned>(width);
  return ::logos::cuda::host::shuffle(mask, value, lanes < end - lane ? lane + lanes : lane, place);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32, LOGOS_PLACE) {
  const unsigned lane = ::logos::cuda::host::current.thread->lane;
  const unsigned begin = ::logos::cuda::host::segment(lane, width);
  return ::logos::cuda::host::shuffle(mask, value, lanes <= lane - begin ? lane - lanes : lane,
                                      place);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, LOGOS_PLACE) {
  return static_cast<unsigned>(::logos::cuda::host::combine(
      mask, ::logos::cuda::host::Collective::kBallot, predicate != 0, place));
}
inline int __any_sync(unsigned mask, int predicate, LOGOS_PLACE) {
  return __ballot_sync(mask, predicate, place) != 0;
}
inline int __all_sync(unsigned mask, int predicate, LOGOS_PLACE) {
  return __ballot_sync(mask, predicate == 0, place) == 0;
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value, LOGOS_PLACE) {
  return static_cast<unsigned>(
      ::logos::cuda::host::combine(mask, ::logos::cuda::host::Collective::kMaxU32, value, place));
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value, LOGOS_PLACE) {
  return static_cast<unsigned>(
      ::logos::cuda::host::combine(mask, ::logos::cuda::host::Collective::kSumS64, value, place));
}
inline int __reduce_add_sync(unsigned mask, int value, LOGOS_PLACE) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value), place));
}

// Atomics: on integers only; a sum of binary32 in any order would not be order-free.
template <typename T>
concept AtomicInteger =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>;
template <AtomicInteger T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return ::logos::cuda::host::read_modify_write(address, [value](T old) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
  });
}
template <AtomicInteger T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return ::logos::cuda::host::read_modify_write(address,
                                                [value](T old) { return std::max(old, value); });
}
template <AtomicInteger T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return ::logos::cuda::host::read_modify_write(address, [value](T old) { return old | value; });
}
template <AtomicInteger T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return ::logos::cuda::host::read_modify_write(
      address, [=](T old) { return old == expected ? value : old; });
}
template <AtomicInteger T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return ::logos::cuda::host::read_modify_write(address, [value](T) { return value; });
}

/// Four signed bytes times four signed bytes, added to c modulo 2^32.
inline int __dp4a(int a, int b, int c) {
  ::logos::cuda::host::current.counters.traffic.int8_macs += 4;
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::int8_t>(a >> (8 * i)) * static_cast<std::int8_t>(b >> (8 * i));
  }
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(sum));
}

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }

// One rounding each: this code is compiled with -ffp-contract=off, and binary32 is evaluated in
// binary32. They count themselves; see count_fp32 in cuda/kernels/primitives.cuh.
static_assert(__FLT_EVAL_METHOD__ == 0, "binary32 must be evaluated in binary32");
inline float __fmul_rn(float x, float y) {
  ++::logos::cuda::host::current.counters.traffic.fp32_ops;
  return x * y;
}
inline float __fadd_rn(float x, float y) {
  ++::logos::cuda::host::current.counters.traffic.fp32_ops;
  return x + y;
}
inline float __fsub_rn(float x, float y) {
  ++::logos::cuda::host::current.counters.traffic.fp32_ops;
  return x - y;
}
inline float __fdiv_rn(float x, float y) {
  ++::logos::cuda::host::current.counters.traffic.fp32_ops;
  return x / y;
}
inline float __fsqrt_rn(float x) {
  ++::logos::cuda::host::current.counters.traffic.fp32_ops;
  return std::sqrt(x);
}
inline float __ll2float_rn(long long i) {
  ++::logos::cuda::host::current.counters.traffic.fp32_ops;
  return static_cast<float>(i);
}

inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
template <typename T>
T __ldg(const T* address) {
  return *address;
}

template <typename T>
requires std::is_arithmetic_v<T>
constexpr T min(T x, T y) { return y < x ? y : x; }
template <typename T>
requires std::is_arithmetic_v<T>
constexpr T max(T x, T y) { return x < y ? y : x; }
[[noreturn]] inline void __trap() { ::logos::cuda::host::current.executor->fault("__trap"); }
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

#endif  // __CUDACC__
