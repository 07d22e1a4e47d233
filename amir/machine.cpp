#include "amir/machine.hpp"

#include "amir/machine_core.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

namespace prog = semantics::amir;
using semantics::ir::overloaded;

Outcome run(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits,
            Observer* observer) {
  return working::Machine(program, sizes, rules, limits, observer).run();
}

namespace working {
Machine::Machine(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits,
                 Observer* observer, Tuning tuning)
    : program_(program),
      rules_(rules),
      observer_(observer),
      tuning_(tuning),
      control_(program, sizes, limits),
      rounds_(program),
      variables_(program.variables.size()),
      awaits_(AwaitSummary::of(program, rules_)),
      records_(rules_, observer != nullptr),
      states_(records_) {
  if (observer_ != nullptr) filter_ = observer_->filter();
}

Outcome Machine::run() {
  // abstract-machine.md 3.6: parameters exist from the start, with no records.
  try {
    for (std::uint32_t v = 0; v < variables_.size(); ++v) {
      if (program_.variables[v].parameter) allocate(VarId{v});
    }
  } catch (const semantics::OverflowError& error) {
    outcome_.limit = std::string("limit.overflow ") + error.what();
    return outcome_;
  }
  control_.run(
      [&](const prog::Node& node) {
        return std::visit(overloaded{
                              [](const prog::Loop&) { return true; },
                              [](const prog::Branch&) { return true; },
                              [&](const auto& s) { return execute(node, s); },
                          },
                          node.node);
      },
      outcome_);
  return outcome_;
}

}  // namespace working
}  // namespace exocheck::amir
