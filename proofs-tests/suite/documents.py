#!/usr/bin/env python3
"""Writes the generated pages of docs/: one page per rule, their list, and the help texts.

    documents.py EXOCHECK ROOT
"""

import pathlib
import sys

from process import run


def output(exocheck, *arguments):
    result = run([exocheck, *arguments])
    if result.code != 0:
        raise RuntimeError(f"exocheck {' '.join(arguments)}: exit code {result.code}: {result.err}")
    return result.out


def generate(exocheck):
    """File name below docs/ -> text."""
    note = "<!-- Written by `./dev docs`; change it there. -->\n"
    pages = {}
    rows = []
    for line in output(exocheck, "rules").splitlines():
        code, name, rule_class, summary = line.split(None, 3)
        pages[f"rules/{code}.md"] = note + output(exocheck, "explain", code)
        rows.append(f"| [{code}]({code}.md) | {name} | {rule_class} | {summary} |\n")
    pages["rules/README.md"] = (note + "# Rules\n\n| code | name | class | when it fires |\n|---|---|---|---|\n"
                                + "".join(rows))
    commands = ["", "check", "fmt", "rules", "explain"]
    helps = [f"## exocheck {c}".rstrip() + f"\n\n```\n{output(exocheck, *filter(None, [c]), '--help')}```\n"
             for c in commands]
    pages["command-line.md"] = note + "# Command line\n\n" + "\n".join(helps)
    return pages


def main():
    exocheck, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (root / "docs/rules").mkdir(parents=True, exist_ok=True)
    pages = generate(exocheck)
    for path in (root / "docs/rules").glob("*.md"):
        if f"rules/{path.name}" not in pages:
            path.unlink()
    for name, text in pages.items():
        (root / "docs" / name).write_text(text, encoding="utf-8")
    print(f"{len(pages)} pages written")


if __name__ == "__main__":
    main()
