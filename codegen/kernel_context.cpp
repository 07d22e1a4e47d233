#include "codegen/kernel_context.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "semantics/errors.hpp"
#include "semantics/numeric.hpp"

namespace exocheck::codegen {
namespace {

// Words of C++ and of the emitted text.
bool reserved(const std::string& name) {
  static const std::set<std::string> words{
      "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class",
      "concept", "const", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete",
      "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend",
      "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "nullptr",
      "operator", "or", "private", "protected", "public", "register", "requires", "return", "short", "signed",
      "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid",
      "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
      // ours and those of the headers
      "args", "cta", "main", "smem", "stream", "sync", "task", "tid", "threadIdx", "blockIdx", "gridDim",
      "blockDim", "warpSize", "exp", "sin", "sqrt", "log", "y0", "y1", "yn", "j0", "j1", "jn", "stdin",
      "stdout", "stderr", "errno", "NULL", "EOF", "assert", "Args", "Sync", "Task"};
  return words.contains(name) || name.starts_with("xrt") || name.starts_with("XRT") ||
         name.starts_with("Xrt") || name.starts_with("__") || name.starts_with("cuda") ||
         name.starts_with("CU");
}

}  // namespace

std::string function_name(const ir::Procedure& procedure) {
  return reserved(procedure.name) ? procedure.name + "_" : procedure.name;
}

void Text::line(const std::string& text) {
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) out_.append(static_cast<std::size_t>(2 * depth_), ' ').append(text, start, end - start);
    out_ += '\n';
    start = end + 1;
  }
}

void Text::append_outdented(const std::string& lines) {
  std::size_t start = 0;
  while (start < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', start), lines.size() - 1);
    out_ += lines.substr(start, 2) == "  " ? lines.substr(start + 2, end - start - 1)
                                           : lines.substr(start, end - start + 1);
    start = end + 1;
  }
}

void Context::refuse(std::string_view code, semantics::Span span, const std::string& message) const {
  throw Refused{semantics::make_diagnostic(code, procedure.location(span), message)};
}

void Context::unsupported(semantics::Span span, const std::string& what) const {
  refuse("C-01", span, "cannot be emitted: " + what);
}

std::string Context::text(SymId symbol) const {
  const auto found = texts_.find(symbol);
  if (found != texts_.end()) return found->second;
  if (!missing) throw semantics::InternalError("emission: no text for " + procedure.symbol(symbol).name);
  return missing(symbol);
}

std::string Context::claim(const std::string& wanted) {
  std::string identifier = reserved(wanted) ? wanted + "_" : wanted;
  for (int i = 2; !used_.insert(identifier).second; ++i) identifier = fmt::format("{}_{}", wanted, i);
  return identifier;
}

std::string Context::declare(SymId symbol) { return texts_[symbol] = claim(procedure.symbol(symbol).name); }

std::string Context::stride_text(SymId id, std::size_t dimension) const {
  if (window_parameter(id)) {
    (void)text(id);  // a kernel's argument gets its strides with its text
    return strides_.at(id).at(dimension);
  }
  const std::vector<ir::ExprPtr>& shape = symbol(id).shape;
  std::string product;
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) {
    const std::string extent = control_text(*this, *shape[d]);
    product += product.empty() ? fmt::format("int64_t({})", extent) : " * " + grouped(extent);
  }
  return product.empty() ? "1" : product;
}

Elements Context::resolve(SymId var, const std::vector<ir::Access>& index) const {
  Elements elements{var, index};
  if (elements.index.empty()) {
    for (const ir::ExprPtr& extent : symbol(var).shape) elements.index.push_back({ir::int_const(0), extent});
  }
  for (auto window = windows_.find(elements.base); window != windows_.end();
       window = windows_.find(elements.base)) {
    const ir::Symbol& s = symbol(elements.base);
    const bool map = s.memory && s.memory->is(semantics::MemoryKind::Sm90_tensorMap);
    const ir::Symbol& below = symbol(window->second.base);
    // The first window with a tensor map is the map itself.
    if (map && !(below.memory && below.memory->is(semantics::MemoryKind::Sm90_tensorMap))) break;
    elements = {window->second.base, ir::compose(window->second.index, elements.index)};
  }
  return elements;
}

namespace {

// The statement on one line, cut where a reader of the emitted code has seen enough.
std::string source_text(const semantics::SourceFile& source, semantics::Span span) {
  constexpr std::size_t longest = 110;
  std::string text(source.text(span));
  for (char& c : text) {
    if (c == '\n' || c == '\\') c = ' ';
  }
  return text.size() <= longest ? text : text.substr(0, longest - 4) + " ...";
}

}  // namespace

std::string Context::origin(const ir::Stmt& stmt) const {
  const semantics::SourceFile& source = *procedure.source;
  return fmt::format("line {}: {}", source.position(stmt.span.begin).line, source_text(source, stmt.span));
}

std::string Context::marker(const ir::Stmt& stmt) const {
  const semantics::SourceFile& source = *procedure.source;
  return fmt::format("XRT_LINE({});  // {}", source.position(stmt.span.begin).line,
                     source_text(source, stmt.span));
}

int Context::distributed(SymId symbol) const {
  const auto found = facts.distribution.find(symbol);
  return found == facts.distribution.end() ? 0 : found->second.distributed;
}

std::int64_t Context::pitch(SymId symbol, int dimension) const {
  const auto found = facts.distribution.find(symbol);
  return found == facts.distribution.end() ? 0
                                           : found->second.pitches.at(static_cast<std::size_t>(dimension));
}

std::int64_t Context::constant_extent(SymId id, int dimension) const {
  const ir::Symbol& s = symbol(id);
  const auto value = ir::constant_value(*s.shape[static_cast<std::size_t>(dimension)]);
  if (!value) unsupported(s.span, fmt::format("an extent of {} is no constant", s.name));
  return *value;
}

bool never_negative(const Context& cx, const ir::Expr& e) {
  if (const auto* x = std::get_if<ir::IntConst>(&e.node)) return x->value >= 0;
  if (const auto* x = std::get_if<ir::VarRef>(&e.node)) {
    return cx.symbol(x->var).kind == ir::SymbolKind::size || cx.non_negative.contains(x->var);
  }
  if (const auto* x = std::get_if<ir::Binary>(&e.node)) {
    switch (x->op) {
      case ir::BinaryOp::add:
      case ir::BinaryOp::mul:
      case ir::BinaryOp::div:
        return never_negative(cx, *x->left) && never_negative(cx, *x->right);
      case ir::BinaryOp::mod:
      case ir::BinaryOp::lt:
      case ir::BinaryOp::le:
      case ir::BinaryOp::gt:
      case ir::BinaryOp::ge:
      case ir::BinaryOp::eq:
      case ir::BinaryOp::ne:
      case ir::BinaryOp::logical_and:
      case ir::BinaryOp::logical_or:
        return true;
      case ir::BinaryOp::sub:
        return false;
    }
  }
  return false;
}

std::string grouped(const std::string& text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && (c == ' ' || c == '-')) return "(" + text + ")";
  }
  return text;
}

bool mentions(const std::string& text, const std::string& identifier) {
  const auto in_comment = [&](std::size_t at) {
    const auto comment = text.rfind("//", at), line = text.rfind('\n', at);
    return comment != std::string::npos && (line == std::string::npos || comment > line);
  };
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (auto at = text.find(identifier); at != std::string::npos; at = text.find(identifier, at + 1)) {
    const auto end = at + identifier.size();
    if ((at == 0 || !letter(text[at - 1])) && (end == text.size() || !letter(text[end])) && !in_comment(at))
      return true;
  }
  return false;
}

std::string index_text(const analysis::IndexExpr& e) {
  std::string out = e.base == analysis::IndexBase::constant ? std::to_string(e.value)
                    : e.base == analysis::IndexBase::thread ? "tid"
                                                            : "cta";
  for (const auto& [op, operand] : e.ops) {
    switch (op) {
      case analysis::IndexOp::minus:
        out = operand < 0 ? fmt::format("{} + {}", out, -operand) : fmt::format("{} - {}", out, operand);
        break;
      case analysis::IndexOp::divide:
        out = fmt::format("{} / {}",
                          out.find('-') == out.npos && out.find('+') == out.npos ? out : "(" + out + ")",
                          operand);
        break;
      case analysis::IndexOp::modulo:
        out = fmt::format("{} % {}",
                          out.find('-') == out.npos && out.find('+') == out.npos ? out : "(" + out + ")",
                          operand);
        break;
    }
  }
  return out;
}

namespace {

std::string operator_text(ir::BinaryOp op) {
  static constexpr std::array names{"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
  return names[static_cast<std::size_t>(op)];
}

}  // namespace

std::string control_text(const Context& cx, const ir::Expr& e) {
  if (const auto* x = std::get_if<ir::IntConst>(&e.node)) {
    if (x->value > 2147483647 || x->value < -2147483647)
      cx.refuse("C-02", e.span, "an index does not fit into 32 bits");
    return std::to_string(x->value);
  }
  if (const auto* x = std::get_if<ir::BoolConst>(&e.node)) return x->value ? "true" : "false";
  if (const auto* x = std::get_if<ir::VarRef>(&e.node)) return cx.text(x->var);
  if (const auto* x = std::get_if<ir::Unary>(&e.node)) {
    return (x->op == ir::UnaryOp::neg ? "-" : "!") + grouped(control_text(cx, *x->operand));
  }
  if (const auto* x = std::get_if<ir::Binary>(&e.node)) {
    const std::string left = control_text(cx, *x->left), right = control_text(cx, *x->right);
    const bool division = x->op == ir::BinaryOp::div || x->op == ir::BinaryOp::mod;
    if (division && !never_negative(cx, *x->left)) {
      return fmt::format("xrt_floor_{}({}, {})", x->op == ir::BinaryOp::div ? "div" : "mod", left, right);
    }
    // a + b + c, a - b + c and a * b * c need no parentheses on the left; comparisons none around sums.
    const auto* inner = std::get_if<ir::Binary>(&x->left->node);
    const auto additive = [](ir::BinaryOp op) { return op == ir::BinaryOp::add || op == ir::BinaryOp::sub; };
    const bool plain =
        inner != nullptr &&
        ((additive(x->op) && (additive(inner->op) || inner->op == ir::BinaryOp::mul)) ||
         (x->op == ir::BinaryOp::mul && inner->op == ir::BinaryOp::mul) ||
         (x->op >= ir::BinaryOp::lt && x->op <= ir::BinaryOp::ge && inner->op <= ir::BinaryOp::mod));
    const auto* other = std::get_if<ir::Binary>(&x->right->node);
    const bool plain_right =
        other != nullptr &&
        ((x->op == ir::BinaryOp::add && other->op == ir::BinaryOp::mul) ||
         (x->op >= ir::BinaryOp::lt && x->op <= ir::BinaryOp::ge && other->op <= ir::BinaryOp::mod));
    return fmt::format("{} {} {}", plain ? left : grouped(left), operator_text(x->op),
                       plain_right ? right : grouped(right));
  }
  if (const auto* x = std::get_if<ir::StrideOf>(&e.node)) {
    const Elements elements = cx.resolve(x->var, {});
    auto left = static_cast<std::size_t>(x->dim);
    for (std::size_t d = 0; d < elements.index.size(); ++d) {
      if (!elements.index[d].interval()) continue;
      if (left-- == 0) return fmt::format("int({})", cx.stride_text(elements.base, d));
    }
    cx.unsupported(e.span, "the stride of a dimension that the window lacks");
  }
  cx.unsupported(e.span, "a config field");
}

bool narrow_float(semantics::Precision p) {
  using semantics::Precision;
  return p == Precision::f16 || p == Precision::bf16 || p == Precision::e4m3 || p == Precision::e5m2 ||
         p == Precision::e8m0;
}

std::string type_text(semantics::Precision p) {
  using semantics::Precision;
  switch (p) {
    case Precision::f32:
      return "float";
    case Precision::f64:
      return "double";
    case Precision::i8:
      return "int8_t";
    case Precision::i32:
      return "int32_t";
    case Precision::ui8:
      return "uint8_t";
    case Precision::ui16:
      return "uint16_t";
    case Precision::f16:
    case Precision::bf16:
    case Precision::e4m3:
    case Precision::e5m2:
    case Precision::e8m0:
      return fmt::format("xrt_{}", semantics::name(p));
  }
  throw semantics::InternalError("unknown precision");
}

std::string number_text(semantics::Precision p, double value) {
  using semantics::Precision;
  if (semantics::is_integer(p)) {
    const std::string text = fmt::format("{}", static_cast<std::int64_t>(semantics::round_to(p, value)));
    return semantics::bits(p) < 32 ? fmt::format("{}({})", type_text(p), text) : text;
  }
  std::string text =
      p == Precision::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (narrow_float(p)) return fmt::format("{}({})", type_text(p), text);
  return p == Precision::f32 ? text + "f" : text;
}

}  // namespace exocheck::codegen
