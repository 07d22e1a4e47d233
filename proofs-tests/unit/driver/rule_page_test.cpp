#include "driver/rule_page.hpp"

#include <catch2/catch.hpp>

using namespace exocheck;
using namespace exocheck::driver;
using Catch::Matchers::Contains;

TEST_CASE("a page without examples") {
  const semantics::Rule& rule = semantics::rule("E-Y31");
  const std::string page = rule_page(rule, {});
  CHECK(page.starts_with("# sync.war (E-Y31)\n\n"));
  CHECK_THAT(page, Contains(std::string(rule.summary)) && Contains(std::string(rule.advice)));
  CHECK_THAT(page, Contains("exit code is 1"));
  CHECK_THAT(page, !Contains("##"));
}

TEST_CASE("a page with both programs") {
  const std::vector<RuleExample> examples{
      {"Y31.bad.exo",
       "# run: check --size N=4\n# expect: defect sync.war\n\n# Too early.\ndef k():\n    pass\n"},
      {"Y31.good.exo", "# expect: checked\ndef g():\n    pass\n"},
      {"Y30.bad.exo", "def other():\n    pass\n"}};
  const std::string page = rule_page(semantics::rule("E-Y31"), examples);
  CHECK_THAT(page, Contains("## A program that breaks it\n\n```\n# Too early.\ndef k():\n    pass\n```\n"));
  CHECK_THAT(page, Contains("`exocheck check --size N=4` reports the rule.\n"));
  CHECK_THAT(page, Contains("## The program corrected\n\n```\ndef g():\n    pass\n```\n"));
  CHECK_THAT(page, Contains("`exocheck check` accepts this one.\n"));
  CHECK_THAT(page, !Contains("expect") && !Contains("other"));
}

TEST_CASE("every class has a consequence and a name") {
  for (const semantics::Rule& rule : semantics::all_rules()) {
    CHECK(!consequence(rule.rule_class).empty());
    CHECK(!name(rule.rule_class).empty());
  }
}
