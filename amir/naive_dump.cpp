// Printing the naive machine's records in the notation of abstract-machine.md 6.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "amir/naive_machine.hpp"

namespace exocheck::amir::naive {
namespace {

std::string level_text(const std::map<Qual, Flags>& flags) {
  std::string out;
  for (const auto& [letter, level] : {std::pair{'F', Level::full}, std::pair{'T', Level::temporal},
                                      std::pair{'U', Level::unordered}, std::pair{'A', Level::atomic}}) {
    std::vector<std::string_view> names;
    for (const auto& [q, f] : flags) {
      if (level_of(f) == level) names.push_back(semantics::qual_record(q).short_name);
    }
    if (!names.empty())
      out += fmt::format("{}{}{{{}}}", out.empty() ? "" : " ", letter, fmt::join(names, ","));
  }
  return out;
}

std::string range_text(Thread first, Thread last) {
  if (first == everyone) return "*";
  const std::string task = first.task == 0 ? "" : fmt::format("{}/", first.task);
  if (first == last) return fmt::format("{}{}", task, first.local);
  return fmt::format("{}{}-{}", task, first.local, last.local);
}

std::string visibility_text(const Record& r) {
  std::map<Thread, std::map<Qual, Flags>> by_thread;
  for (const auto& [key, flags] : r.flags) by_thread[key.first][key.second] = flags;
  for (const Qual q : r.atomic.members()) {
    Flags& flags = by_thread[everyone][q];
    flags = flags | Flags::atomic;
  }
  std::vector<std::string> parts;
  for (auto at = by_thread.begin(); at != by_thread.end();) {
    auto last = at;
    for (auto next = std::next(at); next != by_thread.end(); last = next++) {
      const bool adjacent =
          next->first.task == last->first.task && next->first.local == last->first.local + 1;
      if (!adjacent || level_text(next->second) != level_text(at->second)) break;
    }
    parts.push_back(fmt::format("{}:{}", range_text(at->first, last->first), level_text(at->second)));
    at = std::next(last);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string minimum_text(const std::optional<std::int64_t>& k) { return k ? fmt::format("{}", *k) : "-"; }

}  // namespace

std::string Machine::dump(VarId var, const Element& element) const {
  const VariableState& x = variables_[index(var)];
  const auto cell = x.cells.find(element);
  if (cell == x.cells.end()) return "-";
  std::vector<std::string> parts;
  const auto print = [&](char kind, const Record& r) {
    std::string text =
        fmt::format("{}<{}; {}", kind, semantics::qual_record(r.original).short_name, visibility_text(r));
    for (const auto& [z, k] : r.pending) {
      const std::string subscript = z.element.empty() ? "" : fmt::format("[{}]", fmt::join(z.element, ","));
      text += fmt::format("; P({}{})={}", program_.variables[index(z.var)].name, subscript,
                          minimum_text(k.strong));
      if (rules_.tiers && k.weak != k.strong) text += fmt::format("/{}", minimum_text(k.weak));
    }
    parts.push_back(text + ">");
  };
  for (const Record& r : cell->second.mutates) print('M', r);
  for (const Record& r : cell->second.reads) print('R', r);
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace exocheck::amir::naive
