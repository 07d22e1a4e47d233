#include "semantics/rules.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "semantics/errors.hpp"

using namespace exocheck::semantics;

TEST_CASE("every rule has one code, one name and complete sentences") {
  std::set<std::string_view> codes, names;
  for (const Rule& r : all_rules()) {
    INFO(r.code << " " << r.name);
    CHECK(codes.insert(r.code).second);
    CHECK(names.insert(r.name).second);
    for (const std::string_view sentence : {r.summary, r.advice}) {
      REQUIRE(!sentence.empty());
      CHECK(sentence.back() == '.');
    }
  }
  CHECK(codes.size() > 280);
  CHECK(std::is_sorted(all_rules().begin(), all_rules().end(),
                       [](const Rule& a, const Rule& b) { return a.code < b.code; }));
}

TEST_CASE("rule names are group.short-name with the groups of decisions.md Q4") {
  const std::set<std::string> groups{"lex",     "parse",       "name",   "type",   "call",     "precision",
                                     "alias",   "bounds",      "memory", "device", "kernel",   "launch",
                                     "barrier", "collective",  "guard",  "ring",   "legality", "instr",
                                     "sync",    "distributed", "data",   "limit",  "rewrite",  "codegen"};
  for (const Rule& r : all_rules()) {
    INFO(r.code << " " << r.name);
    const auto dot = r.name.find('.');
    REQUIRE(dot != std::string_view::npos);
    CHECK(groups.contains(std::string(r.name.substr(0, dot))));
    CHECK(r.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", dot + 1) == std::string_view::npos);
    CHECK(r.name.size() > dot + 2);
  }
}

TEST_CASE("the names that scripts rely on") {
  const std::array<std::pair<const char*, const char*>, 9> fixed{{{"E-Y30", "sync.raw"},
                                                                  {"E-Y31", "sync.war"},
                                                                  {"E-Y32", "sync.waw"},
                                                                  {"E-Y12", "sync.free"},
                                                                  {"E-Y14", "sync.barrier-count"},
                                                                  {"E-Y04", "sync.deadlock"},
                                                                  {"E-Y06", "sync.multicast"},
                                                                  {"E-Y20", "bounds.run-time"},
                                                                  {"E-N05", "name.duplicate"}}};
  for (const auto& [code, name] : fixed) {
    CHECK(rule(code).name == name);
    CHECK(find_rule(name) == find_rule(code));
  }
}

TEST_CASE("classes follow decisions.md C3") {
  const auto expected = [](std::string_view code) {
    if (code.starts_with("L-") || code == "C-02") return RuleClass::limit;
    if (code == "C-01") return RuleClass::unsupported;
    if (code.starts_with("W-") || code == "E-L07" || code == "E-P52") return RuleClass::warning;
    if (code == "E-Y40" || code == "E-Y41") return RuleClass::unsupported;
    if (code == "E-I10" || code == "E-C13" || code.starts_with("E-C2")) return RuleClass::defect;
    return std::string_view("LPNTFIC").find(code[2]) != std::string_view::npos ? RuleClass::input
                                                                               : RuleClass::defect;
  };
  for (const Rule& r : all_rules()) {
    INFO(r.code);
    CHECK(r.rule_class == expected(r.code));
  }
}

TEST_CASE("unknown rules") {
  CHECK(find_rule("E-Z99") == nullptr);
  CHECK(find_rule("") == nullptr);
  CHECK(find_rule("R05") == nullptr);  // bare codes are never accepted (decisions.md C7)
  CHECK_THROWS_AS(rule("E-Z99"), InternalError);
}
