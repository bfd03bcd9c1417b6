"""Keeps the translations of the user interface in sync with the source.

    python packaging/translations.py update     collect the strings in app/ and list the untranslated ones
    python packaging/translations.py release    compile the finished translations of each language
    python packaging/translations.py --check    change nothing; fail if anything is out of date

The source strings are English. `update` keeps each translation whose source string is still in the same class, drops
the others, and lists the missing and the dropped ones. Write the missing translations into `kame_de.ts`, without
`type="unfinished"`, then run `release`. To add a language, run `update fr` first. The sentences of the core, such as
error messages, are in `core_de.json` (see `core_sentences.py`): write the missing ones in there.

`--check` fails if a string is not translated, a translation lacks a placeholder of its source, or a `.qm` file does not
match its `.ts` file. Uses Qt's own tools, which come with PySide6. To keep diffs small, the `.ts` files contain no line
numbers, and the strings of a class are sorted alphabetically.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import PySide6

import core_sentences

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
SOURCE_LANGUAGE = "en"
PLACEHOLDER = re.compile(r"\{[^{}]*\}|%n")
BEHIND = "The translations are behind the source: run “python packaging/translations.py update”, then “release”."


def collect(target: Path, language: str) -> None:
    """Updates the file `target` with the app's strings; keeps translations still in use and drops the others."""
    sources = sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "app").rglob("*.py") if "research" not in path.parts
    )
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "sources"
        listed.write_text("\n".join(sources), encoding="utf-8")
        _tool(
            "lupdate",
            f"@{listed}",
            "-silent",
            "-no-obsolete",
            "-sort-messages",
            "-locations",
            "none",
            "-tr-function-alias",
            "tr+=_tr",  # the functions of modules without a class
            # No heuristics: a changed string, or one that has moved, may need a different translation.
            "-disable-heuristic",
            "similartext",
            "-disable-heuristic",
            "sametext",
            "-source-language",
            SOURCE_LANGUAGE,
            "-target-language",
            language,
            "-ts",
            str(target),
        )
    target.write_text(target.read_text("utf-8"), encoding="utf-8", newline="\n")


def compile_into(source: Path, target: Path) -> None:
    """Compiles the finished translations in the .ts file `source` into the .qm file `target`."""
    _tool("lrelease", "-silent", "-removeidentical", "-nounfinished", str(source), "-qm", str(target))


def languages() -> list[Path]:
    """Returns the .ts files of all languages except the source language."""
    return sorted(FOLDER.glob("kame_*.ts"))


def language_of(path: Path) -> str:
    """Returns the language code of a .ts file: `de` for `kame_de.ts`."""
    return path.stem.removeprefix("kame_")


def translations(path: Path) -> dict[tuple[str, str], str]:
    """Returns a file's translations, keyed by class and English text; unfinished ones are empty strings."""
    found = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            forms = [] if translation is None else [translation.text, *(form.text for form in translation)]
            done = translation is not None and translation.get("type") != "unfinished"
            key = context.findtext("name") or "", message.findtext("source") or ""
            found[key] = "".join(form or "" for form in forms).strip() if done else ""
    return found


def missing_in(path: Path) -> list[str]:
    """Returns an error message for each string that is not translated."""
    return [
        f"{path.name}: “{source}” ({context or 'no class'}) is not translated."
        for (context, source), text in translations(path).items()
        if not text
    ]


def wrong_in(path: Path) -> list[str]:
    """Returns an error message for each finished translation whose placeholders differ from those of its source."""
    wrong = []
    for message in ElementTree.parse(path).getroot().iter("message"):
        source, translation = message.findtext("source") or "", message.find("translation")
        if translation is None or translation.get("type") == "unfinished":
            continue
        # A plural form may spell out the number, as in “one turn”.
        numerus = message.get("numerus") == "yes"
        for form in translation.iter("numerusform") if numerus else [translation]:
            wanted, found = (Counter(PLACEHOLDER.findall(text)) for text in (source, form.text or ""))
            if numerus:
                del wanted["%n"], found["%n"]
            if wanted != found:
                wrong.append(f"{path.name}: “{form.text}” doesn't have the placeholders of “{source}”.")
    return wrong


def update(new: str = "") -> list[str]:
    """Updates the files of all languages and of the language `new`, if given.

    Returns a message for each missing or dropped translation.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    paths = {*languages(), *([FOLDER / f"kame_{new}.ts"] if new else [])}
    report = []
    for path in sorted(paths):
        before = translations(path) if path.exists() else {}
        collect(path, language_of(path))
        after = translations(path)
        report += missing_in(path)
        report += [
            f"{path.name}: “{source}” ({context or 'no class'}) was removed, and with it “{text}”."
            for (context, source), text in before.items()
            if text and (context, source) not in after
        ]
    return report + core_sentences.update(new)


def release() -> None:
    """Compiles the translations of all languages."""
    for path in languages():
        compile_into(path, path.with_suffix(".qm"))


def check() -> list[str]:
    """Returns an error message for everything that is out of date."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for path in languages():
            fresh = Path(folder) / path.name
            if path.exists():
                fresh.write_bytes(path.read_bytes())
            collect(fresh, language_of(path))
            if not path.exists() or path.read_text("utf-8") != fresh.read_text("utf-8"):
                wrong.append(f"{BEHIND} ({path.name})")
        for path in languages():
            wrong += missing_in(Path(folder) / path.name) + wrong_in(path)
            compiled, fresh = path.with_suffix(".qm"), Path(folder) / f"{path.stem}.qm"
            compile_into(path, fresh)
            if not compiled.exists() or compiled.read_bytes() != fresh.read_bytes():
                wrong.append(f"{compiled.name} is behind {path.name}: run “python packaging/translations.py release”.")
    return wrong + core_sentences.check()


def _tool(name: str, *arguments: str) -> None:
    beside = Path(PySide6.__file__).parent
    program = beside / (f"{name}.exe" if sys.platform == "win32" else name)
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    # The tools only warn about code that they can't parse, such as a call of `tr` without text.
    if done.returncode or done.stderr.strip():
        raise SystemExit(f"{name} failed: {done.stdout}{done.stderr}".strip())


def main(arguments: list[str]) -> int:
    """Runs `update`, `release` or `--check`; returns the exit code."""
    if arguments == ["--check"]:
        wrong = check()
        print("\n".join(wrong), end="\n" if wrong else "")
        return int(bool(wrong))
    if arguments == ["release"]:
        release()
        return 0
    if arguments[:1] == ["update"] and len(arguments) <= 2:
        report = update(*arguments[1:])
        print("\n".join(report), end="\n" if report else "")
        return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
