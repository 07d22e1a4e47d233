#include "amir/run.hpp"

#include "semantics/errors.hpp"

namespace exocheck::amir {

ModeRules rules_of(analysis::Mode mode) {
  ModeRules rules;
  switch (mode) {
    case analysis::Mode::paper_exact:
      rules.tiers = rules.atomics_keep_reads = rules.forward_progress = rules.zero_keeps = rules.uninitialised = false;
      rules.free_level = Level::full;
      return rules;
    case analysis::Mode::standard:
      return rules;
    case analysis::Mode::strict:
      rules.proxy_fence_owner = rules.generic_before_async = true;
      return rules;
  }
  throw semantics::InternalError("unknown mode");
}

}  // namespace exocheck::amir
