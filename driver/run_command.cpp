// exocheck run FILE: what the program computes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <ostream>

#include "amir/check_prepare.hpp"
#include "amir/check_sizes.hpp"
#include "codegen/emit.hpp"
#include "driver/command.hpp"
#include "driver/emulate.hpp"
#include "driver/engine.hpp"
#include "driver/npy.hpp"
#include "driver/run_inputs.hpp"
#include "driver/sizes.hpp"
#include "driver/text_format.hpp"

namespace exocheck::driver {
namespace {

using semantics::Tensor;
using semantics::ir::Procedure;
using semantics::ir::SymId;

struct RunArguments {
  std::string file;
  std::vector<std::string> sizes, inputs, outputs;
  std::string procedure;
  std::uint64_t seed = 0;
  std::string values = "integers";
  bool sequential = false, emulate = false, gpu = false;
  std::string policy = "random/random";
  std::uint64_t schedules = 1;
  double timeout = 600;
  std::int64_t memory_limit_mb = 8192;
};

// The procedure to run: the one named, or the only one.
std::variant<const Procedure*, UsageError> choose_procedure(const LoadedFile& file, const std::string& name) {
  const auto& procedures = file.load.program.procedures;
  if (name.empty()) {
    if (procedures.size() == 1) return &procedures.front();
    return UsageError{fmt::format("{} has {} procedures: --proc NAME chooses one.", file.source->path(),
                                  procedures.size())};
  }
  const auto found =
      std::find_if(procedures.begin(), procedures.end(), [&](const Procedure& p) { return p.name == name; });
  if (found != procedures.end()) return &*found;
  return UsageError{fmt::format("--proc {}: the file has no procedure of this name.", name)};
}

// The sizes of the command line, else the first admissible ones of the procedure's comments, else chosen.
std::variant<amir::SizeChoice, UsageError> choose_sizes(const Procedure& procedure,
                                                        const std::vector<std::string>& texts) {
  auto parsed = parse_sizes(texts);
  if (const auto* message = std::get_if<std::string>(&parsed)) return UsageError{"--size: " + *message};
  const auto& sets = std::get<std::vector<SizeSet>>(parsed);
  if (sets.size() > 1) return UsageError{"--size: one run takes one set of sizes."};
  for (const SizeSet& set : sets) {
    const auto unknown = amir::unknown_names(procedure, set);
    if (!unknown.empty()) {
      return UsageError{fmt::format("--size {}: {} has no size, index or bool parameter of this name.",
                                    unknown.front(), procedure.name)};
    }
  }
  amir::SizePlan plan = amir::plan_sizes(procedure, sets);
  if (!plan.errors.empty()) return UsageError{"--size: " + plan.errors.front()};
  const auto found =
      std::find_if(plan.choices.begin(), plan.choices.end(), [](const auto& c) { return c.admissible; });
  if (found != plan.choices.end()) return std::move(*found);
  return UsageError{fmt::format("The asserts of {} do not hold{}.", procedure.name,
                                sets.empty() ? " at any size tried" : " at " + show(sets.front()))};
}

std::uint64_t fingerprint(const std::string& bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

std::string describe(const Tensor& tensor) {
  double sum = 0;
  std::size_t undefined = 0;
  for (const double v : tensor.values) {
    if (std::isnan(v))
      ++undefined;
    else
      sum += v;
  }
  std::string text = fmt::format("sum {}, fnv1a {:016x}", sum, fingerprint(format_npy(tensor)));
  if (undefined > 0) text += fmt::format(", {} of {} elements undefined", undefined, tensor.values.size());
  return text;
}

std::string type_text(const Tensor& tensor) {
  std::string text(semantics::name(tensor.precision));
  if (!tensor.extents.empty()) text += fmt::format("[{}]", fmt::join(tensor.extents, ", "));
  return text;
}

bool same_values(const Tensor& a, const Tensor& b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

int code_of(const semantics::Diagnostic& finding) {
  return finding.rule->rule_class == semantics::RuleClass::defect && finding.rule->code != "E-V01" ? 1 : 3;
}

// One line per data parameter; the files of --output. 2 if one cannot be written.
int report(const Procedure& procedure, const semantics::Arguments& before, const semantics::Arguments& after,
           const std::map<std::string, std::string>& outputs, const Console& console) {
  for (const SymId p : procedure.parameters) {
    const auto tensor = after.find(p);
    if (tensor == after.end()) continue;
    const std::string& name = procedure.symbol(p).name;
    console.out << fmt::format("  {}  {}: {}  {}\n",
                               same_values(before.at(p), tensor->second) ? "read   " : "changed", name,
                               type_text(tensor->second), describe(tensor->second));
    const auto output = outputs.find(name);
    if (output == outputs.end()) continue;
    std::ofstream file(output->second, std::ios::binary);
    file << format_npy(tensor->second) << std::flush;
    if (!file) {
      console.err << fmt::format("exocheck: {} cannot be written.\n", output->second);
      return 2;
    }
  }
  return 0;
}

// The first element that differs; empty if none does. An undefined element agrees with everything.
std::string difference(const Procedure& procedure, const semantics::Arguments& expected,
                       const semantics::Arguments& found) {
  for (const auto& [p, tensor] : expected) {
    const Tensor& other = found.at(p);
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (std::isnan(tensor.values[i]) || tensor.values[i] == other.values[i]) continue;
      std::vector<std::int64_t> index(tensor.extents.size());
      auto rest = static_cast<std::int64_t>(i);
      for (std::size_t d = index.size(); d-- > 0;) {
        index[d] = rest % tensor.extents[d];
        rest /= tensor.extents[d];
      }
      return fmt::format("{}[{}] is {}, sequentially {}", procedure.symbol(p).name, fmt::join(index, ", "),
                         std::abs(other.values[i]) >= 0 ? fmt::format("{}", other.values[i]) : "undefined",
                         tensor.values[i]);
    }
  }
  return "";
}

// Runs the emitted code under every schedule asked for and compares with the sequential result.
int emulate(const RunArguments& arguments, const LoadedFile& file, const Procedure& procedure,
            const amir::SizeChoice& sizes, const semantics::Arguments& before,
            const semantics::Arguments& expected, const Console& console) {
  std::vector<std::string> policies{arguments.policy};
  if (arguments.policy == "all") policies = emulator_policies();
  const amir::Preparation prepared = amir::prepare(procedure, file.load.program, analysis::Mode::standard);
  if (!prepared.prepared) {
    console.err << fmt::format(
        "{}: {}: no kernel can be emitted from this procedure; `exocheck check` says why.\n",
        file.source->path(), procedure.name);
    return 3;
  }
  const codegen::Module module =
      codegen::emit(prepared.prepared->procedure, prepared.prepared->facts, {"Generated by exocheck run."});
  for (const Diagnostic& problem : module.problems) console.err << format_text(problem, {});
  if (!module.problems.empty()) return 3;
  auto built = Emulation::build(module, procedure, arguments.gpu ? Machine::gpu : Machine::emulator);
  if (const auto* error = std::get_if<UsageError>(&built)) {
    console.err << fmt::format("exocheck: {}\n", error->message);
    return 2;
  }
  std::vector<Schedule> schedules;
  for (const std::string& policy : policies) {
    for (std::uint64_t i = 0; i < arguments.schedules; ++i) schedules.push_back({arguments.seed + i, policy});
  }
  const std::vector<std::string> faults =
      std::get<Emulation>(built).run(procedure, sizes.environment, before, schedules, arguments.timeout,
                                     [&](const semantics::Arguments& found) {
                                       const std::string element = difference(procedure, expected, found);
                                       return element.empty() ? "" : "the result is wrong: " + element + "\n";
                                     });
  std::size_t failed = 0;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].empty() || ++failed > 1) continue;
    console.out << (arguments.gpu ? std::string("on the GPU: ")
                                  : fmt::format("emulation with --seed {} --policy {}: ", schedules[i].seed,
                                                schedules[i].policy))
                << faults[i];
  }
  console.out << fmt::format("{} {} schedules: {} as the sequential run, {} not\n",
                             arguments.gpu ? "ran" : "emulated", faults.size(), faults.size() - failed,
                             failed)
              << std::flush;
  return failed == 0 ? 0 : 1;
}

int run_procedure(const RunArguments& arguments, const LoadedFile& file, const Console& console) {
  auto chosen = choose_procedure(file, arguments.procedure);
  if (const auto* error = std::get_if<UsageError>(&chosen)) return bad_command_line(console, error->message);
  const Procedure& procedure = *std::get<const Procedure*>(chosen);
  auto sized = choose_sizes(procedure, arguments.sizes);
  if (const auto* error = std::get_if<UsageError>(&sized)) return bad_command_line(console, error->message);
  const amir::SizeChoice& sizes = std::get<amir::SizeChoice>(sized);

  auto inputs = parse_assignments(arguments.inputs, "--input");
  if (const auto* error = std::get_if<UsageError>(&inputs)) return bad_command_line(console, error->message);
  auto outputs = parse_assignments(arguments.outputs, "--output");
  if (const auto* error = std::get_if<UsageError>(&outputs)) return bad_command_line(console, error->message);
  const auto& output_files = std::get<std::map<std::string, std::string>>(outputs);

  semantics::InterpreterLimits limits;
  limits.max_seconds = arguments.timeout;
  limits.max_memory_bytes = static_cast<std::uint64_t>(arguments.memory_limit_mb) << 20;
  const InputRequest request{std::get<std::map<std::string, std::string>>(inputs), arguments.seed,
                             arguments.values == "reals"};
  auto made = make_arguments(procedure, sizes.environment, request, limits);
  if (const auto* error = std::get_if<UsageError>(&made)) return bad_command_line(console, error->message);
  const semantics::Arguments before = std::get<semantics::Arguments>(made);
  for (const auto& [name, path] : output_files) {
    const bool known = std::any_of(before.begin(), before.end(), [&](const auto& entry) {
      return procedure.symbol(entry.first).name == name;
    });
    if (!known) {
      return bad_command_line(
          console, fmt::format("--output {}: {} has no data parameter of this name.", name, procedure.name));
    }
  }

  semantics::Arguments& after = std::get<semantics::Arguments>(made);
  if (const auto finding =
          semantics::interpret(procedure, file.load.program, sizes.environment, after, limits)) {
    console.err << format_text(*finding, {});
    return code_of(*finding);
  }
  console.out << fmt::format("{}: {}: sequential run, {}, seed {}\n", file.source->path(), procedure.name,
                             show(sizes.values), arguments.seed);
  const int code = report(procedure, before, after, output_files, console);
  console.out << std::flush;
  if (code != 0 || !(arguments.emulate || arguments.gpu)) return code;
  return emulate(arguments, file, procedure, sizes, before, after, console);
}

int run_file(const RunArguments& arguments, const Console& console) {
  const auto loaded = load_named(arguments.file, console);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const LoadedFile& file = std::get<LoadedFile>(loaded);
  if (report_load_errors(file, console)) return 2;
  return run_procedure(arguments, file, console);
}

}  // namespace

void add_run_command(CLI::App& app, const Console& console, Action& action) {
  CLI::App* command =
      app.add_subcommand("run", "Execute a procedure: its sequential meaning, and its CUDA on an emulator");
  const auto a = std::make_shared<RunArguments>();
  command->add_option("FILE", a->file, "The file, or - for standard input")->required();
  command->add_option("--proc", a->procedure, "The procedure, if the file has several")->type_name("NAME");
  command->add_option("--size", a->sizes, "Run at these sizes: N=256 or N=256,M=128 (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command->add_option("--input", a->inputs, "A .npy file, or a number for every element (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  command->add_option("--output", a->outputs, "Write a parameter after the run as .npy (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  command->add_option("--seed", a->seed, "Of the parameters without --input")->type_name("N");
  command->add_option("--values", a->values, "What the seed gives: integers in [-4, 4] or reals in [-1, 1)")
      ->check(CLI::IsMember({"integers", "reals"}))
      ->type_name("KIND");
  command->add_flag("--sequential", a->sequential, "The sequential meaning (as without the option)");
  command->add_flag("--emulate", a->emulate, "Then run the emitted CUDA on the CPU emulator, and compare")
      ->excludes("--sequential");
  command->add_flag("--gpu", a->gpu, "Then run the emitted CUDA on the GPU, and compare")
      ->excludes("--sequential")
      ->excludes("--emulate");
  std::vector<std::string> policies = emulator_policies();
  policies.push_back("all");
  command
      ->add_option("--policy", a->policy,
                   "Of the emulator, OPERATIONS/THREADS: "
                   "{eager,lazy,random,reverse}/{turns,random,greedy,first,last}; or all")
      ->check(CLI::IsMember(policies).description(""))
      ->type_name("POLICY");
  command->add_option("--schedules", a->schedules, "Emulate with this many seeds, from --seed on")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}).description(""))
      ->type_name("N");
  command->add_option("--timeout", a->timeout, "Seconds")->check(CLI::PositiveNumber)->type_name("SECONDS");
  command->add_option("--memory-limit", a->memory_limit_mb, "Megabytes for the tensors")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->type_name("MB");
  command->callback([a, &console, &action] { action = [a, &console] { return run_file(*a, console); }; });
}

}  // namespace exocheck::driver
