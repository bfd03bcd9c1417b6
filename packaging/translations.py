"""Keeps the translations of the window's texts up to date with the source.

    python packaging/translations.py update     collect the texts of app/, and list what is to be translated
    python packaging/translations.py release    compile each language's finished texts
    python packaging/translations.py --check    change nothing; fail if something is out of date

The English texts stand in the source. `update` keeps every translation whose English text is still in the same class,
drops the others, and lists both what is missing and what was dropped. Write the missing ones into `kame_de.ts`, without
`type="unfinished"`, then run `release`. To add a language, run `update fr` first.

`--check` fails while a text is not translated, a translation lacks a placeholder of its source, or a `.qm` differs from
its `.ts`. Uses Qt's own tools, which come with PySide6. There are no line numbers, and the texts of a class are in
alphabetical order, so that a change in the source changes few lines here.
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

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
SOURCE_LANGUAGE = "en"
PLACEHOLDER = re.compile(r"\{[^{}]*\}|%n")
BEHIND = "The translations are behind the source: run “python packaging/translations.py update”, then “release”."


def collect(target: Path, language: str) -> None:
    """Updates the file `target` with the app's texts; keeps translations that are still used and drops the others."""
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
            # No guesses: a changed sentence, or one that has moved, may need another translation.
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
    """Compiles the finished translations of a .ts file into a .qm file."""
    _tool("lrelease", "-silent", "-removeidentical", "-nounfinished", str(source), "-qm", str(target))


def languages() -> list[Path]:
    """Returns the files of all languages except the source's."""
    return sorted(FOLDER.glob("kame_*.ts"))


def language_of(path: Path) -> str:
    """The language code of a file: `de` for `kame_de.ts`."""
    return path.stem.removeprefix("kame_")


def translations(path: Path) -> dict[tuple[str, str], str]:
    """A file's translations by class and English text; empty where unfinished."""
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
    """Complaints about texts that are not translated."""
    return [
        f"{path.name}: “{source}” ({context or 'no class'}) is not translated."
        for (context, source), text in translations(path).items()
        if not text
    ]


def wrong_in(path: Path) -> list[str]:
    """Complaints about finished translations whose placeholders differ from their source's."""
    wrong = []
    for message in ElementTree.parse(path).getroot().iter("message"):
        source, translation = message.findtext("source") or "", message.find("translation")
        if translation is None or translation.get("type") == "unfinished":
            continue
        # A plural form may spell out its number: “one turn”.
        numerus = message.get("numerus") == "yes"
        for form in translation.iter("numerusform") if numerus else [translation]:
            wanted, found = (Counter(PLACEHOLDER.findall(text)) for text in (source, form.text or ""))
            if numerus:
                del wanted["%n"], found["%n"]
            if wanted != found:
                wrong.append(f"{path.name}: “{form.text}” doesn't have the placeholders of “{source}”.")
    return wrong


def update(new: str = "") -> list[str]:
    """Updates the files of all languages, and of a `new` one; returns what is missing or was dropped."""
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
    return report


def release() -> None:
    """Compiles all languages."""
    for path in languages():
        compile_into(path, path.with_suffix(".qm"))


def check() -> list[str]:
    """Complaints about everything that is out of date."""
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
    return wrong


def _tool(name: str, *arguments: str) -> None:
    beside = Path(PySide6.__file__).parent
    program = beside / (f"{name}.exe" if sys.platform == "win32" else name)
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    # What the tools can't parse, such as a call of `tr` without text, they only report.
    if done.returncode or done.stderr.strip():
        raise SystemExit(f"{name} failed: {done.stdout}{done.stderr}".strip())


def main(arguments: list[str]) -> int:
    """Updates, releases or checks."""
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
