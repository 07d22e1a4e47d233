// What the parts of the emitter share: the procedure with its facts, names in the emitted text, windows
// resolved to the tensors under them, and the text itself.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/facts.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::codegen {

namespace ir = semantics::ir;
using ir::SymId;

// Ends the emission; caught by emit().
struct Refused {
  semantics::Diagnostic problem;
};

// Lines with indentation.
class Text {
 public:
  void line(const std::string& text);
  void open(const std::string& text) { line(text), ++depth_; }
  void close(const std::string& text = "}") { --depth_, line(text); }
  void blank() { out_ += '\n'; }
  // What `write` adds, one level deeper, and not to this text.
  template <class Write>
  std::string capture(const Write& write) {
    std::string outer = std::exchange(out_, {});
    ++depth_;
    write();
    --depth_;
    return std::exchange(out_, std::move(outer));
  }
  std::string take() { return std::exchange(out_, {}); }
  void append(const std::string& lines) { out_ += lines; }
  // Captured lines, one level less deep.
  void append_outdented(const std::string& lines);
  const std::string& str() const { return out_; }

 private:
  std::string out_;
  int depth_ = 0;
};

// Elements of a tensor, tensor map or barrier.
struct Elements {
  SymId base{};
  std::vector<ir::Access> index;  // one per dimension of base
};

class Context {
 public:
  Context(const ir::Procedure& p, const analysis::Facts& f) : procedure(p), facts(f) {}

  [[noreturn]] void refuse(std::string_view code, semantics::Span span, const std::string& message) const;
  [[noreturn]] void unsupported(semantics::Span span, const std::string& what) const;

  // The C++ text of a symbol where it is used; asks `missing` for one that has none.
  std::string text(SymId symbol) const;
  void set_text(SymId symbol, std::string text) { texts_[symbol] = std::move(text); }
  bool has_text(SymId symbol) const { return texts_.contains(symbol); }
  // A C++ identifier for the symbol that is not in use; in use until release().
  std::string declare(SymId symbol);
  // `wanted`, or something like it that is not in use.
  std::string claim(const std::string& wanted);
  void release(const std::string& identifier) { used_.erase(identifier); }

  void define_window(const ir::WindowStmt& window) { windows_[window.result] = {window.base, window.index}; }
  void take_windows(const Context& other) { windows_ = other.windows_; }
  // `var[index]` on the tensor or tensor map under the window; an empty index means all of it.
  Elements resolve(SymId var, const std::vector<ir::Access>& index) const;

  const ir::Symbol& symbol(SymId id) const { return procedure.symbol(id); }
  // "line 12: Await(war[m], cuda_temporal, ~3)"
  std::string origin(const ir::Stmt& stmt) const;
  // The same as a line of emitted code, which the emulator's reports name.
  std::string marker(const ir::Stmt& stmt) const;
  // The distances in elements, as text, of the dimensions of a window parameter; tensors are dense.
  void set_strides(SymId symbol, std::vector<std::string> strides) { strides_[symbol] = std::move(strides); }
  bool window_parameter(SymId id) const {
    return symbol(id).kind == ir::SymbolKind::window && !windows_.contains(id);
  }
  // Between neighbours of a dimension of a tensor or window parameter: 64 bits wide, or "1".
  std::string stride_text(SymId symbol, std::size_t dimension) const;
  // Number of leading dimensions spread over threads or CTAs.
  int distributed(SymId symbol) const;
  // Threads between neighbouring elements of a dimension; 0 where it is not spread over threads.
  std::int64_t pitch(SymId symbol, int dimension) const;
  // A literal extent; refuses others.
  std::int64_t constant_extent(SymId symbol, int dimension) const;

  const ir::Procedure& procedure;
  const analysis::Facts& facts;
  // Gives a text to a symbol that comes from outside: a kernel's argument.
  std::function<std::string(SymId)> missing;
  // Iterators known to be non-negative; sizes are anyway.
  std::set<SymId> non_negative;

 private:
  std::unordered_map<SymId, std::string> texts_;
  std::set<std::string> used_;
  std::unordered_map<SymId, Elements> windows_;
  std::unordered_map<SymId, std::vector<std::string>> strides_;
};

// The C++ name of a procedure.
std::string function_name(const ir::Procedure& procedure);
// Texts of expressions.
std::string control_text(const Context& cx, const ir::Expr& e);
bool never_negative(const Context& cx, const ir::Expr& e);
std::string type_text(semantics::Precision p);
// A float of less than 32 bits: a class of xrt_types.h, computed as float.
bool narrow_float(semantics::Precision p);
std::string number_text(semantics::Precision p, double value);
// Index expressions over `tid` and `cta`.
std::string index_text(const analysis::IndexExpr& e);
// Does the identifier occur as a whole word?
bool mentions(const std::string& text, const std::string& identifier);
// In parentheses unless it is a name, a number or a call.
std::string grouped(const std::string& text);

}  // namespace exocheck::codegen
