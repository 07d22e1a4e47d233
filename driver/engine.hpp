// The one place where the driver calls the layers below: text -> program -> verdicts.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "driver/result.hpp"
#include "frontend/frontend.hpp"
#include "semantics/modes.hpp"

namespace exocheck::driver {

struct RunRequest {
  std::string mode = "default";  // default | strict | paper-exact
  std::vector<SizeSet> sizes;    // from the command line; empty: the file's own, else chosen
  std::string procedure;         // only this one; empty: all
  double timeout_seconds = 600;  // per procedure
  std::uint64_t memory_limit_bytes = 8ull << 30;
  bool graphs = false;       // make ProcedureResult::graph
  bool obligations = false;  // keep ProcedureResult::obligations
};

// A file after the frontend.
struct LoadedFile {
  semantics::SourcePtr source;
  frontend::LoadResult load;
  std::string internal_error;  // a broken invariant of ours while it was loaded
};

// default, strict or paper-exact.
semantics::Mode mode_named(const std::string& name);

LoadedFile load_file(const semantics::SourcePtr& source);

// A request that fits none of the files: a bad command line (exit 2). `message` is a complete sentence.
struct UsageError {
  std::string message;
};

// Refuses procedures and size names that no file has, and values that no parameter of that name can take
// (decisions.md E2). Nothing is reported while some procedure did not parse: the name may be its.
std::vector<UsageError> validate(const RunRequest& request, const std::vector<LoadedFile>& files);

// Checks every requested procedure of the file and applies its suppressions. A broken invariant of ours
// becomes FileResult::internal_error, so that the other files are still checked.
FileResult check_file(const LoadedFile& file, const RunRequest& request);

}  // namespace exocheck::driver
