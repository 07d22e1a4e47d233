// Asking for proofs and reporting what fails, in the user's words.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/passes.hpp"
#include "smt/prover.hpp"

namespace exocheck::analysis::bounds {

// A counterexample for messages.
class Numbers {
 public:
  explicit Numbers(const smt::Model& model) : model_(model) {}
  std::string value(const smt::Term& t) const;       // "5"; booleans "True", "False"
  std::string with_value(const smt::Term& t) const;  // "n + 1 = 5"; a constant stands alone
  std::string when() const;                          // " when n = 1, blk = 0, t = 1"; empty without variables

 private:
  const smt::Model& model_;
};

// One obligation as the report sees it.
struct Claim {
  std::string_view code;
  semantics::Location location;
  // Findings of one place, variable and dimension are reported once; the place is the start of the
  // statement's span.
  std::uint32_t place = 0;
  std::string variable;
  int dimension = -1;
  std::string meaning;  // completes "cannot decide whether ..."
  std::function<std::string(const Numbers&)> message;
  std::vector<semantics::Related> related;
};

class Reporter {
 public:
  Reporter(PassContext& context, smt::Prover& prover) : context_(context), prover_(prover) {}

  // True if the goal follows from the assumptions. Otherwise the claim has been reported (a counterexample,
  // or that nothing is known).
  bool require(const smt::Assumptions& gamma, const smt::Term& goal, const Claim& claim);
  // E-B01: true if the assumptions can hold together, or nothing is known (then reported).
  bool require_satisfiable(const smt::Assumptions& gamma, const Claim& claim);
  // An obligation that cannot even be stated: `why` names the unsupported construct.
  void undecided(const Claim& claim, const std::string& why);

  Mode mode() const { return context_.mode; }
  smt::Prover& prover() { return prover_; }

 private:
  void record(const Claim& claim, Obligation::Status status, smt::Query query,
              const smt::Model& counterexample = {});
  bool first_report(const Claim& claim, std::string_view code);
  bool already_reported(const Claim& claim) const;

  PassContext& context_;
  smt::Prover& prover_;
  std::set<std::tuple<std::string, const void*, std::uint32_t, std::string, int>> reported_;
};

}  // namespace exocheck::analysis::bounds
