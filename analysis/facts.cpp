#include "analysis/facts.hpp"

namespace exocheck::analysis {

const TilingPtr& Facts::tiling_of(StmtId s) const {
  static const TilingPtr none;
  const auto it = tiling.find(s);
  return it == tiling.end() ? none : it->second;
}

}  // namespace exocheck::analysis
