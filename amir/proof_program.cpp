#include "amir/proof_program.hpp"

#include <algorithm>

#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;
using semantics::ir::overloaded;

namespace {

bool has_map(const prog::Node& node) {
  return std::visit(overloaded{
                        [](const prog::Check&) { return true; },
                        [](const prog::Record&) { return true; },
                        [](const prog::Fence&) { return true; },
                        [](const prog::Arrive&) { return true; },
                        [](const prog::Await&) { return true; },
                        [](const auto&) { return false; },
                    },
                    node.node);
}

// Does the host statement order everything on the device before it before everything on the device after it?
bool separates(const Program& program, const prog::Node& node) {
  const auto* fence = std::get_if<prog::Fence>(&node.node);
  return fence != nullptr && program.maps[node.map].all_threads && fence->transitive &&
         fence->first.contains(device_quals()) && fence->full.contains(device_quals());
}

bool increments(const prog::Body& body) {
  return std::any_of(body.begin(), body.end(),
                     [](const prog::Node& node) { return std::holds_alternative<prog::IncTask>(node.node); });
}

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {}

  Tasks run() {
    host(program_.body);
    out_.kernels = kernel_ + 1;
    return std::move(out_);
  }

 private:
  void host(const prog::Body& body) {
    for (const prog::Node& node : body) {
      if (is_device(program_, node)) {
        if (!entered_) throw GiveUp("a task does not follow a kernel's entry");
        device(node);
        in_kernel_ = true;
        continue;
      }
      if (separates(program_, node)) {
        if (in_kernel_) ++kernel_;
        in_kernel_ = false;
        entered_ = true;
        continue;
      }
      const bool life =
          std::holds_alternative<prog::Alloc>(node.node) || std::holds_alternative<prog::Free>(node.node);
      if (in_kernel_ && !life) throw GiveUp("a host statement stands between two tasks of a kernel");
      if (!life) entered_ = false;
      if (const auto* loop = std::get_if<prog::Loop>(&node.node)) {
        path_.push_back({Enclosing::Kind::loop, loop->iter, loop->lo, loop->hi, nullptr, false});
        host(loop->body);
        path_.pop_back();
      } else if (const auto* branch = std::get_if<prog::Branch>(&node.node)) {
        path_.push_back({Enclosing::Kind::holds, {}, nullptr, nullptr, branch->condition, false});
        host(branch->then_body);
        path_.back().kind = Enclosing::Kind::fails;
        host(branch->else_body);
        path_.pop_back();
      } else if (has_map(node) && !program_.maps[node.map].all_threads) {
        throw GiveUp("a kernel has a statement outside its tasks");
      }
    }
  }

  void device(const prog::Node& node) {
    if (const auto* loop = std::get_if<prog::Loop>(&node.node)) {
      path_.push_back({Enclosing::Kind::loop, loop->iter, loop->lo, loop->hi, nullptr, true});
      if (increments(loop->body)) {
        out_.tasks.push_back({&loop->body, path_, kernel_});
      } else {
        for (const prog::Node& inner : loop->body) device(inner);
      }
      path_.pop_back();
    } else if (const auto* branch = std::get_if<prog::Branch>(&node.node)) {
      path_.push_back({Enclosing::Kind::holds, {}, nullptr, nullptr, branch->condition, false});
      for (const prog::Node& inner : branch->then_body) device(inner);
      path_.back().kind = Enclosing::Kind::fails;
      for (const prog::Node& inner : branch->else_body) device(inner);
      path_.pop_back();
    } else {
      throw GiveUp("a kernel has a statement outside its tasks");
    }
  }

  const Program& program_;
  Tasks out_;
  Path path_;
  std::size_t kernel_ = 0;
  // After a task, before the end of its kernel; after a kernel's entry, before any host statement.
  bool in_kernel_ = false, entered_ = false;
};

}  // namespace

QualSet device_quals() {
  return semantics::sync_timeline(semantics::Dialect::P, semantics::SyncTl::cuda_stream_sync).full;
}

bool is_device(const Program& program, const prog::Node& node) {
  bool task = false, host = false;
  prog::for_each_node(node, [&](const prog::Node& inner) {
    task = task || std::holds_alternative<prog::IncTask>(inner.node);
    host = host || (has_map(inner) && program.maps[inner.map].all_threads);
  });
  return task && !host;
}

Entered enter(const Path& path, Formulas& formulas, Bindings& bindings, const std::vector<Linear>* given) {
  Entered out;
  for (const Enclosing& e : path) {
    if (e.kind != Enclosing::Kind::loop) {
      const FormulaId f = bindings.condition(formulas, *e.condition);
      out.condition = formulas.conj(out.condition, e.kind == Enclosing::Kind::holds ? f : formulas.negate(f));
      continue;
    }
    const Linear lo = bindings.linear(formulas, *e.lo), hi = bindings.linear(formulas, *e.hi);
    const Linear y = given != nullptr
                         ? (*given)[out.iterators.size()]
                         : formulas.declare("i" + std::to_string(semantics::ir::index(e.iterator)),
                                            smt::VariableRole::iterator);
    out.condition = formulas.conj(out.condition, formulas.negate(formulas.less(y, lo)));
    out.condition = formulas.conj(out.condition, formulas.less(y, hi));
    bindings.set(e.iterator, y);
    out.iterators.push_back(y);
  }
  return out;
}

Tasks find_tasks(const Program& program) { return Finder(program).run(); }

}  // namespace exocheck::amir::slices
