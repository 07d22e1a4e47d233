"""The Catch2 programs: unit_* and property_*."""

import concurrent.futures
import os
import re

from process import run

TOTALS = re.compile(r'<OverallResultsCases successes="(\d+)" failures="(\d+)"')
NAME = re.compile(r'<TestCase name="([^"]*)"')


def judge(tally, path, result, env, timeout):
    totals = TOTALS.search(result.out)
    if totals is None or result.died():
        names = NAME.findall(result.out)
        last = names[-1] if names else "its start"
        tally.check(False, f"{path.name}: exit code {result.code} in '{last}': {result.err[-2000:]}")
        return
    passed, failed = int(totals.group(1)), int(totals.group(2))
    tally.add(passed, failed)
    if passed == 0:
        tally.check(False, f"{path.name}: no test case")
    if failed:
        tally.show(run([path], timeout=timeout, env=env).out[-8000:])


def run_all(tally, build, patterns, env=None, timeout=900):
    """All programs with these names, as many at a time as there are processors."""
    programs = []
    for pattern in patterns:
        found = [p for p in sorted((build / "tests").glob(pattern)) if p.is_file()]
        tally.check(found, f"{build}: no {pattern} was built")
        programs += found
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = [(p, pool.submit(run, [p, "--reporter", "xml"], timeout=timeout, env=env)) for p in programs]
        for path, result in started:
            tally.group(f"{build.name}/{path.name}")
            judge(tally, path, result.result(), env, timeout)
