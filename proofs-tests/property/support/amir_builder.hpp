// Building AMIR programs by hand, for tests of the abstract machines: one call per GPU IR access or sync
// statement, translated as abstract-machine.md 3 says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "semantics/amir_program.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::testing {

using semantics::Qual;
using semantics::QualSet;
using semantics::SyncTl;
using semantics::amir::Level;
using semantics::amir::Program;
using semantics::amir::Target;
using semantics::amir::ThreadMap;
using semantics::amir::VarId;
using semantics::amir::Window;
using semantics::ir::ExprPtr;
using semantics::ir::SymId;

ExprPtr num(std::int64_t value);
ExprPtr ref(SymId symbol);
Window point(std::int64_t index);
Window point(ExprPtr index);
Window range(std::int64_t lo, std::int64_t hi);  // half-open
Target at(VarId var, std::vector<Window> index = {});
// Every element of an array of this shape, row-major.
std::vector<Target> elements(VarId var, const std::vector<std::int64_t>& shape);
// All threads of every task (CPU scope).
ThreadMap everyone();
// Local threads [lo, hi) of a cluster of `extent` threads.
ThreadMap threads(std::int64_t lo, std::int64_t hi, std::int64_t extent);

enum class AccessMode { read, write, read_write, atomic };

// How one instruction parameter or plain statement touches memory. Without `extended` it is {initial};
// without `convergent` the default of the initial QualTL holds.
struct Access {
  AccessMode mode = AccessMode::read;
  Qual initial = Qual::ram;
  QualSet extended = {};
  bool in_order = true;
  std::optional<bool> convergent = {};
  QualSet atomic = {};
  std::vector<Target> trailing = {};
  std::string role = {};
};

class AmirBuilder {
 public:
  explicit AmirBuilder(std::int64_t threads_per_cluster);
  AmirBuilder(const AmirBuilder&) = delete;
  AmirBuilder& operator=(const AmirBuilder&) = delete;

  // Variables. Memories are allocated and freed by statements below; parameters live from the start.
  VarId parameter(std::string name, std::vector<std::int64_t> shape = {});
  VarId sized_parameter(std::string name, std::vector<ExprPtr> shape);
  VarId shared(std::string name, std::vector<std::int64_t> shape = {});
  VarId registers(std::string name, std::vector<std::int64_t> shape = {});
  VarId barrier(std::string name, std::vector<std::int64_t> shape = {},
                semantics::LoweredBarrier lowered = semantics::LoweredBarrier::mbarrier);
  SymId symbol();

  // The thread map of the statements that follow.
  void scope(ThreadMap map);

  void access(const Target& target, const Access& how);
  void check(const Target& target, bool reads, bool convergent, Level level, QualSet quals,
             semantics::amir::Purpose purpose, bool overwrites = false);
  void record(const Target& target, const Access& how);
  void fence(SyncTl first, SyncTl second);
  void fence(bool transitive, QualSet first, QualSet full, QualSet temporal);
  void arrive(SyncTl first, const Target& home);  // references the home only
  void arrive(SyncTl first, const Target& home, std::vector<Target> referenced);
  void arrive(bool transitive, QualSet first, const Target& home, std::vector<Target> referenced);
  void await(const Target& barrier, SyncTl second, std::int64_t n);
  void await(const Target& barrier, QualSet full, QualSet temporal, std::int64_t n);
  void alloc(VarId var);
  void free(VarId var);  // the bare Free node
  // Free with its checks: CheckBarrier of a barrier; of shared memory by the current threads at `level`.
  void free_checked(VarId var, Level level = Level::temporal);
  void check_barrier(VarId var);
  void init_read(const Target& target);
  void init_write(const Target& target);
  void inc_task();
  void loop(SymId iter, ExprPtr lo, ExprPtr hi, const std::function<void()>& body);
  void branch(ExprPtr condition, const std::function<void()>& then_body,
              const std::function<void()>& else_body = {});

  std::int64_t threads_per_cluster() const { return program_.threads; }
  // The node that was added last.
  semantics::amir::NodeId last() const;
  Program finish();

 private:
  VarId add(semantics::amir::Variable variable, const std::vector<std::int64_t>& shape);
  template <class T>
  void add(T node, std::string role = {});

  Program program_;
  std::vector<semantics::amir::Body*> open_;
};

}  // namespace exocheck::testing
