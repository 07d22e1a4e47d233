#include <algorithm>

#include "codegen/data_emitter.hpp"
#include "semantics/errors.hpp"
#include "semantics/numeric.hpp"

namespace exocheck::codegen {

using semantics::MemoryKind;
using semantics::Precision;

namespace {

// Row-major position of the first element, in Horner form; "0" if it is the first of all.
std::string offset_text(const Context& cx, const std::vector<ir::Access>& index,
                        const std::vector<std::string>& extents, bool wide) {
  std::string sum = "0";
  std::int64_t factor = 1;  // still to be multiplied with
  bool widened = !wide;
  const auto multiply = [&](const std::string& by) {
    sum = fmt::format("{} * {}", widened ? grouped(sum) : fmt::format("int64_t({})", sum), by);
    widened = true;
  };
  const auto flush = [&] {
    if (factor != 1) multiply(std::to_string(factor));
    factor = 1;
  };
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::string here = control_text(cx, *index[d].lo);
    if (sum == "0") {
      sum = here;
      continue;
    }
    if (std::all_of(extents[d].begin(), extents[d].end(), [](char c) { return c >= '0' && c <= '9'; })) {
      factor = ir::checked_mul(factor, std::stoll(extents[d]));
    } else {
      flush();
      multiply(extents[d]);
    }
    if (here == "0") continue;
    flush();
    sum += " + " + here;
  }
  flush();
  return sum;
}

}  // namespace

DataEmitter::Place DataEmitter::place(SymId var, const std::vector<ir::Access>& index, semantics::Span span) {
  const Elements elements = cx_.resolve(var, index);
  const ir::Symbol& symbol = cx_.symbol(elements.base);
  const semantics::MemoryType& memory = symbol.memory.value_or(semantics::MemoryType{});
  const semantics::MemoryRecord record = semantics::memory_record(memory, symbol.precision);
  Place result;
  result.base = elements.base;
  result.precision = symbol.precision;
  const auto first = static_cast<std::size_t>(cx_.distributed(elements.base));
  const std::vector<ir::Access> inner(elements.index.begin() + static_cast<std::ptrdiff_t>(first),
                                      elements.index.end());

  if (record.registers) {
    result.registers = true;
    result.text = cx_.text(elements.base);
    for (std::size_t d = 0; d + record.packed.size() < inner.size(); ++d) {
      if (inner[d].interval())
        cx_.unsupported(span, fmt::format("a window of several elements of {} in registers", symbol.name));
      result.text += fmt::format("[{}]", control_text(cx_, *inner[d].lo));
    }
    return result;
  }

  const bool shared = record.shared;
  if (memory.is(MemoryKind::Sm90_SmemSwizzled)) result.swizzle = static_cast<int>(memory.arguments.at(0));
  const bool on_host = host_ && (memory.is(MemoryKind::DRAM) || memory.is(MemoryKind::CudaGridConstant));
  if (!shared && !on_host && !memory.is(MemoryKind::CudaGmemLinear) &&
      !memory.is(MemoryKind::CudaGridConstant)) {
    cx_.unsupported(span, fmt::format("an access to {} in {}", symbol.name, memory.text()));
  }
  std::string offset;
  std::vector<std::string> extents;
  if (cx_.window_parameter(elements.base)) {
    for (std::size_t d = 0; d < inner.size(); ++d) {
      const std::string here = control_text(cx_, *inner[d].lo);
      if (here != "0")
        offset += fmt::format("{}{} * {}", offset.empty() ? "" : " + ", grouped(here),
                              cx_.stride_text(elements.base, d));
    }
    if (offset.empty()) offset = "0";
  } else {
    for (std::size_t d = first; d < elements.index.size(); ++d) {
      extents.push_back(shared ? std::to_string(cx_.constant_extent(elements.base, static_cast<int>(d)))
                               : grouped(control_text(cx_, *symbol.shape[d])));
    }
    offset = offset_text(cx_, inner, extents, !shared);
  }
  const std::string base = cx_.text(elements.base);
  if (on_host) {
    result.by_value = true;
    result.text = fmt::format("{}[{}]", base, offset);
    return result;
  }
  if (memory.is(MemoryKind::CudaGridConstant)) {
    result.by_value = true;
    result.text = symbol.rank() == 0 ? base : fmt::format("{}[{}]", base, offset);
    return result;
  }
  result.text = offset == "0" ? base : fmt::format("{} + {}", base, offset);
  for (std::size_t d = 0; d < inner.size(); ++d) {
    if (!inner[d].interval()) continue;
    if (!shared) {
      result.strides.push_back(cx_.stride_text(elements.base, first + d));
      continue;
    }
    std::int64_t product = 1;
    for (std::size_t e = d + 1; e < inner.size(); ++e)
      product *= cx_.constant_extent(elements.base, static_cast<int>(first + e));
    result.strides.push_back(std::to_string(product));
  }
  return result;
}

DataEmitter::Place DataEmitter::element(SymId var, const std::vector<ir::ExprPtr>& index,
                                        semantics::Span span) {
  std::vector<ir::Access> points;
  for (const ir::ExprPtr& e : index) points.push_back({e, nullptr});
  return place(var, points, span);
}

std::string DataEmitter::pointer(const Place& p) const {
  return p.swizzle == 0 ? p.text : fmt::format("xrt_swizzle<{}>({})", p.swizzle, p.text);
}

std::string DataEmitter::load(const Place& p) const {
  return p.registers || p.by_value ? p.text : fmt::format("xrt_ld({})", pointer(p));
}

std::string DataEmitter::converted(const ir::Expr& e, Precision to) {
  const std::string value = data_text(e);
  const Precision from = e.type.precision.value_or(Precision::f32);
  if (from == to) return value;
  return fmt::format(
      "{}({})", semantics::is_integer(to) ? fmt::format("xrt_to<{}>", type_text(to)) : type_text(to), value);
}

std::string DataEmitter::assignment(const Place& place, const ir::Assign& assign) {
  const std::string value = converted(*assign.value, place.precision);
  if (assign.reduce && narrow_float(place.precision))
    return fmt::format("{0} = {1}({0} + {2});", place.text, type_text(place.precision), value);
  return fmt::format("{} {} {};", place.text, assign.reduce ? "+=" : "=", value);
}

std::string DataEmitter::data_text(const ir::Expr& e) {
  const Precision precision = e.type.precision.value_or(Precision::f32);
  if (const auto* x = std::get_if<ir::RealConst>(&e.node)) return number_text(precision, x->value);
  if (const auto* x = std::get_if<ir::IntConst>(&e.node))
    return number_text(precision, static_cast<double>(x->value));
  if (const auto* x = std::get_if<ir::Read>(&e.node)) return load(place(x->var, x->index, e.span));
  const std::string type = type_text(precision);
  if (const auto* x = std::get_if<ir::Unary>(&e.node))
    return fmt::format("{}(-{})", type, grouped(data_text(*x->operand)));
  if (const auto* x = std::get_if<ir::Binary>(&e.node)) {
    static const std::map<ir::BinaryOp, const char*> operators{{ir::BinaryOp::add, "+"},
                                                               {ir::BinaryOp::sub, "-"},
                                                               {ir::BinaryOp::mul, "*"},
                                                               {ir::BinaryOp::div, "/"}};
    const std::string text = fmt::format("{} {} {}", grouped(data_text(*x->left)), operators.at(x->op),
                                         grouped(data_text(*x->right)));
    // Operands narrower than int are promoted.
    const bool narrow = semantics::bits(precision) < 32;
    return narrow ? fmt::format("{}({})", type, text) : text;
  }
  if (const auto* x = std::get_if<ir::ExternCall>(&e.node)) {
    static const std::map<ir::Extern, const char*> functions{
        {ir::Extern::sin, "xrt_sin"},    {ir::Extern::relu, "xrt_relu"},
        {ir::Extern::expf, "xrt_exp"},   {ir::Extern::exp2f, "xrt_exp2"},
        {ir::Extern::logf, "xrt_log"},   {ir::Extern::log2f, "xrt_log2"},
        {ir::Extern::fabsf, "xrt_fabs"}, {ir::Extern::sigmoid, "xrt_sigmoid"},
        {ir::Extern::sqrt, "xrt_sqrt"},  {ir::Extern::fmaxf, "xrt_fmax"},
        {ir::Extern::fminf, "xrt_fmin"}, {ir::Extern::select, "xrt_select"}};
    if (semantics::is_integer(precision)) cx_.unsupported(e.span, "functions of integers");
    const bool narrow = narrow_float(precision);
    std::string list;
    for (const ir::ExprPtr& a : x->arguments) {
      const std::string argument = data_text(*a);
      list += (list.empty() ? "" : ", ") + (narrow ? fmt::format("float({})", argument) : argument);
    }
    const std::string text = fmt::format("{}({})", functions.at(x->function), list);
    return narrow ? fmt::format("{}({})", type, text) : text;
  }
  cx_.unsupported(e.span, "a config field");
}

}  // namespace exocheck::codegen
