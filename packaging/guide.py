"""Keep the guide's table of settings true.

`python packaging/guide.py` writes it between its marks in `resources/guide/guide.md`, from the declarations in
`app/settings`. `--check` only tells whether it is up to date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "resources" / "guide" / "guide.md"


def settings() -> str:
    """Return the table of settings."""
    sys.path.insert(0, str(ROOT))
    from app.settings.markdown import settings_markdown

    return settings_markdown().strip()


def filled(text: str) -> str:
    """Return `text` with its table of settings renewed."""
    pattern = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.S)
    if not pattern.search(text):
        raise SystemExit("guide.md has no marks for its table of settings.")
    return pattern.sub(lambda found: found[1] + settings() + "\n" + found[2], text)


def main(arguments: list[str]) -> int:
    """Rewrite the guide, or check it."""
    path = GUIDE
    old = path.read_text("utf-8")
    new = filled(old)
    if "--check" in arguments:
        if new != old:
            print("guide.md is behind its sources: run “python packaging/guide.py”.")
        return int(new != old)
    path.write_text(new, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
