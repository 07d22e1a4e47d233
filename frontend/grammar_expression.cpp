// Expressions: Python's syntax and precedence (language.md 2.5-2.8). The X3 rules recognise operands,
// brackets and flat chains `operand op operand ...`; grammar_chain folds a chain by precedence, so that the
// grammar recurses once per bracket level and not once per precedence level.
#include "frontend/grammar_chain.hpp"
#include "frontend/grammar_x3.hpp"

namespace exocheck::frontend::grammar {
namespace {

// `, ... [,]` in brackets; a trailing comma makes a tuple of one.
struct Items {
  std::vector<ast::Argument> items;
  bool trailing_comma = false;
};
struct Subscripts {
  std::vector<ast::Item> items;
};
using Member = std::string;
using Suffix = std::variant<Items, Subscripts, Member>;
struct SpannedSuffix {
  Suffix suffix;
  ast::Span span;
};

const auto identifier = value_token<std::string>("a name", scan_identifier);
const auto argument_name = value_token<std::string>("a keyword argument", scan_argument_name);
const auto prefix_operator = value_token<std::string>("an operator", scan_prefix_operator);
const auto binary_operator = value_token<std::string>("an operator", scan_binary_operator);
const auto string_literal = value_token<std::string>("a string", scan_string);
const auto unparsed = value_token<std::string>("an expression", scan_unparsed);
const auto number = value_token<ast::Expr>("a number", scan_number);
const auto comma = sign(',');
const auto colon = sign(':');
const auto star = token("'*'", [](Iterator& first, Iterator last) {
  std::string op;
  Iterator it = first;
  if (!scan_binary_operator(it, last, op) || (op != "*" && op != "**")) return false;
  first = it;
  return true;
});

const x3::rule<struct expression_tag, Node> expression = "an expression";
const x3::rule<struct operand_tag, Operand> operand = "an expression";
const x3::rule<struct prefix_tag, Operator> prefix = "an operator";
const x3::rule<struct infix_tag, Operator> infix = "an operator";
const x3::rule<struct atom_tag, Node> atom = "an expression";
const x3::rule<struct argument_tag, ast::Argument> argument = "an argument";
const x3::rule<struct tuple_item_tag, ast::Argument> tuple_item = "an expression";
const x3::rule<struct item_tag, ast::Item> item = "a subscript";
const x3::rule<struct arguments_tag, Items> arguments = "arguments";
const x3::rule<struct tuple_tag, Items> tuple_items = "an expression";
const x3::rule<struct suffix_tag, SpannedSuffix> suffix = "a suffix";
const x3::rule<struct entry_tag, DictEntry> entry = "an expression";
const x3::rule<struct entries_tag, std::vector<DictEntry>> entries = "an entry";

// -------------------------------------------------------------------------------------------- actions

const auto to_value = [](auto& ctx) { x3::_val(ctx) = std::move(x3::_attr(ctx)); };

const auto add_item = [](auto& ctx) { x3::_val(ctx).items.push_back(std::move(x3::_attr(ctx))); };
const auto trailing = [](auto& ctx) { x3::_val(ctx).trailing_comma = true; };

const auto set_keyword = [](auto& ctx) { x3::_val(ctx).keyword = std::move(x3::_attr(ctx)); };
const auto set_star = [](auto& ctx) { x3::_val(ctx).star = true; };
const auto set_argument = [](auto& ctx) { x3::_val(ctx).value = std::move(x3::_attr(ctx)); };

const auto set_lo = [](auto& ctx) { x3::_val(ctx).lo = std::move(x3::_attr(ctx)); };
const auto set_hi = [](auto& ctx) { x3::_val(ctx).hi = std::move(x3::_attr(ctx)); };
const auto set_slice = [](auto& ctx) { x3::_val(ctx).slice = true; };
const auto set_step = [](auto& ctx) { x3::_val(ctx).has_step = true; };

const auto set_suffix = [](auto& ctx) { x3::_val(ctx).suffix = std::move(x3::_attr(ctx)); };
const auto set_subscripts = [](auto& ctx) { x3::_val(ctx).suffix = Subscripts{std::move(x3::_attr(ctx))}; };

const auto set_operator = [](auto& ctx) { x3::_val(ctx).text = std::move(x3::_attr(ctx)); };

const auto make_name = [](auto& ctx) { x3::_val(ctx) = make_node({}, ast::Name{std::move(x3::_attr(ctx))}); };
const auto make_string = [](auto& ctx) {
  x3::_val(ctx) = make_node({}, ast::String{std::move(x3::_attr(ctx))});
};
const auto make_unparsed = [](auto& ctx) {
  x3::_val(ctx) = make_node({}, ast::Unparsed{std::move(x3::_attr(ctx))});
};
const auto make_number = [](auto& ctx) { x3::_val(ctx) = make_node({}, std::move(x3::_attr(ctx).node)); };
template <class Constant>
auto make_constant(Constant value) {
  return [value](auto& ctx) { x3::_val(ctx) = make_node({}, value); };
}
// `(e)` keeps its node; `()`, `(e,)` and `(a, b)` are tuples.
const auto make_parenthesized = [](auto& ctx) {
  Items& items = x3::_attr(ctx);
  if (items.items.size() == 1 && !items.trailing_comma && !items.items.front().star) {
    x3::_val(ctx) = parenthesize(items.items.front().value);
  } else {
    x3::_val(ctx) = make_node({}, ast::Tuple{std::move(items.items)});
  }
};
const auto make_list = [](auto& ctx) {
  ast::List list;
  for (ast::Argument& a : x3::_attr(ctx).items) list.items.push_back(std::move(a.value));
  x3::_val(ctx) = make_node({}, std::move(list));
};
const auto make_dict = [](auto& ctx) { x3::_val(ctx) = make_node({}, ast::Dict{std::move(x3::_attr(ctx))}); };

const auto set_key = [](auto& ctx) { x3::_val(ctx).first = std::move(x3::_attr(ctx)); };
const auto set_mapped = [](auto& ctx) { x3::_val(ctx).second = std::move(x3::_attr(ctx)); };
const auto add_entry = [](auto& ctx) { x3::_val(ctx).push_back(std::move(x3::_attr(ctx))); };

const auto add_prefix = [](auto& ctx) { x3::_val(ctx).prefixes.push_back(std::move(x3::_attr(ctx))); };
const auto set_atom = [](auto& ctx) { x3::_val(ctx).value = std::move(x3::_attr(ctx)); };
const auto apply_suffix = [](auto& ctx) {
  SpannedSuffix& s = x3::_attr(ctx);
  Node& value = x3::_val(ctx).value;
  const ast::Span span = semantics::cover(value->span, s.span);
  if (auto* call = std::get_if<Items>(&s.suffix)) {
    value = make_node(span, ast::CallExpr{value, std::move(call->items)});
  } else if (auto* subscripts = std::get_if<Subscripts>(&s.suffix)) {
    value = make_node(span, ast::Subscript{value, std::move(subscripts->items)});
  } else {
    std::string& name = std::get<Member>(s.suffix);
    const auto length = static_cast<std::uint32_t>(name.size());
    const ast::Span name_span{s.span.end - length, s.span.end};
    value = make_node(span, ast::Attribute{value, std::move(name), name_span});
  }
  x3::_pass(ctx) = check_height(*value, state_of(ctx));
};

// -------------------------------------------------------------------------------------------- rules

// A list item cannot be splatted, so a list is a tuple without stars in the tree.
const auto star_or_value = (star > expression[set_argument] >> x3::eps[set_star]) | expression[set_argument];

const auto tuple_item_def = spanned[star_or_value];
const auto argument_def = spanned[(argument_name[set_keyword] > expression[set_argument]) | star_or_value];
const auto tuple_items_def = -(tuple_item[add_item] % comma >> -comma[trailing]);
const auto arguments_def = -(argument[add_item] % comma >> -comma[trailing]);

const auto slice_tail = colon[set_slice] >> -expression[set_hi] >> -(colon[set_step] >> -expression);
const auto item_def = spanned[(expression[set_lo] >> -slice_tail) | slice_tail];

const auto entry_def = expression[set_key] >> -(colon > expression[set_mapped]);
const auto entries_def = -(entry[add_entry] % comma >> -comma);

const auto atom_def =
    spanned[(sign('(') > tuple_items > sign(')', "',' or ')'"))[make_parenthesized]  //
            | (sign('[') > tuple_items > sign(']', "',' or ']'"))[make_list]         //
            | (sign('{') > entries > sign('}', "',' or '}'"))[make_dict]             //
            | number[make_number]                                                    //
            | keyword("True")[make_constant(ast::Bool{true})]                        //
            | keyword("False")[make_constant(ast::Bool{false})]                      //
            | keyword("None")[make_constant(ast::None{})]                            //
            | string_literal[make_string] | unparsed[make_unparsed] | identifier[make_name]];

const auto subscript_list = item % comma >> -comma;
const auto suffix_def = spanned[(sign('(') > arguments > sign(')', "',' or ')'"))[set_suffix]             //
                                | (sign('[') > subscript_list > sign(']', "',' or ']'"))[set_subscripts]  //
                                | (sign('.') > identifier)[set_suffix]];

const auto prefix_def = spanned[prefix_operator[set_operator]];
const auto infix_def = spanned[binary_operator[set_operator]];
const auto operand_def = *prefix[add_prefix] >> atom[set_atom] >> *suffix[apply_suffix];

// -------------------------------------------------------------------------------------------- chains

const x3::rule<struct chain_tag, Node> chain = "an expression";
const x3::rule<struct links_tag, Chain> links = "an expression";

const auto add_operand = [](auto& ctx) { x3::_val(ctx).operands.push_back(std::move(x3::_attr(ctx))); };
const auto add_operator = [](auto& ctx) { x3::_val(ctx).operators.push_back(std::move(x3::_attr(ctx))); };
const auto fold = [](auto& ctx) {
  x3::_val(ctx) = fold_chain(std::move(x3::_attr(ctx)), state_of(ctx));
  x3::_pass(ctx) = x3::_val(ctx) != nullptr;
};
const auto links_def = operand[add_operand] >> *(infix[add_operator] > operand[add_operand]);
const auto chain_def = links[fold];

const x3::rule<struct choices_tag, std::vector<Node>> choices = "an expression";
const auto add_choice = [](auto& ctx) { x3::_val(ctx).push_back(std::move(x3::_attr(ctx))); };
const auto choices_def = chain[add_choice] >>
                         *(keyword("if") > chain[add_choice] > keyword("else") > chain[add_choice]);
const auto fold_choices = [](auto& ctx) {
  x3::_val(ctx) = fold_conditional(std::move(x3::_attr(ctx)), state_of(ctx));
  x3::_pass(ctx) = x3::_val(ctx) != nullptr;
};
const auto expression_def = choices[fold_choices];

BOOST_SPIRIT_DEFINE(expression, operand, prefix, infix, atom, argument, tuple_item, item, arguments,
                    tuple_items, suffix, entry, entries, chain, links, choices)

template <class Parser, class Value>
bool run(const Parser& parser, Iterator& first, Iterator last, State& state, Value& value) {
  return x3::parse(first, last, x3::with<state_tag>(std::ref(state))[parser], value);
}

}  // namespace

bool parse_expression(Iterator& first, Iterator last, State& state, ast::ExprPtr& out) {
  Node node;
  if (!run(expression, first, last, state, node)) return false;
  out = std::move(node);
  return true;
}

bool parse_operand(Iterator& first, Iterator last, State& state, ast::ExprPtr& out) {
  Operand result;
  if (!run(operand, first, last, state, result)) return false;
  Chain single;
  single.operands.push_back(std::move(result));
  out = fold_chain(std::move(single), state);
  return out != nullptr;
}

}  // namespace exocheck::frontend::grammar
