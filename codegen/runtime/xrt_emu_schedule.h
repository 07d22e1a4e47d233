// Which thread runs next and when asynchronous operations complete. Part of xrt_emulator.cc.
#pragma once

#include "xrt_emu_state.h"

namespace xrt_emu {

// ---- threads that can run
class Ready {
 public:
  void start(Turn turn, size_t fibers) {
    turn_ = turn;
    list_.clear();
    queue_.clear();
    by_order_.assign(fibers, nullptr);
    words_.assign(fibers / 64 + 1, 0);
    count_ = 0;
  }
  bool empty() const { return count_ == 0; }
  void add(Fiber* f) {
    ++count_;
    if (turn_ == Turn::turns) return queue_.push_back(f);
    if (turn_ == Turn::random || turn_ == Turn::greedy) return list_.push_back(f);
    by_order_[f->order] = f;
    words_[f->order / 64] |= uint64_t(1) << f->order % 64;
  }
  Fiber* take() {
    --count_;
    Fiber* f = nullptr;
    switch (turn_) {
      case Turn::turns:
        f = queue_.front();
        queue_.pop_front();
        return f;
      case Turn::random:
        std::swap(list_[dice(list_.size())], list_.back());
        [[fallthrough]];
      case Turn::greedy:
        f = list_.back();
        list_.pop_back();
        return f;
      case Turn::first:
      case Turn::last:
        break;
    }
    // Nobody starves for ever.
    const size_t order = dice(64) == 0 ? from(dice(by_order_.size())) : turn_ == Turn::first ? from(0) : highest();
    words_[order / 64] &= ~(uint64_t(1) << order % 64);
    return by_order_[order];
  }

 private:
  size_t from(size_t order) const {
    size_t word = order / 64;
    uint64_t bits = words_[word] & ~uint64_t(0) << order % 64;
    while (bits == 0) {
      word = word + 1 == words_.size() ? 0 : word + 1;
      bits = words_[word];
    }
    return word * 64 + static_cast<size_t>(__builtin_ctzll(bits));
  }
  size_t highest() const {
    size_t word = words_.size() - 1;
    while (words_[word] == 0) --word;
    return word * 64 + 63 - static_cast<size_t>(__builtin_clzll(words_[word]));
  }

  Turn turn_ = Turn::random;
  size_t count_ = 0;
  std::deque<Fiber*> queue_;
  std::vector<Fiber*> list_, by_order_;
  std::vector<uint64_t> words_;
};
static Ready ready;

// ---- operations
void complete(Operation& operation);  // below, when all of them are known

inline bool complete_one() {
  if (g.pending.empty()) return false;
  const size_t which = g.operations == When::reverse ? g.pending.size() - 1 : g.operations == When::random ? dice(g.pending.size()) : 0;
  Operation operation = std::move(g.pending[which]);
  g.pending.erase(g.pending.begin() + static_cast<std::ptrdiff_t>(which));
  Fiber* const current = std::exchange(g.current, nullptr);
  complete(operation);
  g.current = current;
  return true;
}
inline void start(Operation operation) {
  g.pending.push_back(std::move(operation));
  // The completion of one may start the next.
  while (g.operations == When::eager && g.current != nullptr && complete_one()) {
  }
}
// Parts that a bulk copy of `rows` rows is done in.
inline int parts(int rows) {
  const int wanted = g.operations == When::random || g.operations == When::reverse ? 1 + static_cast<int>(dice(3)) : 1;
  return wanted < rows ? wanted : 1;
}

// ---- switching
[[noreturn]] inline void deadlock() {
  std::map<std::string, int> waits;
  for (const auto& f : g.fibers) {
    if (f->done) continue;
    const std::string what = format(f->waits_for, f->wait_numbers[0], f->wait_numbers[1]);
    ++waits[format("CTA %d, %s, program line %d", f->block, what.c_str(), f->line)];
  }
  std::string text = "deadlock: nothing can run and no operation is pending";
  for (const auto& [what, count] : waits) text += format("\n  %d threads: %s", count, what.c_str());
  g.current = nullptr;
  fail(text);
}
inline Fiber* next_fiber() {
  for (;;) {
    if (!g.pending.empty() && (g.operations == When::random || g.operations == When::reverse) && dice(32) == 0) complete_one();
    if (!ready.empty()) return ready.take();
    if (g.alive == 0) return &g.main;
    if (!complete_one()) deadlock();
  }
}
inline void arrived_from(boost::context::detail::transfer_t t) { static_cast<Fiber*>(t.data)->context = t.fctx; }
// The current fiber is ready, waits in a queue, or is done.
inline void switch_away() {
  Fiber* const me = g.current;
  Fiber* const next = next_fiber();
  if (next == me) return;
  g.current = next;
  thread = next;
  arrived_from(boost::context::detail::jump_fcontext(next->context, me));
}
inline void yield() {
  ready.add(g.current);
  switch_away();
}
void maybe_yield() {
  if (g.threads != Turn::greedy || dice(16) == 0) yield();
}
// `what` may contain two %u, for a and b.
template <class Condition>
void wait_until(Queue& queue, const Condition& condition, const char* what, uint32_t a = 0, uint32_t b = 0) {
  Fiber& f = self();
  while (!condition()) {
    f.waits_for = what;
    f.wait_numbers[0] = a;
    f.wait_numbers[1] = b;
    queue.fibers.push_back(&f);
    switch_away();
  }
}
inline void wake(Queue& queue) {
  for (Fiber* f : queue.fibers) ready.add(f);
  queue.fibers.clear();
}

// ---- groups of threads
template <class Last>
void rendezvous(Rendezvous& r, int members, const char* kind, int slot, void* mine, const Last& last) {
  if (r.count == 0) r.kind = kind;
  if (std::strcmp(r.kind, kind) != 0) fail(format("threads of one group execute different operations together: %s and %s", r.kind, kind));
  if (slot >= 0) r.slot[slot] = mine;
  if (++r.count == members) {
    last(r);
    r.count = 0;
    ++r.generation;
    wake(r.queue);
    return;
  }
  const uint64_t generation = r.generation;
  wait_until(r.queue, [&] { return r.generation != generation; }, kind);
}
template <class Last>
void warp_rendezvous(const char* kind, void* mine, const Last& last) {
  Fiber& f = self();
  rendezvous(f.cta->warps[static_cast<size_t>(f.tid / 32)], 32, kind, f.tid % 32, mine, last);
}

}  // namespace xrt_emu
