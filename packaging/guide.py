"""Keeps the settings tables in the user guide up to date.

`python packaging/guide.py` generates the tables from the declarations in `app/settings` and writes them between the
markers in `resources/guide/guide.md`. With `--check` it changes nothing and fails if the tables are out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.settings.declarations import Settings, declarations, page_of  # noqa: E402
from app.settings.setting import Setting  # noqa: E402

GUIDE = ROOT / "resources" / "guide" / "guide.md"


def settings_markdown() -> str:
    """Returns a Markdown table of settings for each page of the settings dialog."""
    parts = []
    for key, page in Settings.pages.items():
        rows = [_row(one) for one in declarations() if page_of(one.section) == key]
        head = [f"### {page.label}", "", "| Setting | Key | Default | Meaning |", "| --- | --- | --- | --- |"]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "\n".join(parts)


def _row(declared: Setting) -> str:
    if declared.kind == "switch":
        default = "on" if declared.default else "off"
    else:
        default = f"`{declared.default}`" if declared.default != "" else "empty"
    return f"| {declared.label} | `{declared.name}` | {default} | {declared.help}{_range_in_words(declared)} |"


def _range_in_words(declared: Setting) -> str:
    """Returns a sentence listing the allowed values, or an empty string for switches and free text."""
    if declared.words:
        named = (
            f"`{choice}`" if word.casefold() == choice else f"`{choice}` (“{word}”)"
            for choice, word in declared.words.items()
        )
        return f" One of {', '.join(named)}."
    if declared.kind == "device":
        return " The device's name; empty for the system's default."
    if declared.kind == "model":
        return " Its key, as `kame-desktop models list` names it."
    if not declared.is_number:
        return ""
    special = f"; {declared.special[0]:g}: {declared.special[1]}" if declared.special is not None else ""
    return f" From {declared.lowest:g} to {_with_unit(declared.highest, declared.unit)}{special}."


def _with_unit(number: float, unit: str) -> str:
    return f"${number:g}" if unit == "$" else f"{number:g} {unit}".strip()


def filled(text: str) -> str:
    """Returns `text` with its settings tables regenerated."""
    pattern = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.S)
    if not pattern.search(text):
        raise SystemExit("guide.md has no marks for its tables of settings.")
    return pattern.sub(lambda found: found[1] + settings_markdown().strip() + "\n" + found[2], text)


def main(arguments: list[str]) -> int:
    """Rewrites the guide, or checks it with `--check`; returns the exit code."""
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
