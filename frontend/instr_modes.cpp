#include "frontend/instr_modes.hpp"

#include "semantics/ir_util.hpp"

namespace exocheck::frontend {

namespace ir = semantics::ir;

std::vector<ir::AccessMode> access_modes(const ir::Procedure& behaviour) {
  struct Touch {
    bool read = false;
    bool written = false;
  };
  std::vector<Touch> touched(behaviour.symbols.size());
  std::vector<ir::SymId> base(behaviour.symbols.size());
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = ir::SymId{static_cast<std::uint32_t>(i)};

  ir::for_each_stmt(behaviour.body, [&](const ir::Stmt& s) {
    if (const auto* w = std::get_if<ir::WindowStmt>(&s.node))
      base[ir::index(w->result)] = base[ir::index(w->base)];
    if (const auto* a = std::get_if<ir::Assign>(&s.node)) {
      Touch& t = touched[ir::index(base[ir::index(a->target)])];
      t.written = true;
      t.read = t.read || a->reduce;
    }
    ir::for_each_expr(s, [&](const ir::Expr& e) {
      ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
        const auto* r = std::get_if<ir::Read>(&sub.node);
        if (r) touched[ir::index(base[ir::index(r->var)])].read = true;
      });
    });
  });

  std::vector<ir::AccessMode> modes;
  for (const ir::SymId p : behaviour.parameters) {
    const Touch& t = touched[ir::index(p)];
    modes.push_back(t.written ? (t.read ? ir::AccessMode::read_write : ir::AccessMode::write_only)
                              : (t.read ? ir::AccessMode::read_only : ir::AccessMode::unused));
  }
  return modes;
}

}  // namespace exocheck::frontend
