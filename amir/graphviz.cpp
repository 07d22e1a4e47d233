#include "amir/graphviz.hpp"

#include <fmt/format.h>
#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "semantics/errors.hpp"

namespace exocheck::amir {

namespace {

// The C interface takes `char*` for strings that it only reads.
char* c_string(const std::string& s) { return const_cast<char*>(s.c_str()); }

struct GraphCloser {
  void operator()(Agraph_t* g) const { agclose(g); }
};
using GraphPtr = std::unique_ptr<Agraph_t, GraphCloser>;

// Object ids in the order of creation. cgraph's own are addresses of strings, and cgraph writes subgraphs in
// the order of their ids: the output would depend on the allocator.
struct IdState {
  std::map<std::pair<int, std::string>, IDTYPE> ids;
  std::map<std::pair<int, IDTYPE>, std::string> names;
  IDTYPE next = 1;
};

IdState& ids(void* state) { return *static_cast<IdState*>(state); }
// Edges have two object types; both stand for one edge.
int id_kind(int object_type) { return object_type == AGINEDGE ? AGOUTEDGE : object_type; }

long map_id(void* state, int object_type, char* text, IDTYPE* id, int create) {
  IdState& s = ids(state);
  if (text == nullptr) {
    if (create == 0) return 0;
    *id = s.next++;
    return 1;
  }
  const std::pair<int, std::string> key{id_kind(object_type), text};
  const auto known = s.ids.find(key);
  if (known != s.ids.end()) {
    *id = known->second;
    return 1;
  }
  if (create == 0) return 0;
  *id = s.next++;
  s.ids.emplace(key, *id);
  s.names.emplace(std::pair{key.first, *id}, key.second);
  return 1;
}

char* id_name(void* state, int object_type, IDTYPE id) {
  const auto name = ids(state).names.find({id_kind(object_type), id});
  return name == ids(state).names.end() ? nullptr : c_string(name->second);
}

Agiddisc_t id_discipline() {
  return {[](Agraph_t*, Agdisc_t*) -> void* { return new IdState; },
          map_id,
          [](void*, int, IDTYPE) -> long { return 0; },
          [](void*, int, IDTYPE) {},
          id_name,
          [](void* state) { delete static_cast<IdState*>(state); },
          [](void*, int, void*) {}};
}

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return out;
}

// Lines of at most `width` characters, broken at blanks where possible.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (text.size() - begin > width) {
    std::size_t cut = text.rfind(' ', begin + width);
    if (cut == std::string::npos || cut <= begin) cut = begin + width;
    lines.push_back(text.substr(begin, cut - begin));
    begin = cut < text.size() && text[cut] == ' ' ? cut + 1 : cut;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

struct Look {
  const char* color;
  const char* fill;
};
Look look(EventKind kind) {
  switch (kind) {
    case EventKind::first_access:
    case EventKind::second_access:
      return {"#c00000", "#fde8e8"};
    case EventKind::fence:
      return {"#2b5ca8", "#e6eefa"};
    case EventKind::arrive:
      return {"#7a4fa3", "#f1e9f8"};
    case EventKind::await:
      return {"#1e7d4b", "#e4f4ea"};
  }
  throw semantics::InternalError("unknown event kind");
}

std::string headline(EventKind kind) {
  switch (kind) {
    case EventKind::first_access:
      return "FIRST ACCESS";
    case EventKind::second_access:
      return "SECOND ACCESS";
    case EventKind::fence:
    case EventKind::arrive:
    case EventKind::await:
      return "";
  }
  throw semantics::InternalError("unknown event kind");
}

std::string event_label(const HbEvent& event) {
  constexpr std::size_t width = 52;
  std::string out = R"(<table border="0" cellborder="0" cellspacing="1">)";
  const auto row = [&out](const std::string& html) {
    out += R"(<tr><td align="left">)" + html + "</td></tr>";
  };
  std::string head = headline(event.kind);
  if (!head.empty()) head += ", ";
  head += fmt::format("line {}", event.line);
  if (!event.where.empty()) head += fmt::format(" ({})", event.where);
  if (event.repetitions > 1) head += fmt::format(" x {}", event.repetitions);
  row("<b>" + escape_html(head) + "</b>");
  for (const std::string& line : wrap(event.statement, width)) {
    row(R"(<font face="monospace">)" + escape_html(line) + "</font>");
  }
  for (const std::string& detail : event.details) {
    for (const std::string& line : wrap(detail, width)) row("<i>" + escape_html(line) + "</i>");
  }
  return out + "</table>";
}

constexpr const char* legend =
    R"(<table border="0" cellborder="0" cellspacing="2">)"
    R"(<tr><td align="left"><font color="#c00000"><b>red, dashed</b></font></td><td align="left">the hazard: the order that the second access needs is missing</td></tr>)"
    R"(<tr><td align="left"><font color="#2b5ca8"><b>blue</b></font></td><td align="left">knowledge of the first access is passed on</td></tr>)"
    R"(<tr><td align="left"><font color="#1e7d4b"><b>green</b></font></td><td align="left">an Await covers an arrival</td></tr>)"
    R"(<tr><td align="left"><font color="#c06000"><b>orange, dotted</b></font></td><td align="left">near miss: would have ordered them but for the reason given</td></tr>)"
    R"(<tr><td align="left"><font color="#808080"><b>grey</b></font></td><td align="left">program order of common threads</td></tr>)"
    R"(<tr><td align="left"><b>columns</b></td><td align="left">threads that execute a statement together; time runs downwards</td></tr>)"
    R"(</table>)";

// The cgraph form of the data.
class Drawing {
 public:
  explicit Drawing(const HbGraph& graph)
      : graph_(agopen(c_string("happens_before"), Agdirected, &discipline_)) {
    semantics::ensure(graph_ != nullptr, "cgraph cannot create a graph");
    set(graph_.get(), "rankdir", "TB");
    set(graph_.get(), "newrank", "true");
    set(graph_.get(), "nodesep", "0.5");
    set(graph_.get(), "ranksep", "0.35");
    set(graph_.get(), "fontname", "Helvetica");
    set(graph_.get(), "labelloc", "t");
    set(graph_.get(), "label", graph.title);
    lanes(graph);
    edges(graph);
    add_legend(graph);
  }

  Agraph_t* get() const { return graph_.get(); }

 private:
  template <class Object>
  void set(Object* object, const char* name, const std::string& value) {
    agsafeset(object, const_cast<char*>(name), c_string(value), const_cast<char*>(""));
  }
  template <class Object>
  void set_html(Object* object, const char* name, const std::string& html) {
    char* text = agstrdup_html(graph_.get(), c_string(html));
    agsafeset(object, const_cast<char*>(name), text, const_cast<char*>(""));
    agstrfree(graph_.get(), text);
  }

  void lanes(const HbGraph& graph) {
    nodes_.resize(graph.events.size());
    for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
      Agraph_t* column = agsubg(graph_.get(), c_string(fmt::format("cluster_{}", lane)), 1);
      set(column, "label", graph.lanes[lane].title);
      set(column, "style", "rounded,filled");
      set(column, "color", "#d0d0d0");
      set(column, "fillcolor", "#fafafa");
      set(column, "fontname", "Helvetica");
      for (std::size_t i = 0; i < graph.events.size(); ++i) {
        if (graph.events[i].lane == lane) nodes_[i] = event(column, graph.events[i], i);
      }
    }
  }

  Agnode_t* event(Agraph_t* column, const HbEvent& data, std::size_t number) {
    Agnode_t* node = agnode(column, c_string(fmt::format("e{}", number)), 1);
    const Look colors = look(data.kind);
    const bool access = data.kind == EventKind::first_access || data.kind == EventKind::second_access;
    set(node, "shape", "box");
    set(node, "style", access ? "filled,bold" : "rounded,filled");
    set(node, "color", colors.color);
    set(node, "fillcolor", colors.fill);
    set(node, "penwidth", access ? "2.5" : "1.2");
    set(node, "fontname", "Helvetica");
    set(node, "fontsize", "11");
    set_html(node, "label", event_label(data));
    return node;
  }

  Agedge_t* edge(Agnode_t* from, Agnode_t* to, std::size_t number) {
    return agedge(graph_.get(), from, to, c_string(fmt::format("x{}", number)), 1);
  }

  void edges(const HbGraph& graph) {
    std::size_t number = 0;
    // One row per event: time runs downwards.
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      Agedge_t* e = edge(nodes_[i - 1], nodes_[i], number++);
      set(e, "style", "invis");
      set(e, "weight", "0");
    }
    for (const HbEdge& data : graph.edges) {
      Agedge_t* e = edge(nodes_.at(data.from), nodes_.at(data.to), number++);
      style(e, data.kind);
      if (!data.label.empty()) {
        std::string text;
        for (const std::string& line : wrap(data.label, 30)) text += (text.empty() ? "" : "\n") + line;
        set(e, "label", " " + text);
      }
      set(e, "fontname", "Helvetica");
      set(e, "fontsize", "10");
    }
  }

  void style(Agedge_t* e, EdgeKind kind) {
    const auto paint = [&](const char* color, const char* line, const char* width, const char* weight) {
      set(e, "color", color);
      set(e, "fontcolor", color);
      set(e, "style", line);
      set(e, "penwidth", width);
      set(e, "weight", weight);
    };
    switch (kind) {
      case EdgeKind::program_order:
        return paint("#a0a0a0", "solid", "0.8", "3");
      case EdgeKind::published:
        return paint("#2b5ca8", "solid", "1.8", "2");
      case EdgeKind::arrival:
        return paint("#1e7d4b", "solid", "1.8", "2");
      case EdgeKind::near_miss:
        return paint("#c06000", "dotted", "1.8", "1");
      case EdgeKind::hazard:
        return paint("#c00000", "dashed", "2.5", "1");
    }
  }

  void add_legend(const HbGraph& graph) {
    Agnode_t* node = agnode(graph_.get(), c_string("legend"), 1);
    set(node, "shape", "box");
    set(node, "style", "dashed");
    set(node, "color", "#b0b0b0");
    set(node, "fontname", "Helvetica");
    set(node, "fontsize", "10");
    set_html(node, "label", legend);
    if (graph.events.empty()) return;
    Agedge_t* below = edge(nodes_.back(), node, graph.edges.size() + nodes_.size());
    set(below, "style", "invis");
  }

  // agwrite appends to a std::string instead of a file.
  Agiodisc_t io_{nullptr,
                 [](void* channel, const char* text) {
                   *static_cast<std::string*>(channel) += text;
                   return 0;
                 },
                 [](void*) { return 0; }};
  Agiddisc_t ids_ = id_discipline();
  Agdisc_t discipline_{&AgMemDisc, &ids_, &io_};
  GraphPtr graph_;
  std::vector<Agnode_t*> nodes_;
};

}  // namespace

std::string write_dot(const HbGraph& graph) {
  const Drawing drawing(graph);
  std::string out;
  const int failed = agwrite(drawing.get(), &out);
  semantics::ensure(failed == 0, "cgraph cannot write the graph");
  return out;
}

std::string write_svg(const HbGraph& graph) {
  const Drawing drawing(graph);
  // Never freed: the text plugin of Graphviz remembers font names that belong to the first context.
  static GVC_t* const context = gvContext();
  semantics::ensure(context != nullptr, "no layout library");
  semantics::ensure(gvLayout(context, drawing.get(), "dot") == 0, "the layout of the graph failed");
  char* data = nullptr;
  unsigned int length = 0;
  const int failed = gvRenderData(context, drawing.get(), "svg", &data, &length);
  std::string out = failed == 0 && data != nullptr ? std::string(data, length) : std::string();
  if (data != nullptr) gvFreeRenderData(data);
  gvFreeLayout(context, drawing.get());
  semantics::ensure(!out.empty(), "the drawing of the graph failed");
  return out;
}

}  // namespace exocheck::amir
