#include "amir/naive_record.hpp"

#include <algorithm>

namespace exocheck::amir::naive {
namespace {

void add(Record& r, const Collective& c, Qual q, Flags flags) {
  if (flags.empty()) return;
  if (c.everyone) {
    Flags& entry = r.flags[{everyone, q}];
    entry = entry | flags;
    return;
  }
  for (const Thread g : c.threads) {
    Flags& entry = r.flags[{g, q}];
    entry = entry | flags;
  }
}

bool some_holds(const Record& r, const Collective& c, Qual q, Flags flag) {
  if (c.everyone) {
    if (r.atomic.contains(q) && flag == Flags::atomic) return true;
    for (const auto& [key, flags] : r.flags) {
      if (key.second == q && flags.contains(flag)) return true;
    }
    return false;
  }
  for (const Thread g : c.threads) {
    if (visibility(r, g, q).contains(flag)) return true;
  }
  return false;
}

}  // namespace

Record new_record(const Collective& threads, Qual q, bool in_order, QualSet atomic, const FlagTable& table) {
  Record r;
  r.original = q;
  r.atomic = atomic;
  if (threads.everyone) {
    r.issuers = {everyone};
  } else {
    r.issuers = {threads.threads.begin(), threads.threads.end()};
  }
  add(r, threads, q, in_order ? table.in_order : table.out_of_order);
  return r;
}

Flags visibility(const Record& r, Thread g, Qual q) {
  Flags out = r.atomic.contains(q) ? Flags::atomic : Flags{};
  for (const Thread key : {g, everyone}) {
    const auto entry = r.flags.find({key, q});
    if (entry != r.flags.end()) out = out | entry->second;
  }
  return out;
}

Flags visibility_of_some(const Record& r, const Collective& c, Qual q) {
  Flags out = r.atomic.contains(q) ? Flags::atomic : Flags{};
  for (const auto& [key, flags] : r.flags) {
    const auto& [g, timeline] = key;
    if (timeline != q) continue;
    const bool member =
        c.everyone || g == everyone || std::find(c.threads.begin(), c.threads.end(), g) != c.threads.end();
    if (member) out = out | flags;
  }
  return out;
}

std::optional<Failure> check(const Record& r, const Collective& c, bool convergent, const Demand& demanded,
                             const ModeRules& rules) {
  const Flags flag = required_flag(demanded.level, rules);
  const std::vector<Qual> quals = demanded.quals.members();
  if (convergent || c.everyone) {
    Failure failure;
    for (const Qual q : quals) {
      if (some_holds(r, c, q, flag)) return std::nullopt;
      failure.held = std::max(failure.held, level_of(visibility_of_some(r, c, q)));
    }
    return failure;
  }
  for (const Thread g : c.threads) {
    bool ok = false;
    Failure failure{g, Level::invisible};
    for (const Qual q : quals) {
      const Flags held = visibility(r, g, q);
      ok = ok || held.contains(flag);
      failure.held = std::max(failure.held, level_of(held));
    }
    if (!ok) return failure;
  }
  return std::nullopt;
}

Strength witness(const Record& r, const Collective& c, bool transitive, QualSet first) {
  Strength strength = Strength::none;
  for (const Qual q : first.members()) {
    if (!transitive && q != r.original) continue;
    if (some_holds(r, c, q, Flags::issue)) return Strength::strong;
    if (some_holds(r, c, q, Flags::weak)) strength = Strength::weak;
  }
  return strength;
}

bool own(const Record& r, const Collective& c) {
  if (c.everyone || r.issuers.contains(everyone)) return true;
  for (const Thread g : c.threads) {
    if (r.issuers.contains(g)) return true;
  }
  for (const Qual q : semantics::async_proxy_quals.members()) {
    if (some_holds(r, c, q, Flags::full)) return true;
  }
  return false;
}

void augment_strong(Record& r, const Collective& c, QualSet full, QualSet temporal, const FlagTable& table) {
  for (const Qual q : full.members()) add(r, c, q, table.full);
  for (const Qual q : (temporal - full).members()) add(r, c, q, table.temporal);
}

void augment_weak(Record& r, const Collective& c, QualSet temporal, const FlagTable& table) {
  for (const Qual q : temporal.members()) add(r, c, q, table.weak);
}

}  // namespace exocheck::amir::naive
