// The state of one sequential run (semantics/interpreter.hpp).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "semantics/interpreter.hpp"

namespace exocheck::semantics {

// Ends the run; becomes its finding.
struct Stopped {
  Diagnostic finding;
};

// One activation of a procedure or of an instruction's behaviour.
struct Frame {
  const ir::Procedure* procedure = nullptr;
  bool matrix = false;                // the behaviour of a matrix instruction
  std::vector<std::int64_t> control;  // by symbol
  struct Data {
    View view;
    bool lenient = false;  // reads 0 and drops writes outside the tensor: tensor maps, `oob` parameters
  };
  std::vector<Data> data;                        // by symbol
  std::vector<std::unique_ptr<Tensor>> storage;  // by symbol: its latest allocation

  explicit Frame(const ir::Procedure& p)
      : procedure(&p), control(p.symbols.size()), data(p.symbols.size()), storage(p.symbols.size()) {}
};

class Interpreter {
 public:
  Interpreter(const ir::Program& program, const InterpreterLimits& limits)
      : program_(program), limits_(limits), start_(std::chrono::steady_clock::now()) {}

  void run(const ir::Block& block, Frame& frame);
  std::int64_t control(const ir::Expr& e, const Frame& frame);
  // Counts the bytes of a new tensor.
  std::unique_ptr<Tensor> allocate(Precision precision, const std::vector<ir::ExprPtr>& shape,
                                   const Frame& frame, Span span);
  void release(const Tensor& tensor) { bytes_ -= 8 * tensor.values.size(); }

 private:
  void statement(const ir::Stmt& stmt, Frame& frame);
  void assign(const ir::Assign& assign, const ir::Stmt& stmt, Frame& frame);
  void loop(const ir::For& loop, const ir::Stmt& stmt, Frame& frame);
  void call(const ir::Call& call, const ir::Stmt& stmt, Frame& frame);
  void bind_arguments(const ir::Call& call, const ir::Stmt& stmt, Frame& caller, Frame& callee);
  Frame::Data window(ir::SymId base, const std::vector<ir::Access>& index, const Frame& frame);

  double data(const ir::Expr& e, const Frame& frame);
  double read(const ir::Read& read, const ir::Expr& e, const Frame& frame);
  double multiply(const ir::Binary& product, const ir::Expr& e, const Frame& frame);
  double external(const ir::ExternCall& call, Precision precision, const Frame& frame);
  // -1: outside, and that is allowed.
  std::int64_t element(const Frame::Data& data, ir::SymId var, Span span, const Frame& frame);

  [[noreturn]] void stop(std::string_view code, const Frame& frame, Span span,
                         const std::string& message) const;
  void step(const Frame& frame, Span span);

  const ir::Program& program_;
  const InterpreterLimits& limits_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t steps_ = 0, bytes_ = 0;
  std::map<std::pair<std::string, std::string>, double> config_;
  std::vector<std::int64_t> index_;  // of the element in hand
};

}  // namespace exocheck::semantics
