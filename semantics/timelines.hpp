// Timelines of both dialects, as data (abstract-machine.md 1.4-1.6, decisions.md A3, J1-J3).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exocheck::semantics {

// P: the paper's language. R: the language of mid-2026 (managed ring buffers). decisions.md A1.
enum class Dialect : std::uint8_t { P, R };

// The mechanism by which an element is touched.
enum class Qual : std::uint8_t {
  cpu,
  strm,
  rmem,
  ram,
  mbar,
  cp80,
  g2s,
  s2g,
  wgA,
  wgD,
  wgS,
  wg0,
  async,
};
inline constexpr int qual_count = 13;

// A set of QualTLs.
class QualSet {
 public:
  constexpr QualSet() = default;
  constexpr QualSet(std::initializer_list<Qual> quals) {
    for (const Qual q : quals) bits_ = static_cast<std::uint16_t>(bits_ | bit(q));
  }
  static constexpr QualSet from_bits(std::uint16_t bits) {
    QualSet s;
    s.bits_ = bits;
    return s;
  }

  constexpr std::uint16_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains(Qual q) const { return (bits_ & bit(q)) != 0; }
  constexpr bool contains(QualSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool meets(QualSet other) const { return (bits_ & other.bits_) != 0; }
  friend constexpr QualSet operator|(QualSet a, QualSet b) {
    return from_bits(static_cast<std::uint16_t>(a.bits_ | b.bits_));
  }
  friend constexpr QualSet operator&(QualSet a, QualSet b) {
    return from_bits(static_cast<std::uint16_t>(a.bits_ & b.bits_));
  }
  friend constexpr QualSet operator-(QualSet a, QualSet b) {
    return from_bits(static_cast<std::uint16_t>(a.bits_ & ~b.bits_));
  }
  friend constexpr bool operator==(QualSet, QualSet) = default;

  std::vector<Qual> members() const;

 private:
  static constexpr std::uint16_t bit(Qual q) {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(q));
  }
  std::uint16_t bits_ = 0;
};

struct QualRecord {
  Qual qual;
  std::string_view short_name;  // "cp80"
  std::string_view long_name;   // "Sm80_cp_async_qual"
  bool convergent;              // default convergence of an access with this initial QualTL (decisions.md J6)
  std::string_view meaning;
};
const QualRecord& qual_record(Qual q);
std::span<const QualRecord> all_quals();

// QualTLs of the async proxy: {g2s, s2g, wgS}.
inline constexpr QualSet async_proxy_quals{Qual::g2s, Qual::s2g, Qual::wgS};

// Which instructions touch memory in which way.
enum class InstrTimeline : std::uint8_t {
  cpu_in_order,
  cpu_cuda_stream,
  cuda_in_order,
  Sm80_cp_async,
  tma_to_smem_async,
  tma_to_gmem_async,
  wgmma_async,
  wgmma_zero,
  tcgen05_mma,
  tcgen05_cp,
  tcgen05_shift,
  tcgen05_ld,
  tcgen05_st,
};
std::string_view name(InstrTimeline t);  // "cuda_in_order_instr"
// Accepts the `_instr` name and the sync-timeline names that stand for one (language.md 2.8 `tl`).
std::optional<InstrTimeline> find_instr_timeline(std::string_view name);
bool is_cpu(InstrTimeline t);
// In-order timelines need no explicit out-of-order flags (E-I05).
bool is_in_order(InstrTimeline t);

// Names that stand in a Fence, Arrive or Await.
enum class SyncTl : std::uint8_t {
  empty_sync_tl,
  cpu_in_order,
  cuda_stream_sync,
  cuda_in_order,
  cuda_temporal,
  Sm80_cp_async,
  Sm80_generic,
  tma_to_smem_async,
  tma_to_gmem_async,
  wgmma_async_smem,
  wgmma_fence_1,
  wgmma_fence_2,
  wgmma_async,
  cuda_async_proxy,
  cuda_async_proxy_wgmma,
  cuda_generic_and_async_proxy,
  tcgen05_commit,
  tcgen05_ld,
  tcgen05_st,
};

struct SyncTimeline {
  SyncTl id;
  std::string_view name;
  bool transitive;
  QualSet full;
  QualSet temporal;  // contains full
};

std::string_view name(SyncTl t);
// By name in either dialect; nullopt if unknown in both.
std::optional<SyncTl> find_sync_timeline(std::string_view name);
// Does the dialect have the timeline at all?
bool exists(Dialect d, SyncTl t);
// The dialect's sets. Precondition: exists(d, t).
const SyncTimeline& sync_timeline(Dialect d, SyncTl t);
std::span<const SyncTimeline> all_sync_timelines(Dialect d);

// "a covers b" as second timeline: full and temporal sets of b lie in those of a (language.md 10.2).
bool covers_as_second(Dialect d, SyncTl a, SyncTl b);
// As first timeline: the same, and in P a transitive one is covered only by a transitive one (decisions.md
// J4).
bool covers_as_first(Dialect d, SyncTl a, SyncTl b);

}  // namespace exocheck::semantics
