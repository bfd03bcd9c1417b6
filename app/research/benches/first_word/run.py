"""The groups of `bench first-word`, their questions, and the table of all answers.

The synthetic questions are the first twenty of `bench facts`, in four Kokoro voices that nothing was fitted to, some
with an inserted pause. The people are telephone callers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, no_progress, rounded
from app.platform.files import write_json
from app.research.benches import pauses
from app.research.benches.answers import load_facts
from app.research.benches.first_word.asking import WAYS, Measured, Talk, ask_all
from app.research.benches.first_word.stage import check_programs, load, wait_until_idle
from app.research.benches.recordings import Recording, load_recordings
from app.research.results import at_share, grouped, known, shown, unreadable
from app.session.control import UserError
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_RESULT
from app.untrusted.records import build

SYNTHETIC, PEOPLE = WHO = ("synthetic", "people")
QUESTIONS = 20
TALK_QUESTIONS = 10
"""Number of questions per window, after the warm-up question."""
CUTS = {10: (0.64, 0.7), 12: (1.464, 0.4), 15: (1.75, 0.6), 16: (0.8, 0.8), 17: (0.94, 0.5), 18: (1.19, 0.6)}
"""The pauses inserted into synthetic questions, keyed by question number: position and length in seconds. In 12, 15 and
18 the pause follows what could be a complete question."""
CALLERS = tuple(
    f"WUWII00{name}"
    for name in "206_008 224_006 224_010 023_007 269_008 098_008 299_010 041_007 305_010 287_006 "
    "287_009 164_007 305_006 182_009 176_009 131_010 083_010 020_009 293_010 263_009".split()
)
"""Recordings of the WUW Corpus II by 17 callers excluded from every fit. Half of them are questions or requests. None
ends with a lone keyword after a finished sentence, since nothing would indicate that more follows."""
FIGURES = ("first_sound", "first_word", "first_word_end", "first_new_word")
COUNTS = ("openings", "left_out", "over_user", "too_early", "gaps")
QUANTILES = {"p50": 0.5, "p75": 0.75, "p95": 0.95, "worst": 1.0}
SPEEDS = ("model_first", "model_rate")
OTHER_FOLDER = "Give another folder to --out."
FIRST = "first after the start"
RESULT = "results.json"

Ask = Callable[[str, str, Recording, Sequence[Recording], Progress], Talk]


@dataclass(frozen=True, slots=True)
class Conditions:
    """The machine's load in one conversation: the load average before it, and the cores used by other processes."""

    load: float
    others: float


@dataclass(slots=True)
class FirstWordResult:
    """All answers, and the conditions of each conversation."""

    measured: list[Measured] = field(default_factory=list)
    talks: list[Conditions] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    machine: str = field(default_factory=machine)

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = ["who asks", "how", "questions", "unanswered"]
        head += [f"{name}, s" for name in WORDS]
        head += ["an opening first", "left out", "over the user's pause", "too early", "gaps"]
        names = ("kind", "way", "count", "unanswered")
        rows = [
            (*(group[name] for name in names), *_seconds(group), *(group[name] for name in COUNTS))
            for group in self.groups()
        ]
        loads, others = [talk.load for talk in self.talks], [talk.others for talk in self.talks]
        lines = [
            f"The real window: p50, p75, p95 and worst from the end of the user's voice. {self.machine}; load before a "
            f"talk {min(loads, default=0.0):.1f} to {max(loads, default=0.0):.1f}, other processes used "
            f"{min(others, default=0.0):.2f} to {max(others, default=0.0):.2f} cores meanwhile.",
            "",
            *markdown(head, rows, text_columns=2),
        ]
        first, rate = (at_share(getattr(one, name) for one in self.measured) for name in SPEEDS)
        if first is not None:
            lines += [
                "",
                f"The language model's first word came {shown(first)} s after its request, and {shown(rate, 0)} words "
                "a second (medians).",
            ]
        return "\n".join([*lines, *dict.fromkeys(self.failures)])

    def groups(self) -> Iterator[dict[str, Any]]:
        """Yields the figures of each group and way of asking; first questions after a start form their own group."""
        kinds = grouped(self.measured, lambda one: (FIRST if one.first else one.who, one.way))
        for kind, way in itertools.product((*WHO, FIRST), WAYS):
            if (kind, way) in kinds:
                yield {"kind": kind, "way": way, **figures(kinds[kind, way])}

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {
            "machine": self.machine,
            "groups": rounded(list(self.groups()), 3),
            "talks": [asdict(talk) for talk in self.talks],
            "answers": rounded([asdict(one) for one in self.measured], 3),
            "failures": self.failures,
        }


WORDS = ("first sound", "first word", "its end", "first new word")


def figures(group: Sequence[Measured]) -> dict[str, Any]:
    """Returns a group's counts, and quantiles of its times in seconds, or None if there are none."""
    out: dict[str, Any] = {
        "count": len(group),
        "unanswered": sum(one.first_word is None and not one.too_early for one in group),
        "openings": sum(one.opening for one in group),
        "over_user": sum(one.over_user > 0 for one in group),
        "left_out": sum(one.left_out for one in group),
        "too_early": sum(one.too_early for one in group),
        "gaps": sum(one.gaps for one in group),
    }
    for name in FIGURES:
        values = known(getattr(one, name) for one in group)
        out |= {f"{name}_{quantile}": at_share(values, share) for quantile, share in QUANTILES.items()}
    return out


def _seconds(group: dict[str, Any]) -> list[str]:
    times = ([group[f"{name}_{quantile}"] for quantile in QUANTILES] for name in FIGURES)
    return [", ".join("–" if value is None else f"{value:.2f}" for value in one) for one in times]


def synthetic_questions() -> list[Recording]:
    """Returns the synthetic questions, and one warm-up question per conversation."""
    facts = [fact.question for fact in load_facts(QUESTIONS + QUESTIONS // TALK_QUESTIONS)]
    return [with_pause(one, *CUTS[number]) if number in CUTS else one for number, one in enumerate(facts, 1)]


def with_pause(question: Recording, cut: float, seconds: float) -> Recording:
    """Returns the question with silence inserted at `cut` seconds."""
    samples = pauses.with_pause(question.samples, round(cut * SAMPLE_RATE), seconds)
    return replace(question, samples=samples, end=question.end + seconds)


def people_questions(folder: Path) -> list[Recording]:
    """Loads the utterances of the people in `folder`. Raises TranscriberError and UserError."""
    from app.stt.silero import SileroVoiceActivity

    found = {Path(one.name).stem: one for one in load_recordings(folder)}
    missing = [name for name in CALLERS if name not in found]
    if missing:
        raise UserError(
            f"{folder} lacks recordings of the WUW Corpus II that this bench plays: {', '.join(missing)}. Give a "
            "folder with a manifest.jsonl that lists them."
        )
    out = []
    for name in CALLERS:
        one = found[name]
        end = pauses.voice_spans(one.samples, SileroVoiceActivity())[-1][1]
        out.append(replace(one, name=name, samples=pauses.with_tail(one.samples, end), end=end))
    return out


def run_first_word(
    *,
    who: str = "both",
    way: str = "both",
    people: Path | None = None,
    out: Path | None = None,
    talks: int = 0,
    busy: bool = False,
    progress: Progress = no_progress,
    ask: Ask = ask_all,
) -> FirstWordResult:
    """Asks every question that has no answer in `out` yet. Raises UserError and TranscriberError.

    `talks`: if not 0, the maximum number of conversations of ten questions; `busy`: also runs on a busy machine.
    """
    result = load_result(out)
    if ask is ask_all:
        check_programs()
    known = synthetic_questions()
    warm_ups = known[QUESTIONS:]
    questions = {SYNTHETIC: known[:QUESTIONS]}
    groups, ways = ([one for one in all if chosen in ("both", one)] for all, chosen in ((WHO, who), (WAYS, way)))
    if PEOPLE in groups:
        if people is None:
            raise UserError(
                "Give the folder with the people's recordings (--people FOLDER), or measure --who synthetic."
            )
        questions[PEOPLE] = people_questions(people)
    done = {(one.who, one.way, one.name) for one in result.measured if not one.first}
    count = 0
    for one in groups:
        for way in ways:
            for number, first in enumerate(range(0, len(questions[one]), TALK_QUESTIONS)):
                part = questions[one][first : first + TALK_QUESTIONS]
                part = [question for question in part if (one, way, question.name) not in done]
                if not part or (talks and count == talks):
                    continue
                count += 1
                before = load() if busy else wait_until_idle(progress)
                talk = ask(one, way, warm_ups[number % len(warm_ups)], part, progress)
                result.measured += talk.measured
                result.talks.append(Conditions(before, talk.others))
                result.failures += talk.failures
                if out is not None:
                    with unreadable(UserError, f"The answers can't be kept in {out} ({{}}). {OTHER_FOLDER}"):
                        write_json(out / RESULT, {"bench": "first-word", **result.document()}, indent=1)
    return result


def load_result(out: Path | None) -> FirstWordResult:
    """Returns the result of an earlier run in `out`, empty if there is none. Raises UserError."""
    if out is None or not (out / RESULT).exists():
        return FirstWordResult()
    with unreadable(UserError, f"{out / RESULT} can't be read ({{}}), so the bench can't go on there. {OTHER_FOLDER}"):
        found = read_json_file(out / RESULT, BENCH_RESULT)
        return FirstWordResult(
            [build(Measured, one) for one in found["answers"]],
            [build(Conditions, one) for one in found["talks"]],
            list(found["failures"]),
            found["machine"],
        )
