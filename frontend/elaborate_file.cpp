#include "frontend/elaborate_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/elaborate_call_graph.hpp"
#include "frontend/elaborate_pragma.hpp"
#include "frontend/elaborate_stmt.hpp"
#include "frontend/elaborate_type.hpp"
#include "frontend/instr_instance.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

// A def of the file that is no instruction.
struct ProcedureEntry {
  const ast::DefStmt* def = nullptr;
  std::size_t range = 0;  // its place among all definitions of the file
  std::unique_ptr<Context> context;
  bool signature_ok = false;
  bool rejected = false;
};

bool is_named(const ast::Decorator& decorator, std::string_view wanted) {
  const auto* call = std::get_if<ast::CallExpr>(&decorator.value->node);
  const auto* name = std::get_if<ast::Name>(call ? &call->callee->node : &decorator.value->node);
  return name && name->text == wanted;
}

bool is_instr(const ast::DefStmt& def) {
  return !def.instr_comment.empty() ||
         std::any_of(def.decorators.begin(), def.decorators.end(), is_instr_decorator);
}

void sort_by_place(semantics::Diagnostics& diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const auto& a, const auto& b) {
    return a.location.span.begin < b.location.span.begin;
  });
}

class FileElaboration : public FileScope {
 public:
  FileElaboration(ParseResult parsed, const InstrTable* library)
      : file_(std::make_shared<const ast::File>(std::move(parsed.file))),
        library_(library),
        unparsed_(parsed.broken.begin(), parsed.broken.end()),
        diagnostics_(std::move(parsed.diagnostics)),
        constants_(std::make_shared<MetaEnvironment>()) {}

  LoadResult run() {
    collect();
    declare_procedures();
    for (ProcedureEntry& p : procedures_) elaborate_body(p);
    const CallGraph graph = call_graph();
    report_cycles(graph);
    reject_callers(graph);
    return finish();
  }

  void define_library(InstrTable& table, semantics::Diagnostics& out) {
    collect();
    for (auto& [name, d] : instrs_) table.insert_or_assign(name, std::move(d));
    out.insert(out.end(), diagnostics_.begin(), diagnostics_.end());
  }

  // -------------------------------------------------------------------------------- FileScope
  std::optional<std::size_t> find_procedure(std::string_view name) const override {
    const auto it = procedure_names_.find(name);
    if (it == procedure_names_.end()) return std::nullopt;
    return it->second;
  }
  const ir::Procedure* signature(std::size_t procedure) const override {
    const ProcedureEntry& p = procedures_.at(procedure);
    return p.signature_ok ? &p.context->procedure : nullptr;
  }
  const InstrDefinition* find_instr(std::string_view name) const override {
    if (const auto it = instrs_.find(name); it != instrs_.end()) return &it->second;
    if (!library_) return nullptr;
    const auto it = library_->find(name);
    return it == library_->end() ? nullptr : &it->second;
  }
  const ir::Config* find_config(std::string_view name) const override {
    const auto it = config_names_.find(name);
    return it == config_names_.end() ? nullptr : &configs_.at(it->second);
  }
  bool is_unparsed(std::string_view name) const override { return unparsed_.contains(name); }
  std::vector<std::string> callable_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, index] : procedure_names_) names.push_back(name);
    for (const auto& [name, d] : instrs_) names.push_back(name);
    if (library_) {
      for (const auto& [name, d] : *library_) names.push_back(name);
    }
    return names;
  }
  InstanceResult instance(const InstrDefinition& definition, const TemplateValues& values) override {
    std::string key;
    for (const auto& [name, v] : values) key += fmt::format("{}={};", name, meta_text(v));
    auto& slot = instances_[{&definition, key}];
    if (!slot) slot = build_instance(*this, definition, values);
    return *slot;
  }

 private:
  void report(std::string_view code, Span span, std::string message) {
    diagnostics_.push_back(semantics::make_diagnostic(code, {file_->source, span}, std::move(message)));
  }

  // ---------------------------------------------------------------- top-level statements
  void collect() {
    for (const ast::Stmt& s : file_->statements) {
      std::visit(ir::overloaded{
                     [&](const ast::DefStmt& x) { definition(s, x); },
                     [&](const ast::ClassStmt& x) { class_definition(s, x); },
                     [&](const ast::AssignStmt& x) { constant(s, x); },
                     [&](const ast::ExprStmt& x) {
                       if (!std::holds_alternative<ast::String>(x.value->node)) not_a_definition(s.span);
                     },
                     [](const ast::ImportStmt&) {},
                     [](const ast::PassStmt&) {},
                     [&](const auto&) { not_a_definition(s.span); },
                 },
                 s.node);
    }
  }

  void not_a_definition(Span span) {
    report("E-P63", span,
           "only imports, constants, configs, instructions and procedures stand at the top of a file");
  }

  // A definition keeps the constants above it; later ones go to a copy.
  void add_constant(const std::string& name, MetaValue v, Span span) {
    constexpr std::size_t most_copies = 1'000'000;
    if (constants_.use_count() > 1) {
      copied_constants_ += constants_->size();
      if (copied_constants_ > most_copies) {
        return report("L-07", span, "the file has too many constants between its definitions");
      }
      constants_ = std::make_shared<MetaEnvironment>(*constants_);
    }
    constants_->insert_or_assign(name, std::move(v));
    verbatim_.push_back(span);
  }

  void constant(const ast::Stmt& s, const ast::AssignStmt& a) {
    const auto* name = a.targets.size() == 1 ? std::get_if<ast::Name>(&a.targets[0]->node) : nullptr;
    if (!name) return not_a_definition(s.span);
    MetaResult result = evaluate_meta(*a.value, *constants_, file_->source, "E-P63");
    if (auto* failure = std::get_if<semantics::Diagnostic>(&result)) {
      // `x = schedule(x)` is Python, not a misspelt memory.
      const bool call = std::holds_alternative<ast::CallExpr>(a.value->node);
      if (call && failure->rule->code == "E-N03") return not_a_definition(s.span);
      diagnostics_.push_back(std::move(*failure));
      return;
    }
    add_constant(name->text, std::get<MetaValue>(std::move(result)), s.span);
  }

  // ---------------------------------------------------------------------------------- configs
  void class_definition(const ast::Stmt& s, const ast::ClassStmt& c) {
    const auto has = [&](std::string_view name) {
      return std::any_of(c.decorators.begin(), c.decorators.end(),
                         [&](const ast::Decorator& d) { return is_named(d, name); });
    };
    if (has("instr")) {
      report("E-P64", s.span, fmt::format("write `{}` in the textual form: @instr(...) above a def", c.name));
    } else if (!has("config")) {
      not_a_definition(s.span);
    } else if (find_config(c.name)) {
      report("E-N05", s.span, fmt::format("the config `{}` is defined twice", c.name));
    } else {
      config(s, c);
    }
  }

  void config(const ast::Stmt& s, const ast::ClassStmt& c) {
    ir::Config out;
    out.name = c.name;
    out.span = s.span;
    for (const ast::Stmt& field : c.body) {
      const auto* doc = std::get_if<ast::ExprStmt>(&field.node);
      if (doc && std::holds_alternative<ast::String>(doc->value->node)) continue;
      const auto* a = std::get_if<ast::AnnotatedStmt>(&field.node);
      const auto* name = a ? std::get_if<ast::Name>(&a->target->node) : nullptr;
      const auto type = a && !a->value ? field_type(*a->annotation) : std::nullopt;
      const bool repeated = name && std::any_of(out.fields.begin(), out.fields.end(),
                                                [&](const auto& f) { return f.name == name->text; });
      if (!name || !type || repeated) {
        report("E-P76", field.span,
               "a field of a config is written `name: type`, once, with size, index, bool, "
               "stride or a precision as its type");
        continue;
      }
      out.fields.push_back({name->text, *type});
    }
    config_names_.emplace(c.name, configs_.size());
    configs_.push_back(std::move(out));
  }

  static std::optional<ir::ExprType> field_type(const ast::Expr& e) {
    const auto* name = std::get_if<ast::Name>(&e.node);
    if (!name) return std::nullopt;
    if (name->text == "size") return ir::ExprType{ir::TypeKind::size, std::nullopt, 0};
    if (name->text == "index") return ir::ExprType{ir::TypeKind::index, std::nullopt, 0};
    if (name->text == "bool") return ir::ExprType{ir::TypeKind::boolean, std::nullopt, 0};
    if (name->text == "stride") return ir::ExprType{ir::TypeKind::stride, std::nullopt, 0};
    const auto precision =
        name->text == "R" ? semantics::Precision::f32 : semantics::find_precision(name->text);
    if (!precision) return std::nullopt;
    return ir::ExprType{ir::TypeKind::data, precision, 0};
  }

  // ------------------------------------------------------------------------------ definitions
  void definition(const ast::Stmt& s, const ast::DefStmt& def) {
    for (const ast::Decorator& d : def.decorators) {
      if (is_named(d, "proc") || is_named(d, "instr")) continue;
      report(
          "W-P01", d.span,
          fmt::format("the decorator {} is unknown and ignored", std::string(file_->source->text(d.span))));
    }
    const DefRange range = def_range(s);
    ranges_.push_back(range);
    const auto [earlier, is_new] = definition_spans_.emplace(def.name, range);
    if (!is_new) {
      const auto body_text = [&](const DefRange& r) {
        return file_->source->text({r.header.begin, r.span.end});
      };
      if (body_text(earlier->second) == body_text(range)) return;
      auto d =
          semantics::make_diagnostic("E-N05", {file_->source, def.name_span},
                                     fmt::format("`{}` is defined twice with different contents", def.name));
      d.related.push_back({semantics::Role::declaration,
                           "the first definition is here",
                           {file_->source, earlier->second.def->name_span}});
      diagnostics_.push_back(std::move(d));
      if (!is_instr(def)) duplicates_.push_back(&def);
      return;
    }
    if (is_instr(def)) {
      instrs_.emplace(def.name,
                      define_instr(*this, file_, def, constants_, library_ == nullptr, diagnostics_));
      verbatim_.push_back(range.span);
      return;
    }
    ProcedureEntry entry;
    entry.def = &def;
    entry.range = ranges_.size() - 1;
    entry.context = std::make_unique<Context>(*this, constants_, file_->source, Flavour::procedure);
    procedure_names_.emplace(def.name, procedures_.size());
    procedures_.push_back(std::move(entry));
  }

  // ------------------------------------------------------------------------------- procedures
  void declare_procedures() {
    const Pragmas pragmas = read_pragmas(*file_, ranges_, diagnostics_);
    for (ProcedureEntry& p : procedures_) {
      Context& cx = *p.context;
      cx.procedure.name = p.def->name;
      cx.procedure.name_span = p.def->name_span;
      cx.procedure.dialect = pragmas.dialect ? *pragmas.dialect : infer_dialect(cx, *p.def);
      if (p.def->has_return_type) cx.report("E-P23", p.def->return_span, "procedures return nothing");
      const std::size_t before = cx.diagnostics.size();
      for (const ast::Param& param : p.def->params) declare_parameter(cx, param);
      p.signature_ok = std::none_of(
          cx.diagnostics.begin() + static_cast<std::ptrdiff_t>(before), cx.diagnostics.end(),
          [](const semantics::Diagnostic& d) { return d.severity == semantics::Severity::error; });
      if (p.signature_ok) apply_size_comments(cx, pragmas.sizes.at(p.range));
    }
  }

  static void elaborate_body(ProcedureEntry& p) {
    procedure_body(*p.context, p.def->body);
    p.rejected = p.context->failed() || p.context->blocked;
  }

  CallGraph call_graph() const {
    CallGraph graph;
    for (const ProcedureEntry& p : procedures_) {
      auto& callees = graph.emplace_back();
      for (const auto& [callee, span] : p.context->calls) callees.push_back(callee);
    }
    return graph;
  }

  // E-C01 at the first call of each member of a cycle that stays inside it.
  void report_cycles(const CallGraph& graph) {
    constexpr std::size_t longest = 8;  // longer cycles are not spelt out
    const std::vector<std::size_t> component = components(graph);
    std::vector<std::size_t> size(procedures_.size());
    for (const std::size_t c : component) ++size[c];
    for (std::size_t i = 0; i < procedures_.size(); ++i) {
      for (const auto& [callee, span] : procedures_[i].context->calls) {
        if (component[callee] != component[i]) continue;
        std::string text = fmt::format("`{}` and {} others call each other", procedures_[i].def->name,
                                       size[component[i]] - 1);
        if (size[component[i]] <= longest) {
          text = procedures_[i].def->name;
          const std::vector<std::size_t> cycle = cycle_through(graph, component, i);
          for (std::size_t k = 1; k < cycle.size(); ++k) text += " calls " + procedures_[cycle[k]].def->name;
        }
        procedures_[i].context->report("E-C01", span, fmt::format("calls may not be recursive: {}", text));
        procedures_[i].rejected = true;
        break;
      }
    }
  }

  // Who calls a rejected procedure cannot be checked.
  void reject_callers(const CallGraph& graph) {
    std::vector<bool> rejected;
    for (const ProcedureEntry& p : procedures_) rejected.push_back(p.rejected);
    mark_callers(graph, rejected);
    for (std::size_t i = 0; i < procedures_.size(); ++i) procedures_[i].rejected = rejected[i];
  }

  // ----------------------------------------------------------------------------------- result
  static void renumber_calls(ir::Block& block, const std::vector<std::size_t>& number) {
    for (ir::Stmt& s : block) {
      if (auto* call = std::get_if<ir::Call>(&s.node); call && call->procedure)
        call->procedure = number[*call->procedure];
      if (auto* f = std::get_if<ir::For>(&s.node)) renumber_calls(f->body, number);
      if (auto* w = std::get_if<ir::Warps>(&s.node)) renumber_calls(w->body, number);
      if (auto* d = std::get_if<ir::DeviceFunction>(&s.node)) renumber_calls(d->body, number);
      if (auto* i = std::get_if<ir::If>(&s.node)) {
        renumber_calls(i->then_body, number);
        renumber_calls(i->else_body, number);
      }
    }
  }

  // Its own errors, and no others, stand against it, and they are about threads and memories.
  static bool is_defective(const Context& cx) {
    return !cx.blocked && cx.failed() &&
           std::all_of(cx.diagnostics.begin(), cx.diagnostics.end(), [](const auto& d) {
             return d.severity != semantics::Severity::error ||
                    d.rule->rule_class == semantics::RuleClass::defect;
           });
  }

  LoadResult finish() {
    LoadResult result;
    result.program.source = file_->source;
    std::vector<std::size_t> number(procedures_.size());
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < procedures_.size(); ++i) {
      if (!procedures_[i].rejected) number[i] = accepted++;
    }
    // Names by place in the file: definitions that did not parse have none, they come last.
    std::vector<std::pair<std::uint32_t, std::string>> rejected;
    for (ProcedureEntry& p : procedures_) {
      auto& found = p.context->diagnostics;
      if (p.rejected && is_defective(*p.context)) {
        sort_by_place(found);
        result.defective.push_back({p.def->name, p.def->name_span, std::move(found)});
        continue;
      }
      diagnostics_.insert(diagnostics_.end(), found.begin(), found.end());
      if (p.rejected) {
        rejected.emplace_back(p.def->name_span.begin, p.def->name);
      } else {
        renumber_calls(p.context->procedure.body, number);
        result.program.procedures.push_back(std::move(p.context->procedure));
      }
    }
    for (const ast::DefStmt* d : duplicates_) rejected.emplace_back(d->name_span.begin, d->name);
    std::sort(rejected.begin(), rejected.end());
    for (auto& [place, name] : rejected) result.rejected.push_back(std::move(name));
    result.rejected.insert(result.rejected.end(), unparsed_.begin(), unparsed_.end());
    result.program.configs = std::move(configs_);
    result.program.verbatim = std::move(verbatim_);
    sort_by_place(diagnostics_);
    result.diagnostics = std::move(diagnostics_);
    return result;
  }

  std::shared_ptr<const ast::File> file_;
  const InstrTable* library_;  // nullptr: this file is part of the library
  std::set<std::string, std::less<>> unparsed_;
  semantics::Diagnostics diagnostics_;
  std::shared_ptr<MetaEnvironment> constants_;  // those defined so far
  std::size_t copied_constants_ = 0;
  std::vector<DefRange> ranges_;
  std::map<std::string, DefRange, std::less<>> definition_spans_;
  std::map<std::string, std::size_t, std::less<>> procedure_names_;
  std::vector<ProcedureEntry> procedures_;
  std::vector<const ast::DefStmt*> duplicates_;
  InstrTable instrs_;
  std::vector<ir::Config> configs_;
  std::map<std::string, std::size_t, std::less<>> config_names_;
  std::vector<Span> verbatim_;
  std::map<std::pair<const InstrDefinition*, std::string>, std::optional<InstanceResult>> instances_;
};

}  // namespace

semantics::Diagnostics LoadResult::all_findings() const {
  semantics::Diagnostics all = diagnostics;
  for (const DefectiveProcedure& p : defective) all.insert(all.end(), p.findings.begin(), p.findings.end());
  sort_by_place(all);
  return all;
}

LoadResult elaborate(ParseResult parsed, const InstrTable& library) {
  return FileElaboration(std::move(parsed), &library).run();
}

void define_library(ParseResult parsed, InstrTable& table, semantics::Diagnostics& out) {
  FileElaboration(std::move(parsed), nullptr).define_library(table, out);
}

}  // namespace exocheck::frontend
