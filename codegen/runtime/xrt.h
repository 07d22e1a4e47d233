// xrt: the run-time library of emitted kernels. One source text, two machines: nvcc compiles it to PTX (xrt_device.h), any
// C++20 compiler to an emulation on the CPU (xrt_emulator.h). This file has what both share.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#include "xrt_device.h"
#else
#include "xrt_emulator.h"
#endif

#include "xrt_types.h"

// ---------------------------------------------------------------------------------------------- arithmetic
// Floor division and non-negative remainder; b > 0.
XRT_HOST_DEV inline int xrt_floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
XRT_HOST_DEV inline int xrt_floor_mod(int a, int b) { return a - b * xrt_floor_div(a, b); }
XRT_HOST_DEV inline int64_t xrt_extent(int lo, int hi) { return hi > lo ? int64_t(hi) - lo : 0; }

// The functions of the language.
#define XRT_DEFINE_FUNCTION(NAME, SINGLE, DOUBLE)                          \
  XRT_HOST_DEV inline float NAME(float x) { return SINGLE; }               \
  XRT_HOST_DEV inline double NAME(double x) { return DOUBLE; }
XRT_DEFINE_FUNCTION(xrt_sin, ::sinf(x), ::sin(x))
XRT_DEFINE_FUNCTION(xrt_exp, ::expf(x), ::exp(x))
XRT_DEFINE_FUNCTION(xrt_exp2, ::exp2f(x), ::exp2(x))
XRT_DEFINE_FUNCTION(xrt_log, ::logf(x), ::log(x))
XRT_DEFINE_FUNCTION(xrt_log2, ::log2f(x), ::log2(x))
XRT_DEFINE_FUNCTION(xrt_sqrt, ::sqrtf(x), ::sqrt(x))
XRT_DEFINE_FUNCTION(xrt_fabs, ::fabsf(x), ::fabs(x))
XRT_DEFINE_FUNCTION(xrt_relu, x > 0 ? x : 0, x > 0 ? x : 0)
XRT_DEFINE_FUNCTION(xrt_sigmoid, 1 / (1 + ::expf(-x)), 1 / (1 + ::exp(-x)))
#undef XRT_DEFINE_FUNCTION
template <class T>
XRT_HOST_DEV T xrt_fmax(T a, T b) {
  return ::fmax(a, b);
}
template <class T>
XRT_HOST_DEV T xrt_fmin(T a, T b) {
  return ::fmin(a, b);
}
template <class T>
XRT_HOST_DEV T xrt_select(T a, T b, T c, T d) {
  return a < b ? c : d;
}

// ---------------------------------------------------------------------------------------------- memory
// A matrix in global or shared memory: element (i, j) at p + i * row + j * column; Swizzle: bytes of the shared memory's
// address pattern, 0 for linear.
template <class T, int Swizzle>
struct XrtMatrix {
  T* p;
  int64_t row, column;
  XRT_DEV T* at(int i, int j) const { return xrt_swizzle<Swizzle>(p + i * row + j * column); }
};
template <int Swizzle, class T>
XRT_DEV XrtMatrix<T, Swizzle> xrt_matrix(T* p, int64_t row, int64_t column) {
  return {p, row, column};
}

// Not atomic.
template <class T>
XRT_DEV void xrt_add(T* p, std::type_identity_t<T> value) {
  xrt_st(p, T(xrt_ld(p) + value));
}

#include "xrt_ring.h"

// ---------------------------------------------------------------------------------------------- tasks
// Clusters take the tasks 0, 1, ... in turn.
template <class K>
XRT_DEV int64_t xrt_first_task() {
  return xrt_block() / K::kClusterDim;
}
template <class K>
XRT_DEV int64_t xrt_task_step() {
  return xrt_grid() / K::kClusterDim;
}

// ---------------------------------------------------------------------------------------------- warp tiles, tf32
// Lane l holds, with g = l / 4 and t = l % 4, the elements that the accessors name.
template <int K>
struct XrtMmaA {  // 16 x K
  uint32_t r[K / 2];
};
template <int K>
struct XrtMmaB {  // K x 8
  uint32_t r[K / 4];
};
struct XrtMmaD {  // 16 x 8
  float r[4];
};

XRT_DEV int xrt_lane() { return xrt_tid() % 32; }

template <int K, class View>
XRT_DEV void xrt_mma_load_a(XrtMmaA<K>& a, View src) {
  const int g = xrt_lane() / 4, t = xrt_lane() % 4;
  XRT_UNROLL
  for (int i = 0; i < K / 2; ++i) a.r[i] = xrt_bits(xrt_ld(src.at(g + 8 * (i % 2), t + 4 * (i / 2))));
}
template <int K, class View>
XRT_DEV void xrt_mma_load_b(XrtMmaB<K>& b, View src) {
  const int g = xrt_lane() / 4, t = xrt_lane() % 4;
  XRT_UNROLL
  for (int i = 0; i < K / 4; ++i) b.r[i] = xrt_bits(xrt_ld(src.at(t + 4 * i, g)));
}
XRT_DEV void xrt_mma_zero(XrtMmaD& d) {
  XRT_UNROLL
  for (int i = 0; i < 4; ++i) d.r[i] = 0;
}

// How an accumulator element reaches memory.
enum class XrtStore { plain, add, atomic_add };
template <XrtStore How>
XRT_DEV void xrt_store_element(float* p, float value) {
  if (How == XrtStore::plain) xrt_st(p, value);
  if (How == XrtStore::add) xrt_add(p, value);
  if (How == XrtStore::atomic_add) xrt_atomic_add(p, value);
}
template <XrtStore How, class View>
XRT_DEV void xrt_mma_store(View dst, const XrtMmaD& d) {
  const int g = xrt_lane() / 4, t = xrt_lane() % 4;
  XRT_UNROLL
  for (int i = 0; i < 4; ++i) xrt_store_element<How>(dst.at(g + 8 * (i / 2), 2 * t + i % 2), d.r[i]);
}

// ---------------------------------------------------------------------------------------------- warpgroup accumulators
// M x N, f32: thread w * 32 + l of the warpgroup holds rows 16 w + l / 4 + {0, 8} of every 64; `scale_d` 0: the next wgmma
// overwrites.
template <int M, int N>
struct XrtWgmmaD {
  float r[M / 64][N / 2];
  int scale_d;
};

template <int M, int N>
XRT_DEV void xrt_wgmma_zero(XrtWgmmaD<M, N>& d) {
  d.scale_d = 0;
}

// d += a b^T on k = 8; `a` and `b`: shared memory addresses of the first elements, rows of 128 swizzled bytes.
template <int M, int N>
XRT_DEV void xrt_wgmma_mma_tf32(XrtWgmmaD<M, N>& d, uint32_t a, uint32_t b) {
  XRT_UNROLL
  for (int i = 0; i < M / 64; ++i) {
    xrt_wgmma_tf32<N>(d.r[i], xrt_wgmma_desc(a + i * 64 * 128), xrt_wgmma_desc(b), d.scale_d);
  }
  d.scale_d = 1;
}

// The part m < m_end, n < n_end.
template <int M, int N, class View>
XRT_DEV void xrt_wgmma_store(int m_end, int n_end, View dst, XrtWgmmaD<M, N>& d) {
  const int g = xrt_lane() / 4, t = xrt_lane() % 4, w = xrt_tid() / 32 % 4;
  XRT_UNROLL
  for (int b = 0; b < M / 64; ++b) {
    xrt_wgmma_use<N>(d.r[b]);
    XRT_UNROLL
    for (int i = 0; i < N / 2; ++i) {
      const int m = 64 * b + 16 * w + g + 8 * (i / 2 % 2), n = 8 * (i / 4) + 2 * t + i % 2;
      if (m < m_end && n < n_end) xrt_st(dst.at(m, n), d.r[b][i]);
    }
  }
}
// The same for rows of neighbouring elements that begin at multiples of 8 bytes: two elements per store.
template <int M, int N, class View>
XRT_DEV void xrt_wgmma_store_pairs(int m_end, int n_end, View dst, XrtWgmmaD<M, N>& d) {
  const int g = xrt_lane() / 4, t = xrt_lane() % 4, w = xrt_tid() / 32 % 4;
  XRT_UNROLL
  for (int b = 0; b < M / 64; ++b) {
    xrt_wgmma_use<N>(d.r[b]);
    XRT_UNROLL
    for (int i = 0; i < N / 2; i += 2) {
      const int m = 64 * b + 16 * w + g + 8 * (i / 2 % 2), n = 8 * (i / 4) + 2 * t;
      if (m < m_end && n + 1 < n_end) {
        xrt_st_pair(dst.at(m, n), d.r[b][i], d.r[b][i + 1]);
      } else if (m < m_end && n < n_end) {
        xrt_st(dst.at(m, n), d.r[b][i]);
      }
    }
  }
}
