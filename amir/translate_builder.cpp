#include "amir/translate_builder.hpp"

#include <algorithm>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
using semantics::ensure;
namespace am = semantics::amir;

namespace {

// Everything that tells two thread maps apart, as numbers.
std::vector<std::int64_t> key_of(const am::ThreadMap& map) {
  std::vector<std::int64_t> key{map.all_threads};
  for (const auto& dim : map.dims) {
    key.insert(key.end(), {dim.extent, dim.offset, dim.box, static_cast<std::int64_t>(dim.terms.size())});
    for (const auto& [iter, coefficient] : dim.terms) {
      key.insert(key.end(), {static_cast<std::int64_t>(semantics::ir::index(iter)), coefficient});
    }
  }
  return key;
}

void number(am::Body& body, std::uint32_t& next) {
  for (am::Node& node : body) {
    node.id = am::NodeId{next++};
    if (auto* loop = std::get_if<am::Loop>(&node.node)) number(loop->body, next);
    if (auto* branch = std::get_if<am::Branch>(&node.node)) {
      number(branch->then_body, next);
      number(branch->else_body, next);
    }
  }
}

}  // namespace

Builder::Builder(const Procedure& procedure, const analysis::Facts& facts)
    : procedure_(procedure), facts_(facts), windows_(procedure) {
  next_symbol_ = std::max(facts.symbol_limit, static_cast<std::uint32_t>(procedure.symbols.size()));
  for_each_stmt(procedure.body, [this](const Stmt& s) {
    if (const auto* window = std::get_if<WindowStmt>(&s.node)) windows_.define(*window);
  });
  note_writes();
  for (const SymId p : procedure.parameters) declare(p);
  for_each_stmt(procedure.body, [this](const Stmt& s) {
    if (const auto* alloc = std::get_if<Alloc>(&s.node)) declare(alloc->var);
  });
  for (const auto& [stmt, launch] : facts.launch) {
    program_.threads = std::max(program_.threads, launch.geometry.threads());
  }
}

void Builder::declare(SymId symbol) {
  const Symbol& s = procedure_.symbol(symbol);
  if (s.control()) return;
  am::Variable v;
  v.name = s.name;
  v.parameter = s.parameter;
  v.symbol = symbol;
  for (const ExprPtr& extent : s.shape) v.shape.push_back(windows_.without_strides(extent));
  if (s.kind == SymbolKind::barrier) {
    ensure(s.mechanism.has_value(), "barrier without a mechanism");
    v.barrier = true;
    v.memory = s.mechanism->text();
    v.shared = s.mechanism->mbarrier();
    if (const auto fact = facts_.barrier.find(symbol); fact != facts_.barrier.end())
      v.lowered = fact->second.lowered;
  } else {
    const semantics::MemoryType memory = windows_.memory(symbol);
    const semantics::MemoryRecord record = semantics::memory_record(memory, s.precision);
    if (record.sync_exempt) return;
    v.memory = memory.text();
    v.registers = record.registers;
    v.shared = record.shared;
    v.check_initialised = !s.parameter;
  }
  variables_.emplace(symbol, am::VarId{static_cast<std::uint32_t>(program_.variables.size())});
  program_.variables.push_back(std::move(v));
}

void Builder::note_writes() {
  for_each_stmt(procedure_.body, [this](const Stmt& s) {
    if (const auto* assign = std::get_if<Assign>(&s.node)) written_[windows_.base(assign->target)] = true;
    const auto* call = std::get_if<Call>(&s.node);
    if (call == nullptr || call->instr == nullptr) return;
    for (std::size_t i = 0; i < call->arguments.size(); ++i) {
      const AccessMode mode = call->instr->parameters[i].mode;
      const auto* read = std::get_if<Read>(&call->arguments[i]->node);
      if (read != nullptr && (mode == AccessMode::write_only || mode == AccessMode::read_write)) {
        written_[windows_.base(read->var)] = true;
      }
    }
  });
}

std::optional<am::VarId> Builder::find(SymId base) const {
  const auto it = variables_.find(base);
  if (it == variables_.end()) return std::nullopt;
  return it->second;
}

bool Builder::checked(SymId base) const {
  if (written_.contains(base)) return true;
  const auto v = find(base);
  return v && (variable(*v).shared || variable(*v).registers || variable(*v).barrier);
}

am::Target Builder::whole(am::VarId v) const {
  am::Target target{v, {}, false};
  for (const ExprPtr& extent : variable(v).shape) target.index.push_back({int_const(0), extent});
  return target;
}

std::uint32_t Builder::map(const analysis::TilingPtr& tiling) {
  am::ThreadMap out;
  out.all_threads = tiling == nullptr;
  if (tiling) {
    // A CudaWarps block's hidden iterator is always 0 and has no value in the environment.
    std::vector<SymId> hidden;
    for (const auto& dim : tiling->dims) {
      for (const auto& op : dim.ops) {
        if (op.hidden) hidden.push_back(op.iter);
      }
    }
    const analysis::ThreadMap threads = analysis::thread_map(*tiling);
    for (const auto& dim : threads.dims) {
      am::ThreadMap::Dim d{dim.extent, dim.offset, {}, dim.box};
      for (const auto& term : dim.terms) {
        if (std::find(hidden.begin(), hidden.end(), term.first) == hidden.end()) d.terms.push_back(term);
      }
      out.dims.push_back(std::move(d));
    }
  }
  const auto [it, added] = maps_.emplace(key_of(out), static_cast<std::uint32_t>(program_.maps.size()));
  if (added) program_.maps.push_back(std::move(out));
  return it->second;
}

SymId Builder::fresh_iterator(const std::string& name) {
  const SymId symbol{next_symbol_++};
  synthetic_names[symbol] = name;
  return symbol;
}

am::Program Builder::finish(am::Body body) {
  program_.body = std::move(body);
  number(program_.body, program_.node_count);
  program_.symbol_count = next_symbol_;
  return std::move(program_);
}

}  // namespace exocheck::amir
