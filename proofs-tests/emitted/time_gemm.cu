// How fast an emitted GEMM C = A B^T is, and cuBLAS (tf32) on the same numbers.
//
//     nvcc -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -I FOLDER -DGEMM=NAME [-DWITH_CUBLAS] time_gemm.cu [-lcublas]
//     a.out M N K    one line with TFLOP/s; exit code 1 if the results differ
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TEXT_OF(name) #name
#define FILE_OF(name) TEXT_OF(name.cu)
#define NAME_OF(name) TEXT_OF(name)
#include FILE_OF(GEMM)

#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif

namespace {

std::vector<float> numbers(size_t count, unsigned seed) {
  std::vector<float> v(count);
  for (float& x : v) {
    seed = seed * 1664525 + 1013904223;
    x = float(int(seed >> 24) % 9 - 4);
  }
  return v;
}
float* on_device(const std::vector<float>& v) {
  float* p = xrt_malloc_async<float>(int64_t(v.size()), 0);
  xrt_memcpy_async(p, v.data(), int64_t(v.size()), 0);
  return p;
}
std::vector<float> from_device(const float* p, size_t count) {
  std::vector<float> v(count);
  xrt_memcpy_async(v.data(), p, int64_t(count), 0);
  xrt_stream_sync(0);
  return v;
}

// Milliseconds of one run, the mean of many after some to warm up.
template <class Run>
float time_of(const Run& run) {
  constexpr int repeats = 20;
  cudaEvent_t begin, end;
  xrt_check(cudaEventCreate(&begin), "event");
  xrt_check(cudaEventCreate(&end), "event");
  for (int i = 0; i < 3; ++i) run();
  xrt_check(cudaEventRecord(begin), "event");
  for (int i = 0; i < repeats; ++i) run();
  xrt_check(cudaEventRecord(end), "event");
  xrt_check(cudaEventSynchronize(end), "kernel");
  float milliseconds = 0;
  xrt_check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
  return milliseconds / repeats;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int M = std::atoi(argv[1]), N = std::atoi(argv[2]), K = std::atoi(argv[3]);
  const auto size = [](int a, int b) { return size_t(a) * size_t(b); };
  const double teraflop = 2e-12 * M * N * K;
  float *A = on_device(numbers(size(M, K), 1)), *B = on_device(numbers(size(N, K), 2)), *C = on_device(numbers(size(M, N), 3));
  const auto ours = [&] { GEMM(M, N, K, A, B, C, 0); };
  std::printf("%s %d x %d x %d: %.0f TFLOP/s", NAME_OF(GEMM), M, N, K, teraflop / (time_of(ours) * 1e-3));
  int code = 0;
#ifdef WITH_CUBLAS
  float* reference = on_device(numbers(size(M, N), 4));
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 3;
  const float one = 1, zero = 0;
  // In column-major terms: C^T = B A^T.
  const auto theirs = [&] {
    if (cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, M, K, &one, B, CUDA_R_32F, K, A, CUDA_R_32F, K, &zero, reference, CUDA_R_32F, N,
                     CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS) {
      std::exit(3);
    }
  };
  std::printf(", cuBLAS %.0f TFLOP/s", teraflop / (time_of(theirs) * 1e-3));
  code = from_device(C, size(M, N)) == from_device(reference, size(M, N)) ? 0 : 1;
#endif
  std::printf("%s\n", code == 0 ? "" : ", and the results differ");
  return code;
}
