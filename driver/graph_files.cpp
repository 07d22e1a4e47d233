#include "driver/graph_files.hpp"

#include <fmt/core.h>

#include <fstream>
#include <ostream>

#include "amir/graphviz.hpp"

namespace exocheck::driver {
namespace {

const amir::HbGraph* first_graph(const RunResult& result) {
  for (const FileResult& file : result.files) {
    for (const ProcedureResult& procedure : file.procedures) {
      if (procedure.graph) return &*procedure.graph;
    }
  }
  return nullptr;
}

bool write(const std::string& name, const std::string& content) {
  std::ofstream file(name, std::ios::binary);
  file << content << std::flush;
  return static_cast<bool>(file);
}

}  // namespace

std::string write_graphs(const RunResult& result, const std::string& dot_file, const std::string& svg_file,
                         const Console& console) {
  if (dot_file.empty() && svg_file.empty()) return "";
  const amir::HbGraph* graph = first_graph(result);
  if (graph == nullptr) {
    console.err << "exocheck: there is no counterexample, so no graph is written\n";
    return "";
  }
  if (!dot_file.empty() && !write(dot_file, amir::write_dot(*graph))) {
    return fmt::format("{} cannot be written.", dot_file);
  }
  if (!svg_file.empty() && !write(svg_file, amir::write_svg(*graph))) {
    return fmt::format("{} cannot be written.", svg_file);
  }
  return "";
}

}  // namespace exocheck::driver
