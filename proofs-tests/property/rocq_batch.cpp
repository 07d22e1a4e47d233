// Random AMIR programs with the verdicts of the naive machine in two modes, as Rocq text:
// proofs-tests/suite/rocq.py has the theory's verified interpreter compute the verdicts again.
//
// EXOCHECK_BATCH=PATH writes PATH_0.v, PATH_1.v, ...; EXOCHECK_SEED=n starts at seed n; EXOCHECK_PROGRAMS=n
// writes n programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "amir/certificate_print.hpp"
#include "amir/certificate_translate.hpp"
#include "amir/naive_machine.hpp"
#include "property/support/random_amir.hpp"
#include "property/support/setting.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using exocheck::testing::setting;
namespace prog = semantics::amir;
namespace cert = exocheck::amir::certificate;

namespace {

constexpr std::size_t largest_text = 4500;
constexpr std::size_t programs_per_file = 150;

// The theory does not follow initialisation.
void drop_initialisation(prog::Body& body) {
  std::erase_if(body, [](const prog::Node& n) {
    return std::holds_alternative<prog::InitRead>(n.node) || std::holds_alternative<prog::InitWrite>(n.node);
  });
  for (prog::Node& n : body) {
    if (auto* loop = std::get_if<prog::Loop>(&n.node)) drop_initialisation(loop->body);
    if (auto* branch = std::get_if<prog::Branch>(&n.node)) {
      drop_initialisation(branch->then_body);
      drop_initialisation(branch->else_body);
    }
  }
}

const prog::Node* find(const prog::Body& body, NodeId id) {
  for (const prog::Node& n : body) {
    if (n.id == id) return &n;
    const prog::Node* found = nullptr;
    if (const auto* loop = std::get_if<prog::Loop>(&n.node)) found = find(loop->body, id);
    if (const auto* branch = std::get_if<prog::Branch>(&n.node)) {
      found = find(branch->then_body, id);
      if (found == nullptr) found = find(branch->else_body, id);
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

// As a term of the theory; empty: the theory has no such rule (E-Y06).
std::string verdict(const Program& p, const cert::Term& term, const Outcome& o) {
  if (!o.violation) return "None";
  const Violation& v = *o.violation;
  const auto* check = std::get_if<prog::Check>(&find(p.body, v.at.node)->node);
  const std::string kind = v.code == "E-Y14"   ? "KBar"
                           : v.code == "E-Y04" ? "KProg"
                           : v.code == "E-Y20" ? "KBad"
                           : check == nullptr  ? ""
                           : check->reads      ? "KRead"
                                               : "KMut";
  if (kind.empty()) return "";
  std::string element = "None";
  for (std::size_t i = 0; i < term.variables.size() && kind != "KBad"; ++i) {
    if (term.variables[i].origin == index(v.var))
      element = fmt::format("Some ({}%N, [{}])", i, fmt::join(v.element, "; "));
  }
  return fmt::format("Some ({}%N, {}, {})", index(v.at.node), kind, element);
}

class Batch {
 public:
  // false: the program is too large, or its verdict is of a rule that the theory does not have.
  bool add(Program p) {
    drop_initialisation(p.body);
    const Sizes sizes(p.symbol_count);
    std::string verdicts, modules, module, previous;
    std::vector<std::string> found;
    for (const auto& [name, mode] : {std::pair{"paper_exact", semantics::Mode::paper_exact},
                                     {"default_mode", semantics::Mode::standard}}) {
      ModeRules rules = rules_of(mode);
      rules.uninitialised = false;
      auto translated = cert::translate(p, sizes, rules, std::nullopt);
      if (!std::holds_alternative<cert::Term>(translated)) return false;
      const cert::Term& term = std::get<cert::Term>(translated);
      const Outcome outcome = run_naive(p, sizes, rules, {});
      const std::string v = verdict(p, term, outcome);
      if (v.empty() || outcome.limit) return false;
      cert::Definitions definitions(term);
      const std::string statements = definitions.statements("program", term.body);
      const std::string text = definitions.operands() + statements;
      if (text.size() > largest_text) return false;
      // A free may ask for different levels in the two modes; else both speak about one program.
      if (text != previous) {
        module = fmt::format("T{}_{}", count_, name);
        modules += fmt::format("Module {}.\n{}End {}.\n", module, text, module);
        previous = text;
      }
      verdicts += fmt::format("{}  ({}, {}, {}.program, {})", tests_.empty() && verdicts.empty() ? "" : ";\n",
                              name, term.stride, module, v);
      found.push_back(
          fmt::format("{} {}", name, outcome.violation ? std::string(outcome.violation->code) : "accepted"));
    }
    for (const std::string& f : found) ++kinds[f];
    modules_ += modules;
    tests_ += verdicts;
    ++count_;
    return true;
  }
  std::size_t size() const { return count_; }
  std::string text() const {
    return fmt::format(
        "From Exocheck Require Import CertPrelude.\nOpen Scope Z_scope.\n{}"
        "Definition tests : list (mode * Z * stmt * option err) := [\n{}].\n"
        "Definition one (t : mode * Z * stmt * option err) : bool :=\n"
        "  let '(m, stride, s, v) := t in verdict_is m (fst (unroll stride s 0 [])) v.\n"
        "Fixpoint wrong (i : nat) (l : list (mode * Z * stmt * option err)) : list nat :=\n"
        "  match l with [] => [] | t :: r => if one t then wrong (S i) r else i :: wrong (S i) r end.\n"
        "Eval vm_compute in (wrong 0 tests).\n"
        "Theorem batch : forallb one tests = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\nPrint "
        "Assumptions batch.\n",
        modules_, tests_);
  }
  static std::map<std::string, std::size_t> kinds;

 private:
  std::string modules_, tests_;
  std::size_t count_ = 0;
};
std::map<std::string, std::size_t> Batch::kinds;

}  // namespace

TEST_CASE("random programs and their verdicts can be written as Rocq text") {
  const char* path = std::getenv("EXOCHECK_BATCH");
  const std::uint64_t wanted = setting("EXOCHECK_PROGRAMS", path == nullptr ? 200 : 1200);
  std::uint64_t seed = setting("EXOCHECK_SEED", 1), written = 0, files = 0;
  std::cout << "seeds from " << seed << "\n";
  Batch batch;
  const auto flush = [&] {
    if (batch.size() == 0) return;
    if (path != nullptr) {
      std::ofstream file(fmt::format("{}_{}.v", path, files), std::ios::binary);
      file << batch.text() << std::flush;
      REQUIRE(file);
    }
    ++files;
    batch = Batch();
  };
  for (std::uint64_t tried = 0; written < wanted && tried < 100 * wanted; ++tried, ++seed) {
    const Program p = testing::random_program(seed);
    testing::Random random(seed);
    // Every second program has few checks, so that its run gets further.
    if (!batch.add(seed % 2 == 0 ? p : testing::with_few_checks(p, random))) continue;
    ++written;
    if (batch.size() == programs_per_file) flush();
  }
  flush();
  for (const auto& [kind, count] : Batch::kinds) std::cout << "  " << kind << ": " << count << "\n";
  CHECK(written == wanted);
  if (wanted >= 1000) {
    for (const char* code : {"accepted", "E-Y04", "E-Y12", "E-Y14", "E-Y30", "E-Y31", "E-Y32"})
      CHECK(Batch::kinds[std::string("default_mode ") + code] > 0);
  }
}
