// GPU IR text -> emitted files, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "amir/check_prepare.hpp"
#include "codegen/emit.hpp"
#include "frontend/frontend.hpp"

namespace exocheck::testing {

// Of the last procedure; requires that the static passes accept it.
inline codegen::Module emit_text(const std::string& text) {
  const frontend::LoadResult loaded =
      frontend::load(std::make_shared<const semantics::SourceFile>("test.exo", text));
  for (const auto& d : loaded.diagnostics) UNSCOPED_INFO(d.rule->code << " " << d.message);
  REQUIRE(loaded.rejected.empty());
  const auto prepared =
      amir::prepare(loaded.program.procedures.back(), loaded.program, analysis::Mode::standard);
  for (const auto& d : prepared.findings) UNSCOPED_INFO(d.rule->code << " " << d.message);
  REQUIRE(prepared.prepared != nullptr);
  return codegen::emit(prepared.prepared->procedure, prepared.prepared->facts, {"Headline."});
}

// The NAME.cu file; requires that there are no problems.
inline std::string source_of(const std::string& text) {
  const codegen::Module module = emit_text(text);
  for (const auto& d : module.problems) UNSCOPED_INFO(d.rule->code << " " << d.message);
  REQUIRE(module.problems.empty());
  REQUIRE(module.files.front().first == module.name + ".cu");
  return module.files.front().second;
}

// A kernel of one task with these lines (indented by 12) as its body.
inline std::string kernel_text(const std::string& parameters, const std::string& launch,
                               const std::string& body, const std::string& host = "") {
  std::string text = "def k(" + parameters + "):\n" + host + "    with CudaDeviceFunction(" + launch +
                     "):\n        for task in cuda_tasks(0, 1):\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) text += "            " + line + "\n";
  return text;
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(std::string(EXOCHECK_SOURCE_DIR) + "/" + path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace exocheck::testing
