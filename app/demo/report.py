"""Formats the result of the swap demo as a document for programs and as lines for a terminal."""

from __future__ import annotations

from typing import Any

from app.demo.base import DemoAnswer, DemoResult, DemoSwap


def document(result: DemoResult) -> dict[str, Any]:
    """Returns the whole result; seconds are rounded to the millisecond."""
    return {
        "ok": result.whole and any(answer.response is not None for answer in result.answers),
        "whole": result.whole,
        "answers": [_answer(answer) for answer in result.answers],
        "swaps": [_swap(swap) for swap in result.swaps],
    }


def lines(result: DemoResult) -> list[str]:
    """Returns a line for each answer and each change in mid-answer."""
    out = []
    for answer in result.answers:
        who = answer.backend.label if answer.backend else answer.frontend.label
        time = f"{answer.response:.2f} s" if answer.response is not None else "no answer"
        out.append(f"{who} ({answer.frontend.label}, {answer.answer_mode}): {time}. {answer.trouble or answer.text}")
    for swap in result.swaps:
        pair = f"{swap.before_backend.label} → {swap.after_backend.label}"
        if swap.trouble or swap.seconds is None:
            out.append(f"{pair}: not changed. {swap.trouble}")
        else:
            out.append(
                f"{pair}, changed in mid-answer: heard after {swap.seconds:.2f} s, at most {swap.silence or 0:.2f} s "
                f"of silence. {swap.before} → {swap.after}"
            )
    return out


def _answer(answer: DemoAnswer) -> dict[str, Any]:
    return {
        "frontend": answer.frontend.key,
        "answer_mode": answer.answer_mode,
        "backend": answer.backend.label if answer.backend else None,
        "question": " ".join(answer.question.split()),
        "response_seconds": _rounded(answer.response),
        "first_words_seconds": _rounded(answer.first_words),
        "answer": answer.text,
        "cut": answer.cut,
        "trouble": answer.trouble,
    }


def _swap(swap: DemoSwap) -> dict[str, Any]:
    return {
        "frontend": swap.frontend.key,
        "answer_mode": swap.answer_mode,
        "from": swap.before_backend.label,
        "to": swap.after_backend.label,
        "question": " ".join(swap.question.split()),
        "response_seconds": _rounded(swap.response),
        "seconds": _rounded(swap.seconds),
        "silence_seconds": _rounded(swap.silence),
        "before": swap.before,
        "after": swap.after,
        "trouble": swap.trouble,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
