// Results made by hand, for the formatter and comparison tests.
#pragma once

#include <memory>
#include <string>

#include "driver/result.hpp"

namespace exocheck::test {

inline semantics::SourcePtr source_of(std::string text, std::string path = "a.exo") {
  return std::make_shared<const semantics::SourceFile>(std::move(path), std::move(text));
}

// The place of the first occurrence of `part` in the text.
inline semantics::Location at(const semantics::SourcePtr& source, std::string_view part) {
  const auto begin = static_cast<std::uint32_t>(source->text().find(part));
  return {source, {begin, begin + static_cast<std::uint32_t>(part.size())}};
}

inline semantics::SourcePtr race_source() {
  return source_of(
      "def k(N: size):\n"
      "    st[0] = 1.0\n"
      "    y = st[0]\n");
}

// RAW on st: the read in line 3 against the write in line 2.
inline semantics::Diagnostic race(const semantics::SourcePtr& source) {
  auto d = semantics::make_diagnostic("E-Y30", at(source, "y = st[0]"), "st[0] is read too early.");
  d.variable = "st";
  d.index = {0};
  d.memory = "CudaSmemLinear";
  d.related.push_back({semantics::Role::first_access, "the write", at(source, "st[0] = 1.0")});
  d.related.push_back({semantics::Role::sync, "no fence lies between", {}});
  d.access = semantics::AccessDetail{"y = st[0]",
                                     "read",
                                     {{"task", 0}, {"i", 2}},
                                     0,
                                     "threads 0..31 of task 0",
                                     "cuda_in_order_ram_qual",
                                     {},
                                     "full",
                                     "unordered",
                                     "task 0, lane 3"};
  d.first_access =
      semantics::AccessDetail{"st[0] = 1.0", "write", {{"task", 0}}, 0, "thread 1", "t", {}, "", "", ""};
  return d;
}

inline driver::ProcedureResult procedure(std::string name, driver::Verdict verdict) {
  driver::ProcedureResult p;
  p.name = std::move(name);
  p.verdict = verdict;
  return p;
}

inline driver::FileResult file_with(std::vector<driver::ProcedureResult> procedures) {
  driver::FileResult f;
  f.path = "a.exo";
  f.procedures = std::move(procedures);
  return f;
}

inline driver::FileResult race_file() {
  auto p = procedure("k", driver::Verdict::defect);
  p.findings.push_back(race(race_source()));
  p.sizes = {{{"N", 4}}};
  return file_with({p});
}

// Three obligations, of which one took the solver half a second.
inline driver::CheckStats proof_heavy() {
  driver::CheckStats s;
  s.seconds = 1.25;
  s.statements = 100;
  s.records_peak = 7;
  s.obligations = 3;
  s.obligations_solver = 1;
  s.size_queries = 9;
  s.size_queries_solver = 4;
  s.solver_seconds = 0.5;
  s.slowest = driver::CheckStats::Query{"E-B04", at(race_source(), "y = st[0]"), 0.5};
  return s;
}

}  // namespace exocheck::test
