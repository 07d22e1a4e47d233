// GPU IR text -> program, AMIR or verdict, for tests of the translation and the check.
#pragma once

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "amir/check.hpp"
#include "amir/check_prepare.hpp"
#include "amir/explain_words.hpp"
#include "frontend/frontend.hpp"
#include "semantics/amir_print.hpp"

namespace exocheck::testing {

inline semantics::ir::Program load_program(const std::string& text) {
  auto source = std::make_shared<const semantics::SourceFile>("test.exo", text);
  frontend::LoadResult loaded = frontend::load(source);
  for (const auto& d : loaded.all_findings()) INFO(d.rule->code << " " << d.message);
  REQUIRE(loaded.rejected.empty());
  REQUIRE_FALSE(loaded.program.procedures.empty());
  return std::move(loaded.program);
}

// The last procedure's AMIR. Requires that the static passes accept it.
inline std::string amir_text(const std::string& text) {
  const semantics::ir::Program program = load_program(text);
  const amir::Preparation p = amir::prepare(program.procedures.back(), program, analysis::Mode::standard);
  for (const auto& d : p.findings) UNSCOPED_INFO(d.rule->code << " " << d.message);
  REQUIRE(p.prepared != nullptr);
  const amir::Words words(p.prepared->procedure, p.prepared->facts, p.prepared->translation);
  return semantics::amir::print(p.prepared->translation.program,
                                [&words](semantics::ir::SymId s) { return words.name(s); });
}

// Checks the last procedure.
inline amir::ProcedureResult check_text(const std::string& text,
                                        std::vector<semantics::ir::SizeSet> sizes = {},
                                        analysis::Mode mode = analysis::Mode::standard) {
  const semantics::ir::Program program = load_program(text);
  amir::CheckOptions options;
  options.sizes = std::move(sizes);
  options.mode = mode;
  amir::ProcedureResult result = amir::check_procedure(program.procedures.back(), program, options);
  for (const auto& d : result.findings) UNSCOPED_INFO(d.rule->code << " " << d.message);
  return result;
}

// The one finding of severity error.
inline const semantics::Diagnostic& the_error(const amir::ProcedureResult& result) {
  const semantics::Diagnostic* found = nullptr;
  int errors = 0;
  for (const auto& d : result.findings) {
    if (d.severity != semantics::Severity::error) continue;
    found = &d;
    ++errors;
  }
  REQUIRE(errors == 1);
  return *found;
}

inline bool has_finding(const amir::ProcedureResult& result, std::string_view code) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const auto& d) { return d.rule->code == code; });
}

// Line of the first related place with the role; 0: there is none.
inline int related_line(const semantics::Diagnostic& d, semantics::Role role) {
  for (const auto& r : d.related) {
    if (r.role == role) return r.location.begin().line;
  }
  return 0;
}

}  // namespace exocheck::testing
