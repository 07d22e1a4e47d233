#include "frontend/printer_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/printer_names.hpp"
#include "frontend/printer_text.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

namespace ir = semantics::ir;
using ir::overloaded;
using ir::SymbolKind;

std::string control_type(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::size:
      return "size";
    case SymbolKind::index:
    case SymbolKind::iterator:
      return "index";
    case SymbolKind::boolean:
      return "bool @ DRAM";
    case SymbolKind::stride:
      return "stride @ DRAM";
    case SymbolKind::data:
    case SymbolKind::window:
    case SymbolKind::barrier:
      break;
  }
  throw semantics::InternalError("not a control symbol");
}

std::string optional_count(const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "None"; }

class ProcedurePrinter {
 public:
  ProcedurePrinter(const ir::Procedure& p, const ir::Program& program)
      : p_(p), program_(program), names_(printed_names(p)), print_(p, &names_) {}

  Lines run() {
    std::string parameters;
    for (const ir::SymId id : p_.parameters) {
      if (!parameters.empty()) parameters += ", ";
      parameters += parameter(id);
    }
    line(0, fmt::format("def {}({}):", p_.name, parameters), p_.name_span);
    for (const ir::Assertion& a : p_.assertions) line(1, "assert " + print_.expr(*a.condition), a.span);
    if (!p_.body.empty() || p_.assertions.empty()) block(1, p_.body);
    return std::move(out_);
  }

 private:
  void line(int indent, std::string text, std::optional<semantics::Span> source) {
    out_.push_back({indent, std::move(text), source});
  }

  std::string shape(const ir::Symbol& s) const {
    std::string out;
    for (std::size_t i = 0; i < s.shape.size(); ++i) {
      if (i > 0) out += ", ";
      const ir::DimAnnotation* a = i < s.annotations.size() ? &s.annotations[i] : nullptr;
      const bool annotated = a != nullptr && (a->ring_depth || a->unit);
      out += print_.expr(*s.shape[i], annotated ? level_multiply : level_any);
      if (annotated && a->ring_depth) out += fmt::format(" @ (ring_buffer_by(depth={}))", *a->ring_depth);
      if (annotated && a->unit) out += fmt::format(" @ ({})", unit_text(*a->unit));
    }
    return out.empty() ? out : fmt::format("[{}]", out);
  }

  static std::string memory(const ir::Symbol& s) { return s.memory ? s.memory->text() : "DRAM"; }

  std::string parameter(ir::SymId id) const {
    const ir::Symbol& s = p_.symbol(id);
    const std::string& name = print_.name(id);
    if (s.control()) return fmt::format("{}: {}", name, control_type(s.kind));
    const std::string_view element = semantics::name(s.precision);
    if (s.kind == SymbolKind::window)
      return fmt::format("{}: [{}]{} @ {}", name, element, shape(s), memory(s));
    return fmt::format("{}: {}{} @ {}", name, element, shape(s), memory(s));
  }

  std::string allocation(ir::SymId id) const {
    const ir::Symbol& s = p_.symbol(id);
    std::string out = print_.name(id) + ": ";
    if (s.kind == SymbolKind::barrier) {
      out += "barrier";
      if (s.guard) out += fmt::format("({})", print_.name(*s.guard));
    } else {
      out += semantics::name(s.precision);
    }
    out += shape(s);
    if (s.ring_guard) out += fmt::format(".ring_guarded_by({})", print_.name(*s.ring_guard));
    return fmt::format("{} @ {}", out, s.mechanism ? s.mechanism->text() : memory(s));
  }

  // The special window is written where it is made, not where a window of it is taken.
  std::string window(const ir::WindowStmt& w) const {
    const ir::Symbol& result = p_.symbol(w.result);
    std::string out = fmt::format("{} = {}", print_.name(w.result), print_.indexed(w.base, w.index));
    if (result.memory != p_.symbol(w.base).memory) out += " @ " + memory(result);
    return out;
  }

  std::string call(const ir::Call& c, const std::string& callee) const {
    std::string arguments;
    const auto add = [&arguments](const std::string& text) {
      if (!arguments.empty()) arguments += ", ";
      arguments += text;
    };
    for (const ir::ExprPtr& a : c.arguments) add(print_.expr(*a));
    if (c.instr) {
      for (const auto& [name, value] : c.instr->template_values) add(fmt::format("{}={}", name, value));
    }
    std::string out = fmt::format("{}({})", callee, arguments);
    if (c.trailing) out += " >> " + print_.barrier(*c.trailing);
    return out;
  }

  std::string loop(const ir::For& f) const {
    std::string mode;
    switch (f.mode) {
      case ir::LoopMode::seq:
        mode = "seq";
        break;
      case ir::LoopMode::par:
        mode = "par";
        break;
      case ir::LoopMode::cuda_tasks:
        mode = "cuda_tasks";
        break;
      case ir::LoopMode::cuda_threads:
        mode = "cuda_threads";
        break;
    }
    std::string out =
        fmt::format("for {} in {}({}, {}", print_.name(f.iter), mode, print_.expr(*f.lo), print_.expr(*f.hi));
    if (f.unroll) out += fmt::format(", pragma_unroll={}", *f.unroll);
    if (f.unit) out += fmt::format(", unit={}", unit_text(*f.unit));
    return out + "):";
  }

  static std::string warp_config(const std::vector<ir::WarpConfig>& warps) {
    std::string out;
    for (const ir::WarpConfig& w : warps) {
      out += fmt::format("{}CudaWarpConfig(name={}, count={}, setmaxnreg_dec={}, setmaxnreg_inc={})",
                         out.empty() ? "" : ", ", string_text(w.name), w.count,
                         optional_count(w.setmaxnreg_dec), optional_count(w.setmaxnreg_inc));
    }
    return fmt::format("[{}]", out);
  }

  static std::string device_function(const ir::LaunchConfig& c) {
    // Stands for a value that was no integer; the launch checks report it.
    constexpr std::string_view no_integer = "0.5";
    std::vector<std::string> settings;
    if (c.block_dim)
      settings.push_back(fmt::format("blockDim={}", *c.block_dim));
    else if (c.block_dim_real)
      settings.push_back(fmt::format("blockDim={}", real_text(*c.block_dim_real)));
    if (!c.cluster_dim_valid)
      settings.push_back(fmt::format("clusterDim={}", no_integer));
    else if (c.cluster_dim != 1)
      settings.push_back(fmt::format("clusterDim={}", c.cluster_dim));
    if (!c.blocks_per_sm_valid)
      settings.push_back(fmt::format("blocks_per_sm={}", no_integer));
    else if (c.blocks_per_sm != 1)
      settings.push_back(fmt::format("blocks_per_sm={}", c.blocks_per_sm));
    if (c.warps) settings.push_back("warp_config=" + warp_config(*c.warps));
    if (c.no_shutdown_cluster_sync) settings.emplace_back("unsafe_no_shutdown_cluster_sync=True");
    return fmt::format("with CudaDeviceFunction({}):", fmt::join(settings, ", "));
  }

  static std::string warps(const ir::Warps& w) {
    std::string out;
    if (w.lo || w.hi) out = optional_count(w.lo) + ", " + optional_count(w.hi);
    if (w.name) out += fmt::format("{}name={}", out.empty() ? "" : ", ", string_text(*w.name));
    return fmt::format("with CudaWarps({}):", out);
  }

  std::string arrive(const ir::Arrive& a) const {
    std::string out = fmt::format("Arrive({}, {})", semantics::name(a.first), a.count);
    for (const ir::BarrierExpr& b : a.targets) out += " >> " + print_.barrier(b);
    return out;
  }

  std::string await(const ir::Await& a) const {
    std::string out = fmt::format("Await({}, {}", print_.barrier(a.barrier), semantics::name(a.second));
    if (a.n_given) out += a.n < 0 ? fmt::format(", ~{}", ~a.n) : fmt::format(", {}", a.n);
    return out + ")";
  }

  void block(int indent, const ir::Block& statements) {
    if (statements.empty()) line(indent, "pass", std::nullopt);
    for (const ir::Stmt& s : statements) statement(indent, s);
  }

  void statement(int indent, const ir::Stmt& stmt) {
    const auto simple = [&](std::string text) { line(indent, std::move(text), stmt.span); };
    const auto compound = [&](std::string header, const ir::Block& body) {
      line(indent, std::move(header), stmt.span);
      block(indent + 1, body);
    };
    std::visit(
        overloaded{
            [&](const ir::Pass&) { simple("pass"); },
            [&](const ir::Assign& s) {
              simple(fmt::format("{} {} {}", print_.indexed(s.target, s.index), s.reduce ? "+=" : "=",
                                 print_.expr(*s.value)));
            },
            [&](const ir::ConfigWrite& s) {
              simple(fmt::format("{}.{} = {}", s.config, s.field, print_.expr(*s.value)));
            },
            [&](const ir::Alloc& s) { simple(allocation(s.var)); },
            [&](const ir::WindowStmt& s) { simple(window(s)); },
            [&](const ir::Call& s) { simple(call(s, callee(s))); },
            [&](const ir::For& s) { compound(loop(s), s.body); },
            [&](const ir::If& s) {
              compound(fmt::format("if {}:", print_.expr(*s.condition)), s.then_body);
              if (s.else_body.empty()) return;
              line(indent, "else:", std::nullopt);
              block(indent + 1, s.else_body);
            },
            [&](const ir::DeviceFunction& s) { compound(device_function(s.config), s.body); },
            [&](const ir::Warps& s) { compound(warps(s), s.body); },
            [&](const ir::Fence& s) {
              simple(fmt::format("Fence({}, {})", semantics::name(s.first), semantics::name(s.second)));
            },
            [&](const ir::Arrive& s) { simple(arrive(s)); },
            [&](const ir::Await& s) { simple(await(s)); },
        },
        stmt.node);
  }

  std::string callee(const ir::Call& c) const {
    return c.instr ? c.instr->name : program_.procedures.at(c.procedure.value()).name;
  }

  const ir::Procedure& p_;
  const ir::Program& program_;
  std::vector<std::string> names_;
  ExprPrinter print_;
  Lines out_;
};

// What a procedure is taken for without a pragma (decisions.md B1).
semantics::Dialect marked_dialect(const ir::Procedure& p) {
  using semantics::Dialect;
  using semantics::MechanismKind;
  using semantics::SyncTl;
  bool p_mark = false;
  bool r_mark = false;
  for (const ir::Symbol& s : p.symbols) {
    p_mark = p_mark || s.guard;
    r_mark = r_mark || s.ring_guard;
    for (const ir::DimAnnotation& a : s.annotations) r_mark = r_mark || a.ring_depth;
    if (!s.mechanism) continue;
    p_mark = p_mark || s.mechanism->kind == MechanismKind::CudaCommitGroup;
    r_mark = r_mark || s.mechanism->kind == MechanismKind::CudaMbarrierPreArrive ||
             (s.mechanism->commit_group() && s.mechanism->kind != MechanismKind::CudaCommitGroup);
  }
  bool weak_r = false;
  const auto timeline = [&](SyncTl t) {
    p_mark = p_mark || !semantics::exists(Dialect::R, t);
    r_mark = r_mark || !semantics::exists(Dialect::P, t);
  };
  ir::for_each_stmt(p.body, [&](const ir::Stmt& stmt) {
    if (const auto* s = std::get_if<ir::Fence>(&stmt.node)) {
      timeline(s->first);
      timeline(s->second);
    } else if (const auto* a = std::get_if<ir::Arrive>(&stmt.node)) {
      timeline(a->first);
    } else if (const auto* w = std::get_if<ir::Await>(&stmt.node)) {
      timeline(w->second);
      p_mark = p_mark || w->n < 0;
    } else if (const auto* d = std::get_if<ir::DeviceFunction>(&stmt.node)) {
      weak_r = weak_r || d->config.no_shutdown_cluster_sync;
    }
  });
  return r_mark || (weak_r && !p_mark) ? Dialect::R : Dialect::P;
}

std::string field_type(const ir::ExprType& t) {
  switch (t.kind) {
    case ir::TypeKind::integer:
    case ir::TypeKind::index:
      return "index";
    case ir::TypeKind::size:
      return "size";
    case ir::TypeKind::boolean:
      return "bool";
    case ir::TypeKind::stride:
      return "stride";
    case ir::TypeKind::data:
    case ir::TypeKind::tensor:
    case ir::TypeKind::window:
      break;
  }
  return std::string(semantics::name(t.precision.value()));
}

}  // namespace

std::string to_text(const Lines& lines) {
  std::string out;
  for (const Line& l : lines) {
    if (!l.text.empty()) out.append(static_cast<std::size_t>(l.indent * columns_per_level), ' ');
    out += l.text;
    out += '\n';
  }
  return out;
}

Lines procedure_lines(const ir::Procedure& procedure, const ir::Program& program) {
  return ProcedurePrinter(procedure, program).run();
}

Lines config_lines(const ir::Config& config) {
  Lines out{{0, "@config", std::nullopt}, {0, fmt::format("class {}:", config.name), config.span}};
  for (const ir::Config::Field& f : config.fields) {
    out.push_back({1, fmt::format("{}: {}", f.name, field_type(f.type)), std::nullopt});
  }
  if (config.fields.empty()) out.push_back({1, "pass", std::nullopt});
  return out;
}

Lines verbatim_lines(const semantics::SourceFile& source, semantics::Span span) {
  Lines out;
  std::string_view text = source.text(span);
  std::uint32_t begin = span.begin;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.remove_suffix(1);
    out.push_back(
        {0, std::string(line), semantics::Span{begin, begin + static_cast<std::uint32_t>(line.size())}});
    const std::size_t next = std::min(end + 1, text.size());
    text.remove_prefix(next);
    begin += static_cast<std::uint32_t>(next);
  }
  return out;
}

Lines size_lines(const ir::Procedure& procedure) {
  Lines out;
  for (const ir::SizeSet& set : procedure.size_sets) {
    std::string text;
    for (const auto& [name, value] : set)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    out.push_back({0, "# exocheck: sizes " + text, std::nullopt});
  }
  return out;
}

Lines pragma_lines(const ir::Program& program) {
  for (const ir::Procedure& p : program.procedures) {
    if (marked_dialect(p) == p.dialect) continue;
    return {{0, fmt::format("# exocheck: dialect={}", p.dialect == semantics::Dialect::P ? "P" : "R"),
             std::nullopt}};
  }
  return {};
}

}  // namespace exocheck::frontend
