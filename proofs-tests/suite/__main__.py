"""Every test of the project, counted. Run by `./dev test` after building.

    python3 proofs-tests/suite BUILD SANITIZED_BUILD [PART]   all tests, or one part of them; the last line is
                                                              `N passed, N failed`
    python3 proofs-tests/suite --fuzz SECONDS BUILD    mutated programs with new seeds until the time is over
"""

import os
import pathlib
import sys
import time

SANITIZED = ("property_machines", "property_mutated_text", "property_printer_round_trip")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "proofs-tests"))

import cases  # noqa: E402
import currency  # noqa: E402
import emission  # noqa: E402
import exports  # noqa: E402
import layers  # noqa: E402
import programs  # noqa: E402
import results  # noqa: E402
import robustness  # noqa: E402
import rocq  # noqa: E402
import smt_files  # noqa: E402
from tally import Tally  # noqa: E402


def parts(build, asan):
    """All tests by name; what takes long comes early."""
    exocheck, sanitized = build / "exocheck", asan / "exocheck"
    # With AddressSanitizer and UndefinedBehaviorSanitizer; many times slower, so fewer random programs and no exhaustive search.
    few = {"EXOCHECK_PROGRAMS": "300", "EXOCHECK_MUTATIONS": "3"}
    return [
        ("rocq", lambda t: rocq.run_all(t, exocheck, build, ROOT)),
        ("sanitized programs", lambda t: programs.run_all(t, asan, ["unit_*", *SANITIZED], env=few)),
        ("programs", lambda t: programs.run_all(t, build, ["property_*"])),
        ("sanitized cases", lambda t: cases.run_all(t, sanitized, ROOT, heavy=False)),
        *(("sanitized robustness", j) for j in robustness.jobs(sanitized, ROOT, mutant_count=100, bytes_count=3, timeout=300)),
        ("cases", lambda t: cases.run_all(t, exocheck, ROOT)),
        ("obligations", lambda t: smt_files.run_all(t, exocheck, ROOT)),
        ("output", lambda t: results.run_all(t, exocheck, ROOT)),
        *(("robustness", j) for j in robustness.jobs(exocheck, ROOT, mutant_count=1000, bytes_count=100)),
        *(("emission", j) for j in emission.jobs(exocheck, ROOT)),
        ("exports", lambda t: exports.run_all(t, exocheck, ROOT)),
        ("pages", lambda t: currency.run_all(t, exocheck, ROOT)),
        ("layers", lambda t: layers.run(t, ROOT)),
    ]


def test(build, asan, wanted=""):
    tally = Tally()
    tally.run_all([job for name, job in parts(build, asan) if wanted in ("", name)], threads=2 * os.cpu_count())
    return tally.finish()


def fuzz(seconds, build):
    tally = Tally()
    end = time.monotonic() + seconds
    seed = int(time.time())
    while time.monotonic() < end:
        tally.group(f"seed {seed}")
        robustness.mutants(tally, build / "exocheck", ROOT, 100, seed)
        seed += 1
    return tally.finish()


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--fuzz"]:
        return fuzz(float(arguments[1]), pathlib.Path(arguments[2]))
    return test(*(pathlib.Path(a).resolve() for a in arguments[:2]), *arguments[2:])


if __name__ == "__main__":
    sys.exit(main())
