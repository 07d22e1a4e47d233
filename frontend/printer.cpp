#include "frontend/printer.hpp"

#include <iterator>

#include "frontend/printer_lines.hpp"

namespace exocheck::frontend {
namespace {

namespace ir = semantics::ir;

// Adds a top-level item, with a blank line before it.
void add(Lines& out, Lines item) {
  if (item.empty()) return;
  if (!out.empty()) out.push_back({0, "", std::nullopt});
  out.insert(out.end(), std::make_move_iterator(item.begin()), std::make_move_iterator(item.end()));
}

}  // namespace

std::string print(const ir::Program& program) {
  Lines out = pragma_lines(program);
  for (const semantics::Span span : program.verbatim) add(out, verbatim_lines(*program.source, span));
  for (const ir::Config& c : program.configs) add(out, config_lines(c));
  for (const ir::Procedure& p : program.procedures) {
    Lines lines = size_lines(p);
    Lines body = procedure_lines(p, program);
    lines.insert(lines.end(), body.begin(), body.end());
    add(out, std::move(lines));
  }
  return to_text(out);
}

std::string print(const ir::Procedure& procedure, const ir::Program& program) {
  return to_text(procedure_lines(procedure, program));
}

}  // namespace exocheck::frontend
