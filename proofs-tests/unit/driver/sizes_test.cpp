#include "driver/sizes.hpp"

#include <catch2/catch.hpp>

using namespace exocheck::driver;

namespace {

std::vector<SizeSet> sets(const std::vector<std::string>& texts) {
  auto result = parse_sizes(texts);
  REQUIRE(std::holds_alternative<std::vector<SizeSet>>(result));
  return std::get<std::vector<SizeSet>>(result);
}

bool refused(const std::string& text) { return std::holds_alternative<std::string>(parse_sizes({text})); }

}  // namespace

TEST_CASE("--size texts form one set") {
  CHECK(sets({}).empty());
  CHECK(sets({"N=256"}) == std::vector<SizeSet>{{{"N", 256}}});
  CHECK(sets({"N=256,M=128"}) == std::vector<SizeSet>{{{"N", 256}, {"M", 128}}});
  CHECK(sets({"N=256", "M=-1", "flag=true"}) == std::vector<SizeSet>{{{"N", 256}, {"M", -1}, {"flag", 1}}});
  CHECK(sets({" N = 256 , M = 0 "}) == std::vector<SizeSet>{{{"N", 256}, {"M", 0}}});
}

TEST_CASE("a name given again begins the next set") {
  CHECK(sets({"N=1,M=2", "N=3,M=4"}) == std::vector<SizeSet>{{{"N", 1}, {"M", 2}}, {{"N", 3}, {"M", 4}}});
}

TEST_CASE("malformed sizes") {
  for (const auto* text :
       {"", "N", "N=", "=3", "N=3,", "N=3x", "N=0x10", "N=1.5", "N==3", "N=99999999999999999999", "N=+3"}) {
    INFO(text);
    CHECK(refused(text));
  }
  CHECK(sets({"N=9223372036854775807"})[0][0].second == INT64_MAX);
}

TEST_CASE("sizes as text") {
  CHECK(show(SizeSet{{"N", 4}, {"M", 8}}) == "N=4, M=8");
  CHECK(show(SizeSet{}) == "no sizes");
}
