// Many synchronization statements in one kernel: each is rejected by its rule or emitted as its calls.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emitted.hpp"

namespace exocheck::testing {

struct SyncRow {
  std::vector<std::string> declarations;  // outside of the place's blocks
  std::vector<std::string> lines;         // statements
  std::string rule;                       // that rejects them, or both rules; empty: accepted
  std::string emitted;                    // calls in short form, see short_form()
};

// Where the statements stand.
struct SyncPlace {
  std::string name, launch;
  std::vector<std::string> around = {};  // headers of the blocks around them, outermost first
  // A barrier for each instance of the blocks: "[64]", "[t]".
  std::string extents = "", index = "";
};

// "xrt_mbar_arrive<true>(slot, ...);" -> "mbar_arrive<true>": the call without its operands; commit groups
// and named barriers keep theirs.
inline std::string short_form(std::string line) {
  std::string before;
  if (line.starts_with("if (xrt_ring_wait")) {
    REQUIRE(line.ends_with(") xrt_fence_proxy_async();"));
    before = line.substr(8, line.find('(', 8) - 8) + " ";
    line = "xrt_fence_proxy_async();";
  }
  REQUIRE(line.starts_with("xrt_"));
  const bool operands = line.starts_with("xrt_bar_named");
  return before + line.substr(4, line.find(operands ? ';' : '(') - 4);
}

// The program with the rows, and the first line of each.
inline std::pair<std::string, std::vector<std::uint32_t>> program_of(const SyncPlace& place,
                                                                     const std::vector<SyncRow>& rows) {
  std::string text =
      "def k():\n    with CudaDeviceFunction(" + place.launch + "):\n        for task in cuda_tasks(0, 1):\n";
  std::uint32_t line = 4;
  std::size_t indent = 12;
  for (const SyncRow& row : rows) {
    for (const std::string& declaration : row.declarations) {
      text += std::string(indent, ' ') + declaration + "\n";
      ++line;
    }
  }
  for (const std::string& header : place.around) {
    text += std::string(indent, ' ') + header + "\n";
    indent += 4;
    ++line;
  }
  std::vector<std::uint32_t> first;
  for (const SyncRow& row : rows) {
    first.push_back(line);
    for (const std::string& statement : row.lines) {
      text += std::string(indent, ' ') + statement + "\n";
      ++line;
    }
  }
  return {text, first};
}

// Calls of each row in the emitted text, by the line numbers that it names.
inline std::vector<std::string> calls_of(const std::string& source, const std::vector<std::uint32_t>& first) {
  std::vector<std::string> calls(first.size());
  const auto begin = source.find("static void run_task("), end = source.find("static void run(");
  REQUIRE((begin != std::string::npos && end != std::string::npos));
  std::istringstream lines(source.substr(begin, end - begin));
  std::size_t row = first.size();
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with("XRT_LINE(")) {
      const auto number = static_cast<std::uint32_t>(std::stoul(line.substr(9)));
      const auto after = std::upper_bound(first.begin(), first.end(), number);
      REQUIRE(after != first.begin());
      row = static_cast<std::size_t>(after - first.begin()) - 1;
    } else if (line.starts_with("xrt_") || line.starts_with("if (xrt_")) {
      REQUIRE(row < calls.size());
      calls[row] += (calls[row].empty() ? "" : " ") + short_form(line);
    }
  }
  return calls;
}

inline void check_rows(const SyncPlace& place, const std::vector<SyncRow>& rows) {
  INFO(place.name);
  std::map<std::string, std::vector<SyncRow>> by_rule;  // the passes stop at the first one with an error
  for (const SyncRow& row : rows) by_rule[row.rule].push_back(row);
  for (const auto& [rule, group] : by_rule) {
    const auto [text, first] = program_of(place, group);
    if (rule.empty()) {
      const auto calls = calls_of(source_of(text), first);
      for (std::size_t i = 0; i < group.size(); ++i) {
        INFO(group[i].lines.back());
        CHECK(calls[i] == group[i].emitted);
      }
      continue;
    }
    const auto loaded = frontend::load(std::make_shared<const semantics::SourceFile>("test.exo", text));
    REQUIRE(loaded.rejected.empty());
    const auto prepared =
        amir::prepare(loaded.program.procedures.back(), loaded.program, analysis::Mode::standard);
    std::map<std::size_t, std::set<std::string>> found;  // by row
    for (const auto& d : prepared.findings) {
      const auto after = std::upper_bound(first.begin(), first.end(), d.location.begin().line);
      REQUIRE(after != first.begin());
      found[static_cast<std::size_t>(after - first.begin()) - 1].insert(std::string(d.rule->code));
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      INFO(group[i].lines.back());
      CHECK(fmt::format("{}", fmt::join(found[i], " ")) == rule);
    }
  }
}

}  // namespace exocheck::testing
