#include "frontend/instr_library.hpp"

#include <fmt/format.h>

#include "frontend/elaborate_file.hpp"
#include "semantics/errors.hpp"
#include "semantics/library.hpp"

namespace exocheck::frontend {
namespace {

InstrTable load_library() {
  InstrTable table;
  for (const semantics::LibraryFile& file : semantics::library_files()) {
    auto source =
        std::make_shared<semantics::SourceFile>(fmt::format("library/{}", file.name), std::string(file.text));
    semantics::Diagnostics errors;
    define_library(parse(source), table, errors);
    if (errors.empty()) continue;
    const semantics::Diagnostic& first = errors.front();
    const semantics::Position at = first.location.begin();
    throw semantics::InternalError(fmt::format("{}:{}:{}: {} [{}]", source->path(), at.line, at.column,
                                               first.message, first.rule->code));
  }
  return table;
}

}  // namespace

const InstrTable& instr_library() {
  static const InstrTable table = load_library();
  return table;
}

}  // namespace exocheck::frontend
