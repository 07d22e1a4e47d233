// Source text in, findings out: what the tests of the elaboration share.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/frontend.hpp"

namespace exocheck::frontend::test {

inline LoadResult load_text(const std::string& text) {
  return load(std::make_shared<semantics::SourceFile>("test.exo", text));
}

// "E-T13 2": code and line of every finding, in file order.
inline std::vector<std::string> findings(const std::string& text) {
  std::vector<std::string> out;
  for (const semantics::Diagnostic& d : load_text(text).all_findings()) {
    out.push_back(std::string(d.rule->code) + " " + std::to_string(d.location.begin().line));
  }
  return out;
}

inline std::string indented(const std::string& text, const std::string& blanks) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += blanks + line + "\n";
  return out;
}

// The statements in a host procedure; the first one stands on line 2.
inline std::string host(const std::string& statements) {
  return "def p(n: size, m: size, i: index, b: bool, s: stride, x: f32[n], y: f32[n, 4], w: [f32][n], q: "
         "f32, "
         "h: f16[n], k: i32):\n" +
         indented(statements, "    ");
}

// The statements in the task of a kernel; the first one stands on line 4.
inline std::string device(const std::string& statements) {
  return "def p(n: size, g: f32[n] @ CudaGmemLinear):\n"
         "    with CudaDeviceFunction(blockDim=32):\n"
         "        for task in cuda_tasks(0, 1):\n" +
         indented(statements, "            ");
}

// One row of a table: a text and its expected findings ("" means none, several are separated by ", ").
struct Row {
  std::string text;
  std::string expected;
};

inline std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

// Compares every row of a table.
inline void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(joined(findings(row.text)) == row.expected);
  }
}

}  // namespace exocheck::frontend::test
