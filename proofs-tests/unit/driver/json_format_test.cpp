#include "driver/json_format.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;
using nlohmann::json;

namespace {

json formatted(const RunResult& result, JsonOptions options = {}) {
  return json::parse(format_json(result, options));
}

RunResult race_run() {
  RunResult r;
  r.files = {race_file()};
  return r;
}

}  // namespace

TEST_CASE("the JSON form of a race") {
  const json j = formatted(race_run(), {1, false});
  CHECK(j["schema"] == "exocheck-result/1");
  CHECK(j["mode"] == "default");
  CHECK(j["exit_code"] == 1);
  CHECK(j["procedures_checked"] == 1);
  CHECK(j["procedures_total"] == 1);
  const json& p = j["files"][0]["procedures"][0];
  CHECK(p["name"] == "k");
  CHECK(p["verdict"] == "defect");
  CHECK(p["reason"].is_null());
  CHECK(p["sizes"] == json::parse(R"([{"N": 4}])"));
  const json& f = p["findings"][0];
  CHECK(f["rule"] == "sync.raw");
  CHECK(f["code"] == "E-Y30");
  CHECK(f["severity"] == "error");
  CHECK(f["location"] == json::parse(R"({"line": 3, "column": 5, "end_line": 3, "end_column": 14})"));
  CHECK(f["variable"] == "st");
  CHECK(f["index"] == json::parse("[0]"));
  CHECK(f["memory"] == "CudaSmemLinear");
  CHECK(f["access"]["iterators"] == json::parse(R"({"task": 0, "i": 2})"));
  CHECK(f["access"]["missing_thread"] == "task 0, lane 3");
  CHECK(f["first_access"]["mode"] == "write");
  CHECK(f["related"][0]["role"] == "first-access");
  CHECK(f["related"][0]["location"]["line"] == 2);
  CHECK(f["related"][1]["location"].is_null());
  CHECK(f["suggestion"].is_null());
}

TEST_CASE("seconds appear with --stats only, so that the bytes repeat") {
  RunResult r = race_run();
  r.files[0].procedures[0].stats.seconds = 0.5;
  CHECK(formatted(r)["files"][0]["procedures"][0]["stats"]["seconds"].is_null());
  CHECK(formatted(r, {0, true})["files"][0]["procedures"][0]["stats"]["seconds"] == 0.5);
}

TEST_CASE("the obligations of the run are summed, their times with --stats only") {
  RunResult r = race_run();
  r.files[0].procedures[0].stats = proof_heavy();
  r.files.push_back(r.files[0]);
  CHECK(
      formatted(r)["stats"] ==
      json::parse(
          R"({"obligations": 6, "obligations_solver": 2, "size_queries": 18, "size_queries_solver": 8, "solver_seconds": null,
                                                 "slowest_query": null})"));
  CHECK(
      formatted(r, {0, true})["stats"] ==
      json::parse(
          R"({"obligations": 6, "obligations_solver": 2, "size_queries": 18, "size_queries_solver": 8, "solver_seconds": 1.0, "slowest_query":
          {"path": "a.exo", "procedure": "k", "code": "E-B04", "seconds": 0.5,
           "location": {"line": 3, "column": 5, "end_line": 3, "end_column": 14}}})"));
  CHECK(formatted(r)["files"][0]["procedures"][0]["stats"]["solver_seconds"].is_null());
  CHECK(formatted(r, {0, true})["files"][0]["procedures"][0]["stats"]["solver_seconds"] == 0.5);
}

TEST_CASE("text that is no UTF-8 does no harm") {
  RunResult r = race_run();
  r.files[0].procedures[0].findings[0].message = "bad \xFF byte";
  r.files[0].path = "\xC3\x28";
  CHECK_NOTHROW(formatted(r));
}

TEST_CASE("suppressed findings carry their reason") {
  RunResult r = race_run();
  r.files[0].procedures[0].suppressed.push_back({race(race_source()), "known"});
  const json j = formatted(r);
  CHECK(j["suppressed_total"] == 1);
  CHECK(j["files"][0]["procedures"][0]["suppressed"][0]["suppressed"] == "known");
}

TEST_CASE("an instruction's own text is named as another file") {
  RunResult r = race_run();
  const auto library = source_of("x\n", "tma.exo");
  r.files[0].procedures[0].findings[0].related.push_back(
      {semantics::Role::context, "here", at(library, "x")});
  const json j = formatted(r);
  CHECK(j["files"][0]["procedures"][0]["findings"][0]["related"][2]["path"] == "tma.exo");
}
