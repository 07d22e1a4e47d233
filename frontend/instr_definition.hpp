// Instruction definitions of the text form: `@instr(...) def name(...): behaviour` (language.md 2.8,
// decisions.md I1, I2). What does not depend on template values is read here; the rest stays text until a
// call names the values.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

class InstrDefinition {
 public:
  // A template parameter that the behaviour does not have; no default: required.
  struct Extra {
    std::string name;
    ast::ExprPtr default_value;
  };
  using ByParameter = std::map<std::string, ast::ExprPtr, std::less<>>;

  std::string name;
  std::shared_ptr<const ast::File> file;  // owns `def`
  const ast::DefStmt* def = nullptr;
  std::shared_ptr<const MetaEnvironment> constants;
  bool library = false;
  bool faulty = false;  // its errors are reported; calls of it are not judged

  semantics::InstrTimeline timeline = semantics::InstrTimeline::cpu_in_order;
  std::vector<std::string> runtime;     // positional parameters, in order
  std::vector<std::string> precisions;  // `R` parameters, in order: precision template parameters
  std::vector<std::string> templates;   // control parameters passed by keyword
  std::vector<Extra> extras;
  std::vector<std::pair<std::string, ast::ExprPtr>> lets;  // derived values, in order
  std::vector<std::string> out_of_order, out_of_bounds;
  std::map<std::string, semantics::QualSet, std::less<>> atomic;
  std::map<std::string, semantics::AccessQual, std::less<>> quals;
  std::map<std::string, bool, std::less<>> convergent, owner_only;
  std::optional<semantics::MechanismKind> barrier;
  std::vector<std::string> code;
  // Evaluated for each instance; empty: not given.
  ast::ExprPtr types, where, unit, barrier_units;
  ByParameter distributed;

  semantics::Location location() const { return {file->source, def->name_span}; }
  // The keywords of a call in print order: precisions, templates, extras.
  std::vector<std::string> keywords() const;
};

// Is the decorator `@instr` or `@instr(...)`?
bool is_instr_decorator(const ast::Decorator& decorator);

// Reads and checks a definition; errors go to `out` and set `faulty`. Errors: E-I01 .. E-I08, E-P64
// (malformed attribute), and those of the behaviour.
InstrDefinition define_instr(FileScope& scope, const std::shared_ptr<const ast::File>& file,
                             const ast::DefStmt& def, std::shared_ptr<const MetaEnvironment> constants,
                             bool library, semantics::Diagnostics& out);

}  // namespace exocheck::frontend
