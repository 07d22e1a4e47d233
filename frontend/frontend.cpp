#include "frontend/frontend.hpp"

#include <fmt/format.h>

#include "frontend/elaborate_file.hpp"
#include "semantics/errors.hpp"
#include "semantics/library.hpp"

namespace exocheck::frontend {
namespace {

InstrTable load_library() {
  InstrTable table;
  semantics::Diagnostics errors;
  for (const semantics::LibraryFile& file : semantics::library_files()) {
    auto source =
        std::make_shared<semantics::SourceFile>(fmt::format("library/{}", file.name), std::string(file.text));
    define_library(parse(source), table, errors);
  }
  for (const semantics::Diagnostic& d : errors) {
    const semantics::Position at = d.location.begin();
    throw semantics::InternalError(fmt::format("{}:{}:{}: {} [{}]", d.location.source->path(), at.line,
                                               at.column, d.message, d.rule->code));
  }
  return table;
}

const InstrTable& library() {
  static const InstrTable table = load_library();
  return table;
}

}  // namespace

LoadResult load(const semantics::SourcePtr& source, const ParseLimits& limits) {
  return elaborate(parse(source, limits), library());
}

}  // namespace exocheck::frontend
