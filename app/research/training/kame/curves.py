"""The curves of a run: a line for the terminal, and a figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

SHOWN = (("words", "#2563eb"), ("padding", "#9ca3af"), ("first_book", "#dc2626"), ("other_books", "#f59e0b"))
"""The losses in the figure, with their colours."""
_WIDTH, _HEIGHT, _MARGIN = 900, 420, 50


def read_curves(path: Path) -> list[dict[str, float]]:
    """The lines of a run's curves; one that was cut short by a stop is left out."""
    lines = []
    for text in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            continue
    return lines


def bar(line: dict[str, float], steps: int, seconds_left: float) -> str:
    """One step as a line for a terminal, with a bar."""
    done = round(24 * line["step"] / max(1, steps))
    hours, minutes = divmod(round(seconds_left / 60), 60)
    return (
        f"{'█' * done}{'░' * (24 - done)} {line['step']:,.0f}/{steps:,}  loss {line['loss']:.3f}  words "
        f"{line['words']:.3f} ({line['right_words']:.0%} right)  first {line['first_book']:.2f}  others "
        f"{line['other_books']:.2f}  {line['frames_per_second']:,.0f} frames/s  {hours} h {minutes:02} min left"
    )


def figure(lines: Sequence[dict[str, float]], points: int = 300) -> str:
    """The losses by the step as an SVG, each point the mean of some steps."""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    kept = _means(lines, points)
    if kept:
        last = kept[-1]["step"]
        top = max(line[name] for line in kept for name, _ in SHOWN) or 1.0
        for part in range(5):
            y = _place(part / 4)
            out.append(f'<line x1="{_MARGIN}" x2="{_WIDTH - 20}" y1="{y:.0f}" y2="{y:.0f}" stroke="#e5e7eb"/>')
            out.append(f'<text x="8" y="{y + 4:.0f}">{top * part / 4:.2g}</text>')
        for number, (name, colour) in enumerate(SHOWN):
            places = " ".join(
                f"{_MARGIN + (_WIDTH - _MARGIN - 20) * line['step'] / last:.1f},{_place(line[name] / top):.1f}"
                for line in kept
            )
            out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{places}"/>')
            label = escape(f"{name.replace('_', ' ')} {kept[-1][name]:.3f}")
            out.append(f'<text x="{_WIDTH - 190}" y="{36 + 18 * number}" fill="{colour}">{label}</text>')
        out.append(f'<text x="{_WIDTH - 120}" y="{_HEIGHT - 12}">step {last:,.0f}</text>')
    return "\n".join([*out, "</svg>", ""])


def _place(share: float) -> float:
    return _HEIGHT - _MARGIN + (2 * _MARGIN - 30 - _HEIGHT) * share


def _means(lines: Sequence[dict[str, float]], points: int) -> list[dict[str, float]]:
    size = max(1, len(lines) // points)
    groups = [lines[start : start + size] for start in range(0, len(lines), size)]
    return [{name: sum(line[name] for line in group) / len(group) for name in group[0]} for group in groups]
