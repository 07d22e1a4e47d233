#include "driver/directives.hpp"

#include <catch2/catch.hpp>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;

TEST_CASE("comments are found without parsing") {
  const auto source = source_of("# top\nx = 'a # b'  # real\n  \"\\\"#\" #2\nplain\n");
  const auto comments = comment_lines(*source);
  REQUIRE(comments.size() == 3);
  CHECK(comments[0].own_line);
  CHECK(comments[0].text == "top");
  CHECK(comments[1].line == 2);
  CHECK(!comments[1].own_line);
  CHECK(comments[1].text == "real");
  CHECK(comments[2].text == "2");
}

TEST_CASE("suppressions by code and by name, on the line and above it") {
  const auto source = source_of(
      "x = 1  # exocheck: ignore sync.raw -- hardware orders it\n"
      "# exocheck: ignore E-Y31 -- same\n"
      "# more words\n"
      "\n"
      "y = 2\n");
  const Suppressions s = find_suppressions(source);
  CHECK(s.problems.empty());
  REQUIRE(s.entries.size() == 2);
  CHECK(s.entries[0].line == 1);
  CHECK(s.entries[0].code == "E-Y30");
  CHECK(s.entries[0].reason == "hardware orders it");
  CHECK(s.entries[1].line == 5);
  CHECK(s.entries[1].code == "E-Y31");
}

TEST_CASE("malformed directives silence nothing and are reported") {
  for (const auto* text :
       {"# exocheck: ignore sync.raw", "# exocheck: ignore sync.raw --", "# exocheck: ignore",
        "# exocheck: ignore sync.rwa -- typo", "# exocheck: ignored sync.raw -- x"}) {
    INFO(text);
    const auto source = source_of(std::string(text) + "\n");
    const Suppressions s = find_suppressions(source);
    CHECK(s.entries.empty());
    REQUIRE(s.problems.size() == 1);
    CHECK(s.problems[0].rule->code == "W-P04");
  }
  CHECK(find_suppressions(source_of("# exocheck: sizes N=4\n# exocheck: dialect=P\n")).problems.empty());
}

TEST_CASE("a silenced error makes a procedure unknown, not checked") {
  const auto source =
      source_of("def k(N: size):\n    st[0] = 1.0\n    y = st[0]  # exocheck: ignore sync.raw -- known\n");
  auto p = procedure("k", Verdict::defect);
  p.findings.push_back(race(source));
  FileResult file = file_with({p});
  apply_suppressions(file, find_suppressions(source));
  const ProcedureResult& after = file.procedures[0];
  CHECK(after.findings.empty());
  REQUIRE(after.suppressed.size() == 1);
  CHECK(after.suppressed[0].reason == "known");
  CHECK(after.verdict == Verdict::unknown);
  CHECK(after.reason.find("sync.raw") != std::string::npos);
}

TEST_CASE("an error beside the silenced one keeps the verdict") {
  const auto source =
      source_of("def k(N: size):\n    st[0] = 1.0\n    y = st[0]  # exocheck: ignore sync.raw -- known\n");
  auto p = procedure("k", Verdict::defect);
  p.findings.push_back(race(source));
  p.findings.push_back(semantics::make_diagnostic("E-U14", at(source, "def"), "m"));
  FileResult file = file_with({p});
  apply_suppressions(file, find_suppressions(source));
  CHECK(file.procedures[0].verdict == Verdict::defect);
}

TEST_CASE("silenced warnings leave the verdict alone; other rules and lines stay") {
  const auto source = source_of("a\nb  # exocheck: ignore W-Y02 -- fine\n");
  auto p = procedure("k", Verdict::checked);
  p.findings.push_back(semantics::make_diagnostic("W-Y02", at(source, "b"), "m"));
  p.findings.push_back(semantics::make_diagnostic("W-Y01", at(source, "b"), "m"));
  p.findings.push_back(semantics::make_diagnostic("W-Y02", at(source, "a"), "m"));
  FileResult file = file_with({p});
  apply_suppressions(file, find_suppressions(source));
  CHECK(file.procedures[0].findings.size() == 2);
  CHECK(file.procedures[0].verdict == Verdict::checked);
}

TEST_CASE("syntax errors and limits cannot be silenced") {
  const auto source = source_of("x  # exocheck: ignore E-P01 -- no\ny  # exocheck: ignore L-04 -- no\n");
  FileResult file = file_with({procedure("k", Verdict::unknown)});
  file.findings.push_back(semantics::make_diagnostic("E-P01", at(source, "x"), "m"));
  file.procedures[0].findings.push_back(semantics::make_diagnostic("L-04", at(source, "y"), "m"));
  apply_suppressions(file, find_suppressions(source));
  CHECK(file.findings.size() == 1);
  CHECK(file.procedures[0].findings.size() == 1);
}
