#include "semantics/interpreter.hpp"

#include <fmt/format.h>

#include <limits>

#include "semantics/errors.hpp"
#include "semantics/interpreter_run.hpp"
#include "semantics/numeric.hpp"

namespace exocheck::semantics {

using namespace ir;

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

bool tensor_map(const Symbol& symbol) {
  return symbol.memory && symbol.memory->is(MemoryKind::Sm90_tensorMap);
}

bool data_symbol(const Symbol& symbol) {
  return symbol.kind == SymbolKind::data || symbol.kind == SymbolKind::window;
}

}  // namespace

bool matrix_instruction(const Instr& instr) {
  const auto begins = [&](std::string_view prefix) { return instr.name.starts_with(prefix); };
  return instr.library && (begins("Sm80_mma_tf32") || begins("Sm80_mma_m16n8") || begins("Sm90_mma_async_") ||
                           begins("Sm90_tk_mma_"));
}

void Interpreter::stop(std::string_view code, const Frame& frame, Span span,
                       const std::string& message) const {
  throw Stopped{make_diagnostic(code, frame.procedure->location(span), message)};
}

void Interpreter::step(const Frame& frame, Span span) {
  if (++steps_ > limits_.max_steps)
    stop("L-06", frame, span, fmt::format("the run takes more than {} steps", limits_.max_steps));
  if (steps_ % 65536 != 0) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (elapsed.count() > limits_.max_seconds) {
    stop("L-04", frame, span, fmt::format("the run took longer than {} seconds", limits_.max_seconds));
  }
}

std::unique_ptr<Tensor> Interpreter::allocate(Precision precision, const std::vector<ExprPtr>& shape,
                                              const Frame& frame, Span span) {
  auto tensor = std::make_unique<Tensor>();
  tensor->precision = precision;
  for (const ExprPtr& e : shape) tensor->extents.push_back(control(*e, frame));
  const std::int64_t count = element_count(tensor->extents);
  if (static_cast<std::uint64_t>(count) > (limits_.max_memory_bytes - bytes_) / 8) {
    stop("L-05", frame, span,
         fmt::format("the tensors of the run need more than {} MB", limits_.max_memory_bytes >> 20));
  }
  bytes_ += 8 * static_cast<std::uint64_t>(count);
  tensor->values.assign(static_cast<std::size_t>(count), undefined);
  return tensor;
}

std::int64_t Interpreter::element(const Frame::Data& data, SymId var, Span span, const Frame& frame) {
  const std::int64_t position = locate(data.view, index_);
  if (position < 0 && !data.lenient) {
    stop("E-Y20", frame, span,
         fmt::format("the sequential run leaves {}: element [{}] does not exist",
                     frame.procedure->symbol(var).name, fmt::join(index_, ", ")));
  }
  return position;
}

Frame::Data Interpreter::window(SymId base, const std::vector<Access>& subscripts, const Frame& frame) {
  const Frame::Data& from = frame.data[index(base)];
  if (subscripts.empty()) return from;
  std::vector<Range> ranges;
  for (const Access& a : subscripts) {
    const std::int64_t lo = control(*a.lo, frame);
    ranges.push_back({a.interval(), lo, a.interval() ? control(*a.hi, frame) : lo + 1});
  }
  return {sub_view(from.view, ranges), from.lenient};
}

void Interpreter::run(const Block& block, Frame& frame) {
  for (const Stmt& s : block) statement(s, frame);
}

void Interpreter::assign(const Assign& assign, const Stmt& stmt, Frame& frame) {
  const double value = data(*assign.value, frame);
  index_.clear();
  for (const ExprPtr& e : assign.index) index_.push_back(control(*e, frame));
  const Frame::Data& target = frame.data[index(assign.target)];
  const std::int64_t position = element(target, assign.target, stmt.span, frame);
  if (position < 0) return;
  Tensor& tensor = *target.view.tensor;
  double& stored = tensor.values[static_cast<std::size_t>(position)];
  if (!assign.reduce) {
    stored = round_to(tensor.precision, value);
  } else if (frame.matrix) {
    stored = round_to(tensor.precision, stored + value);
  } else {
    stored = apply(Arithmetic::add, tensor.precision, stored, round_to(tensor.precision, value));
  }
}

void Interpreter::loop(const For& loop, const Stmt& stmt, Frame& frame) {
  if (loop.mode == LoopMode::par) {
    stop("E-V01", frame, stmt.span, "a `par` loop has no sequential order: it cannot be run");
  }
  const std::int64_t hi = control(*loop.hi, frame);
  for (std::int64_t i = control(*loop.lo, frame); i < hi; ++i) {
    step(frame, stmt.span);
    frame.control[index(loop.iter)] = i;
    run(loop.body, frame);
  }
}

void Interpreter::bind_arguments(const Call& call, const Stmt& stmt, Frame& caller, Frame& callee) {
  const Procedure& target = *callee.procedure;
  for (std::size_t i = 0; i < target.parameters.size(); ++i) {
    const SymId formal = target.parameters[i];
    const Symbol& symbol = target.symbol(formal);
    const Expr& actual = *call.arguments.at(i);
    if (!data_symbol(symbol)) {
      callee.control[index(formal)] = control(actual, caller);
      continue;
    }
    if (const auto* read = std::get_if<Read>(&actual.node)) {
      Frame::Data& bound = callee.data[index(formal)];
      bound = window(read->var, read->index, caller);
      bound.lenient =
          bound.lenient || tensor_map(symbol) || (call.instr && call.instr->parameters.at(i).out_of_bounds);
      continue;
    }
    // A config field, or a value: a scalar of the callee's own.
    auto& scalar = callee.storage[index(formal)];
    scalar = allocate(symbol.precision, {}, caller, stmt.span);
    scalar->values[0] = round_to(symbol.precision, data(actual, caller));
    callee.data[index(formal)].view = whole(*scalar);
  }
}

void Interpreter::call(const Call& call, const Stmt& stmt, Frame& frame) {
  const Procedure& target = call.instr ? call.instr->behaviour : program_.procedures[*call.procedure];
  Frame callee(target);
  callee.matrix = call.instr && matrix_instruction(*call.instr);
  bind_arguments(call, stmt, frame, callee);
  try {
    run(target.body, callee);
  } catch (Stopped& stopped) {
    stopped.finding.related.push_back({Role::context, "called here", frame.procedure->location(stmt.span)});
    throw;
  }
  for (std::size_t i = 0; i < target.parameters.size(); ++i) {
    // A scalar bound to a config field goes back there.
    const auto& scalar = callee.storage[index(target.parameters[i])];
    const auto* field = std::get_if<ConfigRead>(&call.arguments.at(i)->node);
    if (scalar && field != nullptr) config_[{field->config, field->field}] = scalar->values[0];
  }
  for (const auto& tensor : callee.storage) {
    if (tensor) release(*tensor);
  }
}

void Interpreter::statement(const Stmt& stmt, Frame& frame) {
  step(frame, stmt.span);
  if (const auto* s = std::get_if<Assign>(&stmt.node)) return assign(*s, stmt, frame);
  if (const auto* s = std::get_if<For>(&stmt.node)) return loop(*s, stmt, frame);
  if (const auto* s = std::get_if<If>(&stmt.node)) {
    return run(control(*s->condition, frame) != 0 ? s->then_body : s->else_body, frame);
  }
  if (const auto* s = std::get_if<Call>(&stmt.node)) return call(*s, stmt, frame);
  if (const auto* s = std::get_if<Alloc>(&stmt.node)) {
    const Symbol& symbol = frame.procedure->symbol(s->var);
    if (!data_symbol(symbol)) return;
    auto& storage = frame.storage[index(s->var)];
    if (storage) release(*storage);
    storage = allocate(symbol.precision, symbol.shape, frame, stmt.span);
    frame.data[index(s->var)] = {whole(*storage), false};
    return;
  }
  if (const auto* s = std::get_if<WindowStmt>(&stmt.node)) {
    Frame::Data data = window(s->base, s->index, frame);
    data.lenient = data.lenient || tensor_map(frame.procedure->symbol(s->result));
    frame.data[index(s->result)] = std::move(data);
    return;
  }
  if (const auto* s = std::get_if<DeviceFunction>(&stmt.node)) return run(s->body, frame);
  if (const auto* s = std::get_if<Warps>(&stmt.node)) return run(s->body, frame);
  if (const auto* s = std::get_if<ConfigWrite>(&stmt.node)) {
    config_[{s->config, s->field}] =
        s->value->type.control() ? static_cast<double>(control(*s->value, frame)) : data(*s->value, frame);
  }
  // Pass, Fence, Arrive and Await mean nothing to one thread.
}

Tensor parameter_tensor(const Procedure& procedure, SymId parameter, const Environment& sizes,
                        const InterpreterLimits& limits) {
  const Symbol& symbol = procedure.symbol(parameter);
  Tensor tensor;
  tensor.precision = symbol.precision;
  for (const ExprPtr& e : symbol.shape) tensor.extents.push_back(evaluate(*e, sizes));
  const std::int64_t count = element_count(tensor.extents);
  if (static_cast<std::uint64_t>(count) <= limits.max_memory_bytes / 8) {
    tensor.values.assign(static_cast<std::size_t>(count), undefined);
  }
  return tensor;
}

std::optional<Diagnostic> interpret(const Procedure& procedure, const Program& program,
                                    const Environment& sizes, Arguments& arguments,
                                    const InterpreterLimits& limits) {
  Interpreter interpreter(program, limits);
  Frame frame(procedure);
  for (const SymId p : procedure.parameters) {
    const Symbol& symbol = procedure.symbol(p);
    if (data_symbol(symbol)) {
      Tensor& tensor = arguments.at(p);
      ensure(static_cast<std::int64_t>(tensor.values.size()) == element_count(tensor.extents),
             "an argument without values");
      frame.data[index(p)] = {whole(tensor), tensor_map(symbol)};
    } else {
      ensure(sizes[p].has_value(), "a control parameter without a value");
      frame.control[index(p)] = *sizes[p];
    }
  }
  try {
    interpreter.run(procedure.body, frame);
  } catch (const Stopped& stopped) {
    return stopped.finding;
  } catch (const OverflowError& error) {
    return make_diagnostic("L-03", procedure.location(procedure.name_span), error.what());
  }
  return std::nullopt;
}

}  // namespace exocheck::semantics
