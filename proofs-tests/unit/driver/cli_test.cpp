// The command line as scripts see it: exit codes and where output goes.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "command_line.hpp"

using namespace exocheck::driver;
using namespace exocheck::driver::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const char* const good_text =
    "def good(n: size, x: f32[n] @ DRAM):\n"
    "    for i in seq(0, n):\n"
    "        x[i] = 0.0\n";
const char* const racy_text =
    "def racy(out: f32[32] @ CudaGmemLinear):\n"
    "    with CudaDeviceFunction(blockDim=32):\n"
    "        for task in cuda_tasks(0, 1):\n"
    "            s: f32[32] @ CudaSmemLinear\n"
    "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
    "                s[t] = 1.0\n"
    "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
    "                out[t] = s[31 - t]\n"
    "            Fence(cuda_in_order, cuda_in_order)\n";
const char* const broken_text = "def broken(n: size):\n    x = = 1\n";

struct Programs : Folder {
  Programs() : Folder("cli") {
    file("good.exo", good_text);
    file("racy.exo", racy_text);
    file("broken.exo", broken_text);
  }
  std::string operator/(const char* name) const { return path(name); }
};

}  // namespace

TEST_CASE("help and version") {
  CHECK(call({"--version"}).code == 0);
  CHECK(call({"--version"}).out == "exocheck " EXOCHECK_VERSION "\n");
  CHECK(call({"--help"}).code == 0);
  CHECK_THAT(call({"check", "--help"}).out, Contains("--size") && Contains("--fail-on"));
}

TEST_CASE("bad command lines are exit code 2") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{},
        {"emit", "x.exo"},
        {"check", "--nothing"},
        {"check", "--mode", "fast"},
        {"check", "--format", "sarif"},
        {"check", "--format", "junit"},
        {"check", "--format", "github"},
        {"check", "--format", "html"},
        {"check", "--size", "N"},
        {"check", "--size"},
        {"check", "--color", "blue"},
        {"check", "--fail-on", "often"},
        {"check", "--timeout", "0"},
        {"check", "--timeout", "-1"},
        {"check", "--memory-limit", "none"},
        {"check", "--format", "text", "--format", "json"},
        {"check", "--format", "json", "--output", "a", "--output", "b"},
        {"explain"},
        {"explain", "E-Z99"},
        {"explain", "R05"},
        {"fmt"},
        {"rules", "extra"}}) {
    INFO((arguments.empty() ? "" : arguments[0]) << " " << (arguments.size() > 1 ? arguments[1] : ""));
    const Answer answer = call(arguments);
    CHECK(answer.code == 2);
    CHECK(answer.out.empty());
    CHECK_THAT(answer.err, Contains("exocheck: "));
  }
}

TEST_CASE("exit codes of check") {
  const Programs programs;
  CHECK(call({"check", programs / "good.exo"}).code == 0);
  CHECK(call({"check", programs / "racy.exo"}).code == 1);
  CHECK(call({"check", programs / "broken.exo"}).code == 2);
  CHECK(call({"check", programs / "none.exo"}).code == 2);
  CHECK(call({"check", programs / "racy.exo", programs / "good.exo"}).code == 1);
  CHECK(call({"check", programs.path()}).code == 2);
  programs.file("empty.exo", "");
  CHECK(call({"check", programs / "empty.exo"}).code == 3);
  CHECK(call({"check", "--fail-on", "never", programs / "racy.exo"}).code == 0);
}

TEST_CASE("the count is always printed") {
  const Programs programs;
  CHECK_THAT(call({"check", programs.path()}).out, Contains("checked 2 of 3 procedures\n"));
  CHECK_THAT(call({"check", "-q", programs / "good.exo"}).out, Contains("checked 1 of 1 procedures\n"));
  const Answer json = call({"check", "--format", "json", programs / "good.exo"});
  CHECK_THAT(json.out, !Contains("checked 1 of"));
  CHECK_THAT(json.err, Contains("checked 1 of 1 procedures\n"));
}

TEST_CASE("a race names both accesses") {
  const Programs programs;
  const Answer answer = call({"check", programs / "racy.exo"});
  CHECK_THAT(answer.out, Contains("racy.exo:8:17: error: ") && Contains("[sync.raw E-Y30]") &&
                             Contains("racy.exo:6:17: note: ") && Contains("racy: defect"));
}

TEST_CASE("formats and outputs") {
  const Programs programs;
  const std::string file = programs / "result.json";
  const Answer answer =
      call({"check", "--format", "text", "--format", "json", "--output", file, programs / "racy.exo"});
  CHECK(answer.code == 1);
  CHECK_THAT(answer.out, Contains("checked 1 of 1 procedures"));
  const auto json = nlohmann::json::parse(contents(file));
  CHECK(json["exit_code"] == 1);
  CHECK(json["files"][0]["procedures"][0]["findings"][0]["variable"] == "s");
  CHECK(call({"check", "--format", "json", "--output", programs / "no/such/folder", programs / "good.exo"})
            .code == 2);
}

TEST_CASE("sizes on the command line") {
  const Programs programs;
  const Answer answer = call({"check", "--size", "n=7", programs / "good.exo"});
  CHECK(answer.code == 0);
  CHECK(call({"check", "--size", "n=7,m=1", programs / "good.exo"}).code == 2);
  CHECK(call({"check", "--size", "n=-7", programs / "good.exo"}).code == 2);
  CHECK(call({"check", "--proc", "good", programs / "good.exo"}).code == 0);
  CHECK(call({"check", "--proc", "bad", programs / "good.exo"}).code == 2);
}

TEST_CASE("--proc selects") {
  const Programs programs;
  programs.file("two.exo", std::string(good_text) + racy_text);
  CHECK(call({"check", programs / "two.exo"}).code == 1);
  const Answer answer = call({"check", "--proc", "good", programs / "two.exo"});
  CHECK(answer.code == 0);
  CHECK_THAT(answer.out, Contains("checked 1 of 1 procedures"));
}

TEST_CASE("graphs are written for a counterexample only") {
  const Programs programs;
  const std::string dot = programs / "race.dot", svg = programs / "race.svg";
  CHECK(call({"check", "--dot", dot, "--svg", svg, programs / "racy.exo"}).code == 1);
  CHECK_THAT(contents(dot), Contains("digraph"));
  CHECK_THAT(contents(svg), Contains("<svg"));
  fs::remove(dot);
  const Answer answer = call({"check", "--dot", dot, programs / "good.exo"});
  CHECK(answer.code == 0);
  CHECK(!fs::exists(dot));
  CHECK_THAT(answer.err, Contains("no counterexample"));
  CHECK(call({"check", "--dot", programs / "no/such/folder", programs / "racy.exo"}).code == 2);
}

TEST_CASE("suppressed findings are counted and never make a procedure checked") {
  const Programs programs;
  std::string text = racy_text;
  text.replace(text.find("out[t] = s[31 - t]"), 18,
               "out[t] = s[31 - t]  # exocheck: ignore sync.raw -- one warp");
  programs.file("silenced.exo", text);
  const Answer answer = call({"check", programs / "silenced.exo"});
  CHECK(answer.code == 3);
  CHECK_THAT(answer.out,
             Contains("racy: unknown") && Contains("checked 0 of 1 procedures, 1 finding suppressed"));
  CHECK(call({"check", "--fail-on", "defect", programs / "silenced.exo"}).code == 0);
}

TEST_CASE("colour") {
  const Programs programs;
  CHECK_THAT(call({"check", "--color", "always", programs / "racy.exo"}).out, Contains("\x1b["));
  CHECK_THAT(call({"check", "--color", "never", programs / "racy.exo"}, true).out, !Contains("\x1b["));
  CHECK_THAT(call({"check", programs / "racy.exo"}).out, !Contains("\x1b["));
  REQUIRE(setenv("NO_COLOR", "1", 1) == 0);
  CHECK_THAT(call({"check", programs / "racy.exo"}, true).out, !Contains("\x1b["));
  REQUIRE(unsetenv("NO_COLOR") == 0);
  CHECK_THAT(call({"check", programs / "racy.exo"}, true).out, Contains("\x1b["));
}

TEST_CASE("expected results") {
  const Programs programs;
  fs::remove(programs / "broken.exo");
  CHECK(call({"check", "--expected", programs.path()}).code == 1);  // files without expectations
  programs.file("good.exo", std::string("# run: check --size n=3\n# expect: proved\n") + good_text);
  programs.file("racy.exo",
                std::string("# run: check\n# expect: defect sync.raw variable=s line=12 earlier=10\n"
                            "# run: check --mode strict\n# expect: defect E-Y30\n") +
                    racy_text);
  const Answer all = call({"check", "--expected", programs.path()});
  INFO(all.out);
  CHECK(all.code == 0);
  CHECK_THAT(all.out, Contains("2 of 2 cases as expected\nchecked 3 of 3 procedures\n"));

  programs.file("racy.exo", std::string("# expect: checked\n") + racy_text);
  const Answer wrong = call({"check", "--expected", programs.path()});
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, Contains("racy.exo:1: check: unexpected error sync.raw") &&
                            Contains("1 of 2 cases as expected"));

  programs.file("racy.exo", std::string("# run: check --sizes n=1\n# expect: checked\n") + racy_text);
  CHECK(call({"check", "--expected", programs / "racy.exo"}).code == 1);
  fs::create_directory(programs / "none");
  CHECK(call({"check", "--expected", programs / "none"}).code == 3);
  CHECK(call({"check", "--expected", programs / "absent"}).code == 2);
}

TEST_CASE("files checked side by side give the same output as one after another") {
  const Programs programs;
  for (int i = 0; i < 12; ++i) programs.file(fmt::format("good{:02}.exo", i), good_text);
  for (const char* format : {"text", "json"}) {
    const Answer one = call({"check", "--format", format, programs.path()});
    const Answer many = call({"check", "-j", "4", "--format", format, programs.path()});
    CHECK(one.out == many.out);
    CHECK(one.code == many.code);
  }
  const Answer one = call({"check", "-v", "--expected", programs.path()});
  CHECK(call({"check", "-v", "-j", "3", "--expected", programs.path()}).out == one.out);
  CHECK(call({"check", "-j", "0", programs.path()}).code == 2);
}

TEST_CASE("rules and explain") {
  const Answer rules = call({"rules"});
  CHECK(rules.code == 0);
  CHECK_THAT(rules.out, Contains("E-Y31") && Contains("sync.war"));
  CHECK(call({"explain", "sync.war"}).out == call({"explain", "E-Y31"}).out);
  CHECK_THAT(call({"explain", "E-Y31"}).out, Contains("# sync.war (E-Y31)"));
}

TEST_CASE("fmt") {
  const Programs programs;
  const Answer printed = call({"fmt", programs / "good.exo"});
  CHECK(printed.code == 0);
  programs.file("canonical.exo", printed.out);
  CHECK(call({"fmt", programs / "canonical.exo"}).out == printed.out);
  CHECK(call({"fmt", "--check", programs / "canonical.exo"}).code == 0);
  programs.file("odd.exo", "def good(n: size, x: f32[n] @ DRAM):\n  for i in seq(0,n):\n    x[i]=0.0\n");
  CHECK(call({"fmt", "--check", programs / "odd.exo"}).code == 1);
  CHECK(call({"fmt", "--check", programs / "odd.exo"}).out.empty());
  CHECK(call({"fmt", programs / "broken.exo"}).code == 2);
  CHECK(call({"fmt", programs / "broken.exo"}).out.empty());
  CHECK(call({"fmt", programs / "none.exo"}).code == 2);
}
