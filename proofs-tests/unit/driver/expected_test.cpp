#include "driver/expected.hpp"

#include <catch2/catch.hpp>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;

namespace {

std::vector<ExpectedRun> runs_of(const std::string& header) {
  auto parsed = parse_expected(*source_of(header + "def k():\n    pass\n"));
  INFO(header << (parsed.index() == 1 ? std::get<1>(parsed) : ""));
  REQUIRE(std::holds_alternative<std::vector<ExpectedRun>>(parsed));
  return std::get<0>(parsed);
}

bool malformed(const std::string& header) {
  return std::holds_alternative<std::string>(parse_expected(*source_of(header + "def k():\n    pass\n")));
}

// Number of differences when `expectations` (lines without the comment sign) meet `result`.
std::size_t differences(const std::string& expectations, const FileResult& result) {
  std::string header;
  std::size_t begin = 0;
  while (begin < expectations.size()) {
    const auto end = std::min(expectations.find('\n', begin), expectations.size());
    header += "# expect: " + expectations.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return compare(runs_of(header).at(0), result).size();
}

}  // namespace

TEST_CASE("run and expect lines are grouped") {
  const auto runs = runs_of(
      "# A kernel.\n"
      "# run: check --size N=64 --mode strict\n"
      "# expect: defect sync.war variable=A_smem line=14 earlier=9\n"
      "# expect: warning W-Y02\n"
      "\n"
      "# run: check\n"
      "# expect: checked proc=k\n");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].words == std::vector<std::string>{"check", "--size", "N=64", "--mode", "strict"});
  REQUIRE(runs[0].expectations.size() == 2);
  const Expectation& e = runs[0].expectations[0];
  CHECK(e.rule->code == "E-Y31");
  CHECK(e.variable == "A_smem");
  CHECK(e.line == 14);
  CHECK(e.earlier == 9);
  CHECK(runs[1].source_line == 6);
}

TEST_CASE("expectations without run mean plain check") {
  const auto runs = runs_of("# expect: error E-L02 line=3\n");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].words == std::vector<std::string>{"check"});
  CHECK(runs[0].expectations[0].kind == Expectation::Kind::error);
}

TEST_CASE("only the top of the file counts") {
  CHECK(malformed("def j():\n    pass\n# expect: checked\n"));
  CHECK(malformed("x = 1  # expect: checked\n"));
}

TEST_CASE("malformed headers") {
  for (const auto* header :
       {"", "# nothing\n", "# expect: fine\n", "# expect:\n", "# run: check\n",
        "# run: emit\n# expect: checked\n", "# expect: defect sync.nothing\n", "# expect: defect line=0\n",
        "# expect: defect line=x\n", "# expect: defect colour=red\n", "# expect: defect sync.raw sync.war\n",
        "# expect: defect variable=\n", "# run: check\n# run: check\n# expect: checked\n"}) {
    INFO(header);
    CHECK(malformed(header));
  }
}

TEST_CASE("a race is matched by any of its properties") {
  for (const auto* text : {"defect", "defect sync.raw", "defect E-Y30 line=3",
                           "defect sync.raw variable=st line=3 earlier=2", "defect earlier=2 proc=k"}) {
    INFO(text);
    CHECK(differences(text, race_file()) == 0);
  }
}

TEST_CASE("a race that differs in one property is a mismatch") {
  for (const auto* text : {"defect sync.war", "defect line=2", "defect earlier=3", "defect variable=s",
                           "defect proc=j", "checked", "unknown", "error E-Y30", "warning E-Y30"}) {
    INFO(text);
    CHECK(differences(text, race_file()) > 0);
  }
}

TEST_CASE("every error must be expected") {
  FileResult file = race_file();
  file.procedures[0].findings.push_back(semantics::make_diagnostic("E-U14", at(race_source(), "def"), "m"));
  CHECK(differences("defect sync.raw", file) == 1);
  CHECK(differences("defect sync.raw\ndefect E-U14 line=1", file) == 0);
}

TEST_CASE("a verdict without errors expects none") {
  const auto run = runs_of("# expect: checked\n").at(0);
  const auto found = compare(run, race_file());
  REQUIRE(found.size() == 3);  // the error, the verdict, and the unmet line
  CHECK(found[0] == "unexpected error sync.raw E-Y30 at line 3: st[0] is read too early.");
}

TEST_CASE("warnings count only where expected") {
  FileResult file = file_with({procedure("k", Verdict::checked)});
  CHECK(differences("checked\nwarning W-Y02", file) == 1);
  file.procedures[0].findings.push_back(semantics::make_diagnostic("W-Y02", at(race_source(), "def"), "m"));
  CHECK(differences("checked", file) == 0);
  CHECK(differences("checked\nwarning W-Y02 line=1", file) == 0);
  CHECK(differences("checked\nwarning W-Y02 line=2", file) == 1);
}

TEST_CASE("file errors") {
  FileResult file = file_with({});
  file.findings.push_back(semantics::make_diagnostic("E-L02", at(race_source(), "y ="), "m"));
  CHECK(differences("error E-L02 line=3", file) == 0);
  CHECK(differences("error lex.unmatched-dedent", file) == 0);
  CHECK(differences("error E-L02 line=2", file) == 2);
  CHECK(differences("defect E-L02", file) > 0);
  CHECK(differences("checked", file) > 0);
}

TEST_CASE("verdicts of several procedures") {
  const FileResult file = file_with({procedure("a", Verdict::checked), procedure("b", Verdict::unsupported)});
  CHECK(differences("checked\nunsupported", file) == 0);
  CHECK(differences("checked proc=a\nunsupported proc=b", file) == 0);
  CHECK(differences("checked", file) == 1);
  CHECK(differences("checked proc=b\nunsupported proc=a", file) == 4);
}

TEST_CASE("proved is as good as checked unless all_sizes=no") {
  auto p = procedure("k", Verdict::proved);
  p.all_sizes = true;
  CHECK(differences("checked", file_with({p})) == 0);
  CHECK(differences("proved", file_with({p})) == 0);
  CHECK(differences("checked all_sizes=no", file_with({p})) > 0);
  CHECK(differences("proved", file_with({procedure("k", Verdict::checked)})) > 0);
}

TEST_CASE("internal errors and unreadable files never match") {
  FileResult file = file_with({procedure("k", Verdict::checked)});
  file.internal_error = "broken";
  CHECK(differences("checked", file) == 1);
}

TEST_CASE("the earlier line of a static finding is that of any note") {
  auto p = procedure("k", Verdict::defect);
  const auto source = race_source();
  auto finding = semantics::make_diagnostic("E-U19", at(source, "y ="), "m");
  finding.related.push_back({semantics::Role::context, "the other Arrive", at(source, "st[0] = 1.0")});
  p.findings.push_back(finding);
  CHECK(differences("defect E-U19 earlier=2", file_with({p})) == 0);
  CHECK(differences("defect E-U19 earlier=1", file_with({p})) > 0);
}
