#include "semantics/rule_tables.hpp"

namespace exocheck::semantics::detail {
namespace {

using enum RuleClass;

constexpr Rule rules[] = {
    {"E-Y01", "sync.double-arrive", defect,
     "An element of a barrier that may be used once is arrived on a second time.",
     "Use the next element of the ring, or another barrier."},
    {"E-Y02", "sync.arrive-missing", defect,
     "An element of a barrier that must be arrived on once ends its life with another number of arrivals.",
     "Arrive exactly once on every element."},
    {"E-Y03", "sync.cluster-await-count", defect, "A cluster barrier is awaited twice, or never.",
     "Await it exactly once after its Arrive."},
    {"E-Y04", "sync.deadlock", defect, "In sequential order an Await runs before the Arrive it waits for.",
     "Move the Arrive before the Await, or give the Await a larger lag."},
    {"E-Y05", "sync.late-copy", defect, "A copy signals a barrier element that was already arrived on.",
     "Issue the copy before the Arrive."},
    {"E-Y06", "sync.multicast", defect,
     "At an Await some CTA of the multicast group has not executed the Arrive, or a CTA arrives for the next "
     "round of a "
     "multicast mbarrier although the present one may not be complete.",
     "Let every CTA of the group execute it; let rounds alternate with a second mbarrier or use a deeper "
     "ring."},
    {"E-Y10", "sync.ring-early", defect,
     "A ring slot is used before its guard was awaited, or on a timeline that the Await does not cover.",
     "Await the guard first, with a timeline that covers the access."},
    {"E-Y11", "sync.ring-late", defect, "A ring slot is used after it was handed back.",
     "Move the access before the Arrive that hands the slot back."},
    {"E-Y12", "sync.free", defect,
     "Shared memory ends its life while an access is not yet ordered before the end.",
     "Add a fence of the whole CTA or cluster after the last access; wait for asynchronous copies before "
     "it."},
    {"E-Y13", "sync.ring-not-returned", defect, "A ring ends its life with a slot that was not handed back.",
     "Arrive on the guard for every slot."},
    {"E-Y14", "sync.barrier-count", defect,
     "A barrier ends its life with different numbers of arrivals and awaits.",
     "Pair every Arrive with an Await, also in the last iterations."},
    {"E-Y20", "bounds.run-time", defect,
     "While the program runs, an index lies outside its tensor or barrier array.",
     "Change the index or guard the statement; the message gives the iterators."},
    {"E-Y21", "data.uninitialised", defect, "A register element is read that no earlier statement wrote.",
     "Write it first, on every path and for every thread."},
    {"E-Y30", "sync.raw", defect, "A read is not ordered after the write whose value it needs.",
     "Synchronize between the two accesses so that the write is complete and visible to the reader's "
     "timeline."},
    {"E-Y31", "sync.war", defect, "A write is not ordered after a read of the value that it overwrites.",
     "Synchronize between the two accesses so that the read is over before the write starts."},
    {"E-Y32", "sync.waw", defect, "A write is not ordered after an earlier write of the same element.",
     "Synchronize between the two writes, or let them write different elements."},
    {"E-Y40", "sync.partial-cluster-memory", unsupported,
     "Shared memory or an mbarrier is allocated by less than the whole cluster.",
     "The program may be right; allocate it at the level of the cluster to have it checked."},
    {"E-Y41", "sync.call", unsupported,
     "A procedure that is checked calls another one that could not be inlined.", "Inline the call."},

    {"W-B01", "bounds.size-zero", warning,
     "A size is 0, which is outside the declared range and not covered by a proof.",
     "Check the size deliberately; automatically chosen sizes are at least 1."},
    {"W-M20", "memory.shared-size", warning, "A CTA needs more shared memory than the hardware has.",
     "Use less than 232448 bytes per CTA; CUDA cannot be generated from this program."},
    {"W-N01", "name.repaired", warning,
     "A barrier name without a counterpart was bound to the barrier it was printed from.",
     "Write the name of the barrier itself."},
    {"W-P01", "parse.decorator", warning, "An unknown decorator is ignored.",
     "Remove it, or write @proc or @instr."},
    {"W-P02", "parse.unit-annotation", warning,
     "A collective unit on a dimension is kept and has no meaning.",
     "Remove it; distribution follows from the uses."},
    {"W-P03", "parse.boolean-chain", warning, "A chain of '==' on bools groups to the left.",
     "Add parentheses."},
    {"W-P04", "parse.suppression", warning,
     "A comment `exocheck: ignore` names no rule or gives no reason, and silences nothing.",
     "Write `# exocheck: ignore RULE -- reason`."},
    {"W-W02", "launch.hardware-limit", warning, "blockDim or clusterDim is larger than the hardware allows.",
     "Use at most 1024 threads per CTA and 16 CTAs per cluster; CUDA cannot be generated from this program."},
    {"W-W13", "launch.register-change", warning,
     "A setmaxnreg value moves against its direction: a decrease above, or an increase below, the launch "
     "value.",
     "Correct the value or the direction."},
    {"W-X01", "distributed.unused", warning, "A variable is allocated and never used.", "Delete it."},
    {"W-Y01", "sync.proxy-fence-not-on-writer", warning,
     "A proxy fence publishes writes of threads that executed no proxy fence themselves.",
     "Execute the proxy fence in the writing threads, before the barrier; strict mode rejects this."},
    {"W-Y02", "sync.generic-before-async", warning,
     "An ordinary access is followed by an asynchronous write of the same element without a proxy fence "
     "between them.",
     "Order them with cuda_generic_and_async_proxy as the second timeline; strict mode rejects this."},
    {"W-Y03", "sync.first-wgmma-unfenced", warning,
     "The first wgmma on an accumulator follows no register fence.",
     "Add `Fence(wgmma_fence_1, wgmma_fence_2)` before it."},
    {"W-Y21", "data.uninitialised-memory", warning,
     "An element of shared or global memory is read that no earlier statement wrote.",
     "Write it first, unless its value does not matter."},

    {"L-01", "limit.file-size", limit, "A file is larger than the checker reads.", "Split the file."},
    {"L-02", "limit.nesting", limit, "Blocks or brackets are nested more deeply than the checker reads.",
     "Flatten the program."},
    {"L-03", "limit.overflow", limit, "A number leaves the 64-bit range.", "Check with smaller sizes."},
    {"L-04", "limit.time", limit, "The check took longer than its time limit.",
     "Check with smaller sizes, or raise --timeout."},
    {"L-05", "limit.memory", limit, "The check needed more memory than its limit.",
     "Check with smaller sizes, or raise --memory-limit."},
    {"L-06", "limit.steps", limit, "The run takes more steps than the checker executes.",
     "Check with smaller sizes."},
    {"L-07", "limit.expression", limit,
     "An expression, a list or a procedure is larger than the checker handles.", "Split it."},
    {"C-01", "codegen.unsupported", unsupported,
     "The program is right, but code for this construct is not emitted yet.",
     "Write it with another instruction or memory; the message names the construct."},
    {"C-02", "codegen.limit", limit, "The kernel needs more of a resource than the hardware has.",
     "Use smaller tiles or fewer stages; the message gives both numbers."},
    {"L-08", "limit.solver", limit, "The solver could not decide whether an obligation holds.",
     "Simplify the index or split the loop; an assert that states the fact helps, too."},
};

}  // namespace

std::span<const Rule> machine_rules() { return rules; }

}  // namespace exocheck::semantics::detail
