#include <catch2/catch.hpp>
#include <set>

#include "semantics/export.hpp"
#include "semantics/inference_rules.hpp"
#include "semantics/inference_term.hpp"

using namespace exocheck::semantics;

namespace {

std::string as(Notation notation, std::string_view term) { return print(parse_term(term), notation); }

}  // namespace

TEST_CASE("a term is printed in three notations") {
  const std::string_view term = "(forall (p) (imp (In p es) (eq (sa s p) (add (sw s p) 1))))";
  CHECK(as(Notation::rocq, term) == "forall p, (In p es) -> ((sa s p) = (((sw s p) + 1)%Z))");
  CHECK(as(Notation::text, term) == "for all p: if p in es then arrivals(s, p) = awaits(s, p) + 1");
  CHECK(as(Notation::latex, term) ==
        "\\forall p.\\, p \\in \\mathit{es} \\Rightarrow a_{s}(p) = w_{s}(p) + 1");
}

TEST_CASE("parentheses stand where the text would be read otherwise") {
  CHECK(as(Notation::text, "(and (or a b) c)") == "(a or b) and c");
  CHECK(as(Notation::text, "(or (and a b) c)") == "a and b or c");
  CHECK(as(Notation::text, "(and a (and b c))") == "a and b and c");
  CHECK(as(Notation::text, "(not (eq a b))") == "not (a = b)");
}

TEST_CASE("broken terms are ours to find") {
  for (const char* text : {"", "(", "(and a", "(and a b) c", ")"}) {
    INFO(text);
    CHECK_THROWS(parse_term(text));
  }
}

TEST_CASE("every rule has a name of its own, prose, and terms that can be printed") {
  std::set<std::string_view> ids;
  for (const InferenceRule& rule : inference_rules()) {
    INFO(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK_FALSE(rule.prose.empty());
    for (const Notation n : {Notation::rocq, Notation::text, Notation::latex}) {
      CHECK_FALSE(print(parse_term(rule.conclusion), n).empty());
      for (const std::string_view p : rule.premises) CHECK_FALSE(print(parse_term(p), n).empty());
    }
  }
}

TEST_CASE("the modes differ as the theory says") {
  const FlagTable paper = flag_table(rules_of(Mode::paper_exact)),
                  repaired = flag_table(rules_of(Mode::standard));
  CHECK(braces(paper.out_of_order) == "{a, I}");
  CHECK(braces(repaired.out_of_order) == "{i, I}");
  CHECK(paper.weak.empty());
  // What the equivalence theorem needs of a mode: full implies temporal, atomic implies full.
  for (const Flags f :
       {repaired.in_order, repaired.out_of_order, repaired.full, repaired.temporal, repaired.weak}) {
    if (f.contains(Flags::full)) CHECK(f.contains(Flags::temporal));
    if (f.contains(Flags::atomic)) CHECK(f.contains(Flags::full));
  }
}
