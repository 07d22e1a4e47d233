// The semantics as documents, all made from the same tables (timelines, modes, memories, units, rules).
// Deterministic: no times, no machine names.
#pragma once

#include <string>
#include <vector>

#include "semantics/memories.hpp"
#include "semantics/modes.hpp"

namespace exocheck::semantics {

// generated/Tables.v: the tables as Rocq definitions, with their invariants proved by computation.
std::string export_rocq_tables();
// generated/RuleCheck.v: the tables are those of the theory, and every inference rule is one of the theory.
std::string export_rocq_rule_check();
std::string export_latex();
std::string export_markdown();
std::string export_json();  // schema exocheck-semantics/1

// What the formats share.
// One memory of each kind, with small template arguments.
std::vector<MemoryType> sample_memories();
// The instruction timelines of dialect P.
std::vector<InstrTimeline> instruction_timelines();
// "{rmem, ram}", in the order of the table.
std::string braces(QualSet quals);
// "{I, i, a, t, f}"
std::string braces(Flags flags);
// A unit's domain and box: "clusterDim x blockDim", "1 x 32".
std::string domain_text(const CollUnit& unit);
std::string box_text(const CollUnit& unit);

}  // namespace exocheck::semantics
