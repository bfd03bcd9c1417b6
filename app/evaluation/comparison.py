"""`bench compare`: two results of a bench side by side, and which figures have become worse."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from app.evaluation.report import markdown, rounded
from app.session.errors import UserError
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_RESULT

Verdict = Literal["same", "better", "worse", "changed", "only before", "only after"]

_LOWER = re.compile(
    r"first_sound|first_content|first_word|latency|delay_|_delay|seconds|_ms\b|p50|p75|p90|p95|worst|lag|late|wait|error|wrong"
    r"|taken_back|cut|unanswered|no_answer|cost|memory|cpu|processor|underruns|gaps|failures|early|dropped|unjudged"
    r"|talked_over|takeover_in_pauses|lost|skipped|stall"
)
_HIGHER = re.compile(
    r"score|average|mean|facts|right|auc|relevance|adopted|whole|reasoning|stem|humanities|resumes|accuracy|share_right"
)
_LEFT_OUT = re.compile(
    r"(?:^|\.)(?:machine|delay|runs|turns|questions|low|high|seed|words|asked|of|talks|answers)(?:\.|$)"
)
"""What a result is of, and is no figure of its quality; bounds of intervals belong to their mean."""
NAMES = ("name", "key", "system", "model", "task", "way", "kind", "rival")
"""By these fields the entries of a list are recognised."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure before and after; None where it is missing."""

    figure: str
    before: float | None
    after: float | None
    verdict: Verdict


@dataclass(slots=True)
class Comparison:
    """All figures of two results. `tolerance`: the share by which a figure may differ and count as the same."""

    before: str
    after: str
    tolerance: float
    rows: list[Row]

    @property
    def ok(self) -> bool:
        """Whether no figure has become worse."""
        return not any(row.verdict == "worse" for row in self.rows)

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        counts = {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in ("worse", "better", "same")}
        return (
            f"Of {len(self.rows)} figures {counts['worse']} have become worse, {counts['better']} better, and "
            f"{counts['same']} are within {100 * self.tolerance:g} %."
        )

    def table(self) -> str:
        """What differs, as a Markdown table; the worse first."""
        order = ("worse", "better", "changed", "only before", "only after")
        shown = sorted((row for row in self.rows if row.verdict != "same"), key=lambda row: order.index(row.verdict))
        lines = [f"Before: {self.before}", f"After: {self.after}", "", self.sentence]
        if shown:
            cells = [(row.figure, _text(row.before), _text(row.after), _change(row), row.verdict) for row in shown]
            lines += ["", *markdown(("figure", "before", "after", "change", ""), cells)]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The comparison for JSON."""
        document: dict[str, Any] = rounded({**asdict(self), "sentence": self.sentence})
        return document


def compare(before: Path, after: Path, tolerance: float = 0.1) -> Comparison:
    """Compares two results: folders with a results.json, or files that `--json` has printed. Raises UserError."""
    old, new = load_result(before), load_result(after)
    kinds = old.get("bench"), new.get("bench")
    if kinds[0] != kinds[1]:
        raise UserError(f"These are results of two benches ({kinds[0]}, {kinds[1]}). Give two of the same.")
    a, b = dict(_figures(old)), dict(_figures(new))
    rows = [_row(name, a.get(name), b.get(name), (old, new), tolerance) for name in dict.fromkeys([*a, *b])]
    return Comparison(str(before), str(after), tolerance, rows)


def load_result(path: Path) -> dict[str, Any]:
    """The document of a result. Raises UserError."""
    file = path / "results.json" if path.is_dir() else path
    try:
        found: dict[str, Any] = read_json_file(file, BENCH_RESULT)
        return found
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(
            f"{file} holds no result of a bench ({reason}). Give a folder that a bench has written, or what its --json "
            "has printed."
        ) from error


def _figures(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of a document, each with the names that lead to it."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        if not _LEFT_OUT.search(path) and math.isfinite(value):
            yield path, float(value)
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _figures(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, dict) and (label := " ".join(str(part[n]) for n in NAMES if n in part)):
                yield from _figures({k: v for k, v in part.items() if k not in NAMES}, f"{path}[{label}]")


def _row(
    name: str, old: float | None, new: float | None, documents: tuple[dict[str, Any], ...], tolerance: float
) -> Row:
    if old is None or new is None:
        return Row(name, old, new, "only after" if old is None else "only before")
    if math.isclose(old, new, rel_tol=tolerance, abs_tol=1e-9):
        return Row(name, old, new, "same")
    last = name.rpartition("].")[2] or name
    lower, higher = bool(_LOWER.search(last)), bool(_HIGHER.search(last))
    if lower == higher:
        return Row(name, old, new, "changed")
    if last.endswith(".mean") and _intervals_meet(name, documents):
        return Row(name, old, new, "same")
    return Row(name, old, new, "better" if (new < old) == lower else "worse")


def _intervals_meet(name: str, documents: tuple[dict[str, Any], ...]) -> bool:
    """Whether the 95 % intervals beside a mean overlap: then the two are the same for all that is known."""
    bounds = []
    for document in documents:
        low, high = (_at(document, name[: -len("mean")] + bound) for bound in ("low", "high"))
        if low is None or high is None:
            return False
        bounds.append((low, high))
    (a_low, a_high), (b_low, b_high) = bounds
    return a_low <= b_high and b_low <= a_high


def _at(value: Any, name: str) -> float | None:
    """The number at a name of `_figures`."""
    for part in re.findall(r"\[[^\]]*\]|[^.\[\]]+", name):
        if part.startswith("["):
            entries = value if isinstance(value, list) else []
            value = next((e for e in entries if " ".join(str(e[n]) for n in NAMES if n in e) == part[1:-1]), None)
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return float(value) if isinstance(value, int | float) else None


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _change(row: Row) -> str:
    if row.before is None or row.after is None or not row.before:
        return "–"
    return f"{100 * (row.after - row.before) / abs(row.before):+.0f} %"
