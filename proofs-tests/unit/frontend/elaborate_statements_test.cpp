// E-P codes of statements, with near misses (language.md 12.1).
#include "elaborate_checks.hpp"

using namespace exocheck::frontend::test;

TEST_CASE("preconditions") {
  check_rows({
      {host("assert n > 4\npass"), ""},
      {host("assert n > 4, \"text\"\npass"), "E-P20 2"},
      {host("pass\nassert n > 4"), "E-P21 3"},
      {host("if b:\n    assert n > 4"), "E-P21 3"},
      {host("\"doc\"\nassert n > 4\npass"), ""},
      {host("assert n"), "E-T73 2"},
  });
}

TEST_CASE("signatures") {
  check_rows({
      {"def p(n: size = 4):\n    pass\n", "E-P22 1"},
      {"def p(n: size, *rest):\n    pass\n", "E-P22 1"},
      {"def p(n: size) -> f32:\n    pass\n", "E-P23 1"},
      {"def p(n):\n    pass\n", "E-P24 1"},
      {"def p(n: size[4]):\n    pass\n", "E-P24 1"},
      {"def p(z: barrier @ CudaMbarrier):\n    pass\n", "E-P25 1"},
      {"def p(x: f32 @ CudaMbarrier):\n    pass\n", "E-P25 1"},
      {"def p(x: f32 @ CudaGmemLinear):\n    pass\n", ""},
      {"def p(b: bool @ DRAM, s: stride @ DRAM):\n    pass\n", ""},
      {"def p(b: bool @ CudaGmemLinear):\n    pass\n", "E-P26 1"},
      {"def p(n: size, n: index):\n    pass\n", "E-N04 1"},
      {"def p(x: f31[4]):\n    pass\n", "E-N03 1"},
      {"def p(x: f32[4] @ Nowhere):\n    pass\n", "E-N03 1"},
      {"def p(x: f32[4] @ cuda_warp):\n    pass\n", "E-P73 1"},
      {"def p(x: f32[4] @ Sm90_SmemSwizzled(48)):\n    pass\n", "E-M13 1"},
      {"def p(n: size, x: f32[n / 2 + 1], y: [R][n, n]):\n    pass\n", ""},
      {"def p(b: bool, x: f32[b]):\n    pass\n", "E-T72 1"},
      // One error per faulty parameter, none for its uses.
      {"def p(x: f31[4]):\n    x[0] = 1.0\n    y: f32\n    y = x[1]\n", "E-N03 1"},
  });
}

TEST_CASE("allocations") {
  check_rows({
      {host("a: f32[4, n]"), ""},
      {host("a: f32[4][n]"), "E-P30 2"},
      {host("a: [f32][n]"), "E-P31 2"},
      {host("a: size"), "E-P32 2"},
      {host("a: index"), "E-P32 2"},
      {host("a: f32 = 0.0"), "E-P33 2"},
      {host("a[0]: f32"), "E-P56 2"},
      {host("a: f32[x[0]]"), "E-T72 2"},
      {host("a: f32[n] @ CudaMbarrier"), "E-T71 2"},
      {host("a: f32[n] @ n + 1"), "E-N03 2"},
      {host("a: f32[n] @ 5"), "E-P73 2"},
      {host("a: f64x[n]"), "E-N03 2"},
      {host("a: f32[n].guarded(x)"), "E-P36 2"},
      // A faulty declaration is told once, its uses are not.
      {host("a: f32[4][n]\na[0] = a[1] + 1.0"), "E-P30 2"},
      {device("z: barrier @ CudaMbarrier"), ""},
      {device("z: barrier"), "E-T70 4"},
      {device("z: barrier @ CudaSmemLinear"), "E-T70 4"},
      {device("z: barrier @ CudaMbarrierr"), "E-N03 4"},
      {device("z: barrier(n + 1) @ CudaMbarrier"), "E-G01 4"},
      {device("z: barrier(y) @ CudaMbarrier"), "E-N01 4"},
  });
}

TEST_CASE("ring annotations") {
  check_rows({
      {device(
           "e: barrier @ CudaMbarrier\na: f32[n @ ring_buffer_by(2), 4].ring_guarded_by(e) @ CudaSmemLinear"),
       ""},
      {device("a: f32[n / 2 @ (ring_buffer_by(depth=2)), 4] @ CudaSmemLinear"), ""},
      {device("a: f32[n + 2 @ ring_buffer_by(2)] @ CudaSmemLinear"), "E-P34 4"},
      {device("a: f32[(n + 2) @ ring_buffer_by(2)] @ CudaSmemLinear"), ""},
      {device("a: f32[n @ ring_buffer_by(2.5)] @ CudaSmemLinear"), "E-R02 4"},
      {device("a: f32[n @ ring_buffer_by()] @ CudaSmemLinear"), "E-R02 4"},
      {device("a: f32[n @ ring_buffer_by(2) @ ring_buffer_by(3)] @ CudaSmemLinear"), "E-R01 4"},
      {device("a: f32[n @ cuda_warp] @ CudaSmemLinear"), "W-P02 4"},
      {device("a: f32[n @ DRAM] @ CudaSmemLinear"), "E-P73 4"},
      {device("e: barrier @ CudaMbarrier\na: f32.ring_guarded_by(e) @ CudaSmemLinear"), "E-P35 5"},
      {device("e: barrier[1] @ CudaMbarrier\na: f32[4].ring_guarded_by(e[0]) @ CudaSmemLinear"), "E-P36 5"},
      {device("a: f32[4].ring_guarded_by(e) @ CudaSmemLinear"), "E-N01 4"},
      {"def p(n: size, x: f32[n @ ring_buffer_by(2)]):\n    pass\n", "E-P73 1"},
  });
}

TEST_CASE("names that C cannot have") {
  check_rows({
      {host("min: f32"), "E-L07 2"},
      {host("for register in seq(0, n):\n    pass"), "E-L07 2"},
      {host("__a: f32"), "E-L07 2"},
      {host("_A: f32"), "E-L07 2"},
      {host("Exo_a: f32"), "E-L07 2"},
      {host("_exo: f32\n_a: f32\nminimum: f32\nsize: f32"), ""},
      {"def p(double: size):\n    pass\n", "E-L07 1"},
  });
}

TEST_CASE("assignments") {
  check_rows({
      {host("x[0] = 1.0\nq = 2\nx[i] += q * 3"), ""},
      {host("x[0] -= 1.0"), "E-P40 2"},
      {host("x[0] *= 1.0"), "E-P40 2"},
      {host("x[0:2] = 1.0"), "E-P41 2"},
      {host("x[:] += 1.0"), "E-P41 2"},
      {host("v = x[0:4:2]"), "E-P42 2"},
      {host("v = x[0:4]"), ""},
      {host("q = q = 1.0"), "E-P55 2"},
      {host("q, k = 1.0"), "E-P56 2"},
      {host("f(q) = 1.0"), "E-P56 2"},
      {host("y[0] = 1.0"), "E-T40 2"},
      {host("y[0, 1, 2] = 1.0"), "E-T40 2"},
      {host("y[0, 1] = 1.0"), ""},
      {host("q[0] = 1.0"), "E-T40 2"},
      {host("n = 3"), "E-T41 2"},
      {host("for t in seq(0, 4):\n    t = 1.0"), "E-T41 3"},
      {device("z: barrier @ CudaMbarrier\nz = 1.0"), "E-T42 5"},
      {host("x = 1.0"), "E-T43 2"},
      {host("w = x[0:4]"), "E-T43 2"},
      {host("q = i"), "E-T44 2"},
      {host("q = b"), "E-T44 2"},
      {host("q = x"), "E-T44 2"},
      {host("q = y[0]"), "E-T44 2"},
      {host("q = n * 2"), "E-T44 2"},
      {host("q = 1 / 2"), ""},
      {host("undeclared = 3"), "E-T45 2"},
      {host("undeclared = x[0]"), "E-T45 2"},
      {host("undeclared = x"), "E-T45 2"},
      {host("undeclared += 3"), "E-N01 2"},
      {host("undeclared[0] = 3"), "E-N01 2"},
      {host("undeclared = 3\nundeclared = 4\nq = undeclared"), "E-T45 2"},
      {host("x[b] = 1.0"), "E-T23 2"},
      {host("x[q] = 1.0"), "E-T23 2"},
      {host("h[0] = x[0]"), ""},
  });
}

TEST_CASE("windows") {
  check_rows({
      {host("v = y[0:2, :]\nq = v[0, 1]"), ""},
      {host("v = y[0:2]\nq = v[0, 1]"), ""},
      {host("v = y[1]\nq = v[1]"), ""},
      {host("v = y[0:2, 1, 1]"), "E-T50 2"},
      {host("v = q[0:2]"), "E-T51 2"},
      {host("v = n[0:2]"), "E-T51 2"},
      {host("v = y[0:b, 1]"), "E-T52 2"},
      {host("v = y[0:2, q]"), "E-T52 2"},
      {host("v = nothing[0:2]\nq = v[0]"), "E-N01 2"},
      {host("v = y[0:2, :] @ DRAM"), "E-T53 2"},
      {host("v = y[0:2, :] @ CudaMbarrier"), "E-T53 2"},
      {host("v = w[0:2] @ Sm90_tensorMap(0, 2)"), "E-T55 2"},
      {"# exocheck: dialect=R\n" + host("v = w[0:2] @ Sm90_tensorMap(0, 2)"), ""},
      {host("v = y[0:2, :] @ Sm90_tensorMap(0, 2, 4)"), ""},
      {host("v = y[0:2, :] @ Sm90_tensorMap(7, 2, 4)"), "E-M04 2"},
      {host("q = y[0:2, :] @ Sm90_tensorMap(0, 2, 4)"), "E-T54 2"},
      {"def bar(t: [f32][4, 8]):\n    pass\ndef p(t: f32[8, 8]):\n    bar(t[4:, :] @ Sm90_tensorMap(0, 4, "
       "8))\n",
       "E-T54 4"},
      {device("z: barrier[2] @ CudaMbarrier\nv = z[0:1]"), "E-T26 5"},
  });
}

TEST_CASE("loops") {
  check_rows({
      {host("for t in seq(0, n, pragma_unroll=4):\n    pass"), ""},
      {host("for t in seq(0, n, pragma_unroll=None):\n    pass"), ""},
      {host("for t in seq(0, n):\n    pass\nelse:\n    pass"), "E-P44 4"},
      {host("for t in seq(0, n, bogus=1):\n    pass"), "E-P58 2"},
      {host("for t in seq(0, n, pragma_unroll=1.5):\n    pass"), "E-P58 2"},
      {host("for t in seq(n):\n    pass"), "E-P58 2"},
      {host("for t in seq(0, n, 2):\n    pass"), "E-P58 2"},
      {host("for t in cuda_threads(0, 4, unit=cuda_wrap):\n    pass"), "E-N03 2"},
      {host("for t in cuda_threads(0, 4, unit=5):\n    pass"), "E-P58 2"},
      {host("for t in cuda_tasks(0, 4, unit=cuda_warp):\n    pass"), "E-P58 2"},
      {host("for t in cuda_threads(0, 4, unit=0 * cuda_warp):\n    pass"), "E-H07 2"},
      {host("for t in cuda_threads(0, 4, unit=2 * cuda_quadpair):\n    pass"), "E-H08 2"},
      {host("for t in cuda_threads(0, 4, unit=2 * cuda_warp):\n    pass"), ""},
      {host("for t, u in seq(0, n):\n    pass"), "E-P59 2"},
      {host("for t in x:\n    pass"), "E-P59 2"},
      {host("for t in bogus(0, n):\n    pass"), "E-N03 2"},
      {host("for t in _codegen_par(0, n):\n    pass"), "E-P66 2"},
      {host("for t in seq(0, q):\n    pass"), "E-T46 2"},
      {host("for t in seq(b, n):\n    pass"), "E-T46 2"},
      {host("for seq in seq(0, n):\n    x[seq] = 0.0"), ""},
      {host("if n:\n    pass"), "E-T47 2"},
      {host("if q:\n    pass"), "E-T47 2"},
      {host("if n > 3 and b:\n    pass"), ""},
  });
}

TEST_CASE("contexts") {
  const auto with = [](const std::string& context) { return host("with " + context + ":\n    pass"); };
  check_rows({
      {with("CudaDeviceFunction(blockDim=32)"), ""},
      {with("CudaDeviceFunction(32, 2, 1)"), ""},
      {with("CudaDeviceFunction(32, 2, 1, None, unsafe_no_shutdown_cluster_sync=True)"), ""},
      {with("CudaDeviceFunction(blockDim=0.5)"), ""},  // E-W02 is the launch checks'
      {with("CudaDeviceFunction(blockDim=32, CudaWarps(0, 1)"), "E-L03 2"},
      {with("CudaDeviceFunction(blockDim=32), CudaWarps(0, 1)"), "E-P45 2"},
      {with("CudaDeviceFunction(blockDim=32) as f"), "E-P45 2"},
      {with("CudaDeviceFunction(blockdim=32)"), "E-P70 2"},
      {with("CudaDeviceFunction(32, blockDim=32)"), "E-P70 2"},
      {with("CudaDeviceFunction(blockDim='32')"), "E-P70 2"},
      {with("CudaDeviceFunction(blockDim=n)"), "E-P70 2"},
      {with("CudaDeviceFunction(blockDim=nobody)"), "E-N03 2"},
      {with("CudaDeviceFunction(warp_config=[4])"), "E-P70 2"},
      {with("CudaDeviceFunction(warp_config=[CudaWarpConfig('a', 4, setmaxnreg_dec=40)])"), ""},
      {with("CudaWarps(0, 1)"), ""},
      {with("CudaWarps(lo=0, hi=1, name='a')"), ""},
      {with("CudaWarps(None, 1)"), ""},
      {with("CudaWarps(0.5, 1)"), "E-W20 2"},
      {with("CudaWarps(0, 1, 2)"), "E-P70 2"},
      {with("CudaAsync(cuda_in_order)"), "E-P61 2"},
      {with("python"), "E-P65 2"},
      {with("exo"), "E-P65 2"},
      {with("open(x)"), "E-P70 2"},
      {with("x"), "E-P70 2"},
  });
}

TEST_CASE("synchronization statements") {
  const auto sync = [](const std::string& statement) {
    return device("z: barrier @ CudaMbarrier\ny: barrier[2] @ CudaMbarrier\nv: f32 @ CudaRmem\n" + statement);
  };
  check_rows({
      {sync("Fence(cuda_in_order, cuda_in_order)"), ""},
      {sync("Arrive(cuda_in_order, 1) >> z"), ""},
      {sync("(Arrive(cuda_in_order) >> z)"), ""},
      {sync("Arrive(cuda_in_order)"), ""},  // E-U01 is analysis'
      {sync("Await(z, cuda_in_order, ~0)"), ""},
      {sync("Await(y[1], cuda_in_order)"), ""},
      {sync("Arrive(cuda_in_order, 1, bogus=1) >> z"), "E-P46 7"},
      {sync("Fence(first=cuda_in_order, second=cuda_in_order)"), "E-P46 7"},
      {sync("Fence()"), "E-P47 7"},
      {sync("Fence(cuda_in_order, cuda_in_order, 1)"), "E-P47 7"},
      {sync("Arrive(cuda_in_order, 1, 19) >> z"), "E-P47 7"},
      {sync("Await(z)"), "E-P47 7"},
      {sync("Fence(cuda_in_order, cuda_in_order) >> z"), "E-P48 7"},
      {sync("Await(z, cuda_in_order, ~0) >> z"), "E-P48 7"},
      {sync("v >> z"), "E-P49 7"},
      {sync("v * v"), "E-P49 7"},
      {sync("v"), "E-P49 7"},
      {sync("Await(z, cuda_in_order, 0.75)"), "E-P50 7"},
      {sync("Await(z, cuda_in_order, n)"), "E-P50 7"},
      {sync("Arrive(cuda_in_order, True) >> z"), "E-P50 7"},
      {sync("Fence(Sm80_cp_async_instr, cuda_in_order)"), "E-P51 7"},
      {sync("Fence(\"xyzzy\", cuda_in_order)"), "E-P51 7"},
      {sync("Fence(v, cuda_in_order)"), "E-P51 7"},
      {sync("Fence(cuda_inorder, cuda_in_order)"), "E-N03 7"},
      {sync("Arrive(cuda_in_order, z, 1)"), "E-P62 7"},
      {sync("Arrive(cuda_in_order, y[0], 1)"), "E-P62 7"},
      {sync("Await(+z, cuda_in_order, 0)"), "E-P62 7"},
      {sync("Arrive(cuda_in_order, 1) >> -z"), "E-P62 7"},
      {sync("Arrive(cuda_in_order, 1) >> v + 1"), "E-U03 7"},
      {sync("Arrive(cuda_in_order, 1) >> nobody"), "E-N01 7"},
      {sync("Arrive(cuda_in_order, 1) >> y[v]"), "E-T23 7"},
      {sync("Arrive(cuda_in_order, 1) >> y[0, :]"), "E-U04 7"},
      {sync("v = z"), "E-T26 7"},
      {sync("v = y[0]"), "E-T26 7"},
      {sync("free(z)"), "E-P68 7"},
  });
}

TEST_CASE("the dialects have their own timelines") {
  const std::string fence = "Fence(cuda_in_order, cuda_async_proxy)";
  check_rows({
      {device(fence), ""},
      {"# exocheck: dialect=R\n" + device(fence), "E-N03 5"},
  });
}

TEST_CASE("forms that are no object code") {
  check_rows({
      {host("x[0] = {1.0}"), "E-P65 2"},
      {host("x[0] = ~{x[1]}"), "E-P65 2"},
      {host("x[0] = c.blk + 1.0"), "E-P66 2"},
      {host("x[0] = _"), "E-P67 2"},
      {host("_"), "E-P67 2"},
      {host("free(x)"), "E-P68 2"},
      {host("f(<class 'a'>)"), "E-N02 2, E-P69 2"},
      {host("while b:\n    pass"), "E-P71 2"},
      {host("return"), "E-P71 2"},
      {host("def inner():\n    pass"), "E-P71 2"},
      {host("import os"), "E-P71 2"},
      {host("x[0] = 'text'"), "E-T01 2"},
      {host("x[0] = None"), "E-T01 2"},
      {host("x[0] = (1, 2)"), "E-T01 2"},
      {"print(3)\n", "E-P63 1"},
      {"x = schedule(x)\n", "E-P63 1"},
      {"if True:\n    pass\n", "E-P63 1"},
      {"tile = 4\nunit = 2 * cuda_warp\n", ""},
      {"@instr\nclass X:\n    pass\n", "E-P64 2"},
      {"class X:\n    pass\n", "E-P63 1"},
      {"@fancy\ndef p():\n    pass\n", "W-P01 1"},
      {"@proc\ndef p():\n    pass\n", ""},
  });
}

TEST_CASE("configs") {
  const std::string config =
      "@config\nclass Cfg:\n    n: size\n    on: bool\n    scale: f32\n    st: stride\n";
  check_rows({
      {config + host("if Cfg.on:\n    x[0] = Cfg.scale"), ""},
      {config + host("Cfg.n = n + 1\nCfg.on = n > 3\nCfg.scale = 2\nCfg.st = stride(x, 0)"), ""},
      {config + host("Cfg.none = 3"), "E-T60 8"},
      {config + host("x[0] = Cfg.none"), "E-T60 8"},
      {config + host("Cfg.n = b"), "E-T61 8"},
      {config + host("Cfg.on = 1"), "E-T61 8"},
      {config + host("Cfg.scale = n"), "E-T61 8"},
      {config + host("for t in seq(0, 4):\n    Cfg.n = t + 1"), "E-T62 9"},
      {"@config\nclass Cfg:\n    n: size = 3\n", "E-P76 3"},
      {"@config\nclass Cfg:\n    n: tensor\n", "E-P76 3"},
      {"@config\nclass Cfg:\n    n = 3\n", "E-P76 3"},
      {"@config\nclass Cfg:\n    n: size\n    n: size\n", "E-P76 4"},
  });
}
