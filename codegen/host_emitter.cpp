#include "codegen/host_emitter.hpp"

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::codegen {

using semantics::MemoryKind;

namespace {

class HostEmitter : private DataEmitter {
 public:
  explicit HostEmitter(Context& cx)
      : DataEmitter(cx, Side::host), procedure_(cx.procedure), facts_(cx.facts) {}

  HostText run() {
    std::string parameters;
    for (const SymId p : procedure_.parameters) parameters += parameter(p) + ", ";
    result_.prototype = fmt::format("void {}({}xrt_stream stream)", function_name(procedure_), parameters);
    out_.open(result_.prototype + " {");
    out_.line("(void)stream;");
    block(procedure_.body);
    out_.close();
    result_.definition = out_.take();
    return std::move(result_);
  }

 private:
  const ir::Symbol& symbol(SymId id) const { return procedure_.symbol(id); }

  // Scalars that stay on the host travel by value, tensors as pointers.
  std::string parameter(SymId p) {
    const ir::Symbol& s = symbol(p);
    const std::string name = cx_.declare(p);
    if (s.kind == ir::SymbolKind::stride) cx_.unsupported(s.span, "a stride parameter");
    if (s.control()) return (s.kind == ir::SymbolKind::boolean ? "bool " : "int ") + name;
    std::string text = fmt::format("{}* {}", type_text(s.precision), name);
    if (s.kind != ir::SymbolKind::window) return text;
    if (s.memory && s.memory->is(MemoryKind::Sm90_tensorMap))
      cx_.unsupported(s.span, fmt::format("the tensor map parameter {}", s.name));
    std::vector<std::string> strides;
    for (int d = 0; d < s.rank(); ++d) {
      strides.push_back(cx_.claim(fmt::format("{}_stride{}", s.name, d)));
      text += fmt::format(", int64_t {}", strides.back());
    }
    cx_.set_strides(p, std::move(strides));
    return text;
  }

  std::string count_text(SymId id) const {
    std::string count;
    for (const ir::ExprPtr& e : symbol(id).shape) {
      count += count.empty() ? fmt::format("int64_t({})", control_text(cx_, *e))
                             : " * " + grouped(control_text(cx_, *e));
    }
    return count.empty() ? "1" : count;
  }

  void block(const ir::Block& statements) {
    for (const ir::Stmt& s : statements) statement(s);
    for (const ir::Stmt& s : statements) {
      const auto* alloc = std::get_if<ir::Alloc>(&s.node);
      if (alloc == nullptr) continue;
      if (symbol(alloc->var).memory->is(MemoryKind::CudaGmemLinear))
        out_.line(fmt::format("xrt_free_async({}, stream);", cx_.text(alloc->var)));
      cx_.release(cx_.text(alloc->var));
    }
  }

  // Global memory: stream-ordered, freed at the end of its block. Host memory: of the block.
  void allocate(const ir::Alloc& alloc, const ir::Stmt& stmt) {
    const ir::Symbol& s = symbol(alloc.var);
    const bool host =
        s.memory && (s.memory->is(MemoryKind::DRAM) || s.memory->is(MemoryKind::CudaGridConstant));
    if (s.kind != ir::SymbolKind::data || !(host || s.memory->is(MemoryKind::CudaGmemLinear)))
      cx_.unsupported(stmt.span, fmt::format("{}, allocated in host code", s.name));
    const std::string count = count_text(alloc.var), type = type_text(s.precision),
                      name = cx_.declare(alloc.var);
    if (host) {
      const std::string memory = cx_.claim(s.name + "_memory");
      out_.line(fmt::format("const std::unique_ptr<{0}[]> {1}(new {0}[size_t({2})]);", type, memory, count));
      out_.line(fmt::format("{}* const {} = {}.get();", type, name, memory));
    } else {
      out_.line(fmt::format("{0}* const {1} = xrt_malloc_async<{0}>({2}, stream);", type, name, count));
    }
  }

  void statement(const ir::Stmt& stmt) {
    if (std::holds_alternative<ir::Pass>(stmt.node)) return;
    if (const auto* s = std::get_if<ir::Alloc>(&stmt.node)) return allocate(*s, stmt);
    if (const auto* s = std::get_if<ir::Assign>(&stmt.node))
      return out_.line(assignment(element(s->target, s->index, stmt.span), *s));
    if (const auto* s = std::get_if<ir::WindowStmt>(&stmt.node)) return window(*s, stmt);
    if (const auto* s = std::get_if<ir::Call>(&stmt.node)) return call(*s, stmt);
    if (std::holds_alternative<ir::DeviceFunction>(stmt.node)) return launch(stmt);
    if (const auto* s = std::get_if<ir::Fence>(&stmt.node)) {
      // The other direction is the order of the calls.
      if (s->first == semantics::SyncTl::cuda_stream_sync)
        out_.line("xrt_stream_sync(stream);  // " + cx_.origin(stmt));
      return;
    }
    if (const auto* s = std::get_if<ir::If>(&stmt.node)) {
      out_.open(fmt::format("if ({}) {{", control_text(cx_, *s->condition)));
      block(s->then_body);
      out_.close();
      if (s->else_body.empty()) return;
      out_.open("else {");
      block(s->else_body);
      return out_.close();
    }
    if (const auto* s = std::get_if<ir::For>(&stmt.node); s != nullptr && s->mode == ir::LoopMode::seq) {
      const std::string lo = control_text(cx_, *s->lo), hi = control_text(cx_, *s->hi),
                        i = cx_.declare(s->iter);
      if (never_negative(cx_, *s->lo)) cx_.non_negative.insert(s->iter);
      out_.open(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", i, lo, hi));
      block(s->body);
      out_.close();
      return cx_.release(i);
    }
    cx_.unsupported(stmt.span, "this statement in host code");
  }

  void window(const ir::WindowStmt& w, const ir::Stmt& stmt) {
    cx_.define_window(w);
    const ir::Symbol& result = symbol(w.result);
    if (!result.memory || !result.memory->is(MemoryKind::Sm90_tensorMap)) return;
    const ir::Symbol& below = symbol(w.base);
    if (below.memory && below.memory->is(MemoryKind::Sm90_tensorMap)) return;  // a part of a map is an offset
    const Elements elements = cx_.resolve(w.base, w.index);
    const ir::Symbol& tensor = symbol(elements.base);
    if (tensor.precision != semantics::Precision::f32)
      cx_.unsupported(stmt.span, "a tensor map of other elements than f32");
    std::string extents, strides, boxes, offset;
    for (std::size_t d = 0; d < elements.index.size(); ++d) {
      const std::string stride = cx_.stride_text(elements.base, d);
      const ir::Access& a = elements.index[d];
      const std::string lo = control_text(cx_, *a.lo);
      if (lo != "0") offset += fmt::format(" + {} * ({})", grouped(lo), stride);
      if (!a.interval()) continue;
      const ir::ExprPtr extent = ir::sub(a.hi, a.lo);
      extents += (extents.empty() ? "" : ", ") + control_text(cx_, *extent);
      strides += (strides.empty() ? "" : ", ") + stride;
    }
    const auto& arguments = result.memory->arguments;
    for (std::size_t i = 1; i < arguments.size(); ++i)
      boxes += fmt::format("{}{}", i == 1 ? "" : ", ", arguments[i]);
    out_.line("// " + cx_.origin(stmt));
    out_.line(fmt::format("const XrtTensorMap {} = xrt_tensor_map<{}>({}, {}{}, {{{}}}, {{{}}}, {{{}}});",
                          cx_.declare(w.result), arguments.size() - 1, arguments.at(0),
                          cx_.text(elements.base), offset, extents, strides, boxes));
  }

  // The pointer to the first element of a dense operand of a host instruction, and its number of elements.
  std::pair<std::string, std::string> dense(const ir::Expr& e, const ir::Stmt& stmt) {
    const auto& read = std::get<ir::Read>(e.node);
    const Elements elements = cx_.resolve(read.var, read.index);
    std::string offset, count;
    for (std::size_t d = 0; d < elements.index.size(); ++d) {
      const ir::Access& a = elements.index[d];
      const std::string lo = control_text(cx_, *a.lo);
      if (lo != "0") {
        const std::string stride = cx_.stride_text(elements.base, d);
        offset += " + " + (stride == "1" ? grouped(lo) : fmt::format("{} * {}", grouped(lo), stride));
      }
      if (!a.interval()) continue;
      const std::string extent = grouped(control_text(cx_, *ir::sub(a.hi, a.lo)));
      count += count.empty() ? fmt::format("int64_t({})", extent) : " * " + extent;
    }
    (void)stmt;
    return {cx_.text(elements.base) + offset, count.empty() ? "1" : count};
  }

  void call(const ir::Call& call, const ir::Stmt& stmt) {
    semantics::ensure(call.instr != nullptr, "emission: calls of procedures are expanded before");
    const std::string& name = call.instr->name;
    if (!call.instr->library)
      cx_.unsupported(stmt.span, fmt::format("the user-defined instruction {}", name));
    if (name.starts_with("cudaMemsetAsync0_")) {
      const auto [to, count] = dense(*call.arguments.back(), stmt);
      return out_.line(fmt::format("xrt_memset0_async({}, {}, stream);  // {}", to, count, cx_.origin(stmt)));
    }
    if (name.starts_with("cudaMemcpyAsync_")) {
      const auto [from, count] = dense(*call.arguments.back(), stmt);
      const auto [to, unused] = dense(*call.arguments[call.arguments.size() - 2], stmt);
      return out_.line(
          fmt::format("xrt_memcpy_async({}, {}, {}, stream);  // {}", to, from, count, cx_.origin(stmt)));
    }
    cx_.unsupported(stmt.span, fmt::format("the instruction {}", name));
  }

  void launch(const ir::Stmt& stmt) {
    const std::string name = fmt::format("Kernel_{}", result_.kernels.size());
    // Names in the kernel are its own; host variables become its arguments.
    Context device(procedure_, facts_);
    device.take_windows(cx_);
    KernelEmitter emitter(device, stmt, name);
    const KernelText kernel = emitter.run();
    result_.kernels.push_back(kernel.definition);
    result_.wgmma_n.insert(kernel.wgmma_n.begin(), kernel.wgmma_n.end());
    out_.open("{");
    out_.line(fmt::format("{}::Args args;", name));
    for (const KernelArgument& a : kernel.arguments) {
      const ir::Symbol& s = symbol(a.symbol);
      const bool constant = s.memory && s.memory->is(MemoryKind::CudaGridConstant);
      if (constant && s.rank() > 0) {
        out_.line(fmt::format("for (int i = 0; i < int({}); ++i) args.{}[i] = {}[i];", count_text(a.symbol),
                              a.member, cx_.text(a.symbol)));
      } else {
        out_.line(fmt::format("args.{} = {}{};", a.member, constant ? "*" : "", cx_.text(a.symbol)));
        for (std::size_t d = 0; d < static_cast<std::size_t>(a.strides); ++d)
          out_.line(fmt::format("args.{}_stride[{}] = {};", a.member, d, cx_.stride_text(a.symbol, d)));
      }
    }
    out_.line(fmt::format("xrt_launch<{0}>(args, {0}::task_count(args), stream);", name));
    out_.close();
  }

  const ir::Procedure& procedure_;
  const analysis::Facts& facts_;
  HostText result_;
  Text out_;
};

}  // namespace

HostText emit_host(const ir::Procedure& procedure, const analysis::Facts& facts) {
  Context cx(procedure, facts);
  return HostEmitter(cx).run();
}

}  // namespace exocheck::codegen
