"""Counts what a corpus holds: hours, words, turns, oracle events by level, and how early the true answer arrives."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from app.research.corpus.dialogue import Dialogue, exchanges
from app.research.corpus.hints import level_of


@dataclass(slots=True)
class CorpusStats:
    """Counts over dialogues. `gaps`: seconds from a question's end to its answer; `requests`: events a question."""

    dialogues: int = 0
    seconds: float = 0.0
    words: dict[str, int] = field(default_factory=lambda: {"model": 0, "user": 0})
    questions: int = 0
    levels: list[int] = field(default_factory=lambda: [0] * 6)
    oracle_words: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def table(self) -> str:
        """The counts as text."""
        events = sum(self.levels)
        lines = [
            f"{self.dialogues:,} dialogues, {self.seconds / 3600:.2f} h; {self.words['user']:,} words of users and "
            f"{self.words['model']:,} of the model; {self.questions:,} questions with answers."
        ]
        if self.gaps:
            lines.append(f"The answer begins {statistics.median(self.gaps):.2f} s after the question (median).")
        if events:
            share = ", ".join(f"level {level}: {count / events:.0%}" for level, count in enumerate(self.levels))
            lines.append(
                f"{events:,} oracle events ({events / max(1, self.questions):.1f} a question; {share}), "
                f"{statistics.median(self.oracle_words):.0f} words each (median)."
            )
        else:
            lines.append("No oracle events.")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {
            "dialogues": self.dialogues,
            "hours": round(self.seconds / 3600, 4),
            "words": self.words,
            "questions": self.questions,
            "events_by_level": self.levels,
            "median_oracle_words": statistics.median(self.oracle_words) if self.oracle_words else None,
            "median_gap_seconds": round(statistics.median(self.gaps), 3) if self.gaps else None,
        }


def stats_of(dialogues: Iterable[Dialogue]) -> CorpusStats:
    """Counts over all dialogues."""
    stats = CorpusStats()
    for dialogue in dialogues:
        stats.dialogues += 1
        stats.seconds += dialogue.seconds
        for word in dialogue.words:
            stats.words[word.speaker] += 1
        for question, answer in exchanges(dialogue.words):
            stats.questions += 1
            stats.gaps.append(answer.start - question.end)
        for event in dialogue.events:
            stats.levels[5 if event.true else min(4, level_of(event.share))] += 1
            stats.oracle_words.append(len(event.text.split()))
    return stats
