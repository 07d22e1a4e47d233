#include "driver/excerpt.hpp"

#include <catch2/catch.hpp>

#include "results.hpp"

using namespace exocheck;
using namespace exocheck::driver;
using namespace exocheck::test;

TEST_CASE("the range is underlined") {
  const auto source = source_of("first\n\tx = y[1] + z\n");
  const Excerpt e = excerpt(at(source, "y[1]"));
  CHECK(e.gutter == "    2");
  CHECK(e.line == " x = y[1] + z");
  CHECK(e.underline == "     ^~~~");
}

TEST_CASE("an empty range and one past the end have a caret") {
  const auto source = source_of("ab\ncd");
  CHECK(excerpt({source, {1, 1}}).underline == " ^");
  CHECK(excerpt({source, {5, 5}}).underline == "  ^");
  CHECK(excerpt({source, {1, 5}}).underline == " ^");  // the rest of the first line only
}

TEST_CASE("characters are counted, not bytes") {
  const auto source = source_of("\xC3\xA4\xE2\x82\xAC = bad");
  CHECK(excerpt(at(source, "bad")).underline == "     ^~~");
}

TEST_CASE("nothing that a terminal would obey is printed") {
  const auto source =
      source_of(std::string("a\x1b[31m\0b\xFF\xC2\x9B"
                            "c",
                            12));
  CHECK(excerpt({source, {0, 1}}).line == "a?[31m?b??c");
  CHECK(printable("x\r\n\ty\x7F") == "x?? y?");
  CHECK(printable("\xC3") == "?");
}

TEST_CASE("long lines are cut around the place") {
  const auto source = source_of(std::string(5000, 'a') + "HERE" + std::string(5000, 'b'));
  const Excerpt e = excerpt(at(source, "HERE"));
  CHECK(e.line.size() < 200);
  const auto column = e.underline.find('^');
  CHECK(e.line.substr(column, 4) == "HERE");
  CHECK(e.underline.substr(column) == "^~~~");
  CHECK(excerpt({source, {0, 10004}}).underline.size() < 200);
  // Characters of several bytes count once, also in front of the cut.
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "\u00e4";
  const Excerpt w = excerpt(at(source_of(wide + "HERE" + wide), "HERE"));
  CHECK(w.line.starts_with("...\u00e4"));
  CHECK(w.underline.find('^') == 73);
  CHECK(w.underline.ends_with("^~~~"));
  const std::string umlauts = wide.substr(0, 2 * 136);
  CHECK(excerpt(at(source_of(umlauts + "HERE"), "HERE")).line == umlauts + "HERE");
}
