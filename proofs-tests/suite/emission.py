"""Emitted code: every kernel that is checked is emitted, compiled by nvcc (where there is one) and run on the CPU emulator.

    emission.py EXOCHECK ROOT [SEEDS]   every kernel and seeded bug under every policy with this many seeds (20), and many more GEMMs
    emission.py --gpu EXOCHECK ROOT     every kernel on the GPU, compared with the sequential run
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile

import gemm_shapes
from process import run, side_by_side
from tally import Tally

RUN = re.compile(r"^# run: check(.*)$", re.MULTILINE)
EXPECT = re.compile(r"^# expect: (\w+)", re.MULTILINE)
EMULATED = re.compile(r"^(?:emulated|ran) (\d+) schedules: (\d+) as the sequential run, (\d+) not$", re.MULTILINE)


def kernels(root):
    """Path, sizes of the first run, small sizes, and whether it is right, of every shipped kernel."""
    found = []
    for path in sorted((root / "kernels").rglob("*.exo")):
        text = path.read_text(encoding="utf-8")
        sizes = [line.split() for line in RUN.findall(text)]
        # The line without sizes is about all of them.
        sizes = [s for s in sizes if s] or [[]]
        right = set(EXPECT.findall(text)) <= {"checked", "proved"}
        if path.parent.name == "bugs":
            sizes.append(["--size", "M=128,N=260,K=192"])
        elif path.parent.name == "sm90":
            # One cluster has two tasks at least, in which its ring of four wraps around.
            sizes.append(["--size", f"M={264 if '2x2' in path.stem else 136},N=260,K={300 if 'splitk' in path.stem else 80}"])
        found.append((path, sizes[0], sizes[-1], right))
    return found


def find_nvcc():
    return shutil.which("nvcc") or next((p for p in ["/usr/local/cuda/bin/nvcc"] if os.path.exists(p)), None)


def expected_instructions(path):
    if path.parent.name == "sm90":
        through_smem = ["st.shared.v2.f32", "bulk_group"] if path.stem.endswith(("tma", "splitk")) else []
        return [*through_smem, "wgmma.mma_async.sync.aligned", "cp.async.bulk.tensor.2d.shared::cluster.global", "mbarrier.init.shared",
                "mbarrier.try_wait.parity", "setmaxnreg.inc", "setmaxnreg.dec", "wgmma.commit_group", "wgmma.wait_group"]
    if path.parent.name == "sm80":
        return ["cp.async.cg.shared.global", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"]
    return {"warp_sum": ["shfl.sync.bfly"], "transpose": ["barrier.cta.sync", "st.shared"],
            "cluster_release": ["barrier.cluster.arrive", "multicast::cluster"]}.get(path.stem, [])


def compile_one(nvcc, folder, path):
    return run([nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-Xptxas", "-v,-warn-spills", "-cubin", "--keep",
                "--keep-dir", folder, "-o", folder / "out.cubin", folder / f"{path.stem}.cu"], timeout=600, directory=folder)


def check_compiled(tally, folder, path, result):
    log = result.out + result.err
    if not tally.check(result.code == 0, f"{path.name}: nvcc: {log[-1500:]}"):
        return
    spills = [line for line in log.splitlines() if "spill" in line and "0 bytes spill stores, 0 bytes spill loads" not in line]
    tally.check(not spills, f"{path.name}: {spills}")
    tally.check("warning" not in log and "C75" not in log, f"{path.name}: {log[-1500:]}")
    ptx = "".join(p.read_text(encoding="utf-8") for p in folder.glob("*.ptx"))
    missing = [i for i in expected_instructions(path) if i not in ptx]
    tally.check(not missing, f"{path.name}: the PTX lacks {missing}")


def readme_commands(tally, exocheck, root, nvcc):
    """The commands of README.md that make a kernel, as they stand there."""
    lines = [line.strip() for line in (root / "README.md").read_text(encoding="utf-8").splitlines()]
    commands = [line for line in lines if line.startswith(("build/exocheck emit", "nvcc "))]
    if not tally.check(len(commands) == 2, f"README.md: {commands}"):
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "kernels").symlink_to(root / "kernels")
        (folder / "build").mkdir()
        (folder / "build" / "exocheck").symlink_to(exocheck)
        environment = {"PATH": f"{pathlib.Path(nvcc).parent}:{os.environ['PATH']}"}
        result = run(["bash", "-ec", "\n".join(commands)], timeout=600, directory=folder, env=environment)
        tally.check(result.code == 0 and list(folder.glob("*.o")), f"README.md: {result.out[-800:]}{result.err[-800:]}")


def emit_all(tally, exocheck, root):
    nvcc = find_nvcc()
    tally.group("emitted code, compiled by nvcc" if nvcc else "emitted code")
    with tempfile.TemporaryDirectory() as scratch:
        emitted = []
        for path, sizes, _, right in kernels(root):
            folder = pathlib.Path(scratch) / path.stem
            result = run([exocheck, "emit", path, "-o", folder, *sizes], timeout=600)
            if not right:
                tally.check(result.code != 0 and not folder.exists(), f"{path.name}: code was emitted: {result.out}")
            elif tally.check(result.code == 0, f"{path.name}: exit code {result.code}: {result.out + result.err}"):
                emitted.append((folder, path))
        if nvcc:
            for place, result in zip(emitted, side_by_side(lambda e: compile_one(nvcc, *e), emitted)):
                check_compiled(tally, *place, result)
            readme_commands(tally, exocheck, root, nvcc)
            gemm = next(folder for folder, path in emitted if path.stem == "gemm_2x1_tma")
            result = run([nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-I", gemm, "-DGEMM=gemm_2x1_tma", "-c",
                          root / "proofs-tests" / "emitted" / "time_gemm.cu", "-o", gemm / "time.o"], timeout=600)
            tally.check(result.code == 0, f"time_gemm.cu: {result.out}{result.err}")
        else:
            tally.skip(len(emitted), "kernels were not compiled: there is no nvcc")


# Unchanged kernels are not compiled again where there is ccache.
COMPILER = {"CXX": "ccache c++"} if shutil.which("ccache") and "CXX" not in os.environ else {}


def emulate(exocheck, path, sizes, options):
    result = run([exocheck, "run", path, *sizes, *options, "--timeout", "120"], timeout=36000, env=COMPILER)
    found = EMULATED.search(result.out)
    return result, found and [int(g) for g in found.groups()]


TILE = {"M": 128, "N": 256, "K": 32}  # of a CTA of the Hopper GEMMs


def ragged(sizes):
    return all(int(value) % TILE[name] != 0 for name, value in re.findall(r"([MNK])=(\d+)", sizes[-1]))


def emulate_all(tally, exocheck, root, policy, seeds):
    """Right kernels give the sequential result under every schedule; the Hopper GEMMs at sizes that no tile divides."""
    tally.group(f"emitted code on the emulator, policy {policy}, {seeds} seeds")
    options = ["--emulate", "--policy", policy, "--schedules", str(seeds)]
    runs = seeds * (20 if policy == "all" else 1)
    right = [(path, small) for path, _, small, good in kernels(root) if good]
    for (path, sizes), (result, counts) in zip(right, side_by_side(lambda k: emulate(exocheck, *k, options), right)):
        tally.check(path.parent.name != "sm90" or ragged(sizes), f"{path.name}: {sizes} are whole tiles")
        tally.check(result.code == 0 and counts == [runs, runs, 0], f"{path.name}: {result.out[-800:]}{result.err[-800:]}")


def emulate_shapes(tally, exocheck, chosen, policy, seeds):
    """GEMMs by clusters of many shapes and rings of many depths: checked, and right under every schedule; with one stage too few a defect,
    and wrong under some schedule."""
    tally.group(f"GEMMs of many shapes on the emulator, policy {policy}, {seeds} seeds")
    schedules = ["--emulate", "--policy", policy, "--schedules", str(seeds)]
    runs = seeds * (20 if policy == "all" else 1)
    with tempfile.TemporaryDirectory() as scratch:

        def judge(gemm):
            name, text, sizes = gemm_shapes.gemm(*gemm)
            path = pathlib.Path(scratch) / f"{name}.exo"
            path.write_text(text, encoding="utf-8")
            return path, run([exocheck, "check", path, "--size", sizes]), emulate(exocheck, path, ["--size", sizes], schedules)

        wrong = [((1, 1), (1, 2)), ((2, 2), (2, 3))]
        for path, checked, (result, counts) in side_by_side(judge, chosen):
            tally.check(checked.code == 0, f"{path.name}: {checked.out}{checked.err}")
            tally.check(result.code == 0 and counts == [runs, runs, 0], f"{path.name}: {result.out[-800:]}{result.err[-800:]}")
        for path, checked, (result, counts) in side_by_side(judge, wrong):
            tally.check(checked.code == 1 and "sync.w" in checked.out, f"{path.name}: {checked.out}{checked.err}")
            tally.check(result.code == 1 and counts and counts[2] > 0, f"{path.name}: {result.out[-800:]}{result.err[-800:]}")


# Every way to complete operations and to choose threads, once or twice.
POLICIES = ["eager/turns", "lazy/random", "random/greedy", "reverse/first", "random/last", "lazy/turns"]


def emulator_faults(tally, exocheck, root):
    """Small kernels by hand: every report of the emulator, and right ones beside them."""
    tally.group("reports of the emulator")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        run([exocheck, "emit", root / "kernels" / "basic" / "vec_add.exo", "-o", folder])  # for the run-time library
        compiler = (COMPILER.get("CXX") or os.environ.get("CXX", "c++")).split()
        source = root / "proofs-tests" / "emitted" / "faults.cpp"
        for step in [["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-c", "xrt_emulator.cc", "-o", "xrt.o"],
                     ["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-I.", "-c", source, "-o", "faults.o"],
                     ["faults.o", "xrt.o", "-o", "faults", "-lboost_context"]]:
            result = run([*compiler, *step], directory=folder)
            if not tally.check(result.code == 0, f"faults.cpp: {result.err[-1500:]}"):
                return
        for line in run([folder / "faults"]).out.splitlines():
            name, report, policies = line.split("\t")
            if report == "sometimes wrong":
                continue
            for policy in policies.split() or POLICIES:
                result = run([folder / "faults", name], env={"XRT_POLICY": policy, "XRT_SEED": str(len(name) % 4)}, timeout=60)
                code = 0 if not report else 3 if report == "wrong result" else 86
                expected = result.code == code and (code != 86 or report in result.err)
                tally.check(expected, f"{name} {policy}: exit code {result.code}, {report or 'nothing'} expected: {result.err}")
        # Only weak memory shows that a flag may overtake the data.
        codes = {weak: {run([folder / "faults", "flag_without_synchronization"],
                            env={"XRT_POLICY": "lazy/turns", "XRT_SEED": str(seed), "XRT_WEAK": weak}).code for seed in range(20)}
                 for weak in "01"}
        tally.check(codes == {"0": {0}, "1": {0, 3}}, f"flag_without_synchronization: {codes}")


# Bugs that the emulator shows under one schedule: a machine that finds nothing would find nothing here.
FOUND_BY_EMULATOR = {"raw_awaits_previous_stage": "eager/turns", "wrong_commit_group": "lazy/turns",
                     "missing_sync_before_epilogue": "lazy/turns", "missing_sync_after_epilogue": "lazy/turns",
                     "wrong_tma_store_timeline": "eager/turns", "cluster_release_broken": "lazy/turns",
                     "inter_thread_broken": "eager/turns", "intra_thread_broken": "eager/turns"}


def emulate_known_bugs(tally, exocheck, root):
    tally.group("seeded bugs on the emulator")
    for path, _, sizes, _ in kernels(root):
        if path.stem not in FOUND_BY_EMULATOR:
            continue
        result, counts = emulate(exocheck, path, sizes, ["--emulate", "--policy", FOUND_BY_EMULATOR[path.stem]])
        tally.check(result.code == 1 and counts == [1, 0, 1], f"{path.name}: the schedule does not fail: {result.out[-500:]}")


def report_bugs(exocheck, root, seeds):
    """What the emulator finds of the programs that the checker rejects."""
    for path, _, sizes, good in kernels(root):
        if good:
            continue
        _, counts = emulate(exocheck, path, sizes, ["--emulate", "--policy", "all", "--schedules", str(seeds)])
        what = "refused by a static rule, not emitted" if not counts else f"{counts[2]} of {counts[0]} schedules fail"
        print(f"  {path.stem}: {what}", flush=True)


def jobs(exocheck, root):
    return [lambda t: emulate_all(t, exocheck, root, "random/random", 3),
            lambda t: emulate_shapes(t, exocheck, gemm_shapes.SOME, "random/random", 3),
            lambda t: emulate_known_bugs(t, exocheck, root),
            lambda t: emit_all(t, exocheck, root),
            lambda t: emulator_faults(t, exocheck, root)]


def on_gpu(tally, exocheck, root):
    """Within five minutes on a machine with 16 cores: results first, then times of the Hopper GEMMs."""
    tally.group("emitted code on the GPU")
    right = [(path, sizes) for path, first, small, good in kernels(root) if good for sizes in (first, small)]
    for (path, sizes), (result, counts) in zip(right, side_by_side(lambda k: emulate(exocheck, *k, ["--gpu"]), right)):
        tally.check(result.code == 0 and counts == [1, 1, 0], f"{path.name} {sizes}: {result.out[-800:]}{result.err[-800:]}")
    nvcc = find_nvcc()
    tally.group("emitted GEMMs against cuBLAS")
    cublas = pathlib.Path(nvcc).resolve().parent.parent / "include" / "cublas_v2.h"
    library = ["-DWITH_CUBLAS", "-lcublas"] if cublas.exists() else []
    if not library:
        tally.skip(1, "no comparison with cuBLAS: it is not there")
    gemms = [path for path, _, _, good in kernels(root) if good and path.parent.name == "sm90"]
    with tempfile.TemporaryDirectory() as scratch:

        def build(path):
            folder = pathlib.Path(scratch) / path.stem
            run([exocheck, "emit", path, "-o", folder], timeout=600)
            return folder, run([nvcc, "-std=c++20", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-I", folder, f"-DGEMM={path.stem}",
                                *library, root / "proofs-tests" / "emitted" / "time_gemm.cu", "-o", folder / "time"], timeout=600)

        for path, (folder, built) in zip(gemms, side_by_side(build, gemms)):
            if tally.check(built.code == 0, f"{path.name}: {built.err[-1500:]}"):
                for size in (4096, 8192):
                    result = run([folder / "time", size, size, size])
                    tally.show("  " + result.out.strip())
                    tally.check(result.code == 0, f"{path.name}: {result.out}{result.err}")


def main():
    arguments = sys.argv[1:]
    gpu = arguments[:1] == ["--gpu"]
    exocheck, root = (pathlib.Path(a).resolve() for a in arguments[gpu:gpu + 2])
    tally = Tally()
    if gpu:
        on_gpu(tally, exocheck, root)
    else:
        seeds = int(arguments[2]) if len(arguments) > 2 else 20
        emulate_all(tally, exocheck, root, "all", seeds)
        every = [(shape, ring) for shape in gemm_shapes.SHAPES for ring in gemm_shapes.RINGS]
        emulate_shapes(tally, exocheck, every, "all", max(1, seeds // 4))
        report_bugs(exocheck, root, seeds)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
