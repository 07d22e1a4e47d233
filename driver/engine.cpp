#include "driver/engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>

#include "amir/check.hpp"
#include "amir/check_sizes.hpp"
#include "driver/directives.hpp"

namespace exocheck::driver {
namespace {

using semantics::ir::Procedure;

bool wanted(const RunRequest& request, const std::string& procedure) {
  return request.procedure.empty() || request.procedure == procedure;
}

// The wanted procedures of all files.
std::vector<const Procedure*> wanted_procedures(const RunRequest& request,
                                                const std::vector<LoadedFile>& files) {
  std::vector<const Procedure*> procedures;
  for (const LoadedFile& file : files) {
    for (const Procedure& p : file.load.program.procedures) {
      if (wanted(request, p.name)) procedures.push_back(&p);
    }
  }
  return procedures;
}

ProcedureResult check_one(const Procedure& procedure, const semantics::ir::Program& program,
                          const amir::CheckOptions& options) {
  amir::ProcedureResult checked = amir::check_procedure(procedure, program, options);
  ProcedureResult result;
  result.name = procedure.name;
  result.verdict = checked.verdict;
  result.reason = std::move(checked.reason);
  result.not_proved = std::move(checked.not_proved);
  result.proof = checked.proof;
  result.all_sizes = checked.all_sizes;
  result.sizes = std::move(checked.sizes);
  result.sizes_chosen = checked.sizes_chosen;
  result.behaviours_left_out = checked.behaviours_left_out;
  result.findings = std::move(checked.findings);
  if (checked.counterexample && !checked.counterexample->graph.empty()) {
    result.graph = std::move(checked.counterexample->graph);
  }
  result.obligations = std::move(checked.obligations);
  result.stats = checked.stats;
  return result;
}

}  // namespace

analysis::Mode mode_named(const std::string& name) {
  if (name == "strict") return analysis::Mode::strict;
  if (name == "paper-exact") return analysis::Mode::paper_exact;
  return analysis::Mode::standard;
}

LoadedFile load_file(const semantics::SourcePtr& source) {
  try {
    return {source, frontend::load(source), ""};
  } catch (const std::exception& error) {
    return {source, {}, error.what()};
  }
}

std::vector<UsageError> validate(const RunRequest& request, const std::vector<LoadedFile>& files) {
  const auto procedures = wanted_procedures(request, files);
  // A name that a faulty procedure may have is not complained about: the fault is reported instead.
  const bool complete = std::all_of(files.begin(), files.end(), [](const LoadedFile& f) {
    return f.internal_error.empty() && !f.load.failed();
  });
  std::vector<UsageError> errors;
  if (procedures.empty()) {
    if (!request.procedure.empty() && complete) {
      errors.push_back({fmt::format("--proc {}: no file has a procedure of this name.", request.procedure)});
    }
    return errors;
  }
  for (const SizeSet& set : request.sizes) {
    for (const auto& [name, value] : set) {
      const SizeSet one{{name, value}};
      const bool known = std::any_of(procedures.begin(), procedures.end(), [&](const Procedure* p) {
        return amir::unknown_names(*p, one).empty();
      });
      if (!known && complete) {
        errors.push_back({fmt::format(
            "--size {}={}: no procedure has a size, index or bool parameter of this name.", name, value)});
      }
    }
  }
  for (const Procedure* p : procedures) {
    for (std::string& message : amir::size_errors(*p, request.sizes)) {
      // Errors in a comment of the file are not the command line's.
      if (!request.sizes.empty()) errors.push_back({"--size: " + std::move(message)});
    }
  }
  return errors;
}

FileResult check_file(const LoadedFile& file, const RunRequest& request) {
  FileResult result;
  result.path = file.source->path();
  result.internal_error = file.internal_error;
  if (!result.internal_error.empty()) return result;
  result.findings = file.load.diagnostics;
  for (const std::string& name : file.load.rejected) {
    if (wanted(request, name)) result.rejected.push_back(name);
  }

  amir::CheckOptions options;
  options.mode = mode_named(request.mode);
  options.sizes = request.sizes;
  options.limits.max_seconds = request.timeout_seconds;
  options.limits.max_memory_bytes = request.memory_limit_bytes;
  options.graph = request.graphs;
  options.obligations = request.obligations;
  auto defective = file.load.defective.begin();
  const auto add_defective = [&](std::uint32_t before) {
    for (; defective != file.load.defective.end() && defective->name_span.begin < before; ++defective) {
      if (!wanted(request, defective->name)) continue;
      ProcedureResult p;
      p.name = defective->name;
      p.verdict = Verdict::defect;
      p.findings = defective->findings;
      result.procedures.push_back(std::move(p));
    }
  };
  for (const Procedure& procedure : file.load.program.procedures) {
    add_defective(procedure.name_span.begin);
    if (!wanted(request, procedure.name)) continue;
    try {
      result.procedures.push_back(check_one(procedure, file.load.program, options));
    } catch (const std::exception& error) {
      result.internal_error +=
          fmt::format("{}{}: {}", result.internal_error.empty() ? "" : "; ", procedure.name, error.what());
    }
  }

  add_defective(std::numeric_limits<std::uint32_t>::max());

  Suppressions suppressions = find_suppressions(file.source);
  apply_suppressions(result, suppressions);
  for (Diagnostic& problem : suppressions.problems) result.findings.push_back(std::move(problem));
  return result;
}

}  // namespace exocheck::driver
