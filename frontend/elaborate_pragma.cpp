#include "frontend/elaborate_pragma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "frontend/elaborate_sync.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using semantics::Dialect;

constexpr std::string_view pragma_rule = "E-P77";
constexpr std::string_view prefix = "exocheck:";

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

std::uint32_t block_end(const ast::Block& block, std::uint32_t end);

std::uint32_t stmt_end(const ast::Stmt& s) {
  std::uint32_t end = s.span.end;
  if (const auto* f = std::get_if<ast::ForStmt>(&s.node)) end = block_end(f->body, end);
  if (const auto* i = std::get_if<ast::IfStmt>(&s.node))
    end = block_end(i->else_body, block_end(i->then_body, end));
  if (const auto* w = std::get_if<ast::WithStmt>(&s.node)) end = block_end(w->body, end);
  if (const auto* d = std::get_if<ast::DefStmt>(&s.node)) end = block_end(d->body, end);
  if (const auto* c = std::get_if<ast::ClassStmt>(&s.node)) end = block_end(c->body, end);
  return end;
}

std::uint32_t block_end(const ast::Block& block, std::uint32_t end) {
  return block.empty() ? end : std::max(end, stmt_end(block.back()));
}

// ------------------------------------------------------------------------- size comments

std::optional<std::int64_t> size_value(std::string_view text, ir::SymbolKind kind) {
  if (kind == ir::SymbolKind::boolean) {
    if (text == "true" || text == "True" || text == "1") return 1;
    if (text == "false" || text == "False" || text == "0") return 0;
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

bool add_size(Context& cx, Span span, std::string_view item, ir::SizeSet& out) {
  const auto bad = [&](std::string message) {
    cx.report(pragma_rule, span, std::move(message));
    return false;
  };
  const std::size_t equals = item.find('=');
  const std::string name(trim(item.substr(0, equals)));
  const std::string_view text =
      equals == std::string_view::npos ? std::string_view() : trim(item.substr(equals + 1));
  if (name.empty() || text.empty()) return bad(fmt::format("`{}` is not of the form NAME=VALUE", trim(item)));
  const auto& parameters = cx.procedure.parameters;
  const auto p = std::find_if(parameters.begin(), parameters.end(),
                              [&](ir::SymId id) { return cx.symbol(id).name == name; });
  if (p == parameters.end() || !cx.symbol(*p).control()) {
    return bad(fmt::format("`{}` has no control parameter `{}`", cx.procedure.name, name));
  }
  const ir::Symbol& s = cx.symbol(*p);
  if (s.kind == ir::SymbolKind::stride)
    return bad(fmt::format("`{}` is a stride; its value is computed", name));
  const auto value = size_value(text, s.kind);
  if (!value) {
    return bad(fmt::format("`{}` is no value for {}", text, describe(s)));
  }
  if (s.kind == ir::SymbolKind::size && *value < 0) {
    return bad(fmt::format("the size `{}` cannot be negative ({})", name, *value));
  }
  if (std::any_of(out.begin(), out.end(), [&](const auto& other) { return other.first == name; })) {
    return bad(fmt::format("`{}` is given twice", name));
  }
  out.emplace_back(name, *value);
  return true;
}

// ------------------------------------------------------------------------- dialect marks

struct Mark {
  Dialect dialect = Dialect::P;
  Span span;
  std::string what;
};

constexpr std::array<std::pair<std::string_view, Dialect>, 8> marking_names{
    {{"CudaCommitGroup", Dialect::P},
     {"cuda_async_proxy", Dialect::P},
     {"cuda_async_proxy_wgmma", Dialect::P},
     {"ring_buffer_by", Dialect::R},
     {"CudaMbarrierPreArrive", Dialect::R},
     {"Sm80_CommitGroup", Dialect::R},
     {"Sm90_TmaCommitGroup", Dialect::R},
     {"Sm90_WgmmaCommitGroup", Dialect::R}}};

class MarkFinder {
 public:
  explicit MarkFinder(const Context& cx) : cx_(cx) {}

  void visit(const ast::Block& block) {
    for (const ast::Stmt& s : block) visit(s);
  }
  const std::vector<Mark>& marks() const { return marks_; }
  // A launch keyword of R that P accepts, too (decisions.md D12): it decides only where nothing else does.
  bool weak_r() const { return weak_r_; }

 private:
  void visit(const ast::Stmt& s) {
    if (const auto* a = std::get_if<ast::AnnotatedStmt>(&s.node)) annotation(*a->annotation);
    if (const auto* e = std::get_if<ast::ExprStmt>(&s.node)) expression(*e->value);
    if (const auto* f = std::get_if<ast::ForStmt>(&s.node)) visit(f->body);
    if (const auto* i = std::get_if<ast::IfStmt>(&s.node)) {
      visit(i->then_body);
      visit(i->else_body);
    }
    if (const auto* w = std::get_if<ast::WithStmt>(&s.node)) {
      for (const ast::WithItem& item : w->items) context(*item.context);
      visit(w->body);
    }
  }

  void add(Dialect dialect, Span span, std::string what) {
    marks_.push_back({dialect, span, std::move(what)});
  }

  void name(const ast::Expr& e) {
    const auto* n = std::get_if<ast::Name>(&e.node);
    if (!n) return;
    std::string text = n->text;
    // A constant may stand for a mechanism or a timeline.
    if (const auto c = cx_.constants().find(text); c != cx_.constants().end()) text = meta_text(c->second);
    for (const auto& [mark, dialect] : marking_names) {
      if (text.substr(0, text.find('(')) == mark) add(dialect, e.span, text);
      if (text.starts_with("tcgen05_") && mark == marking_names[0].first) add(Dialect::R, e.span, text);
    }
  }

  // barrier(g)[n @ ring_buffer_by(2)] @ M, f32[...].ring_guarded_by(z) @ M
  void annotation(const ast::Expr& e) {
    if (const auto* b = std::get_if<ast::Binary>(&e.node)) {
      annotation(*b->left);
      annotation(*b->right);
    } else if (const auto* call = std::get_if<ast::CallExpr>(&e.node)) {
      const auto* callee = std::get_if<ast::Name>(&call->callee->node);
      if (callee && callee->text == "barrier") {
        add(Dialect::P, e.span, "barrier(g)");
      } else {
        annotation(*call->callee);
      }
    } else if (const auto* attribute = std::get_if<ast::Attribute>(&e.node)) {
      if (attribute->name == "ring_guarded_by") add(Dialect::R, attribute->name_span, ".ring_guarded_by");
      annotation(*attribute->base);
    } else if (const auto* s = std::get_if<ast::Subscript>(&e.node)) {
      annotation(*s->base);
      for (const ast::Item& item : s->items) {
        if (item.lo) annotation(*item.lo);
      }
    } else {
      name(e);
    }
  }

  void expression(const ast::Expr& e) {
    const ShiftChain chain = shift_chain(e);
    const auto* call = std::get_if<ast::CallExpr>(&chain.head->node);
    const auto* callee = call ? std::get_if<ast::Name>(&call->callee->node) : nullptr;
    if (!callee || !is_sync_name(callee->text)) return;
    for (const ast::Argument& a : call->arguments) name(*a.value);
    if (callee->text == "Await" && call->arguments.size() == 3) negative_n(*call->arguments[2].value);
  }
  void negative_n(const ast::Expr& e) {
    const MetaResult result = evaluate_meta(e, cx_.constants(), cx_.source(), "E-P50");
    const auto* v = std::get_if<MetaValue>(&result);
    const auto n = v ? meta_int(*v) : std::nullopt;
    if (n && *n < 0) add(Dialect::P, e.span, fmt::format("an Await with N = {}", cx_.text(e)));
  }

  void context(const ast::Expr& e) {
    const auto* call = std::get_if<ast::CallExpr>(&e.node);
    if (!call) return;
    for (const ast::Argument& a : call->arguments) {
      weak_r_ = weak_r_ || a.keyword == "unsafe_no_shutdown_cluster_sync";
    }
  }

  const Context& cx_;
  std::vector<Mark> marks_;
  bool weak_r_ = false;
};

std::optional<Dialect> dialect_name(std::string_view text) {
  if (text == "P" || text == "Q") return Dialect::P;
  if (text == "R" || text == "H") return Dialect::R;
  return std::nullopt;
}

class PragmaReader {
 public:
  PragmaReader(const ast::File& file, const std::vector<DefRange>& defs, semantics::Diagnostics& out)
      : file_(file), defs_(defs), out_(out) {
    result_.sizes.resize(defs.size());
  }

  Pragmas read() {
    for (const ast::Comment& c : file_.comments) {
      std::string_view text = trim(c.text);
      if (!text.starts_with(prefix)) continue;
      text = trim(text.substr(prefix.size()));
      if (text.starts_with("dialect=")) {
        dialect(c, trim(text.substr(8)));
      } else if (text.starts_with("sizes")) {
        sizes(c, trim(text.substr(5)));
      } else if (!text.starts_with("ignore")) {
        error(c, fmt::format("there is no comment `exocheck: {}`; write dialect=, sizes or ignore", text));
      }
    }
    return std::move(result_);
  }

 private:
  void error(const ast::Comment& c, std::string message) {
    out_.push_back(semantics::make_diagnostic(pragma_rule, {file_.source, c.span}, std::move(message)));
  }

  void dialect(const ast::Comment& c, std::string_view text) {
    const auto named = dialect_name(text);
    if (!named) {
      error(c, fmt::format("there is no dialect `{}`; write P or R", text));
    } else if (!defs_.empty() && c.span.begin > defs_.front().header.begin) {
      error(c, "the dialect comment stands before the first def of the file");
    } else if (result_.dialect && result_.dialect != named) {
      error(c, "the file already names another dialect");
    } else {
      result_.dialect = named;
    }
  }

  // To the def whose header or first statement follows.
  void sizes(const ast::Comment& c, std::string_view text) {
    const auto def = std::partition_point(defs_.begin(), defs_.end(),
                                          [&](const DefRange& d) { return d.first.begin <= c.span.begin; });
    const bool inside_previous = def != defs_.begin() && c.span.begin < std::prev(def)->span.end;
    const bool inside_header =
        def != defs_.end() && c.span.begin >= def->header.begin && c.span.begin < def->header.end;
    if (def != defs_.end() && !inside_previous && !inside_header) {
      result_.sizes[static_cast<std::size_t>(def - defs_.begin())].push_back({c.span, std::string(text)});
      return;
    }
    error(c, "a sizes comment stands above a def, or between a def and its first statement");
  }

  const ast::File& file_;
  const std::vector<DefRange>& defs_;
  semantics::Diagnostics& out_;
  Pragmas result_;
};

}  // namespace

DefRange def_range(const ast::Stmt& stmt) {
  DefRange range;
  range.def = &std::get<ast::DefStmt>(stmt.node);
  range.header = stmt.span;
  range.span = {stmt.span.begin, stmt_end(stmt)};
  for (const ast::Decorator& d : range.def->decorators) range.span = semantics::cover(range.span, d.span);
  range.first = Span{range.span.end, range.span.end};
  for (const ast::Stmt& s : range.def->body) {
    const auto* e = std::get_if<ast::ExprStmt>(&s.node);
    if (e && std::holds_alternative<ast::String>(e->value->node)) continue;  // a doc string
    range.first = s.span;
    break;
  }
  return range;
}

Pragmas read_pragmas(const ast::File& file, const std::vector<DefRange>& defs, semantics::Diagnostics& out) {
  return PragmaReader(file, defs, out).read();
}

void apply_size_comments(Context& cx, const std::vector<SizesComment>& comments) {
  for (const SizesComment& c : comments) {
    ir::SizeSet set;
    bool ok = true;
    std::string_view rest = c.text;
    while (ok) {
      const std::size_t comma = rest.find(',');
      ok = add_size(cx, c.span, rest.substr(0, comma), set);
      if (comma == std::string_view::npos) break;
      rest = rest.substr(comma + 1);
    }
    if (ok) cx.procedure.size_sets.push_back(std::move(set));
  }
}

Dialect infer_dialect(Context& cx, const ast::DefStmt& def) {
  MarkFinder finder(cx);
  finder.visit(def.body);
  const auto& marks = finder.marks();
  if (marks.empty()) return finder.weak_r() ? Dialect::R : Dialect::P;
  const Mark& first = marks.front();
  const auto other =
      std::find_if(marks.begin(), marks.end(), [&](const Mark& m) { return m.dialect != first.dialect; });
  if (other != marks.end()) {
    const auto letter = [](Dialect d) { return d == Dialect::P ? "P" : "R"; };
    cx.mixed_dialects = true;
    auto& d = cx.report(
        "E-P60", other->span,
        fmt::format("{} belongs to dialect {}, but {} earlier belongs to dialect {}; choose one, or "
                    "write `# exocheck: dialect=P` (or R) above the first def",
                    other->what, letter(other->dialect), first.what, letter(first.dialect)));
    d.related.push_back({semantics::Role::context,
                         fmt::format("{} of dialect {}", first.what, letter(first.dialect)),
                         cx.procedure.location(first.span)});
  }
  return first.dialect;
}

}  // namespace exocheck::frontend
