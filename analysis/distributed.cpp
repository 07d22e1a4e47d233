#include "analysis/distributed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

using semantics::Related;
using semantics::Role;
using semantics::ir::Access;
using semantics::ir::VarRef;

Related declaration(const DistributedVariable& x) {
  const std::string unit = x.native ? fmt::format("; one shard belongs to one `{}`", x.native->text()) : "";
  return {Role::declaration, fmt::format("`{}` is allocated here{}", x.name, unit), x.location};
}

// The native unit as a type; its failure is reported at the allocation, so it cannot fail at a use.
Result<CollType> native_type(const DistributedVariable& x) {
  return unpack(*x.native, x.allocation->geometry, Unpack::query);
}

bool iterates_after(const DimOp& op, int depth) { return op.depth > depth && op.tile_count > 1; }

// The iterators that must index the variable, in the order of the tiling's dimensions: those that divide the
// collective down to the shards and are newer than the allocation.
std::vector<SymId> required_iterators(const CollTiling& tiling, const std::vector<bool>& subdivided,
                                      int depth) {
  std::vector<SymId> out;
  for (std::size_t i = 0; i < tiling.dims.size(); ++i) {
    if (!subdivided[i]) continue;
    for (const DimOp& op : tiling.dims[i].ops) {
      if (iterates_after(op, depth)) out.push_back(op.iter);
    }
  }
  return out;
}

struct Classified {
  TilingPtr tiling;
  std::vector<bool> subdivided;  // per dimension; the others are intact
};

// Steps 1 and 3 of collective.md 6.5. Without a native unit every dimension counts as subdivided.
std::variant<Classified, Refusal> classify(const DistributedVariable& x, const TilingPtr& tiling,
                                           const Constructs& constructs) {
  if (!x.native) return Classified{tiling, std::vector<bool>(tiling->dims.size(), true)};
  auto type = native_type(x);
  semantics::ensure(std::holds_alternative<CollType>(type), "the native unit was checked at the allocation");
  auto completed = complete(tiling, std::get<CollType>(type));
  if (const auto* f = std::get_if<Failure>(&completed)) {
    std::vector<Related> related = constructs.notes(*f);
    related.push_back(declaration(x));
    return Refusal{
        "E-X02",
        fmt::format("this use of `{}` cannot be divided into collectives of its native unit `{}`: {}", x.name,
                    x.native->text(), constructs.text(*f)),
        std::move(related)};
  }
  const auto& [refined, delta] = std::get<Completed>(completed);
  Classified out{refined, {}};
  for (std::size_t i = 0; i < refined->dims.size(); ++i) out.subdivided.push_back(delta.box[i] == 1);
  return out;
}

std::optional<Refusal> require_subdivided(const DistributedVariable& x, const Classified& c,
                                          const Constructs& constructs) {
  if (!x.native) return std::nullopt;
  for (std::size_t i = 0; i < c.subdivided.size(); ++i) {
    if (!c.subdivided[i] || c.tiling->dims[i].box() == 1) continue;
    return Refusal{
        "E-X02",
        fmt::format("{} threads use `{}` together here ({}), but each shard belongs to one `{}`: the "
                    "collective has {} and needs box 1 along dimension {}",
                    c.tiling->threads(), x.name, constructs.path(*c.tiling), x.native->text(),
                    c.tiling->text(), i),
        {declaration(x)}};
  }
  return std::nullopt;
}

std::string listed(const std::vector<SymId>& iterators, const Constructs& constructs) {
  std::vector<std::string> names;
  for (const SymId iter : iterators) names.push_back(fmt::format("`{}`", constructs.name(iter)));
  return fmt::format("{}", fmt::join(names, ", "));
}

// One subscript of step 5; on success its pitch is appended and the iterator is no longer pending.
class Consumer {
 public:
  Consumer(const DistributedVariable& x, const DistributedUse& use, const Classified& c,
           const Constructs& constructs)
      : x_(x),
        use_(use),
        tiling_(*c.tiling),
        constructs_(constructs),
        required_(required_iterators(*c.tiling, c.subdivided, x.allocation->depth)),
        pending_(required_) {}

  std::variant<Deduction, Refusal> run() {
    Deduction out;
    for (std::size_t i = 0; i < use_.index.size(); ++i) {
      if (x_.native && pending_.empty()) break;
      if (auto refusal = consume(i, out)) return *refusal;
    }
    if (!pending_.empty()) {
      return refuse(
          "E-X07",
          fmt::format(
              "`{}` is used by a different collective in every iteration of {}, but {} is not among "
              "its leading subscripts here; allocate `{}` inside the loop or give it a dimension for it",
              use_.text, listed(pending_, constructs_), pending_.size() == 1 ? "it" : "each", x_.name));
    }
    return out;
  }

 private:
  std::optional<Refusal> consume(std::size_t i, Deduction& out) {
    const Access& access = use_.index[i];
    const auto* var = access.interval() ? nullptr : std::get_if<VarRef>(&access.lo->node);
    if (var == nullptr) {
      return refuse(
          "E-X03", fmt::format("subscript {} of `{}` must be a single variable, because dimension {} of `{}` "
                               "is distributed{}",
                               i, use_.text, i, x_.name, still_expected()));
    }
    const Construct* loop = constructs_.find(var->var);
    if (loop == nullptr || !loop->threads()) {
      return refuse(
          "E-X04",
          fmt::format("subscript {} of `{}` must be the iterator of a cuda_threads loop, but `{}` is "
                      "not{}",
                      i, use_.text, constructs_.name(var->var), still_expected()));
    }
    const std::int64_t pitch = thread_pitch(tiling_, var->var);
    if (pitch != 0) {
      if (!contains(required_, var->var)) return unexpected(i, var->var);
      if (!contains(pending_, var->var)) {
        return refuse("E-X06",
                      fmt::format("`{}` is repeated in `{}` before every distributed iterator was seen{}",
                                  constructs_.name(var->var), use_.text, still_expected()));
      }
      pending_.erase(std::find(pending_.begin(), pending_.end(), var->var));
    }
    if (auto refusal = check_extent(i, var->var, *loop)) return refusal;
    out.pitches.push_back(pitch);
    out.iterators.push_back(var->var);
    return std::nullopt;
  }

  std::optional<Refusal> unexpected(std::size_t i, SymId iter) const {
    const std::string why =
        x_.native ? fmt::format(
                        "it does not divide the collective between shards of the native unit `{}` below the "
                        "allocation",
                        x_.native->text())
                  : "its loop encloses the allocation";
    return refuse("E-X05",
                  fmt::format("`{}` is not an expected distributed iterator at subscript {} of `{}`: {}{}",
                              constructs_.name(iter), i, use_.text, why, still_expected()));
  }

  std::optional<Refusal> check_extent(std::size_t i, SymId iter, const Construct& loop) const {
    const auto& extent = x_.extents[i];
    if (!extent) {
      return refuse(
          "E-X09",
          fmt::format("dimension {} of `{}` is distributed over the {} iterations of {}, so its extent "
                      "must be a constant",
                      i, x_.name, loop.extent, loop.text));
    }
    if (*extent != loop.extent) {
      return refuse(
          "E-X08",
          fmt::format("dimension {} of `{}` has extent {}, but {} (`{}` in `{}`) has {} iterations", i,
                      x_.name, *extent, loop.text, constructs_.name(iter), use_.text, loop.extent));
    }
    return std::nullopt;
  }

  Refusal refuse(std::string_view code, std::string message) const {
    return {code, std::move(message), {declaration(x_)}};
  }

  std::string still_expected() const {
    if (pending_.empty()) return "";
    return fmt::format("; still expected: {}", listed(pending_, constructs_));
  }

  static bool contains(const std::vector<SymId>& list, SymId iter) {
    return std::find(list.begin(), list.end(), iter) != list.end();
  }

  const DistributedVariable& x_;
  const DistributedUse& use_;
  const CollTiling& tiling_;
  const Constructs& constructs_;
  std::vector<SymId> required_;
  std::vector<SymId> pending_;
};

std::int64_t subdivided_base(const Classified& c) {
  std::int64_t base = 0;
  for (std::size_t i = 0; i < c.subdivided.size(); ++i) {
    if (!c.subdivided[i]) continue;
    for (const DimOp& op : c.tiling->dims[i].ops) base += c.tiling->pitch(i) * op.offset;
  }
  return base;
}

}  // namespace

std::optional<Refusal> check_allocation(const DistributedVariable& x, const Constructs& constructs) {
  if (!x.native) return std::nullopt;
  const auto refuse = [&](const Failure& f) {
    return Refusal{"E-X01",
                   fmt::format("`{}` is allocated without all threads of its native unit `{}` ({}): {}",
                               x.name, x.native->text(), constructs.path(*x.allocation), constructs.text(f)),
                   constructs.notes(f)};
  };
  auto type = native_type(x);
  if (const auto* f = std::get_if<Failure>(&type)) return refuse(*f);
  auto completed = complete(x.allocation, std::get<CollType>(type));
  if (const auto* f = std::get_if<Failure>(&completed)) return refuse(*f);
  const auto& [refined, delta] = std::get<Completed>(completed);
  for (std::size_t i = 0; i < refined->dims.size(); ++i) {
    const DimDescription& dim = refined->dims[i];
    if (delta.box[i] == 1 || dim.box() == dim.extent) continue;
    return refuse({Reason::scope_mismatch,
                   fmt::format("the collective has {}, and dimension {} must be whole ({})", refined->text(),
                               i, dim.extent),
                   dim.ops.back().iter, std::nullopt});
  }
  return std::nullopt;
}

std::variant<Deduction, Refusal> imply_loops(std::string_view name,
                                             const std::vector<std::optional<std::int64_t>>& extents,
                                             DistributedUse& use, Constructs& constructs) {
  Deduction out;
  out.tiling = use.tiling;
  for (std::size_t i = 0; i < use.index.size() && out.implied.size() < use.units.size(); ++i) {
    const Access& access = use.index[i];
    if (!access.interval()) continue;
    if (!extents[i]) {
      return Refusal{"E-X09",
                     fmt::format("{} distributes dimension {} of `{}`, so its extent must be a constant",
                                 use.callee, i, name),
                     {}};
    }
    const std::int64_t extent = *extents[i];
    if (semantics::ir::constant_value(*access.lo) != 0 ||
        semantics::ir::constant_value(*access.hi) != extent) {
      return Refusal{
          "E-X10",
          fmt::format("{} distributes dimension {} of `{}`, so subscript {} of `{}` must be the full range "
                      "0:{}",
                      use.callee, i, name, i, use.text, extent),
          {}};
    }
    const CollUnit& unit = use.units[out.implied.size()];
    const SymId iter =
        constructs.add_synthetic({ConstructKind::implied_loop,
                                  fmt::format("the loop over `{}` implied by {}", unit.text(), use.callee),
                                  extent, nullptr, use.location});
    auto inner = derive(out.tiling, iter, false, unit, 0, extent, extent);
    if (const auto* f = std::get_if<Failure>(&inner)) {
      return Refusal{code_of(f->reason, Where::loop),
                     fmt::format("{} implies a loop of {} iterations over `{}` around `{}`: {}", use.callee,
                                 extent, unit.text(), use.text, constructs.text(*f)),
                     constructs.notes(*f, iter)};
    }
    out.tiling = std::get<TilingPtr>(inner);
    out.implied.push_back({iter, extent, use.written[i]});
    use.index[i] = {semantics::ir::var_ref(iter), nullptr};
  }
  if (out.implied.size() < use.units.size()) {
    return Refusal{"E-X10",
                   fmt::format("{} distributes {} dimensions, but `{}` has {} intervals", use.callee,
                               use.units.size(), use.text, out.implied.size()),
                   {}};
  }
  return out;
}

std::variant<Deduction, Refusal> deduce(const DistributedVariable& x, DistributedUse use,
                                        Constructs& constructs) {
  auto outer = classify(x, use.tiling, constructs);
  if (auto* refusal = std::get_if<Refusal>(&outer)) return *refusal;
  auto implied = imply_loops(x.name, x.extents, use, constructs);
  if (auto* refusal = std::get_if<Refusal>(&implied)) {
    refusal->related.push_back(declaration(x));
    return *refusal;
  }
  auto& inside = std::get<Deduction>(implied);
  auto inner = classify(x, inside.tiling, constructs);
  if (auto* refusal = std::get_if<Refusal>(&inner)) return *refusal;
  const auto& classified = std::get<Classified>(inner);
  if (auto refusal = require_subdivided(x, classified, constructs)) return *refusal;

  auto result = Consumer(x, use, classified, constructs).run();
  if (std::holds_alternative<Refusal>(result)) return result;
  Deduction out = std::get<Deduction>(std::move(result));
  out.base = x.native ? subdivided_base(classified) : 0;
  out.tiling = inside.tiling;
  out.implied = std::move(inside.implied);
  return out;
}

std::optional<Refusal> disagreement(const DistributedVariable& x, const DistributedUse& first_use,
                                    const Deduction& first, const Deduction& later,
                                    const Constructs& constructs) {
  const auto iterators = [&](const Deduction& d) {
    std::vector<std::string> parts;
    for (const SymId iter : d.iterators) parts.push_back(constructs.iterator(*d.tiling, iter));
    return d.iterators.empty() ? std::string("no iterator") : fmt::format("{}", fmt::join(parts, ", "));
  };
  const auto refuse = [&](std::string_view code, const std::string& message) {
    return Refusal{
        code,
        fmt::format("{}; this use is distributed by {}", message, iterators(later)),
        {{Role::first_access,
          fmt::format("the first use, `{}`, is distributed by {}; pitches ({}), base thread {}, {}",
                      first_use.text, iterators(first), fmt::join(first.pitches, ", "), first.base,
                      first.tiling->text()),
          first_use.location},
         declaration(x)}};
  };
  for (std::size_t k = 0; k < std::min(first.pitches.size(), later.pitches.size()); ++k) {
    if (first.pitches[k] == later.pitches[k]) continue;
    return refuse(
        "E-X12",
        fmt::format("uses of `{}` disagree on dimension {}: neighbouring elements are {} threads apart "
                    "here and {} threads apart at the first use",
                    x.name, k, later.pitches[k], first.pitches[k]));
  }
  if (first.pitches.size() != later.pitches.size()) {
    return refuse("E-X11",
                  fmt::format("this use of `{}` distributes {} dimensions, the first use {}; a loop of one "
                              "iteration used as a subscript is a likely reason",
                              x.name, later.pitches.size(), first.pitches.size()));
  }
  if (first.base != later.base) {
    return refuse(
        "E-X13",
        fmt::format("uses of `{}` start at different threads: element 0 belongs to thread {} here ({}; "
                    "{}) and to thread {} at the first use",
                    x.name, later.base, constructs.path(*later.tiling), later.tiling->text(), first.base));
  }
  return std::nullopt;
}

}  // namespace exocheck::analysis
