#!/usr/bin/env python3
"""Runs every case of bench_checks (see checks.cpp) in a process of its own, for its peak memory, and whole `exocheck check`
commands beside them. Writes OUT/bench.json and OUT/bench.md, and prints the latter.

    bench.py BENCH_CHECKS EXOCHECK OUT [PART_OF_A_NAME]    only the cases whose names contain it
"""

import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROUNDS, REPETITIONS = 3, 3  # of every case; the rounds are far apart, for other programs share the processor
# Of the cases that ratios compare, for each must meet the processor at its best: the neighbour on its core makes it two thirds slower.
ROUNDS_COMPARED = 15
GEMM = "sm90/gemm_2x1_direct"
COMMANDS = ["M=512,N=512,K=512", "M=512,N=512,K=4096", "M=4096,N=4096,K=4096", "M=512000,N=512000,K=4096", "all"]
# CPU seconds of another machine that executes every task and iteration of a kernel of the same shape, without static passes
# (one run on two shared cores, +-15 %), and how many times faster ours has to be.
TO_BEAT = {"M=512,N=512,K=512": (0.40, 10), "M=4096,N=4096,K=4096": (266.0, 500)}


def run(command):
    """Standard output, CPU seconds and megabytes at the peak of one process; ends the program if it fails."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{text}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def split(name):
    engine, folder, kernel, sizes = name.split("/")
    return {"engine": engine, "kernel": f"{folder}/{kernel}", "sizes": sizes}


def measure(program, name):
    """CPU milliseconds of each repetition, counters, and megabytes of one case."""
    text, _, megabytes = run([program, f"--benchmark_filter=^{re.escape(name)}$", "--benchmark_format=json",
                              "--benchmark_min_time=0.1", f"--benchmark_repetitions={REPETITIONS}"])
    runs = [r for r in json.loads(text)["benchmarks"] if r["run_type"] == "iteration"]
    wrong = [r["error_message"] for r in runs if r.get("error_occurred")]
    if wrong or not runs:
        sys.exit(f"{name}: {wrong[0] if wrong else 'did not run'}")
    counters = {c: round(runs[0][c]) for c in ("statements", "slices", "solver_calls") if c in runs[0]}
    return [r["cpu_time"] for r in runs], counters, megabytes  # milliseconds are the unit of every case


def measure_command(exocheck, name):
    """The same of a whole `exocheck check`, start of the process included."""
    case = split(name)
    sizes = [] if case["sizes"] == "all" else ["--size", case["sizes"]]
    command = [exocheck, "check", "-q", *sizes, str(ROOT / "kernels" / f"{case['kernel']}.exo")]
    runs = [run(command) for _ in range(REPETITIONS)]
    return [1000 * seconds for _, seconds, _ in runs], {}, max(megabytes for _, _, megabytes in runs)


def measure_all(program, exocheck, names):
    """One row per name, in this order."""
    cpu, last, peak = {n: [] for n in names}, {}, {n: 0.0 for n in names}
    for number_of_round in range(1, ROUNDS_COMPARED + 1):
        for name in names:
            if number_of_round > ROUNDS and not name.startswith(f"proof/{GEMM}/"):
                continue
            one = measure_command(exocheck, name) if name.startswith("command/") else measure(program, name)
            cpu[name] += one[0]
            last[name] = one[1]
            peak[name] = max(peak[name], one[2])
        print(f"round {number_of_round} of {ROUNDS_COMPARED} done", file=sys.stderr, flush=True)
    return [{**split(n), "cpu_ms": statistics.median(cpu[n]), "cpu_ms_least": min(cpu[n]), "cpu_ms_most": max(cpu[n]),
             "repetitions": len(cpu[n]), "peak_mb": peak[n], **last[n]} for n in names]


def targets(rows):
    """What the project promises, as ratios of this run: (what, value, limit, unit); at most `limit` is kept."""
    cpu = {(r["engine"], r["sizes"]): r["cpu_ms_least"] for r in rows if r["kernel"] == GEMM}

    def spread(engine, sizes):
        values = [cpu[engine, s] for s in sizes if (engine, s) in cpu]
        return max(values) / min(values) if len(values) == len(sizes) else None

    out = [("K = 512, 4096, 65536 (M = N = 512): slowest / fastest",
            spread("proof", [f"M=512,N=512,K={k}" for k in (512, 4096, 65536)]), 1.2, "x")]
    for k in (512, 4096):
        out.append((f"4 tasks and 4,000,000 tasks (K = {k}): slower / faster",
                    spread("proof", [f"M={n},N={n},K={k}" for n in (512, 512000)]), 1.5, "x"))
    for sizes, (seconds, factor) in TO_BEAT.items():
        for engine in ("proof", "check"):
            if (engine, sizes) in cpu:
                out.append((f"{engine} at {sizes}, of {seconds:g} CPU seconds", cpu[engine, sizes] / 1000 / seconds, 1 / factor, ""))
    out.append(("largest peak of memory, proof, check and command",
                max((r["peak_mb"] for r in rows if r["engine"] in ("proof", "check", "command")), default=None), 200, " MB"))
    return [{"what": what, "value": value, "limit": limit, "unit": unit, "kept": value <= limit}
            for what, value, limit, unit in out if value is not None]


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def markdown(machine, rows, kept):
    lines = [f"Measured by `./dev bench` on {machine['cpu']}, {machine['cores']} cores, load {machine['load']:.1f} at the start; "
             f"medians of {ROUNDS * REPETITIONS} repetitions ({ROUNDS_COMPARED * REPETITIONS} of what is compared), in brackets the "
             "fastest and the slowest.", "",
             "| engine | kernel | sizes | CPU ms | peak MB | statements |", "|---|---|---|---|---|---|"]
    for r in rows:
        spread = f"{number(r['cpu_ms'])} ({number(r['cpu_ms_least'])} - {number(r['cpu_ms_most'])})"
        sizes = r["sizes"].replace(",", ", ").replace("=", " = ")
        lines.append(f"| {r['engine']} | {r['kernel']} | {sizes} | {spread} | {r['peak_mb']:.0f} | {r.get('statements', '')} |")
    lines += ["", "| target (of the fastest repetitions) | measured | at most | kept |", "|---|---|---|---|"]
    for t in kept:
        lines.append(f"| {t['what']} | {number(t['value'])}{t['unit']} | {number(t['limit'])}{t['unit']} | {'yes' if t['kept'] else 'no'} |")
    return "\n".join(lines) + "\n"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    program, exocheck, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    part = sys.argv[4] if len(sys.argv) > 4 else ""
    machine = {"cpu": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    names = run([program, "--benchmark_list_tests"])[0].split() + [f"command/{GEMM}/{sizes}" for sizes in COMMANDS]
    rows = measure_all(program, exocheck, [n for n in names if part in n])
    kept = targets(rows)
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(json.dumps({"machine": machine, "cases": rows, "targets": kept}, indent=2) + "\n")
    text = markdown(machine, rows, kept)
    (out / "bench.md").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
