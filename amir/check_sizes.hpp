// Which sizes a procedure is run with (cli.md "Common options", decisions.md E1-E3).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "semantics/ir.hpp"
#include "semantics/ir_util.hpp"
#include "smt/solver.hpp"

namespace exocheck::amir {

// One complete assignment of the control parameters.
struct SizeChoice {
  semantics::ir::SizeSet values;              // every size, index and bool parameter, in declaration order
  semantics::ir::Environment environment{0};  // the same by symbol, and the stride parameters
  bool admissible = true;                     // the asserts hold
  bool zero_size = false;                     // a size is 0: W-B01
};

// What a program of so many symbols runs with (translations add symbols to the procedure's).
semantics::ir::Environment environment_of(const SizeChoice& choice, std::size_t symbols);

// One question to the fast path or the solver: can these assumptions hold together?
struct SizeQuery {
  smt::Query query;
  semantics::Span span;  // what it is about: a statement, or the procedure's name
  std::string meaning;   // "loop `k` runs twice"
  smt::Answer answer;
  bool solver = false;  // false: the fast path answered
  double seconds = 0;
};

struct SizePlan {
  std::vector<SizeChoice> choices;
  bool chosen_here = false;  // at least one parameter was given a value by us
  // Bad requests, for the command line or the comment (decisions.md E2).
  std::vector<std::string> errors;
  // Set if there is no choice, although the preconditions may be satisfiable: why.
  std::optional<std::string> unknown;
  // Behaviours that no choice shows: they would cost too much, or nobody knows whether they can be reached.
  std::size_t left_out = 0;
  std::vector<SizeQuery> queries;  // in the order asked
  double solver_seconds = 0;       // of all of them
};

// The sizes to run. `requested` sets (`--size`) win over the procedure's `# exocheck: sizes` comments;
// parameters that a set leaves out are chosen, as are all of them if there is no set at all: small,
// satisfying the asserts, together covering, where reachable, exact and ragged tiles, both ways of a branch,
// and loops with 0, 1, 2 and more iterations, with as many as their ring is deep, one more, and more than
// twice as many. Small sets are tried first and the solver is asked for what they leave out; a set or a plan
// that costs too much is not chosen. The same every time. Names in `requested` that are no parameters are
// ignored here, since another procedure of the file may have them; see unknown_names. A negative value of a
// `size` parameter, or a value other than 0 and 1 of a bool, is an error.
SizePlan plan_sizes(const semantics::ir::Procedure& procedure,
                    const std::vector<semantics::ir::SizeSet>& requested);

// Values that no parameter of the name can take, as sentences.
std::vector<std::string> size_errors(const semantics::ir::Procedure& procedure,
                                     const std::vector<semantics::ir::SizeSet>& sets);

// Names of a size set that are not control parameters (without strides) of the procedure.
std::vector<std::string> unknown_names(const semantics::ir::Procedure& procedure,
                                       const semantics::ir::SizeSet& set);

}  // namespace exocheck::amir
