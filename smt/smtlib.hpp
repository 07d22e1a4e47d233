// SMT-LIB 2.6 text of a query: self-contained, deterministic, QF_LIA (formal.md 8).
#pragma once

#include <string>

#include "smt/query.hpp"

namespace exocheck::smt {

// Header fields become comment lines; empty ones are left out. `status` is "sat", "unsat" or "unknown": what
// we concluded about the script, so a proved goal is "unsat".
struct SmtlibHeader {
  std::string id, rule, source, meaning;
  std::string status = "unknown";
};

// Quotients by a literal appear as fresh constants with their defining assertions, named def.N; every
// assumption is one named assertion; a goal is asserted negated under the name `goal`. Two variables of one
// name are told apart by a suffix.
std::string smtlib(const Query& query, const SmtlibHeader& header);

}  // namespace exocheck::smt
