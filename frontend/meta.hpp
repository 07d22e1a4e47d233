// Compile-time values of GPU IR text: template arguments, memories, collective units, contexts, decorator
// attributes, file constants (language.md 2.6-2.8; decisions.md D4, D7, I1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/ast.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/memories.hpp"
#include "semantics/timelines.hpp"
#include "semantics/types.hpp"
#include "semantics/units.hpp"

namespace exocheck::frontend {

struct MetaValue;

struct MetaNone {
  friend bool operator==(const MetaNone&, const MetaNone&) = default;
};
// The words that mean something in one attribute only: `same` (types=), `required` (extra=).
struct MetaWord {
  std::string text;
  friend bool operator==(const MetaWord&, const MetaWord&) = default;
};
struct MetaTuple {
  std::vector<MetaValue> items;
  friend bool operator==(const MetaTuple&, const MetaTuple&);
};
struct MetaList {
  std::vector<MetaValue> items;
  friend bool operator==(const MetaList&, const MetaList&);
};
struct MetaSet {
  std::vector<MetaValue> items;  // in source order
  friend bool operator==(const MetaSet&, const MetaSet&);
};
// Keys are names (`{dst: [cuda_thread]}`) or strings; they are not evaluated.
struct MetaDict {
  std::vector<std::pair<std::string, MetaValue>> items;
  friend bool operator==(const MetaDict&, const MetaDict&);
};
// CudaWarpConfig(name, count, setmaxnreg_dec=None, setmaxnreg_inc=None); values as written, the launch checks
// judge them (W codes). `fields` holds the four values in this order; missing optional ones are None.
struct MetaWarpConfig {
  std::vector<MetaValue> fields;
  ast::Span span;  // in the file that wrote it
  friend bool operator==(const MetaWarpConfig& a, const MetaWarpConfig& b);
};

// SizeExpr stands for `blockDim / 16` and the like, inside CollUnit(...) only. `cuda_in_order` is a SyncTl,
// `cuda_in_order_instr` an InstrTimeline (find_instr_timeline(name(tl)) converts).
struct MetaValue {
  std::variant<MetaNone, bool, std::int64_t, double, std::string, semantics::Precision, semantics::CollUnit,
               semantics::MemoryType, semantics::MechanismType, semantics::SyncTl, semantics::InstrTimeline,
               semantics::Qual, semantics::SizeExpr, MetaWarpConfig, MetaTuple, MetaList, MetaSet, MetaDict,
               MetaWord>
      value;
  friend bool operator==(const MetaValue&, const MetaValue&) = default;
};

// Names bound by the file (constants) or by an instruction instance (template parameters, extras, `let`, and
// each `R` parameter to its precision). They come before the built-in names.
using MetaEnvironment = std::map<std::string, MetaValue, std::less<>>;

using MetaResult = std::variant<MetaValue, semantics::Diagnostic>;

// Value of a compile-time expression: literals (`~k` is -k-1), names, + - * / % on integers (`/` must be
// exact, `%` is floored), comparisons and `in`, and/or/not, `a if c else b` (only the chosen branch is
// evaluated), tuples with splats, lists, sets, dicts, indexing `t[-1]`, memories and mechanisms with
// arguments and splats (checked by check_arguments), units and scaled units, CollUnit(domain, box, name,
// scaled_dim), CudaWarpConfig(...), bits(p), minimal(t). Errors: E-N03 unknown name, E-P67 `_`, E-P69
// unparsable print, E-H07/E-H08 wrong scaling of a unit, the codes of check_arguments, L-03 overflow;
// everything else (a wrong operand type, inexact division, ...) carries `code`. `source` is the file of `e`.
// Never throws.
MetaResult evaluate_meta(const ast::Expr& e, const MetaEnvironment& env, const semantics::SourcePtr& source,
                         std::string_view code);

// As the canonical print writes it: `(64, 64)`, `(1,)`, `'row'`, `f16`, `None`, `2 * cuda_warp`.
std::string meta_text(const MetaValue& value);
// "an integer", "a tuple", ...: for messages.
std::string_view meta_kind(const MetaValue& value);

inline std::optional<std::int64_t> meta_int(const MetaValue& v) {
  const auto* i = std::get_if<std::int64_t>(&v.value);
  return i ? std::optional(*i) : std::nullopt;
}
// `[a, b]`, `(a, b)` or `{a, b}` of bare names, unevaluated (`template=[w]`, `ooo=[to, fro]`); nullopt
// otherwise.
std::optional<std::vector<std::string>> name_list(const ast::Expr& e);

}  // namespace exocheck::frontend
