#include "driver/smt_files.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// n > 0 implies n > bound.
analysis::Obligation obligation(std::int64_t bound, analysis::Obligation::Status status) {
  const smt::Term n = smt::variable({0, smt::Sort::integer, smt::VariableRole::size, "n"});
  analysis::Obligation o;
  o.code = "E-B04";
  o.location = at(race_source(), "y = st[0]");
  o.meaning = "n is large";
  o.status = status;
  o.query = {smt::Assumptions().with("size.n", smt::lt(smt::integer(0), n)), smt::lt(smt::integer(bound), n)};
  return o;
}

}  // namespace

TEST_CASE("one script per obligation, named after procedure, line and rule") {
  const fs::path folder = fs::temp_directory_path() / "exocheck-smt-files-test";
  fs::remove_all(folder);
  using Status = analysis::Obligation::Status;
  auto k = procedure("k", Verdict::defect);
  k.obligations = {obligation(0, Status::proved), obligation(1, Status::refuted),
                   obligation(2, Status::unknown)};
  k.obligations[1].solver = true;
  // Preconditions: asked for a model, so that `proved` is "sat".
  auto satisfiable = obligation(0, Status::proved);
  satisfiable.code = "E-B01";
  satisfiable.query.goal.reset();
  k.obligations.push_back(satisfiable);
  RunResult r;
  r.files = {file_with({k}), file_with({k})};
  REQUIRE(write_smt_files(r, folder.string()).empty());

  const auto index = nlohmann::json::parse(content(folder / "obligations.json"));
  CHECK(index["schema"] == "exocheck-obligations/1");
  std::vector<std::string> files;
  std::vector<std::string> expected;
  for (const auto& o : index["obligations"]) {
    files.push_back(o["file"]);
    expected.push_back(o["expected"]);
    CHECK(content(folder / files.back()).find("(set-info :status " + expected.back() + ")") !=
          std::string::npos);
  }
  CHECK(files == std::vector<std::string>{"k-3-E-B04-1.smt2", "k-3-E-B04-2.smt2", "k-3-E-B04-3.smt2",
                                          "k-3-E-B01-1.smt2", "k-3-E-B04-4.smt2", "k-3-E-B04-5.smt2",
                                          "k-3-E-B04-6.smt2", "k-3-E-B01-2.smt2"});
  CHECK(std::vector<std::string>(expected.begin(), expected.begin() + 4) ==
        std::vector<std::string>{"unsat", "sat", "unknown", "sat"});
  CHECK(index["obligations"][1]["decided_by"] == "solver");
  CHECK(index["obligations"][0]["decided_by"] == "fast path");
  CHECK(index["obligations"][0]["source"] == "a.exo:3:5");
  fs::remove_all(folder);
}

TEST_CASE("no folder, no files; a folder that cannot be made is reported") {
  CHECK(write_smt_files({}, "").empty());
  CHECK(write_smt_files({}, "/dev/null/x").find("/dev/null/x") != std::string::npos);
}
