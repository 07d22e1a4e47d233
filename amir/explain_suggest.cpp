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

// The smallest standard collective that contains `both`.
std::string scope(const Words& words, const Hazard& hazard, const ThreadSet& both) {
  const std::int64_t stride = words.program().threads;
  const auto in_one = [&](std::int64_t size) {
    return (both.min() % stride) / size == ((both.end() - 1) % stride) / size;
  };
  if (both.is_single()) return "the thread";
  const std::int64_t block = words.block_dim(hazard.check.at);
  if (block > 0 && in_one(block)) return in_one(32) ? "the warp" : "the whole CTA";
  return "the whole cluster";
}

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

std::string wait_for_original(const Words& words, const Hazard& hazard) {
  const Qual original = hazard.result.record.original;
  if (wgmma_quals.contains(original)) {
    return fmt::format(
        "wait for the wgmma {}: Arrive(wgmma_async, 1) >> a commit group, then Await that group with "
        "cuda_in_order before its result is used or its operands are handed back",
        between(words, hazard));
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
  if (const NearMiss* miss = find(hazard, Miss::other_threads)) {
    // Some threads know that the access is over; they can tell the others.
    if (miss->event.temporal.contains(Qual::ram) && !free) {
      const ThreadSet both = hazard.check.collective.unite(miss->event.collective);
      return fmt::format("put Fence(cuda_in_order, {}) by {} {}", second_timeline(needed),
                         scope(words, hazard, both),
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
                     scope(words, hazard, hazard.check.collective.unite(record.threads)),
                     between(words, hazard));
}

}  // namespace exocheck::amir
