"""Formats the demo's results as JSON-compatible data and as text for a terminal."""

from __future__ import annotations

from typing import Any

from app.demo.base import SIDES, DemoFigure, DemoResult


def document(result: DemoResult) -> dict[str, Any]:
    """Returns the result as JSON-compatible data; times are in seconds, rounded to the millisecond."""
    return {
        "ok": result.whole and bool(result.counted),
        "whole": result.whole,
        "backend": result.backend,
        "median_seconds": {side: _rounded(result.median(side)) for side in SIDES},
        "questions": [_figure(figure) for figure in result.figures],
    }


def lines(result: DemoResult) -> list[str]:
    """Returns one line per question and one for the medians."""
    out = []
    for figure in result.figures:
        sides = (
            f"{side} {_seconds(seconds)} ({trouble or said})"
            for side, seconds, said, trouble in zip(
                SIDES, (figure.cascade, figure.tandem), figure.said, figure.trouble, strict=True
            )
        )
        out.append(f"{figure.question} {'; '.join(sides)}")
    medians = ", ".join(f"{side} {_seconds(result.median(side))}" for side in SIDES)
    return [*out, f"From the question's end until it was heard, median: {medians}."]


def _figure(figure: DemoFigure) -> dict[str, Any]:
    times = (figure.cascade, figure.tandem)
    sides: dict[str, Any] = {
        side: {"seconds": _rounded(seconds), "said": said, "trouble": trouble}
        for side, seconds, said, trouble in zip(SIDES, times, figure.said, figure.trouble, strict=True)
    }
    return {"question": " ".join(figure.question.split()), "own": figure.own, **sides}


def _seconds(seconds: float | None) -> str:
    return "no answer" if seconds is None else f"{seconds:.2f} s"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
