// `# exocheck:` comments and dialect inference (decisions.md B1, B2, C15, E2).
#include "elaborate_checks.hpp"

using namespace exocheck::frontend::test;
using exocheck::semantics::Dialect;
using exocheck::semantics::ir::SizeSet;

namespace {

Dialect dialect_of(const std::string& text) {
  const auto loaded = load_text(text);
  REQUIRE(loaded.diagnostics.empty());
  return loaded.program.procedures.at(0).dialect;
}

}  // namespace

TEST_CASE("the dialect of a procedure follows its marks") {
  CHECK(dialect_of(device("pass")) == Dialect::P);
  CHECK(dialect_of(device("f: barrier @ CudaMbarrier\ne: barrier(f) @ CudaMbarrier")) == Dialect::P);
  CHECK(dialect_of(device("c: barrier @ CudaCommitGroup")) == Dialect::P);
  CHECK(dialect_of(device("c: barrier @ Sm80_CommitGroup")) == Dialect::R);
  CHECK(dialect_of(device("c: barrier @ Sm90_TmaCommitGroup")) == Dialect::R);
  CHECK(dialect_of(device("c: barrier @ Sm90_WgmmaCommitGroup")) == Dialect::R);
  CHECK(dialect_of(device("c: barrier[n @ ring_buffer_by(2)] @ CudaMbarrier")) == Dialect::R);
  CHECK(dialect_of(device("c: barrier @ CudaMbarrierPreArrive(2)")) == Dialect::R);
  CHECK(dialect_of("CG = Sm80_CommitGroup\n" + device("c: barrier @ CG")) == Dialect::R);
  const std::string no_shutdown =
      "def p():\n    with CudaDeviceFunction(32, unsafe_no_shutdown_cluster_sync=True):\n"
      "        for task in cuda_tasks(0, 1):\n            ";
  CHECK(dialect_of(no_shutdown + "pass\n") == Dialect::R);
  CHECK(dialect_of(no_shutdown + "c: barrier @ CudaCommitGroup\n") == Dialect::P);  // P has it, too (D12)
}

TEST_CASE("marks of both dialects in one procedure") {
  const std::string both = device("f: barrier @ CudaCommitGroup\ne: barrier @ Sm80_CommitGroup");
  check_rows({
      {both, "E-P60 5"},
      {"# exocheck: dialect=P\n" + both, ""},
      {"# exocheck: dialect=R\n" + both, ""},
      {device("f: barrier @ Sm80_CommitGroup\nAwait(f, cuda_in_order, ~1)"), "E-P60 5"},
      {device("f: barrier @ Sm80_CommitGroup\nAwait(f, cuda_in_order, 1)"), ""},
      {device("f: barrier @ Sm80_CommitGroup\nFence(cuda_in_order, cuda_async_proxy)"), "E-P60 5"},
      // Each procedure has its own.
      {device("f: barrier @ CudaCommitGroup") +
           "def q():\n    with CudaDeviceFunction(32):\n        for t in "
           "cuda_tasks(0, 1):\n            e: barrier @ Sm80_CommitGroup\n",
       ""},
  });
}

TEST_CASE("the dialect comment") {
  CHECK(dialect_of("# exocheck: dialect=R\n" + device("pass")) == Dialect::R);
  CHECK(dialect_of("# exocheck: dialect=H\n" + device("pass")) == Dialect::R);
  CHECK(dialect_of("# exocheck: dialect=Q\n" + device("c: barrier @ Sm80_CommitGroup")) == Dialect::P);
  check_rows({
      {"# exocheck: dialect=N\n" + device("pass"), "E-P77 1"},
      {"def a():\n    pass\n# exocheck: dialect=P\ndef b():\n    pass\n", "E-P77 3"},
      {"# exocheck: dialect=P\n# exocheck: dialect=R\n" + device("pass"), "E-P77 2"},
      {"# exocheck: dialekt=P\n" + device("pass"), "E-P77 1"},
      {"# exocheck: ignore sync.raw -- a reason\n" + device("pass"), ""},
  });
}

TEST_CASE("size comments belong to the next def") {
  const auto loaded = load_text(
      "# run: check\n"
      "# exocheck: sizes n=256, m = 3\n"
      "# exocheck: sizes n=1, m=0\n"
      "@proc\n"
      "def a(n: size, m: index):\n"
      "    # exocheck: sizes n=7\n"
      "    pass\n"
      "\n"
      "# exocheck: sizes b=true, i=-4\n"
      "def b(b: bool, i: index):\n"
      "    pass\n");
  REQUIRE(loaded.diagnostics.empty());
  CHECK(loaded.program.procedures.at(0).size_sets ==
        std::vector<SizeSet>{{{"n", 256}, {"m", 3}}, {{"n", 1}, {"m", 0}}, {{"n", 7}}});
  CHECK(loaded.program.procedures.at(1).size_sets == std::vector<SizeSet>{{{"b", 1}, {"i", -4}}});
}

TEST_CASE("faulty size comments") {
  const auto with = [](const std::string& sizes) {
    return "# exocheck: sizes " + sizes + "\ndef a(n: size, b: bool, s: stride, x: f32[n]):\n    pass\n";
  };
  check_rows({
      {with("n=4, b=0"), ""},
      {with("n=0"), ""},
      {with("n"), "E-P77 1"},
      {with(""), "E-P77 1"},
      {with("n=four"), "E-P77 1"},
      {with("n=-1"), "E-P77 1"},
      {with("n=4, n=5"), "E-P77 1"},
      {with("b=2"), "E-P77 1"},
      {with("s=1"), "E-P77 1"},
      {with("x=1"), "E-P77 1"},
      {with("z=1"), "E-P77 1"},
      {"def a(n: size):\n    pass\n    # exocheck: sizes n=4\n    pass\n", "E-P77 3"},
      {"def a(n: size):\n    pass\n# exocheck: sizes n=4\n", "E-P77 3"},
  });
}
