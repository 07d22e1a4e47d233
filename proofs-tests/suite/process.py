"""Runs exocheck and the test programs, at any time as many as there are processors."""

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import threading

_free_processors = threading.BoundedSemaphore(os.cpu_count())
LEAKS = pathlib.Path(__file__).resolve().parent / "leaks.txt"


@dataclasses.dataclass
class Result:
    code: int | None  # None: still running at the time limit
    out: str
    err: str

    def died(self):
        """Ended by a signal, by a sanitizer, or not at all."""
        sanitizer = any(w in self.err for w in ("AddressSanitizer", "LeakSanitizer", "runtime error:"))
        return self.code is None or self.code < 0 or self.code > 4 or sanitizer


def run(command, timeout=120, stdin=None, env=None, directory=None):
    """Waits for a free processor. `stdin` and the outputs are text; what is no UTF-8 is replaced. `timeout` in seconds."""
    environment = {**os.environ, "NO_COLOR": "1", "ASAN_OPTIONS": "detect_leaks=1",
                   "LSAN_OPTIONS": f"suppressions={LEAKS}:print_suppressions=0", **(env or {})}
    try:
        with _free_processors:
            done = subprocess.run(
                [str(c) for c in command], input=None if stdin is None else stdin.encode("utf-8", "surrogateescape"),
                stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, timeout=timeout,
                cwd=directory, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return Result(None, "", f"no end after {timeout} s")
    return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def side_by_side(function, items):
    """[function(i) for i in items], as many at a time as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))
