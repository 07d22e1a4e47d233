"""Every program that carries its expected result: proofs-tests/cases and kernels."""

import re

from process import run

SUMMARY = re.compile(r"^(\d+) of (\d+) cases as expected$", re.MULTILINE)


def run_all(tally, exocheck, root, timeout=1200):
    for folder in ("proofs-tests/cases", "kernels"):
        tally.group(f"{exocheck.parent.name}: {folder}")
        result = run([exocheck, "check", "--expected", root / folder], timeout=timeout)
        summary = SUMMARY.search(result.out)
        if summary is None or result.died():
            tally.check(False, f"{folder}: exit code {result.code}: {(result.out + result.err)[-2000:]}")
            continue
        good, total = int(summary.group(1)), int(summary.group(2))
        tally.add(good, total - good)
        tally.check(total > 0 and (result.code == 0) == (good == total), f"{folder}: exit code {result.code}")
        if good < total:
            print(result.out, flush=True)
