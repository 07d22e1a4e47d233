#include "semantics/memories.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "semantics/errors.hpp"

namespace exocheck::semantics {
namespace {

using enum MemoryKind;

struct KindName {
  MemoryKind kind;
  std::string name;
};
const std::vector<KindName>& kind_names() {
  static const std::vector<KindName> names{
      {DRAM, "DRAM"},
      {CudaGridConstant, "CudaGridConstant"},
      {CudaGmemLinear, "CudaGmemLinear"},
      {CudaSmemLinear, "CudaSmemLinear"},
      {Sm90_SmemSwizzled, "Sm90_SmemSwizzled"},
      {CudaRmem, "CudaRmem"},
      {CudaRmemUniform, "CudaRmemUniform"},
      {CudaRmemPacked32, "CudaRmemPacked32"},
      {Sm80_RmemMatrixA, "Sm80_RmemMatrixA"},
      {Sm80_RmemMatrixB, "Sm80_RmemMatrixB"},
      {Sm80_RmemMatrixD, "Sm80_RmemMatrixD"},
      {Sm90_RmemMatrixA, "Sm90_RmemMatrixA"},
      {Sm90_RmemMatrixD, "Sm90_RmemMatrixD"},
      {CudaTkWarpTile, "CudaTkWarpTile"},
      {CudaTkWarpVec, "CudaTkWarpVec"},
      {Sm90_TkRmemTileA, "Sm90_TkRmemTileA"},
      {Sm90_TkRmemTileD, "Sm90_TkRmemTileD"},
      {Sm90_tensorMap, "Sm90_tensorMap"},
      {CudaBasicDeviceVisible, "CudaBasicDeviceVisible"},
      {CudaDeviceVisibleAtomicity16B, "CudaDeviceVisibleAtomicity16B"},
      {CudaDeviceVisibleLinear, "CudaDeviceVisibleLinear"},
      {CudaBasicSmem, "CudaBasicSmem"},
      {CudaSmemAtomicity16B, "CudaSmemAtomicity16B"},
      {CudaGmemAtomicity16B, "CudaGmemAtomicity16B"},
  };
  return names;
}

constexpr Permissions no_access{};
constexpr Permissions full_access{true, true, true};
constexpr Permissions read_only{false, true, false};
constexpr Permissions read_write{false, true, true};
constexpr Permissions create_only{true, false, false};

bool is_register_kind(MemoryKind kind) {
  switch (kind) {
    case CudaRmem:
    case CudaRmemUniform:
    case CudaRmemPacked32:
    case Sm80_RmemMatrixA:
    case Sm80_RmemMatrixB:
    case Sm80_RmemMatrixD:
    case Sm90_RmemMatrixA:
    case Sm90_RmemMatrixD:
    case CudaTkWarpTile:
    case CudaTkWarpVec:
    case Sm90_TkRmemTileA:
    case Sm90_TkRmemTileD:
      return true;
    case DRAM:
    case CudaGridConstant:
    case CudaGmemLinear:
    case CudaSmemLinear:
    case Sm90_SmemSwizzled:
    case Sm90_tensorMap:
    case CudaBasicDeviceVisible:
    case CudaDeviceVisibleAtomicity16B:
    case CudaDeviceVisibleLinear:
    case CudaBasicSmem:
    case CudaSmemAtomicity16B:
    case CudaGmemAtomicity16B:
      return false;
  }
  throw InternalError("unknown memory kind");
}

std::optional<MemoryError> expect_count(const MemoryType& type, std::size_t count) {
  if (type.arguments.size() == count) return std::nullopt;
  return MemoryError{"E-P73", fmt::format("{} takes {} template argument{}, got {}", kind_name(type.kind),
                                          count, count == 1 ? "" : "s", type.arguments.size())};
}

std::optional<MemoryError> check_tile(const MemoryType& type) {
  for (const std::int64_t extent : type.arguments) {
    if (extent <= 0 || extent % 16 != 0) {
      return MemoryError{"E-M16", fmt::format("{}: extents must be positive multiples of 16", type.text())};
    }
  }
  return std::nullopt;
}

std::optional<MemoryError> check_positive(const MemoryType& type) {
  for (const std::int64_t value : type.arguments) {
    if (value <= 0)
      return MemoryError{"E-P73", fmt::format("{}: template arguments must be positive", type.text())};
  }
  return std::nullopt;
}

std::optional<MemoryError> check_tensor_map(const MemoryType& type) {
  const auto& a = type.arguments;
  const auto bad = [&](std::string why) {
    return MemoryError{"E-M04", fmt::format("{}: {}", type.text(), why)};
  };
  if (a.size() < 2 || a.size() > 6) return bad("needs a swizzle and a box of 1 to 5 extents");
  if (a[0] != 0 && a[0] != 32 && a[0] != 64 && a[0] != 128)
    return bad("the swizzle must be 0, 32, 64 or 128");
  for (std::size_t i = 1; i < a.size(); ++i) {
    if (a[i] < 1 || a[i] > 256) return bad("box extents must lie in 1..256");
  }
  return std::nullopt;
}

MemoryRecord registers(const CollUnit& owner) {
  MemoryRecord r;
  r.native_unit = owner;
  r.mutate_unit = unit_standalone_thread();
  r.cuda = full_access;
  r.constant_shape = true;
  r.registers = true;
  return r;
}

MemoryRecord register_tile(const CollUnit& owner, std::vector<std::int64_t> packed) {
  MemoryRecord r = registers(owner);
  r.packed = std::move(packed);
  r.plain_read = r.plain_write = r.plain_reduce = false;
  return r;
}

MemoryRecord shared_memory() {
  MemoryRecord r;
  r.native_unit = unit_cta();
  r.mutate_unit = unit_standalone_thread();
  r.cuda = full_access;
  r.constant_shape = true;
  r.shared = true;
  return r;
}

MemoryType plain(MemoryKind kind) { return MemoryType{kind, {}, {}}; }

}  // namespace

const std::string& kind_name(MemoryKind kind) {
  const auto& names = kind_names();
  const auto it =
      std::find_if(names.begin(), names.end(), [kind](const KindName& n) { return n.kind == kind; });
  ensure(it != names.end(), "memory without a name");
  return it->name;
}

std::optional<MemoryKind> find_memory_kind(std::string_view name) {
  if (name == "CudaRmemLinear") return CudaRmem;
  const auto& names = kind_names();
  const auto it =
      std::find_if(names.begin(), names.end(), [name](const KindName& n) { return n.name == name; });
  if (it == names.end()) return std::nullopt;
  return it->kind;
}

std::string MemoryType::text() const {
  std::string out = kind_name(kind);
  if (arguments.empty() && layout.empty()) return out;
  out += fmt::format("({}", fmt::join(arguments, ", "));
  if (!layout.empty()) out += fmt::format("{}'{}'", arguments.empty() ? "" : ", ", layout);
  return out + ")";
}

std::optional<MemoryError> check_arguments(const MemoryType& type) {
  switch (type.kind) {
    case Sm90_SmemSwizzled: {
      if (auto e = expect_count(type, 1)) return e;
      const std::int64_t b = type.arguments[0];
      if (b != 32 && b != 64 && b != 128) {
        return MemoryError{"E-M13", fmt::format("{}: the swizzle must be 32, 64 or 128", type.text())};
      }
      return std::nullopt;
    }
    case CudaRmemUniform:
      if (auto e = expect_count(type, 1)) return e;
      return check_positive(type);
    case Sm80_RmemMatrixA:
    case Sm80_RmemMatrixB:
    case Sm80_RmemMatrixD:
    case Sm90_RmemMatrixA:
      if (auto e = expect_count(type, 2)) return e;
      return check_positive(type);
    case Sm90_RmemMatrixD: {
      if (auto e = expect_count(type, 2)) return e;
      const std::int64_t m = type.arguments[0];
      const std::int64_t n = type.arguments[1];
      if (m <= 0 || m % 64 != 0 || n % 8 != 0 || n < 8 || n > 256) {
        return MemoryError{
            "E-M16",
            fmt::format("{}: M must be a positive multiple of 64, N a multiple of 8 in 8..256", type.text())};
      }
      return std::nullopt;
    }
    case CudaTkWarpTile:
      if (auto e = expect_count(type, 2)) return e;
      return check_tile(type);
    case CudaTkWarpVec:
    case Sm90_TkRmemTileA:
    case Sm90_TkRmemTileD:
      if (auto e = expect_count(type, 1)) return e;
      return check_tile(type);
    case Sm90_tensorMap:
      return check_tensor_map(type);
    case DRAM:
    case CudaGridConstant:
    case CudaGmemLinear:
    case CudaSmemLinear:
    case CudaRmem:
    case CudaRmemPacked32:
    case CudaBasicDeviceVisible:
    case CudaDeviceVisibleAtomicity16B:
    case CudaDeviceVisibleLinear:
    case CudaBasicSmem:
    case CudaSmemAtomicity16B:
    case CudaGmemAtomicity16B:
      return expect_count(type, 0);
  }
  throw InternalError("unknown memory kind");
}

MemoryRecord memory_record(const MemoryType& type, Precision element) {
  const auto& a = type.arguments;
  MemoryRecord r;
  r.mutate_unit = unit_standalone_thread();
  switch (type.kind) {
    case DRAM:
      r.cpu_in_order = full_access;
      r.cpu_stream = full_access;
      r.sync_exempt = true;
      return r;
    case CudaGridConstant:
      r.cpu_in_order = full_access;
      r.cpu_stream = full_access;
      r.cuda = read_only;
      r.constant_shape = true;
      r.sync_exempt = true;
      return r;
    case CudaGmemLinear:
      r.cpu_in_order = create_only;
      r.cpu_stream = full_access;
      r.cuda = read_write;
      r.minimum_alignment = 256;
      return r;
    case CudaSmemLinear:
      return shared_memory();
    case Sm90_SmemSwizzled:
      r = shared_memory();
      r.minimum_alignment = 8 * a[0];
      return r;
    case CudaRmem:
      return registers(unit_thread());
    case CudaRmemUniform:
      r = registers(scale(a[0], unit_thread()).unit);
      r.mutate_unit = *r.native_unit;
      return r;
    case CudaRmemPacked32:
      r = registers(unit_thread());
      r.plain_write = r.plain_reduce = false;
      r.packed = {32 / bits(element)};
      return r;
    case Sm80_RmemMatrixA:
    case Sm80_RmemMatrixD:
      return register_tile(unit_warp(), {a[0], a[1]});
    case Sm80_RmemMatrixB:
      return register_tile(unit_warp(), {a[1], a[0]});
    case Sm90_RmemMatrixA:
      r = register_tile(unit_warpgroup(), {a[0], a[1]});
      r.allocable = false;
      return r;
    case Sm90_RmemMatrixD:
      return register_tile(unit_warpgroup(), {a[0], a[1]});
    case CudaTkWarpTile:
      r = register_tile(unit_warp(), {a[0], a[1]});
      return r;
    case CudaTkWarpVec:
      return register_tile(unit_warp(), {a[0]});
    case Sm90_TkRmemTileA:
    case Sm90_TkRmemTileD:
      return register_tile(unit_warp(), {16, a[0]});
    case Sm90_tensorMap:
      r.cpu_in_order = create_only;
      r.cpu_stream = full_access;
      r.cuda = read_write;
      r.special_window = true;
      r.allocable = false;
      return r;
    case CudaBasicSmem:
    case CudaSmemAtomicity16B:
      r = shared_memory();
      r.allocable = false;
      return r;
    case CudaBasicDeviceVisible:
    case CudaDeviceVisibleAtomicity16B:
    case CudaDeviceVisibleLinear:
    case CudaGmemAtomicity16B:
      // A formal parameter of such a memory stands for any of its descendants.
      r.cpu_in_order = r.cpu_stream = r.cuda = full_access;
      r.allocable = false;
      return r;
  }
  throw InternalError("unknown memory kind");
}

std::vector<MemoryType> bases(const MemoryType& type) {
  switch (type.kind) {
    case CudaGridConstant:
      return {plain(CudaDeviceVisibleLinear), plain(DRAM)};
    case CudaGmemLinear:
      return {plain(CudaDeviceVisibleLinear), plain(CudaGmemAtomicity16B)};
    case CudaSmemLinear:
      return {plain(CudaDeviceVisibleLinear), plain(CudaSmemAtomicity16B)};
    case Sm90_SmemSwizzled:
      return {plain(CudaSmemAtomicity16B)};
    case CudaRmem:
      return {plain(CudaDeviceVisibleLinear)};
    case CudaRmemUniform:
      if (type.arguments == std::vector<std::int64_t>{1}) return {plain(CudaRmem)};
      return {plain(CudaDeviceVisibleLinear)};
    case CudaTkWarpTile:
    case CudaTkWarpVec:
      if (type.layout == "all") return {plain(CudaBasicDeviceVisible)};
      return {MemoryType{type.kind, type.arguments, "all"}};
    case Sm90_TkRmemTileA:
    case Sm90_TkRmemTileD:
      return {MemoryType{CudaTkWarpTile, {16, type.arguments[0]}, "row"}};
    case CudaDeviceVisibleAtomicity16B:
      return {plain(CudaBasicDeviceVisible)};
    case CudaDeviceVisibleLinear:
    case CudaGmemAtomicity16B:
      return {plain(CudaDeviceVisibleAtomicity16B)};
    case CudaBasicSmem:
      return {plain(CudaBasicDeviceVisible)};
    case CudaSmemAtomicity16B:
      return {plain(CudaDeviceVisibleAtomicity16B), plain(CudaBasicSmem)};
    case CudaRmemPacked32:
    case Sm80_RmemMatrixA:
    case Sm80_RmemMatrixB:
    case Sm80_RmemMatrixD:
    case Sm90_RmemMatrixA:
    case Sm90_RmemMatrixD:
      return {plain(CudaBasicDeviceVisible)};
    case DRAM:
    case Sm90_tensorMap:
    case CudaBasicDeviceVisible:
      return {};
  }
  throw InternalError("unknown memory kind");
}

bool derives_from(const MemoryType& type, const MemoryType& base) {
  if (type == base) return true;
  const auto direct = bases(type);
  return std::any_of(direct.begin(), direct.end(),
                     [&](const MemoryType& b) { return derives_from(b, base); });
}

const Permissions& permissions(const MemoryRecord& record, InstrTimeline timeline) {
  if (timeline == InstrTimeline::cpu_in_order) return record.cpu_in_order;
  if (timeline == InstrTimeline::cpu_cuda_stream) return record.cpu_stream;
  return record.cuda;
}

std::optional<AccessQual> access_qual(Dialect dialect, const MemoryType& memory, InstrTimeline timeline) {
  using enum Qual;
  const auto only = [](Qual q) { return AccessQual{q, {q}}; };
  const bool r = dialect == Dialect::R;
  if (is_register_kind(memory.kind)) {
    switch (timeline) {
      case InstrTimeline::cuda_in_order:
      case InstrTimeline::Sm80_cp_async:
      case InstrTimeline::tma_to_smem_async:
      case InstrTimeline::tma_to_gmem_async:
        return only(rmem);
      case InstrTimeline::wgmma_zero:
        return AccessQual{wg0, {wg0, wgD}};
      case InstrTimeline::wgmma_async:
        if (memory.is(Sm90_RmemMatrixD) || memory.is(Sm90_TkRmemTileD)) return AccessQual{wgD, {wgD, wg0}};
        if (memory.is(Sm90_RmemMatrixA) || memory.is(Sm90_TkRmemTileA)) return only(wgA);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }
  const bool host_only = memory.is(DRAM);
  switch (timeline) {
    case InstrTimeline::cpu_in_order:
      return only(cpu);
    case InstrTimeline::cpu_cuda_stream:
      return only(strm);
    default:
      break;
  }
  if (host_only) return std::nullopt;
  switch (timeline) {
    case InstrTimeline::cuda_in_order:
      return only(ram);
    case InstrTimeline::Sm80_cp_async:
      return r ? AccessQual{cp80, {cp80, ram}} : only(cp80);
    case InstrTimeline::tma_to_smem_async:
      return r ? AccessQual{g2s, {g2s, async}} : only(g2s);
    case InstrTimeline::tma_to_gmem_async:
      return r ? AccessQual{s2g, {s2g, async}} : only(s2g);
    case InstrTimeline::wgmma_async:
      return r ? AccessQual{wgS, {wgS, async}} : only(wgS);
    default:
      return std::nullopt;
  }
}

// -------------------------------------------------------------------------------------------------
namespace {

constexpr std::array<std::string_view, 8> mechanism_names{
    "CudaMbarrier",        "CudaMbarrierPreArrive", "CudaCommitGroup", "Sm80_CommitGroup",
    "Sm90_TmaCommitGroup", "Sm90_WgmmaCommitGroup", "CudaClusterSync", "CudaEvent"};

}  // namespace

std::string_view kind_name(MechanismKind kind) { return mechanism_names[static_cast<std::size_t>(kind)]; }

std::optional<MechanismKind> find_mechanism_kind(std::string_view name) {
  const auto it = std::find(mechanism_names.begin(), mechanism_names.end(), name);
  if (it == mechanism_names.end()) return std::nullopt;
  return static_cast<MechanismKind>(it - mechanism_names.begin());
}

std::string MechanismType::text() const {
  if (kind == MechanismKind::CudaMbarrierPreArrive) return fmt::format("{}({})", kind_name(kind), pre_arrive);
  return std::string(kind_name(kind));
}

bool derives_from(const MechanismType& actual, MechanismKind formal) {
  return actual.kind == formal ||
         (actual.kind == MechanismKind::CudaMbarrierPreArrive && formal == MechanismKind::CudaMbarrier);
}

Qual mbarrier_qual(Dialect dialect, InstrTimeline timeline) {
  if (dialect == Dialect::R) return Qual::mbar;
  switch (timeline) {
    case InstrTimeline::Sm80_cp_async:
      return Qual::cp80;
    case InstrTimeline::tma_to_smem_async:
      return Qual::g2s;
    default:
      return Qual::ram;
  }
}

std::string_view name(LoweredBarrier b) {
  switch (b) {
    case LoweredBarrier::mbarrier:
      return "mbarrier";
    case LoweredBarrier::sm80_commit_group:
      return "cp.async commit group";
    case LoweredBarrier::tma_commit_group:
      return "TMA store commit group";
    case LoweredBarrier::wgmma_commit_group:
      return "wgmma commit group";
    case LoweredBarrier::cluster_sync:
      return "cluster sync";
  }
  throw InternalError("unknown barrier");
}

}  // namespace exocheck::semantics
