// The program of a certificate as Rocq text.
#pragma once

#include <string>

#include "amir/certificate_loop.hpp"
#include "amir/certificate_term.hpp"

namespace exocheck::amir::certificate {

// "CAdd (CMul (CK 64) (CV 3)) (CK 1)"
std::string print(const Linear& e);
// As an integer expression of the open size: "(K + 31) / 32".
std::string print_size(const Linear& e, const std::string& name);

// Numbers statements, thread maps and accesses, and defines them; the text ends with the definitions of the
// lists.
class Definitions {
 public:
  explicit Definitions(const Term& term);

  // `Definition NAME : stmt := ...`, in pieces of bounded size.
  std::string statements(const std::string& name, const Block& block);
  // The thread maps, and the accesses that the statements so far name.
  std::string operands() const;

 private:
  std::string list(const Block& block);
  std::string statement(const Stmt& s);
  std::string leaf(const Leaf& leaf);
  std::string access(const Access& a);
  std::string accesses(const std::vector<Access>& list);

  const Term& term_;
  std::vector<std::string> accesses_;
};

// The table of dropped dimensions for the pass of Collapse.v, and that of lags for Param.v.
std::string tiles(const Term& term);
std::string lags(const Lags& lags);

}  // namespace exocheck::amir::certificate
