// Reports: near misses with their reasons, histories, suggestions (abstract-machine.md 5, decisions.md C10,
// C12).
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using semantics::Diagnostic;
using semantics::Role;

namespace {

// The text of all related notes with the role, one line each.
std::string notes(const Diagnostic& d, Role role) {
  std::string out;
  for (const auto& r : d.related) {
    if (r.role == role) out += fmt::format("{}: {}\n", r.location.begin().line, r.message);
  }
  return out;
}

// Stage through shared memory and store it by TMA; FENCE orders the writes before the copy.
std::string tma_store(const std::string& fence) {
  return R"(
def store(C: f32[32, 32] @ CudaGmemLinear):
    C_tm = C[:, :] @ Sm90_tensorMap(0, 32, 32)
    with CudaDeviceFunction(blockDim=128):
        for task in cuda_tasks(0, 1):
            st: f32[32, 32] @ CudaSmemLinear
            for t in cuda_threads(0, 128, unit=cuda_thread):
                for j in seq(0, 8):
                    st[t % 32, (t / 32) * 8 + j] = 1.0
            )" +
         fence + R"(
            with CudaWarps(0, 1):
                Sm90_copy_tensor_to_gmem_linear_2f32(C_tm[0:32, 0:32], st[:, :], size0=32, size1=32)
                cg: barrier @ CudaCommitGroup
                Arrive(tma_to_gmem_async, 1) >> cg
                Await(cg, cuda_in_order, 0)
            Fence(cuda_in_order, cuda_in_order)
)";
}

// Two warps hand 32 elements over N times through a ring of DEPTH slots.
std::string hand_off(const std::string& full_lag, const std::string& empty_lag) {
  return R"(
def handoff(N: size, src: f32[N, 32] @ CudaGmemLinear, dst: f32[N, 32] @ CudaGmemLinear):
    with CudaDeviceFunction(blockDim=64):
        for task in cuda_tasks(0, 1):
            full: barrier @ CudaMbarrier
            empty: barrier(full) @ CudaMbarrier
            stage: f32[2, 32] @ CudaSmemLinear
            for i in seq(0, N):
                with CudaWarps(0, 1):
                    Await(empty, cuda_in_order, ~)" +
         empty_lag + R"()
                    for t in cuda_threads(0, 32, unit=cuda_thread):
                        stage[i % 2, t] = src[i, t]
                    Arrive(cuda_in_order, 1) >> full
                with CudaWarps(1, 2):
                    Await(full, cuda_in_order, ~)" +
         full_lag + R"()
                    for t in cuda_threads(0, 32, unit=cuda_thread):
                        dst[i, t] = stage[i % 2, 31 - t]
                    Arrive(cuda_in_order, 1) >> empty
            Fence(cuda_in_order, cuda_in_order)
)";
}

}  // namespace

TEST_CASE("Ordered in time only: the missing proxy fence is named") {
  const auto result = check_text(tma_store("Fence(cuda_in_order, cuda_in_order)"));
  const Diagnostic& d = the_error(result);
  CHECK(d.rule->code == "E-Y30");
  CHECK(d.access->held == "temporally ordered");
  const std::string misses = notes(d, Role::near_miss);
  CHECK(misses.find("10: this Fence") != std::string::npos);
  CHECK(misses.find("tma_to_gmem_async_qual") != std::string::npos);
  CHECK(misses.find("in time without making") != std::string::npos);
  REQUIRE(d.suggestion);
  CHECK(*d.suggestion == "use the second timeline cuda_generic_and_async_proxy in line 10");
  CHECK(check_text(tma_store("Fence(cuda_in_order, cuda_generic_and_async_proxy)")).verdict ==
        amir::Verdict::proved);
}

TEST_CASE("No synchronization at all is said plainly") {
  const auto result = check_text(tma_store("pass"));
  const Diagnostic& d = the_error(result);
  CHECK(notes(d, Role::near_miss).empty());
  CHECK(notes(d, Role::context).find("no Fence, Arrive or Await") != std::string::npos);
  REQUIRE(d.suggestion);
  CHECK(d.suggestion->find("Fence(cuda_in_order, cuda_generic_and_async_proxy) by the whole CTA") !=
        std::string::npos);
}

TEST_CASE("A lag that is one too large: the uncovered arrival is named, and the right lag suggested") {
  CHECK(check_text(hand_off("0", "2"), {{{"N", 5}}}).verdict == amir::Verdict::checked);
  const auto result = check_text(hand_off("0", "3"), {{{"N", 5}}});
  const Diagnostic& d = the_error(result);
  CHECK(d.rule->code == "E-Y31");
  CHECK(d.variable == "stage");
  CHECK(d.access->iterators.front() == std::pair<std::string, std::int64_t>{"task", 0});
  const std::string misses = notes(d, Role::near_miss);
  CHECK(misses.find("10: this Await (task = 0, i = 2) on empty waits for no arrival yet, the first access is "
                    "attached to "
                    "arrival 0") != std::string::npos);
  REQUIRE(d.suggestion);
  CHECK(*d.suggestion == "in line 10 reduce the lag from ~3 to ~2");
  // The Arrive that picked the access up is history, not a miss.
  CHECK(notes(d, Role::sync).find("18: this Arrive") != std::string::npos);
}

TEST_CASE("An Await before its Arrive does not speak of deadlocks") {
  const auto result = check_text(R"(
def f(N: size):
    with CudaDeviceFunction(blockDim=64):
        for task in cuda_tasks(0, 1):
            z: barrier @ CudaMbarrier
            for i in seq(0, N):
                with CudaWarps(0, 1):
                    Await(z, cuda_in_order, ~0)
                with CudaWarps(1, 2):
                    Arrive(cuda_in_order, 1) >> z
            Fence(cuda_in_order, cuda_in_order)
)",
                                 {{{"N", 2}}});
  if (result.verdict == amir::Verdict::defect && the_error(result).rule->code != "E-Y04")
    return;  // a static rule came first
  const Diagnostic& d = the_error(result);
  CHECK(d.rule->code == "E-Y04");
  CHECK(d.message.find("in sequential order this Await runs before the Arrive it waits for") !=
        std::string::npos);
  CHECK(d.message.find("deadlock") == std::string::npos);
}

TEST_CASE("A commit group that is not drained dies with unequal counts") {
  const auto result = check_text(R"(
def f(x: f32[32, 4] @ CudaGmemLinear):
    with CudaDeviceFunction(blockDim=32):
        for task in cuda_tasks(0, 1):
            s: f32[32, 4] @ CudaSmemLinear
            cg: barrier[32] @ CudaCommitGroup
            for t in cuda_threads(0, 32, unit=cuda_thread):
                Sm80_cp_async_f32(s[t, 0:4], x[t, 0:4], size=4)
                Arrive(Sm80_cp_async, 1) >> cg[t]
                Await(cg[t], cuda_in_order, 1)
            Fence(Sm80_generic, cuda_in_order)
)");
  const Diagnostic& d = the_error(result);
  CHECK(d.rule->code == "E-Y14");
  CHECK(d.variable == "cg");
  CHECK(d.location.begin().line == 6);
  CHECK(d.message == "barrier cg[0] dies with 1 arrivals but 0 awaits");
  CHECK(notes(d, Role::sync).find("9: arrival 0 of cg[0]") != std::string::npos);
}
