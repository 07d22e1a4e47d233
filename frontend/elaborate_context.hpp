// What the elaboration of one `def` works with: names, symbols, ids, diagnostics (language.md 4).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.hpp"
#include "frontend/elaborate_names.hpp"
#include "frontend/meta.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::frontend {

namespace ir = semantics::ir;
using semantics::Span;

class InstrDefinition;
class Context;

// Result of instantiating an instruction for one call: the shared instance, or why there is none.
struct InstanceResult {
  ir::InstrPtr instr;  // empty: the template values are not supported
  std::string failure;
  std::vector<semantics::Related> related;
};

// One value per template: precisions, control templates, extras, in the definition's order.
using TemplateValues = std::vector<std::pair<std::string, MetaValue>>;

// File-level names (language.md 4.1): what a call or a dotted name can mean.
class FileScope {
 public:
  virtual ~FileScope() = default;
  virtual std::optional<std::size_t> find_procedure(std::string_view name) const = 0;
  // The callee's parameters; nullptr if its parameter list is faulty.
  virtual const ir::Procedure* signature(std::size_t procedure) const = 0;
  virtual const InstrDefinition* find_instr(std::string_view name) const = 0;
  virtual const ir::Config* find_config(std::string_view name) const = 0;
  // A definition of that name is in the file, but its text did not parse.
  virtual bool is_unparsed(std::string_view name) const = 0;
  virtual std::vector<std::string> callable_names() const = 0;
  // Equal values share one instance.
  virtual InstanceResult instance(const InstrDefinition& definition, const TemplateValues& values) = 0;
};

// What is being elaborated decides which precision and parameter rules hold.
enum class Flavour {
  procedure,   // `R` is f32, one precision per operator (language.md 4.4)
  behaviour,   // of one instruction instance: template values are constants, precisions may mix
  definition,  // a behaviour checked once, with its template parameters unknown
};

class Context {
 public:
  Context(FileScope& file_scope, std::shared_ptr<const MetaEnvironment> constants,
          semantics::SourcePtr source_file, Flavour kind);

  FileScope& file;
  const Flavour flavour;
  ir::Procedure procedure;  // under construction
  Scopes scopes;
  semantics::Diagnostics diagnostics;
  // Procedures called, with the place of the call.
  std::vector<std::pair<std::size_t, Span>> calls;
  // Calls something whose own errors are reported: cannot be checked, without an error of its own.
  bool blocked = false;
  // E-P60 is reported: the timelines of both dialects pass.
  bool mixed_dialects = false;

  const MetaEnvironment& constants() const { return *constants_; }
  const semantics::SourcePtr& source() const { return procedure.source; }
  // Source text on one line, shortened, for messages.
  std::string text(Span span) const;
  std::string text(const ast::Expr& e) const { return text(e.span); }
  bool failed() const { return semantics::has_errors(diagnostics); }

  // ", did you mean `x`?" or ""; the first errors of a procedure get one.
  std::string suggestion(std::string_view name, const std::function<std::vector<std::string>()>& candidates);

  // Records an error (or a warning, by the rule) and returns it for additions.
  semantics::Diagnostic& report(std::string_view code, Span span, std::string message);
  void report(semantics::Diagnostic diagnostic) { diagnostics.push_back(std::move(diagnostic)); }
  void note_declaration(semantics::Diagnostic& diagnostic, ir::SymId symbol) const;

  // A fresh symbol, visible from here on.
  ir::SymId declare(ir::Symbol symbol);
  // The name's declaration had an error: until the end of the scope its uses are silently wrong.
  void poison(const std::string& name) { scopes.declare(name, poisoned_symbol); }
  const ir::Symbol& symbol(ir::SymId id) const { return procedure.symbol(id); }
  // The symbol of a name; nullopt after E-N01, E-P67, or silently for a poisoned name.
  std::optional<ir::SymId> resolve(const std::string& name, Span span);
  // Names that a definition leaves open: template parameters, extras and derived values. They count as
  // constants (Flavour::definition only).
  void declare_open_name(const std::string& name) { open_names_.push_back(name); }
  bool is_open_name(std::string_view name) const;

  // A node with a fresh id.
  ir::ExprPtr make(Span span, ir::ExprType type, decltype(ir::Expr::node) node);
  ir::ExprPtr make_int(Span span, std::int64_t value);
  // A copy with fresh ids; all spans become `span`.
  ir::ExprPtr copy(const ir::ExprPtr& e, Span span);
  ir::StmtId next_statement() { return ir::StmtId{procedure.statement_count++}; }

  // Value of a compile-time expression; nullopt after reporting. `code`: for operands of a wrong kind.
  std::optional<MetaValue> meta(const ast::Expr& e, std::string_view code);

  // Counts the nesting of expressions and statements; false (after L-02) when it is too deep.
  class Nesting {
   public:
    Nesting(Context& context, Span span);
    ~Nesting() { --context_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    explicit operator bool() const { return ok_; }

   private:
    Context& context_;
    bool ok_;
  };

 private:
  std::shared_ptr<const MetaEnvironment> constants_;
  std::vector<std::string> open_names_;
  int depth_ = 0;
  int suggestions_ = 0;
};

// "a data scalar of precision f32", "a bool", "a window of rank 2", ...
std::string describe(const ir::ExprType& type);
// "a size parameter", "a barrier", ...
std::string describe(const ir::Symbol& symbol);

}  // namespace exocheck::frontend
