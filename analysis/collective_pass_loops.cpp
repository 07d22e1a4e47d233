// Device functions, cuda_threads loops and CudaWarps blocks (collective.md 4.2 - 4.4).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/buffers.hpp"
#include "analysis/collective_pass.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

using namespace semantics::ir;

namespace {

std::string warps_text(const Warps& w) {
  std::vector<std::string> parts;
  if (w.lo && w.hi) {
    parts = {std::to_string(*w.lo), std::to_string(*w.hi)};
  } else {
    if (w.lo) parts.push_back(fmt::format("lo={}", *w.lo));
    if (w.hi) parts.push_back(fmt::format("hi={}", *w.hi));
  }
  if (w.name) parts.push_back(fmt::format("name=\"{}\"", *w.name));
  return fmt::format("CudaWarps({})", fmt::join(parts, ", "));
}

const LaunchFacts::WarpGroup* find_group(const LaunchFacts& launch, const std::string& name) {
  const auto it = std::find_if(launch.warp_groups.begin(), launch.warp_groups.end(),
                               [&](const LaunchFacts::WarpGroup& g) { return g.name == name; });
  return it == launch.warp_groups.end() ? nullptr : &*it;
}

std::string group_names(const LaunchFacts& launch) {
  std::vector<std::string> names;
  for (const auto& g : launch.warp_groups) names.push_back(fmt::format("`{}` ({} warps)", g.name, g.count));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void CollectivePass::device_function(const Stmt& stmt, const DeviceFunction& f) {
  const auto it = context_.facts.launch.find(stmt.id);
  if (it == context_.facts.launch.end()) return;  // its launch parameters are wrong and reported
  const LaunchFacts& launch = it->second;
  Scope scope{device_tiling(launch.geometry), &launch, std::nullopt};
  if (launch.warp_groups.size() == 1) scope.warps = launch.warp_groups.front().name;
  walk(f.body, scope);
}

void CollectivePass::loop(const Stmt& stmt, const For& f, const Scope& scope) {
  const std::string& name = symbol(f.iter).name;
  Construct construct{ConstructKind::other_loop, fmt::format("loop `{}`", name), 0, &stmt, location(stmt)};
  if (f.mode != LoopMode::cuda_threads || !scope.tiling) {
    constructs_.add(f.iter, construct);
    walk(f.body, scope);
    return;
  }
  if (constant_value(*f.lo) != 0) {
    report("E-H01", location(*f.lo, stmt),
           fmt::format("the cuda_threads loop over `{}` must start at the literal 0, not at {}", name,
                       expression_text(context_.procedure, *f.lo)));
    return;
  }
  const auto count = constant_value(*f.hi);
  if (!count || *count < 1) {
    report(
        "E-H02", location(*f.hi, stmt),
        fmt::format(
            "the cuda_threads loop over `{}` needs an integer literal of at least 1 as upper bound, not {}",
            name, expression_text(context_.procedure, *f.hi)));
    return;
  }
  construct.kind = ConstructKind::thread_loop;
  construct.extent = *count;
  constructs_.add(f.iter, construct);
  auto result = derive(scope.tiling, f.iter, false, *f.unit, 0, *count, *count);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    std::string message = fmt::format("the loop over `{}` cannot divide the collective into {} of `{}`: {}",
                                      name, *count, f.unit->text(), constructs_.text(*failure));
    if (failure->maximum) message += fmt::format("; at most {} iterations are possible", *failure->maximum);
    report(code_of(failure->reason, Where::loop), location(stmt), std::move(message),
           constructs_.notes(*failure, f.iter));
    return;
  }
  Scope inner = scope;
  inner.tiling = std::get<TilingPtr>(result);
  context_.facts.body_tiling[stmt.id] = inner.tiling;
  walk(f.body, inner);
}

void CollectivePass::warps(const Stmt& stmt, const Warps& w, const Scope& scope) {
  if (!scope.tiling) {  // E-K09
    walk(w.body, scope);
    return;
  }
  const auto inner = warps_scope(stmt, w, scope);
  if (!inner) return;
  context_.facts.body_tiling[stmt.id] = inner->tiling;
  walk(w.body, *inner);
}

std::optional<CollectivePass::Scope> CollectivePass::warps_scope(const Stmt& stmt, const Warps& w,
                                                                 const Scope& scope) {
  const auto refuse = [&](std::string_view code, const std::string& message) {
    report(code, location(stmt), fmt::format("{}: {}", warps_text(w), message));
    return std::nullopt;
  };
  if (w.lo && *w.lo < 0) return refuse("E-W20", fmt::format("lo is {}, but must be at least 0", *w.lo));
  if (w.hi && *w.hi < 1) return refuse("E-W20", fmt::format("hi is {}, but must be at least 1", *w.hi));
  if (w.lo && w.hi && *w.lo >= *w.hi) {
    return refuse("E-W20", fmt::format("lo = {} must be less than hi = {}", *w.lo, *w.hi));
  }
  if (!w.name && !(w.lo && w.hi)) return refuse("E-W20", "without a name, both lo and hi must be given");
  if (!scope.warps) return named_warps(stmt, w, scope);

  if (w.name && *w.name != *scope.warps) {
    return refuse("E-W24", fmt::format("a nested block cannot change the warp name from `{}` to `{}`",
                                       *scope.warps, *w.name));
  }
  if (!w.lo)
    return refuse("E-W25",
                  "lo must be given, because the block is nested or the function has one warp group");
  if (!w.hi)
    return refuse("E-W25",
                  "hi must be given, because the block is nested or the function has one warp group");
  const auto* group = find_group(*scope.launch, *scope.warps);
  if (scope.launch->warp_groups.size() > 1 && group != nullptr && *w.hi > group->count) {
    return refuse("E-W23", fmt::format("hi = {} lies beyond the {} warps of group `{}`", *w.hi, group->count,
                                       group->name));
  }
  Scope inner = scope;
  inner.tiling = narrow(stmt, scope.tiling, *w.lo, *w.hi);
  if (!inner.tiling) return std::nullopt;
  return inner;
}

// The outermost CudaWarps of a function with several warp groups.
std::optional<CollectivePass::Scope> CollectivePass::named_warps(const Stmt& stmt, const Warps& w,
                                                                 const Scope& scope) {
  const std::string name = w.name.value_or("");
  const auto* group = find_group(*scope.launch, name);
  if (group == nullptr) {
    const std::string what =
        w.name ? fmt::format("there is no warp group `{}`", name) : "a warp name is missing";
    report(
        "E-W21", location(stmt),
        fmt::format("{}: {}; the device function has {}", warps_text(w), what, group_names(*scope.launch)));
    return std::nullopt;
  }
  if (const auto f = mismatch(scope.tiling, semantics::unit_agnostic_intact_cta())) {
    report("E-W22", location(stmt),
           fmt::format("{} needs all threads of a CTA, but {} has divided it: {}", warps_text(w),
                       f->culprit ? constructs_.text(*f->culprit) : constructs_.path(*scope.tiling),
                       constructs_.text(*f)),
           constructs_.notes(*f));
    return std::nullopt;
  }
  const std::int64_t lo = w.lo.value_or(0);
  const std::int64_t hi = w.hi.value_or(group->count);
  if (hi > group->count || lo >= hi) {
    report("E-W23", location(stmt),
           fmt::format("{}: the warps {} to {} are outside group `{}`, which has {} warps", warps_text(w), lo,
                       hi, name, group->count));
    return std::nullopt;
  }
  Scope inner = scope;
  inner.warps = name;
  inner.tiling = narrow(stmt, scope.tiling, group->first_warp, checked_add(group->first_warp, group->count));
  if (inner.tiling) inner.tiling = narrow(stmt, inner.tiling, lo, hi);
  if (!inner.tiling) return std::nullopt;
  return inner;
}

TilingPtr CollectivePass::narrow(const Stmt& stmt, const TilingPtr& tiling, std::int64_t lo,
                                 std::int64_t hi) {
  const std::string text = warps_text(std::get<Warps>(stmt.node));
  const SymId iter = constructs_.add_synthetic({ConstructKind::warps, text, 1, &stmt, location(stmt)});
  auto result = derive(tiling, iter, true, semantics::unit_warp(), lo, hi, 1);
  if (const auto* f = std::get_if<Failure>(&result)) {
    std::string message = fmt::format("{} cannot narrow the collective: {}", text, constructs_.text(*f));
    if (f->maximum) message += fmt::format("; hi can be at most {}", *f->maximum);
    report(code_of(f->reason, Where::loop), location(stmt), std::move(message), constructs_.notes(*f, iter));
    return nullptr;
  }
  return std::get<TilingPtr>(result);
}

}  // namespace exocheck::analysis
