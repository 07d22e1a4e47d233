"""Every test of the project, counted. Run by `./dev test` after building.

    python3 proofs-tests/suite BUILD SANITIZED_BUILD   all tests; the last line is `N passed, N failed`
    python3 proofs-tests/suite --fuzz SECONDS BUILD    mutated programs with new seeds until the time is over
"""

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


def test(build, asan):
    tally = Tally()
    exocheck = build / "exocheck"
    layers.run(tally, ROOT)
    programs.run_all(tally, build, ["property_*"])
    cases.run_all(tally, exocheck, ROOT)
    results.run_all(tally, exocheck, ROOT)
    smt_files.run_all(tally, exocheck, ROOT)
    currency.run_all(tally, exocheck, ROOT)
    exports.run_all(tally, exocheck, ROOT)
    rocq.run_all(tally, exocheck, build, ROOT)
    emission.run_all(tally, exocheck, ROOT)
    robustness.run_all(tally, exocheck, ROOT, mutant_count=1000, bytes_count=100)
    # With AddressSanitizer and UndefinedBehaviorSanitizer; many times slower, so fewer random programs and no exhaustive search.
    programs.run_all(tally, asan, ["unit_*", *SANITIZED], env={"EXOCHECK_PROGRAMS": "300", "EXOCHECK_MUTATIONS": "3"})
    cases.run_all(tally, asan / "exocheck", ROOT)
    robustness.run_all(tally, asan / "exocheck", ROOT, mutant_count=100, bytes_count=3, timeout=300)
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
    return test(*(pathlib.Path(a).resolve() for a in arguments))


if __name__ == "__main__":
    sys.exit(main())
