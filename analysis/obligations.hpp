// The proof obligations of one procedure, kept for statistics, --dump-smt and export (language.md 9,
// formal.md 8).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semantics/source.hpp"
#include "smt/query.hpp"

namespace exocheck::analysis {

struct Obligation {
  enum class Status : std::uint8_t { proved, refuted, unknown };

  std::string_view code;  // of the rule that a refutation reports: "E-B04"
  semantics::Location location;
  std::string meaning;  // "index 32 * blk + t of `a` in dimension 0 lies in 0 <= index < n"
  Status status = Status::unknown;
  bool solver = false;                                                 // false: the fast path decided it
  double seconds = 0;                                                  // of the solver
  std::vector<std::pair<smt::Variable, std::int64_t>> counterexample;  // refuted: the values that show it
  smt::Query query;  // a goal to prove, or, for E-B01, assumptions to satisfy
};

}  // namespace exocheck::analysis
