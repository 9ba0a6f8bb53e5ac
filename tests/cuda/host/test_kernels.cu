#include "tests/cuda/host/test_kernels.h"

namespace logos::cuda {

extern "C" __global__ void test_sum(const SumArguments a) {
  __shared__ int part[32];
  int* first = reinterpret_cast<int*>(smem);
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int sum = at < a.count ? a.in[at] : 0;
  if (threadIdx.x == 0) *first = sum;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kAllLanes, sum, lanes);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < blockDim.x / 32; ++i) total += part[i];
    atomicAdd(&a.out[0], total);
    atomicMax(&a.out[1], *first);
  }
}

extern "C" __global__ void test_gemv(const GemvArguments a) {
  const int row = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (row >= a.rows) return;
  int lo = 0;
  int hi = 0;
  for (int at = static_cast<int>(threadIdx.x) * 16; at < a.columns; at += 32 * 16) {
    const uint4 w = load_streaming_16(a.weights + static_cast<std::int64_t>(row) * a.columns + at);
    const uint4 l = load(reinterpret_cast<const uint4*>(a.lo + at));
    const uint4 h = load(reinterpret_cast<const uint4*>(a.hi + at));
    lo = dot_u8_s8(l.x, w.x, lo);
    lo = dot_u8_s8(l.y, w.y, lo);
    lo = dot_u8_s8(l.z, w.z, lo);
    lo = dot_u8_s8(l.w, w.w, lo);
    hi = dot_s8_s8(h.x, w.x, hi);
    hi = dot_s8_s8(h.y, w.y, hi);
    hi = dot_s8_s8(h.z, w.z, hi);
    hi = dot_s8_s8(h.w, w.w, hi);
  }
  lo = warp_sum(lo);
  hi = warp_sum(hi);
  if (threadIdx.x == 0) {
    store(a.out_lo + row, lo);
    store(a.out_hi + row, hi);
  }
}

extern "C" __global__ void test_mma(const MmaArguments m) {
  const unsigned g = threadIdx.x / 4;
  const unsigned t = threadIdx.x % 4;
  const auto word = [](const void* bytes) { return *static_cast<const std::uint32_t*>(bytes); };
  FragmentA a;
  for (unsigned r = 0; r < 4; ++r) {
    a.value[r] = word(m.a + (g + 8 * (r % 2)) * 32 + 4 * t + 16 * (r / 2));
  }
  FragmentB b[2];
  Accumulators c[2];
  for (unsigned n = 0; n < 2; ++n) {
    for (unsigned r = 0; r < 2; ++r) b[n].value[r] = word(m.b + (8 * n + g) * 32 + 4 * t + 16 * r);
    for (unsigned i = 0; i < 4; ++i) {
      c[n].value[i] = m.c[(g + 8 * (i / 2)) * 16 + 8 * n + 2 * t + i % 2];
    }
  }
  if (m.a_unsigned != 0) {
    mma_u8_s8(c, a, b);
  } else {
    mma_s8_s8(c, a, b);
  }
  for (unsigned n = 0; n < 2; ++n) {
    for (unsigned i = 0; i < 4; ++i) {
      m.c[(g + 8 * (i / 2)) * 16 + 8 * n + 2 * t + i % 2] = c[n].value[i];
    }
  }
}

extern "C" __global__ void test_copy(const CopyArguments a) {
  const unsigned at = threadIdx.x * 16;
  const unsigned second = at + blockDim.x * 16;
  copy_async_16(smem + at, a.in + at);
  copy_commit();
  copy_async_16(smem + second, a.in + second);
  copy_commit();
  if (a.early == 0) copy_wait<1>();
  for (unsigned i = 0; i < 16; ++i) a.out[at + i] = smem[at + i];
  copy_wait<0>();
  __syncthreads();
  for (unsigned i = 0; i < 16; ++i) a.out[second + i] = smem[second + i];
}

extern "C" __global__ void test_elements(const ElementArguments a) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= a.count) return;
  const float x = a.x[i];
  const BlockScale scale = block_scale(magnitude_bits(x));
  a.out[i] = silu(x);
  a.out[a.count + i] = exp_neg(-__fmul_rn(x, x));
  a.out[2 * a.count + i] = residual(x, 1.0F);
  a.out[3 * a.count + i] = scaled(scale.exponent, nearest_float(quantized(x, scale)));
  a.out[4 * a.count + i] = norm_factor(i, a.count, scale.exponent, 1e-5F);
  a.out[5 * a.count + i] = attention_value(i, 3, inverse_weight_sum(i + 1));
  a.out[6 * a.count + i] = attention_score(i, 3, scale.exponent, inverse_root(a.count));
  const float2 pair = rotated(x, 1.0F, 0.6F, 0.8F);
  a.out[7 * a.count + i] = normed(pair.x, pair.y, x);
}

}  // namespace logos::cuda
