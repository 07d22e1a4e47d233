// GPU IR and facts -> CUDA C++ with xrt calls (codegen.md; decisions.md P).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/facts.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::codegen {

struct EmitOptions {
  std::string headline;  // of the file: what was verified, or that nothing was
};

struct Module {
  std::string name;  // of the procedure: base name of its files
  std::vector<std::pair<std::string, std::string>>
      files;                        // name, contents: NAME.cu, NAME.h, the run-time headers
  semantics::Diagnostics problems;  // C-01, C-02: nothing was emitted
};

// `procedure` has its calls expanded (analysis/inline.hpp) and `facts` are its own, from passes without
// errors. A construct that cannot be emitted is C-01 at its place, a limit of the hardware C-02; code is
// never emitted around it.
Module emit(const semantics::ir::Procedure& procedure, const analysis::Facts& facts,
            const EmitOptions& options);

}  // namespace exocheck::codegen
