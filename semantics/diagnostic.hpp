// A finding as data: static errors, warnings and machine findings share one form (cli.md, JSON form).
// Formatting (text, JSON) happens in driver/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/rules.hpp"
#include "semantics/source.hpp"

namespace exocheck::semantics {

enum class Severity { error, warning, note };

// What a secondary location contributes.
enum class Role { first_access, sync, near_miss, declaration, context };

struct Related {
  Role role = Role::context;
  std::string message;
  Location location;
};

// How one access was made; every field is already in the user's words.
struct AccessDetail {
  std::string statement;  // source text of the statement
  std::string mode;       // "read", "write", "read-write", "atomic", "free"
  std::vector<std::pair<std::string, std::int64_t>> iterators;  // outermost first
  std::optional<std::int64_t> task;                             // none at CPU scope
  std::string collective;                                       // "threads 0..127 of task 0"
  std::string timeline;                                         // initial QualTL, long name
  std::vector<std::string> extended;                            // extended QualTL set, long names
  std::string required;                                         // level needed, e.g. "temporally ordered"
  std::string held;                                             // level the missing thread holds
  std::string missing_thread;                                   // "task 0, cta 1, warp 0, lane 3"
};

struct Diagnostic {
  const Rule* rule = nullptr;
  Severity severity = Severity::error;
  std::string message;
  Location location;
  std::vector<Related> related;
  std::optional<std::string> suggestion;

  // Set where the finding is about one variable.
  std::string variable;
  std::vector<std::int64_t> index;
  std::string memory;
  // Set by machine findings: the failing (second) and the offending (first) access.
  std::optional<AccessDetail> access;
  std::optional<AccessDetail> first_access;
};

using Diagnostics = std::vector<Diagnostic>;

// A diagnostic of the rule's own severity (warning for RuleClass::warning, else error).
Diagnostic make_diagnostic(std::string_view code, Location location, std::string message);

bool has_errors(const Diagnostics& diagnostics);

}  // namespace exocheck::semantics
