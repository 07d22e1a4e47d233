"""Counts what passed and failed. Groups of tests run side by side; each prints its failures and its line when it ends."""

import concurrent.futures
import sys
import threading
import time
import traceback

_console = threading.Lock()


class Tally:
    """The results of one thread of tests."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self._group = None
        self._lines = []

    def group(self, name):
        """Begins a group; the line with its numbers appears when it ends."""
        self.end_group()
        self._group = (name, self.passed, self.failed, time.monotonic())

    def end_group(self):
        if self._group is not None:
            name, passed, failed, start = self._group
            seconds = time.monotonic() - start
            self._lines.append(f"{name}: {self.passed - passed} passed, {self.failed - failed} failed ({seconds:.0f} s)")
        self._group = None
        with _console:
            for line in self._lines:
                print(line)
            sys.stdout.flush()
        self._lines.clear()

    def show(self, text):
        """Something a reader wants to know beside the numbers."""
        self._lines.append(text)

    def add(self, passed, failed=0):
        self.passed += passed
        self.failed += failed

    def skip(self, count, reason):
        """Tests that cannot be run here; they are shown, and counted in a line before the last."""
        self.skipped += count
        self.show(f"  SKIPPED {count} tests: {reason}")

    def check(self, condition, message):
        """One test; `message` says what is wrong if `condition` does not hold."""
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            self.show(f"  FAILED {message}")
        return condition

    def run_all(self, jobs, threads):
        """Each job, a function of a Tally, in a thread of its own; as many threads as given, first jobs first. A job that
        raises an exception is a failure."""

        def one(job):
            own = Tally()
            try:
                job(own)
            except Exception:
                own.check(False, traceback.format_exc())
            own.end_group()
            return own

        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for own in pool.map(one, jobs):
                self.passed += own.passed
                self.failed += own.failed
                self.skipped += own.skipped

    def finish(self):
        """The last line of `./dev test`; returns the exit code."""
        self.end_group()
        if self.skipped:
            print(f"{self.skipped} skipped", flush=True)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0
