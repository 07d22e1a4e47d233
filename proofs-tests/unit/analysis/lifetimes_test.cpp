// Ends of life (decisions.md L5, L6, N6, N7).
#include "analysis/passes.hpp"
#include "programs.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis::test {
namespace {

// "before LINE: a b" and "after LINE: c" in program order, lines counted in the given text.
Codes lives(const std::string& text) {
  const auto loaded = load(text);
  for (const auto& d : loaded.diagnostics) UNSCOPED_INFO(d.message);
  const auto& procedure = loaded.program.procedures.at(0);
  Facts facts;
  Diagnostics diagnostics;
  PassContext context{procedure, loaded.program, Mode::standard, facts, diagnostics};
  compute_lifetimes(context);
  Codes out;
  const auto line = [&](const semantics::ir::Stmt& s, const char* when, const std::vector<SymId>& dead) {
    std::string entry =
        std::string(when) + " " + std::to_string(procedure.location(s.span).begin().line) + ":";
    for (const SymId var : dead) entry += " " + procedure.symbol(var).name;
    out.push_back(entry);
  };
  semantics::ir::for_each_stmt(procedure.body, [&](const semantics::ir::Stmt& s) {
    if (const auto it = facts.free_before.find(s.id); it != facts.free_before.end())
      line(s, "before", it->second);
    if (const auto it = facts.free_after.find(s.id); it != facts.free_after.end())
      line(s, "after", it->second);
  });
  return out;
}

// The body of a device task starts at line 4.
std::string kernel(const std::string& body) {
  return task("blockDim=32", "n: size, x: f32[32] @ CudaGmemLinear", body);
}
const std::string threads = "for t in cuda_threads(0, 32):\n";

TEST_CASE("registers die after their last use, unused ones at once", "[analysis][lifetimes]") {
  CHECK(lives(kernel("a: f32[32] @ CudaRmem\n"    // 4
                     "b: f32[32] @ CudaRmem\n"    // 5
                     "c: f32[32] @ CudaRmem\n" +  // 6
                     threads +                    // 7
                     "    a[t] = 1.0\n" +         // 8
                     threads +                    // 9
                     "    b[t] = a[t]\n" +        // 10
                     threads +                    // 11
                     "    x[t] = b[t]\n")) ==     // 12
        Codes{"after 6: c", "after 9: a", "after 11: b"});
}

TEST_CASE("global memory dies after the launch that uses it last", "[analysis][lifetimes]") {
  CHECK(lives(host("",
                   "g: f32[32] @ CudaGmemLinear\n"
                   "w = g[0:16]\n"
                   "with CudaDeviceFunction(blockDim=32):\n"
                   "    for a in cuda_tasks(0, 1):\n"
                   "        for t in cuda_threads(0, 16):\n"
                   "            w[t] = 1.0\n"
                   "pass\n")) == Codes{"after 4: g"});
}

TEST_CASE("shared memory lives until the next allocation of shared memory", "[analysis][lifetimes]") {
  const auto use = [](const std::string& name) { return threads + "    " + name + "[t] = 1.0\n"; };
  // Before the next allocation that follows the last use.
  CHECK(lives(kernel("a: f32[32] @ CudaSmemLinear\n" + use("a") +  // 4-6
                     "pass\n"                                      // 7
                     "b: f32[32] @ CudaSmemLinear\n" +
                     use("b"))) ==  // 8-10
        Codes{"before 8: a", "after 9: b"});
  // The allocation may be nested; the place is the statement of the block.
  CHECK(lives(kernel("a: f32[32] @ CudaSmemLinear\n" + use("a") +  // 4-6
                     "for i in seq(0, n):\n"                       // 7
                     "    b: f32[32] @ CudaSmemLinear\n"           // 8
                     "    for t in cuda_threads(0, 32):\n"         // 9
                     "        b[t] = 1.0\n")) ==                   // 10
        Codes{"before 7: a", "after 9: b"});
  // An allocation before the last use does not count, nor does one in a statement that uses the variable
  // itself.
  CHECK(lives(kernel("a: f32[32] @ CudaSmemLinear\n"  // 4
                     "b: f32[32] @ CudaSmemLinear\n" +
                     use("a") +     // 5-7
                     use("b"))) ==  // 8-9
        Codes{"after 8: a b"});
  CHECK(lives(kernel("a: f32[32] @ CudaSmemLinear\n"        // 4
                     "for i in seq(0, n):\n"                // 5
                     "    b: f32[32] @ CudaSmemLinear\n"    // 6
                     "    for t in cuda_threads(0, 32):\n"  // 7
                     "        b[t] = 1.0\n"                 // 8
                     "        a[t] = b[t]\n"                // 9
                     "pass\n")) ==                          // 10
        Codes{"after 7: b", "after 10: a"});
  // Registers are no allocation of shared memory.
  CHECK(lives(kernel("a: f32[32] @ CudaSmemLinear\n" + use("a") +  // 4-6
                     "r: f32[32] @ CudaRmem\n" + use("r"))) ==     // 7-9
        Codes{"after 8: a r"});
}

TEST_CASE("uses through windows count", "[analysis][lifetimes]") {
  CHECK(lives(kernel("a: f32[2, 32] @ CudaSmemLinear\n"  // 4
                     "w = a[1, :]\n"                     // 5
                     "v = w[0:32]\n" +                   // 6
                     threads +
                     "    v[t] = 1.0\n"                 // 7-8
                     "b: f32[32] @ CudaSmemLinear\n" +  // 9
                     threads +
                     "    b[t] = 1.0\n" +  // 10-11
                     threads +
                     "    w[t] = 1.0\n"                 // 12-13
                     "c: f32[32] @ CudaSmemLinear\n" +  // 14
                     threads +
                     "    c[t] = 1.0\n")) ==  // 15-16
        Codes{"before 14: b a", "after 15: c"});
}

TEST_CASE("barriers: mbarriers at the end of the block, solitary ones after the last use",
          "[analysis][lifetimes]") {
  CHECK(lives(kernel("z: barrier @ CudaMbarrier\n"           // 4
                     "y: barrier @ CudaMbarrier\n"           // 5
                     "cg: barrier @ CudaCommitGroup\n"       // 6
                     "s: f32[32] @ CudaSmemLinear\n"         // 7
                     "Arrive(tma_to_gmem_async, 1) >> cg\n"  // 8
                     "for i in seq(0, n):\n"                 // 9
                     "    Await(cg, cuda_in_order, 0)\n"     // 10
                     "Arrive(cuda_in_order, 1) >> z\n"       // 11
                     "Await(z, cuda_in_order, ~0)\n"         // 12
                     "Arrive(cuda_in_order, 1) >> y\n"       // 13
                     "Await(y, cuda_in_order, ~0)\n" +       // 14
                     threads +
                     "    s[t] = 1.0\n")) ==  // 15-16
        // At one place data goes first, then the mbarriers in reverse order (decisions.md N7).
        Codes{"after 9: cg", "after 15: s y z"});
}

TEST_CASE("several ends at one place: by last use, then by declaration", "[analysis][lifetimes]") {
  CHECK(lives(kernel("a: f32[32] @ CudaSmemLinear\n"    // 4
                     "b: f32[32] @ CudaSmemLinear\n"    // 5
                     "c: f32[32] @ CudaSmemLinear\n" +  // 6
                     threads +
                     "    b[t] = 1.0\n" +  // 7-8
                     threads +
                     "    c[t] = 1.0\n"                    // 9-10
                     "    a[t] = c[t]\n"                   // 11
                     "d: f32[32] @ CudaSmemLinear\n")) ==  // 12
        Codes{"before 12: b a c", "after 12: d"});
}

TEST_CASE("a variable allocated in a loop dies in it", "[analysis][lifetimes]") {
  CHECK(lives(kernel("for i in seq(0, n):\n"                // 4
                     "    a: f32[32] @ CudaSmemLinear\n"    // 5
                     "    for t in cuda_threads(0, 32):\n"  // 6
                     "        a[t] = 1.0\n"                 // 7
                     "    pass\n"                           // 8
                     "pass\n")) == Codes{"after 8: a"});
}

}  // namespace
}  // namespace exocheck::analysis::test
