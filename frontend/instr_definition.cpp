#include "frontend/instr_definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "frontend/elaborate_stmt.hpp"
#include "frontend/elaborate_type.hpp"
#include "frontend/instr_modes.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

constexpr std::string_view malformed = "E-P64";

template <class Container>
bool contains(const Container& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What the parameter annotations say without being elaborated.
struct ParameterText {
  bool data = false;
  bool typed_r = false;  // base type `R`
};

ParameterText read_annotation(const ast::ExprPtr& annotation) {
  const ast::Expr* e = annotation.get();
  if (!e) return {};
  if (const auto* b = std::get_if<ast::Binary>(&e->node); b && b->op == "@") e = b->left.get();
  if (const auto* s = std::get_if<ast::Subscript>(&e->node)) e = s->base.get();
  if (const auto* l = std::get_if<ast::List>(&e->node); l && l->items.size() == 1) e = l->items[0].get();
  const auto* name = std::get_if<ast::Name>(&e->node);
  if (!name) return {};
  const bool r = name->text == "R";
  return {r || semantics::find_precision(name->text).has_value(), r};
}

// Reads the attributes of one decorator into a definition.
class AttributeReader {
 public:
  AttributeReader(Context& cx, InstrDefinition& definition) : cx_(cx), d_(definition) {
    for (const ast::Param& p : d_.def->params) parameters_[p.name] = read_annotation(p.annotation);
  }

  void read(const ast::Decorator& decorator) {
    const auto* call = std::get_if<ast::CallExpr>(&decorator.value->node);
    decorator_span_ = decorator.span;
    if (call) {
      for (const ast::Argument& a : call->arguments) argument(a);
    }
    finish();
  }
  void read_comment(const std::vector<std::string>& lines) {
    decorator_span_ = d_.def->name_span;
    d_.code = lines;
    finish();
  }

 private:
  using Handler = void (AttributeReader::*)(const ast::Expr&);

  void argument(const ast::Argument& a) {
    if (a.star) {
      cx_.report(malformed, a.span, "@instr takes no `*`");
    } else if (!a.keyword) {
      positional(a);
    } else if (!seen_.insert(*a.keyword).second) {
      cx_.report(malformed, a.span, fmt::format("@instr is given `{}` twice", *a.keyword));
    } else {
      attribute(a);
    }
  }

  // The C code template, and global C code.
  void positional(const ast::Argument& a) {
    if (++positionals_ > 2) {
      cx_.report(malformed, a.span, "@instr takes two positional strings at most, the code and global code");
    } else if (positionals_ == 1) {
      code(*a.value);
    } else {
      strings(*a.value);
    }
  }

  void attribute(const ast::Argument& a) {
    struct Record {
      std::string_view name;
      Handler read;
    };
    static constexpr std::array<Record, 22> records{{{"tl", &AttributeReader::timeline},
                                                     {"unit", &AttributeReader::unit},
                                                     {"template", &AttributeReader::templates},
                                                     {"extra", &AttributeReader::extras},
                                                     {"let", &AttributeReader::lets},
                                                     {"types", &AttributeReader::types},
                                                     {"where", &AttributeReader::where},
                                                     {"ooo", &AttributeReader::out_of_order},
                                                     {"inorder", &AttributeReader::in_order},
                                                     {"convergent", &AttributeReader::convergent},
                                                     {"quals", &AttributeReader::quals},
                                                     {"atomic", &AttributeReader::atomic},
                                                     {"distributed", &AttributeReader::distributed},
                                                     {"oob", &AttributeReader::out_of_bounds},
                                                     {"barrier", &AttributeReader::barrier},
                                                     {"barrier_units", &AttributeReader::barrier_units},
                                                     {"owner_only", &AttributeReader::owner_only},
                                                     {"cuda", &AttributeReader::code},
                                                     {"c", &AttributeReader::code},
                                                     {"includes", &AttributeReader::strings_only},
                                                     {"utils", &AttributeReader::strings_only},
                                                     {"access_by_owner_only", &AttributeReader::owner_only}}};
    const auto it =
        std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.name == *a.keyword; });
    if (it == records.end()) {
      std::vector<std::string> names;
      for (const Record& r : records) names.emplace_back(r.name);
      cx_.report(
          malformed, a.span,
          fmt::format("@instr has no attribute `{}`{}", *a.keyword, suggestion_text(*a.keyword, names)));
      return;
    }
    (this->*it->read)(*a.value);
  }

  // ------------------------------------------------------------------------- scalar ones
  void timeline(const ast::Expr& e) {
    const auto v = cx_.meta(e, "E-I01");
    if (!v) return;
    if (const auto* tl = std::get_if<semantics::InstrTimeline>(&v->value)) {
      d_.timeline = *tl;
      return;
    }
    const auto* sync = std::get_if<semantics::SyncTl>(&v->value);
    const auto stands_for = sync ? semantics::find_instr_timeline(semantics::name(*sync)) : std::nullopt;
    if (stands_for) {
      d_.timeline = *stands_for;
    } else {
      cx_.report("E-I01", e.span,
                 fmt::format("`{}` is no instruction timeline; write one such as "
                             "cuda_in_order_instr",
                             cx_.text(e)));
    }
  }
  void unit(const ast::Expr& e) { d_.unit = shared(e); }
  void types(const ast::Expr& e) { d_.types = shared(e); }
  void where(const ast::Expr& e) { d_.where = shared(e); }
  void barrier_units(const ast::Expr& e) { d_.barrier_units = shared(e); }
  void barrier(const ast::Expr& e) {
    // The mechanism by name: a trailing barrier may be of any mechanism derived from it.
    const auto* name = std::get_if<ast::Name>(&e.node);
    d_.barrier = name ? semantics::find_mechanism_kind(name->text) : std::nullopt;
    if (!d_.barrier) {
      cx_.report("E-N03", e.span, fmt::format("`{}` is no barrier mechanism", cx_.text(e)));
    }
  }

  // -------------------------------------------------------------------------- name lists
  std::vector<std::string> names(const ast::Expr& e) {
    auto list = name_list(e);
    if (list) return std::move(*list);
    cx_.report(malformed, e.span, fmt::format("`{}` is no list of names", cx_.text(e)));
    return {};
  }
  void templates(const ast::Expr& e) {
    d_.templates = names(e);
    for (const std::string& name : d_.templates) {
      const auto p = parameters_.find(name);
      if (p == parameters_.end() || p->second.data) {
        cx_.report("E-I02", e.span,
                   fmt::format("`{}` is no control parameter; only those can be templates", name));
      }
    }
  }
  void out_of_order(const ast::Expr& e) { d_.out_of_order = data_names(e, "E-I05"); }
  void in_order(const ast::Expr& e) { in_order_ = data_names(e, "E-I05"); }
  void out_of_bounds(const ast::Expr& e) { d_.out_of_bounds = data_names(e, malformed); }
  std::vector<std::string> data_names(const ast::Expr& e, std::string_view code) {
    std::vector<std::string> list = names(e);
    for (const std::string& name : list) data_name(name, e.span, code);
    return list;
  }
  bool data_name(const std::string& name, Span span, std::string_view code) {
    const auto p = parameters_.find(name);
    if (p != parameters_.end() && p->second.data) return true;
    cx_.report(code, span, fmt::format("`{}` is no data parameter of `{}`", name, d_.name));
    return false;
  }

  // ------------------------- dictionaries
  // {name: value, ...}; keys are bare names or strings.
  std::vector<std::pair<std::string, ast::ExprPtr>> entries(const ast::Expr& e) {
    std::vector<std::pair<std::string, ast::ExprPtr>> out;
    const auto* dict = std::get_if<ast::Dict>(&e.node);
    bool ok = dict != nullptr;
    for (std::size_t i = 0; ok && i < dict->items.size(); ++i) {
      const auto& [key, v] = dict->items[i];
      const auto* name = std::get_if<ast::Name>(&key->node);
      const auto* text = std::get_if<ast::String>(&key->node);
      ok = v && (name || text);
      if (ok) out.emplace_back(name ? name->text : text->value, v);
    }
    if (!ok) {
      cx_.report(malformed, e.span, fmt::format("`{}` is not of the form {{name: value, ...}}", cx_.text(e)));
      return {};
    }
    return out;
  }
  void new_name(const std::string& name, Span span) {
    const bool used = parameters_.contains(name) || !new_names_.insert(name).second;
    if (used) cx_.report("E-I03", span, fmt::format("the name `{}` is used twice", name));
  }
  void extras(const ast::Expr& e) {
    for (auto& [name, v] : entries(e)) {
      new_name(name, e.span);
      const auto* word = std::get_if<ast::Name>(&v->node);
      const bool required = word && word->text == "required";
      d_.extras.push_back({name, required ? nullptr : v});
    }
  }
  void lets(const ast::Expr& e) {
    d_.lets = entries(e);
    for (const auto& [name, v] : d_.lets) new_name(name, e.span);
  }
  void distributed(const ast::Expr& e) {
    for (auto& [name, v] : entries(e)) {
      if (data_name(name, e.span, "E-I07")) d_.distributed[name] = v;
    }
    distributed_span_ = e.span;
  }
  void flags(const ast::Expr& e, std::map<std::string, bool, std::less<>>& out) {
    for (const auto& [name, v] : entries(e)) {
      const auto* flag = std::get_if<ast::Bool>(&v->node);
      if (!flag) {
        cx_.report(malformed, v->span, fmt::format("`{}` must be True or False", name));
      } else if (data_name(name, e.span, malformed)) {
        out[name] = flag->value;
      }
    }
  }
  void convergent(const ast::Expr& e) { flags(e, d_.convergent); }
  void owner_only(const ast::Expr& e) { flags(e, d_.owner_only); }

  // A list of QualTLs; nullopt after an error.
  std::optional<std::vector<semantics::Qual>> qual_list(const ast::Expr& e, std::string_view code) {
    const auto v = cx_.meta(e, code);
    if (!v) return std::nullopt;
    const std::vector<MetaValue>* items = nullptr;
    if (const auto* list = std::get_if<MetaList>(&v->value)) items = &list->items;
    if (const auto* tuple = std::get_if<MetaTuple>(&v->value)) items = &tuple->items;
    if (const auto* set = std::get_if<MetaSet>(&v->value)) items = &set->items;
    std::vector<semantics::Qual> out;
    bool ok = items && !items->empty();
    for (std::size_t i = 0; ok && i < items->size(); ++i) {
      const auto* q = std::get_if<semantics::Qual>(&(*items)[i].value);
      ok = q != nullptr;
      if (q) out.push_back(*q);
    }
    if (ok) return out;
    cx_.report(code, e.span,
               fmt::format("`{}` is no list of one or more qualitative timelines", cx_.text(e)));
    return std::nullopt;
  }
  void quals(const ast::Expr& e) {
    for (const auto& [name, v] : entries(e)) {
      const auto list = qual_list(*v, malformed);
      if (!list || !data_name(name, e.span, malformed)) continue;
      semantics::AccessQual access{list->front(), {}};
      for (const semantics::Qual q : *list) access.extended = access.extended | semantics::QualSet{q};
      d_.quals[name] = access;
    }
  }
  void atomic(const ast::Expr& e) {
    for (const auto& [name, v] : entries(e)) {
      const auto list = qual_list(*v, "E-I06");
      if (!list || !data_name(name, e.span, "E-I06")) continue;
      semantics::QualSet set;
      for (const semantics::Qual q : *list) set = set | semantics::QualSet{q};
      d_.atomic[name] = set;
    }
    atomic_span_ = e.span;
  }

  // ------------------------------------------------------------------------------------- code
  std::optional<std::vector<std::string>> strings(const ast::Expr& e) {
    const auto v = cx_.meta(e, malformed);
    if (!v) return std::nullopt;
    if (const auto* s = std::get_if<std::string>(&v->value)) return std::vector{*s};
    const auto* list = std::get_if<MetaList>(&v->value);
    std::vector<std::string> out;
    bool ok = list != nullptr;
    for (std::size_t i = 0; ok && i < list->items.size(); ++i) {
      const auto* s = std::get_if<std::string>(&list->items[i].value);
      ok = s != nullptr;
      if (s) out.push_back(*s);
    }
    if (ok) return out;
    cx_.report(malformed, e.span, fmt::format("`{}` is no string and no list of strings", cx_.text(e)));
    return std::nullopt;
  }
  void code(const ast::Expr& e) {
    auto lines = strings(e);
    if (lines) d_.code = std::move(*lines);
  }
  void strings_only(const ast::Expr& e) { strings(e); }

  // ------------------------------------------------------------------------------ conclusions
  void finish() {
    for (const ast::Param& p : d_.def->params) {
      const ParameterText& text = parameters_[p.name];
      if (text.typed_r) d_.precisions.push_back(p.name);
      if (!contains(d_.templates, p.name)) d_.runtime.push_back(p.name);
      if (text.data) order_flag(p);
    }
    if (!d_.precisions.empty() && !d_.types) {
      cx_.report("E-I04", decorator_span_,
                 fmt::format("`{}` has R parameters; state the allowed precisions with types=", d_.name));
    }
    if (!d_.distributed.empty() && semantics::is_cpu(d_.timeline)) {
      cx_.report("E-I08", distributed_span_, "an instruction of the CPU has no threads to distribute over");
    }
  }
  void order_flag(const ast::Param& p) {
    const bool out = contains(d_.out_of_order, p.name);
    const bool in = contains(in_order_, p.name);
    const bool decided = semantics::is_in_order(d_.timeline) ? !(out && in) : out != in;
    if (decided) return;
    cx_.report("E-I05", p.span,
               fmt::format("`{}` must stand in exactly one of ooo= and inorder=, because {} is "
                           "asynchronous",
                           p.name, semantics::name(d_.timeline)));
  }

  // Attribute texts live as long as the file, whose tree is immutable.
  ast::ExprPtr shared(const ast::Expr& e) const { return {d_.file, &e}; }

  Context& cx_;
  InstrDefinition& d_;
  std::map<std::string, ParameterText, std::less<>> parameters_;
  std::vector<std::string> in_order_;
  std::set<std::string> seen_, new_names_;
  Span decorator_span_, distributed_span_, atomic_span_;
  int positionals_ = 0;
};

// The number of units, when it is written as a list; at least one.
std::size_t unit_count(const ast::Expr& units) {
  const auto* list = std::get_if<ast::List>(&units.node);
  return list ? list->items.size() : 1;
}

// Extents of distributed dimensions are the same for every call of an instance.
void check_distributed(Context& cx, const ast::Expr& units, const ast::Param& parameter,
                       const ir::Symbol& s) {
  if (s.shape.empty()) {
    cx.report("E-I07", parameter.span, fmt::format("`{}` is a scalar and cannot be distributed", s.name));
    return;
  }
  const std::size_t count = std::min(unit_count(units), s.shape.size());
  for (std::size_t i = 0; i < count; ++i) {
    bool symbolic = false;
    ir::for_each_subexpr(*s.shape[i], [&](const ir::Expr& e) {
      const auto* var = std::get_if<ir::VarRef>(&e.node);
      symbolic = symbolic || (var && !cx.is_open_name(cx.symbol(var->var).name)) ||
                 std::holds_alternative<ir::StrideOf>(e.node) ||
                 std::holds_alternative<ir::ConfigRead>(e.node);
    });
    if (!symbolic) continue;
    cx.report(
        "E-I07", parameter.span,
        fmt::format("dimension {} of `{}` is distributed, so its extent must be a number or a template value",
                    i, s.name));
    return;
  }
}

// Elaborates the behaviour with unknown template values, for its own errors; then what needs parameter types.
void check_behaviour(Context& cx, InstrDefinition& d) {
  for (const std::string& name : d.templates) cx.declare_open_name(name);
  for (const auto& extra : d.extras) cx.declare_open_name(extra.name);
  for (const auto& [name, e] : d.lets) cx.declare_open_name(name);
  if (d.def->has_return_type) cx.report("E-P23", d.def->return_span, "instructions return nothing");
  for (const ast::Param& p : d.def->params) declare_parameter(cx, p);
  procedure_body(cx, d.def->body);
  if (cx.failed()) return;
  const auto modes = access_modes(cx.procedure);
  for (std::size_t i = 0; i < d.def->params.size(); ++i) {
    const std::string& name = d.def->params[i].name;
    const ir::Symbol& s = cx.symbol(cx.procedure.parameters[i]);
    const bool mutated = modes[i] == ir::AccessMode::write_only || modes[i] == ir::AccessMode::read_write;
    if (d.atomic.contains(name) && !mutated) {
      cx.report("E-I06", d.def->params[i].span,
                fmt::format("`{}` is atomic, but the body does not change it", name));
    }
    if (const auto spread = d.distributed.find(name); spread != d.distributed.end()) {
      check_distributed(cx, *spread->second, d.def->params[i], s);
    }
  }
}

}  // namespace

std::vector<std::string> InstrDefinition::keywords() const {
  std::vector<std::string> out = precisions;
  out.insert(out.end(), templates.begin(), templates.end());
  for (const Extra& extra : extras) out.push_back(extra.name);
  return out;
}

bool is_instr_decorator(const ast::Decorator& decorator) {
  const auto* call = std::get_if<ast::CallExpr>(&decorator.value->node);
  const auto* name = std::get_if<ast::Name>(call ? &call->callee->node : &decorator.value->node);
  return name && name->text == "instr";
}

InstrDefinition define_instr(FileScope& scope, const std::shared_ptr<const ast::File>& file,
                             const ast::DefStmt& def, std::shared_ptr<const MetaEnvironment> constants,
                             bool library, semantics::Diagnostics& out) {
  InstrDefinition d;
  d.name = def.name;
  d.file = file;
  d.def = &def;
  d.constants = std::move(constants);
  d.library = library;
  Context cx(scope, d.constants, file->source, Flavour::definition);
  cx.procedure.name = def.name;
  AttributeReader reader(cx, d);
  const auto decorator = std::find_if(def.decorators.begin(), def.decorators.end(), is_instr_decorator);
  if (decorator != def.decorators.end())
    reader.read(*decorator);
  else
    reader.read_comment(def.instr_comment);
  if (!cx.failed()) check_behaviour(cx, d);
  d.faulty = cx.failed();
  out.insert(out.end(), cx.diagnostics.begin(), cx.diagnostics.end());
  return d;
}

}  // namespace exocheck::frontend
