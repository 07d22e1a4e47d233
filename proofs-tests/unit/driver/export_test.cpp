#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "driver/certify.hpp"
#include "driver/theory.hpp"

using namespace exocheck::driver;
using test::call;

namespace {

const std::string kernels = EXOCHECK_SOURCE_DIR "/kernels/";

}  // namespace

TEST_CASE("the semantics is exported in four formats") {
  const auto json = call({"export", "semantics", "--to", "json"});
  REQUIRE(json.code == 0);
  CHECK(nlohmann::json::parse(json.out)["schema"] == "exocheck-semantics/1");
  CHECK(call({"export", "semantics", "--to", "latex"}).out.find("\\infer{") != std::string::npos);
  CHECK(call({"export", "semantics", "--to", "markdown"}).out.find("| cp80 |") != std::string::npos);

  const test::Folder folder("export");
  REQUIRE(call({"export", "semantics", "--to", "rocq", "-o", folder.path("theory")}).code == 0);
  CHECK(std::filesystem::exists(folder.path("theory/SeqPar.v")));
  CHECK(test::contents(folder.path("theory/_CoqProject")).find("RuleCheck.v") != std::string::npos);
}

TEST_CASE("certificates are files, one per verdict") {
  const test::Folder folder("certificates");
  const auto good =
      call({"export", "program", kernels + "paper/inter_thread.exo", "--to", "rocq", "-o", folder.path()});
  CHECK(good.code == 0);
  CHECK(test::contents(folder.path("p_inter_thread.v")).find("seq_par_equivalent") != std::string::npos);
  const auto none = call({"export", "program", kernels + "sm90/bugs/missing_await_raw.exo", "--to", "rocq",
                          "-o", folder.path()});
  CHECK(none.code == 3);
  CHECK(none.out.find("no certificate: the verdict is of a static rule") != std::string::npos);
}

TEST_CASE("what cannot be written is a bad command line") {
  CHECK(call({"export"}).code == 2);
  CHECK(call({"export", "semantics", "--to", "pdf"}).code == 2);
  CHECK(call({"export", "semantics", "--to", "rocq"}).code == 2);
  CHECK(call({"export", "semantics", "--to", "json", "-o", "/dev/null/x"}).code == 2);
  CHECK(call({"export", "program", kernels + "basic/vec_add.exo", "--to", "smtlib"}).code == 2);
  CHECK(call({"export", "program", "none.exo", "--to", "json"}).code == 2);
}

TEST_CASE("the theory travels in the binary in an order in which it compiles") {
  const auto files = theory_files();
  REQUIRE(files.size() > 15);
  CHECK(files.front().name == "Tset.v");
  CHECK(files.back().name == "CertPrelude.v");
}
