// exocheck run: .npy files, seeds, exit codes.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "command_line.hpp"
#include "driver/npy.hpp"
#include "driver/run_inputs.hpp"
#include "semantics/numeric.hpp"

using namespace exocheck::driver;
using namespace exocheck::driver::test;
using Catch::Matchers::Contains;
using exocheck::semantics::Precision;
using exocheck::semantics::Tensor;

namespace {

const char* const scale_text =
    "def scale(n: size, x: f32[n] @ DRAM, y: f16[n, 2] @ DRAM):\n"
    "    assert n % 2 == 0\n"
    "    for i in seq(0, n):\n"
    "        y[i, 0] = x[i] * 2.0\n";

std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::string& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

Tensor read(const std::string& bytes, Precision precision, const std::vector<std::int64_t>& extents) {
  auto tensor = parse_npy(bytes, precision, extents);
  if (const auto* message = std::get_if<std::string>(&tensor)) FAIL(*message);
  return std::get<Tensor>(tensor);
}

}  // namespace

TEST_CASE(".npy files keep every value of every precision") {
  for (const Precision p : {Precision::f16, Precision::bf16, Precision::f32, Precision::f64, Precision::e4m3,
                            Precision::i8, Precision::i32, Precision::ui8, Precision::ui16}) {
    Tensor tensor{p, {3, 2}, {}};
    for (const double v : {0.0, 1.5, -3.0, 65504.0, std::ldexp(3.0, -24), 100.0}) {
      tensor.values.push_back(exocheck::semantics::round_to(p, v));
    }
    if (p == Precision::e4m3) tensor.values[3] = 448;
    const std::string bytes = format_npy(tensor);
    CHECK(bytes.size() % 2 == 0);
    CHECK(bytes.find('\n') % 64 == 63);
    CHECK(read(bytes, p, {3, 2}).values == tensor.values);
  }
}

TEST_CASE(".npy files in Fortran order, of other types, and scalars") {
  const std::string data("\x01\x02\x03\x04\x05\xff", 6);
  CHECK(read(npy("|i1", "True", "(2, 3)", data), Precision::f32, {2, 3}).values ==
        std::vector<double>{1, 3, 5, 2, 4, -1});
  CHECK(read(npy("|u1", "False", "(6,)", data), Precision::i32, {6}).values ==
        std::vector<double>{1, 2, 3, 4, 5, 255});
  CHECK(read(npy("|u1", "False", "()", data), Precision::i32, {}).values == std::vector<double>{1});
}

TEST_CASE("files that are no .npy files of the shape are refused") {
  const std::string data(8, '\0');
  const auto refused = [](const std::string& bytes) {
    return std::holds_alternative<std::string>(parse_npy(bytes, Precision::f32, {2}));
  };
  CHECK_FALSE(refused(npy("<f4", "False", "(2,)", data)));
  CHECK(refused(""));
  CHECK(refused("\x93NUMPY"));
  CHECK(refused(npy("<f4", "False", "(3,)", data)));
  CHECK(refused(npy("<f4", "False", "(2, 1)", data)));
  CHECK(refused(npy(">f4", "False", "(2,)", data)));
  CHECK(refused(npy("<c8", "False", "(2,)", data)));
  CHECK(refused(npy("<f8", "False", "(2,)", data)));
  CHECK(refused(npy("<f4", "False", "(99999999999999999999,)", data)));
  CHECK(refused(npy("<f4", "False", "2", data)));
  std::string cut = npy("<f4", "False", "(2,)", data);
  for (std::size_t length = 0; length < cut.size(); length += 3) CHECK(refused(cut.substr(0, length)));
}

TEST_CASE("run reads and writes .npy files") {
  const Folder folder("run");
  const std::string program = folder.file("scale.exo", scale_text);
  const std::string input = folder.file("x.npy", format_npy({Precision::f32, {2}, {1.5, -3}}));
  const std::string output = folder.path("y.npy");
  const Answer answer = call({"run", program, "--size", "n=2", "--input", "x=" + input, "--input", "y=7",
                              "--output", "y=" + output});
  CHECK(answer.err == "");
  CHECK(answer.code == 0);
  CHECK(read(contents(output), Precision::f16, {2, 2}).values == std::vector<double>{3, 7, -6, 7});
  CHECK_THAT(answer.out, Contains("scale: sequential run, n=2, seed 0"));
  CHECK_THAT(answer.out, Contains("changed  y: f16[2, 2]  sum 11"));
}

TEST_CASE("a seed gives the same run every time, another seed another") {
  const Folder folder("run");
  const std::string program = folder.file("scale.exo", scale_text);
  const auto seeded = [&](const char* seed) {
    return call({"run", program, "--size", "n=64", "--seed", seed}).out;
  };
  CHECK(seeded("3") == seeded("3"));
  const auto body = [](const std::string& text) { return text.substr(text.find('\n')); };
  CHECK(body(seeded("3")) != body(seeded("4")));
  Tensor tensor{Precision::f32, {1000}, std::vector<double>(1000)};
  fill_random(tensor, "x", {});
  for (const double v : tensor.values) REQUIRE((v == std::trunc(v) && v >= -4 && v <= 4));
  CHECK(std::count(tensor.values.begin(), tensor.values.end(), 4) > 50);
  fill_random(tensor, "x", {{}, 0, true});
  for (const double v : tensor.values) REQUIRE((v >= -1 && v < 1));
}

TEST_CASE("exit codes of run") {
  const Folder folder("run");
  const std::string program = folder.file("scale.exo", scale_text);
  const auto code = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", program});
    const Answer answer = call(arguments);
    CHECK((answer.code == 0) == answer.err.empty());
    return answer.code;
  };
  CHECK(code({}) == 0);
  CHECK(code({"--size", "n=3"}) == 2);
  CHECK(code({"--size", "m=2"}) == 2);
  CHECK(code({"--size", "n=2", "--size", "n=4"}) == 2);
  CHECK(code({"--proc", "other"}) == 2);
  CHECK(code({"--input", "z=1"}) == 2);
  CHECK(code({"--input", "x=" + folder.path("missing.npy")}) == 2);
  CHECK(code({"--input", "x"}) == 2);
  CHECK(code({"--output", "z=out.npy"}) == 2);
  CHECK(code({"--output", "y=" + folder.path("no-folder/y.npy")}) == 2);
  CHECK(code({"--size", "n=1000000", "--memory-limit", "1"}) == 2);
  const std::string broken = folder.file("broken.exo", "def p(x: f32[2] @ DRAM):\n    x[2] = 1.0\n");
  const Answer answer = call({"run", broken});
  CHECK(answer.code == 1);
  CHECK_THAT(answer.err, Contains("bounds.run-time"));
  CHECK(call({"run", folder.file("syntax.exo", "def p(:\n")}).code == 2);
  CHECK(call({"run", folder.path("absent.exo")}).code == 2);
  // Neither is a procedure run that breaks a rule of threads or memories.
  const Answer defective = call(
      {"run",
       folder.file("defective.exo",
                   "def p(x: f32[8, 8] @ CudaGmemLinear):\n    m = x[:, :] @ Sm90_tensorMap(48, 8, 8)\n")});
  CHECK(defective.code == 2);
  CHECK_THAT(defective.err, Contains("E-M04"));
}

TEST_CASE("emulation without a compiler or a temporary folder is an answer, not an error of ours") {
  const std::string kernel = std::string(EXOCHECK_SOURCE_DIR) + "/kernels/basic/vec_add.exo";
  const auto emulate = [&](const char* variable, const char* value) {
    const char* const before = std::getenv(variable);
    const std::string kept = before == nullptr ? "" : before;
    setenv(variable, value, 1);
    const Answer answer = call({"run", "--emulate", kernel, "--size", "n=3"});
    if (before == nullptr)
      unsetenv(variable);
    else
      setenv(variable, kept.c_str(), 1);
    CHECK(answer.code == 2);
    return answer.err;
  };
  CHECK_THAT(emulate("TMPDIR", "/nonexistent"), Contains("No temporary folder can be made"));
  CHECK_THAT(emulate("CXX", "/nonexistent/c++ -O1"), Contains("/nonexistent/c++ cannot be started"));
}
