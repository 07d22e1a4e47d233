#include "frontend/instr_instance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_stmt.hpp"
#include "frontend/elaborate_type.hpp"
#include "frontend/instr_modes.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

// Why there is no instance; the place is in the definition.
struct Refusal {
  std::string message;
  semantics::Location location;
};

class InstanceBuilder {
 public:
  InstanceBuilder(FileScope& scope, const InstrDefinition& definition)
      : scope_(scope), d_(definition), instr_(std::make_shared<ir::Instr>()) {}

  InstanceResult build(const TemplateValues& given) {
    bind(given);
    if (!refusal_) derive();
    if (!refusal_) check_types();
    if (!refusal_) check_where();
    if (!refusal_) behaviour();
    if (!refusal_) attributes();
    if (!refusal_) return {std::move(instr_), {}, {}};
    InstanceResult result{nullptr, std::move(refusal_->message), {}};
    result.related.push_back({semantics::Role::declaration, fmt::format("`{}` is defined here", d_.name),
                              std::move(refusal_->location)});
    return result;
  }

 private:
  void refuse(std::string message, Span span) {
    if (!refusal_) refusal_ = Refusal{std::move(message), {d_.file->source, span}};
  }

  std::optional<MetaValue> evaluate(const ast::Expr& e) {
    MetaResult result = evaluate_meta(e, env_, d_.file->source, "E-P64");
    if (auto* failure = std::get_if<semantics::Diagnostic>(&result)) {
      refuse(std::move(failure->message), e.span);
      return std::nullopt;
    }
    return std::get<MetaValue>(std::move(result));
  }

  // Given values, then defaults of extras, then derived values: each may mention the ones before.
  void bind(const TemplateValues& given) {
    env_ = *d_.constants;
    for (const auto& [name, v] : given) env_.insert_or_assign(name, v);
    const auto is_given = [&](const std::string& name) {
      return std::any_of(given.begin(), given.end(), [&](const auto& g) { return g.first == name; });
    };
    for (const auto& extra : d_.extras) {
      if (is_given(extra.name)) continue;
      semantics::ensure(extra.default_value != nullptr, "required template value");
      auto v = evaluate(*extra.default_value);
      if (!v) return;
      env_.insert_or_assign(extra.name, std::move(*v));
    }
    instr_->name = d_.name;
    for (const std::string& name : d_.keywords()) {
      instr_->template_values.emplace_back(name, meta_text(env_.find(name)->second));
    }
  }
  void derive() {
    for (const auto& [name, e] : d_.lets) {
      auto v = evaluate(*e);
      if (!v) return;
      env_.insert_or_assign(name, std::move(*v));
    }
  }

  // `same`, or a set of tuples of precisions (of one parameter: bare precisions, too).
  void check_types() {
    if (d_.precisions.empty()) return;
    MetaTuple actual;
    for (const std::string& name : d_.precisions) actual.items.push_back(env_.find(name)->second);
    const auto allowed = evaluate(*d_.types);
    if (!allowed) return;
    bool ok = false;
    if (const auto* word = std::get_if<MetaWord>(&allowed->value); word && word->text == "same") {
      ok = std::all_of(actual.items.begin(), actual.items.end(),
                       [&](const MetaValue& v) { return v == actual.items.front(); });
    } else {
      const std::vector<MetaValue>* options = nullptr;
      if (const auto* set = std::get_if<MetaSet>(&allowed->value)) options = &set->items;
      if (const auto* list = std::get_if<MetaList>(&allowed->value)) options = &list->items;
      if (!options) return refuse("types= is neither `same` nor a set of precisions", d_.types->span);
      ok = std::any_of(options->begin(), options->end(), [&](const MetaValue& option) {
        const auto* tuple = std::get_if<MetaTuple>(&option.value);
        return tuple ? *tuple == actual : actual.items.size() == 1 && option == actual.items.front();
      });
    }
    if (ok) return;
    std::string text;
    for (std::size_t i = 0; i < d_.precisions.size(); ++i) {
      text += fmt::format("{}{}={}", i == 0 ? "" : ", ", d_.precisions[i], meta_text(actual.items[i]));
    }
    refuse(fmt::format("the precisions {} are not supported together", text), d_.types->span);
  }

  void check_where() {
    if (!d_.where) return;
    const auto v = evaluate(*d_.where);
    if (!v) return;
    const auto* holds = std::get_if<bool>(&v->value);
    if (!holds) return refuse("where= is no condition", d_.where->span);
    if (!*holds) refuse(fmt::format("{} does not hold", condition_text(d_.where->span)), d_.where->span);
  }
  std::string condition_text(Span span) const {
    std::string text(d_.file->source->text(span));
    std::replace(text.begin(), text.end(), '\n', ' ');
    return fmt::format("`{}`", text);
  }

  // The behaviour with every template value as a constant.
  void behaviour() {
    Context cx(scope_, std::make_shared<MetaEnvironment>(env_), d_.file->source, Flavour::behaviour);
    cx.procedure.name = d_.name;
    cx.procedure.name_span = d_.def->name_span;
    for (const ast::Param& p : d_.def->params) {
      if (std::find(d_.runtime.begin(), d_.runtime.end(), p.name) != d_.runtime.end())
        declare_parameter(cx, p);
    }
    procedure_body(cx, d_.def->body);
    const auto error = std::find_if(cx.diagnostics.begin(), cx.diagnostics.end(), [](const auto& diagnostic) {
      return diagnostic.severity == semantics::Severity::error;
    });
    if (error != cx.diagnostics.end()) return refuse(error->message, error->location.span);
    // Assertions about template values alone are decided now, the others at each call (language.md 9, O7).
    std::vector<ir::Assertion> open;
    for (const ir::Assertion& a : cx.procedure.assertions) {
      const auto value = ir::constant_value(*a.condition);
      if (value == 0)
        return refuse(fmt::format("{} does not hold", condition_text(a.condition->span)), a.span);
      if (!value) open.push_back(a);
    }
    cx.procedure.assertions = std::move(open);
    instr_->behaviour = std::move(cx.procedure);
  }

  // A list of units; nullopt after a refusal.
  std::optional<std::vector<semantics::CollUnit>> units(const ast::Expr& e) {
    const auto v = evaluate(e);
    if (!v) return std::nullopt;
    const std::vector<MetaValue>* items = nullptr;
    if (const auto* list = std::get_if<MetaList>(&v->value)) items = &list->items;
    if (const auto* tuple = std::get_if<MetaTuple>(&v->value)) items = &tuple->items;
    std::vector<semantics::CollUnit> out;
    bool ok = items != nullptr;
    for (std::size_t i = 0; ok && i < items->size(); ++i) {
      const auto* unit = std::get_if<semantics::CollUnit>(&(*items)[i].value);
      ok = unit != nullptr;
      if (unit) out.push_back(*unit);
    }
    if (ok) return out;
    refuse(fmt::format("{} is no list of collective units", condition_text(e.span)), e.span);
    return std::nullopt;
  }

  void attributes() {
    instr_->timeline = d_.timeline;
    instr_->barrier = d_.barrier;
    instr_->code = d_.code;
    instr_->library = d_.library;
    instr_->unit = semantics::unit_standalone_thread();
    if (d_.unit) {
      const auto v = evaluate(*d_.unit);
      if (!v) return;
      const auto* unit = std::get_if<semantics::CollUnit>(&v->value);
      if (!unit) return refuse("unit= is no collective unit", d_.unit->span);
      instr_->unit = *unit;
    }
    if (d_.barrier_units) {
      auto list = units(*d_.barrier_units);
      if (!list) return;
      instr_->barrier_units = std::move(*list);
    }
    const auto modes = access_modes(instr_->behaviour);
    for (std::size_t i = 0; i < modes.size() && !refusal_; ++i) {
      instr_->parameters.push_back(parameter(instr_->behaviour.parameters[i], modes[i]));
    }
  }

  ir::InstrParameter parameter(ir::SymId var, ir::AccessMode mode) {
    const ir::Symbol& s = instr_->behaviour.symbol(var);
    const auto listed = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), s.name) != names.end();
    };
    ir::InstrParameter p;
    p.var = var;
    p.mode = mode;
    p.out_of_order = listed(d_.out_of_order);
    p.out_of_bounds = listed(d_.out_of_bounds);
    if (const auto it = d_.convergent.find(s.name); it != d_.convergent.end()) p.convergent = it->second;
    if (const auto it = d_.quals.find(s.name); it != d_.quals.end()) p.quals = it->second;
    if (const auto it = d_.atomic.find(s.name); it != d_.atomic.end()) p.atomic = it->second;
    if (const auto it = d_.owner_only.find(s.name); it != d_.owner_only.end()) p.owner_only = it->second;
    const auto distributed = d_.distributed.find(s.name);
    if (distributed == d_.distributed.end()) return p;
    auto list = units(*distributed->second);
    if (!list) return p;
    p.distributed = std::move(*list);
    const bool constant =
        p.distributed.size() <= s.shape.size() &&
        std::all_of(s.shape.begin(), s.shape.begin() + static_cast<std::ptrdiff_t>(p.distributed.size()),
                    [](const ir::ExprPtr& e) { return ir::constant_value(*e).has_value(); });
    if (!constant) {
      refuse(fmt::format("`{}` needs {} constant leading extents to be distributed", s.name,
                         p.distributed.size()),
             distributed->second->span);
    }
    return p;
  }

  FileScope& scope_;
  const InstrDefinition& d_;
  std::shared_ptr<ir::Instr> instr_;
  MetaEnvironment env_;
  std::optional<Refusal> refusal_;
};

}  // namespace

InstanceResult build_instance(FileScope& scope, const InstrDefinition& definition,
                              const TemplateValues& given) {
  semantics::ensure(!definition.faulty, "instance of a faulty definition");
  return InstanceBuilder(scope, definition).build(given);
}

}  // namespace exocheck::frontend
