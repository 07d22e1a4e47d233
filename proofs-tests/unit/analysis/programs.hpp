// Programs as text for the tests of the static passes.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/facts.hpp"
#include "frontend/frontend.hpp"

namespace exocheck::analysis::test {

// Every line of `text` moved right by `columns`.
inline std::string indented(const std::string& text, std::size_t columns) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out += std::string(columns, ' ') + text.substr(at, end - at);
    out += '\n';
    at = end + 1;
  }
  return out;
}

// A procedure of statements at CPU scope.
inline std::string host(const std::string& parameters, const std::string& body) {
  return "def p(" + parameters + "):\n" + indented(body, 4);
}

// A procedure whose only statement is a device function with the given body.
inline std::string device(const std::string& launch, const std::string& parameters, const std::string& body) {
  return host(parameters, "with CudaDeviceFunction(" + launch + "):\n" + indented(body, 4));
}

// The same, the body being that of a device task.
inline std::string task(const std::string& launch, const std::string& parameters, const std::string& body) {
  return device(launch, parameters, "for task in cuda_tasks(0, 1):\n" + indented(body, 4));
}

inline frontend::LoadResult load(const std::string& text) {
  return frontend::load(std::make_shared<semantics::SourceFile>("test.exo", text));
}

inline std::string described(const semantics::Diagnostic& d) {
  return std::string(d.rule->code) + "@" + std::to_string(d.location.begin().line);
}

// "CODE@line" of every finding of the frontend and of the passes, warnings included, in the order reported;
// sorted.
inline std::vector<std::string> findings(const std::string& text, Mode mode = Mode::standard) {
  const auto loaded = load(text);
  std::vector<std::string> out;
  for (const auto& d : loaded.all_findings()) out.push_back(described(d));
  for (const auto& procedure : loaded.program.procedures) {
    for (const auto& d : analyse(procedure, loaded.program, mode).diagnostics) {
      out.push_back(described(d));
      UNSCOPED_INFO(out.back() << ": " << d.message);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The codes alone, once each.
inline std::vector<std::string> codes(const std::string& text, Mode mode = Mode::standard) {
  std::vector<std::string> out;
  for (const std::string& f : findings(text, mode)) {
    const std::string code = f.substr(0, f.find('@'));
    if (std::find(out.begin(), out.end(), code) == out.end()) out.push_back(code);
  }
  return out;
}

using Codes = std::vector<std::string>;

// A program that breaks one rule, and one that nearly does.
struct Pair {
  std::string code;
  std::string bad;
  std::string good;
};

inline void check(const std::vector<Pair>& pairs, Mode mode = Mode::standard) {
  for (const Pair& p : pairs) {
    INFO("rule " << p.code);
    {
      INFO(p.bad);
      CHECK(codes(p.bad, mode) == Codes{p.code});
    }
    if (!p.good.empty()) {
      INFO(p.good);
      CHECK(codes(p.good, mode) == Codes{});
    }
  }
}

}  // namespace exocheck::analysis::test
