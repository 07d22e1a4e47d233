// The host side of a procedure: its C++ function, with the kernels it launches (codegen.md 1, 2).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/kernel_context.hpp"
#include "codegen/kernel_emitter.hpp"

namespace exocheck::codegen {

struct HostText {
  std::string prototype;             // "void gemm(int M, ..., xrt_stream stream)"
  std::string definition;            // of the function
  std::vector<std::string> kernels;  // definitions, in order of launch
  std::set<int> wgmma_n;
};

HostText emit_host(const ir::Procedure& procedure, const analysis::Facts& facts);

}  // namespace exocheck::codegen
