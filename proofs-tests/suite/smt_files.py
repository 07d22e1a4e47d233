"""`--dump-smt`: every obligation as SMT-LIB, decided again by the stand-alone solver, which must answer what we concluded."""

import json
import pathlib
import re
import shutil
import tempfile

from process import run

BATCH = 400  # scripts for one start of the solver


def run_all(tally, exocheck, root):
    tally.group("obligations, re-checked")
    solver = shutil.which("z3")
    if solver is None:
        tally.skip(2, "there is no z3 program, so no obligation is re-checked")
        return
    with tempfile.TemporaryDirectory() as folder:
        kernels = dump(tally, exocheck, pathlib.Path(folder) / "kernels", [root / "kernels"])
        recheck(tally, solver, kernels)
        tally.check(len(kernels) > 1000, f"kernels: only {len(kernels)} obligations")
        tally.check({o["expected"] for _, o in kernels} <= {"unsat", "sat"}, "kernels: an obligation is undecided")
        tally.check(all(o["result"] == "proved" for _, o in kernels if o["rule"] != "sizes"), "kernels: an obligation is refuted")
        obligations = [o for _, o in kernels if o["rule"] != "sizes"]
        fast = sum(o["decided_by"] == "fast path" for o in obligations)
        tally.check(fast > 0.95 * len(obligations), f"kernels: the fast path decides {fast} of {len(obligations)} obligations only")

        cases = dump(tally, exocheck, pathlib.Path(folder) / "cases", [root / "proofs-tests/cases"])
        recheck(tally, solver, cases)
        # Goals and preconditions, proved and refuted, by the fast path and by the solver.
        kinds = {(o["result"], o["expected"], o["decided_by"]) for _, o in cases}
        for kind in (("proved", "unsat", "fast path"), ("proved", "unsat", "solver"), ("refuted", "sat", "solver"),
                     ("proved", "sat", "fast path"), ("refuted", "unsat", "solver")):
            tally.check(kind in kinds, f"cases: no obligation is {' '.join(kind)}")
    _notices_a_wrong_answer(tally, solver, cases)

    result = run([exocheck, "check", "--dump-smt", "/dev/null/x", root / "kernels/basic/vec_add.exo"])
    tally.check(result.code == 2 and "/dev/null/x" in result.err, f"a folder that cannot be made: {result}")


def dump(tally, exocheck, folder, paths):
    """The scripts and their index entries."""
    result = run([exocheck, "check", "--dump-smt", folder, *paths], timeout=600)
    if not tally.check(not result.died() and (folder / "obligations.json").exists(), f"--dump-smt: {result.code} {result.err[-2000:]}"):
        return []
    index = json.loads((folder / "obligations.json").read_text(encoding="utf-8"))["obligations"]
    tally.check(len({o["file"] for o in index}) == len(index), "two obligations have one file")
    scripts = [((folder / o["file"]).read_text(encoding="utf-8"), o) for o in index]
    for script, o in scripts:
        line = o["source"].rsplit(":", 2)[1]
        name = f"{o['procedure'][:100]}-{line}-{o['rule']}-"
        if not o["file"].startswith(name) or f"(set-info :status {o['expected']})" not in script:
            tally.check(False, f"{o['file']}: not named {name}, or without its status")
    return scripts


def answers(solver, scripts):
    """What the solver says to each script; None if it did not get that far."""
    text = "".join(f'(echo "{number}")\n{script}(reset)\n' for number, (script, _) in enumerate(scripts))
    result = run([solver, "-in", "-t:20000"], timeout=600, stdin=text)
    found = dict(re.findall(r"^(\d+)\n(sat|unsat|unknown)$", result.out, re.MULTILINE))
    return [found.get(str(number)) for number in range(len(scripts))], result.out


def without_comments(script):
    return "".join(line for line in script.splitlines(keepends=True) if not line.startswith(";"))


def recheck(tally, solver, scripts):
    """Each script once (many programs of the cases have obligations in common); undecided ones claim nothing."""
    scripts = list({without_comments(s): (s, o) for s, o in scripts if o["expected"] != "unknown"}.values())
    for start in range(0, len(scripts), BATCH):
        batch = scripts[start : start + BATCH]
        given, out = answers(solver, batch)
        for answer, (_, o) in zip(given, batch):
            tally.check(answer == o["expected"] and "error" not in out,
                        f"{o['file']}: z3 says {answer}, expected {o['expected']}")


def _notices_a_wrong_answer(tally, solver, scripts):
    script, entry = next((s, o) for s, o in scripts if o["result"] == "refuted" and o["expected"] == "sat")
    given, _ = answers(solver, [(script, entry), (script.replace("(check-sat)", "(assert false)\n(check-sat)"), entry)])
    tally.check(given == ["sat", "unsat"], f"the solver cannot tell a script from its opposite: {given}")
