#include "amir/flags.hpp"

#include "semantics/errors.hpp"

namespace exocheck::amir {

using semantics::amir::Check;
using semantics::amir::Purpose;
using semantics::amir::Record;

Flags required_flag(Level level, const ModeRules& rules) {
  switch (level) {
    case Level::invisible:
      return {};
    case Level::atomic:
      return Flags::atomic;
    case Level::unordered:
      return rules.tiers ? Flags::weak : Flags::issue;
    case Level::temporal:
      return Flags::temporal;
    case Level::full:
      return Flags::full;
  }
  throw semantics::InternalError("unknown level");
}

Level level_of(Flags flags) {
  if (flags.contains(Flags::full)) return Level::full;
  if (flags.contains(Flags::temporal)) return Level::temporal;
  if (flags.contains(Flags::issue) || flags.contains(Flags::weak)) return Level::unordered;
  if (flags.contains(Flags::atomic)) return Level::atomic;
  return Level::invisible;
}

Demand demand(const Check& check, Qual original, const ModeRules& rules) {
  const QualSet proxy = check.quals & semantics::async_proxy_quals;
  const bool raised = rules.generic_before_async && check.purpose == Purpose::write && !proxy.empty() &&
                      generic_quals.contains(original) && (check.reads || check.overwrites);
  if (raised) return {Level::full, proxy};
  // How much a free asks of earlier mutates is the mode's choice (decisions.md N9).
  const bool freed = check.purpose == Purpose::free_memory && !check.reads;
  return {freed ? rules.free_level : check.level, check.quals};
}

bool keeps_mutates(const Record& mutate, const ModeRules& rules) {
  return !mutate.atomic.empty() || (rules.zero_keeps && semantics::zero_quals.contains(mutate.qual));
}

bool keeps_reads(const Record& mutate, const ModeRules& rules) {
  return (rules.atomics_keep_reads && !mutate.atomic.empty()) ||
         (rules.zero_keeps && semantics::zero_quals.contains(mutate.qual));
}

std::string_view code_of(const Check& check) {
  switch (check.purpose) {
    case Purpose::read:
      return "E-Y30";
    case Purpose::write:
      return check.reads ? "E-Y31" : "E-Y32";
    case Purpose::free_memory:
      return "E-Y12";
  }
  throw semantics::InternalError("unknown purpose of a check");
}

bool one_record(const Record& record, bool all_threads) {
  return record.convergent || all_threads || semantics::shared_record_quals.contains(record.qual);
}

}  // namespace exocheck::amir
