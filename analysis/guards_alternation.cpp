// The alternation check of language.md 10.6.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/buffers.hpp"
#include "analysis/guards.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;

enum class Event { none, arrive, await, call };

// Bodies of `with` blocks and parallel loops belong to the surrounding straight line (decisions.md L1).
const ir::Block* spliced_body(const ir::Stmt& s) {
  if (const auto* w = std::get_if<ir::Warps>(&s.node)) return &w->body;
  if (const auto* f = std::get_if<ir::DeviceFunction>(&s.node)) return &f->body;
  if (const auto* loop = std::get_if<ir::For>(&s.node)) {
    if (loop->mode == ir::LoopMode::cuda_threads || loop->mode == ir::LoopMode::cuda_tasks)
      return &loop->body;
  }
  return nullptr;
}

void flatten(const ir::Block& block, std::vector<const ir::Stmt*>& out) {
  for (const ir::Stmt& s : block) {
    if (const ir::Block* inner = spliced_body(s)) {
      flatten(*inner, out);
    } else {
      out.push_back(&s);
    }
  }
}

class Alternation {
 public:
  Alternation(BarrierReporter& out, const BarrierUses& z, ir::SymId g) : out_(out), z_(z), g_(g) {
    // A guarded barrier starts with an Await of its guard, a cluster sync with an Arrive; others as they
    // please.
    if (g != z.var) first_ = Event::await;
    if (out.procedure.symbol(z.var).mechanism->cluster_sync()) first_ = Event::arrive;
  }

  void run() { check(*z_.block, nullptr); }

 private:
  Event event(const ir::Stmt& s) const {
    if (const auto* a = std::get_if<ir::Arrive>(&s.node)) {
      const bool ours = !a->targets.empty() && a->targets.front().var == z_.var;
      return ours ? Event::arrive : Event::none;
    }
    if (const auto* a = std::get_if<ir::Await>(&s.node))
      return a->barrier.var == g_ ? Event::await : Event::none;
    if (const auto* c = std::get_if<ir::Call>(&s.node)) {
      return c->trailing && c->trailing->var == z_.var ? Event::call : Event::none;
    }
    return Event::none;
  }

  // False after an error: the rest of the program is not looked at.
  bool check(const ir::Block& block, const ir::Stmt* banned) {
    std::vector<const ir::Stmt*> body;
    flatten(block, body);
    Event open = Event::none;
    const ir::Stmt* opener = nullptr;
    std::vector<const ir::Stmt*> calls;
    for (const ir::Stmt* s : body) {
      const ir::Stmt* splitter = banned != nullptr ? banned : open != Event::none ? s : nullptr;
      for (const ir::Block* inner : ir::sub_blocks(*s)) {
        if (!check(*inner, splitter)) return false;
      }
      const Event e = event(*s);
      if (e == Event::none) continue;
      if (banned != nullptr) return split(*s, *banned);
      if (first_ == Event::none) first_ = e == Event::await ? Event::await : Event::arrive;
      switch (e) {
        case Event::none:
          break;
        case Event::arrive:
          if (await_missing(open)) return await_expected(*s, "Arrive on");
          open = first_ == Event::await ? Event::none : Event::arrive;
          opener = s;
          break;
        case Event::await:
          if (open == Event::await || (first_ == Event::arrive && open != Event::arrive))
            return arrive_expected(*s);
          open = first_ == Event::await ? Event::await : Event::none;
          opener = s;
          break;
        case Event::call:
          if (await_missing(open)) return await_expected(*s, "trailing barrier on");
          calls.push_back(s);
          break;
      }
    }
    if (open != Event::none) return left_open(*opener, open);
    return std::all_of(calls.begin(), calls.end(), [&](const ir::Stmt* c) { return covered(*c, body); });
  }

  bool await_missing(Event open) const {
    return (first_ == Event::await && open != Event::await) || open == Event::arrive;
  }

  std::string pair_text() const {
    return g_ == z_.var ? fmt::format("Arrive and Await of `{}`", out_.name(z_.var))
                        : fmt::format("Await of `{}` and Arrive on `{}`, which it guards,", out_.name(g_),
                                      out_.name(z_.var));
  }

  bool split(const ir::Stmt& s, const ir::Stmt& control) {
    const bool loop = std::holds_alternative<ir::For>(control.node);
    auto* d = out_.report("E-G10", z_.var, s.span,
                          fmt::format("{} may not be split by control flow, but this {} separates them",
                                      pair_text(), loop ? "seq loop" : "if"));
    if (d != nullptr) d->related.push_back(out_.note(loop ? "the loop" : "the if", control));
    return fail(d);
  }

  bool await_expected(const ir::Stmt& s, const char* what) {
    return fail(out_.report("E-G11", z_.var, s.span,
                            fmt::format("expected an Await of `{}` before this {} `{}`, in the same body",
                                        out_.name(g_), what, out_.name(z_.var))));
  }

  bool arrive_expected(const ir::Stmt& s) {
    return fail(
        out_.report("E-G12", z_.var, s.span,
                    fmt::format("expected an Arrive on `{}` before this Await of `{}`, in the same body",
                                out_.name(z_.var), out_.name(g_))));
  }

  bool left_open(const ir::Stmt& opener, Event open) {
    return fail(out_.report(
        "E-G13", z_.var, opener.span,
        open == Event::await ? fmt::format("this Await of `{}` has no later Arrive on `{}` in the same body",
                                           out_.name(g_), out_.name(z_.var))
                             : fmt::format("this Arrive on `{}` has no later Await of `{}` in the same body",
                                           out_.name(z_.var), out_.name(g_))));
  }

  // E-G14, E-G15: an Arrive of the same body signals what the call completes (decisions.md L9).
  bool covered(const ir::Stmt& call, const std::vector<const ir::Stmt*>& body) {
    const std::vector<ir::Access>& wanted = std::get<ir::Call>(call.node).trailing->index;
    bool any = false;
    for (const ir::Stmt* s : body) {
      if (event(*s) != Event::arrive) continue;
      any = true;
      for (const ir::BarrierExpr& e : std::get<ir::Arrive>(s->node).targets) {
        if (subset(wanted, e.index)) return true;
      }
    }
    if (!any) {
      return fail(out_.report(
          "E-G14", z_.var, call.span,
          fmt::format("the trailing barrier `{}` of this call needs an Arrive on it in the same body",
                      out_.name(z_.var))));
    }
    return fail(out_.report(
        "E-G15", z_.var, call.span,
        fmt::format("the trailing barrier names elements of `{}` that no Arrive of this body signals; "
                    "they must be a subset of the elements of one expression of an Arrive",
                    out_.name(z_.var))));
  }

  static bool subset(const std::vector<ir::Access>& wanted, const std::vector<ir::Access>& given) {
    for (std::size_t i = 0; i < wanted.size() && i < given.size(); ++i) {
      if (wanted[i].interval() && !given[i].interval()) return false;
    }
    return true;
  }

  bool fail(semantics::Diagnostic* d) const {
    if (d != nullptr) {
      d->related.push_back(out_.note(fmt::format("`{}` is declared here", out_.name(z_.var)), *z_.allocation,
                                     semantics::Role::declaration));
    }
    return false;
  }

  BarrierReporter& out_;
  const BarrierUses& z_;
  ir::SymId g_;
  Event first_ = Event::none;
};

}  // namespace

void check_alternation(BarrierReporter& out, const BarrierUses& z, ir::SymId g) {
  Alternation(out, z, g).run();
}

}  // namespace exocheck::analysis
