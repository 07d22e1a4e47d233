"""The layering test, and a test of it."""

import pathlib
import tempfile

import layering


def run(tally, root):
    tally.group("layers")
    found = layering.violations(root)
    tally.check(not found, "layers: " + "; ".join(found))

    # A wrong include, a wrong namespace and a relative include must each be noticed.
    wrong = {
        "smt/a.cpp": '#include "frontend/parse.hpp"\n',
        "semantics/a.hpp": '#include "semantics/b.hpp"\n  #  include "amir/run.hpp"\n',
        "frontend/a.hpp": "namespace exocheck::smt {\n}\n",
        "driver/a.cpp": '#include "../amir/run.hpp"\n',
    }
    right = {"analysis/a.cpp": '#include "smt/term.hpp"\n#include <vector>\nnamespace exocheck::analysis {\n}\n'}
    for name, text in {**wrong, **right}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir()
            path.write_text(text, encoding="utf-8")
            count = len(layering.violations(pathlib.Path(folder)))
            tally.check(count == (1 if name in wrong else 0), f"layers: {name} of the self-test gives {count} violations")
