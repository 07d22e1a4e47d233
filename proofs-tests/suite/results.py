"""Real output against the contract: JSON schema, the same bytes twice, exit codes, standard input."""

import json

import jsonschema

from process import run


def run_all(tally, exocheck, root):
    tally.group("output")
    schema = json.loads((root / "docs/exocheck-result-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)

    folders = ["proofs-tests/cases/bugs", "proofs-tests/cases/rules", "proofs-tests/cases/examples", "kernels/basic", "kernels/paper"]
    for options in ([], ["--mode", "strict"], ["--stats"], ["-v"]):
        command = [exocheck, "check", "--format", "json", *options, *(root / f for f in folders)]
        result = run(command, timeout=600)
        what = " ".join(["json", *options])
        if not tally.check(not result.died(), f"{what}: exit code {result.code}: {result.err[-2000:]}"):
            continue
        try:
            document = json.loads(result.out)
        except json.JSONDecodeError as error:
            tally.check(False, f"{what}: no JSON: {error}")
            continue
        errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(document)]
        tally.check(not errors, f"{what}: {errors[:5]}")
        tally.check(document["exit_code"] == result.code, f"{what}: exit_code {document['exit_code']}, is {result.code}")
        if options == []:
            tally.check(run(command, timeout=600).out == result.out, "json: two runs differ")
        _consistent(tally, document)

    # The schema refuses what the format does not have.
    document["files"][0]["colour"] = "red"
    tally.check(list(validator.iter_errors(document)), "the schema accepts an unknown key")

    text = "def k(x: f32[4] @ DRAM):\n    for i in seq(0, 4):\n        x[i] = 0.0\n"
    result = run([exocheck, "check", "-"], stdin=text)
    tally.check(result.code == 0 and "checked 1 of 1 procedures" in result.out, f"stdin: {result}")
    result = run([exocheck, "check", "-"], stdin="")
    tally.check(result.code == 3 and "checked 0 of 0 procedures" in result.out, f"empty stdin: {result}")
    result = run([exocheck, "check", root / "none.exo"])
    tally.check(result.code == 2, f"missing file: {result}")


def _consistent(tally, document):
    """Numbers that must agree with each other."""
    procedures = [p for f in document["files"] for p in f["procedures"]]
    rejected = sum(len(f["rejected"]) for f in document["files"])
    decided = sum(p["verdict"] in ("proved", "checked", "defect") for p in procedures)
    tally.check(document["procedures_total"] == len(procedures) + rejected, "procedures_total")
    tally.check(document["procedures_checked"] == decided, "procedures_checked")
    for p in procedures:
        errors = [f for f in p["findings"] if f["severity"] == "error"]
        if p["verdict"] == "defect":
            good = bool(errors)
        elif p["verdict"] in ("proved", "checked", "vacuous"):
            good = not errors
        else:
            good = bool(p["reason"]) or bool(errors)
        if not good:
            tally.check(False, f"{p['name']}: verdict {p['verdict']} with {len(errors)} errors, reason {p['reason']}")
