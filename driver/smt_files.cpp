#include "driver/smt_files.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "smt/smtlib.hpp"

namespace exocheck::driver {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Obligation;

// What a solver must answer to the script: a goal is asserted negated, preconditions are asserted as they
// are.
const char* expected_answer(const Obligation& o) {
  if (o.status == Obligation::Status::unknown) return "unknown";
  const bool proved = o.status == Obligation::Status::proved;
  return proved == o.query.goal.has_value() ? "unsat" : "sat";
}

const char* name_of(Obligation::Status status) {
  switch (status) {
    case Obligation::Status::proved:
      return "proved";
    case Obligation::Status::refuted:
      return "refuted";
    case Obligation::Status::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string source_of(const semantics::Location& location, const std::string& path) {
  if (!location.known()) return path;
  const auto begin = location.begin();
  return fmt::format("{}:{}:{}", location.source->path(), begin.line, begin.column);
}

class Dump {
 public:
  explicit Dump(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // false if the file cannot be written.
  bool add(const FileResult& file, const ProcedureResult& procedure, const Obligation& o) {
    const int line = o.location.known() ? o.location.begin().line : 0;
    const std::string stem = fmt::format("{}-{}-{}", procedure.name.substr(0, 100), line, o.code);
    const std::string id = fmt::format("{}-{}", stem, ++count_[stem]);
    const std::string status = expected_answer(o);
    const std::string source = source_of(o.location, file.path);
    index_.push_back(Json{{"id", id},
                          {"rule", o.code},
                          {"procedure", procedure.name},
                          {"source", source},
                          {"meaning", o.meaning},
                          {"file", id + ".smt2"},
                          {"logic", "QF_LIA"},
                          {"expected", status},
                          {"result", name_of(o.status)},
                          {"decided_by", o.solver ? "solver" : "fast path"}});
    return write(id + ".smt2", smt::smtlib(o.query, {id, std::string(o.code), source, o.meaning, status}));
  }

  bool write_index() {
    const Json json{{"schema", "exocheck-obligations/1"}, {"obligations", index_}};
    return write("obligations.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

 private:
  bool write(const std::string& name, const std::string& content) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file << content << std::flush;
    return static_cast<bool>(file);
  }

  std::filesystem::path folder_;
  std::map<std::string, int> count_;
  Json index_ = Json::array();
};

}  // namespace

std::string write_smt_files(const RunResult& result, const std::string& folder) {
  if (folder.empty()) return "";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fmt::format("the folder {} cannot be made: {}.", folder, error.message());
  Dump dump(folder);
  bool written = true;
  for (const FileResult& file : result.files) {
    for (const ProcedureResult& procedure : file.procedures) {
      for (const Obligation& o : procedure.obligations) written = written && dump.add(file, procedure, o);
    }
  }
  written = written && dump.write_index();
  return written ? "" : fmt::format("the folder {} cannot be written to.", folder);
}

}  // namespace exocheck::driver
