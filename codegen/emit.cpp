#include "codegen/emit.hpp"

#include "codegen/host_emitter.hpp"
#include "codegen/runtime.hpp"
#include "semantics/errors.hpp"

namespace exocheck::codegen {

namespace {

std::string header_text(const HostText& host, const EmitOptions& options) {
  return fmt::format(
      "// {}\n"
      "// Tensors in CudaGmemLinear are device pointers, the others host pointers; everything is dense and "
      "row-major.\n"
      "#pragma once\n\n"
      "#include \"xrt.h\"\n\n"
      "{};\n",
      options.headline, host.prototype);
}

std::string source_text(const ir::Procedure& procedure, const HostText& host, const EmitOptions& options) {
  std::string text = fmt::format("// {}\n#include \"{}.h\"\n", options.headline, procedure.name);
  if (host.definition.find("std::unique_ptr") != std::string::npos) text += "\n#include <memory>\n\n";
  if (!host.wgmma_n.empty()) text += "#include \"xrt_wgmma.h\"\n";
  text += "\nnamespace {\n\n";
  for (const std::string& kernel : host.kernels) text += kernel + "\n";
  return text + "}  // namespace\n\n" + host.definition;
}

}  // namespace

Module emit(const ir::Procedure& procedure, const analysis::Facts& facts, const EmitOptions& options) {
  Module module;
  module.name = procedure.name;
  try {
    if (procedure.dialect != semantics::Dialect::P) {
      throw Refused{semantics::make_diagnostic("C-01", procedure.location(procedure.name_span),
                                               "cannot be emitted: a procedure of dialect R")};
    }
    if (procedure.name.starts_with("xrt")) {
      throw Refused{semantics::make_diagnostic("C-01", procedure.location(procedure.name_span),
                                               "cannot be emitted: names that begin with xrt are taken")};
    }
    const HostText host = emit_host(procedure, facts);
    module.files.emplace_back(procedure.name + ".cu", source_text(procedure, host, options));
    module.files.emplace_back(procedure.name + ".h", header_text(host, options));
    for (const auto& [name, text] : runtime_files()) module.files.emplace_back(name, text);
    if (!host.wgmma_n.empty()) module.files.emplace_back("xrt_wgmma.h", wgmma_header(host.wgmma_n));
  } catch (const Refused& refused) {
    module.problems.push_back(refused.problem);
  } catch (const semantics::OverflowError& error) {
    module.problems.push_back(
        semantics::make_diagnostic("C-02", procedure.location(procedure.name_span), error.what()));
  }
  return module;
}

}  // namespace exocheck::codegen
