#include "amir/explain_suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amir/explain_access.hpp"

namespace exocheck::amir {

namespace am = semantics::amir;
using semantics::ir::Await;
using semantics::ir::StmtId;

namespace {

constexpr QualSet wgmma_quals{Qual::wgA, Qual::wgD, Qual::wgS, Qual::wg0};
constexpr QualSet register_wgmma_quals{Qual::wgA, Qual::wgD, Qual::wg0};

const NearMiss* find(const Hazard& hazard, Miss reason) {
  const auto it = std::find_if(hazard.misses.begin(), hazard.misses.end(),
                               [&](const NearMiss& m) { return m.reason == reason; });
  return it == hazard.misses.end() ? nullptr : &*it;
}

// "between line 9 and line 14" or, where the second access comes from a later iteration, "after line 27,
// before line 20 runs again".
std::string after_before(int first, int second) {
  if (first < second) return fmt::format("between line {} and line {}", first, second);
  if (first == second) return fmt::format("between two executions of line {}", first);
  return fmt::format("after line {}, before line {} runs again", first, second);
}
std::string between(const Words& words, const Hazard& hazard) {
  return after_before(words.line(hazard.result.record.created), words.line(hazard.check.at));
}

// Second timeline under which the failing access sees everything it needs.
std::string second_timeline(QualSet quals) {
  if (quals.meets(semantics::async_proxy_quals)) return "cuda_generic_and_async_proxy";
  return quals.contains(Qual::cp80) ? "Sm80_generic" : "cuda_in_order";
}

// Local threads [lo, hi] of one cluster.
struct ThreadRange {
  std::int64_t lo = 0, hi = 0;
};

// The smallest standard collective that contains the range.
std::string scope(const Words& words, const Hazard& hazard, ThreadRange range) {
  if (range.lo == range.hi) return "the thread";
  const std::int64_t block = words.block_dim(hazard.check.at);
  if (block > 0 && range.lo / block == range.hi / block) {
    return range.lo / 32 == range.hi / 32 ? "the warp" : "the whole CTA";
  }
  return "the whole cluster";
}

ThreadRange local_range(const Words& words, const ThreadSet& threads) {
  const std::int64_t stride = words.program().threads;
  return {threads.min() % stride, (threads.end() - 1) % stride};
}

// The threads that execute the statement of `at` while the iterators that `other` shares with it stand still:
// what a Fence between the two statements has to contain, not only the two threads of this witness.
ThreadRange reach(const Words& words, const Instance& at, const Instance& other) {
  const am::ThreadMap& map = words.program().maps[words.node(at.node).map];
  const auto value = [](const Instance& instance, SymId iter) -> std::optional<std::int64_t> {
    for (const auto& [symbol, v] : instance.iterators) {
      if (symbol == iter) return v;
    }
    return std::nullopt;
  };
  ThreadRange range;
  for (const am::ThreadMap::Dim& dim : map.dims) {
    std::int64_t first = dim.offset;
    std::int64_t last = dim.offset + dim.box - 1;
    for (const auto& [iter, coefficient] : dim.terms) {
      const auto here = value(at, iter);
      if (here && value(other, iter)) {
        first += coefficient * *here;
        last += coefficient * *here;
      } else {
        first = 0;
        last = dim.extent - 1;
        break;
      }
    }
    range.lo = range.lo * dim.extent + first;
    range.hi = range.hi * dim.extent + last;
  }
  return range;
}

ThreadRange unite(ThreadRange a, ThreadRange b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

// A later Await, in the text, on the barrier that carries the first access.
std::optional<StmtId> later_await(const Words& words, VarId barrier, const Instance& after) {
  std::optional<StmtId> out;
  for (std::uint32_t id = static_cast<std::uint32_t>(am::index(after.node)) + 1;
       id < words.program().node_count; ++id) {
    const am::Node& node = words.node(NodeId{id});
    const auto* await = std::get_if<am::Await>(&node.node);
    if (await != nullptr && await->barrier.var == barrier && !out) out = node.origin;
  }
  return out;
}

// How long the Await must wait so that it covers the arrival.
std::string lower_n(const Words& words, const NearMiss& miss) {
  const auto& await = std::get<Await>(words.statement(miss.event.at).node);
  const std::int64_t missing = *miss.effect.pending - miss.event.arrival;
  const int line = words.line(miss.event.at);
  if (await.n >= 0) {
    if (await.n - missing < 0) return "";
    return fmt::format("in line {} wait for one group more: N = {} instead of {}", line, await.n - missing,
                       await.n);
  }
  const std::int64_t lag = -1 - await.n;
  if (lag - missing < 0) return "";
  return fmt::format("in line {} reduce the lag from ~{} to ~{}", line, lag, lag - missing);
}

// The access was handed over on one element of a barrier array while the second access's threads wait on
// another one: a multicast arrival is missing.
std::optional<std::string> other_barrier_element(const Words& words, const Hazard& hazard) {
  const NearMiss* reached = find(hazard, Miss::other_threads);
  const NearMiss* empty = find(hazard, Miss::nothing_attached);
  if (reached == nullptr || empty == nullptr || reached->event.kind != SyncKind::await ||
      reached->event.barrier != empty->event.barrier || reached->event.element == empty->event.element) {
    return std::nullopt;
  }
  const auto arrive = std::find_if(hazard.steps.begin(), hazard.steps.end(), [&](const NearMiss& step) {
    return step.event.kind == SyncKind::arrive && step.event.barrier == empty->event.barrier;
  });
  if (arrive == hazard.steps.end()) return std::nullopt;
  return fmt::format("let the Arrive in line {} publish on {}, too, by a second `>>` with an interval",
                     words.line(arrive->event.at),
                     words.element(*empty->event.barrier, empty->event.element));
}

std::string wait_for_original(const Words& words, const Hazard& hazard) {
  const Qual original = hazard.result.record.original;
  if (wgmma_quals.contains(original)) {
    const NearMiss* early = find(hazard, Miss::not_waited_for);
    const bool arrive = early != nullptr && early->event.kind == SyncKind::arrive;
    return fmt::format(
        "wait for the wgmma {}: Arrive(wgmma_async, 1) >> a commit group, then Await that group with "
        "cuda_in_order",
        arrive ? fmt::format("before the Arrive in line {}", words.line(early->event.at))
               : between(words, hazard));
  }
  if (original == Qual::cp80) {
    return fmt::format(
        "wait for the copy {}: Arrive(Sm80_cp_async, 1) >> a commit group and Await it, or "
        "Fence(Sm80_generic, {})",
        between(words, hazard), second_timeline(hazard.result.demanded.quals));
  }
  if (original == Qual::s2g) {
    return fmt::format(
        "wait for the store {}: Arrive(tma_to_gmem_async, 1) >> a commit group, Await it, and hand the "
        "buffer back to all its writers",
        between(words, hazard));
  }
  return fmt::format(
      "let the second access's threads Await the barrier that the copy in line {} completes on",
      words.line(hazard.result.record.created));
}

}  // namespace

std::optional<std::string> suggest(const Words& words, const Hazard& hazard) {
  const RecordView& record = hazard.result.record;
  const QualSet needed = hazard.result.demanded.quals;
  const bool free = access_mode(words, hazard.check.at.node) == "free";
  const std::string name = words.name(std::get<am::Check>(words.node(hazard.check.at.node).node).target.var);
  if (!hazard.check.collective.is_all() && !record.threads.is_all() &&
      hazard.check.at.task != record.created.task) {
    return fmt::format(
        "tasks are never ordered with each other: give every task its own elements of {}, or combine them "
        "with an atomic reduction",
        name);
  }
  if (hazard.check.collective.is_all() || record.threads.is_all()) return std::nullopt;
  if (const NearMiss* miss = find(hazard, Miss::withheld)) {
    return fmt::format(
        "let the threads that made the access in line {} execute a proxy fence themselves, before the "
        "synchronization in line {}",
        words.line(record.created), words.line(miss->event.at));
  }
  if (const NearMiss* miss = find(hazard, Miss::time_only)) {
    if (needed.meets(register_wgmma_quals)) {
      return fmt::format("put Fence(wgmma_fence_1, wgmma_fence_2) by the warpgroup before line {}",
                         words.line(hazard.check.at));
    }
    return fmt::format("use the second timeline {} in line {}", second_timeline(needed),
                       words.line(miss->event.at));
  }
  if (const NearMiss* miss = find(hazard, Miss::not_covered)) {
    if (std::string text = lower_n(words, *miss); !text.empty()) return text;
  }
  if (const NearMiss* miss = find(hazard, Miss::not_waited_for)) {
    for (const PendingView& pending : record.pending) {
      const auto await = later_await(words, pending.barrier, record.created);
      if (await && words.line(words.statement(*await)) > words.line(miss->event.at)) {
        return fmt::format(
            "move the Await of {} in line {} before the {} in line {}",
            words.element(pending.barrier, pending.element), words.line(words.statement(*await)),
            miss->event.kind == SyncKind::arrive ? "Arrive" : "Fence", words.line(miss->event.at));
      }
    }
  }
  if (const NearMiss* miss = find(hazard, Miss::never_awaited)) {
    return fmt::format("Await {} {}", words.element(*miss->event.barrier, miss->event.element),
                       between(words, hazard));
  }
  if (auto text = other_barrier_element(words, hazard)) return text;
  if (const NearMiss* miss = find(hazard, Miss::other_threads)) {
    // Some threads know that the access is over; they can tell the others.
    if (miss->event.temporal.contains(Qual::ram) && !free) {
      const ThreadSet both = hazard.check.collective.unite(miss->event.collective);
      return fmt::format("put Fence(cuda_in_order, {}) by {} {}", second_timeline(needed),
                         scope(words, hazard, local_range(words, both)),
                         after_before(words.line(miss->event.at), words.line(hazard.check.at)));
    }
  }
  const bool generic = record.original == Qual::ram || record.original == Qual::rmem;
  if (!generic) return wait_for_original(words, hazard);
  if (needed.meets(register_wgmma_quals)) {
    return fmt::format("put Fence(wgmma_fence_1, wgmma_fence_2) by the warpgroup before line {}",
                       words.line(hazard.check.at));
  }
  if (free) {
    return fmt::format(
        "let the whole cluster execute Fence(cuda_in_order, cuda_in_order) after line {}, before {} is freed",
        words.line(record.created), name);
  }
  return fmt::format("put Fence(cuda_in_order, {}) by {} {}", second_timeline(needed),
                     scope(words, hazard,
                           unite(reach(words, record.created, hazard.check.at),
                                 reach(words, hazard.check.at, record.created))),
                     between(words, hazard));
}

}  // namespace exocheck::amir
