#include "frontend/elaborate_with.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "semantics/errors.hpp"

namespace exocheck::frontend {
namespace {

using StmtNode = decltype(ir::Stmt::node);

struct Setting {
  std::string name;
  MetaValue value;
  Span span;
};

// Binds positional and keyword arguments to the context's settings; None counts as not given.
std::optional<std::vector<Setting>> settings(Context& cx, const ast::CallExpr& call, std::string_view context,
                                             const std::vector<std::string>& positional,
                                             const std::vector<std::string>& keyword_only) {
  std::vector<Setting> out;
  bool ok = true;
  std::size_t position = 0;
  for (const ast::Argument& a : call.arguments) {
    std::string name;
    if (a.star) {
      cx.report("E-P70", a.span, fmt::format("{} takes no `*`", context));
      ok = false;
      continue;
    }
    if (!a.keyword && position >= positional.size()) {
      cx.report("E-P70", a.span,
                fmt::format("{} takes at most {} positional arguments", context, positional.size()));
      ok = false;
      continue;
    }
    name = a.keyword ? *a.keyword : positional[position++];
    const bool known = std::find(positional.begin(), positional.end(), name) != positional.end() ||
                       std::find(keyword_only.begin(), keyword_only.end(), name) != keyword_only.end();
    if (!known) {
      std::vector<std::string> all = positional;
      all.insert(all.end(), keyword_only.begin(), keyword_only.end());
      cx.report("E-P70", a.span,
                fmt::format("{} has no setting `{}`{}", context, name, suggestion_text(name, all)));
      ok = false;
      continue;
    }
    if (std::any_of(out.begin(), out.end(), [&](const Setting& s) { return s.name == name; })) {
      cx.report("E-P70", a.span, fmt::format("{} is given `{}` twice", context, name));
      ok = false;
      continue;
    }
    auto v = cx.meta(*a.value, "E-P70");
    if (!v) {
      ok = false;
      continue;
    }
    out.push_back({std::move(name), std::move(*v), a.value->span});
  }
  if (!ok) return std::nullopt;
  std::erase_if(out, [](const Setting& s) { return std::holds_alternative<MetaNone>(s.value.value); });
  return out;
}

bool wrong_kind(Context& cx, const Setting& s, std::string_view expected) {
  cx.report("E-P70", s.span, fmt::format("`{}` must be {}, not {}", s.name, expected, meta_kind(s.value)));
  return false;
}

// ------------------------------------------------------------------------- CudaDeviceFunction

// An integer, or a number that the launch checks will refuse.
bool set_count(Context& cx, const Setting& s, std::int64_t& out, bool& valid) {
  if (const auto i = meta_int(s.value)) {
    out = *i;
    return true;
  }
  valid = false;
  return std::holds_alternative<double>(s.value.value) || wrong_kind(cx, s, "an integer");
}

bool optional_register_count(Context& cx, const Setting& list, const MetaValue& v, std::string_view field,
                             std::optional<std::int64_t>& out) {
  if (std::holds_alternative<MetaNone>(v.value)) return true;
  out = meta_int(v);
  if (out) return true;
  cx.report("E-P70", list.span,
            fmt::format("{} of a CudaWarpConfig must be an integer or None, not {}", field, meta_kind(v)));
  return false;
}

bool warp_entry(Context& cx, const Setting& list, const MetaValue& v, std::vector<ir::WarpConfig>& out) {
  const auto* entry = std::get_if<MetaWarpConfig>(&v.value);
  if (!entry) {
    cx.report("E-P70", list.span,
              fmt::format("warp_config is a list of CudaWarpConfig(...), but has {}", meta_kind(v)));
    return false;
  }
  ir::WarpConfig config;
  config.span = entry->span;
  const auto* name = std::get_if<std::string>(&entry->fields.at(0).value);
  if (!name) {
    cx.report("E-P70", entry->span, "the name of a CudaWarpConfig must be a string");
    return false;
  }
  config.name = *name;
  const auto count = meta_int(entry->fields.at(1));
  if (!count && !std::holds_alternative<double>(entry->fields.at(1).value)) {
    cx.report("E-P70", entry->span, "the number of warps of a CudaWarpConfig must be an integer");
    return false;
  }
  config.count = count.value_or(0);  // E-W05
  const bool dec =
      optional_register_count(cx, list, entry->fields.at(2), "setmaxnreg_dec", config.setmaxnreg_dec);
  const bool inc =
      optional_register_count(cx, list, entry->fields.at(3), "setmaxnreg_inc", config.setmaxnreg_inc);
  out.push_back(std::move(config));
  return dec && inc;
}

bool set_warps(Context& cx, const Setting& s, ir::LaunchConfig& out) {
  const std::vector<MetaValue>* items = nullptr;
  if (const auto* list = std::get_if<MetaList>(&s.value.value)) items = &list->items;
  if (const auto* tuple = std::get_if<MetaTuple>(&s.value.value)) items = &tuple->items;
  if (!items) return wrong_kind(cx, s, "a list of CudaWarpConfig(...)");
  std::vector<ir::WarpConfig> warps;
  bool ok = true;
  for (const MetaValue& v : *items) ok = warp_entry(cx, s, v, warps) && ok;
  out.warps = std::move(warps);
  return ok;
}

bool apply(Context& cx, const Setting& s, ir::LaunchConfig& out) {
  if (s.name == "blockDim") {
    if (const auto i = meta_int(s.value)) {
      out.block_dim = *i;
      return true;
    }
    if (const auto* d = std::get_if<double>(&s.value.value)) {
      out.block_dim_real = *d;
      return true;
    }
    return wrong_kind(cx, s, "an integer");
  }
  if (s.name == "clusterDim") return set_count(cx, s, out.cluster_dim, out.cluster_dim_valid);
  if (s.name == "blocks_per_sm") return set_count(cx, s, out.blocks_per_sm, out.blocks_per_sm_valid);
  if (s.name == "warp_config") return set_warps(cx, s, out);
  semantics::ensure(s.name == "unsafe_no_shutdown_cluster_sync", "unknown launch setting");
  if (const auto* b = std::get_if<bool>(&s.value.value)) {
    out.no_shutdown_cluster_sync = *b;
    return true;
  }
  return wrong_kind(cx, s, "True or False");
}

std::optional<StmtNode> device_function(Context& cx, const ast::CallExpr& call) {
  const auto given =
      settings(cx, call, "CudaDeviceFunction", {"blockDim", "clusterDim", "blocks_per_sm", "warp_config"},
               {"unsafe_no_shutdown_cluster_sync"});
  if (!given) return std::nullopt;
  ir::DeviceFunction node;
  bool ok = true;
  for (const Setting& s : *given) ok = apply(cx, s, node.config) && ok;
  if (!ok) return std::nullopt;
  return node;
}

// ---------------------------------------------------------------------------------- CudaWarps

std::optional<StmtNode> warps(Context& cx, const ast::CallExpr& call) {
  const auto given = settings(cx, call, "CudaWarps", {"lo", "hi"}, {"name"});
  if (!given) return std::nullopt;
  ir::Warps node;
  bool ok = true;
  for (const Setting& s : *given) {
    if (s.name == "name") {
      const auto* name = std::get_if<std::string>(&s.value.value);
      if (name)
        node.name = *name;
      else
        ok = wrong_kind(cx, s, "a string");
      continue;
    }
    const auto bound = meta_int(s.value);
    if (!bound) {
      cx.report("E-W20", s.span,
                fmt::format("{} of CudaWarps must be an integer, not {}", s.name, meta_kind(s.value)));
      ok = false;
    }
    (s.name == "lo" ? node.lo : node.hi) = bound;
  }
  if (!ok) return std::nullopt;
  return node;
}

}  // namespace

std::optional<StmtNode> with_context(Context& cx, const ast::WithStmt& with, Span span) {
  if (with.items.size() != 1 || with.items[0].as) {
    cx.report(
        "E-P45", span,
        with.items.size() == 1 ? "a context has no `as` name" : "a `with` statement has exactly one context");
    return std::nullopt;
  }
  const ast::Expr& context = *with.items[0].context;
  const auto* call = std::get_if<ast::CallExpr>(&context.node);
  const auto* name = std::get_if<ast::Name>(call ? &call->callee->node : &context.node);
  if (call && name && name->text == "CudaDeviceFunction") return device_function(cx, *call);
  if (call && name && name->text == "CudaWarps") return warps(cx, *call);
  if (name && name->text == "CudaAsync") {
    cx.report("E-P61", context.span,
              "`with CudaAsync(...)` belongs to an old dialect; delete the block, instructions carry their "
              "timeline");
  } else if (name && (name->text == "python" || name->text == "exo")) {
    cx.report("E-P65", context.span,
              "metaprogramming must be expanded first; print the procedure and check the print");
  } else {
    cx.report("E-P70", context.span,
              fmt::format("`{}` is no context; there are CudaDeviceFunction(...) and "
                          "CudaWarps(...)",
                          cx.text(context)));
  }
  return std::nullopt;
}

}  // namespace exocheck::frontend
