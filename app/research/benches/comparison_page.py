"""One self-contained page of HTML for two results: their figures as pictures, and all their numbers."""

from __future__ import annotations

import base64
import html
from pathlib import Path

from app.research.benches.comparison import Comparison, Row
from app.session.errors import UserError
from app.untrusted.files import read_bytes
from app.untrusted.limits import BENCH_FIGURE

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
    """The page. `before` and `after`: the folders or files that were compared; figures are those of the folders.

    Raises UserError if a figure can't be read.
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{_text(before.name)} and {_text(after.name)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_text(before.name)} and {_text(after.name)}</h1><p>{_text(comparison.sentence)}</p>",
    ]
    names = sorted({file.name for place in (before, after) for file in _figures(place)})
    for name in names:
        parts.append('<div class="pair">')
        for label, place in (("before", before), ("after", after)):
            drawn = _image(place / "figures" / name, f"{Path(name).stem}, {label}")
            parts.append(f"<figure>{drawn}<figcaption>{label}: {_text(place.name)}</figcaption></figure>")
        parts.append("</div>")
    parts.append("<table><tr><th>figure</th><th>before</th><th>after</th><th>change</th><th></th></tr>")
    parts += [_row(row) for row in comparison.rows]
    parts.append("</table></body></html>")
    return "\n".join(parts) + "\n"


def _figures(place: Path) -> list[Path]:
    return sorted((place / "figures").glob("*.svg")) if place.is_dir() else []


def _image(file: Path, label: str) -> str:
    """An SVG as an image in the page: what it holds is drawn, and no script of it runs."""
    if not file.is_file():
        return "<p>not drawn</p>"
    try:
        drawn = base64.b64encode(read_bytes(file, BENCH_FIGURE)).decode()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"The figure {file} can't be read ({reason}). Remove it, then compare again.") from error
    return f'<img alt="{_text(label)}" src="data:image/svg+xml;base64,{drawn}"/>'


def _row(row: Row) -> str:
    cells = "".join(f"<td>{_text(cell)}</td>" for cell in (row.figure, *row.texts, row.verdict))
    return f'<tr class="{row.verdict.split()[0]}">{cells}</tr>'


def _text(text: str) -> str:
    return html.escape(text)
