// Device scope of statements (language.md 7.1).
#pragma once

#include <functional>

#include "semantics/ir.hpp"

namespace exocheck::analysis {

enum class DeviceScope { cpu, cuda };

// Every statement of the block and its sub-blocks, in program order, with its device scope: CUDA inside a
// device function, CPU elsewhere; the device function statement itself has the scope it stands in.
void for_each_scoped_stmt(const semantics::ir::Block& block,
                          const std::function<void(const semantics::ir::Stmt&, DeviceScope)>& visit,
                          DeviceScope scope = DeviceScope::cpu);

inline const char* name(DeviceScope scope) { return scope == DeviceScope::cpu ? "CPU scope" : "CUDA scope"; }

}  // namespace exocheck::analysis
