// The program of a certificate: AMIR with sizes put in, in the shape of the Rocq theory's syntax
// (proofs-tests/rocq/theory/Amir.v). Plain data; certificate_translate makes it, certificate_tiles and
// certificate_loop look at it, certificate_print writes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/timelines.hpp"

namespace exocheck::amir::certificate {

struct Linear;

// What a linear form is a sum of: an iterator, or something that is not linear.
struct Atom {
  enum class Kind : std::uint8_t { variable, div, mod, product };
  Kind kind = Kind::variable;
  std::uint32_t variable = 0;
  std::shared_ptr<const Linear> left, right;  // div, mod: the divisor is `right`
  friend bool operator==(const Atom& a, const Atom& b);
};

// constant + sum of coefficient * atom; no coefficient is 0, no atom occurs twice.
struct Linear {
  std::int64_t constant = 0;
  std::vector<std::pair<std::int64_t, Atom>> terms;

  bool is_constant() const { return terms.empty(); }
  friend bool operator==(const Linear&, const Linear&) = default;
};

// All throw OverflowError.
Linear number(std::int64_t value);
Linear variable(std::uint32_t id);
Linear plus(const Linear& a, const Linear& b);
Linear times(std::int64_t factor, const Linear& a);
Linear minus(const Linear& a, const Linear& b);
Linear product(const Linear& a, const Linear& b);
Linear floor_div(const Linear& a, const Linear& b);
Linear floor_mod(const Linear& a, const Linear& b);
bool mentions(const Linear& e, std::uint32_t variable);

struct Condition {
  enum class Kind : std::uint8_t { constant, le, lt, eq, negation, conjunction, disjunction };
  Kind kind = Kind::constant;
  bool value = true;   // constant
  Linear left, right;  // le, lt, eq
  std::vector<Condition> operands;
};

// A point, or the inclusive range [lo, hi].
struct Window {
  Linear lo;
  std::optional<Linear> hi;
  friend bool operator==(const Window&, const Window&) = default;
};

struct Access {
  std::uint32_t variable = 0;
  std::vector<Window> index;
  bool clip = false;
};

struct ThreadDim {
  std::int64_t extent = 1;
  Linear lo;
  std::int64_t box = 1;
};
// No dimensions: every thread of every task.
using Threads = std::vector<ThreadDim>;

enum class LeafKind : std::uint8_t { alloc, record, check, barrier, fence, arrive, await };
struct Leaf {
  LeafKind kind{};
  std::uint32_t label = 0;     // the AMIR statement
  std::uint32_t threads = 0;   // index into Term::threads
  Access target;               // of all but fence; arrive: the home element
  std::vector<Access> others;  // record: trailing barriers; arrive: referenced elements
  bool mutate = false, convergent = false, out_of_order = false;  // record, check
  bool transitive = false;                                        // fence, arrive
  bool one = false;                                               // await of a cluster synchronization
  char need = 'f';                                                // check: flag 'f', 't' or 'a'
  semantics::Qual qual{};                                         // record
  semantics::QualSet quals;  // record: atomic; check: the timelines; fence, arrive: of the first timeline
  semantics::QualSet full, temporal;  // fence, await
  std::int64_t n = 0;                 // await
};

struct Stmt;
using Block = std::vector<Stmt>;
struct Loop {
  std::uint32_t iterator = 0;
  Linear lo, hi;
  Block body;
};
struct Branch {
  Condition condition;
  Block body;
};
struct NextTask {};
struct Stmt {
  std::variant<Leaf, Loop, Branch, NextTask> node;
};

struct Variable {
  std::string name;
  std::size_t origin = 0;  // the AMIR variable
  bool barrier = false;
  std::vector<std::int64_t> extents;
  // The last `extents.size() - kept` dimensions are covered completely by every access (certificate_tiles).
  std::size_t kept = 0;
  std::string renaming;  // how dimensions were split and reordered, for a comment; empty: not at all
};

struct Term {
  std::vector<Variable> variables;
  std::vector<Threads> threads;
  std::vector<std::string> iterators;  // names
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>>
      ranges;  // of iterators, inclusive; absent: unknown
  Block body;
  std::int64_t stride = 1;              // threads per cluster
  std::optional<std::uint32_t> symbol;  // the size parameter that has no value, as a variable of linear forms
};

// Every leaf of the block, in program order.
template <class Visit>
void for_each_leaf(Block& block, const Visit& visit) {
  for (Stmt& s : block) {
    if (auto* leaf = std::get_if<Leaf>(&s.node)) visit(*leaf);
    if (auto* loop = std::get_if<Loop>(&s.node)) for_each_leaf(loop->body, visit);
    if (auto* branch = std::get_if<Branch>(&s.node)) for_each_leaf(branch->body, visit);
  }
}

}  // namespace exocheck::amir::certificate
