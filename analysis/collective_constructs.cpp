#include "analysis/collective_constructs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::analysis {

using semantics::Related;
using semantics::Role;

Constructs::Constructs(const semantics::ir::Procedure& procedure, Facts& facts)
    : procedure_(procedure), facts_(facts) {
  facts_.symbol_limit = std::max(facts_.symbol_limit, static_cast<std::uint32_t>(procedure.symbols.size()));
}

void Constructs::add(SymId iter, Construct construct) { constructs_[iter] = std::move(construct); }

SymId Constructs::add_synthetic(Construct construct) {
  const SymId iter{facts_.symbol_limit++};
  facts_.synthetic_names[iter] = construct.text;
  add(iter, std::move(construct));
  return iter;
}

const Construct* Constructs::find(SymId iter) const {
  const auto it = constructs_.find(iter);
  return it == constructs_.end() ? nullptr : &it->second;
}

std::string Constructs::text(SymId iter) const {
  const Construct* c = find(iter);
  return c ? c->text : fmt::format("`{}`", name(iter));
}

std::string Constructs::name(SymId iter) const {
  if (semantics::ir::index(iter) < procedure_.symbols.size()) return procedure_.symbol(iter).name;
  return text(iter);
}

std::string Constructs::path(const CollTiling& tiling) const {
  std::string out;
  for (const CollTiling* t = &tiling; t != nullptr && t->how.iter; t = t->parent.get()) {
    const std::string step = text(*t->how.iter);
    // A top-level CudaWarps narrows in two steps but is one construct.
    const bool same = t->parent && t->parent->how.iter && find(*t->how.iter) && find(*t->parent->how.iter) &&
                      find(*t->how.iter)->stmt == find(*t->parent->how.iter)->stmt &&
                      find(*t->how.iter)->kind == ConstructKind::warps;
    if (same) continue;
    out = out.empty() ? step : step + " > " + out;
  }
  if (!out.empty()) return out;
  return tiling.geometry.cluster_dim == 1 ? "all threads of the CTA" : "all threads of the cluster";
}

std::string Constructs::iterator(const CollTiling& tiling, SymId iter) const {
  for (const CollTiling* t = &tiling; t != nullptr; t = t->parent.get()) {
    if (t->how.iter == iter) {
      return fmt::format("{} (thread pitch {}, index {})", text(iter), t->how.pitch, t->how.index.text());
    }
  }
  return text(iter);
}

std::string Constructs::text(const Failure& failure) const {
  const bool subject =
      failure.reason == Reason::reshape_misalign || failure.reason == Reason::reshape_straddle;
  if (!subject || !failure.culprit) return failure.text;
  return fmt::format("{}: {}", text(*failure.culprit), failure.text);
}

std::vector<Related> Constructs::notes(const Failure& failure, std::optional<SymId> self) const {
  if (!failure.culprit || failure.culprit == self) return {};
  const Construct* c = find(*failure.culprit);
  if (c == nullptr || !c->location.known()) return {};
  const char* what =
      failure.reason == Reason::scope_mismatch ? "narrows the collective here" : "has to change";
  return {{Role::context, fmt::format("{} {}", c->text, what), c->location}};
}

std::string_view code_of(Reason reason, Where where) {
  switch (reason) {
    case Reason::unit_range:
      return where == Where::loop ? "E-H03" : "E-H06";
    case Reason::unit_nonint:
    case Reason::unit_partial:
    case Reason::unit_unalignable:
    case Reason::domain_incompatible:
    case Reason::box_misalign:
    case Reason::reshape_misalign:
    case Reason::reshape_straddle:
      return "E-H06";
    case Reason::tile_ambiguous:
      return "E-H04";
    case Reason::tile_trivial:
      return "E-H05";
    case Reason::tile_too_many:
      return "E-H03";
    case Reason::scope_mismatch:
      return "E-H20";
  }
  throw semantics::InternalError("unknown reason");
}

}  // namespace exocheck::analysis
