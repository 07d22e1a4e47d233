#include <catch2/catch.hpp>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;

namespace {

RunResult run_of(std::vector<FileResult> files) {
  RunResult r;
  r.files = std::move(files);
  return r;
}

FileResult file_error(std::string_view code) {
  FileResult f = file_with({});
  f.rejected = {"k"};
  f.findings.push_back(semantics::make_diagnostic(code, at(race_source(), "st"), "m"));
  return f;
}

}  // namespace

TEST_CASE("exit code of one procedure") {
  const auto code = [](Verdict v) {
    return exit_code(run_of({file_with({procedure("k", v)})}), FailOn::table);
  };
  CHECK(code(Verdict::proved) == 0);
  CHECK(code(Verdict::checked) == 0);
  CHECK(code(Verdict::defect) == 1);
  CHECK(code(Verdict::unknown) == 3);
  CHECK(code(Verdict::unsupported) == 3);
  CHECK(code(Verdict::vacuous) == 3);
}

TEST_CASE("exit code of file findings") {
  CHECK(exit_code(run_of({file_error("E-L02")}), FailOn::table) == 2);
  CHECK(exit_code(run_of({file_error("L-02")}), FailOn::table) == 3);
  FileResult unreadable;
  unreadable.failure = "gone";
  CHECK(exit_code(run_of({unreadable}), FailOn::table) == 2);
}

TEST_CASE("the worst wins in the order 4, 2, 1, 3, 0") {
  const FileResult good = file_with({procedure("a", Verdict::checked)});
  const FileResult unknown = file_with({procedure("b", Verdict::unknown)});
  const FileResult defect = file_with({procedure("c", Verdict::defect)});
  const FileResult bad_input = file_error("E-P01");
  FileResult broken = file_with({procedure("d", Verdict::checked)});
  broken.internal_error = "broken";
  CHECK(exit_code(run_of({good, unknown}), FailOn::table) == 3);
  CHECK(exit_code(run_of({unknown, defect, good}), FailOn::table) == 1);
  CHECK(exit_code(run_of({defect, bad_input, unknown}), FailOn::table) == 2);
  CHECK(exit_code(run_of({broken, bad_input, defect}), FailOn::table) == 4);
}

TEST_CASE("nothing to check is never 0") {
  CHECK(exit_code(run_of({}), FailOn::table) == 3);
  CHECK(exit_code(run_of({file_with({})}), FailOn::defect) == 3);
  CHECK(exit_code(run_of({file_with({})}), FailOn::never) == 3);
}

TEST_CASE("--fail-on") {
  const auto one = [](Verdict v) { return run_of({file_with({procedure("k", v)})}); };
  CHECK(exit_code(one(Verdict::unknown), FailOn::defect) == 0);
  CHECK(exit_code(one(Verdict::defect), FailOn::defect) == 1);
  CHECK(exit_code(one(Verdict::unknown), FailOn::unknown) == 3);
  CHECK(exit_code(one(Verdict::defect), FailOn::never) == 0);
  CHECK(exit_code(one(Verdict::vacuous), FailOn::never) == 0);
  CHECK(exit_code(run_of({file_error("E-L02")}), FailOn::never) == 2);

  auto warned = procedure("k", Verdict::checked);
  warned.findings.push_back(semantics::make_diagnostic("W-Y02", {}, "m"));
  CHECK(exit_code(run_of({file_with({warned})}), FailOn::table) == 0);
  CHECK(exit_code(run_of({file_with({warned})}), FailOn::warning) == 1);
}

TEST_CASE("counts") {
  FileResult f = file_with({procedure("a", Verdict::checked), procedure("b", Verdict::defect),
                            procedure("c", Verdict::unsupported), procedure("d", Verdict::vacuous)});
  f.rejected = {"e"};
  const RunResult r = run_of({f});
  CHECK(r.procedures_total() == 5);
  CHECK(r.procedures_checked() == 2);
}

TEST_CASE("verdict words") {
  for (const auto word : {"proved", "checked", "defect", "unknown", "unsupported", "vacuous"}) {
    REQUIRE(verdict_named(word).has_value());
    CHECK(name(*verdict_named(word)) == word);
  }
  CHECK(!verdict_named("error"));
}
