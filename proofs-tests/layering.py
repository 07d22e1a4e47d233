#!/usr/bin/env python3
"""Checks the order of the layers (docs/architecture.md): a folder includes only folders below it, and has one namespace.

    layering.py [ROOT]      lists every violation; exit code 1 if there is one
"""

import pathlib
import re
import sys

# What each layer may include besides itself.
BELOW = {
    "semantics": set(),
    "frontend": {"semantics"},
    "smt": {"semantics"},
    "analysis": {"semantics", "frontend", "smt"},
    "amir": {"semantics", "frontend", "smt", "analysis"},
    "codegen": {"semantics", "frontend", "smt", "analysis", "amir"},
    "driver": {"semantics", "frontend", "smt", "analysis", "amir", "codegen"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
NAMESPACE = re.compile(r"^namespace (exocheck[\w:]*)", re.MULTILINE)


def violations(root):
    """One line of text per violation under `root`."""
    found = []
    for layer, below in BELOW.items():
        for path in sorted((root / layer).rglob("*.[hc]pp")):
            text = path.read_text(encoding="utf-8")
            where = path.relative_to(root)
            for number, line in enumerate(text.splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                target = match.group(1).split("/")[0]
                if target not in BELOW:
                    found.append(f'{where}:{number}: "{match.group(1)}" does not begin with the name of a layer')
                elif target != layer and target not in below:
                    found.append(f"{where}:{number}: {layer} must not include {target}")
            for namespace in NAMESPACE.findall(text):
                if namespace != f"exocheck::{layer}" and not namespace.startswith(f"exocheck::{layer}::"):
                    found.append(f"{where}: namespace {namespace} in layer {layer}")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = violations(root)
    print("\n".join(found) if found else "layers in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
