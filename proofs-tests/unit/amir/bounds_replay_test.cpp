// Counterexamples of the bounds obligations, executed: the sizes of the printed model make the machine, which
// then runs although the obligation fails, meet an index out of range.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "amir/check_sizes.hpp"
#include "amir/machine.hpp"
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using semantics::ir::SizeSet;
namespace fs = std::filesystem;

namespace {

const fs::path root = EXOCHECK_SOURCE_DIR;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// The values of "... when n = 1, blk = 0, t = 1".
std::map<std::string, std::int64_t> printed_model(const std::string& message) {
  std::map<std::string, std::int64_t> out;
  const std::size_t when = message.rfind(" when ");
  if (when == std::string::npos) return out;
  std::istringstream rest(message.substr(when + 6));
  for (std::string item; std::getline(rest, item, ',');) {
    const std::size_t equals = item.find(" = ");
    if (equals == std::string::npos) return {};
    const std::size_t begin = item.find_first_not_of(' ');
    out[item.substr(begin, equals - begin)] = std::stoll(item.substr(equals + 3));
  }
  return out;
}

// What `--size` would say.
SizeSet sizes_of(const semantics::ir::Procedure& procedure,
                 const std::map<std::string, std::int64_t>& model) {
  SizeSet out;
  for (const auto p : procedure.parameters) {
    const auto& symbol = procedure.symbol(p);
    if (symbol.control() && model.contains(symbol.name)) out.emplace_back(symbol.name, model.at(symbol.name));
  }
  return out;
}

struct Fault {
  std::string code, variable;
  int line = 0;
};

// The first violation of a run with index checks in force everywhere; nullopt: the run ends well.
std::optional<Fault> replay(const semantics::ir::Program& program, const SizeSet& sizes) {
  const auto& procedure = program.procedures.back();
  analysis::AnalysisOptions options;
  options.bounds_open = true;
  const amir::Preparation p = amir::prepare(procedure, program, options);
  for (const auto& d : p.findings) UNSCOPED_INFO(d.rule->code << " " << d.message);
  REQUIRE(p.prepared != nullptr);
  const amir::Words words(p.prepared->procedure, p.prepared->facts, p.prepared->translation);
  const amir::SizePlan plan = amir::plan_sizes(p.prepared->procedure, {sizes});
  REQUIRE(plan.errors.empty());
  REQUIRE_FALSE(plan.choices.empty());
  const amir::SizeChoice& choice = plan.choices.front();
  REQUIRE(choice.admissible);
  amir::Sizes environment(p.prepared->translation.program.symbol_count);
  for (std::size_t s = 0; s < choice.environment.size(); ++s) {
    const semantics::ir::SymId symbol{static_cast<std::uint32_t>(s)};
    if (choice.environment[symbol]) environment.set(symbol, *choice.environment[symbol]);
  }
  const amir::Outcome outcome =
      amir::run(p.prepared->translation.program, environment, amir::rules_of(analysis::Mode::standard), {});
  REQUIRE_FALSE(outcome.limit);
  if (!outcome.violation) return std::nullopt;
  const auto& v = *outcome.violation;
  return Fault{std::string(v.code), p.prepared->translation.program.variables[index(v.var)].name,
               words.location(v.at).begin().line};
}

}  // namespace

TEST_CASE("mutants of the kernels: the printed counterexample, executed, is out of range") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root / "proofs-tests/cases/bounds-mutants"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 20);
  for (const fs::path& file : files) {
    INFO(file.string());
    const std::string text = content(file);
    const semantics::ir::Program program = load_program(text);
    const auto result =
        amir::check_procedure(program.procedures.back(), program, {.sizes = {}, .limits = {}});
    CHECK(result.verdict == amir::Verdict::defect);
    CHECK(result.stats.statements == 0);  // the machine was not needed

    std::vector<std::pair<std::string, int>> reported;
    for (const auto& d : result.findings) {
      INFO(d.message);
      CHECK(d.rule->code.substr(0, 3) == "E-B");
      reported.emplace_back(d.variable, d.location.begin().line);
    }
    REQUIRE_FALSE(reported.empty());

    // The kernel it was made from, at the same sizes: the fault is the mutant's.
    const std::string marker = "# Mutant of ";
    const std::size_t at = text.find(marker);
    REQUIRE(at != std::string::npos);
    const std::string kernel = text.substr(at + marker.size(), text.find(':', at) - at - marker.size());
    const semantics::ir::Program original = load_program(content(root / kernel));

    for (const auto& d : result.findings) {
      INFO(d.message);
      const auto model = printed_model(d.message);
      // Only an index without any variable but iterators of constant loops needs no size.
      const SizeSet sizes = sizes_of(program.procedures.back(), model);
      REQUIRE_FALSE(sizes.empty());
      const auto fault = replay(program, sizes);
      REQUIRE(fault);
      CHECK(fault->code == "E-Y20");
      const std::pair<std::string, int> place{fault->variable, fault->line};
      INFO(place.first << " in line " << place.second);
      CHECK(std::find(reported.begin(), reported.end(), place) != reported.end());

      const auto plan = amir::plan_sizes(original.procedures.back(), {sizes});
      REQUIRE_FALSE(plan.choices.empty());
      if (!plan.choices.front().admissible) continue;  // the mutant admits more sizes
      const auto good = replay(original, sizes);
      CHECK((!good || good->variable != fault->variable));
    }
  }
}
