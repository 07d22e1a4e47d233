#!/usr/bin/env python3
"""Measures whole checks of the Hopper GEMM kernels at growing sizes: seconds and peak memory of one process each.

    bench.py EXOCHECK
"""

import os
import pathlib
import subprocess
import sys
import time

KERNELS = pathlib.Path(__file__).resolve().parent.parent.parent / "kernels"
RUNS = [
    ("sm80/gemm_commit_groups.exo", "M=128,N=256,K=80"),
    ("sm90/gemm_1x1_tma.exo", "M=512,N=512,K=512"),
    ("sm90/gemm_1x1_tma.exo", "M=1024,N=1024,K=1024"),
    ("sm90/gemm_2x1_tma.exo", "M=512,N=512,K=512"),
    ("sm90/gemm_2x1_tma.exo", "M=512,N=512,K=1024"),
    ("sm90/gemm_2x1_tma.exo", "M=512,N=512,K=2048"),
    ("sm90/gemm_2x1_tma.exo", "M=512,N=512,K=4096"),
    ("sm90/gemm_2x1_tma.exo", "M=1024,N=1024,K=1024"),
    ("sm90/gemm_2x1_tma.exo", "M=2048,N=2048,K=2048"),
    ("sm90/gemm_2x2_tma.exo", "M=1024,N=1024,K=1024"),
    ("sm90/gemm_pingpong.exo", "M=1024,N=1024,K=1024"),
]


def measure(exocheck, kernel, sizes):
    """Exit code, seconds of the processor and megabytes at the peak of one check."""
    command = [exocheck, "check", "-q", "--timeout", "600", "--size", sizes, str(KERNELS / kernel)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    return os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    exocheck = sys.argv[1]
    print(f"{'kernel':32} {'sizes':28} {'code':>4} {'wall s':>8} {'cpu s':>8} {'MB':>7}")
    for kernel, sizes in RUNS:
        code, wall, cpu, megabytes = measure(exocheck, kernel, sizes)
        print(f"{kernel:32} {sizes:28} {code:4} {wall:8.2f} {cpu:8.2f} {megabytes:7.0f}", flush=True)


if __name__ == "__main__":
    main()
