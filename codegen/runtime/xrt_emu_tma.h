// Bulk tensor copies. Part of xrt_emulator.cc.
#pragma once

#include "xrt_emu_memory.h"

namespace xrt_emu {

struct Box {
  int rows = 1, row_bytes = 0;  // in shared memory, row-major
  int bytes() const { return rows * row_bytes; }
};
inline Box box_of(const XrtTensorMap& map) {
  Box box;
  for (int d = 0; d + 1 < map.rank; ++d) box.rows *= map.box[d];
  box.row_bytes = map.box[map.rank - 1] * 4;
  return box;
}
inline void check_tile(uint32_t address, const Box& box) {
  if (address % 128 != 0) fail("a bulk tensor copy at a shared memory address that is no multiple of 128");
  if (static_cast<int>(address & 0xFFFFFF) + box.bytes() > g.smem_bytes) fail("a bulk tensor copy past the end of shared memory");
}

// Calls use(shared offset, pointer or null, elements) for the runs of elements of a row that lie next to each other on both
// sides; null: outside of the tensor.
template <class Use>
void for_row(const Operation& o, int row, const Use& use) {
  const XrtTensorMap& map = *o.map;
  bool inside = true;
  int64_t position = 0;
  int rest = row;
  for (int d = map.rank - 1; d-- > 0;) {
    const int64_t index = o.c[map.rank - 1 - d] + rest % map.box[d];
    rest /= map.box[d];
    inside = inside && index >= 0 && index < map.extent[d];
    position += index * map.stride[d];
  }
  const int length = map.box[map.rank - 1], run = map.swizzle == 0 ? length : 4;
  const int64_t extent = map.extent[map.rank - 1];
  for (int i = 0; i < length; i += run) {
    const uint32_t at = swizzle(static_cast<uint32_t>(o.at + (row * length + i) * 4), map.swizzle);
    const int64_t begin = o.c[0] + i, end = begin + run;
    const int64_t low = std::min(std::max<int64_t>(begin, 0), end), high = std::max(std::min(end, extent), low);
    if (!inside || low == high) {
      use(at, static_cast<float*>(nullptr), run);
      continue;
    }
    if (begin < low) use(at, static_cast<float*>(nullptr), static_cast<int>(low - begin));
    use(at + static_cast<uint32_t>((low - begin) * 4), map.base + position + low, static_cast<int>(high - low));
    if (high < end) use(at + static_cast<uint32_t>((high - begin) * 4), static_cast<float*>(nullptr), static_cast<int>(end - high));
  }
}

// Starts the copy of the box in parts that complete on their own; the parts of a swizzled box are multiples of its pattern.
inline int start_parts(Operation o, const Box& box) {
  const int step = o.map->swizzle != 0 ? 8 : 1;
  const int count = o.at % (step * box.row_bytes) == 0 || step == 1 ? parts(box.rows / step) : 1;
  for (int i = 0; i < count; ++i) {
    o.first = box.rows / step * i / count * step;
    o.last = i + 1 == count ? box.rows : box.rows / step * (i + 1) / count * step;
    start(o);
  }
  return count;
}

// A copy of the box at `c`, between the map's tensor and shared memory at `address`.
inline Operation tile_operation(Operation::Kind kind, const XrtTensorMap& map, const int* c, uint32_t address) {
  Fiber& f = self();
  Operation o;
  o.kind = kind;
  o.fiber = &f;
  o.line = f.line;
  o.map = &map;
  std::copy(c, c + map.rank, o.c);
  o.at = static_cast<int>(address & 0xFFFFFF);
  return o;
}

inline void issue_load(const XrtTensorMap& map, const int* c, uint32_t to, uint32_t bar, uint32_t mask) {
  const Box box = box_of(map);
  check_tile(to, box);
  Fiber& f = self();
  Operation o = tile_operation(Operation::load, map, c, to);
  o.bar = bar;
  for (uint32_t rank = 0; rank < 32; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    if (rank >= f.cluster->ctas.size()) fail("a multicast to a CTA that is not in the cluster");
    o.cta = f.cluster->ctas[rank];
    if (o.cta->started == 0 || o.cta->exited == g.block_dim) fail("a multicast to a CTA that has not started or has ended");
    barrier_at(*o.cta, bar);
    for (int w = o.at / 4; w < (o.at + box.bytes()) / 4; ++w) {
      if ((o.cta->flags[static_cast<size_t>(w)] & mbarrier) != 0) fail("a write over an mbarrier");
    }
    mark_in_flight(*o.cta, o.at, box.bytes(), 1);
    std::memset(o.cta->smem + o.at, 0xFF, static_cast<size_t>(box.bytes()));
    start_parts(o, box);
  }
}
inline void complete_load(const Operation& o) {
  Cta& cta = *o.cta;
  const Box box = box_of(*o.map);
  for (int row = o.first; row < o.last; ++row) {
    for_row(o, row, [&](uint32_t at, const float* from, int count) {
      const int bytes = count * 4;
      if (from == nullptr) {
        std::memset(cta.smem + at, 0, static_cast<size_t>(bytes));
        return;
      }
      check_global_published(from, bytes, "bulk tensor load", o.line);
      std::memcpy(cta.smem + at, from, static_cast<size_t>(bytes));
    });
  }
  const int at = o.at + o.first * box.row_bytes, bytes = (o.last - o.first) * box.row_bytes;
  mark_in_flight(cta, at, bytes, -1);
  mark_published(cta, at, bytes);
  Mbarrier& barrier = barrier_at(cta, o.bar);
  barrier.tx -= bytes;
  check_phase(barrier);
}

inline void issue_store(const XrtTensorMap& map, const int* c, uint32_t from, bool reduce) {
  const Box box = box_of(map);
  check_tile(from, box);
  Fiber& f = self();
  Operation o = tile_operation(Operation::store, map, c, from);
  o.cta = f.cta;
  o.reduce = reduce;
  o.group = f.bulk_groups.size() - 1;
  check_published(*f.cta, o.at, box.bytes(), "bulk tensor store", f.line);
  const char* source = f.cta->smem + o.at;
  o.source = std::make_shared<std::vector<char>>(source, source + box.bytes());
  f.bulk_groups[o.group] += 1;  // until all parts are known
  f.bulk_groups[o.group] += start_parts(o, box) - 1;
}
inline void complete_store(const Operation& o) {
  Cta& cta = *o.cta;
  const Box box = box_of(*o.map);
  const int begin = o.first * box.row_bytes, bytes = (o.last - o.first) * box.row_bytes;
  check_published(cta, o.at + begin, bytes, "bulk tensor store", o.line);
  if (std::memcmp(o.source->data() + begin, cta.smem + o.at + begin, static_cast<size_t>(bytes)) != 0) {
    fail(format("shared memory is overwritten while the bulk tensor store of line %d still reads it", o.line));
  }
  for (int row = o.first; row < o.last; ++row) {
    for_row(o, row, [&](uint32_t at, float* to, int count) {
      if (to == nullptr) return;
      if (o.reduce) check_global_published(to, count * 4, "bulk tensor reduction", o.line);
      global_async_write(to, count * 4);
      for (int i = 0; i < count; ++i) {
        float value;
        std::memcpy(&value, cta.smem + at + 4 * i, 4);
        to[i] = o.reduce ? to[i] + value : value;
      }
    });
  }
  --o.fiber->bulk_groups[o.group];
  wake(o.fiber->bulk_queue);
}

// All 32 lanes come together; one issues, not always the same. Mask 0: this CTA alone.
void tma_load(uint32_t to, const XrtTensorMap& map, const int* c, int rank, uint32_t bar, int arriving, uint32_t mask) {
  if (map.rank != rank) fail("a tensor map of another rank than the copy");
  publish_stores();
  warp_rendezvous("TMA load", nullptr, [](auto&) {});
  Fiber& f = self();
  if (f.tid % 32 != static_cast<int>(g.seed % 32)) return;
  maybe_yield();
  barrier_at(*f.cta, bar).tx += arriving;
  maybe_yield();
  issue_load(map, c, to, bar, mask == 0 ? 1u << f.cta->rank : mask);
}
void tma_store(const XrtTensorMap& map, const int* c, int rank, uint32_t from, bool reduce) {
  if (map.rank != rank) fail("a tensor map of another rank than the copy");
  publish_stores();
  warp_rendezvous(reduce ? "TMA reduction" : "TMA store", nullptr, [](auto&) {});
  if (self().tid % 32 == 0) issue_store(map, c, from, reduce);
}
void bulk_wait(int groups) {
  Fiber& f = self();
  if (f.tid % 32 == 0) {
    // Closed groups but for the newest have no operation left.
    const auto over = [&] {
      const size_t closed = f.bulk_groups.size() - 1;
      for (size_t i = 0; i + static_cast<size_t>(groups) < closed; ++i) {
        if (f.bulk_groups[i] != 0) return false;
      }
      return true;
    };
    wait_until(f.bulk_queue, over, "cp.async.bulk.wait_group");
  }
  xrt_syncwarp();
}

}  // namespace xrt_emu

void xrt_bulk_commit() {
  if (xrt_emu::self().tid % 32 == 0) xrt_emu::self().bulk_groups.push_back(0);
}
