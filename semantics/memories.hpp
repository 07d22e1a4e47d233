// Memories, barrier mechanisms and the special window, one record each (decisions.md F10, F11;
// language.md 7.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/timelines.hpp"
#include "semantics/types.hpp"
#include "semantics/units.hpp"

namespace exocheck::semantics {

enum class MemoryKind : std::uint8_t {
  DRAM,
  CudaGridConstant,
  CudaGmemLinear,
  CudaSmemLinear,
  Sm90_SmemSwizzled,  // (bytes)
  CudaRmem,           // CudaRmemLinear is the same memory
  CudaRmemUniform,    // (n)
  CudaRmemPacked32,
  Sm80_RmemMatrixA,  // (M, K)
  Sm80_RmemMatrixB,  // (N, K)
  Sm80_RmemMatrixD,  // (M, N)
  Sm90_RmemMatrixA,  // declared, never usable
  Sm90_RmemMatrixD,  // (M, N)
  CudaTkWarpTile,    // (rows, columns, layout)
  CudaTkWarpVec,     // (length, layout)
  Sm90_TkRmemTileA,  // (K)
  Sm90_TkRmemTileD,  // (N)
  Sm90_tensorMap,    // special window: (swizzle, box...)
  // Abstract: parameter annotations only.
  CudaBasicDeviceVisible,
  CudaDeviceVisibleAtomicity16B,
  CudaDeviceVisibleLinear,
  CudaBasicSmem,
  CudaSmemAtomicity16B,
  CudaGmemAtomicity16B,
};

// A memory with its template arguments; equal arguments give the same type.
struct MemoryType {
  MemoryKind kind = MemoryKind::DRAM;
  std::vector<std::int64_t> arguments;
  std::string layout;  // CudaTkWarpTile, CudaTkWarpVec: 'row', 'all', 'align', ...

  // As the program writes it: "Sm90_SmemSwizzled(128)".
  std::string text() const;
  bool is(MemoryKind k) const { return kind == k; }
  friend bool operator==(const MemoryType&, const MemoryType&) = default;
};

// Access rights of one instruction timeline: create (allocate), read, write (implies read).
struct Permissions {
  bool create = false;
  bool read = false;
  bool write = false;
};

struct MemoryRecord {
  std::optional<CollUnit> native_unit;  // the collective that owns one shard; none: not distributed
  CollUnit mutate_unit;                 // collective of a plain write (collective.md 4.6)
  std::vector<std::int64_t> packed;     // shape the last dimensions must have, taken whole by every window
  Permissions cpu_in_order;
  Permissions cpu_stream;
  Permissions cuda;
  bool allocable = true;  // false: abstract, E-M02
  bool plain_read = true;
  bool plain_write = true;
  bool plain_reduce = true;
  bool constant_shape = false;  // extents must be literals after removing distributed dimensions
  bool sync_exempt = false;     // never enters the abstract machine
  bool shared = false;          // lives in SMEM: subject to the free check and the pool life time
  bool registers = false;       // touched by rmem-like QualTLs
  bool special_window = false;
  std::int64_t minimum_alignment = 0;  // bytes; 0: that of the element
};

const std::string& kind_name(MemoryKind kind);
// By name of the template; "CudaRmemLinear" finds CudaRmem.
std::optional<MemoryKind> find_memory_kind(std::string_view name);
// Why the template arguments are wrong (E-M04, E-M13, E-M16, ...): code and text.
struct MemoryError {
  std::string_view code;
  std::string message;
};
std::optional<MemoryError> check_arguments(const MemoryType& type);

// Precondition: check_arguments(type) found nothing. The element type matters for CudaRmemPacked32's packed
// shape only.
MemoryRecord memory_record(const MemoryType& type, Precision element = Precision::f32);

// Direct bases; derives_from is reflexive and transitive.
std::vector<MemoryType> bases(const MemoryType& type);
bool derives_from(const MemoryType& type, const MemoryType& base);

// The permissions row that an instruction timeline uses.
const Permissions& permissions(const MemoryRecord& record, InstrTimeline timeline);

// Initial QualTL and extended set of an access (decisions.md J5). For a special window ask for its source
// memory.
struct AccessQual {
  Qual initial;
  QualSet extended;
};
// nullopt: the table has no entry, E-D03.
std::optional<AccessQual> access_qual(Dialect dialect, const MemoryType& memory, InstrTimeline timeline);

// -------------------------------------------------------------------------------------------------
enum class MechanismKind : std::uint8_t {
  CudaMbarrier,
  CudaMbarrierPreArrive,  // R, (p)
  CudaCommitGroup,        // P
  Sm80_CommitGroup,       // R
  Sm90_TmaCommitGroup,    // R
  Sm90_WgmmaCommitGroup,  // R
  CudaClusterSync,
  CudaEvent,  // declared, never implemented: E-U20
};

struct MechanismType {
  MechanismKind kind = MechanismKind::CudaMbarrier;
  std::int64_t pre_arrive = 0;  // CudaMbarrierPreArrive

  std::string text() const;
  bool mbarrier() const {
    return kind == MechanismKind::CudaMbarrier || kind == MechanismKind::CudaMbarrierPreArrive;
  }
  bool commit_group() const {
    return kind == MechanismKind::CudaCommitGroup || kind == MechanismKind::Sm80_CommitGroup ||
           kind == MechanismKind::Sm90_TmaCommitGroup || kind == MechanismKind::Sm90_WgmmaCommitGroup;
  }
  bool cluster_sync() const { return kind == MechanismKind::CudaClusterSync; }
  friend bool operator==(const MechanismType&, const MechanismType&) = default;
};

std::optional<MechanismKind> find_mechanism_kind(std::string_view name);
std::string_view kind_name(MechanismKind kind);
// Does a trailing barrier of mechanism `formal` accept `actual`? (CudaMbarrierPreArrive derives from
// CudaMbarrier.)
bool derives_from(const MechanismType& actual, MechanismKind formal);
// The QualTL with which an instruction or sync statement uses an mbarrier object (decisions.md J5).
Qual mbarrier_qual(Dialect dialect, InstrTimeline timeline);

// What a barrier becomes in hardware; commit groups of P are told apart by their Arrive's first timeline.
enum class LoweredBarrier : std::uint8_t {
  mbarrier,
  sm80_commit_group,
  tma_commit_group,
  wgmma_commit_group,
  cluster_sync
};
std::string_view name(LoweredBarrier b);
// One live instance only (decisions.md F11, L5).
inline bool solitary(LoweredBarrier b) { return b != LoweredBarrier::mbarrier; }

}  // namespace exocheck::semantics
