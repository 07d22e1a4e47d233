"""Inputs made to break the program: it must answer 0, 1, 2 or 3 in bounded time, never crash, never be surprised."""

import pathlib
import random
import re
import tempfile

from process import run

DEEP = 10_000


def nested_blocks(header, depth=DEEP):
    lines = ["def k(n: size):"] + [" " * (i + 1) + header for i in range(depth)] + [" " * (depth + 1) + "pass"]
    return "\n".join(lines) + "\n"


def texts():
    """Name -> text of one hostile file."""
    body = "def k(n: size, x: f32[n] @ DRAM):\n    "
    yield "parentheses", body + "x[0] = " + "(" * DEEP + "1.0" + ")" * DEEP + "\n"
    yield "brackets", body + "x[0] = " + "x[" * DEEP + "0" + "]" * DEEP + "\n"
    yield "unclosed", body + "(" * DEEP + "\n"
    yield "closed", body + ")" * DEEP + "\n"
    yield "minus signs", body + "x[0] = " + "-" * DEEP + "1.0\n"
    yield "nots", body + "if " + "not " * DEEP + "n == 1:\n        pass\n"
    yield "long sum", body + "x[0] = " + " + ".join(["1.0"] * DEEP) + "\n"
    yield "long product", body + "x[0] = " + " * ".join(["1.0"] * DEEP) + "\n"
    yield "long index", body + "x[" + " + ".join(["n"] * DEEP) + "] = 1.0\n"
    yield "long conjunction", body + "if " + " and ".join(["n == 1"] * DEEP) + ":\n        pass\n"
    yield "long comparison", body + "if " + " < ".join(["n"] * DEEP) + ":\n        pass\n"
    yield "dots", body + "x[0] = a" + ".b" * DEEP + "\n"
    yield "calls", body + "f(" * DEEP + ")" * DEEP + "\n"
    yield "subscripts", body + "x" + "[0]" * DEEP + " = 1.0\n"
    yield "conditionals", body + "x[0] = " + "1.0 if n == 1 else " * DEEP + "2.0\n"
    yield "power chain", body + "x[0] = " + "2 ** " * DEEP + "2\n"
    yield "tuple", body + "x[0] = " + "0, " * DEEP + "0\n"
    yield "lambda and braces", body + "x[0] = " + "{" * DEEP + "}" * DEEP + "\n"
    yield "loops", nested_blocks("for i in seq(0, n):")
    yield "ifs", nested_blocks("if n == 1:")
    yield "withs", nested_blocks("with CudaDeviceFunction(blockDim=32):")
    yield "thread loops", nested_blocks("for t in cuda_threads(0, 1, unit=cuda_thread):")
    yield "elifs", body + "if n == 0:\n        pass\n" + "    elif n == 1:\n        pass\n" * DEEP
    yield "statements", body + "x[0] = 1.0\n    " * DEEP + "pass\n"
    yield "bad statements", body + "x[0] = 1.0 ) \n    " * DEEP + "pass\n"
    yield "procedures", "".join(f"def k{i}(n: size):\n    pass\n" for i in range(2000))
    yield "parameters", "def k(" + ", ".join(f"n{i}: size" for i in range(DEEP)) + "):\n    pass\n"
    yield "same parameters", "def k(" + ", ".join(["n: size"] * DEEP) + "):\n    pass\n"
    yield "extents", "def k(x: f32[" + ", ".join(["2"] * DEEP) + "] @ DRAM):\n    pass\n"
    yield "call chain", "".join(f"def k{i}(n: size):\n    k{i + 1}(n)\n" for i in range(2000)) + "def k2000(n: size):\n    pass\n"
    yield "doubling calls", "".join(f"def k{i}(n: size):\n    k{i + 1}(n)\n    k{i + 1}(n)\n" for i in range(60)) + "def k60(n: size):\n    pass\n"
    yield "recursion", "def a(n: size):\n    b(n)\ndef b(n: size):\n    a(n)\n"
    yield "guard circle", ("def k():\n    with CudaDeviceFunction(blockDim=32):\n        for t in cuda_tasks(0, 1):\n"
                           "            a: barrier(b) @ CudaMbarrier\n            b: barrier(a) @ CudaMbarrier\n")
    for number in ("9223372036854775807", "9223372036854775808", "-9223372036854775808", "1" + "0" * 5000, "0x" + "f" * 400,
                   "1e999", "0." + "0" * 4000 + "1"):
        yield f"number {number[:12]}", body + f"for i in seq(0, {number}):\n        x[i * {number}] = {number}\n"
        yield f"extent {number[:12]}", f"def k(x: f32[{number}, {number}] @ DRAM):\n    pass\n"
        yield f"threads {number[:12]}", (f"def k():\n    with CudaDeviceFunction(blockDim={number}, clusterDim={number}):\n"
                                         f"        for t in cuda_tasks(0, {number}):\n"
                                         f"            for w in cuda_threads(0, {number}, unit={number} * cuda_thread):\n"
                                         "                pass\n")
        yield f"divisor {number[:12]}", body + f"for i in seq(0, n / {number}):\n        x[n % {number}] = 1.0\n"
        yield f"sizes {number[:12]}", f"# exocheck: sizes n={number}\n" + body + "pass\n"
        yield f"await {number[:12]}", (f"def k():\n    with CudaDeviceFunction(blockDim=32):\n"
                                       f"        for t in cuda_tasks(0, 1):\n            z: barrier @ CudaMbarrier\n"
                                       f"            Arrive(cuda_in_order, {number}) >> z\n"
                                       f"            Await(z, cuda_in_order, ~{number})\n")
    yield "empty", ""
    yield "newlines", "\n" * 100_000
    yield "blanks", " " * 1_000_000
    yield "tabs", "\t" * 100_000 + "x"
    yield "NUL", "def k(n: size):\n    \0pass\n\0"
    yield "byte order mark", "\ufeffdef k(n: size):\n    pass\n"
    yield "carriage returns", "def k(n: size):\r    pass\r\ndef j(n: size):\r\n    pass\r\n"
    yield "unterminated string", body + '"' + "a" * 100_000
    yield "triple string", body + '"""' + "a\n" * 10_000
    yield "comment", "#" * 1_000_000
    yield "backslashes", body + "\\\n" * DEEP + "pass\n"
    yield "semicolons", body + ";" * DEEP + "\n"
    yield "colons", body + ":" * DEEP + "\n"
    yield "ats", "@" * DEEP + "\n"
    yield "decorators", "@proc\n" * DEEP + "def k(n: size):\n    pass\n"
    yield "surrogates", "def k(n: size):\n    \ud800\udfff = 1\n"
    yield "long name", body + "x" * 1_000_000 + " = 1.0\n"
    yield "suppressions", "# exocheck: ignore sync.raw -- a\n" * DEEP + "# exocheck: ignore\n" * 100


def tolerable(tally, exocheck, paths, what, timeout):
    """Runs a check on the files; on trouble runs them one by one to name the culprit."""
    result = run([exocheck, "check", "--timeout", "10", *paths], timeout=timeout)
    good = not result.died() and result.code in (0, 1, 2, 3) and "internal error" not in result.out + result.err
    if good or len(paths) == 1:
        tally.check(good, f"{what}: exit code {result.code}: {(result.out + result.err)[-1500:]}")
        return
    for path in paths:
        tolerable(tally, exocheck, [path], f"{what} {path.name}", timeout)


def hostile(tally, exocheck, timeout):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts():
            path = pathlib.Path(folder) / "hostile.exo"
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            tolerable(tally, exocheck, [path], f"hostile file '{name}'", timeout)
            result = run([exocheck, "fmt", path], timeout=timeout)
            tally.check(not result.died() and result.code in (0, 2, 3), f"fmt of '{name}': {result.code} {result.err[-500:]}")


def big(tally, exocheck, megabytes=100):
    """A file larger than any program is refused without being read to its end."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "big.exo"
        with open(path, "wb") as file:
            for _ in range(megabytes):
                file.write(b"x = 1.0\n" * ((1 << 20) // 8))
        result = run([exocheck, "check", path], timeout=60)
        tally.check(result.code == 3 and "L-01" in result.out, f"a file of {megabytes} MB: {result.code} {result.out[-500:]}")
    result = run([exocheck, "check", "/dev/zero"], timeout=60)
    tally.check(result.code in (2, 3), f"/dev/zero: {result.code}")


TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|[^\w\s]|\n *|\s+")


def mutate(rng, text, pool):
    """A program with a few tokens deleted, doubled, exchanged or taken from another program."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if not tokens:
            break
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        kind = rng.randrange(6)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[other])
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = rng.choice(pool)
        elif kind == 4 and tokens[at].isdigit():
            tokens[at] = rng.choice(("0", "1", "2", "3", "7", "33", "1000", "9223372036854775807"))
        else:
            lines = "".join(tokens).split("\n")
            first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[first], lines[second] = lines[second], lines[first]
            tokens = TOKEN.findall("\n".join(lines))
    return "".join(tokens)


def sources(root):
    # Large sizes come from header comments; mutants are checked with the sizes chosen by the program.
    return [p.read_text(encoding="utf-8") for f in ("kernels", "proofs-tests/cases") for p in sorted((root / f).rglob("*.exo"))]


def mutants(tally, exocheck, root, count, seed, timeout=300, batch=25):
    """`count` mutated programs. The same seed makes the same programs."""
    rng = random.Random(seed)
    programs = sources(root)
    pool = sorted({t for p in programs for t in TOKEN.findall(p)})

    def mutant():
        text = mutate(rng, rng.choice(programs), pool)
        if rng.random() < 0.1:
            text = text[: rng.randrange(len(text) + 1)]
        return text.encode("utf-8")

    while count > 0:
        _check_batch(tally, exocheck, [mutant() for _ in range(min(batch, count))], f"mutants of seed {seed}", timeout)
        count -= batch


def byte_mutants(tally, exocheck, root, count, seed, timeout=300):
    """`count` copies of every kernel with one to four bytes changed, dropped or put in."""
    rng = random.Random(seed)

    def mutant(data):
        data = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randrange(len(data))
            kind = rng.randrange(3)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at]
            else:
                data.insert(at, rng.choice(data))
        return bytes(data)

    for kernel in sorted((root / "kernels").rglob("*.exo")):
        original = kernel.read_bytes()
        _check_batch(tally, exocheck, [mutant(original) for _ in range(count)], f"bytes of {kernel.name}, seed {seed}", timeout)


def _check_batch(tally, exocheck, contents, what, timeout):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, data in enumerate(contents):
            path = pathlib.Path(folder) / f"{i:02}.exo"
            path.write_bytes(data)
            paths.append(path)
        before = tally.failed
        tolerable(tally, exocheck, paths, what, timeout)
        if tally.failed == before:
            tally.add(len(paths) - 1)  # the whole batch counted as one
        else:
            tally.show(f"  the programs are in {_keep(paths)}")


def _keep(paths):
    """Saves a failing batch, so that it can be looked at."""
    target = pathlib.Path("out/mutants")
    target.mkdir(parents=True, exist_ok=True)
    for path in paths:
        (target / path.name).write_bytes(path.read_bytes())
    return target


def jobs(exocheck, root, mutant_count, bytes_count, timeout=60):
    name = exocheck.parent.name

    def files(tally):
        tally.group(f"{name}: hostile files")
        hostile(tally, exocheck, timeout)
        big(tally, exocheck)

    def programs(tally):
        tally.group(f"{name}: {mutant_count} mutated programs")
        mutants(tally, exocheck, root, mutant_count, seed=1)

    def bytes_(tally):
        tally.group(f"{name}: {bytes_count} byte mutations of every kernel")
        byte_mutants(tally, exocheck, root, bytes_count, seed=1)

    return [files, programs, bytes_]
