// The machine's index checks against the static obligations on random affine device programs:
//   * where every obligation holds, no run over sampled sizes meets an index out of range;
//   * an index out of range that a run meets was reported, for its tensor in its line;
//   * the counterexample of a refuted access, run, meets an index out of range.
// EXOCHECK_SEED=n starts at seed n; EXOCHECK_PROGRAMS=n makes n programs.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "amir/check_prepare.hpp"
#include "amir/check_sizes.hpp"
#include "amir/explain_words.hpp"
#include "amir/machine.hpp"
#include "frontend/frontend.hpp"
#include "property/support/setting.hpp"

using namespace exocheck;
using testing::setting;

namespace {

// ------------------------------------------------------------------------------------------------ random
// programs, as text. Nothing in them races: threads write registers, and what one thread alone uses.

struct Tensor {
  std::string name;
  std::vector<std::string> extents;
  bool written = false;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program() {
    const bool single = chance(40);  // one thread of one task, which may write shared and global memory
    std::vector<Tensor> tensors{{"a", {extent()}, false}, {"b", {extent(), extent()}, false}};
    if (single) tensors.push_back({"y", {extent()}, true});
    std::string text = "def k(n: size, m: size, d: index";
    for (const Tensor& x : tensors) text += ", " + x.name + ": f32[" + list(x.extents) + "] @ CudaGmemLinear";
    text += "):\n";
    scope_ = {"n", "m", "d"};
    for (int count = pick(0, 2); count > 0; --count) text += "    assert " + precondition() + "\n";
    text += "    with CudaDeviceFunction(blockDim=32):\n        for task in cuda_tasks(0, " +
            (single ? "1" : any({"2", "n", "m", "(n + 3) / 4"})) + "):\n";
    indent_ = 12;
    scope_.push_back("task");
    if (single) {
      tensors.push_back({"s", {number(3, 6)}, true});
      text += line("s: f32[" + tensors.back().extents[0] + "] @ CudaSmemLinear");
    }
    text += line("for t in cuda_threads(0, " + std::string(single ? "1" : "4") + ", unit=cuda_thread):");
    indent_ += 4;
    scope_.push_back("t");
    const std::vector<std::string> shape = chance(50) ? std::vector<std::string>{number(3, 6)}
                                                      : std::vector<std::string>{number(2, 3), number(2, 4)};
    tensors.push_back({"x", shape, true});
    text += line("x: f32[" + list(shape) + "] @ CudaRmem");
    for (const Tensor& x : tensors) {
      if (x.name == "x" || x.name == "s") text += clear(x);
    }
    text += block(tensors, 3);
    if (single) {
      indent_ = 12;
      text += line("Fence(cuda_in_order, cuda_in_order)");
    }
    return text;
  }

 private:
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::string number(int lo, int hi) { return std::to_string(pick(lo, hi)); }
  std::string any(const std::vector<std::string>& v) {
    return v[static_cast<std::size_t>(pick(0, static_cast<int>(v.size()) - 1))];
  }
  std::string line(const std::string& text) {
    return std::string(static_cast<std::size_t>(indent_), ' ') + text + "\n";
  }
  static std::string list(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
    return out;
  }

  // Always positive.
  std::string extent() { return any({"n", "m", "n + 1", "2 * m", "n + m", "3", "5", "4 * n"}); }

  std::string precondition() {
    return any({"0 <= d", "d < n", "n % 2 == 0", "n <= m", "m < 4", "3 <= n", "d + 2 <= m",
                "-1 <= d and d < 2", "n == m + 1", "n % 4 == 0 or d == 0"});
  }

  std::string affine(int depth) {
    switch (depth == 0 ? pick(0, 4) : pick(0, 9)) {
      case 0:
        return number(0, 4);
      case 1:
      case 2:
      case 3:
      case 4:
        return any(scope_);
      case 5:
        return affine(depth - 1) + " + " + affine(depth - 1);
      case 6:
        return affine(depth - 1) + " - " + number(1, 3);
      case 7:
        return number(2, 4) + " * (" + affine(depth - 1) + ")";
      case 8:
        return "(" + affine(depth - 1) + ") / " + number(2, 4);
      default:
        return "(" + affine(depth - 1) + ") % " + number(2, 5);
    }
  }

  std::string condition() {
    const std::string c = affine(1) + any({" < ", " <= ", " == ", " > ", " >= ", " != "}) + affine(1);
    return chance(20) ? c + any({" and ", " or "}) + affine(1) + " < " + affine(1) : c;
  }

  // x[e, ...], and the guard that keeps it in range; the guard is sometimes off by one, or missing.
  std::string element(const Tensor& x, std::string& guard) {
    std::vector<std::string> index;
    for (const std::string& n : x.extents) {
      const std::string e = affine(1);
      index.push_back(e);
      if (chance(35)) continue;
      std::string inside = e + (chance(92) ? " < " : " <= ") + n;
      if (chance(93)) inside = "0 <= " + e + " and " + inside;
      guard += (guard.empty() ? "" : " and ") + inside;
    }
    return x.name + "[" + list(index) + "]";
  }

  std::string clear(const Tensor& x) {
    std::string text;
    std::vector<std::string> index;
    const int outer = indent_;
    for (std::size_t k = 0; k < x.extents.size(); ++k) {
      index.push_back("z" + std::to_string(k));
      text += line("for " + index.back() + " in seq(0, " + x.extents[k] + "):");
      indent_ += 4;
    }
    text += line(x.name + "[" + list(index) + "] = 0.0");
    indent_ = outer;
    return text;
  }

  std::string access(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> targets;
    for (const Tensor& x : tensors) {
      if (x.written) targets.push_back(x);
    }
    std::string guard;
    const std::string target =
        element(targets[static_cast<std::size_t>(pick(0, static_cast<int>(targets.size()) - 1))], guard);
    const std::string source =
        element(tensors[static_cast<std::size_t>(pick(0, static_cast<int>(tensors.size()) - 1))], guard);
    std::string text;
    if (!guard.empty()) {
      text += line("if " + guard + ":");
      indent_ += 4;
    }
    text += line(target + (chance(30) ? " += " : " = ") + source);
    if (!guard.empty()) indent_ -= 4;
    return text;
  }

  std::string block(std::vector<Tensor> tensors, int depth) {
    std::string text;
    for (int count = pick(1, depth > 1 ? 3 : 2); count > 0; --count) {
      const int kind = depth == 0 ? 9 : pick(0, 9);
      if (kind <= 2) {
        const std::string i = "i" + std::to_string(names_++);
        text += line("for " + i + " in seq(0, " + any({"n", "m", "3", "n / 2", "(m + 1) / 2"}) + "):");
        indent_ += 4;
        scope_.push_back(i);
        text += block(tensors, depth - 1);
        scope_.pop_back();
        indent_ -= 4;
      } else if (kind == 3) {
        text += line("if " + condition() + ":");
        indent_ += 4;
        text += block(tensors, depth - 1);
        indent_ -= 4;
        if (chance(40)) {
          text += line("else:");
          indent_ += 4;
          text += block(tensors, depth - 1);
          indent_ -= 4;
        }
      } else if (kind == 4) {
        // A window of the first dimension; it may be read, and what lies under it may be out of its range.
        const std::string w = "w" + std::to_string(names_++);
        const std::string lo = chance(50) ? "0" : affine(0);
        const std::string length = any({"1", "2", tensors[0].extents[0]});
        const bool guarded = chance(60);
        if (guarded) {
          text +=
              line("if 0 <= " + lo + " and " + lo + " + " + length + " <= " + tensors[0].extents[0] + ":");
          indent_ += 4;
        }
        text += line(w + " = a[" + lo + ":" + lo + " + " + length + "]");
        tensors.push_back({w, {length}, false});
        text += access(tensors);
        tensors.pop_back();
        if (guarded) indent_ -= 4;
      } else {
        text += access(tensors);
      }
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::string> scope_;
  int indent_ = 0;
  int names_ = 0;
};

// ------------------------------------------------------------------------------------------------ runs

using Place = std::pair<std::string, int>;  // tensor, line

class Runner {
 public:
  explicit Runner(const amir::Prepared& prepared)
      : prepared_(prepared), words_(prepared.procedure, prepared.facts, prepared.translation) {}

  // false if the preconditions exclude the sizes. `fault`: the tensor and line of an index out of range.
  bool run(std::int64_t n, std::int64_t m, std::int64_t d, std::optional<Place>& fault) {
    const auto plan = amir::plan_sizes(prepared_.procedure, {{{"n", n}, {"m", m}, {"d", d}}});
    REQUIRE(plan.choices.size() == 1);
    const amir::SizeChoice& choice = plan.choices.front();
    if (!choice.admissible) return false;
    const amir::Program& program = prepared_.translation.program;
    amir::Sizes sizes(program.symbol_count);
    for (std::size_t s = 0; s < choice.environment.size(); ++s) {
      const semantics::ir::SymId symbol{static_cast<std::uint32_t>(s)};
      if (choice.environment[symbol]) sizes.set(symbol, *choice.environment[symbol]);
    }
    const amir::Outcome outcome = amir::run(program, sizes, amir::rules_of(analysis::Mode::standard), {});
    REQUIRE_FALSE(outcome.limit);
    if (!outcome.violation) return true;
    INFO(outcome.violation->code << " in line " << words_.location(outcome.violation->at).begin().line);
    REQUIRE(outcome.violation->code == "E-Y20");  // the programs have no other fault
    fault = Place{program.variables[index(outcome.violation->var)].name,
                  words_.location(outcome.violation->at).begin().line};
    return true;
  }

 private:
  const amir::Prepared& prepared_;
  amir::Words words_;
};

std::int64_t value_in(const analysis::Obligation& o, const std::string& name, std::int64_t otherwise) {
  for (const auto& [variable, value] : o.counterexample) {
    if (variable.name == name) return value;
  }
  return otherwise;
}

}  // namespace

TEST_CASE("static obligations and the machine's index checks agree", "[property]") {
  int clean = 0, faulty = 0, met = 0, confirmed = 0, undecided = 0;
  const unsigned first = static_cast<unsigned>(setting("EXOCHECK_SEED", 1));
  const unsigned count =
      static_cast<unsigned>(std::min<std::uint64_t>(setting("EXOCHECK_PROGRAMS", 200), 2000));
  for (unsigned seed = first; seed < first + count; ++seed) {
    const std::string text = Generator(seed).program();
    INFO("seed " << seed << "\n" << text);
    const auto loaded = frontend::load(std::make_shared<const semantics::SourceFile>("random.exo", text));
    for (const auto& d : loaded.diagnostics) UNSCOPED_INFO(d.rule->code << " " << d.message);
    REQUIRE(loaded.program.procedures.size() == 1);
    const auto& procedure = loaded.program.procedures.front();

    const auto analysis = analysis::analyse(procedure, loaded.program);
    std::set<Place> reported;
    bool holds = !analysis.facts.unknown_reason;
    bool impossible = false;
    for (const auto& d : analysis.diagnostics) {
      UNSCOPED_INFO(d.rule->code << " line " << d.location.begin().line << " " << d.message);
      if (d.rule->code == "E-B04") reported.insert({d.variable, d.location.begin().line});
      impossible = impossible || d.rule->code == "E-B01";
      holds = holds && d.severity != semantics::Severity::error;
    }
    undecided += analysis.facts.unknown_reason.has_value();
    if (impossible) continue;

    analysis::AnalysisOptions open;
    open.bounds_open = true;
    const amir::Preparation preparation = amir::prepare(procedure, loaded.program, open);
    for (const auto& d : preparation.findings) UNSCOPED_INFO(d.rule->code << " " << d.message);
    REQUIRE(preparation.prepared != nullptr);
    Runner runner(*preparation.prepared);

    int runs = 0;
    for (std::int64_t n = 1; n <= 5; ++n) {
      for (std::int64_t m = 1; m <= 4; ++m) {
        for (std::int64_t d = -2; d <= 3; ++d) {
          std::optional<Place> fault;
          runs += runner.run(n, m, d, fault);
          INFO("n = " << n << ", m = " << m << ", d = " << d);
          if (!fault) continue;
          ++met;
          INFO(fault->first << " in line " << fault->second << " is out of range");
          REQUIRE_FALSE(holds);
          REQUIRE(reported.contains(*fault));
        }
      }
    }
    for (const auto& o : preparation.obligations) {
      if (o.status != analysis::Obligation::Status::refuted || o.code != "E-B04") continue;
      const std::int64_t n = value_in(o, "n", 1), m = value_in(o, "m", 1), d = value_in(o, "d", 0);
      if (n > 40 || m > 40 || d < -40 || d > 40) continue;
      std::optional<Place> fault;
      if (!runner.run(n, m, d, fault)) continue;
      ++confirmed;
      INFO(o.meaning << " is refuted by n = " << n << ", m = " << m << ", d = " << d);
      REQUIRE(fault);
    }
    if (runs > 0) holds ? ++clean : ++faulty;
  }
  WARN("clean " << clean << ", faulty " << faulty << ", runs out of range " << met << ", counterexamples run "
                << confirmed << ", undecided " << undecided);
  CHECK(clean > static_cast<int>(count) / 8);
  CHECK(faulty > static_cast<int>(count) / 3);
  CHECK(met > static_cast<int>(count) * 10);
  CHECK(confirmed > static_cast<int>(count) / 2);
}
