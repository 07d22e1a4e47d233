// Operands and data expressions, of device and of host code.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel_context.hpp"

namespace exocheck::codegen {

class DataEmitter {
 protected:
  enum class Side { device, host };
  DataEmitter(Context& cx, Side side) : cx_(cx), host_(side == Side::host) {}

  // Where an operand lies.
  struct Place {
    SymId base{};
    semantics::Precision precision{};
    bool registers = false;
    bool by_value = false;  // a grid constant, or memory of the host: `text` is the element itself
    int swizzle = 0;        // bytes
    std::string text;       // registers: the object; memory: pointer to the first element, unswizzled
    std::vector<std::string> strides;  // memory: in elements, one per interval
  };

  Place place(SymId var, const std::vector<ir::Access>& index, semantics::Span span);
  Place element(SymId var, const std::vector<ir::ExprPtr>& index, semantics::Span span);
  std::string load(const Place& p) const;
  std::string pointer(const Place& p) const;  // to the one element
  std::string data_text(const ir::Expr& e);
  // The value of `e` as the precision.
  std::string converted(const ir::Expr& e, semantics::Precision to);
  // `place = e` or `place += e` of an element that C++ can name.
  std::string assignment(const Place& place, const ir::Assign& assign);

  Context& cx_;

 private:
  bool host_;
};

}  // namespace exocheck::codegen
