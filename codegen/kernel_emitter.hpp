// One CudaDeviceFunction -> one kernel struct of the emitted file.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/barrier_plan.hpp"
#include "codegen/data_emitter.hpp"

namespace exocheck::codegen {

// A kernel argument: a symbol of the host code that the kernel uses.
struct KernelArgument {
  SymId symbol{};
  std::string member;       // of Args
  std::string declaration;  // "float* A"
  int strides = 0;          // of a window parameter: one more member, MEMBER_stride[strides]
};

struct KernelText {
  std::string name;                       // "Kernel_0"
  std::string definition;                 // of the struct
  std::vector<KernelArgument> arguments;  // in the order of the members
  std::set<int> wgmma_n;                  // of the accumulators used
};

class KernelEmitter : private DataEmitter {
 public:
  // `windows` have been defined by the host code around the kernel.
  KernelEmitter(Context& cx, const ir::Stmt& stmt, std::string name);

  KernelText run();

 private:
  // kernel_emitter.cpp
  void plan_memory();
  std::string task_count_text() const;
  void emit_setup(Text& text) const;
  void emit_run(Text& text) const;
  std::string emit_body(const analysis::LaunchFacts::WarpGroup& group, const std::string& function);
  std::string argument(SymId symbol);

  // kernel_statements.cpp
  void block(const ir::Block& block);
  void statement(const ir::Stmt& stmt);
  void nested(const std::string& test, const std::string& body, const ir::Block& statements);
  void allocate(const ir::Alloc& alloc, const ir::Stmt& stmt);
  void assign(const ir::Assign& assign, const ir::Stmt& stmt);
  void seq_loop(const ir::For& loop, const ir::Stmt& stmt);
  void thread_loop(const ir::For& loop, const ir::Stmt& stmt);
  void warps(const ir::Warps& warps, const ir::Stmt& stmt);
  void branch(const ir::If& branch);
  bool unrolled(const ir::For& loop) const;
  bool foreign(const ir::Stmt& stmt) const;
  bool used(SymId symbol) const;
  std::string register_type(const ir::Symbol& symbol, semantics::Span span);

  // kernel_sync.cpp
  void fence(const ir::Fence& fence, const ir::Stmt& stmt);
  void arrive(const ir::Arrive& arrive, const ir::Stmt& stmt);
  void await(const ir::Await& await, const ir::Stmt& stmt);
  void proxy_fence() { out_.line("xrt_fence_proxy_async();"); }
  const BarrierPlan& plan_of(SymId var) const;
  std::string slice_text(const BarrierPlan& plan, const ir::BarrierExpr& barrier) const;

  // kernel_calls.cpp, kernel_copies.cpp
  struct Operands;
  void call(const ir::Call& call, const ir::Stmt& stmt);
  bool copy_call(const Operands& o);
  bool warp_call(const Operands& o);
  bool shuffle_call(const Operands& o);
  bool warpgroup_call(const Operands& o);
  bool even_rows(const ir::Read& window) const;
  void tensor_load(const Operands& o, bool multicast);
  void tensor_store(const Operands& o, bool reduce);
  std::string matrix_text(const Place& p, const std::string& rows, const std::string& columns) const;
  std::vector<std::string> coordinates(SymId map, const std::vector<ir::Access>& index,
                                       int* first_interval) const;
  void require_whole_warps(const ir::Stmt& stmt);

  const ir::Stmt& stmt_;
  const ir::DeviceFunction& function_;
  const analysis::LaunchFacts& launch_;
  std::string name_;
  std::vector<const ir::For*> tasks_;
  const ir::Block* body_ = nullptr;
  std::vector<BarrierPlan> barriers_;
  std::map<SymId, std::int64_t> offsets_;       // of shared memory variables
  std::map<SymId, std::string> constants_;      // their names: "k_A_s"
  std::map<SymId, std::string> barrier_names_;  // of the shared addresses of mbarriers: "raw_at"
  std::int64_t smem_bytes_ = 0;
  std::vector<KernelArgument> arguments_;
  std::set<int> wgmma_n_;
  const analysis::LaunchFacts::WarpGroup* group_ = nullptr;
  std::set<SymId> used_;                    // by the code of the group
  std::vector<const ir::Stmt*> enclosing_;  // compound statements around the one in hand
  Text out_;
};

}  // namespace exocheck::codegen
