// Statements (language.md 2.1-2.4), Python-shaped: what a statement means is decided by elaboration.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/grammar_x3.hpp"

namespace exocheck::frontend::grammar {
namespace {

struct Branch {
  ast::Stmt line;  // an IfStmt without bodies
  ast::Block body;
};
struct Branches {
  std::vector<Branch> conditions;
  ast::Block otherwise;
};
// x, x: T = e, x += e, x = y = e before it is known which.
struct SimpleParts {
  std::vector<ast::ExprPtr> sides;
  ast::ExprPtr annotation, value;
  std::string augmented;
};
struct Word {
  std::string text;
  ast::Span span;
};
struct ExpressionList {
  std::vector<ast::ExprPtr> items;
  bool trailing_comma = false;
  ast::Span span;
};

// -------------------------------------------------------------------------------------------- tokens

const auto identifier = value_token<std::string>("a name", scan_identifier);
const auto expression = value_token<ast::ExprPtr>("an expression", parse_expression);
const auto operand = value_token<ast::ExprPtr>("a name", parse_operand);
const auto augmented_assignment = value_token<std::string>("an assignment", scan_augmented_assignment);
const auto comma = sign(',');
const auto colon = sign(':');
const auto semicolon = sign(';');
const auto assign = sign('=');
const auto newline = token("the end of the statement", [](Iterator& first, Iterator last) {
  return scan_mark(first, last, newline_mark);
});
const auto indent = token("an indented block",
                          [](Iterator& first, Iterator last) { return scan_mark(first, last, indent_mark); });
const auto dedent =
    token("a statement", [](Iterator& first, Iterator last) { return scan_mark(first, last, dedent_mark); });
const auto end_of_chunk = token("a statement", [](Iterator& first, Iterator last) {
  skip_blanks(first, last);
  return first == last;
});
const auto arrow = token("'->'", [](Iterator& first, Iterator last) {
  Iterator it = first;
  skip_blanks(it, last);
  if (last - it < 2 || it[0] != '-' || it[1] != '>') return false;
  first = it + 2;
  return true;
});
// `*`, `**` or `/` in a parameter list.
const auto parameter_mark = token("a parameter", [](Iterator& first, Iterator last) {
  std::string op;
  Iterator it = first;
  if (!scan_binary_operator(it, last, op) || (op != "*" && op != "**" && op != "/")) return false;
  first = it;
  return true;
});
const auto other_keyword =
    value_token<std::string>("a statement", [](Iterator& first, Iterator last, std::string& out) {
      constexpr std::string_view words[] = {"while",   "return", "del",   "global",   "nonlocal",
                                            "yield",   "async",  "await", "try",      "except",
                                            "finally", "raise",  "break", "continue", "lambda"};
      Iterator it = first;
      const std::string_view word = scan_word(it, last);
      if (std::find(std::begin(words), std::end(words), word) == std::end(words)) return false;
      out = word;
      first = it;
      return true;
    });
const auto rest_of_line = token("the rest of the line", [](Iterator& first, Iterator last) {
  while (first != last && *first != newline_mark) ++first;
  return true;
});
// A whole block of statements that are not looked at.
const auto skipped_block = token("an indented block", [](Iterator& first, Iterator last) {
  Iterator it = first;
  if (!scan_mark(it, last, indent_mark)) return false;
  for (int depth = 1; depth > 0; ++it) {
    if (it == last) return false;
    if (*it == indent_mark) ++depth;
    if (*it == dedent_mark) --depth;
  }
  first = it;
  return true;
});

// -------------------------------------------------------------------------------------------- rules

const x3::rule<struct statement_tag, ast::Block> statement = "a statement";
const x3::rule<struct suite_tag, ast::Block> suite = "an indented block";
const x3::rule<struct simple_line_tag, ast::Block> simple_line = "a statement";
const x3::rule<struct small_tag, ast::Stmt> small = "a statement";
const x3::rule<struct full_line_tag, ast::Stmt> full_line = "a statement";
const x3::rule<struct parts_tag, SimpleParts> parts = "a statement";
const x3::rule<struct list_tag, ExpressionList> expression_list = "an expression";
const x3::rule<struct targets_tag, ExpressionList> loop_target = "a loop variable";
const x3::rule<struct assertion_tag, ast::AssertStmt> assertion = "a statement";

const x3::rule<struct for_line_tag, ast::Stmt> for_line = "a statement";
const x3::rule<struct for_tag, ast::Stmt> for_statement = "a statement";
const x3::rule<struct if_line_tag, ast::Stmt> if_line = "a statement";
const x3::rule<struct elif_line_tag, ast::Stmt> elif_line = "a statement";
const x3::rule<struct else_line_tag, ast::Stmt> else_line = "a statement";
const x3::rule<struct branches_tag, Branches> branches = "a statement";
const x3::rule<struct with_item_tag, ast::WithItem> with_item = "a context";
const x3::rule<struct with_line_tag, ast::Stmt> with_line = "a statement";
const x3::rule<struct with_tag, ast::Stmt> with_statement = "a statement";

const x3::rule<struct name_tag, Word> name = "a name";
const x3::rule<struct decorator_tag, ast::Decorator> decorator = "a decorator";
const x3::rule<struct parameter_tag, ast::Param> parameter = "a parameter";
const x3::rule<struct return_tag, ast::WithItem> return_type = "a type";
const x3::rule<struct def_line_tag, ast::Stmt> def_line = "'def'";
const x3::rule<struct class_line_tag, ast::Stmt> class_line = "'class'";
const x3::rule<struct definition_tag, ast::Stmt> definition = "'def' or 'class'";

// -------------------------------------------------------------------------------------------- actions

int height_of(const ast::Block& block) {
  int h = 0;
  for (const ast::Stmt& s : block) h = std::max(h, s.height);
  return h;
}

// Gives the statement its body, through `member`, and its height.
template <class Node>
bool set_body(ast::Stmt& stmt, ast::Block Node::*member, ast::Block body, State& state) {
  stmt.height = std::max(stmt.height, 1 + height_of(body));
  std::get<Node>(stmt.node).*member = std::move(body);
  return stmt.height <= state.limits.max_nesting ||
         state.fail("L-02", stmt.span,
                    fmt::format("blocks, counting every 'elif' as one, are nested more than {} deep here",
                                state.limits.max_nesting));
}
template <class Node>
auto attach(ast::Block Node::*member) {
  return [member](auto& ctx) {
    x3::_pass(ctx) = set_body(x3::_val(ctx), member, std::move(x3::_attr(ctx)), state_of(ctx));
  };
}

const auto to_value = [](auto& ctx) { x3::_val(ctx) = std::move(x3::_attr(ctx)); };
const auto set_node = [](auto& ctx) { x3::_val(ctx).node = std::move(x3::_attr(ctx)); };
template <class Node>
auto make(Node node) {
  return [node](auto& ctx) { x3::_val(ctx).node = node; };
}
const auto add_stmt = [](auto& ctx) { x3::_val(ctx).push_back(std::move(x3::_attr(ctx))); };
const auto add_block = [](auto& ctx) {
  ast::Block& from = x3::_attr(ctx);
  std::move(from.begin(), from.end(), std::back_inserter(x3::_val(ctx)));
};

ast::ExprPtr to_expression(ExpressionList list) {
  if (list.items.size() == 1 && !list.trailing_comma) return std::move(list.items.front());
  ast::Tuple tuple;
  for (ast::ExprPtr& item : list.items) {
    const ast::Span span = item->span;
    tuple.items.push_back({std::nullopt, std::move(item), false, span});
  }
  return make_node(list.span, std::move(tuple));
}
const auto add_expression = [](auto& ctx) { x3::_val(ctx).items.push_back(std::move(x3::_attr(ctx))); };
const auto set_trailing = [](auto& ctx) { x3::_val(ctx).trailing_comma = true; };

const auto add_side = [](auto& ctx) {
  x3::_val(ctx).sides.push_back(to_expression(std::move(x3::_attr(ctx))));
};
const auto set_annotation = [](auto& ctx) { x3::_val(ctx).annotation = std::move(x3::_attr(ctx)); };
const auto set_augmented = [](auto& ctx) { x3::_val(ctx).augmented = std::move(x3::_attr(ctx)); };
const auto set_right = [](auto& ctx) { x3::_val(ctx).value = to_expression(std::move(x3::_attr(ctx))); };
const auto make_simple = [](auto& ctx) {
  SimpleParts& p = x3::_attr(ctx);
  auto& node = x3::_val(ctx).node;
  if (p.annotation) {
    node = ast::AnnotatedStmt{std::move(p.sides.front()), std::move(p.annotation), std::move(p.value)};
  } else if (!p.augmented.empty()) {
    node = ast::AugAssignStmt{std::move(p.augmented), std::move(p.sides.front()), std::move(p.value)};
  } else if (p.sides.size() == 1) {
    node = ast::ExprStmt{std::move(p.sides.front())};
  } else {
    ast::ExprPtr value = std::move(p.sides.back());
    p.sides.pop_back();
    node = ast::AssignStmt{std::move(p.sides), std::move(value)};
  }
};

const auto set_condition = [](auto& ctx) { x3::_val(ctx).condition = std::move(x3::_attr(ctx)); };
const auto set_message = [](auto& ctx) { x3::_val(ctx).message = std::move(x3::_attr(ctx)); };

const auto set_target = [](auto& ctx) {
  x3::_val(ctx).node = ast::ForStmt{to_expression(std::move(x3::_attr(ctx))), nullptr, {}, std::nullopt};
};
const auto set_range = [](auto& ctx) {
  std::get<ast::ForStmt>(x3::_val(ctx).node).range = std::move(x3::_attr(ctx));
};
const auto set_else = [](auto& ctx) {
  std::get<ast::ForStmt>(x3::_val(ctx).node).else_span = x3::_attr(ctx).span;
};

const auto set_if = [](auto& ctx) { x3::_val(ctx).node = ast::IfStmt{std::move(x3::_attr(ctx)), {}, {}}; };
const auto add_branch = [](auto& ctx) {
  x3::_val(ctx).conditions.push_back({std::move(x3::_attr(ctx)), {}});
};
const auto set_branch = [](auto& ctx) { x3::_val(ctx).conditions.back().body = std::move(x3::_attr(ctx)); };
const auto set_otherwise = [](auto& ctx) { x3::_val(ctx).otherwise = std::move(x3::_attr(ctx)); };
// Every `elif` becomes an `if` in the else block of the one before.
const auto make_if = [](auto& ctx) {
  Branches& b = x3::_attr(ctx);
  ast::Block otherwise = std::move(b.otherwise);
  while (!b.conditions.empty()) {
    Branch branch = std::move(b.conditions.back());
    b.conditions.pop_back();
    x3::_pass(ctx) = set_body(branch.line, &ast::IfStmt::else_body, std::move(otherwise), state_of(ctx)) &&
                     set_body(branch.line, &ast::IfStmt::then_body, std::move(branch.body), state_of(ctx));
    if (!x3::_pass(ctx)) return;
    otherwise.clear();
    otherwise.push_back(std::move(branch.line));
  }
  x3::_val(ctx).push_back(std::move(otherwise.front()));
};

const auto set_context = [](auto& ctx) { x3::_val(ctx).context = std::move(x3::_attr(ctx)); };
const auto set_as = [](auto& ctx) { x3::_val(ctx).as = std::move(x3::_attr(ctx)); };
const auto add_with_item = [](auto& ctx) {
  auto& node = x3::_val(ctx).node;
  if (!std::holds_alternative<ast::WithStmt>(node)) node = ast::WithStmt{};
  std::get<ast::WithStmt>(node).items.push_back(std::move(x3::_attr(ctx)));
};
// Under `with python:` anything may stand.
const auto is_foreign = [](auto& ctx) {
  const ast::ExprPtr& context = std::get<ast::WithStmt>(x3::_val(ctx).node).items.front().context;
  const auto* word = std::get_if<ast::Name>(&context->node);
  x3::_pass(ctx) = word != nullptr && word->text == "python";
};

const auto set_decorator = [](auto& ctx) { x3::_val(ctx).value = std::move(x3::_attr(ctx)); };
const auto set_name = [](auto& ctx) { x3::_val(ctx).name = std::move(x3::_attr(ctx)); };
const auto set_star = [](auto& ctx) { x3::_val(ctx).star = true; };
const auto set_parameter_type = [](auto& ctx) { x3::_val(ctx).annotation = std::move(x3::_attr(ctx)); };
const auto set_default = [](auto& ctx) { x3::_val(ctx).has_default = true; };

const auto set_def_name = [](auto& ctx) {
  ast::DefStmt def;
  def.name = std::move(x3::_attr(ctx).text);
  def.name_span = x3::_attr(ctx).span;
  x3::_val(ctx).node = std::move(def);
};
const auto add_parameter = [](auto& ctx) {
  ast::Param& p = x3::_attr(ctx);
  std::get<ast::DefStmt>(x3::_val(ctx).node).params.push_back(std::move(p));
};
const auto set_return = [](auto& ctx) {
  auto& def = std::get<ast::DefStmt>(x3::_val(ctx).node);
  def.has_return_type = true;
  def.return_span = x3::_attr(ctx).context->span;
};
const auto set_class_name = [](auto& ctx) {
  ast::ExprPtr e = std::move(x3::_attr(ctx));
  if (const auto* call = std::get_if<ast::CallExpr>(&e->node)) e = ast::ExprPtr(call->callee);
  const auto* word = std::get_if<ast::Name>(&e->node);
  x3::_pass(ctx) = word != nullptr || state_of(ctx).fail("E-P01", e->span, "expected the name of a class");
  if (word != nullptr) x3::_val(ctx).node = ast::ClassStmt{word->text, e->span, {}, {}};
};

struct Definition {
  std::vector<ast::Decorator> decorators;
  ast::Stmt stmt;
};
const x3::rule<struct decorated_tag, Definition> decorated = "a statement";
const auto add_decorator = [](auto& ctx) { x3::_val(ctx).decorators.push_back(std::move(x3::_attr(ctx))); };
const auto set_definition = [](auto& ctx) { x3::_val(ctx).stmt = std::move(x3::_attr(ctx)); };
// Only the classes of `@config` have a body that is read.
const auto is_config = [](auto& ctx) {
  const auto& decorators = x3::_val(ctx).decorators;
  x3::_pass(ctx) = std::any_of(decorators.begin(), decorators.end(), [](const ast::Decorator& d) {
    const ast::Expr* e = d.value.get();
    if (const auto* call = std::get_if<ast::CallExpr>(&e->node)) e = call->callee.get();
    const auto* word = std::get_if<ast::Name>(&e->node);
    return word != nullptr && word->text == "config";
  });
};
template <class Node>
auto attach_definition(ast::Block Node::*member) {
  return [member](auto& ctx) {
    x3::_pass(ctx) = set_body(x3::_val(ctx).stmt, member, std::move(x3::_attr(ctx)), state_of(ctx));
  };
}
const auto make_definition = [](auto& ctx) {
  Definition& d = x3::_attr(ctx);
  if (auto* def = std::get_if<ast::DefStmt>(&d.stmt.node)) def->decorators = std::move(d.decorators);
  if (auto* cls = std::get_if<ast::ClassStmt>(&d.stmt.node)) cls->decorators = std::move(d.decorators);
  x3::_val(ctx).push_back(std::move(d.stmt));
};

// -------------------------------------------------------------------------------------------- grammar

const auto expression_list_def = spanned[expression[add_expression] % comma >> -comma[set_trailing]];
const auto loop_target_def = spanned[operand[add_expression] % comma >> -comma[set_trailing]];

const auto parts_def = expression_list[add_side] >>
                       ((colon > expression[set_annotation] > -(assign > expression_list[set_right])) |
                        (augmented_assignment[set_augmented] > expression_list[set_right]) |
                        *(assign > expression_list[add_side]));
const auto assertion_def = keyword("assert") > expression[set_condition] > -(comma > expression[set_message]);
const auto small_def =
    spanned[keyword("pass")[make(ast::PassStmt{})] | assertion[set_node] | parts[make_simple]];
const auto simple_line_def = small[add_stmt] % semicolon >> -semicolon > newline;

const auto full_line_def =
    spanned[((keyword("import") | keyword("from")) > rest_of_line)[make(ast::ImportStmt{})] |
            (other_keyword[([](auto& ctx) {
               x3::_val(ctx).node = ast::OtherStmt{std::move(x3::_attr(ctx))};
             })] > rest_of_line)];

const auto suite_def = (newline > indent > +statement[add_block] > dedent) | simple_line[add_block];

const auto for_line_def =
    spanned[keyword("for") > loop_target[set_target] > keyword("in") > expression[set_range] > colon];
const auto else_line_def = spanned[keyword("else") > colon];
const auto for_statement_def = for_line[to_value] > suite[attach(&ast::ForStmt::body)] >
                               -(else_line[set_else] > suite);

const auto if_line_def = spanned[keyword("if") > expression[set_if] > colon];
const auto elif_line_def = spanned[keyword("elif") > expression[set_if] > colon];
const auto branches_def = if_line[add_branch] > suite[set_branch] >
                          *(elif_line[add_branch] > suite[set_branch]) > -(else_line > suite[set_otherwise]);

const auto with_item_def = expression[set_context] >> -(keyword("as") > expression[set_as]);
const auto with_line_def = spanned[keyword("with") > with_item[add_with_item] % comma > colon];
const auto foreign_suite = x3::eps[is_foreign] >> newline > skipped_block;
const auto with_statement_def = with_line[to_value] > (foreign_suite | suite[attach(&ast::WithStmt::body)]);

const auto decorator_def = spanned[sign('@') > operand[set_decorator]] > newline;
const auto parameter_def =
    spanned[(parameter_mark[set_star] >> -identifier[set_name] | identifier[set_name]) >>
            -(colon > expression[set_parameter_type]) >> -(assign > expression[set_default])];
const auto name_def =
    spanned[identifier[([](auto& ctx) { x3::_val(ctx).text = std::move(x3::_attr(ctx)); })]];
const auto return_type_def = expression[set_context];
const auto def_line_def =
    spanned[keyword("def") > name[set_def_name] > sign('(') > -(parameter[add_parameter] % comma >> -comma) >
            sign(')', "',' or ')'") > -(arrow > return_type[set_return]) > colon];
const auto class_line_def = spanned[keyword("class") > operand[set_class_name] > colon];
const auto class_suite = (x3::eps[is_config] > suite[attach_definition(&ast::ClassStmt::body)]) |
                         (newline > skipped_block) | suite;
const auto definition_def = def_line[to_value] | class_line[to_value];
const auto decorated_def = ((+decorator[add_decorator] > definition[set_definition]) |
                            definition[set_definition]) >
                           ((x3::eps[([](auto& ctx) {
                               x3::_pass(ctx) = std::holds_alternative<ast::DefStmt>(x3::_val(ctx).stmt.node);
                             })] > suite[attach_definition(&ast::DefStmt::body)]) |
                            class_suite);

const auto statement_def = for_statement[add_stmt] | branches[make_if] | with_statement[add_stmt] |
                           decorated[make_definition] | (full_line[add_stmt] > newline > -skipped_block) |
                           simple_line[add_block];

BOOST_SPIRIT_DEFINE(statement, suite, simple_line, small, full_line, parts, expression_list, loop_target,
                    assertion, for_line, for_statement, if_line, elif_line, else_line, branches, with_item,
                    with_line, with_statement, name, decorator, parameter, return_type, def_line, class_line,
                    definition, decorated)

}  // namespace

std::optional<SyntaxError> parse_statements(Iterator first, Iterator last, State& state, ast::Block& out) {
  const auto grammar = x3::with<state_tag>(std::ref(state))[*statement[([&out](auto& ctx) {
    ast::Block& from = x3::_attr(ctx);
    std::move(from.begin(), from.end(), std::back_inserter(out));
  })] > end_of_chunk];
  try {
    x3::parse(first, last, grammar);
  } catch (const x3::expectation_failure<Iterator>& failure) {
    return SyntaxError{failure.where(), failure.which()};
  }
  return std::nullopt;
}

}  // namespace exocheck::frontend::grammar
