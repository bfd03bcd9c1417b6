"""Keeps the settings tables in the user guide up to date, in each language.

`python packaging/guide.py` generates the tables from the declarations in `app/settings` and writes them between the
markers in `resources/guide/guide.md` and `guide_de.md`. With `--check` it changes nothing and fails if the tables are
out of date. The labels and help texts of the settings are translated in `kame_de.ts`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from translations import FOLDER, translations

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.settings.declarations import Settings, declarations, page_of  # noqa: E402
from app.settings.setting import Setting  # noqa: E402

GUIDES = ROOT / "resources" / "guide"
WORDS: Mapping[str, Mapping[str, str]] = {
    "": {},
    "de": {
        "| Setting | Key | Default | Meaning |": "| Einstellung | Name in der Datei | Vorgabe | Bedeutung |",
        "on": "an",
        "off": "aus",
        "empty": "leer",
        " One of {0}.": " Möglich: {0}.",
        "`{0}` (“{1}”)": "`{0}` („{1}“)",
        " The device's name; empty for the system's default.": " Der Name des Geräts; leer: das des Systems.",
        " Its key, as `kame-desktop models list` names it.": " Angegeben wird der Name aus `kame-desktop models list`.",
        " From {0} to {1}{2}.": " Von {0} bis {1}{2}.",
        "${0}": "{0} $",
    },
}
"""The words of the tables that no setting declares, for each language; the source language is first."""
Said = Callable[[str], str]
"""Translates a text."""


def said_in(language: str) -> Said:
    """Returns the function that translates the texts of the tables."""
    words = dict(WORDS[language])
    if language:
        found = translations(FOLDER / f"kame_{language}.ts")
        words |= {source: text for (context, source), text in found.items() if not context}
    return lambda text: words.get(text, text)


def settings_markdown(said: Said = str) -> str:
    """Returns a Markdown table of settings for each page of the settings dialog."""
    parts = []
    for key, page in Settings.pages.items():
        rows = [_row(one, said) for one in declarations() if page_of(one.section) == key]
        head = [
            f"### {said(page.label)}",
            "",
            said("| Setting | Key | Default | Meaning |"),
            "| --- | --- | --- | --- |",
        ]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "\n".join(parts)


def _row(declared: Setting, said: Said) -> str:
    if declared.kind == "switch":
        default = said("on") if declared.default else said("off")
    else:
        default = f"`{declared.default}`" if declared.default != "" else said("empty")
    meaning = f"{said(declared.help)}{_range_in_words(declared, said)}"
    return f"| {said(declared.label)} | `{declared.name}` | {default} | {meaning} |"


def _range_in_words(declared: Setting, said: Said) -> str:
    """Returns a sentence listing the allowed values, or an empty string for switches and free text."""
    if declared.words:
        words = {choice: said(word) for choice, word in declared.words.items()}
        named = (
            f"`{choice}`" if word.casefold() == choice else said("`{0}` (“{1}”)").format(choice, word)
            for choice, word in words.items()
        )
        return said(" One of {0}.").format(", ".join(named))
    if declared.kind == "device":
        return said(" The device's name; empty for the system's default.")
    if declared.kind == "model":
        return said(" Its key, as `kame-desktop models list` names it.")
    if not declared.is_number:
        return ""
    special = f"; {declared.special[0]:g}: {said(declared.special[1])}" if declared.special is not None else ""
    form = said("${0}") if declared.unit == "$" else f"{{0}} {declared.unit}".strip()
    highest = form.format(f"{declared.highest:g}")
    return said(" From {0} to {1}{2}.").format(f"{declared.lowest:g}", highest, special)


def filled(text: str, said: Said) -> str:
    """Returns `text` with its settings tables regenerated."""
    pattern = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.S)
    if not pattern.search(text):
        raise SystemExit("The guide has no marks for its tables of settings.")
    return pattern.sub(lambda found: found[1] + settings_markdown(said).strip() + "\n" + found[2], text)


def main(arguments: list[str]) -> int:
    """Rewrites the guides, or checks them with `--check`; returns the exit code."""
    behind = 0
    for language in WORDS:
        path = GUIDES / (f"guide_{language}.md" if language else "guide.md")
        old = path.read_text("utf-8")
        new = filled(old, said_in(language))
        if "--check" not in arguments:
            path.write_text(new, encoding="utf-8", newline="\n")
        elif new != old:
            print(f"{path.name} is behind its sources: run “python packaging/guide.py”.")
            behind = 1
    return behind


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
