"""Generated pages must be what `./dev docs` would write now."""

import documents


def run_all(tally, exocheck, root):
    tally.group("generated pages")
    wanted = documents.generate(exocheck, root)
    for name, text in wanted.items():
        path = root / name
        current = path.read_text(encoding="utf-8") if path.exists() else None
        tally.check(current == text, f"{name} is not current: run ./dev docs")
    present = {f"docs/rules/{p.name}" for p in (root / "docs/rules").glob("*.md")}
    tally.check(present <= set(wanted), f"pages of no rule: {sorted(present - set(wanted))}")
