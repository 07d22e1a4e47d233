#include "amir/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "amir/certificate_loop.hpp"
#include "amir/certificate_print.hpp"
#include "amir/certificate_tiles.hpp"
#include "amir/certificate_translate.hpp"
#include "amir/check_sizes.hpp"
#include "amir/machine.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {
namespace {

using namespace certificate;
using semantics::ir::SizeSet;

// Comments of Rocq nest, and strings inside them count.
std::string comment(std::string text) {
  for (char& c : text) {
    if (c == '*' || c == '"' || c == '\n' || c == '\r') c = '\'';
  }
  return text;
}

// A name that Rocq takes: letters, digits and underscores.
std::string identifier(const std::string& name) {
  std::string out = "p_";
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

std::string assignments(const SizeSet& sizes, const std::string& without = "") {
  std::vector<std::string> out;
  for (const auto& [name, value] : sizes) {
    if (name != without) out.push_back(fmt::format("{}={}", name, value));
  }
  return out.empty() ? "" : fmt::format("{}", fmt::join(out, ", "));
}

// " at N=3", or nothing.
std::string at(const std::string& sizes) { return sizes.empty() ? "" : " at " + sizes; }

constexpr std::uint64_t too_much = 1ull << 40;

std::uint64_t product_of(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > too_much / a ? too_much : a * b;
}

// Elements of an access after the tiles are dropped.
std::uint64_t accessed(const Access& a, const Term& term) {
  const Variable& v = term.variables[a.variable];
  std::uint64_t out = 1;
  for (std::size_t d = 0; d < v.kept; ++d) {
    if (!a.index[d].hi) continue;
    const Linear length = plus(minus(*a.index[d].hi, a.index[d].lo), number(1));
    out = product_of(
        out, static_cast<std::uint64_t>(length.is_constant() ? std::max<std::int64_t>(length.constant, 0)
                                                             : v.extents[d]));
  }
  return out;
}

// What the theory's interpreter has to do: its state is a list of elements, so an access costs its elements
// times all, a synchronization a few steps per element. Loops of unknown length count as one iteration.
std::uint64_t work(const Block& block, const Term& term, std::uint64_t elements) {
  std::uint64_t out = 0;
  for (const Stmt& s : block) {
    if (const auto* leaf = std::get_if<Leaf>(&s.node)) {
      const bool sync =
          leaf->kind == LeafKind::fence || leaf->kind == LeafKind::arrive || leaf->kind == LeafKind::await;
      out += product_of(elements, sync ? 8 : accessed(leaf->target, term));
    }
    if (const auto* branch = std::get_if<Branch>(&s.node)) out += work(branch->body, term, elements);
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      const auto trips = range(minus(loop->hi, loop->lo), term);
      const std::uint64_t n = trips && trips->second > 0 ? static_cast<std::uint64_t>(trips->second) : 1;
      out += product_of(n, work(loop->body, term, elements));
    }
    out = std::min(out, too_much);
  }
  return out;
}

std::uint64_t work(const Block& block, const Term& term) {
  const auto elements = collapsed_elements(term);
  return elements ? work(block, term, static_cast<std::uint64_t>(*elements)) : too_much;
}

// The check that failed, by its number.
const semantics::amir::Node* find_node(const semantics::amir::Body& body, NodeId id) {
  const semantics::amir::Node* found = nullptr;
  semantics::amir::for_each_node(body, [&](const semantics::amir::Node& node) {
    if (node.id == id) found = &node;
  });
  return found;
}

// Kind of error in the theory; empty: it has none for this rule.
std::string kind_of(std::string_view code, const Violation& v, const Program& program) {
  if (code == "E-Y14") return "KBar";
  if (code == "E-Y04") return "KProg";
  if (code != "E-Y20" && code != "E-Y30" && code != "E-Y31" && code != "E-Y32" && code != "E-Y12") return "";
  const auto* node = find_node(program.body, v.at.node);
  if (code == "E-Y20") {
    // Found while following initialisation, which the theory does not: there, a later statement fails.
    const bool follows = node != nullptr && (std::holds_alternative<semantics::amir::InitRead>(node->node) ||
                                             std::holds_alternative<semantics::amir::InitWrite>(node->node));
    return follows ? "" : "KBad";
  }
  semantics::ensure(node != nullptr && std::holds_alternative<semantics::amir::Check>(node->node),
                    "a check failed");
  return std::get<semantics::amir::Check>(node->node).reads ? "KRead" : "KMut";
}

class Maker {
 public:
  Maker(const Prepared& prepared, const SizeSet& sizes, const CertificateOptions& options)
      : program_(prepared.translation.program),
        procedure_(prepared.procedure),
        sizes_(sizes),
        options_(options),
        rules_(rules_of(options.mode)),
        mode_(options.mode == analysis::Mode::paper_exact ? "paper_exact" : "default_mode") {}

  Certificate run() {
    if (options_.mode == analysis::Mode::strict)
      return refuse("the rules of strict mode are not in the theory");
    const SizePlan plan = plan_sizes(procedure_, {sizes_});
    if (plan.choices.empty())
      return refuse(plan.errors.empty() ? "there are no such sizes" : plan.errors.front());
    const SizeChoice& choice = plan.choices.front();
    if (!choice.admissible) return refuse("the sizes violate an assert");
    sizes_ = choice.values;
    const Sizes environment = environment_of(choice, program_.symbol_count);
    const Outcome outcome = amir::run(program_, environment, rules_, options_.limits);
    if (outcome.limit) return refuse("a limit stopped the machine");
    if (outcome.violation) return defect(environment, *outcome.violation);
    if (!outcome.executed_task) return refuse("no device task is executed at these sizes");
    if (options_.open_sizes) {
      for (const auto& [name, value] : sizes_) {
        if (auto open = all_trips(environment, name, value)) return std::move(*open);
      }
    }
    return one_size(environment);
  }

 private:
  static Certificate refuse(std::string reason) {
    Certificate out;
    out.reason = std::move(reason);
    return out;
  }
  Certificate too_large(std::uint64_t cost) const {
    Certificate out =
        refuse(fmt::format("too large for the kernel: {} steps, more than {}", cost, options_.max_cost));
    out.cost = cost;
    return out;
  }

  // ------------------------------------------------------------------------------------------------- claims
  Certificate defect(const Sizes& environment, const Violation& v) {
    const std::string kind = kind_of(v.code, v, program_);
    if (kind.empty()) return refuse(fmt::format("the theory has no rule for {}", v.code));
    auto translated = translate(program_, environment, rules_, std::nullopt);
    if (const auto* why = std::get_if<std::string>(&translated)) return refuse(*why);
    Term& term = std::get<Term>(translated);
    Certificate out;
    out.claim = Claim::rejected;
    out.theorem = identifier(procedure_.name) + "_defect";
    out.cost = work(term.body, term);
    const bool whole = out.cost <= options_.max_cost;
    if (!whole) {
      split_tiles(term);
      out.cost = work(term.body, term);
      if (out.cost > options_.max_cost) return too_large(out.cost);
    }
    const std::string& name = program_.variables.at(index(v.var)).name;
    out.says = fmt::format("{} is rejected{}: statement {}, {} of {}", procedure_.name,
                           at(assignments(sizes_)), index(v.at.node), kind, name);
    out.says +=
        whole ? fmt::format("[{}] ({})", fmt::join(v.element, ", "), v.code) : fmt::format(" ({})", v.code);
    Definitions definitions(term);
    const std::string program = definitions.statements("program", term.body);
    out.text = header(out, term) + definitions.operands() + program;
    if (whole) {
      out.text += fmt::format(
          "\nTheorem {} : rejects {} {} program ({}%N, {}, {}).\n"
          "Proof. apply rejected_by_evaluation. vm_cast_no_check (eq_refl true). Qed.\n",
          out.theorem, mode_, term.stride, index(v.at.node), kind, element_of(term, v, kind));
    } else {
      out.text +=
          tiles(term) +
          fmt::format(
              "\nTheorem {} : exists element, rejects {} {} program ({}%N, {}, element).\n"
              "Proof. apply (rejected_collapsed {} {} tiles). vm_cast_no_check (eq_refl true). Qed.\n",
              out.theorem, mode_, term.stride, index(v.at.node), kind, mode_, term.stride);
    }
    out.text += audit(out.theorem);
    return out;
  }

  static std::string element_of(const Term& term, const Violation& v, const std::string& kind) {
    if (kind == "KBad") return "None";
    const auto it = std::find_if(term.variables.begin(), term.variables.end(),
                                 [&](const Variable& x) { return x.origin == index(v.var); });
    semantics::ensure(it != term.variables.end(), "the variable of a defect is in the certificate");
    return fmt::format("Some ({}%N, [{}])", it - term.variables.begin(), fmt::join(v.element, "; "));
  }

  Certificate one_size(const Sizes& environment) {
    auto translated = translate(program_, environment, rules_, std::nullopt);
    if (const auto* why = std::get_if<std::string>(&translated)) return refuse(*why);
    Term& term = std::get<Term>(translated);
    split_tiles(term);
    Certificate out;
    out.cost = work(term.body, term);
    if (out.cost > options_.max_cost) return too_large(out.cost);
    const bool repaired = options_.mode == analysis::Mode::standard;
    out.theorem = identifier(procedure_.name) + "_checked";
    out.says = fmt::format("{} is accepted{}{}", procedure_.name, at(assignments(sizes_)),
                           repaired ? ", and every parallel execution of it equals the sequential one"
                                    : " by the paper's rules");
    Definitions definitions(term);
    const std::string program = definitions.statements("program", term.body);
    const std::string claim =
        repaired ? fmt::format(
                       "\nTheorem {} : accepts default_mode {} program /\\\n"
                       "  seq_par_equivalent default_mode (fst (unroll {} program 0 [])).\n"
                       "Proof. apply (sequential_for_one {} tiles). vm_cast_no_check (eq_refl true). Qed.\n",
                       out.theorem, term.stride, term.stride, term.stride)
                 : fmt::format(
                       "\nTheorem {} : accepts paper_exact {} program.\n"
                       "Proof. apply (accepted_collapsed paper_exact {} tiles). vm_cast_no_check (eq_refl "
                       "true). Qed.\n",
                       out.theorem, term.stride, term.stride);
    out.text =
        header(out, term) + definitions.operands() + program + tiles(term) + claim + audit(out.theorem);
    return out;
  }

  std::optional<Certificate> all_trips(const Sizes& environment, const std::string& size,
                                       std::int64_t value) {
    if (options_.mode != analysis::Mode::standard) return std::nullopt;
    std::optional<SymId> symbol;
    for (const SymId p : procedure_.parameters) {
      const auto& s = procedure_.symbol(p);
      if (s.control() && s.name == size && s.kind == semantics::ir::SymbolKind::size) symbol = p;
    }
    if (!symbol) return std::nullopt;
    auto translated = translate(program_, environment, rules_, symbol);
    if (!std::holds_alternative<Term>(translated)) return std::nullopt;
    Term& term = std::get<Term>(translated);
    const auto found = find_open_loop(term);
    if (!std::holds_alternative<OpenLoop>(found)) return std::nullopt;
    const OpenLoop& loop = std::get<OpenLoop>(found);
    const auto smallest = smallest_size(loop, *term.symbol);
    // The claim must be about the run, too.
    if (!smallest || value < *smallest) return std::nullopt;
    split_tiles(term);

    const auto position = term.body.begin() + static_cast<std::ptrdiff_t>(loop.position);
    const Block before(term.body.begin(), position), after(position + 1, term.body.end());
    const Block& body = std::get<Loop>(position->node).body;
    const auto iterations = static_cast<std::uint64_t>(loop.settled + loop.period);
    Certificate out;
    out.claim = Claim::accepted_all_trips;
    out.cost = std::min(
        too_much, work(before, term) +
                      product_of(iterations + static_cast<std::uint64_t>(loop.period), work(body, term)) +
                      product_of(iterations, work(after, term)));
    if (out.cost > options_.max_cost) return std::nullopt;
    const std::string name = identifier(procedure_.name);
    out.theorem = name + "_every_" + size;
    out.says = fmt::format(
        "for every {} >= {}{}, {} is accepted, and every parallel execution of it equals the sequential one",
        size, *smallest, at(assignments(sizes_, size)), procedure_.name);
    Definitions definitions(term);
    const std::string prologue = definitions.statements("prologue", before);
    const std::string repeated = definitions.statements("repeated", body);
    const std::string epilogue = definitions.statements("epilogue", after);
    const std::string program = fmt::format("prog prologue {} repeated epilogue", loop.iterator);
    const auto statement = [&](const std::string& trips) {
      return fmt::format(
          "accepts default_mode {0} ({1} {2}) /\\\n  seq_par_equivalent default_mode (fst (unroll {0} ({1} "
          "{2}) 0 [])).\n",
          term.stride, program, trips);
    };
    out.text =
        header(out, term) + definitions.operands() + prologue + repeated + epilogue + tiles(term) +
        lags(loop.lags) +
        fmt::format("\nTheorem {}_every_trip_count : forall n, {} <= n ->\n  {}", name, loop.first,
                    statement("n")) +
        fmt::format(
            "Proof. apply (sequential_for_all_K {} prologue {} repeated epilogue tiles lags {} {} {}). "
            "vm_cast_no_check (eq_refl true). Qed.\n",
            term.stride, loop.iterator, loop.first, loop.settled, loop.period) +
        fmt::format("\nTheorem {} : forall {}, {} <= {} ->\n  {}", out.theorem, size, *smallest, size,
                    statement(fmt::format("({})", print_size(loop.trips, size)))) +
        fmt::format(
            "Proof. intros {} H. apply {}_every_trip_count. Z.to_euclidean_division_equations. lia. Qed.\n",
            size, name) +
        audit(out.theorem);
    return out;
  }

  // The smallest size with enough trips; nullopt if the trips are not of a form that grows with the size.
  static std::optional<std::int64_t> smallest_size(const OpenLoop& loop, std::uint32_t symbol) {
    const Linear& e = loop.trips;
    if (e.terms.size() != 1 || e.terms.front().first <= 0) return std::nullopt;
    const Atom& atom = e.terms.front().second;
    Linear inside = variable(symbol);
    std::int64_t divisor = 1;
    if (atom.kind == Atom::Kind::div && atom.right->is_constant() && atom.right->constant > 0) {
      inside = *atom.left;
      divisor = atom.right->constant;
    }
    if (inside.terms.size() != 1 || inside.terms.front().first <= 0 ||
        !(inside.terms.front().second == variable(symbol).terms.front().second)) {
      return std::nullopt;
    }
    for (std::int64_t s = 1; s <= 1 << 20; ++s) {
      const std::int64_t trips =
          e.constant + e.terms.front().first * semantics::ir::floor_div(
                                                   inside.constant + inside.terms.front().first * s, divisor);
      if (trips >= loop.first) return s;
    }
    return std::nullopt;
  }

  // ------------------------------------------------------------------------------------------------- text
  std::string header(const Certificate& certificate, const Term& term) const {
    std::string out = fmt::format("(* exocheck certificate, format 1.  {}\n   Says: {}.\n",
                                  comment(options_.headline), comment(certificate.says));
    out += "   Trusts T1-T7 of docs/semantics.md: among them that this term is the program.  Do not edit.\n";
    for (std::size_t i = 0; i < term.variables.size(); ++i) {
      const Variable& v = term.variables[i];
      const std::string shape =
          v.renaming.empty() ? fmt::format("[{}]", fmt::join(v.extents, ", ")) : v.renaming;
      out += fmt::format("   Variable {}: {} {}\n", i, comment(v.name), shape);
    }
    out += "*)\nFrom Exocheck Require Import CertPrelude.\nOpen Scope Z_scope.\n\n";
    return out;
  }
  static std::string audit(const std::string& theorem) {
    return fmt::format("Print Assumptions {}.\n", theorem);
  }

  const Program& program_;
  const semantics::ir::Procedure& procedure_;
  SizeSet sizes_;
  const CertificateOptions& options_;
  ModeRules rules_;
  std::string mode_;
};

}  // namespace

Certificate make_certificate(const Prepared& prepared, const SizeSet& sizes,
                             const CertificateOptions& options) {
  try {
    return Maker(prepared, sizes, options).run();
  } catch (const semantics::OverflowError& e) {
    Certificate out;
    out.reason = e.what();
    return out;
  }
}

}  // namespace exocheck::amir
