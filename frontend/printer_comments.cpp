// The canonical print with the comments of the source put back.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "frontend/printer.hpp"
#include "frontend/printer_lines.hpp"

namespace exocheck::frontend {
namespace {

namespace ir = semantics::ir;
using semantics::Span;

struct Item {
  Span span;
  Lines lines;
  bool verbatim = false;  // brings its own comments
};

class CommentMerger {
 public:
  CommentMerger(const ir::Program& program, const ast::File& file) : program_(program), file_(file) {}

  std::string run() {
    collect_items();
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return a.span.begin < b.span.begin; });
    for (Item& item : items_) append(item);
    for (const ast::Comment& c : file_.comments) {
      if (!inside_verbatim(c)) place(c);
    }
    return to_text(merged());
  }

 private:
  void collect_items() {
    for (const Span span : program_.verbatim)
      items_.push_back({span, verbatim_lines(*program_.source, span), true});
    for (const ir::Config& c : program_.configs) items_.push_back({c.span, config_lines(c)});
    std::map<std::uint32_t, const ast::DefStmt*> definitions;  // by the begin of the name
    for (const ast::Stmt& s : file_.statements) {
      const bool kept =
          std::holds_alternative<ast::ImportStmt>(s.node) || std::holds_alternative<ast::ExprStmt>(s.node);
      if (kept) items_.push_back({s.span, verbatim_lines(*file_.source, s.span), true});
      if (const auto* def = std::get_if<ast::DefStmt>(&s.node)) definitions[def->name_span.begin] = def;
    }
    for (const ir::Procedure& p : program_.procedures) {
      Item item{p.name_span, procedure_lines(p, program_)};
      if (const auto it = definitions.find(p.name_span.begin); it != definitions.end())
        dress(item, *it->second);
      items_.push_back(std::move(item));
    }
  }

  // Decorators and docstring, which the program does not keep.
  void dress(Item& item, const ast::DefStmt& def) const {
    const auto* doc = def.body.empty() ? nullptr : std::get_if<ast::ExprStmt>(&def.body.front().node);
    if (doc != nullptr && std::holds_alternative<ast::String>(doc->value->node)) {
      Lines text = verbatim_lines(*file_.source, def.body.front().span);
      text.front().indent = 1;
      item.lines.insert(item.lines.begin() + 1, text.begin(), text.end());
    }
    for (auto d = def.decorators.rbegin(); d != def.decorators.rend(); ++d) {
      const Lines text = verbatim_lines(*file_.source, d->span);
      item.lines.insert(item.lines.begin(), text.begin(), text.end());
      item.span.begin = std::min(item.span.begin, d->span.begin);
    }
  }

  // Items are a blank line apart, but verbatim neighbours only where the source has one.
  void append(Item& item) {
    const bool neighbours = item.verbatim && previous_ && !blank_line_between(*previous_, item.span);
    if (!lines_.empty() && !neighbours) lines_.push_back({0, "", std::nullopt});
    previous_ = item.verbatim ? std::optional(item.span) : std::nullopt;
    lines_.insert(lines_.end(), std::make_move_iterator(item.lines.begin()),
                  std::make_move_iterator(item.lines.end()));
  }

  bool blank_line_between(Span a, Span b) const {
    const int last = file_.source->position(b.begin).line;
    for (int line = file_.source->position(a.end).line + 1; line < last; ++line) {
      if (is_blank(line)) return true;
    }
    return false;
  }
  bool is_blank(int line) const {
    return file_.source->line_text(line).find_first_not_of(" \t\r") == std::string_view::npos;
  }

  bool inside_verbatim(const ast::Comment& c) const {
    return std::any_of(items_.begin(), items_.end(), [&c](const Item& i) {
      return i.verbatim && i.span.begin <= c.span.begin && c.span.end <= i.span.end;
    });
  }

  int column(Span span) const { return file_.source->position(span.begin).column; }

  void place(const ast::Comment& c) {
    const std::size_t none = lines_.size();
    std::size_t before = none;
    std::size_t after = none;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!lines_[i].source) continue;
      if (lines_[i].source->begin <= c.span.begin) {
        before = i;
      } else {
        after = i;
        break;
      }
    }
    const std::string text = c.text.empty() ? "#" : "# " + c.text;
    if (before != none && (!c.own_line || c.span.begin < lines_[before].source->end)) {
      lines_[before].text += "  " + text;
      return;
    }
    // Indented with the block that ends above it?
    const bool closes_block =
        before != none && column(c.span) > 1 && column(c.span) >= column(*lines_[before].source) &&
        (after == none || column(*lines_[after].source) < column(*lines_[before].source));
    if (closes_block) {
      behind_[before].push_back({lines_[before].indent, text, std::nullopt});
      return;
    }
    Lines& here = ahead_[after];
    here.push_back({after == none ? 0 : lines_[after].indent, text, std::nullopt});
    if (here.back().indent == 0 && blank_line_follows(c)) here.push_back({0, "", std::nullopt});
  }

  bool blank_line_follows(const ast::Comment& c) const {
    const int line = file_.source->position(c.span.begin).line;
    return line < file_.source->line_count() && is_blank(line + 1);
  }

  Lines merged() const {
    Lines out;
    const auto copy = [&out](const std::map<std::size_t, Lines>& from, std::size_t at) {
      if (const auto it = from.find(at); it != from.end())
        out.insert(out.end(), it->second.begin(), it->second.end());
    };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      copy(ahead_, i);
      out.push_back(lines_[i]);
      copy(behind_, i);
    }
    if (ahead_.contains(lines_.size()) && !out.empty()) out.push_back({0, "", std::nullopt});
    copy(ahead_, lines_.size());
    while (!out.empty() && out.back().text.empty()) out.pop_back();
    return out;
  }

  const ir::Program& program_;
  const ast::File& file_;
  std::vector<Item> items_;
  Lines lines_;
  std::map<std::size_t, Lines> ahead_, behind_;
  std::optional<Span> previous_;  // the item before, if verbatim
};

}  // namespace

std::string print_with_comments(const ir::Program& program, const ast::File& file) {
  return CommentMerger(program, file).run();
}

}  // namespace exocheck::frontend
