#include <catch2/catch.hpp>
#include <memory>

#include "frontend/parse.hpp"
#include "tree_text.hpp"

using namespace exocheck;
using namespace exocheck::frontend;
using frontend::test::tree;

namespace {

ParseResult parse_text(const std::string& text, const ParseLimits& limits = {}) {
  return parse(std::make_shared<semantics::SourceFile>("test.exo", text), limits);
}

std::string file(const std::string& text) {
  const ParseResult r = parse_text(text);
  if (!r.diagnostics.empty()) return "error: " + r.diagnostics.front().message;
  std::string out;
  for (const ast::Stmt& s : r.file.statements) out += (out.empty() ? "" : "\n") + tree(s);
  return out;
}

std::string expression(const std::string& text) { return file("(" + text + ")\n"); }

// "E-P01 2:5 message"
std::string error(const std::string& text, const ParseLimits& limits = {}) {
  const ParseResult r = parse_text(text, limits);
  std::string out;
  for (const semantics::Diagnostic& d : r.diagnostics) {
    const auto p = d.location.begin();
    out += std::string(out.empty() ? "" : "\n") + std::string(d.rule->code) + " " + std::to_string(p.line) +
           ":" + std::to_string(p.column) + " " + d.message;
  }
  return out;
}

}  // namespace

TEST_CASE("operators bind as in Python", "[grammar]") {
  CHECK(expression("a + b * c - d") == "{{a + {b * c}} - d}");
  CHECK(expression("a - b - c") == "{{a - b} - c}");
  CHECK(expression("a or b and not c == d") == "{a or {b and {not {c == d}}}}");
  CHECK(expression("not not a") == "{not {not a}}");
  CHECK(expression("-a * b") == "{{- a} * b}");
  CHECK(expression("-a ** -b") == "{- {a ** {- b}}}");
  CHECK(expression("a ** b ** c") == "{a ** {b ** c}}");
  CHECK(expression("a | b ^ c & d << e + f") == "{a | {b ^ {c & {d << {e + f}}}}}");
  CHECK(expression("a < b <= c == d") == "{a < b <= c == d}");
  CHECK(expression("(a < b) == c") == "{{a < b} == c}");
  CHECK(expression("a not in b is not c") == "{a not in b is not c}");
  CHECK(expression("a // b % c @ d") == "{{{a // b} % c} @ d}");
  CHECK(expression("~a + +b") == "{{~ a} + {+ b}}");
  CHECK(expression("a if b else c if d else e") == "{a if b else {c if d else e}}");
  CHECK(expression("a == b if c or d else e") == "{{a == b} if {c or d} else e}");
}

TEST_CASE("calls, subscripts, attributes and displays", "[grammar]") {
  CHECK(expression("f(a, *b, k=c, **d)") == "f(a, *b, k=c, *d)");
  CHECK(expression("f(a == b)") == "f({a == b})");
  CHECK(expression("x[a, :, b:, :c, d:e, ::, ]") == "x[a, :, b:, :c, d:e, ::]");
  CHECK(expression("x.y(1)[2].z") == "x.y(1)[2].z");
  CHECK(expression("(a)") == "a");
  CHECK(expression("()") == "(,)");
  CHECK(expression("(a,)") == "(a,)");
  CHECK(expression("(*a, b)") == "(*a, b,)");
  CHECK(expression("[a, b, ]") == "[a, b]");
  CHECK(expression("{a: b, 'c': d}") == "<a: b, 'c': d>");
  CHECK(expression("{(a, b), (c,)}") == "<(a, b,), (c,)>");
  CHECK(expression("<class 'x.y'>") == "?<class 'x.y'>?");
  CHECK(expression("...") == "?...?");
}

TEST_CASE("literals", "[grammar]") {
  CHECK(expression("1_000 + 007") == "{1000 + 7}");
  CHECK(expression("9223372036854775807 + 9223372036854775808") == "{9223372036854775807 + BIG}");
  CHECK(expression("1.5 + 2. + .5 + 1e3 + 2.5E-1") ==
        "{{{{1.500000 + 2.000000} + 0.500000} + 1000.000000} + 0.250000}");
  CHECK(expression("1e999") == "inf");
  CHECK(expression("'a\\'\\n\\\\' \"b\"") == "'a'\n\\b'");
  CHECK(expression("'''a\nb'''") == "'a\nb'");
  CHECK(expression("True + False + None") == "{{True + False} + None}");
}

TEST_CASE("statements", "[grammar]") {
  CHECK(file("x: f32[n @ M] @ S\n") == "x: {f32[{n @ M}] @ S}");
  CHECK(file("x: f32 = 0\n") == "x: f32 = 0");
  CHECK(file("x = y = z\n") == "x = y = z");
  CHECK(file("x[i] += 1; y -= 2\n") == "x[i] += 1\ny -= 2");
  CHECK(file("a, b = c\n") == "(a, b,) = c");
  CHECK(file("f(a) >> z[i] >> w\n") == "{{f(a) >> z[i]} >> w}");
  CHECK(file("assert a, 'b'\n") == "assert a, 'b'");
  CHECK(file("for i in seq(0, n): pass\nelse: pass\n") == "for i in seq(0, n) {pass} else");
  CHECK(file("if a:\n  b\nelif c:\n  d\nelse:\n  e\n") == "if a {b} else {if c {d} else {e}}");
  CHECK(file("with f(a), g as h:\n  pass\n") == "with f(a);g as h; {pass}");
  CHECK(file("import a\nfrom b import (c,\n d)\n") == "import\nimport");
  CHECK(file("while True:\n  for\n  $$\n").substr(0, 5) == "error");
  CHECK(file("while True:\n  lambda: x\n  y\nreturn 3\n") == "other while\nother return");
  CHECK(file("with python:\n  lambda: x\nx\n") == "with python; {}\nx");
}

TEST_CASE("definitions", "[grammar]") {
  CHECK(file("@proc\n@a(1, b=c)\ndef f(x: size, y, *z, w=3, **k) -> int:\n  pass\n") ==
        "@proc @a(1, b=c) def f(x:size, y:, *z:, w:=, *k:, ) -> {pass}");
  CHECK(file("def f(): pass\n") == "def f() {pass}");
  CHECK(file("def f(\n    x: size,\n):\n    pass\n") == "def f(x:size, ) {pass}");
  CHECK(file("@config\nclass C:\n  a: f32\n") == "class C {a: f32}");
  // The body of another class is not looked at.
  CHECK(file("@instr\nclass C(Base):\n  def f(self): return lambda: 0\n") == "class C {}");
}

TEST_CASE("instruction comments belong to the definition above them", "[grammar]") {
  const ParseResult r = parse_text(
      "def f(x: f32):\n    # @instr {x} = 1;\n    #        more();\n    x = 1\n    # other\n\n"
      "def g(x: f32):\n    # plain\n    # @instr no\n    x = 1\n");
  REQUIRE(r.diagnostics.empty());
  CHECK(std::get<ast::DefStmt>(r.file.statements[0].node).instr_comment ==
        std::vector<std::string>{"{x} = 1;", "more();"});
  CHECK(std::get<ast::DefStmt>(r.file.statements[1].node).instr_comment.empty());
}

TEST_CASE("spans are bytes of the file", "[grammar]") {
  const std::string text = "\xEF\xBB\xBF# c\nif (a +  # d\n    b):\n    x[i] = f(y, z)\n";
  const ParseResult r = parse_text(text);
  REQUIRE(r.diagnostics.empty());
  const auto at = [&r](ast::Span s) { return std::string(r.file.source->text(s)); };
  const ast::Stmt& stmt = r.file.statements.front();
  CHECK(at(stmt.span) == "if (a +  # d\n    b):");
  const auto& branch = std::get<ast::IfStmt>(stmt.node);
  CHECK(branch.condition->parenthesized);
  CHECK(at(branch.condition->span) == "(a +  # d\n    b)");
  const ast::Stmt& inner = branch.then_body.front();
  CHECK(at(inner.span) == "x[i] = f(y, z)");
  const auto& call = std::get<ast::CallExpr>(std::get<ast::AssignStmt>(inner.node).value->node);
  CHECK(at(call.arguments[1].span) == "z");
  CHECK(at(call.callee->span) == "f");
}

TEST_CASE("syntax errors say what was expected", "[grammar]") {
  CHECK(error("x = \n") == "E-P01 1:5 expected an expression, found the end of the line");
  CHECK(error("x = a b\n") == "E-P01 1:7 expected the end of the statement, found 'b'");
  CHECK(error("def f(x y):\n    pass\n") == "E-P01 1:9 expected ',' or ')', found 'y'");
  CHECK(error("for i in seq(0, 1)\n    pass\n") == "E-P01 1:19 expected ':', found the end of the line");
  CHECK(error("for seq(0, 1):\n    pass\n") == "E-P01 1:14 expected 'in', found ':'");
  CHECK(error("for i in seq(0, 1):\npass\n") ==
        "E-P01 1:20 expected an indented block, found the end of the block");
  CHECK(error("x = 1\n    y = 2\n") == "E-P01 2:5 unexpected indentation: no block begins before this line");
  CHECK(error("@proc\nx = 3\n") == "E-P01 2:1 expected 'def' or 'class', found 'x'");
  CHECK(error("x = a + not b\n").substr(0, 12) == "E-P01 1:9 'n");
  CHECK(error("x[] = 1\n") == "E-P01 1:3 expected a subscript, found ']'");
  CHECK(error("x = a if b\n") == "E-P01 1:11 expected 'else', found the end of the line");
}

TEST_CASE("one bad procedure does not hide the others", "[grammar]") {
  const ParseResult r = parse_text(
      "@proc\ndef a():\n    x = (1\n\ndef b():\n    y =\n\ndef c():\n    pass\n\ndef d(_: size):\n    "
      "pass\n");
  REQUIRE(r.diagnostics.size() == 3);
  CHECK(r.diagnostics[0].rule->code == "E-L03");
  CHECK(r.diagnostics[1].rule->code == "E-P01");
  CHECK(r.diagnostics[1].location.begin().line == 6);
  CHECK(r.diagnostics[2].rule->code == "E-L06");
  CHECK(r.broken == std::vector<std::string>{"a", "b", "d"});
  REQUIRE(r.file.statements.size() == 1);
  CHECK(tree(r.file.statements[0]) == "def c() {pass}");
}

TEST_CASE("deep trees are refused, whatever makes them deep", "[grammar]") {
  const auto repeated = [](const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
  };
  const int many = 20000;
  for (const std::string& text :
       {"x = a" + repeated(" + a", many), "x = a" + repeated(" < a", many),
        "x = " + repeated("-", many) + "1", "x = " + repeated("not ", many) + "a",
        "x = a" + repeated("[0]", many), "x = a" + repeated(".b", many), "f()" + repeated(" >> z", many),
        "x = a" + repeated(" ** a", many), "x = a" + repeated(" if c else a", many)}) {
    CHECK(error(text + "\n").substr(0, 4) == "L-07");
  }
  for (const std::string& text : {"x = " + repeated("(", many) + "1" + repeated(")", many),
                                  "x = " + repeated("f(", many) + repeated(")", many)}) {
    CHECK(error(text + "\n").substr(0, 4) == "L-02");
  }
  CHECK(error("if a:\n  b\n" + repeated("elif c:\n  d\n", many)).substr(0, 4) == "L-02");
  // As deep as allowed.
  CHECK(error("x = " + repeated("(", 200) + "1" + repeated(")", 200) + "\n").empty());
  CHECK(error("x = a" + repeated(" + a", 299) + "\n").empty());
  CHECK(error("x = [" + repeated("1, ", many) + "]\n").empty());
}
