// Shape of device functions (language.md 8.1; conformance PA-01 .. PA-06, PA-09, PA-40).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string g = "g: f32[8] @ CudaGmemLinear";
const std::string store = "for t in cuda_threads(0, 1):\n    g[0] = 1.0\n";

std::string kernel(const std::string& body) { return device("blockDim=32", "n: size, " + g, body); }

TEST_CASE("kernel structure: one rule at a time", "[analysis][kernel]") {
  const std::string nest = "for a in cuda_tasks(0, 4):\n" + indented(store, 4);
  check({
      {"E-K01", kernel(store + nest), kernel(nest)},
      {"E-K01", kernel(nest + store), ""},
      {"E-K01", kernel("g[0] = 1.0\n" + nest), ""},
      {"E-K01", kernel(nest + nest), ""},
      {"E-K02", kernel("pass"), ""},
      {"E-K02", kernel(store), ""},
      {"E-K03",
       kernel("for a in cuda_tasks(0, 4):\n    for b in cuda_tasks(0, n):\n        pass\n" +
              indented(store, 4)),
       kernel("for a in cuda_tasks(0, 4):\n    for b in cuda_tasks(0, n):\n" + indented(store, 8))},
      {"E-K04",
       kernel("for a in cuda_tasks(0, 4):\n" + indented(store, 4) +
              "    for b in cuda_tasks(0, 4):\n        pass"),
       ""},
      {"E-K04",
       kernel("for a in cuda_tasks(0, 4):\n    for i in seq(0, 2):\n        for b in cuda_tasks(0, 4):\n     "
              "       pass"),
       ""},
      {"E-K04",
       kernel("for a in cuda_tasks(0, 4):\n    for t in cuda_threads(0, 8):\n        for b in cuda_tasks(0, "
              "4):\n            pass"),
       ""},
      {"E-K05", kernel("for a in cuda_tasks(0, 4):\n    for a in cuda_tasks(0, 8):\n        pass"),
       kernel("for a in cuda_tasks(0, 4):\n    for b in cuda_tasks(0, 8):\n        for b in seq(0, 2):\n     "
              "       pass")},
      {"E-K06", kernel("for a in cuda_tasks(0, 4):\n    for b in cuda_tasks(0, a):\n        pass"),
       kernel("for a in cuda_tasks(0, 4):\n    for b in seq(0, a):\n        pass")},
      {"E-K06", kernel("for a in cuda_tasks(0, 4):\n    for b in cuda_tasks(a, 4):\n        pass"), ""},
  });
}

TEST_CASE("kernel structure: the statement beside the nest is named", "[analysis][kernel]") {
  CHECK(findings(kernel("for a in cuda_tasks(0, 4):\n    pass\n" + store)) == Codes{"E-K01@5"});
  CHECK(findings(kernel(store + "for a in cuda_tasks(0, 4):\n    pass\n")) == Codes{"E-K01@3"});
}

TEST_CASE("windows over grid constants stay outside kernels", "[analysis][kernel]") {
  const std::string parameters = "gc: [f32][8] @ CudaGridConstant, ga: f32[8] @ CudaGridConstant, " + g;
  const auto kernel_of = [&](const std::string& value, const std::string& before, const std::string& inside) {
    return host(parameters,
                before +
                    "with CudaDeviceFunction(blockDim=32):\n    for a in cuda_tasks(0, 1):\n        for t in "
                    "cuda_threads(0, 1):\n" +
                    indented(inside + "g[0] = " + value, 12));
  };
  CHECK(codes(kernel_of("gcc", "gcc: f32 @ CudaGridConstant\ngcc = gc[1]\n", "")) == Codes{});
  CHECK(codes(kernel_of("gc[1]", "", "")) == Codes{"E-K10"});
  CHECK(codes(kernel_of("gw[1]", "gw = gc[1:]\n", "")) == Codes{"E-K10"});
  CHECK(codes(kernel_of("gw[1]", "", "gw = gc[1:]\n")) == Codes{"E-K10"});
  // A window of the array itself, made inside, is fine.
  CHECK(codes(kernel_of("gw[1]", "", "gw = ga[1:]\n")) == Codes{});
  CHECK(codes(kernel_of("gw[1]", "gw = ga[1:]\n", "")) == Codes{"E-K10"});
}

}  // namespace
}  // namespace exocheck::analysis::test
