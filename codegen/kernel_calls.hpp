// An instruction call in hand, for the emitters of calls.
#pragma once

#include <string_view>

#include "codegen/kernel_emitter.hpp"

namespace exocheck::codegen {

struct KernelEmitter::Operands {
  const ir::Call& call;
  const ir::Instr& instr;
  const ir::Stmt& stmt;

  // By the name of the parameter in the instruction's behaviour.
  const ir::Expr& argument(std::string_view parameter) const;
  const ir::Read& window(std::string_view parameter) const;
  // A template parameter or extra.
  std::int64_t value(std::string_view name) const;
};

}  // namespace exocheck::codegen
