"""What the swap demo is told in: its plan, what it does, and what came of it. Knows no widget."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.conversation.events import AnswerMode
from app.demo.base import DemoAnswer, DemoBackend, DemoFrontEnd, DemoProgress, DemoResult, DemoSwap
from app.gui.widgets.formats import seconds_words

NOTICED_SECONDS = 0.05
"""Of two answers that begin closer together than this nobody would say that one was faster."""


@dataclass(frozen=True, slots=True)
class DemoBar:
    """A bar of the chart: a brain by its name, and its response time (None: it gave no answer)."""

    backend: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """The bars of one front-end in one manner."""

    title: str
    bars: tuple[DemoBar, ...]


class DemoWords(QObject):
    """A translator: every string goes through Qt."""

    def answer_mode(self, answer_mode: AnswerMode) -> str:
        """When a front-end answers."""
        return self.tr("while you talk") if answer_mode == "thinking" else self.tr("when you have finished")

    def way(self, frontend: DemoFrontEnd, answer_mode: AnswerMode) -> str:
        """A front-end in a manner; the manner is left out where there is but one."""
        if len(frontend.manners) < 2:
            return frontend.label
        return self.tr("{0}, thinking {1}").format(frontend.label, self.answer_mode(answer_mode))

    def backend(self, backend: DemoBackend | None) -> str:
        """A brain's name."""
        return backend.label if backend is not None else self.tr("by itself")

    def minutes(self, seconds: float) -> str:
        """About how long."""
        if seconds < 90:
            return self.tr("about a minute")
        half = round(seconds / 30) / 2
        return self.tr("about {0} minutes").format(f"{half:g}")

    def doing(self, progress: DemoProgress) -> str:
        """What the tour does now."""
        who = self.backend(progress.stop.backend)
        if progress.asking is None:
            what = self.tr("getting {0} ready …").format(who)
        elif progress.swapping and progress.stop.swap_to is not None:
            what = self.tr("asking {0}, and changing to {1} in mid-answer …").format(who, progress.stop.swap_to.label)
        else:
            what = self.tr("asking {0} …").format(who)
        return self.tr("{0} of {1}: {2}").format(progress.number, progress.total, what)

    def groups(self, result: DemoResult) -> tuple[DemoGroup, ...]:
        """The chart: the median response time of each brain, front-end by front-end and manner by manner."""
        ways = list(dict.fromkeys((a.frontend, a.answer_mode) for a in result.answers))
        order = self._order(result)
        out = []
        for frontend, answer_mode in ways:
            mine = [a for a in result.answers if (a.frontend, a.answer_mode) == (frontend, answer_mode)]
            backends = sorted(dict.fromkeys(a.backend for a in mine), key=lambda b: order.index(b))
            bars = (
                DemoBar(self.backend(backend), _median([a for a in mine if a.backend == backend]))
                for backend in backends
            )
            out.append(DemoGroup(self.way(frontend, answer_mode), tuple(bars)))
        return tuple(out)

    def sorted(self, answers: Iterable[DemoAnswer]) -> list[DemoAnswer]:
        """Answers, front-end by front-end and manner by manner, those of the first brain first."""
        # The tour asks the brains last to first.
        ways: dict[tuple[DemoFrontEnd, AnswerMode], list[DemoAnswer]] = {}
        for answer in answers:
            ways.setdefault((answer.frontend, answer.answer_mode), []).insert(0, answer)
        return [answer for way in ways.values() for answer in way]

    def names(self, result: DemoResult) -> tuple[str, ...]:
        """The brains by name, in the order of their colours."""
        return tuple(self.backend(backend) for backend in self._order(result))

    def summary(self, result: DemoResult) -> list[str]:
        """What it comes to, in a few sentences."""
        told: list[str] = []
        answered = [a for a in result.answers if a.response is not None]
        if not answered:
            told.append(self.tr("No question was answered."))
        told += self._fastest(result)
        told += self._manners(answered)
        told += [self.swap(swap) for swap in result.swaps]
        if not result.whole:
            told.append(self.tr("The demo was stopped before its end."))
        return told

    def _fastest(self, result: DemoResult) -> list[str]:
        times = [(max(0.0, b.seconds), b, g) for g in self.groups(result) for b in g.bars if b.seconds is not None]
        if len(times) < 2:
            return []
        times.sort(key=lambda row: row[0])
        least, bar, group = times[0]
        if times[1][0] - least >= NOTICED_SECONDS:
            sentence = self.tr("The fastest was {0} ({1}): its answers were heard {2} after the question.")
            return [sentence.format(bar.backend, group.title, seconds_words(least))]
        if times[-1][0] - least < NOTICED_SECONDS:
            return [self.tr("All were equally fast: {0} after the question.").format(seconds_words(least))]
        return []

    def _manners(self, answered: Sequence[DemoAnswer]) -> list[str]:
        eager = [a.response for a in answered if a.answer_mode == "thinking" and len(a.frontend.manners) > 1]
        patient = [a.response for a in answered if a.answer_mode == "after" and len(a.frontend.manners) > 1]
        if not eager or not patient:
            return []
        quick, slow = (max(0.01, statistics.median(x for x in values if x is not None)) for values in (eager, patient))
        if slow < 1.1 * quick:
            return []
        sentence = self.tr("Thinking while you talk was heard {0} times as soon as thinking when you have finished.")
        return [sentence.format(f"{slow / quick:.1f}")]

    def swap(self, swap: DemoSwap) -> str:
        """What came of the change in mid-answer."""
        pair = (swap.before_backend.label, swap.after_backend.label)
        if swap.trouble or swap.seconds is None:
            return self.tr("The brain was not changed from {0} to {1} in mid-answer: {2}").format(*pair, swap.trouble)
        sentence = self.tr(
            "The change from {0} to {1} in mid-answer cost at most {2} of silence; {3} after the wish the new brain's "
            "words were heard."
        )
        return sentence.format(*pair, seconds_words(swap.silence or 0.0), seconds_words(swap.seconds))

    def answer(self, answer: DemoAnswer) -> str:
        """An answer as far as it was heard, or why there is none."""
        if answer.trouble:
            return answer.trouble
        return f"{answer.text} …" if answer.cut else answer.text

    def as_text(self, result: DemoResult) -> str:
        """All of it, as plain text."""
        lines = [self.tr("KAME's demo"), "", *self.summary(result), ""]
        for group in self.groups(result):
            lines.append(group.title)
            lines += [f"  {bar.backend}: {self.time(bar.seconds)}" for bar in group.bars]
        lines.append("")
        for answer in self.sorted(result.answers):
            way = self.way(answer.frontend, answer.answer_mode)
            lines.append(f"{self.backend(answer.backend)} · {way} · {self.time(answer.response)}")
            lines += [f"  “{' '.join(answer.question.split())}”", f"  {self.answer(answer)}", ""]
        for swap in result.swaps:
            lines.append(f"{swap.before_backend.label} → {swap.after_backend.label}")
            lines.append(f"  “{' '.join(swap.question.split())}”")
            lines += [f"  {swap.before} → {swap.after}" if not swap.trouble else f"  {swap.trouble}", ""]
        return "\n".join(lines).rstrip() + "\n"

    def time(self, seconds: float | None) -> str:
        """A response time in a chart or a table."""
        return self.tr("no answer") if seconds is None else seconds_words(seconds)

    @staticmethod
    def _order(result: DemoResult) -> list[DemoBackend | None]:
        """The brains: those on this machine first, then as they came. The tour asks them last to first."""
        found = list(dict.fromkeys(a.backend for a in reversed(result.answers)))
        return sorted(found, key=lambda b: b is not None and b.costs)


def _median(answers: Sequence[DemoAnswer]) -> float | None:
    times = [a.response for a in answers if a.response is not None]
    return statistics.median(times) if times else None
