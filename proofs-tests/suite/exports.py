"""`exocheck export`: the formats beside Rocq, which rocq.py tests."""

import json
import shutil
import tempfile
import pathlib

import jsonschema

import smt_files
from process import run


def run_all(tally, exocheck, root):
    tally.group("exports")
    schema = json.loads((root / "docs/exocheck-semantics-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    result = run([exocheck, "export", "semantics", "--to", "json"])
    document = json.loads(result.out)
    errors = [e.message[:200] for e in validator.iter_errors(document)]
    tally.check(result.code == 0 and not errors, f"export semantics --to json: {errors[:5]}")
    document["rules"][0]["colour"] = "red"
    tally.check(list(validator.iter_errors(document)), "the schema accepts an unknown key")
    ids = [r["id"] for r in document["rules"]]
    tally.check(len(ids) == len(set(ids)) > 30, f"rules: {len(ids)}, {len(set(ids))} different")

    latex = run([exocheck, "export", "semantics", "--to", "latex"]).out
    balanced = latex.count("{") - latex.count("\\{") == latex.count("}") - latex.count("\\}")
    tally.check(balanced and latex.count("\\begin") == latex.count("\\end"), "export semantics --to latex: unbalanced")

    kernel = root / "kernels/basic/staged_reverse.exo"
    for what in (["semantics", "--to", "json"], ["semantics", "--to", "latex"], ["semantics", "--to", "markdown"],
                 *(["program", kernel, "--to", f] for f in ("json", "markdown", "latex"))):
        first, second = run([exocheck, "export", *what]), run([exocheck, "export", *what])
        tally.check(first.code == 0 and first.out and first.out == second.out, f"export {what}: {first.code} {first.err}")
    program = json.loads(run([exocheck, "export", "program", kernel, "--to", "json"]).out)
    tally.check(program["schema"] == "exocheck-program/1" and program["procedures"][0]["verdict"] in ("checked", "proved"), f"{program}")

    with tempfile.TemporaryDirectory() as folder:
        theory = pathlib.Path(folder) / "theory"
        result = run([exocheck, "export", "semantics", "--to", "rocq", "-o", theory])
        source = root / "proofs-tests/rocq"
        same = all((theory / p.name).read_text() == p.read_text() for f in ("theory", "generated") for p in (source / f).glob("*.v"))
        tally.check(result.code == 0 and same, f"export semantics --to rocq is not the theory: {result}")

        solver = shutil.which("z3")
        target = pathlib.Path(folder) / "smt"
        result = run([exocheck, "export", "program", kernel, "--to", "smtlib", "-o", target])
        index = json.loads((target / "obligations.json").read_text())["obligations"]
        tally.check(result.code == 0 and index, f"export program --to smtlib: {result}")
        if solver is None:
            tally.skip(len(index), "there is no z3 program")
        else:
            smt_files.recheck(tally, solver, [((target / o["file"]).read_text(), o) for o in index])

    for bad in (["export"], ["export", "semantics"], ["export", "semantics", "--to", "pdf"], ["export", "semantics", "--to", "rocq"],
                ["export", "program", kernel, "--to", "rocq"], ["export", "program", root / "none.exo", "--to", "json"],
                ["export", "semantics", "--to", "json", "-o", "/dev/null/x"]):
        result = run([exocheck, *bad])
        tally.check(result.code == 2 and result.err, f"{bad}: {result}")
