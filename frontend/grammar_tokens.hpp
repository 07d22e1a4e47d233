// Tokens of the surface syntax (language.md 1): each scanner skips blanks, and on success moves `first`
// behind the token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/ast.hpp"
#include "frontend/grammar.hpp"

namespace exocheck::frontend::grammar {

void skip_blanks(Iterator& first, Iterator last);
// Any NAME or keyword; empty if there is none.
std::string_view scan_word(Iterator& first, Iterator last);
bool is_keyword(std::string_view word);

bool scan_identifier(Iterator& first, Iterator last, std::string& out);
bool scan_keyword(Iterator& first, Iterator last, std::string_view keyword);
// `name =`, not `name ==`: the start of a keyword argument.
bool scan_argument_name(Iterator& first, Iterator last, std::string& out);
// Adjacent literals are joined, escapes resolved.
bool scan_string(Iterator& first, Iterator last, std::string& out);
// Sets ast::Int or ast::Float.
bool scan_number(Iterator& first, Iterator last, ast::Expr& out);
// `...` or `<class ...>`.
bool scan_unparsed(Iterator& first, Iterator last, std::string& out);
// "-" "+" "~" "not"
bool scan_prefix_operator(Iterator& first, Iterator last, std::string& out);
// The operators of ast::Binary and ast::Compare; never the first half of `+=` and the like.
bool scan_binary_operator(Iterator& first, Iterator last, std::string& out);
// "+=" "-=" ...
bool scan_augmented_assignment(Iterator& first, Iterator last, std::string& out);
// `mark` is one of the pre-pass's marks.
bool scan_mark(Iterator& first, Iterator last, char mark);

// The token at `where` in the user's words, for "found ...".
std::string describe_token(Iterator where, Iterator last);
// The end of the token at `where`, for underlining.
Iterator token_end(Iterator where, Iterator last);

}  // namespace exocheck::frontend::grammar
