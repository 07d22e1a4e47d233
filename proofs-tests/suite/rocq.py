"""The formal semantics: the Rocq theory and what it rests on, certificates of the kernels, wrong certificates, random
programs. Needs coqc (Debian package coq); where it is missing the tests are counted as skipped."""

import json
import pathlib
import re
import shutil
import tempfile

from process import run, side_by_side
from rocq_build import COMMENT, Library

FOLDERS = ("theory", "generated", "examples")
FORBIDDEN = re.compile(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort All|Unset\s+Guard\s+Checking|"
                       r"Unset\s+Positivity\s+Checking|bypass_check)\b|type-in-type")
FOREIGN = re.compile(r"From\s+(?!Coq\b|Exocheck\b)\w+\s+Require|^\s*Require", re.MULTILINE)
CLOSED = "Closed under the global context"
THEOREMS = re.compile(r"## The theorems(.*?)\*\*Sequential = parallel\*\*", re.DOTALL)
BATCH = 1200


def sources(root):
    rocq = root / "proofs-tests/rocq"
    return [*(p for f in FOLDERS for p in sorted((rocq / f).glob("*.v"))), rocq / "Audit.v"]


def kernels(root):
    """Lines of certificates.txt: a kernel, its options, and what to expect."""
    for line in (root / "proofs-tests/rocq/certificates.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            left, _, expected = line.partition(" => ")
            path, *options = left.split()
            yield path, options, expected


def run_all(tally, exocheck, build, root):
    tally.group("rocq: theory")
    files = sources(root)
    for path in files:
        text = COMMENT.sub(" ", path.read_text(encoding="utf-8"))
        tally.check(not FORBIDDEN.search(text), f"{path.name}: {FORBIDDEN.search(text)}")
        tally.check(not FOREIGN.search(text), f"{path.name} requires something foreign")
    listed = {pathlib.Path(p).name for p in re.findall(r"^\S+\.v$", (root / "proofs-tests/rocq/_CoqProject").read_text(), re.MULTILINE)}
    tally.check(listed == {p.name for p in files}, f"_CoqProject does not list the files: {listed ^ {p.name for p in files}}")
    certificates = list(kernels(root))
    if shutil.which("coqc") is None:
        tally.skip(len(files) + len(certificates) + BATCH, "coqc is not installed (Debian package coq)")
        not_run(tally, exocheck, root)
        return
    library = Library(build / "rocq")
    for path in files:
        library.add(path.stem, path.read_text(encoding="utf-8"))
    messages = library.compile()
    for module, message in messages.items():
        tally.check(not message, f"{module}.v: {message[-2000:]}")
    if any(messages.values()):
        return
    audited = re.findall(r"^  @(\w+)", (root / "proofs-tests/rocq/Audit.v").read_text(encoding="utf-8"), re.MULTILINE)
    tally.check(library.output("Audit").strip() == CLOSED and len(set(audited)) == len(audited) > 30, f"Audit: {library.output('Audit')}")
    named = set(re.findall(r"`(\w+)`", THEOREMS.search((root / "docs/semantics.md").read_text(encoding="utf-8")).group(1)))
    tally.check(named <= set(audited), f"docs/semantics.md names theorems that are not audited: {sorted(named - set(audited))}")

    tally.group("rocq: certificates")
    with tempfile.TemporaryDirectory() as folder:
        texts = of_kernels(tally, exocheck, root, library, certificates, pathlib.Path(folder))
        refused(tally, library, texts, pathlib.Path(folder))
    certify(tally, exocheck, root, library)
    not_run(tally, exocheck, root)

    tally.group("rocq: random programs")
    with tempfile.TemporaryDirectory() as folder:
        random_programs(tally, build, library, pathlib.Path(folder))


def compiled(library, file):
    """coqc's result, and whether it accepted a file whose theorems rest on nothing."""
    result = library.coqc(file, timeout=600)
    return result, result.code == 0 and CLOSED in result.out and "Axioms" not in result.out


def of_kernels(tally, exocheck, root, library, certificates, folder):
    """Certificates of the shipped kernels, each kernel as certificates.txt says. Name of the file -> text."""
    jobs, texts = [], {}

    def export(number):
        path, options, _ = certificates[number]
        return run([exocheck, "export", "program", root / path, "--to", "rocq", "-o", folder / f"k{number}", *options], timeout=120)

    for number, result in enumerate(side_by_side(export, range(len(certificates)))):
        path, options, expected = certificates[number]
        target = folder / f"k{number}"
        where = f"{path} {' '.join(options)}"
        if expected.startswith("none"):
            reason = expected[len("none: "):]
            tally.check(result.code == 3 and f"no certificate: {reason}" in result.out, f"{where}: {result.code} {result.out}{result.err}")
            continue
        files = sorted(target.glob("*.v")) if target.exists() else []
        if tally.check(result.code == 0 and files and expected in result.out, f"{where}: expected '{expected}': {result.out}{result.err}"):
            jobs += [(where, file) for file in files]
    shown = {path for path, _, _ in certificates}
    missing = {str(p.relative_to(root)) for p in (root / "kernels").rglob("*.exo")} - shown
    tally.check(not missing, f"certificates.txt lacks {sorted(missing)}")
    for (where, file), (result, good) in zip(jobs, side_by_side(lambda job: compiled(library, job[1]), jobs)):
        tally.check(good, f"{where}: {file.name}: {result.code} {(result.out + result.err)[-1500:]}")
        texts[file.parent.name + "/" + file.name] = file.read_text(encoding="utf-8")
    return texts


def refused(tally, library, texts, folder):
    """Certificates made wrong: the kernel must refuse each. A checker that accepts everything must not pass."""
    checked = next(t for t in texts.values() if "_every_trip_count" in t)
    defect = next(t for t in texts.values() if "_defect" in t)

    def replaced(text, pattern, new, count=1):
        out, n = re.subn(pattern, new, text, count=count)
        return out if n else None

    kind = re.search(r", (KMut|KRead),", defect)
    wrong = {
        # The check before a record: it is then no longer disciplined.
        "dropped check": replaced(checked, r"  Leaf \d+ m\d+ \(LChk true [^\n]*;\n", ""),
        "wrong period": replaced(checked, r"(sequential_for_all_K .*) (\d+)\)\. vm", r"\1 1). vm"),
        "wrong lag": replaced(checked, r"(\(\d+%N, \()-[2-9]\d*\)\)", r"\1-1))"),
        "wrong tile": replaced(checked, r"(\d+%N, \(\d+%nat, \[)(\d+)", r"\g<1>1\2"),
        "weaker check": replaced(checked, r"LChk true (true|false) ff", r"LChk true \1 fa"),
        "wrong statement": replaced(defect, r"(program \()(\d+)%N", r"\g<1>9\2%N"),
        "wrong kind": replaced(defect, r", (KMut|KRead),", ", KBar,") if kind else None,
        "wrong element": replaced(defect, r"(Some \(\d+%N, \[)(\d+)", r"\g<1>9\2"),
        "accepted instead": replaced(
            defect, r"Theorem (\w+) : rejects (\w+) (\d+) program .*\nProof.*",
            r"Theorem \1 : accepts \2 \3 program.\nProof. apply cert_checked. vm_cast_no_check (eq_refl true). Qed."),
        "rejected instead": replaced(
            checked, r"(?s)\nTheorem \w+_every_trip_count.*",
            "\nTheorem wrong : rejects default_mode 1 repeated (0%N, KMut, None).\n"
            "Proof. apply rejected_by_evaluation. vm_cast_no_check (eq_refl true). Qed.\n"),
        "no proof": replaced(defect, r"Proof\. apply.*Qed\.", "Admitted."),
        "an axiom": replaced(defect, r"\nTheorem (.*)\nProof\..*", r"\nAxiom cheat : False.\nTheorem \1\nProof. destruct cheat. Qed."),
    }
    (folder / "wrong").mkdir()
    for name, text in list(wrong.items()):
        if not tally.check(text is not None, f"wrong certificate '{name}': nothing to change"):
            del wrong[name]

    def judge(entry):
        name, text = entry
        file = folder / "wrong" / f"{re.sub(r'[^a-z]', '_', name)}.v"
        file.write_text(text, encoding="utf-8")
        return compiled(library, file)

    for name, (result, good) in zip(wrong, side_by_side(judge, wrong.items())):
        syntax = any(w in result.out + result.err for w in ("Syntax error", "was not found", "Unable to locate"))
        tally.check(not good and not syntax, f"wrong certificate '{name}' was not refused: {result}")


def certify(tally, exocheck, root, library):
    """`check --certify` says in text and JSON what the kernel says."""
    env = {"EXOCHECK_ROCQ": str(library.folder)}
    good, bad = root / "kernels/paper/inter_thread.exo", root / "kernels/paper/inter_thread_broken.exo"
    result = run([exocheck, "check", "--certify", good, bad], env=env)
    tally.check(result.code == 1 and result.out.count("certificate: accepted by the kernel") == 2, f"--certify: {result}")
    result = run([exocheck, "check", "--certify", "--format", "json", good, bad], env=env)
    given = [c for f in json.loads(result.out)["files"] for p in f["procedures"] for c in p["certificates"]]
    tally.check([c["status"] for c in given] == ["checked", "checked"], f"--certify in JSON: {given}")
    result = run([exocheck, "check", "--certify", "--mode", "strict", good], env=env)
    tally.check(result.code == 0 and "certificate: none" in result.out, f"--certify in strict mode: {result}")
    # A kernel that refuses what we concluded must not pass: exit code 4.
    with tempfile.TemporaryDirectory() as folder:
        liar = pathlib.Path(folder) / "coqc"
        liar.write_text("#!/bin/sh\necho 'Error: no.'\nexit 1\n")
        liar.chmod(0o755)
        result = run([exocheck, "check", "--certify", good], env={**env, "COQC": str(liar)})
        tally.check(result.code == 4 and "refused" in result.out, f"--certify with a kernel that refuses: {result}")
        # A theory that is not there yet is compiled into the cache folder, once; here by copying what is compiled already.
        copier = pathlib.Path(folder) / "copier"
        copier.write_text('#!/bin/sh\nfor file; do :; done\n'
                          f'compiled="{library.folder}/${{file%.v}}.vo"\n'
                          'if [ -f "$compiled" ]; then cp "$compiled" .; else exec coqc "$@"; fi\n')
        copier.chmod(0o755)
        cache = {"EXOCHECK_ROCQ": "", "XDG_CACHE_HOME": folder, "COQC": str(copier)}
        result = run([exocheck, "check", "--certify", good], env=cache, timeout=300)
        tally.check(result.code == 0 and "accepted by the kernel" in result.out, f"--certify with an empty cache: {result}")
        made = list((pathlib.Path(folder) / "exocheck").iterdir())
        tally.check(len(made) == 1 and (made[0] / "CertPrelude.vo").exists(), f"cache: {made}")


def not_run(tally, exocheck, root):
    """Without coqc the verdicts stay, and the report says that nothing was certified."""
    result = run([exocheck, "check", "--certify", root / "kernels/paper/inter_thread.exo"], env={"COQC": "no-such-coqc"})
    tally.check(result.code == 0 and "certificate: not-run" in result.out and "not installed" in result.out, f"without coqc: {result}")


def random_programs(tally, build, library, folder):
    """The C++ machine's verdicts on random programs, computed again by the theory's interpreter."""
    result = run([build / "tests/property_rocq_batch"], env={"EXOCHECK_BATCH": str(folder / "batch"), "EXOCHECK_PROGRAMS": str(BATCH)}, timeout=300)
    files = sorted(folder.glob("batch_*.v"))
    if not tally.check(result.code == 0 and files, f"property_rocq_batch: {result}"):
        return
    broken = folder / "batch_broken.v"
    broken.write_text(files[0].read_text(encoding="utf-8").replace("Some (", "Some (1", 1), encoding="utf-8")
    programs = 0
    *judged, (_, accepted) = side_by_side(lambda f: compiled(library, f), [*files, broken])
    tally.check(not accepted, "a batch with a wrong verdict was accepted")
    for file, (result, good) in zip(files, judged):
        text = file.read_text(encoding="utf-8")
        count = len(re.findall(r"^ *\(default_mode, ", text, re.MULTILINE))
        programs += count
        # On failure the output names the numbers of the wrong programs.
        tally.check(good, f"{file.name}: {result.code} {(result.out + result.err)[:1500]}")
        if good:
            tally.add(2 * count)
    tally.check(programs == BATCH, f"{programs} random programs, not {BATCH}")
