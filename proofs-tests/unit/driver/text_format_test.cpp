#include "driver/text_format.hpp"

#include <catch2/catch.hpp>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;
using Catch::Matchers::Contains;

namespace {

RunResult race_run() {
  RunResult r;
  r.files = {race_file()};
  return r;
}

}  // namespace

TEST_CASE("the text form of a race, byte by byte") {
  CHECK(format_text(race_run(), {}) ==
        "a.exo:3:5: error: st[0] is read too early. [sync.raw E-Y30]\n"
        "    3 |     y = st[0]\n"
        "      |     ^~~~~~~~~\n"
        "a.exo:2:5: note: the write\n"
        "    2 |     st[0] = 1.0\n"
        "      |     ^~~~~~~~~~~\n"
        "note: no fence lies between\n"
        "a.exo: k: defect for N=4\n"
        "mode default\n"
        "checked 1 of 1 procedures\n");
}

TEST_CASE("a source line is shown once per finding") {
  auto finding = race(race_source());
  finding.related.push_back({semantics::Role::context, "found with N = 4", finding.location});
  const std::string text = format_text(finding, {});
  CHECK_THAT(text, Contains("a.exo:3:5: note: found with N = 4\n"));
  CHECK(text.find("y = st[0]") == text.rfind("y = st[0]"));
}

TEST_CASE("-v shows how the accesses were made") {
  TextOptions options;
  options.verbose = true;
  const std::string text = format_text(race_run(), options);
  CHECK_THAT(
      text,
      Contains("failing access: read on cuda_in_order_ram_qual by threads 0..31 of task 0, task=0 i=2\n"));
  CHECK_THAT(text, Contains("needed: full; held: unordered by task 0, lane 3\n"));
  CHECK_THAT(text, Contains("first access: write on t by thread 1, task=0\n"));
}

TEST_CASE("-q keeps findings and the count") {
  TextOptions options;
  options.quiet = true;
  const std::string text = format_text(race_run(), options);
  CHECK_THAT(text, Contains("error: ") && !Contains("defect for") && !Contains("mode"));
  CHECK_THAT(text, Contains("checked 1 of 1 procedures\n"));
}

TEST_CASE("times appear with --stats only") {
  RunResult r = race_run();
  r.files[0].procedures[0].stats = proof_heavy();
  CHECK_THAT(format_text(r, {}), !Contains("1.250"));
  TextOptions options;
  options.stats = true;
  CHECK_THAT(format_text(r, options),
             Contains("1.250 s, 100 statements executed, at most 7 records, 3 obligations, 1 by the solver"));
}

TEST_CASE("--stats sums up the obligations of the run and names the slowest query") {
  RunResult r = race_run();
  CHECK(stats_lines(r) ==
        "obligations: 0, 100.0 % without the solver\nsolver: 0 queries for obligations, 0 for sizes, 0.000 "
        "s\n");
  auto fast = procedure("fast", Verdict::checked);
  fast.stats.obligations = 5;
  auto slow = procedure("slow", Verdict::checked);
  slow.stats = proof_heavy();
  r.files.push_back(file_with({fast, slow, slow}));
  CHECK(
      stats_lines(r) ==
      "obligations: 11, 81.8 % without the solver\n"
      "solver: 2 queries for obligations, 8 for sizes, 1.000 s, slowest 0.500 s: a.exo:3:5: E-B04 in slow\n");
  TextOptions options;
  CHECK_THAT(format_text(r, options), !Contains("obligations"));
  options.stats = true;
  CHECK_THAT(format_text(r, options), Contains(stats_lines(r)));
}

TEST_CASE("colour only when asked for") {
  CHECK_THAT(format_text(race_run(), {}), !Contains("\x1b"));
  TextOptions options;
  options.color = true;
  CHECK_THAT(format_text(race_run(), options), Contains("\x1b[1;31merror: \x1b[0m"));
}

TEST_CASE("verdict lines name sizes and reasons") {
  auto all = procedure("a", Verdict::proved);
  all.all_sizes = true;
  auto two = procedure("b", Verdict::checked);
  two.sizes = {{{"N", 1}}, {{"N", 2}}};
  auto none = procedure("c", Verdict::checked);
  none.sizes = {{}};
  auto chosen = two;
  chosen.name = "e";
  chosen.sizes_chosen = true;
  chosen.behaviours_left_out = 3;
  auto why = procedure("d", Verdict::unsupported);
  why.reason = "par loop";
  RunResult r;
  r.files = {file_with({all, two, none, why, chosen})};
  CHECK(format_text(r, {}) ==
        "a.exo: a: proved for all sizes\n"
        "a.exo: b: checked for N=1; N=2\n"
        "a.exo: c: checked\n"
        "a.exo: d: unsupported: par loop\n"
        "a.exo: e: checked, sizes chosen: N=1; N=2 (3 behaviours left out: too costly, or undecided)\n"
        "mode default\n"
        "checked 4 of 5 procedures\n");
}

TEST_CASE("failures and suppressed findings are visible") {
  RunResult r = race_run();
  r.files[0].procedures[0].suppressed.push_back({race(race_source()), "known"});
  FileResult gone;
  gone.path = "b.exo";
  gone.failure = "There is no such file or folder.";
  r.files.push_back(gone);
  const std::string text = format_text(r, {});
  CHECK_THAT(text, Contains("b.exo: error: There is no such file or folder.\n"));
  CHECK_THAT(text, Contains("checked 1 of 1 procedures, 1 finding suppressed\n"));
}

TEST_CASE("a suggestion is shown") {
  auto finding = race(race_source());
  finding.suggestion = "add a fence";
  CHECK_THAT(format_text(finding, {}), Contains("      suggestion: add a fence\n"));
}
