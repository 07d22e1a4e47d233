#include "frontend/frontend.hpp"

#include "frontend/elaborate_file.hpp"
#include "frontend/instr_library.hpp"

namespace exocheck::frontend {

LoadResult load(const semantics::SourcePtr& source, const ParseLimits& limits) {
  return elaborate(parse(source, limits), instr_library());
}

}  // namespace exocheck::frontend
