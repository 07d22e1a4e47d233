#include "codegen/kernel_emitter.hpp"

#include <algorithm>
#include <functional>

#include "codegen/smem_plan.hpp"
#include "semantics/errors.hpp"

namespace exocheck::codegen {

using semantics::MemoryKind;

namespace {

constexpr std::int64_t largest_smem = 232'448;  // bytes per CTA on sm_90

// Is the warp one of those from `first` up to `end`, of `all` in the CTA?
std::string warp_test(std::int64_t first, std::int64_t end, std::int64_t all) {
  if (end - first == 1 && all > 1) return fmt::format("warp == {}", first);
  if (end == all) return first == 0 ? "true" : fmt::format("warp >= {}", first);
  return first == 0 ? fmt::format("warp < {}", end) : fmt::format("warp >= {} && warp < {}", first, end);
}

}  // namespace

KernelEmitter::KernelEmitter(Context& cx, const ir::Stmt& stmt, std::string name)
    : DataEmitter(cx, Side::device),
      stmt_(stmt),
      function_(std::get<ir::DeviceFunction>(stmt.node)),
      launch_(cx.facts.launch.at(stmt.id)),
      name_(std::move(name)) {
  const ir::Block* block = &function_.body;
  while (block->size() == 1) {
    const auto* loop = std::get_if<ir::For>(&block->front().node);
    if (loop == nullptr || loop->mode != ir::LoopMode::cuda_tasks) break;
    tasks_.push_back(loop);
    block = &loop->body;
  }
  body_ = block;
}

// Blocks of shared memory in the order of the unspecialised body, and their places.
void KernelEmitter::plan_memory() {
  std::vector<SmemBlock> blocks;
  std::vector<SmemEvent> events;
  std::map<SymId, std::size_t> number;
  std::set<SymId> copied;  // by TMA
  ir::for_each_stmt(*body_, [&](const ir::Stmt& s) {
    const auto* c = std::get_if<ir::Call>(&s.node);
    if (c == nullptr || !c->instr) return;
    if (c->instr->timeline != semantics::InstrTimeline::tma_to_smem_async &&
        c->instr->timeline != semantics::InstrTimeline::tma_to_gmem_async) {
      return;
    }
    for (const ir::ExprPtr& a : c->arguments) {
      if (const auto* r = std::get_if<ir::Read>(&a->node)) copied.insert(cx_.resolve(r->var, {}).base);
    }
  });
  const auto free_all = [&](const auto& table, const ir::Stmt& s) {
    const auto found = table.find(s.id);
    if (found == table.end()) return;
    for (const SymId var : found->second) {
      if (number.contains(var)) events.push_back({false, number.at(var)});
    }
  };
  const std::function<void(const ir::Block&)> visit = [&](const ir::Block& statements) {
    for (const ir::Stmt& s : statements) {
      free_all(cx_.facts.free_before, s);
      if (const auto* alloc = std::get_if<ir::Alloc>(&s.node)) {
        const ir::Symbol& symbol = cx_.symbol(alloc->var);
        if (symbol.kind == ir::SymbolKind::data &&
            semantics::memory_record(*symbol.memory, symbol.precision).shared) {
          std::int64_t size = semantics::bits(symbol.precision);
          for (int d = cx_.distributed(alloc->var); d < symbol.rank(); ++d)
            size = ir::checked_mul(size, cx_.constant_extent(alloc->var, d));
          if (size <= 0 || size % 8 != 0) cx_.unsupported(s.span, "shared memory of this size");
          size /= 8;
          std::int64_t least = semantics::bits(symbol.precision) / 8;
          if (symbol.memory->is(MemoryKind::Sm90_SmemSwizzled)) least = 8 * symbol.memory->arguments.at(0);
          if (copied.contains(alloc->var)) least = std::max<std::int64_t>(least, 128);
          number[alloc->var] = blocks.size();
          events.push_back({true, blocks.size()});
          blocks.push_back({size, natural_alignment(size, least)});
        }
      }
      for (const ir::Block* b : ir::sub_blocks(s)) visit(*b);
      free_all(cx_.facts.free_after, s);
    }
  };
  visit(*body_);
  std::int64_t reserved = 0;
  for (const BarrierPlan& b : barriers_) reserved += b.mbarrier() ? b.bytes() : 0;
  const SmemPlan plan = plan_smem(blocks, events, reserved);
  for (const auto& [var, block] : number) offsets_[var] = plan.offsets[block];
  smem_bytes_ = plan.bytes;
  if (smem_bytes_ > largest_smem) {
    cx_.refuse("C-02", stmt_.span,
               fmt::format("the kernel needs {} bytes of shared memory per CTA; {} are possible", smem_bytes_,
                           largest_smem));
  }
  // Names of the constants.
  std::set<std::string> names;
  const auto name = [&](SymId var) {
    std::string text = "k_" + cx_.symbol(var).name;
    for (int i = 2; !names.insert(text).second; ++i) text = fmt::format("k_{}_{}", cx_.symbol(var).name, i);
    constants_[var] = text;
  };
  for (const BarrierPlan& b : barriers_) {
    if (b.mbarrier()) name(b.var);
  }
  for (const auto& entry : offsets_) name(entry.first);
  for (const BarrierPlan& b : barriers_) {
    if (b.mbarrier()) barrier_names_[b.var] = cx_.claim(cx_.symbol(b.var).name + "_at");
  }
}

// A symbol of the host code: becomes a member of Args.
std::string KernelEmitter::argument(SymId id) {
  const ir::Symbol& symbol = cx_.symbol(id);
  std::string member = symbol.name;
  for (int i = 2;
       std::any_of(arguments_.begin(), arguments_.end(), [&](const auto& a) { return a.member == member; });
       ++i) {
    member = fmt::format("{}_{}", symbol.name, i);
  }
  std::string declaration;
  if (symbol.control()) {
    declaration = (symbol.kind == ir::SymbolKind::boolean ? "bool " : "int ") + member;
  } else if (symbol.memory && symbol.memory->is(MemoryKind::Sm90_tensorMap)) {
    declaration = "XrtTensorMap " + member;
  } else if (symbol.memory && symbol.memory->is(MemoryKind::CudaGridConstant)) {
    declaration = fmt::format("{} {}", type_text(symbol.precision), member);
    std::int64_t count = 1;
    for (int d = 0; d < symbol.rank(); ++d) count *= cx_.constant_extent(id, d);
    if (symbol.rank() > 0) declaration += fmt::format("[{}]", count);
    if (count * semantics::bits(symbol.precision) / 8 > 4000)
      cx_.refuse("C-02", symbol.span, symbol.name + " is too large for a kernel argument");
  } else {
    declaration = fmt::format("{}* {}", type_text(symbol.precision), member);
  }
  const bool window = symbol.kind == ir::SymbolKind::window && cx_.window_parameter(id);
  if (window) {
    std::vector<std::string> strides;
    for (int d = 0; d < symbol.rank(); ++d) strides.push_back(fmt::format("args.{}_stride[{}]", member, d));
    declaration += fmt::format(";\nint64_t {}_stride[{}]", member, symbol.rank());
    cx_.set_strides(id, std::move(strides));
  }
  arguments_.push_back({id, member, declaration, window ? symbol.rank() : 0});
  cx_.set_text(id, "args." + member);
  return "args." + member;
}

void KernelEmitter::emit_setup(Text& text) const {
  const bool any =
      std::any_of(barriers_.begin(), barriers_.end(), [](const auto& b) { return b.mbarrier(); });
  const bool cluster = launch_.geometry.cluster_dim > 1;
  std::vector<std::string> maps;
  for (const KernelArgument& a : arguments_) {
    const ir::Symbol& symbol = cx_.symbol(a.symbol);
    if (symbol.memory && symbol.memory->is(MemoryKind::Sm90_tensorMap)) maps.push_back(a.member);
  }
  text.open("XRT_DEV static void setup([[maybe_unused]] char* smem, [[maybe_unused]] const Args& args) {");
  if (any || !maps.empty()) text.open("if (xrt_tid() == 0) {");
  for (const std::string& map : maps) text.line(fmt::format("xrt_prefetch_map(args.{});", map));
  if (any) {
    bool remote = cluster;
    for (const BarrierPlan& b : barriers_) {
      if (!b.mbarrier()) continue;
      text.line(
          fmt::format("for (int i = 0; i < {}; ++i) xrt_mbar_init(xrt_smem_u32(smem + {}) + 8 * i, {});",
                      b.slices * b.depth, constants_.at(b.var), b.arrivals));
      remote = remote || b.named_by_copy;
    }
    if (remote) {
      text.line("xrt_fence_mbar_init();");
      text.line("xrt_fence_proxy_async();");
    }
  }
  if (any || !maps.empty()) text.close();
  if (cluster) {
    text.line("xrt_cluster_arrive();");
    text.line("xrt_cluster_wait();");
  } else if (any) {
    text.line("xrt_bar_cta();");
  }
  text.close();
}

std::string KernelEmitter::emit_body(const analysis::LaunchFacts::WarpGroup& group,
                                     const std::string& function) {
  group_ = &group;
  used_.clear();
  const std::function<void(const ir::Block&)> collect = [&](const ir::Block& statements) {
    for (const ir::Stmt& s : statements) {
      if (foreign(s)) continue;
      if (const auto* a = std::get_if<ir::Assign>(&s.node)) used_.insert(cx_.resolve(a->target, {}).base);
      ir::for_each_expr(s, [&](const ir::Expr& e) {
        ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
          if (const auto* r = std::get_if<ir::Read>(&sub.node)) used_.insert(cx_.resolve(r->var, {}).base);
        });
      });
      if (const auto* w = std::get_if<ir::WindowStmt>(&s.node)) cx_.define_window(*w);
      for (const ir::Block* b : ir::sub_blocks(s)) collect(*b);
    }
  };
  collect(*body_);
  const std::string body = out_.capture([&] { block(*body_); });
  Text text;
  const auto word = [&](const char* w) { return mentions(body, w); };
  const auto maybe = [&](bool named, const char* declaration, const char* name) {
    return named ? fmt::format("{} {}", declaration, name) : std::string(declaration);
  };
  const bool barriers = std::any_of(barrier_names_.begin(), barrier_names_.end(),
                                    [&](const auto& b) { return mentions(body, b.second); });
  text.open(fmt::format("XRT_DEV static void {}({}, {}, {}, {}) {{", function,
                        maybe(word("smem") || barriers, "char*", "smem"),
                        maybe(word("sync"), "Sync&", "sync"), maybe(word("args"), "const Args&", "args"),
                        maybe(word("task"), "const Task&", "task")));
  text.close("");
  std::string result = text.take();
  result.pop_back();  // the empty line of the closing
  Text lines;
  if (word("tid")) lines.line("  const int tid = xrt_tid();");
  if (word("cta")) lines.line("  const int cta = xrt_block() % kClusterDim;");
  for (const auto& [var, name] : barrier_names_) {
    if (mentions(body, name))
      lines.line(fmt::format("  const uint32_t {} = xrt_smem_u32(smem + {});", name, constants_.at(var)));
  }
  return result + lines.take() + body + "}\n";
}

void KernelEmitter::emit_run(Text& text) const {
  text.open("XRT_DEV static void run(char* smem, const Args& args) {");
  text.line("setup(smem, args);");
  text.line("Sync sync;");
  const auto tasks = [&](const std::string& function) {
    text.line(
        fmt::format("for (int64_t i = xrt_first_task<{0}>(); i < task_count(args); i += "
                    "xrt_task_step<{0}>()) {1}(smem, sync, args, task_at(args, i));",
                    name_, function));
  };
  const auto& groups = launch_.warp_groups;
  if (groups.size() == 1 && groups.front().name.empty()) {
    tasks("run_task");
  } else {
    // Warps of one warpgroup with the same request execute one setmaxnreg together.
    text.line("const int warp = xrt_tid() / 32;");
    std::vector<std::pair<std::string, std::vector<const analysis::LaunchFacts::WarpGroup*>>> requests;
    for (const auto& g : groups) {
      const std::string request =
          g.setmaxnreg_dec   ? fmt::format("xrt_setmaxnreg_dec<{}>();", *g.setmaxnreg_dec)
          : g.setmaxnreg_inc ? fmt::format("xrt_setmaxnreg_inc<{}>();", *g.setmaxnreg_inc)
                             : "";
      const auto known =
          std::find_if(requests.begin(), requests.end(), [&](const auto& r) { return r.first == request; });
      if (known == requests.end())
        requests.push_back({request, {&g}});
      else
        known->second.push_back(&g);
    }
    const std::int64_t all = launch_.geometry.block_dim / 32;
    const auto end_of = [](const auto* g) { return g->first_warp + g->count; };
    for (const auto& [request, members] : requests) {
      bool together = true;
      std::string test;
      for (std::size_t i = 0; i < members.size(); ++i) {
        together = together && (i == 0 || end_of(members[i - 1]) == members[i]->first_warp);
        test += fmt::format("{}({})", i == 0 ? "" : " || ",
                            warp_test(members[i]->first_warp, end_of(members[i]), all));
      }
      if (together) test = warp_test(members.front()->first_warp, end_of(members.back()), all);
      text.open(fmt::format("if ({}) {{", test));
      if (!request.empty()) text.line(request);
      for (const auto* g : members) {
        if (members.size() > 1)
          text.open(fmt::format("if ({}) {{", warp_test(g->first_warp, end_of(g), all)));
        tasks("run_task_" + g->name);
        if (members.size() > 1) text.close();
      }
      text.close();
    }
  }
  if (launch_.geometry.cluster_dim > 1 && !function_.config.no_shutdown_cluster_sync) {
    text.line("// no CTA may end while others can still reach its shared memory");
    text.line("xrt_cluster_arrive();");
    text.line("xrt_cluster_wait();");
  }
  text.close();
}

KernelText KernelEmitter::run() {
  const analysis::Geometry& geometry = launch_.geometry;
  if (geometry.block_dim > 1024 || geometry.cluster_dim > 16)
    cx_.refuse("C-02", stmt_.span, "a CTA has at most 1024 threads, a cluster at most 16 CTAs");
  if (tasks_.empty()) cx_.unsupported(stmt_.span, "a kernel without a cuda_tasks loop");
  cx_.missing = [this](SymId id) { return argument(id); };
  barriers_ = plan_barriers(cx_, *body_, geometry);
  plan_memory();

  std::vector<std::string> lo, hi;
  for (const ir::For* loop : tasks_) {
    lo.push_back(control_text(cx_, *loop->lo));
    hi.push_back(control_text(cx_, *loop->hi));
  }
  std::vector<std::string> iterators;
  for (const ir::For* loop : tasks_) {
    const std::string name = cx_.declare(loop->iter);
    iterators.push_back(name);
    cx_.set_text(loop->iter, "task." + name);
    if (never_negative(cx_, *loop->lo)) cx_.non_negative.insert(loop->iter);
  }
  std::string bodies;
  for (const auto& group : launch_.warp_groups) {
    bodies += (bodies.empty() ? "" : "\n") +
              emit_body(group, group.name.empty() ? "run_task" : "run_task_" + group.name);
  }

  // In the order of declaration, whatever the kernel used first.
  std::sort(arguments_.begin(), arguments_.end(),
            [](const auto& a, const auto& b) { return a.symbol < b.symbol; });
  Text text;
  text.open(fmt::format("struct {} {{", name_));
  text.open("struct Args {");
  for (const KernelArgument& a : arguments_) text.line(a.declaration + ";");
  text.close("};");
  text.line(fmt::format("static constexpr int kBlockDim = {}, kClusterDim = {}, kBlocksPerSm = {};",
                        geometry.block_dim, geometry.cluster_dim, launch_.blocks_per_sm));
  for (const BarrierPlan& b : barriers_) {
    if (b.mbarrier())
      text.line(fmt::format("static constexpr int {} = {};  // {} x {} mbarriers", constants_.at(b.var),
                            b.offset, b.slices, b.depth));
  }
  for (const auto& [var, offset] : offsets_)
    text.line(fmt::format("static constexpr int {} = {};", constants_.at(var), offset));
  text.line(fmt::format("static constexpr int kSmemBytes = {};", smem_bytes_));
  text.blank();
  text.open("struct Task {");
  std::string members;
  for (const std::string& i : iterators) members += (members.empty() ? "int " : ", ") + i;
  text.line(members + ";");
  text.close("};");
  text.open("XRT_HOST_DEV static int64_t task_count([[maybe_unused]] const Args& args) {");
  std::string count;
  for (std::size_t j = 0; j < tasks_.size(); ++j)
    count += fmt::format("{}xrt_extent({}, {})", count.empty() ? "" : " * ", lo[j], hi[j]);
  text.line("return " + count + ";");
  text.close();
  text.open("XRT_DEV static Task task_at([[maybe_unused]] const Args& args, int64_t i) {");
  text.line("Task task;");
  for (std::size_t j = tasks_.size(); j-- > 0;) {
    const std::string offset = lo[j] == "0" ? "" : grouped(lo[j]) + " + ";
    if (j == 0) {
      text.line(fmt::format("task.{} = {}int(i);", iterators[j], offset));
    } else {
      text.line(fmt::format("task.{} = {}int(i % xrt_extent({}, {}));", iterators[j], offset, lo[j], hi[j]));
      text.line(fmt::format("i /= xrt_extent({}, {});", lo[j], hi[j]));
    }
  }
  text.line("return task;");
  text.close();
  text.blank();
  text.line("// What a thread knows of the barriers, over all tasks.");
  text.open("struct Sync {");
  for (const BarrierPlan& b : barriers_) {
    if (b.mbarrier())
      text.line(fmt::format("XrtRing<{}, {}> {};", b.depth, b.lag, constants_.at(b.var).substr(2)));
  }
  text.close("};");
  text.blank();
  emit_setup(text);
  text.blank();
  text.line(bodies);
  emit_run(text);
  text.close("};");
  for (std::size_t j = 0; j < tasks_.size(); ++j) cx_.release(iterators[j]);
  return {name_, text.take(), arguments_, wgmma_n_};
}

}  // namespace exocheck::codegen
