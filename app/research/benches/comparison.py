"""`bench compare`: compares two results of a bench and shows which figures got worse, as a table or an HTML page.

The end of a figure's name determines whether lower or higher is better. A judge's scores of the same questions count as
equal if their difference may be due to chance. The page is self-contained and shows the plots of both results and all
their figures.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal

from app.diagnostics.tables import markdown, rounded
from app.research.benches.mtbench.plan import LONG
from app.research.benches.mtbench.scores import interval
from app.research.results import unreadable
from app.session.control import UserError
from app.untrusted.files import read_bytes, read_json_file
from app.untrusted.limits import BENCH_FIGURE, BENCH_RESULT

Direction = Literal["lower", "higher"]

CONDITIONS = frozenset(
    """bench machine model language simulated questions runs seed judge asked cases recordings samples words turns count
    starts sentences rounds calls delay decode_seconds judge_seconds words_seconds seconds goals goal frames decodes
    low high prebuffer_ms stated_ms canceller_ms""".split()
)
"""Names of setup values and of interval bounds, which are not judged as better or worse."""

_RULES: tuple[tuple[str, Direction], ...] = (
    (r"tasks\[(?:pause handling|backchannel)\]\.takeover_rate", "lower"),
    (r"\.takeover_rate", "higher"),
    (r"tasks\[overlap: interruption\]\.respond_share", "higher"),
    (r"tasks\[overlap: interruption\]\.resume_share", "lower"),
    (r"\.respond_share", "lower"),
    (r"\.resume_share", "higher"),
    (r"(?:^|\.)sounds\.(?:interrupt|answered)", "lower"),
    (r"(?:^|\.)speech\.(?:interrupt|answered)", "higher"),
    (r"within_\d+_ms", "higher"),
    (r"scores\.\w+\.mean|\.scores_without_long|auc", "higher"),
    (r"\.(?:facts_share|right|right_share|adopted|relevance|whole|accuracy|backchannels_rate)", "higher"),
    (r"\.by_\w+\.[^.]+", "higher"),
    (r"(?:^|\.)(?:first_(?:sound|content|word)|sound|word|latency|partial_lag|final_lag)\w*(?:\.\w+)?", "lower"),
    (r"_seconds(?:_\w+)?|_ms(?:\.\w+)?", "lower"),
    (r"(?:^|\.)(?:p\d+|worst|median|max|min)|_p\d+", "lower"),
    (r"(?:^|[._])(?:wrong|wer|error_rate|read_back|read_back_errors|words_wrong\.[^.]+)", "lower"),
    (r"\.(?:unanswered|unjudged|failures|early|early_starts|talked_over|cut_off|audible|share|audible_share)", "lower"),
    (r"\.(?:missed|taken_back|cost|memory\w*|processor\w*|model_processor|uncertain_share|divergence)", "lower"),
    (r"(?:^|[._])(?:over_user|too_early|underruns|lost|skipped|gaps)", "lower"),
    (r"(?:^|[._])(?:beginnings_lost|core_share|variance_left)", "lower"),
)
"""Patterns that are matched against the end of a figure's name; the first match applies."""
_COMPILED = tuple((re.compile(f"(?:{pattern})$"), direction) for pattern, direction in _RULES)


def direction_of(figure: str) -> Direction | None:
    """Returns whether lower or higher is better for a figure; None if unknown."""
    return next((direction for pattern, direction in _COMPILED if pattern.search(figure)), None)


def question_scores(document: dict[str, Any], figure: str) -> dict[str, float]:
    """Returns the judge's score of each question that `figure` averages; empty if `figure` is not such a mean."""
    found = re.fullmatch(r"systems\[(.*)\]\.scores(?:\.(\w+)\.mean|_without_long)", figure)
    systems = document.get("systems")
    if found is None or not isinstance(systems, list):
        return {}
    by_name = {str(system.get("name")): system.get("by_question") for system in systems if isinstance(system, dict)}
    groups = by_name.get(found[1])
    return {
        key: float(score)
        for name, group in (groups.items() if isinstance(groups, dict) else ())
        if found[2] in (name, "average", None) and isinstance(group, dict)
        for key, score in group.items()
        if isinstance(score, int | float) and (found[2] or key not in map(str, LONG))
    }


def may_be_chance(before: dict[str, float], after: dict[str, float]) -> bool:
    """Whether the difference between scores of the same questions may be due to chance.

    True for a single question, or if the 95 % interval of the mean difference (bootstrapped over the questions)
    includes 0. False if the questions differ or are unknown.
    """
    if not before or before.keys() != after.keys():
        return False
    if len(before) == 1:
        return True
    found = interval([[after[key] - before[key] for key in before]])
    return found.low <= 0.0 <= found.high


Verdict = Literal["same", "better", "worse", "changed", "only before", "only after"]

NAMES = tuple("name key system model task way kind rival voice recogniser what size precision".split())
"""Fields that identify the entries of a list."""
_SINGLE = frozenset(("answers", "samples", "each", "not_whole", "cut_off", "by_question"))
"""Parts of a result that cover single questions or recordings; they are not compared."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure before and after; None if missing."""

    figure: str
    before: float | None
    after: float | None
    verdict: Verdict

    @property
    def texts(self) -> tuple[str, str, str]:
        """The values before and after and the relative change, formatted for display."""
        before, after = ("–" if value is None else f"{value:.4g}" for value in (self.before, self.after))
        if self.before is None or self.after is None or not self.before:
            return before, after, "–"
        return before, after, f"{100 * (self.after - self.before) / abs(self.before):+.0f} %"


@dataclass(slots=True)
class Comparison:
    """All figures of two results. `tolerance`: the relative difference up to which a figure counts as equal.

    `differs`: setup values that are not the same in both results.
    """

    before: str
    after: str
    tolerance: float
    rows: list[Row]
    differs: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no figure got worse."""
        return not any(row.verdict == "worse" for row in self.rows)

    @property
    def sentence(self) -> str:
        """A user-facing summary of the result."""
        counts = {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in ("worse", "better", "same")}
        found = (
            f"Of {len(self.rows)} figures {counts['worse']} have become worse, {counts['better']} better, and "
            f"{counts['same']} are the same within {100 * self.tolerance:g} % or by chance."
        )
        if self.differs:
            found += f" The results are not of the same thing, so counts are not judged: {'; '.join(self.differs)}."
        return found

    def table(self) -> str:
        """Returns the differences as a Markdown table, with figures that got worse first."""
        order = ("worse", "better", "changed", "only before", "only after")
        shown = sorted((row for row in self.rows if row.verdict != "same"), key=lambda row: order.index(row.verdict))
        lines = [f"Before: {self.before}", f"After: {self.after}", "", self.sentence]
        if shown:
            head = ("figure", "before", "after", "change", "")
            lines += ["", *markdown(head, [(row.figure, *row.texts, row.verdict) for row in shown])]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Returns the comparison as a JSON-serialisable dict."""
        return rounded({**asdict(self), "sentence": self.sentence})


def compare(before: Path, after: Path, tolerance: float = 0.1) -> Comparison:
    """Compares two results: folders with a results.json, or files with the output of `--json`. Raises UserError."""
    old, new = load_result(before), load_result(after)
    kinds = old.get("bench"), new.get("bench")
    if kinds[0] != kinds[1]:
        raise UserError(f"These are results of two benches ({kinds[0]}, {kinds[1]}). Give two of the same.")
    a, b = dict(_values(old)), dict(_values(new))
    differs = [
        f"{name} {_short(a[name])} and {_short(b[name])}"
        for name in a
        if name in b and _is_condition(name) and a[name] != b[name] and not name.endswith((".low", ".high"))
    ]
    names = [name for name in dict.fromkeys([*a, *b]) if not _is_condition(name)]
    if not any(name in a and name in b for name in names):
        raise UserError(f"{before} and {after} have no figure in common. Give two results of one bench.")
    rows = [
        Row(name, a.get(name), b.get(name), "same")
        if may_be_chance(question_scores(old, name), question_scores(new, name))
        else _row(name, a.get(name), b.get(name), tolerance, counts=not differs)
        for name in names
    ]
    return Comparison(str(before), str(after), tolerance, rows, differs)


def load_result(path: Path) -> dict[str, Any]:
    """Loads a result document. Raises UserError."""
    file = path / "results.json" if path.is_dir() else path
    sentence = (
        f"{file} holds no result of a bench ({{}}). Give a folder that a bench has written, or what its --json has "
        "printed."
    )
    with unreadable(UserError, sentence):
        found = read_json_file(file, BENCH_RESULT)
        if not isinstance(found, dict):
            raise ValueError("it is no object")
        return found


def _values(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the numbers and setup values of a document, each with its dotted path."""
    last = path.rpartition(".")[2]
    parts = [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
    if last in _SINGLE and isinstance(value, dict | list):
        return
    if _is_number(value) or (last in CONDITIONS and not isinstance(value, dict) and not parts):
        yield path, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _values(part, f"{path}.{name}" if path else str(name))
    labels = [" ".join(str(part[name]) for name in NAMES if name in part) for part in parts]
    for label, part in zip(labels, parts, strict=True):
        if label and labels.count(label) == 1:
            yield from _values({k: v for k, v in part.items() if k not in NAMES}, f"{path}[{label}]")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_condition(name: str) -> bool:
    return name.rpartition(".")[2] in CONDITIONS


def _short(value: Any) -> str:
    return f"{len(value)}" if isinstance(value, list) else str(value)


def _row(name: str, old: Any, new: Any, tolerance: float, *, counts: bool) -> Row:
    """`counts`: whether counts may be judged, which requires both results to have the same setup."""
    if not _is_number(old) or not _is_number(new):
        return Row(name, old, new, "only after" if old is None else "only before")
    if math.isclose(old, new, rel_tol=tolerance, abs_tol=1e-9):
        return Row(name, old, new, "same")
    direction = direction_of(name)
    if direction is None or (not counts and isinstance(old, int) and isinstance(new, int)):
        return Row(name, old, new, "changed")
    return Row(name, old, new, "better" if (new < old) == (direction == "lower") else "worse")


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1c2330; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { border-bottom: 1px solid #d8dde5; padding: .25rem .6rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
tr.worse td { background: #fdecea; } tr.better td { background: #e9f6ec; }
.pair { display: flex; flex-wrap: wrap; gap: 1rem; } .pair figure { flex: 1 1 30rem; margin: 0; }
img { height: auto; max-width: 100%; }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #e4e8ee; } th, td { border-color: #333b47; }
  tr.worse td { background: #4a1f1c; } tr.better td { background: #1d3b25; } figure { background: #fff; color: #111; }
}
"""


def page(comparison: Comparison, before: Path, after: Path) -> str:
    """Returns the HTML page. `before` and `after`: the compared folders or files; only folders contain plots.

    Raises UserError if a plot can't be read.
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(before.name)} and {escape(after.name)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(before.name)} and {escape(after.name)}</h1><p>{escape(comparison.sentence)}</p>",
    ]
    names = sorted({file.name for place in (before, after) for file in _figures(place)})
    for name in names:
        parts.append('<div class="pair">')
        for label, place in (("before", before), ("after", after)):
            drawn = _image(place / "figures" / name, f"{Path(name).stem}, {label}")
            parts.append(f"<figure>{drawn}<figcaption>{label}: {escape(place.name)}</figcaption></figure>")
        parts.append("</div>")
    parts.append("<table><tr><th>figure</th><th>before</th><th>after</th><th>change</th><th></th></tr>")
    for row in comparison.rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in (row.figure, *row.texts, row.verdict))
        parts.append(f'<tr class="{row.verdict.split()[0]}">{cells}</tr>')
    parts.append("</table></body></html>")
    return "\n".join(parts) + "\n"


def _figures(place: Path) -> list[Path]:
    return sorted((place / "figures").glob("*.svg")) if place.is_dir() else []


def _image(file: Path, label: str) -> str:
    """Returns an `<img>` element with the embedded SVG, in which browsers run no scripts."""
    if not file.is_file():
        return "<p>not drawn</p>"
    with unreadable(UserError, f"The figure {file} can't be read ({{}}). Remove it, then compare again."):
        drawn = base64.b64encode(read_bytes(file, BENCH_FIGURE)).decode()
    return f'<img alt="{escape(label)}" src="data:image/svg+xml;base64,{drawn}"/>'
