// The built-in instruction library (decisions.md G, H): every instruction has instances, and the records of
// dialect P say what the tables say.
#include "frontend/instr_library.hpp"

#include <set>

#include "elaborate_checks.hpp"
#include "frontend/instr_instance.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::frontend;
using exocheck::semantics::Precision;
namespace ir = exocheck::semantics::ir;
namespace semantics = exocheck::semantics;

namespace {

// Behaviours mention nothing of the file.
class NoFile : public FileScope {
 public:
  std::optional<std::size_t> find_procedure(std::string_view) const override { return std::nullopt; }
  const ir::Procedure* signature(std::size_t) const override { return nullptr; }
  const InstrDefinition* find_instr(std::string_view) const override { return nullptr; }
  const ir::Config* find_config(std::string_view) const override { return nullptr; }
  bool is_unparsed(std::string_view) const override { return false; }
  std::vector<std::string> callable_names() const override { return {}; }
  InstanceResult instance(const InstrDefinition&, const TemplateValues&) override {
    throw semantics::InternalError("behaviours call nothing");
  }
};

MetaValue integer(std::int64_t v) { return {v}; }
MetaValue box(std::vector<std::int64_t> extents) {
  MetaTuple t;
  for (const std::int64_t e : extents) t.items.push_back(integer(e));
  return {t};
}

// What to try for one keyword.
std::vector<MetaValue> candidates(const InstrDefinition& d, const std::string& keyword) {
  const auto is = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), keyword) != names.end();
  };
  if (is(d.precisions)) return {{Precision::f32}, {Precision::f16}, {Precision::e4m3}};
  if (keyword == "smem_box")
    return {box({32}),        box({64}),           box({16, 64}),
            box({1, 16, 64}), box({1, 1, 16, 64}), box({1, 1, 1, 16, 64}),
            box({32, 64})};
  if (keyword == "layout") return {{std::string("row")}, {std::string("align")}};
  if (keyword == "mem") return {{std::string("shared")}, {std::string("global")}};
  if (keyword == "cta_stride") return {integer(1)};
  if (keyword == "ncta") return {integer(2)};
  if (keyword.starts_with("size") && keyword.size() == 5) {
    return {integer(1), integer(4), integer(16), integer(32), integer(64)};
  }
  return {integer(1),  integer(2),  integer(4),  integer(8),
          integer(16), integer(32), integer(64), integer(256)};
}

std::optional<InstanceResult> some_instance(const InstrDefinition& d) {
  NoFile file;
  std::vector<std::string> keywords;
  for (const std::string& k : d.keywords()) {
    const auto extra =
        std::find_if(d.extras.begin(), d.extras.end(), [&](const auto& x) { return x.name == k; });
    if (extra == d.extras.end() || !extra->default_value) keywords.push_back(k);
  }
  std::vector<std::vector<MetaValue>> choices;
  for (const std::string& k : keywords) choices.push_back(candidates(d, k));
  std::vector<std::size_t> at(keywords.size());
  std::optional<InstanceResult> last;
  for (;;) {
    TemplateValues values;
    for (std::size_t i = 0; i < keywords.size(); ++i) values.emplace_back(keywords[i], choices[i][at[i]]);
    last = build_instance(file, d, values);
    if (last->instr) return last;
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size()) at[i++] = 0;
    if (i == at.size()) return last;
  }
}

const InstrDefinition& definition(const std::string& name) { return instr_library().at(name); }

InstanceResult instance(const std::string& name, const TemplateValues& values) {
  NoFile file;
  return build_instance(file, definition(name), values);
}

// "dst=wo/o src=ro/i": access mode and order of every data parameter.
std::string accesses(const ir::Instr& instr) {
  std::string out;
  for (const ir::InstrParameter& p : instr.parameters) {
    const ir::Symbol& s = instr.behaviour.symbol(p.var);
    if (s.control()) continue;
    const char* mode = p.mode == ir::AccessMode::read_only    ? "ro"
                       : p.mode == ir::AccessMode::write_only ? "wo"
                       : p.mode == ir::AccessMode::read_write ? "rw"
                                                              : "-";
    out += (out.empty() ? "" : " ") + s.name + "=" + mode + (p.out_of_order ? "/o" : "/i");
  }
  return out;
}

std::string memory(const ir::Instr& instr, std::size_t parameter) {
  return instr.behaviour.symbol(instr.behaviour.parameters.at(parameter)).memory->text();
}

}  // namespace

TEST_CASE("every library instruction has an instance") {
  CHECK(instr_library().size() > 100);
  for (const auto& [name, d] : instr_library()) {
    INFO(name);
    CHECK_FALSE(d.faulty);
    const auto found = some_instance(d);
    REQUIRE(found);
    INFO(found->failure);
    REQUIRE(found->instr);
    CHECK(found->instr->library);
    CHECK(found->instr->name == name);
    CHECK(found->instr->parameters.size() == found->instr->behaviour.parameters.size());
    for (const ir::InstrParameter& p : found->instr->parameters) {
      if (!found->instr->behaviour.symbol(p.var).control()) CHECK(p.mode != ir::AccessMode::unused);
    }
  }
}

TEST_CASE("cp.async of dialect P") {
  const auto copy = instance("Sm80_cp_async_f32", {{"size", integer(4)}}).instr;
  REQUIRE(copy);
  CHECK(accesses(*copy) == "smem=wo/o gmem=ro/o");
  CHECK(copy->unit == semantics::unit_thread());
  CHECK(copy->timeline == semantics::InstrTimeline::Sm80_cp_async);
  CHECK(memory(*copy, 0) == "CudaSmemAtomicity16B");
  CHECK_FALSE(copy->barrier);
  CHECK(copy->behaviour.assertions.size() == 2);  // inner stride 1 on both sides
  CHECK_FALSE(instance("Sm80_cp_async_f32", {{"size", integer(3)}}).instr);
  CHECK_FALSE(instance("Sm80_cp_async_f32", {{"size", integer(8)}}).instr);
}

TEST_CASE("TMA loads of dialect P") {
  const auto load = instance("Sm90_copy_tensor_to_smem_swizzled_2f32",
                             {{"size0", integer(64)}, {"size1", integer(32)}, {"smem_box", box({1, 64, 32})}})
                        .instr;
  REQUIRE(load);
  CHECK(accesses(*load) == "dst=wo/o src=ro/o");
  CHECK(memory(*load, 0) == "Sm90_SmemSwizzled(128)");
  CHECK(memory(*load, 1) == "Sm90_tensorMap(128, 1, 64, 32)");
  CHECK(load->barrier == semantics::MechanismKind::CudaMbarrier);
  CHECK(load->barrier_units.empty());
  CHECK(load->unit == semantics::unit_warp());
  CHECK(load->parameters[1].out_of_bounds);
  CHECK_FALSE(load->parameters[0].out_of_bounds);

  const auto without_box =
      instance("Sm90_copy_tensor_to_smem_swizzled_2f32", {{"size0", integer(64)}, {"size1", integer(16)}})
          .instr;
  REQUIRE(without_box);
  CHECK(memory(*without_box, 0) == "Sm90_SmemSwizzled(64)");
  CHECK(memory(*without_box, 1) == "Sm90_tensorMap(64, 64, 16)");

  CHECK_FALSE(instance("Sm90_copy_tensor_to_smem_swizzled_2f32",
                       {{"size0", integer(64)}, {"size1", integer(32)}, {"smem_box", box({32, 32})}})
                  .instr);
  CHECK_FALSE(
      instance("Sm90_copy_tensor_to_smem_swizzled_2f32", {{"size0", integer(12)}, {"size1", integer(32)}})
          .instr);

  const auto multicast =
      instance(
          "Sm90_multicast_copy_tensor_to_smem_swizzled_2f32",
          {{"size0", integer(64)}, {"size1", integer(32)}, {"ncta", integer(2)}, {"cta_stride", integer(1)}})
          .instr;
  REQUIRE(multicast);
  CHECK(multicast->unit.text() == "2 * cuda_warp_in_cluster_strided(1)");
  CHECK(multicast->barrier_units == std::vector{semantics::unit_cta()});
  CHECK(multicast->parameters[0].distributed == std::vector{semantics::unit_cta()});
  CHECK_FALSE(multicast->parameters[0].owner_only);
  CHECK(memory(*multicast, 1) == "Sm90_tensorMap(128, 32, 32)");
}

TEST_CASE("TMA stores and reductions of dialect P") {
  const TemplateValues tile{{"size0", integer(8)}, {"size1", integer(32)}};
  const auto store = instance("Sm90_copy_tensor_to_gmem_linear_2f32", tile).instr;
  REQUIRE(store);
  CHECK(accesses(*store) == "dst=wo/o src=ro/o");
  CHECK(memory(*store, 0) == "Sm90_tensorMap(0, 8, 32)");
  CHECK(memory(*store, 1) == "CudaSmemLinear");
  CHECK_FALSE(store->barrier);
  CHECK(store->timeline == semantics::InstrTimeline::tma_to_gmem_async);
  const auto reduce = instance("Sm90_reduce_tensor_to_gmem_swizzled_2f32", tile).instr;
  REQUIRE(reduce);
  CHECK(accesses(*reduce) == "dst=rw/o src=ro/o");
  CHECK(reduce->parameters[0].atomic == semantics::QualSet{semantics::Qual::s2g});
}

TEST_CASE("wgmma of dialect P") {
  const TemplateValues tile{{"M", integer(64)}, {"N", integer(64)}};
  const auto mma = instance("Sm90_mma_async_tf32", tile).instr;
  REQUIRE(mma);
  CHECK(accesses(*mma) == "d=rw/i a=ro/o b=ro/o");
  CHECK(mma->unit == semantics::unit_warpgroup());
  CHECK(memory(*mma, 0) == "Sm90_RmemMatrixD(64, 64)");
  CHECK(memory(*mma, 1) == "Sm90_SmemSwizzled(128)");
  CHECK(mma->behaviour.assertions.size() == 4);
  const auto zero = instance("Sm90_zero_scale_d_f32", tile).instr;
  REQUIRE(zero);
  CHECK(accesses(*zero) == "d=wo/i");
  CHECK(zero->timeline == semantics::InstrTimeline::wgmma_zero);
  const auto store = instance("Sm90_mma_store_d_col_major_tf32", tile).instr;
  REQUIRE(store);
  CHECK(accesses(*store) == "dst=wo/i src=ro/i");
  CHECK(memory(*store, 2) == "CudaDeviceVisibleLinear");
  CHECK_FALSE(store->parameters[2].out_of_bounds);
  CHECK_FALSE(instance("Sm90_mma_async_tf32", {{"M", integer(32)}, {"N", integer(64)}}).instr);
  CHECK_FALSE(instance("Sm90_mma_async_tf32", {{"M", integer(64)}, {"N", integer(264)}}).instr);
}

TEST_CASE("shuffles and warp matrices of dialect P") {
  const auto broadcast = instance("cuda_warp_broadcast_sync_1f32", {{"size0", integer(32)}}).instr;
  REQUIRE(broadcast);
  CHECK(accesses(*broadcast) == "outputs=wo/i inputs=ro/i");
  CHECK(broadcast->unit.text() == "32 * cuda_thread");
  CHECK(broadcast->parameters[0].owner_only);
  CHECK(broadcast->parameters[0].distributed == std::vector{semantics::unit_thread()});
  const auto shuffle = instance("cuda_shfl_xor_sync_1f32", {{"laneMask", integer(8)}}).instr;
  REQUIRE(shuffle);
  CHECK(shuffle->unit.text() == "2 * cuda_threads_strided(1, 8)");
  CHECK_FALSE(instance("cuda_shfl_xor_sync_1f32", {{"laneMask", integer(3)}}).instr);
  const auto mma = instance("Sm80_mma_tf32", {{"K", integer(8)}}).instr;
  REQUIRE(mma);
  CHECK(accesses(*mma) == "D=rw/i A=ro/i B=ro/i");
  CHECK(memory(*mma, 2) == "Sm80_RmemMatrixB(8, 8)");
  const auto atomic = instance("Sm80_mma_atomic_reduce_d_row_major_tf32", {}).instr;
  REQUIRE(atomic);
  CHECK(accesses(*atomic) == "dst=rw/i rmem=ro/i");
  CHECK(atomic->parameters[0].atomic == semantics::QualSet{semantics::Qual::ram});
  const auto plain = instance("Sm80_mma_reduce_d_row_major_tf32", {}).instr;
  REQUIRE(plain);
  CHECK(plain->parameters[0].atomic.empty());
}

TEST_CASE("host instructions") {
  const auto copy = instance("cudaMemcpyAsync_htod_2f32", {}).instr;
  REQUIRE(copy);
  CHECK(accesses(*copy) == "dst=wo/i src=ro/i");
  CHECK(copy->timeline == semantics::InstrTimeline::cpu_cuda_stream);
  CHECK(memory(*copy, 2) == "CudaGmemLinear");
  CHECK(memory(*copy, 3) == "DRAM");
}
