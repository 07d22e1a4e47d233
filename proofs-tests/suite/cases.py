"""Every program that carries its expected result: proofs-tests/cases and kernels."""

import concurrent.futures
import os
import re

from process import run

SUMMARY = re.compile(r"^(\d+) of (\d+) cases as expected$", re.MULTILINE)


BATCH = 40  # files checked by one process


def run_all(tally, exocheck, root, timeout=1200):
    """Batches of files are checked side by side, as many as there are processors."""
    cases = root / "proofs-tests/cases"
    folders = [root / "kernels", *sorted(f for f in cases.rglob("*") if f.is_dir() and any(f.glob("*.exo")))]
    stray = list(cases.glob("*.exo"))
    tally.check(not stray, f"cases outside a folder: {stray}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = []
        for folder in folders:
            files = sorted(folder.rglob("*.exo") if folder.name == "kernels" else folder.glob("*.exo"))
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
