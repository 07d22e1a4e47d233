"""Counts what passed and failed, and prints one line per group and per failure."""

import sys
import time


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self._group = None

    def group(self, name):
        """Begins a group; the line with its numbers appears when it ends."""
        self.end_group()
        self._group = (name, self.passed, self.failed, time.monotonic())

    def end_group(self):
        if self._group is None:
            return
        name, passed, failed, start = self._group
        seconds = time.monotonic() - start
        print(f"{name}: {self.passed - passed} passed, {self.failed - failed} failed ({seconds:.0f} s)", flush=True)
        self._group = None

    def add(self, passed, failed=0):
        self.passed += passed
        self.failed += failed

    def skip(self, count, reason):
        """Tests that cannot be run here; they are shown, and counted in a line before the last."""
        self.skipped += count
        print(f"  SKIPPED {count} tests: {reason}", flush=True)

    def check(self, condition, message):
        """One test; `message` says what is wrong if `condition` does not hold."""
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"  FAILED {message}", flush=True)
        return condition

    def finish(self):
        """The last line of `./dev test`; returns the exit code."""
        self.end_group()
        sys.stdout.flush()
        if self.skipped:
            print(f"{self.skipped} skipped", flush=True)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0
