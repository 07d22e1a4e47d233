#include "semantics/inference_term.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "semantics/errors.hpp"

namespace exocheck::semantics {
namespace {

// ------------------------------------------------------------------------------------------------ reading
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Term whole() {
    Term t = term();
    blanks();
    ensure(at_ == text_.size(), "text behind a term");
    return t;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  Term term() {
    blanks();
    ensure(at_ < text_.size(), "unfinished term");
    if (text_[at_] != '(') return {word(), {}};
    ++at_;
    blanks();
    Term t;
    // A list of bound variables begins with one of them: `(forall (p q) body)`.
    if (text_[at_] != '(') t.head = word();
    for (blanks(); at_ < text_.size() && text_[at_] != ')'; blanks()) t.arguments.push_back(term());
    ensure(at_ < text_.size(), "unclosed parenthesis in a term");
    ++at_;
    if (t.head == "forall" || t.head == "exists") {
      Term& variables = t.arguments.at(0);
      variables.arguments.insert(variables.arguments.begin(), Term{variables.head, {}});
      variables.head.clear();
    }
    return t;
  }
  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != ')' &&
           std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
      ++at_;
    }
    ensure(at_ > begin, "a word of a term");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// ------------------------------------------------------------------------------------------------ printing
// `{0}` is an argument that stands alone, `{0!}` one that is parenthesised unless it is atomic.
// `level`: how tightly the printed form binds: 0 never needs parentheses as an argument, 9 always does.
struct Form {
  const char* rocq;
  const char* text;
  const char* latex;
  int level = 9;
};

const std::unordered_map<std::string_view, Form>& forms() {
  static const std::unordered_map<std::string_view, Form> all{
      // judgements
      {"step", {"sstep m {0!} {1!} {2!}", "{0!} --[ {1} ]--> {2}", R"({0!} \xrightarrow{\;{1}\;} {2})"}},
      {"event", {"({0}, {1})", "{0}: {1}", R"({0} : {1})"}},
      {"OK", {"OK {0!}", "{0}", "{0}"}},
      {"ER",
       {"ER ({0}, {1}, {2})", "error({1}, statement {0}, element {2})", R"(\mathsf{error}({1}, {0}, {2}))",
        0}},
      {"big",
       {"big m stride {0!} {1!} {2!} {3!} {4!}", "<{0}, task {1}, {2}, {3}> => {4}",
        R"(\langle {0}, {1}, {2}, {3} \rangle \Downarrow {4})"}},
      {"loop",
       {"loop m stride {0!} {1!} {2!} {3!} {4!} {5!} {6!} {7!}",
        "<{0} from {3} to {4} do {1}, task {5}, {2}, {6}> => {7}",
        R"(\langle {0} \in [{3}, {4})\colon {1}, {5}, {2}, {6} \rangle \Downarrow {7})"}},
      {"BOK", {"BOK {0!} {1!}", "(task {0}, {1})", R"(({0}, {1}))", 0}},
      {"BER", {"BER {0!}", "error {0}", R"(\mathsf{error}\;{0})"}},
      {"failed", {"ER {0!}", "error {0}", R"(\mathsf{error}\;{0})"}},
      {"bind", {"({0}, {1}) :: {2!}", "{2}[{0} := {1}]", R"({2}[{0} := {1}])"}},
      {"leaf", {"({0}, leval stride {1!} {2!} {3!} {4!})", "{0}: {4} of threads {3}", R"({0} : {4}@{3})"}},
      // propositional logic
      {"and", {"{0!} /\\ {1!}", "{0!} and {1!}", R"({0!} \land {1!})", 6}},
      {"or", {"{0!} \\/ {1!}", "{0!} or {1!}", R"({0!} \lor {1!})", 7}},
      {"imp", {"{0!} -> {1!}", "if {0!} then {1!}", R"({0!} \Rightarrow {1!})", 8}},
      {"not", {"~ {0!}", "not {0!}", R"(\lnot {0!})", 4}},
      {"eq", {"{0!} = {1!}", "{0!} = {1!}", "{0!} = {1!}", 5}},
      {"ne", {"{0!} <> {1!}", "{0!} != {1!}", R"({0!} \neq {1!})", 5}},
      {"iff", {"{0!} = {1!}", "{0} iff {1}", R"({0} \iff {1})", 9}},
      // sets
      {"In", {"In {0!} {1!}", "{0!} in {1!}", R"({0!} \in {1!})", 5}},
      {"mem", {"mem {0!} {1!} = true", "{0!} in {1!}", R"({0!} \in {1!})", 5}},
      {"bit", {"bit {0!} {1!} = true", "{1!} in {0!}", R"({1!} \in {0!})", 5}},
      {"nobit", {"bit {0!} {1!} = false", "{1!} not in {0!}", R"({1!} \notin {0!})", 5}},
      {"V", {"V {0!} {1!} {2!} {3!}", "({1}, {2}, {3}) in V({0})", R"(({1}, {2}, {3}) \in V({0}))", 5}},
      {"P", {"P {0!} {1!} {2!} {3!}", "({1}, {2}, {3}) in P({0})", R"(({1}, {2}, {3}) \in P({0}))", 5}},
      {"sR", {"sR {0!} {1!} {2!}", "{2} in reads({0}, {1})", R"({2} \in R_{{0}}({1}))", 5}},
      {"sM", {"sM {0!} {1!} {2!}", "{2} in mutates({0}, {1})", R"({2} \in M_{{0}}({1}))", 5}},
      {"sel",
       {"sel {0!} {1!} {2!} {3!}", "{3} in records({0}, {1}, {2})", R"({3} \in \mathit{sel}_{{0}}({1}, {2}))",
        5}},
      // numbers
      {"le", {"({0} <= {1})%Z", "{0!} <= {1!}", R"({0!} \le {1!})", 5}},
      {"lt", {"({0} < {1})%Z", "{0!} < {1!}", "{0!} < {1!}", 5}},
      {"before", {"({0} < {1})%nat", "{0!} < {1!}", "{0!} < {1!}", 5}},
      {"leb", {"({0} <=? {1})%Z", "{0!} <= {1!}", R"({0!} \le {1!})", 5}},
      {"add", {"({0!} + {1!})%Z", "{0!} + {1!}", "{0!} + {1!}", 3}},
      {"sub", {"({0!} - {1!})%Z", "{0!} - {1!}", "{0!} - {1!}", 3}},
      {"max", {"Z.max {0!} {1!}", "max({0}, {1})", R"(\max({0}, {1}))", 0}},
      {"if",
       {"if {0} then {1} else {2}", "if {0} then {1} else {2}",
        R"(\text{if } {0} \text{ then } {1} \text{ else } {2})"}},
      // the state
      {"sa", {"sa {0!} {1!}", "arrivals({0}, {1})", R"(a_{{0}}({1}))", 0}},
      {"sw", {"sw {0!} {1!}", "awaits({0}, {1})", R"(w_{{0}}({1}))", 0}},
      {"arrivals", {"sa {0!}", "arrivals({0})", R"(a_{{0}})", 0}},
      {"awaits", {"sw {0!}", "awaits({0})", R"(w_{{0}})", 0}},
      {"set", {"set {0!} {1!} {2!}", "{0}[{1} := {2}]", R"({0}[{1} := {2}])", 0}},
      {"upd", {"upd m {0!} {1!}", "upd({0}, {1})", R"(\mathit{upd}_{{1}}({0}))", 0}},
      {"updated", {"upd m {0!} {1!} {2!}", "upd({0}, {1})({2})", R"(\mathit{upd}_{{1}}({0})({2}))", 0}},
      {"record",
       {"record m {0!} {1!} {2!} {3!} {4!} {5!} {6!} {7!} {8!}",
        "record({0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8})", nullptr, 0}},
      {"NewRec",
       {"NewRec m {0!} {1!} {2!} {3!} {4!} {5!}", "NewRec({0}, {1}, {2}, {3}, {4}, {5})", nullptr, 0}},
      {"NewRecs",
       {"NewRecs m {0!} {1!} {2!} {3!} {4!} {5!} {6!} {7!}",
        "{7} in NewRecs({0}, {1}, {2}, {3}, {4}, {5}, {6})",
        R"({7} \in \mathit{NewRecs}({0}, {1}, {2}, {3}, {4}, {5}, {6}))", 5}},
      {"effV",
       {"effV m {0!} {1!} {2!} {3!} {4!}", "({2}, {3}, {4}) in effV({0}, {1})",
        R"(({2}, {3}, {4}) \in \mathit{eff}_V({0}, {1}))", 5}},
      {"prog_bad",
       {"prog_bad m {0!} {1!} {2!} {3!}", "stuck({0}, {1}, {2}, {3})",
        R"(\mathit{stuck}({0}, {1}, {2}, {3}))", 0}},
      {"grouped", {"grouped m {0!} {1!}", "shared({0}, {1})", R"(\mathit{shared}({0}, {1}))", 0}},
      {"keeps", {"keeps m {0!} {1!} {2!}", "keeps({0}, {1}, {2})", R"(\mathit{keeps}({0}, {1}, {2}))", 0}},
      {"fun", {"fun {0} => {1}", "({0} |-> {1})", R"(({0} \mapsto {1}))"}},
      {"split",
       {"{0!} ++ {1!} :: {2!}", "{0!} ++ [{1}] ++ {2!}",
        R"({0!} \mathbin{+\!\!+} [{1}] \mathbin{+\!\!+} {2!})"}},
      {"m_in", {"m_in m", "InOrder", R"(\mathit{InOrder})", 0}},
      {"m_ooo", {"m_ooo m", "OutOfOrder", R"(\mathit{OutOfOrder})", 0}},
      {"m_sf", {"m_sf m", "StrongFull", R"(\mathit{StrongFull})", 0}},
      {"m_st", {"m_st m", "StrongTemporal", R"(\mathit{StrongTemporal})", 0}},
      {"m_wt", {"m_wt m", "Weak", R"(\mathit{Weak})", 0}},
      // the graph
      {"touched", {"touched m ev i r0 {0!} {1!}", "touched({0}, {1})", R"(\mathit{touched}({0}, {1}))", 0}},
      {"edge0", {"edge0 ev i r0 {0!} {1!}", "edge0({0}, {1})", R"(\mathit{edge}_0({0}, {1}))", 0}},
      {"edge",
       {"edge m ev r0 {0!} {1!} {2!} {3!}", "edge({0}, {1}, {2}, {3})",
        R"(\mathit{edge}({0}, {1}, {2}, {3}))", 0}},
      {"level",
       {"level m ev i r0 {0!} {1!} {2!} {3!}", "({1}, {2}, {3}) in level({0})",
        R"(({1}, {2}, {3}) \in \mathit{level}({0}))", 5}},
      {"out_tl",
       {"out_tl m ev {0!} {1!} {2!} {3!} {4!}", "({2}, {3}, {4}) in out({0}, {1})",
        R"(({2}, {3}, {4}) \in \mathit{out}({0}, {1}))", 5}},
      {"in_tl",
       {"in_tl ev {0!} {1!} {2!} {3!}", "({2}, {3}) in in({0}, {1})",
        R"(({2}, {3}) \in \mathit{in}({0}, {1}))", 5}},
      {"out_p",
       {"out_p ev {0!} {1!} {2!}", "({1}, {2}) in arrivals({0})", R"(({1}, {2}) \in \mathit{arr}({0}))", 5}},
      {"in_p",
       {"in_p ev {0!} {1!} {2!}", "({1}, {2}) in awaited({0})", R"(({1}, {2}) \in \mathit{aw}({0}))", 5}},
      {"keepP",
       {"keepP ev {0!} {1!} {2!}", "no new generation of {2} between {0} and {1}",
        R"(\mathit{keep}({0}, {1}, {2}))", 5}},
      {"live",
       {"live m ev {0!} {1!} {2!} {3!}", "live({0}, {1}, {2}, {3})", R"(\mathit{live}({0}, {1}, {2}, {3}))",
        0}},
      {"ev", {"ev {0!}", "event {0}", R"(\mathit{ev}({0}))", 0}},
      {"clears",
       {"clears m {0!} {1!} {2!}", "clears({0}, {1}, {2})", R"(\mathit{clears}({0}, {1}, {2}))", 0}},
  };
  return all;
}

int level(const Term& t) {
  if (t.arguments.empty() && !forms().contains(t.head)) return 0;
  const auto form = forms().find(t.head);
  if (form != forms().end()) return form->second.level;
  return t.head == "forall" || t.head == "exists" ? 9 : 1;
}

std::string latex_word(const std::string& word) {
  static const std::unordered_map<std::string_view, const char*> greek{
      {"sg", R"(\sigma)"},     {"true", R"(\mathsf{true})"}, {"false", R"(\mathsf{false})"},
      {"ft", R"(\mathsf{t})"}, {"fa", R"(\mathsf{a})"},      {"ff", R"(\mathsf{f})"},
      {"fi", R"(\mathsf{i})"}, {"fI", R"(\mathsf{I})"},      {"None", R"(\bot)"}};
  if (const auto it = greek.find(word); it != greek.end()) return it->second;
  std::string letters = word, digits;
  while (letters.size() > 1 && std::isdigit(static_cast<unsigned char>(letters.back())) != 0) {
    digits.insert(digits.begin(), letters.back());
    letters.pop_back();
  }
  std::string escaped;
  for (const char c : letters) escaped += c == '_' ? "\\_" : std::string(1, c);
  std::string out = letters.size() == 1 ? letters : "\\mathit{" + escaped + "}";
  return digits.empty() ? out : out + "_{" + digits + "}";
}

class Printer {
 public:
  explicit Printer(Notation notation) : notation_(notation) {}

  std::string term(const Term& t) const {
    const auto form = forms().find(t.head);
    if (form != forms().end()) {
      const char* text = notation_ == Notation::rocq   ? form->second.rocq
                         : notation_ == Notation::text ? form->second.text
                                                       : form->second.latex;
      if (text != nullptr) return filled(text, t);
    }
    if (t.head == "forall" || t.head == "exists") return binder(t);
    if (t.arguments.empty()) return notation_ == Notation::latex ? latex_word(t.head) : t.head;
    std::string out = notation_ == Notation::latex ? latex_word(t.head) : t.head;
    if (notation_ == Notation::rocq) {
      for (const Term& a : t.arguments) out += " " + operand(a, t);
      return out;
    }
    std::string list;
    for (const Term& a : t.arguments) list += (list.empty() ? "" : ", ") + term(a);
    return out + "(" + list + ")";
  }

 private:
  std::string operand(const Term& t, const Term& outer) const {
    const int inner = level(t);
    const bool chain = t.head == outer.head && (t.head == "and" || t.head == "or");
    if (chain && notation_ != Notation::rocq) return term(t);
    // Rocq: whatever is not a single word stands in parentheses.
    const bool wrap = notation_ == Notation::rocq
                          ? !t.arguments.empty() || inner > 0 || forms().contains(t.head)
                          : inner > std::max(level(outer) - 1, 1);
    return wrap ? "(" + term(t) + ")" : term(t);
  }
  std::string filled(const char* form, const Term& t) const {
    std::string out;
    for (const char* c = form; *c != '\0'; ++c) {
      if (c[0] == '{' && std::isdigit(static_cast<unsigned char>(c[1])) != 0 &&
          (c[2] == '}' || c[2] == '!')) {
        const Term& argument = t.arguments.at(static_cast<std::size_t>(c[1] - '0'));
        const bool tight = c[2] == '!';
        out += tight ? operand(argument, t) : term(argument);
        c += tight ? 3 : 2;
      } else {
        out += *c;
      }
    }
    return out;
  }
  std::string binder(const Term& t) const {
    std::string variables;
    const std::string_view comma = notation_ == Notation::rocq ? " " : ", ";
    for (const Term& v : t.arguments.at(0).arguments)
      variables += (variables.empty() ? "" : std::string(comma)) + term(v);
    const std::string body = term(t.arguments.at(1));
    switch (notation_) {
      case Notation::rocq:
        return t.head + " " + variables + ", " + body;
      case Notation::text:
        return (t.head == "forall" ? "for all " : "there are ") + variables + ": " + body;
      case Notation::latex:
        return "\\" + t.head + " " + variables + ".\\, " + body;
    }
    throw InternalError("unknown notation");
  }

  Notation notation_;
};

}  // namespace

Term parse_term(std::string_view text) { return Reader(text).whole(); }

std::string print(const Term& term, Notation notation) { return Printer(notation).term(term); }

}  // namespace exocheck::semantics
