#include <catch2/catch.hpp>
#include <memory>

#include "frontend/prepass.hpp"

using namespace exocheck;
using namespace exocheck::frontend;

namespace {

Prepass prepass(const std::string& text, const ParseLimits& limits = {}) {
  return run_prepass(std::make_shared<semantics::SourceFile>("test.exo", text), limits);
}

// The text with its marks made visible: ; for the end of a line, { and } for blocks; runs of blanks as one.
std::string marks(const std::string& text) {
  std::string out;
  for (const char c : prepass(text).text) {
    const char shown = c == newline_mark ? ';' : c == indent_mark ? '{' : c == dedent_mark ? '}' : c;
    if (shown != ' ' || out.empty() || out.back() != ' ') out += shown;
  }
  return out;
}

// "E-L03 2:5": code and place of every finding.
std::vector<std::string> findings(const std::string& text, const ParseLimits& limits = {}) {
  std::vector<std::string> out;
  for (const semantics::Diagnostic& d : prepass(text, limits).diagnostics) {
    const auto p = d.location.begin();
    out.push_back(std::string(d.rule->code) + " " + std::to_string(p.line) + ":" + std::to_string(p.column));
  }
  return out;
}

using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("indentation becomes marks", "[prepass]") {
  CHECK(marks("a\nb\n") == "a;b;");
  CHECK(marks("if a:\n  b\n  if c:\n     d\ne") == "if a:;{b;if c:;{d;}}e;");
  // Blank lines and comment lines never matter, whatever their indentation.
  CHECK(marks("if a:\n\n # x\n        # y\n    b\n\t\n    c\n# z\n    d\n") == "if a:;{b;c;d;}");
  CHECK(marks("") == "");
  CHECK(marks("\n\n# only a comment") == "");
  // A tab goes to the next multiple of eight.
  CHECK(marks("if a:\n\tb\n\tif c:\n\t  d\n") == "if a:;{b;if c:;{d;}}");
}

TEST_CASE("lines are joined inside brackets and by backslashes", "[prepass]") {
  CHECK(marks("a(b,\n  c)[\nd]\ne") == "a(b, c)[ d];e;");
  CHECK(marks("a = b + \\\n   c\nd") == "a = b + c;d;");
  CHECK(marks("a(b,  # one\n  # two )\n  c)  # three\n") == "a(b, c) ;");
  CHECK(marks("a = 1 \\") == "a = 1 ;");
}

TEST_CASE("comments are collected with their places", "[prepass]") {
  const Prepass p = prepass("# run: check  \nx = 1  # two\nf(a,\n  #inner\n  b)\r\n#last\r\n");
  REQUIRE(p.comments.size() == 4);
  CHECK(p.comments[0].text == "run: check");
  CHECK(p.comments[0].own_line);
  CHECK(p.comments[1].text == "two");
  CHECK_FALSE(p.comments[1].own_line);
  CHECK(p.comments[1].span == ast::Span{22, 27});
  CHECK(p.comments[2].text == "inner");
  CHECK(p.comments[2].own_line);
  CHECK(p.comments[3].text == "last");
}

TEST_CASE("strings hide comments, brackets and line ends", "[prepass]") {
  CHECK(marks("x = '# ( '\ny") == "x = '# ( ';y;");
  CHECK(marks("x = 'it\\'s'\ny") == "x = 'it\\'s';y;");
  CHECK(marks("x = \"\"\"a\n  (b # c\n\"\"\"\ny") == "x = \"\"\"a\n (b # c\n\"\"\";y;");
}

TEST_CASE("byte order mark and carriage returns are skipped", "[prepass]") {
  CHECK(marks("\xEF\xBB\xBFif a:\r\n  b\r\n") == "if a: ;{b ;}");
  const Prepass p = prepass("\xEF\xBB\xBFx = 1\r\n");
  CHECK(p.source_span(0, 1) == ast::Span{3, 4});
}

TEST_CASE("places lead back to the source", "[prepass]") {
  const std::string text = "# c\nif a(\n  b):  # d\n    e = f\n";
  const Prepass p = prepass(text);
  const semantics::SourceFile source("test.exo", text);
  for (const std::string word : {"if", "a(", "b)", "e =", "f"}) {
    const std::size_t at = p.text.find(word);
    REQUIRE(at != std::string::npos);
    CHECK(source.text(p.source_span(at, at + word.size())) == word);
  }
}

TEST_CASE("places behind the end of the text are the end of the source", "[prepass]") {
  for (const std::string text : {"x = 1", "x = 1\n", "if a:\n  b", "if a:\n  b\n"}) {
    const Prepass p = prepass(text);
    const auto size = static_cast<std::uint32_t>(text.size());
    CHECK(p.source_span(p.text.size(), p.text.size()) == ast::Span{size, size});
    CHECK(p.source_span(p.text.size() - 1, p.text.size()).end <= size);
  }
}

TEST_CASE("lexical errors name their place", "[prepass]") {
  CHECK(findings("if a:\n\tb\n        c\n") == Found{"E-L01 3:1"});
  CHECK(findings("if a:\n    b\n  c\n") == Found{"E-L02 3:1"});
  CHECK(findings("x = (a]\n") == Found{"E-L03 1:5"});
  CHECK(findings("x = a)\n") == Found{"E-L03 1:6"});
  CHECK(findings("x = (a\n\n") == Found{"E-L03 1:5"});
  CHECK(findings("x = a ? b\n") == Found{"E-L04 1:7"});
  CHECK(findings("x = a ! b\n") == Found{"E-L04 1:7"});
  CHECK(findings("x = a != b\n").empty());
  CHECK(findings(std::string("x = a\0b\n", 8)) == Found{"E-L04 1:6"});
  CHECK(findings("x = caf\xC3\xA9\n") == Found{"E-L04 1:8"});
  CHECK(findings("# caf\xC3\xA9 'caf\xC3\xA9'\nx = 'caf\xC3\xA9'\n").empty());
  CHECK(findings("x = 'a\ny = 1\n") == Found{"E-L05 1:5"});
  CHECK(findings("x = \"\"\"a\ny = 1\n") == Found{"E-L05 1:5"});
  // The marks of the pre-pass cannot be forged.
  CHECK(findings("x = '\x01'\n") == Found{"E-L04 1:6"});
}

TEST_CASE("an error stays in its own top-level statement", "[prepass]") {
  const Prepass p = prepass("@proc\ndef f(:\n    pass\n\n@proc\ndef g():\n    x = $\n\ndef h():\n    pass\n");
  REQUIRE(p.chunks.size() == 3);
  CHECK(p.chunks[0].broken);
  CHECK(p.chunks[1].broken);
  CHECK_FALSE(p.chunks[2].broken);
  CHECK(p.text.substr(p.chunks[2].begin, 5) == "def h");
  CHECK(findings("def f(:\n    pass\n@proc\ndef g(:\n    pass\n") == Found{"E-L03 1:6", "E-L03 4:6"});
}

TEST_CASE("decorators and else branches belong to their statement", "[prepass]") {
  CHECK(prepass("@a\n@b(1)\n# c\ndef f():\n    pass\nx = 1\n").chunks.size() == 2);
  CHECK(prepass("if a:\n  b\nelif c:\n  d\nelse:\n  e\nf\n").chunks.size() == 2);
}

TEST_CASE("limits end the reading", "[prepass]") {
  ParseLimits limits;
  limits.max_bytes = 10;
  CHECK(findings("x = 1\ny = 2\n", limits) == Found{"L-01 1:1"});
  limits = {};
  limits.max_nesting = 3;
  CHECK(findings("x = ((([1])))\n", limits) == Found{"L-02 1:8"});
  CHECK(findings("if a:\n if b:\n  if c:\n   x = 1\n", limits).empty());
  CHECK(findings("if a:\n if b:\n  if c:\n   x = (1)\n", limits) == Found{"L-02 4:8"});
}
