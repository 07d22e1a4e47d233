// mma.sync and wgmma. Part of xrt_emulator.cc.
#pragma once

#include "xrt_emu_memory.h"

namespace xrt_emu {

inline float tf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xFFFFE000u); }
inline float tf32(float value) { return tf32(std::bit_cast<uint32_t>(value)); }

// rows x 8 elements of a K-major operand in 128-byte swizzled shared memory.
inline std::vector<float> operand(const Cta& cta, uint64_t desc, int rows, int line) {
  if (desc >> 62 != 1) fail(format("a matrix descriptor without 128-byte swizzle (line %d)", line));
  const auto start = static_cast<uint32_t>(desc & 0x3FFF) << 4, stride = static_cast<uint32_t>(desc >> 32 & 0x3FFF) << 4;
  std::vector<float> values(static_cast<size_t>(rows) * 8);
  for (int row = 0; row < rows; ++row) {
    for (int chunk = 0; chunk < 2; ++chunk) {
      const uint32_t a = start + static_cast<uint32_t>(row / 8) * stride + static_cast<uint32_t>(row % 8 * 128 + chunk * 16);
      const auto at = static_cast<int>(swizzle(a, 128));
      if (at + 16 > g.smem_bytes) fail(format("a matrix descriptor past the end of shared memory (line %d)", line));
      check_published(cta, at, 16, "wgmma read", line);
      float* const to = &values[static_cast<size_t>(row * 8 + chunk * 4)];
      std::memcpy(to, cta.smem + at, 16);
      for (int i = 0; i < 4; ++i) to[i] = tf32(to[i]);
    }
  }
  return values;
}

// Calls use(element of the member's fragment, element of the 64 x n matrix).
template <class Use>
void for_fragment(int member, int n, const Use& use) {
  const int lane = member % 32, m = 16 * (member / 32) + lane / 4, column = 2 * (lane % 4);
  for (int i = 0; i < n / 2; ++i) use(i, static_cast<size_t>((m + 8 * (i / 2 % 2)) * n + 8 * (i / 4) + column + i % 2));
}

inline Warpgroup& warpgroup_of(const Fiber& f) { return f.cta->warpgroups[static_cast<size_t>(f.tid / 128)]; }
inline Accumulator* accumulator_of(const Fiber& f, const float* registers) {
  for (const auto& a : warpgroup_of(f).accumulators) {
    if (a->registers[f.tid % 128] == registers) return a.get();
  }
  return nullptr;
}
inline bool has_accumulators(const Fiber& f) {
  for (const auto& a : warpgroup_of(f).accumulators) {
    if (a->registers[f.tid % 128] != nullptr) return true;
  }
  return false;
}
inline void leave(Accumulator& a, int member) {
  a.registers[member] = nullptr;
  --a.members;
}

// The thread's registers join the accumulator of the operation.
inline void join(Fiber& f, Warpgroup& w, Wgmma& op, float* d) {
  const int t = f.tid % 128, n = op.n;
  Accumulator* const mine = accumulator_of(f, d);
  if (mine == nullptr && !f.wgmma_fenced) fail("a wgmma on registers without a wgmma.fence before it");
  if (op.accumulator == nullptr) {
    if (mine == nullptr) {
      w.accumulators.push_back(std::make_unique<Accumulator>());
      w.accumulators.back()->n = n;
      w.accumulators.back()->value.assign(static_cast<size_t>(64 * n), std::numeric_limits<float>::quiet_NaN());
    }
    op.accumulator = mine == nullptr ? w.accumulators.back().get() : mine;
  }
  Accumulator& a = *op.accumulator;
  if (a.n != n || (mine == nullptr && a.registers[t] != nullptr)) fail("the threads of a warpgroup issue wgmma operations on different registers");
  if (mine != &a) {
    if (mine == nullptr) {
      for_fragment(t, n, [&](int i, size_t e) { a.value[e] = d[i]; });
      std::fill(d, d + n / 2, std::numeric_limits<float>::quiet_NaN());
    } else {
      // Others have seen the end of the operations on these registers, this thread has not looked.
      if (mine->last > w.complete) fail("the threads of a warpgroup issue wgmma operations on different registers");
      for_fragment(t, n, [&](int, size_t e) { a.value[e] = mine->value[e]; });
      leave(*mine, t);
    }
    a.registers[t] = d;
    ++a.members;
  }
  a.last = std::max(a.last, f.wgmma_issued);
}

inline void start_first(Cta* cta, size_t group) {
  Warpgroup& w = cta->warpgroups[group];
  if (w.operations.empty() || w.operations.front().issued != 128) return;
  Operation o;
  o.kind = Operation::wgmma;
  o.cta = cta;
  o.warpgroup = group;
  start(std::move(o));
}
inline void complete_wgmma(const Operation& o) {
  Warpgroup& w = o.cta->warpgroups[o.warpgroup];
  const Wgmma op = std::move(w.operations.front());
  w.operations.pop_front();
  const auto same = [](const std::vector<float>& x, const std::vector<float>& y) { return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0; };
  if (!same(op.left, operand(*o.cta, op.a, 64, op.line)) || !same(op.right, operand(*o.cta, op.b, op.n, op.line))) {
    fail(format("shared memory is overwritten while the wgmma of line %d still reads it", op.line));
  }
  typedef float Lanes __attribute__((vector_size(32), aligned(4)));
  const int n = op.n;
  std::vector<float> right(static_cast<size_t>(n) * 8);  // k-major
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < 8; ++k) right[static_cast<size_t>(k * n + j)] = op.right[static_cast<size_t>(j * 8 + k)];
  }
  float* const value = op.accumulator->value.data();
  if (op.scale_d == 0) std::fill(value, value + 64 * n, 0.0f);
  for (int m = 0; m < 64; ++m) {
    const float* const left = &op.left[static_cast<size_t>(m * 8)];
    for (int j = 0; j < n; j += 8) {
      Lanes& sum = *reinterpret_cast<Lanes*>(value + m * n + j);
      Lanes s = sum;
      for (int k = 0; k < 8; ++k) s += *reinterpret_cast<const Lanes*>(&right[static_cast<size_t>(k * n + j)]) * left[k];
      sum = s;
    }
  }
  ++w.complete;
  wake(w.queue);
  start_first(o.cta, o.warpgroup);
}
// The thread's registers whose operations are all complete get their values back.
inline void settle(Fiber& f) {
  Warpgroup& w = warpgroup_of(f);
  const int t = f.tid % 128;
  for (const auto& a : w.accumulators) {
    float* const d = a->registers[t];
    if (d == nullptr || a->last > w.complete) continue;
    for_fragment(t, a->n, [&](int i, size_t e) { d[i] = a->value[e]; });
    leave(*a, t);
  }
  std::erase_if(w.accumulators, [&](const auto& a) { return a->members == 0 && a->last <= w.complete; });
}

// m16n8k: lane l holds the elements that the register tiles of xrt.h name.
void mma(int k, float* d, const uint32_t* a, const uint32_t* b) {
  struct Item {
    float* d;
    const uint32_t *a, *b;
  } item{d, a, b};
  warp_rendezvous("mma", &item, [k](auto& r) {
    const auto lane = [&](int l) { return static_cast<Item*>(r.slot[l]); };
    float left[16][8], right[8][8];
    for (int i = 0; i < k; ++i) {
      for (int m = 0; m < 16; ++m) left[m][i] = tf32(lane(m % 8 * 4 + i % 4)->a[m / 8 + 2 * (i / 4)]);
      for (int n = 0; n < 8; ++n) right[n][i] = tf32(lane(n * 4 + i % 4)->b[i / 4]);
    }
    for (int l = 0; l < 32; ++l) {
      for (int e = 0; e < 4; ++e) {
        const int m = l / 4 + 8 * (e / 2), n = 2 * (l % 4) + e % 2;
        float sum = lane(l)->d[e];
        for (int i = 0; i < k; ++i) sum += left[m][i] * right[n][i];
        lane(l)->d[e] = sum;
      }
    }
  });
}

void wgmma(int n, float* d, uint64_t a, uint64_t b, int scale_d) {
  Fiber& f = self();
  maybe_yield();
  Warpgroup& w = warpgroup_of(f);
  const uint64_t number = f.wgmma_issued++;
  while (w.complete + w.operations.size() <= number) {
    Wgmma op;
    op.n = n;
    op.a = a;
    op.b = b;
    op.scale_d = scale_d;
    op.line = f.line;
    w.operations.push_back(std::move(op));
  }
  const size_t place = static_cast<size_t>(number - w.complete);
  Wgmma& op = w.operations[place];
  if (op.n != n || op.a != a || op.b != b || op.scale_d != scale_d) fail("the threads of a warpgroup issue different wgmma operations");
  join(f, w, op, d);
  if (++op.issued != 128) return;
  op.left = operand(*f.cta, a, 64, f.line);
  op.right = operand(*f.cta, b, n, f.line);
  if (place == 0) start_first(f.cta, static_cast<size_t>(f.tid / 128));
}
void wgmma_wait(int wanted) {
  Fiber& f = self();
  maybe_yield();
  Warpgroup& w = warpgroup_of(f);
  const size_t groups = f.wgmma_groups.size(), left = static_cast<size_t>(wanted);
  const uint64_t needed = groups > left ? f.wgmma_groups[groups - 1 - left] : 0;
  wait_until(w.queue, [&] { return w.complete >= needed; }, "wgmma.wait_group");
  settle(f);
}
void wgmma_use(const float* d) {
  if (accumulator_of(self(), d) != nullptr) fail("a read of accumulator registers that a wgmma is still writing");
  self().wgmma_fenced = false;
}

}  // namespace xrt_emu

void xrt_wgmma_fence() { xrt_emu::self().wgmma_fenced = true; }
void xrt_wgmma_commit() { xrt_emu::self().wgmma_groups.push_back(xrt_emu::self().wgmma_issued); }
