"""Describes the swap demo in words: its plan, its progress and its result."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.conversation.events import AnswerMode
from app.demo.base import DemoAnswer, DemoBackend, DemoFrontEnd, DemoProgress, DemoResult, DemoSwap
from app.gui.widgets.formats import seconds_words

NOTICED_SECONDS = 0.05
"""Answers that begin closer together than this count as equally fast."""


@dataclass(frozen=True, slots=True)
class DemoBar:
    """A bar of the chart: a model's name and its response time (None: it gave no answer)."""

    backend: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """The bars of one front-end in one answer mode."""

    title: str
    bars: tuple[DemoBar, ...]


class DemoWords(QObject):
    """All methods return text in the user's language."""

    def answer_mode(self, answer_mode: AnswerMode) -> str:
        """When a front-end answers."""
        return self.tr("while you speak") if answer_mode == "thinking" else self.tr("when you have finished")

    def way(self, frontend: DemoFrontEnd, answer_mode: AnswerMode) -> str:
        """A front-end and its answer mode; the mode is left out where there is only one."""
        if len(frontend.answer_modes) < 2:
            return frontend.label
        return self.tr("{0}, answering {1}").format(frontend.label, self.answer_mode(answer_mode))

    def offered_frontend(self, frontend: DemoFrontEnd) -> str:
        """A front-end with all of its answer modes."""
        if len(frontend.answer_modes) < 2:
            return frontend.label
        modes = self.tr(" and ").join(self.answer_mode(mode) for mode in sorted(frontend.answer_modes, reverse=True))
        return self.tr("{0}: answering {1}").format(frontend.label, modes)

    def offered_backend(self, backend: DemoBackend) -> str:
        """A model's name, and whether it costs money."""
        return self.tr("{0} (costs money)").format(backend.label) if backend.costs else backend.label

    def backend(self, backend: DemoBackend | None) -> str:
        """A model's name."""
        return backend.label if backend is not None else self.tr("by itself")

    def minutes(self, seconds: float) -> str:
        """A duration, roughly."""
        if seconds < 90:
            return self.tr("about a minute")
        half = round(seconds / 30) / 2
        return self.tr("about {0} minutes").format(f"{half:g}")

    def doing(self, progress: DemoProgress) -> str:
        """What the demo does now."""
        who = self.backend(progress.stop.backend)
        if progress.asking is None:
            what = self.tr("preparing {0} …").format(who)
        elif progress.swapping and progress.stop.swap_to is not None:
            what = self.tr("asking {0}, and changing to {1} in mid-answer …").format(who, progress.stop.swap_to.label)
        else:
            what = self.tr("asking {0} …").format(who)
        return self.tr("{0} of {1}: {2}").format(progress.number, progress.total, what)

    def groups(self, result: DemoResult) -> tuple[DemoGroup, ...]:
        """The chart: each model's median response time, by front-end and answer mode."""
        ways = list(dict.fromkeys((a.frontend, a.answer_mode) for a in result.answers))
        order = self._order(result)
        groups = []
        for frontend, answer_mode in ways:
            mine = [a for a in result.answers if (a.frontend, a.answer_mode) == (frontend, answer_mode)]
            backends = sorted(dict.fromkeys(a.backend for a in mine), key=lambda b: order.index(b))
            bars = (
                DemoBar(self.backend(backend), _median([a for a in mine if a.backend == backend]))
                for backend in backends
            )
            groups.append(DemoGroup(self.way(frontend, answer_mode), tuple(bars)))
        return tuple(groups)

    def sorted(self, answers: Iterable[DemoAnswer]) -> list[DemoAnswer]:
        """Sorts answers by front-end and answer mode, the first model's first."""
        # The demo asks the models last to first.
        ways: dict[tuple[DemoFrontEnd, AnswerMode], list[DemoAnswer]] = {}
        for answer in answers:
            ways.setdefault((answer.frontend, answer.answer_mode), []).insert(0, answer)
        return [answer for way in ways.values() for answer in way]

    def names(self, result: DemoResult) -> tuple[str, ...]:
        """The models' names, in the order of their colours."""
        return tuple(self.backend(backend) for backend in self._order(result))

    def summary(self, result: DemoResult) -> list[str]:
        """The result in a few sentences."""
        answered = [a for a in result.answers if a.response is not None]
        return [
            *([] if answered else [self.tr("No question was answered.")]),
            *self._fastest(result),
            *self._answer_modes(answered),
            *(self.swap(swap) for swap in result.swaps),
            *([] if result.whole else [self.tr("The demo was stopped before its end.")]),
        ]

    def _fastest(self, result: DemoResult) -> list[str]:
        times = [(max(0.0, b.seconds), b, g) for g in self.groups(result) for b in g.bars if b.seconds is not None]
        if len(times) < 2:
            return []
        times.sort(key=lambda row: row[0])
        least, bar, group = times[0]
        if times[1][0] - least >= NOTICED_SECONDS:
            sentence = self.tr("The fastest was {0} ({1}): its answers began {2} after the question.")
            return [sentence.format(bar.backend, group.title, seconds_words(least))]
        if times[-1][0] - least < NOTICED_SECONDS:
            return [self.tr("All were equally fast: {0} after the question.").format(seconds_words(least))]
        return []

    def _answer_modes(self, answered: Sequence[DemoAnswer]) -> list[str]:
        eager = [a.response for a in answered if a.answer_mode == "thinking" and len(a.frontend.answer_modes) > 1]
        patient = [a.response for a in answered if a.answer_mode == "after" and len(a.frontend.answer_modes) > 1]
        if not eager or not patient:
            return []
        quick, slow = (max(0.01, statistics.median(x for x in values if x is not None)) for values in (eager, patient))
        if slow < 1.1 * quick:
            return []
        sentence = self.tr("Answering while you speak was {0} times as fast as answering when you have finished.")
        return [sentence.format(f"{slow / quick:.1f}")]

    def swap(self, swap: DemoSwap) -> str:
        """What happened at the change in mid-answer."""
        pair = (swap.before_backend.label, swap.after_backend.label)
        if swap.trouble or swap.seconds is None:
            return self.tr("The model was not changed from {0} to {1} in mid-answer: {2}").format(*pair, swap.trouble)
        sentence = self.tr(
            "The change from {0} to {1} in mid-answer caused at most {2} of silence; the new model was heard {3} after "
            "the change was requested."
        )
        return sentence.format(*pair, seconds_words(swap.silence or 0.0), seconds_words(swap.seconds))

    def answer(self, answer: DemoAnswer) -> str:
        """An answer as far as it was spoken, or why there is none."""
        if answer.trouble:
            return answer.trouble
        return f"{answer.text} …" if answer.cut else answer.text

    def as_text(self, result: DemoResult) -> str:
        """The whole result as plain text."""
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
        """The models: those that are free first, else in the demo's order, which asks them last to first."""
        found = list(dict.fromkeys(a.backend for a in reversed(result.answers)))
        return sorted(found, key=lambda b: b is not None and b.costs)


def _median(answers: Sequence[DemoAnswer]) -> float | None:
    times = [a.response for a in answers if a.response is not None]
    return statistics.median(times) if times else None
