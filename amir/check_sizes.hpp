// Which sizes a procedure is run with (cli.md "Common options", decisions.md E1-E3).
#pragma once

#include <string>
#include <vector>

#include "semantics/ir.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

// One complete assignment of the control parameters.
struct SizeChoice {
  semantics::ir::SizeSet values;              // every size, index and bool parameter, in declaration order
  semantics::ir::Environment environment{0};  // the same by symbol, and the stride parameters
  bool admissible = true;                     // the asserts hold
  bool zero_size = false;                     // a size is 0: W-B01
};

struct SizePlan {
  std::vector<SizeChoice> choices;
  bool chosen_here = false;  // neither the command line nor a comment named sizes
  // Bad requests, for the command line or the comment (decisions.md E2).
  std::vector<std::string> errors;
};

// The sizes to run. `requested` sets (`--size`) win over the procedure's `# exocheck: sizes` comments;
// parameters that a set leaves out are chosen, as are all of them if there is no set at all: small,
// satisfying the asserts, covering exact and ragged tiles and loops with 0, 1, 2 and more iterations, the
// same every time. Names in `requested` that are no parameters are ignored here, since another procedure of
// the file may have them; see unknown_names. A negative value of a `size` parameter, or a value other than 0
// and 1 of a bool, is an error.
SizePlan plan_sizes(const semantics::ir::Procedure& procedure,
                    const std::vector<semantics::ir::SizeSet>& requested);

// Names of a size set that are not control parameters (without strides) of the procedure.
std::vector<std::string> unknown_names(const semantics::ir::Procedure& procedure,
                                       const semantics::ir::SizeSet& set);

}  // namespace exocheck::amir
