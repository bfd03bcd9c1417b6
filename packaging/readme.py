"""Keep the README's generated parts true: the tree of files and the table of settings.

`python packaging/readme.py` rewrites them between their marks; `--check` only tells whether they are up to
date. The tree's words are the first sentences of the modules' docstrings. Knows nothing of the rest.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHERS = {
    ".ci/run": "What continuous integration calls: the README's test command.",
    "pyproject.toml": "Name, dependencies, and the settings of tests, style and import contracts.",
    "setup.py": "What a wheel holds: the app, and inside it the files that it reads.",
    "packaging/README.md": "How the packages are built and tried, where they put what, and how they are removed.",
    "packaging/desktop/": "The Linux desktop's menu entry and description, and the scripts that install and remove.",
    "packaging/locks/": "Pinned, hashed requirements for Linux and Windows.",
    "resources/licences.md": "Licences of all that is used, shipped or downloaded.",
    "resources/prices.json": "What models cost, for a million tokens.",
    "resources/routing/": "What tells the kind of a question: the training data, the table, the test set, the figures.",
    "resources/bench/": "The ten spoken questions of `bench latency`, with their texts.",
    "resources/screenshots/": "The pictures above.",
    "resources/translations/": "The window's words, for translators.",
    "resources/icons/": "The app's icon.",
}


def tree() -> str:
    """Every file with a line of what it is for; tests by folder."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "app", "packaging", "tests"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    lines = dict(OTHERS)
    for name in listed:
        path = ROOT / name
        if path.suffix != ".py" or not path.exists():
            continue
        words = _first_sentence(path)
        if words and (path.name != "__init__.py" or name.startswith("app/")):
            lines[name.replace("/__init__.py", "/")] = words
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{words}" for name, words in sorted(lines.items(), key=_order))


def settings() -> str:
    """The table of settings."""
    sys.path.insert(0, str(ROOT))
    from app.settings import settings_markdown

    return settings_markdown().strip()


def filled(text: str) -> str:
    """`text` with its generated parts renewed."""
    parts = {"tree": f"```\n{tree()}\n```", "settings": settings()}
    for name, content in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.S)
        if not pattern.search(text):
            raise SystemExit(f"README.md has no marks for its part “{name}”.")
        text = pattern.sub(lambda found, content=content: found[1] + content + found[2], text)
    return text


def _first_sentence(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    end = re.search(r"[.:](?=\s+[A-Z])|\.$", paragraph)
    return paragraph[: end.end()].rstrip(":") if end else paragraph


def _order(item: tuple[str, str]) -> tuple[int, str]:
    top = item[0].split("/")[0]
    tops = ["pyproject.toml", "setup.py", ".ci", "app", "resources", "packaging", "tests"]
    return tops.index(top), item[0]


def main(arguments: list[str]) -> int:
    """Rewrites the README, or checks it."""
    path = ROOT / "README.md"
    old = path.read_text("utf-8")
    new = filled(old)
    if "--check" in arguments:
        if new != old:
            print("README.md is behind its sources: run “python packaging/readme.py”.")
        return int(new != old)
    path.write_text(new, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
