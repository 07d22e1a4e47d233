#include "amir/explain_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "semantics/errors.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
namespace am = semantics::amir;

namespace {

void index_nodes(const am::Body& body, std::vector<const am::Node*>& out) {
  for (const am::Node& node : body) {
    out.at(am::index(node.id)) = &node;
    if (const auto* loop = std::get_if<am::Loop>(&node.node)) index_nodes(loop->body, out);
    if (const auto* branch = std::get_if<am::Branch>(&node.node)) {
      index_nodes(branch->then_body, out);
      index_nodes(branch->else_body, out);
    }
  }
}

}  // namespace

Words::Words(const Procedure& procedure, const analysis::Facts& facts, const Translation& translation)
    : procedure_(procedure),
      facts_(facts),
      translation_(translation),
      nodes_(translation.program.node_count, nullptr) {
  index_nodes(translation.program.body, nodes_);
  for_each_stmt(procedure.body, [this](const Stmt& s) {
    statements_[s.id] = &s;
    if (const auto* kernel = std::get_if<DeviceFunction>(&s.node)) {
      for_each_stmt(kernel->body, [&](const Stmt& inner) { kernel_[inner.id] = s.id; });
    }
  });
}

semantics::Location Words::declaration(VarId v) const {
  const am::Variable& variable = translation_.program.variables.at(am::index(v));
  semantics::ensure(variable.symbol.has_value(), "a variable of the program has a symbol");
  if (const auto alloc = facts_.allocation.find(*variable.symbol); alloc != facts_.allocation.end()) {
    if (const auto s = statements_.find(alloc->second); s != statements_.end()) return location(*s->second);
  }
  return procedure_.location(procedure_.symbol(*variable.symbol).span);
}

std::string Words::text(const Stmt& s) const {
  constexpr std::size_t longest = 110;
  std::string out;
  bool blank = false;
  for (const char c : procedure_.source->text(s.span)) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      blank = !out.empty();
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  if (out.size() <= longest) return out;
  // The middle goes, from comma to comma where possible.
  std::size_t head = out.rfind(", ", longest - 30);
  std::size_t tail = out.find(", ", out.size() - 30);
  head = head == std::string::npos || head < 20 ? longest - 30 : head + 2;
  tail = tail == std::string::npos || tail + 10 > out.size() ? out.size() - 26 : tail + 2;
  return out.substr(0, head) + "... " + out.substr(tail);
}

std::string Words::name(SymId symbol) const {
  if (semantics::ir::index(symbol) < procedure_.symbols.size()) return procedure_.symbol(symbol).name;
  // The loop that an owner-only argument implies: one iteration per shard.
  if (facts_.synthetic_names.contains(symbol)) return "shard";
  const auto it = translation_.synthetic_names.find(symbol);
  return it == translation_.synthetic_names.end() ? "?" : it->second;
}

std::vector<std::pair<std::string, std::int64_t>> Words::iterators(const Instance& at) const {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const auto& [symbol, value] : at.iterators) out.emplace_back(name(symbol), value);
  return out;
}

std::string Words::where(const Instance& at) const {
  std::string out;
  for (const auto& [symbol, value] : at.iterators)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name(symbol), value);
  return out;
}

std::string Words::element(VarId v, const std::vector<std::int64_t>& index) const {
  return index.empty() ? name(v) : fmt::format("{}[{}]", name(v), fmt::join(index, ", "));
}

const analysis::LaunchFacts* Words::launch(const Instance& at) const {
  const auto kernel = kernel_.find(node(at.node).origin);
  if (kernel == kernel_.end()) return nullptr;
  const auto facts = facts_.launch.find(kernel->second);
  return facts == facts_.launch.end() ? nullptr : &facts->second;
}

std::int64_t Words::block_dim(const Instance& at) const {
  const auto* launch_facts = launch(at);
  return launch_facts == nullptr ? 0 : launch_facts->geometry.block_dim;
}

std::string Words::thread(ThreadId id, const Instance& at) const {
  const auto* launch_facts = launch(at);
  const std::int64_t stride = translation_.program.threads;
  const std::int64_t local = id % stride;
  if (launch_facts == nullptr) return fmt::format("task {}, thread {}", id / stride, local);
  const std::int64_t block = launch_facts->geometry.block_dim;
  return fmt::format("task {}, cta {}, warp {}, lane {}", id / stride, local / block, local % block / 32,
                     local % 32);
}

// [lo, hi) of one CTA, without the CTA.
std::string Words::locals(std::int64_t lo, std::int64_t hi, const analysis::LaunchFacts& launch) const {
  if (hi - lo == 1) return fmt::format("warp {}, lane {}", lo / 32, lo % 32);
  std::string group;
  for (const auto& g : launch.warp_groups) {
    if (!g.name.empty() && lo >= 32 * g.first_warp && hi <= 32 * (g.first_warp + g.count))
      group = " (" + g.name + ")";
  }
  if (lo == 0 && hi == launch.geometry.block_dim) return fmt::format("all {} threads", hi);
  if (lo % 32 != 0 || hi % 32 != 0) return fmt::format("threads {}-{}{}", lo, hi - 1, group);
  if (hi - lo == 32) return fmt::format("warp {}{}", lo / 32, group);
  return fmt::format("warps {}-{}{}", lo / 32, hi / 32 - 1, group);
}

std::string Words::threads(const ThreadSet& set, const Instance& at) const {
  if (set.is_all()) return "the host";
  if (set.empty()) return "no thread";
  if (set.is_single()) return thread(set.min(), at);
  const auto* launch_facts = launch(at);
  const std::int64_t stride = translation_.program.threads;
  if (launch_facts == nullptr)
    return fmt::format("threads {}-{} of task {}", set.min() % stride, (set.end() - 1) % stride,
                       set.min() / stride);
  const std::int64_t block = launch_facts->geometry.block_dim;
  const std::int64_t cluster = launch_facts->geometry.threads();
  const std::int64_t task = set.min() / stride;
  if (set.ranges().size() == 1 && set.min() % stride == 0 && set.end() - set.min() == cluster) {
    return fmt::format("all {} threads of task {}", cluster, task);
  }
  // One part per CTA and run of threads; equal parts of several CTAs are named once.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> parts;
  bool several_tasks = false;
  for (const ThreadRange& range : set.ranges()) {
    for (ThreadId lo = range.lo; lo < range.hi;) {
      const std::int64_t local = lo % stride;
      const std::int64_t cta = local / block;
      const ThreadId hi = std::min(range.hi, lo - local + (cta + 1) * block);
      several_tasks = several_tasks || lo / stride != task;
      std::string part = locals(local % block, local % block + (hi - lo), *launch_facts);
      if (!parts.empty() && parts.back().first == part) {
        parts.back().second.push_back(cta);
      } else {
        parts.push_back({std::move(part), {cta}});
      }
      lo = hi;
      if (parts.size() > 64) break;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < parts.size() && i < 3; ++i) {
    const auto& ctas = parts[i].second;
    out += fmt::format("{}{} of {} {}", i == 0 ? "" : "; ", parts[i].first, ctas.size() == 1 ? "cta" : "ctas",
                       ctas.size() > 4 ? fmt::format("{}, ..., {}", ctas.front(), ctas.back())
                                       : fmt::format("{}", fmt::join(ctas, " and ")));
  }
  if (parts.size() > 3) out += "; ...";
  return several_tasks ? out + " of several tasks" : fmt::format("{}, task {}", out, task);
}

std::string timeline_list(QualSet quals) {
  std::string out;
  for (const Qual q : quals.members())
    out += fmt::format("{}{}", out.empty() ? "" : " or ", semantics::qual_record(q).long_name);
  return out.empty() ? "no timeline" : out;
}

std::string knowledge(Level held) {
  switch (held) {
    case Level::invisible:
      return "no synchronization has told it of that access";
    case Level::atomic:
      return "it may only overlap that access with another atomic one";
    case Level::unordered:
      return "it only knows that access to be issued, it has not waited for its end";
    case Level::temporal:
      return "it is ordered after that access in time only, its effect on memory need not be visible";
    case Level::full:
      return "it is fully ordered after that access";
  }
  throw semantics::InternalError("unknown level");
}

}  // namespace exocheck::amir
