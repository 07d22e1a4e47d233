// The evaluator behind evaluate_meta. Internal to frontend/meta*.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/meta.hpp"

namespace exocheck::frontend {

class MetaEvaluator {
 public:
  MetaEvaluator(const MetaEnvironment& env, const semantics::SourcePtr& source, std::string_view code)
      : env_(env), source_(source), code_(code) {}

  // nullopt: an error, which error() holds.
  std::optional<MetaValue> evaluate(const ast::Expr& e);
  const semantics::Diagnostic& error() const { return *error_; }

 private:
  // Remembers the first error; returns nullopt.
  std::nullopt_t fail(const ast::Expr& e, std::string message);
  std::nullopt_t fail(std::string_view code, ast::Span where, std::string message);
  std::string text(const ast::Expr& e) const;

  std::optional<MetaValue> integer(const ast::Expr& e, const ast::Int& i);
  std::optional<MetaValue> name(const ast::Expr& e, const std::string& name);
  std::optional<MetaValue> unary(const ast::Expr& e, const ast::Unary& u);
  std::optional<MetaValue> binary(const ast::Expr& e, const ast::Binary& b);
  std::optional<MetaValue> logical(const ast::Binary& b);
  std::optional<MetaValue> arithmetic(const ast::Expr& e, const std::string& op, std::int64_t a,
                                      std::int64_t b);
  std::optional<MetaValue> multiply_size(const ast::Expr& e, const semantics::SizeExpr& a,
                                         const MetaValue& b);
  std::optional<MetaValue> scaled_unit(const ast::Expr& e, const MetaValue& factor,
                                       const semantics::CollUnit& unit);
  std::optional<MetaValue> compare(const ast::Expr& e, const ast::Compare& c);
  std::optional<bool> compare_once(const ast::Expr& e, const std::string& op, const MetaValue& a,
                                   const MetaValue& b);
  std::optional<MetaValue> conditional(const ast::Conditional& c);
  std::optional<MetaValue> subscript(const ast::Expr& e, const ast::Subscript& s);
  std::optional<MetaValue> braces(const ast::Expr& e, const ast::Dict& d);
  // Positional values, splats expanded.
  std::optional<std::vector<MetaValue>> items(const std::vector<ast::Argument>& arguments);
  std::optional<bool> boolean(const ast::Expr& e);

  std::optional<MetaValue> call(const ast::Expr& e, const ast::CallExpr& c);
  std::optional<MetaValue> memory(const ast::Expr& e, semantics::MemoryKind kind,
                                  const std::vector<ast::Argument>& arguments);
  std::optional<MetaValue> mechanism(const ast::Expr& e, semantics::MechanismKind kind,
                                     const std::vector<ast::Argument>& arguments);
  std::optional<MetaValue> custom_unit(const ast::Expr& e, const ast::CallExpr& c);
  std::optional<semantics::SizeExpr> size(const ast::Expr& e, const MetaValue& v);
  std::optional<MetaValue> warp_config(const ast::Expr& e, const ast::CallExpr& c);
  std::optional<MetaValue> bits_of(const ast::Expr& e, const std::vector<ast::Argument>& arguments);
  std::optional<MetaValue> minimal(const ast::Expr& e, const std::vector<ast::Argument>& arguments);

  const MetaEnvironment& env_;
  const semantics::SourcePtr& source_;
  std::string_view code_;
  std::optional<semantics::Diagnostic> error_;
};

}  // namespace exocheck::frontend
