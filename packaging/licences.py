"""Generates the table of indirect dependencies in `resources/licences.md` and checks the table of direct ones.

    python packaging/licences.py            write the table of indirect dependencies
    python packaging/licences.py --check    change nothing; fail if the table is out of date

The packages come from the lock files, and their licences from the package metadata in the current Python environment. A
package that is not installed there, such as a library for graphics cards, keeps its row until its version changes.
Fails if a licence is not in `KNOWN`, or if the first table, which is maintained by hand, lacks a direct dependency or
lists a version other than the locked one.
"""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

from installation.locks import normal_name

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "resources" / "licences.md"
BEGIN, END = "<!-- indirect: begin -->", "<!-- indirect: end -->"
LOCKS = (("app", "app.txt"), ("tests", "dev.txt"), ("graphics card", "gpu.txt"))

NVIDIA = "LicenseRef-NVIDIA-Proprietary"
KNOWN = {
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    NVIDIA,
    "GPL-2.0-only",
    "GPL-3.0-only",  # only as an alternative to the LGPL in PySide6's licence
}

# Licence names used by packages without a licence expression.
SPELLINGS = {
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "mit license": "MIT",
    "bsd 2-clause license": "BSD-2-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "nvidia proprietary software": NVIDIA,
    "python software foundation license": "PSF-2.0",
}

# Taken from the licence files of packages whose metadata is not precise enough.
READ_BY_HAND = {
    "colorama": "BSD-3-Clause",
    "contourpy": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "mpmath": "BSD-3-Clause",
    "nvidia-nvshmem-cu12": NVIDIA,
    "pywin32": "PSF-2.0",  # only on Windows
    "sphn": "Apache-2.0",
    "sympy": "BSD-3-Clause",
}


def pins(lock: str) -> dict[str, list[str]]:
    """Returns the versions that a lock pins, keyed by package; there are several if they depend on the Python version.

    Packages for Emscripten are left out, since the app doesn't run in browsers.
    """
    found: dict[str, list[str]] = {}
    for line in (ROOT / "packaging" / "locks" / lock).read_text(encoding="utf-8").splitlines():
        match = re.match(r"([A-Za-z0-9][\w.-]*)==([^\s;\\]+)\s*(.*)", line)
        if match and "sys_platform == 'emscripten'" not in match[3]:
            found.setdefault(normal_name(match[1]), []).append(match[2])
    return found


def direct() -> set[str]:
    """Returns the names of the project's direct dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {normal_name(re.match(r"[\w.-]+", line)[0]) for group in groups for line in group}


def licence_of(name: str) -> str | None:
    """Returns a package's licence from `READ_BY_HAND` or its metadata; None if the package is not installed."""
    if name in READ_BY_HAND:
        return READ_BY_HAND[name]
    try:
        metadata = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    field = (metadata.get("License") or "").strip()
    classifiers = [
        line.rsplit(" :: ", 1)[1]
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License :: ") and line.count("::") > 1
    ]
    candidates = (metadata.get("License-Expression"), field if "\n" not in field else "", *classifiers)
    licence = next((text for text in candidates if text), "no licence in its metadata")
    return SPELLINGS.get(licence.lower(), licence)


def unknown_terms(licence: str) -> set[str]:
    """Returns the parts of a licence expression that are not in `KNOWN`."""
    terms = {term.strip(" ()") for term in re.split(r"\b(?:AND|OR|WITH)\b", licence)}
    return terms - KNOWN


def table_rows(page: str) -> dict[str, tuple[str, str]]:
    """Returns the versions and licences in the existing table, keyed by package."""
    written = page.partition(BEGIN)[2].partition(END)[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in written.splitlines()]
    return {row[0]: (row[1], row[2]) for row in cells if len(row) == 4}


def make_table(page: str) -> tuple[str, list[str]]:
    """Returns the page with the second table regenerated, and a list of error messages."""
    complaints, rows, seen = [], [], set(direct())
    old = table_rows(page)
    for used_for, lock in LOCKS:
        for name, versions in sorted(pins(lock).items()):
            if name in seen:
                continue
            seen.add(name)
            version = " / ".join(versions)
            licence = licence_of(name)
            if licence is None and old.get(name, ("", ""))[0] == version:
                licence = old[name][1]
            if licence is None:
                complaints.append(f"{name} {version} is not installed here, so its licence can't be read.")
                continue
            if unknown_terms(licence):
                complaints.append(f"{name} {version} has a licence that has not been reviewed yet: {licence}.")
            rows.append((used_for, f"| {name} | {version} | {licence} | {used_for} |"))
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    lines = ["| Package | Version | Licence | Needed by |", "|---|---|---|---|", *(row for _, row in rows)]
    return f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}", complaints


def first_piece(name: str) -> str:
    """Returns the first package if `name` is part of a split model, since the page lists only that one; else `name`."""
    return re.sub(r"(?<=-part)\d+$|(?<=-model-)\d+$|(?<=-base-)\d+$", "1", name)


def missing_direct(page: str) -> list[str]:
    """Returns an error message for each direct dependency that the first table lacks or lists with another version."""
    hand_written = page.partition(BEGIN)[0]
    models = pins("models.txt") | pins("models-dev.txt") | pins("models-optional.txt")
    everything = pins("gpu.txt") | models
    named = {
        (normal_name(match[1]), match[2])
        for match in re.finditer(r"(?m)^\|\s*([\w.-]+)\s*\|\s*([^|]*?)\s*\|", hand_written)
    }
    wanted = direct() | {first_piece(name) for name in models}
    return [
        f"{name} {' / '.join(everything[name])} is missing in the first table of {PAGE.name}."
        for name in sorted(wanted)
        if (name, " / ".join(everything[name])) not in named
    ]


def main(arguments: list[str]) -> int:
    """Writes or checks the table; returns the exit code."""
    page = PAGE.read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        print(f"{PAGE} has lost the marks around its second table: put them back.", file=sys.stderr)
        return 2
    new, complaints = make_table(page)
    complaints += missing_direct(page)
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        return 2
    if "--check" in arguments:
        if new != page:
            print(f"{PAGE} is out of date: run python packaging/licences.py.", file=sys.stderr)
        return 2 if new != page else 0
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
