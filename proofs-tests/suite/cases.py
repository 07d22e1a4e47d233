"""Every program that carries its expected result: proofs-tests/cases and kernels."""

import concurrent.futures
import os
import re

from process import run

SUMMARY = re.compile(r"^(\d+) of (\d+) cases as expected$", re.MULTILINE)


BATCH = 20  # files checked by one process


# Programs with large tasks, of which the sanitizers see enough in their siblings.
HEAVY = re.compile(r"^sc-(02-no|03-|09-warp-copies-no|31-no|31-two|32-ring-too|21-cta)|^dm-28-grid-temporal")


def run_all(tally, exocheck, root, timeout=1200, heavy=True):
    """Batches of files are checked side by side, as many as there are processors; without `heavy`, the largest are left out."""
    cases = root / "proofs-tests/cases"
    folders = [root / "kernels", *sorted(f for f in cases.rglob("*") if f.is_dir() and any(f.glob("*.exo")))]
    stray = list(cases.glob("*.exo"))
    tally.check(not stray, f"cases outside a folder: {stray}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = []
        for folder in folders:
            files = sorted(folder.rglob("*.exo") if folder.name == "kernels" else folder.glob("*.exo"))
            files = [f for f in files if heavy or not HEAVY.search(f.name)]
            batches = [files[i:i + BATCH] for i in range(0, len(files), BATCH)]
            started.append((folder, [pool.submit(run, [exocheck, "check", "--expected", *b], timeout=timeout) for b in batches]))
        for folder, results in started:
            tally.group(f"{exocheck.parent.name}: {folder.relative_to(root)}")
            for result in results:
                judge(tally, folder, result.result())


def judge(tally, folder, result):
    summary = SUMMARY.search(result.out)
    if summary is None or result.died():
        tally.check(False, f"{folder}: exit code {result.code}: {(result.out + result.err)[-2000:]}")
        return
    good, total = int(summary.group(1)), int(summary.group(2))
    tally.add(good, total - good)
    tally.check(total > 0 and (result.code == 0) == (good == total), f"{folder}: exit code {result.code}")
    if good < total:
        tally.show(result.out)
