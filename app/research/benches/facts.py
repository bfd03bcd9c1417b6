"""`bench facts`: short questions in a conversation, whether the answers are right, and when their first words come.

Each installed language model is asked 120 questions with one right answer (`resources/bench/facts.json`, eight
subjects), typed and spoken by four voices of Kokoro that nothing is fitted to, a dozen in each conversation. An answer
is right if its first sentence contains one of the known ways to put it; a mention further on does not count. It is
judged by its session's events, which also show whether the app took back what it had said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import ENGLISH, language
from app.conversation.spoken_form import spoken
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, rounded
from app.platform.installation import resource
from app.research.benches.recordings import Conversation, MakeSession, Recording, Turn, Way, heard_in, read_sound
from app.research.results import at_share, report, shown
from app.session.control import BackendChoice, SessionChoice


@dataclass(frozen=True, slots=True)
class Fact:
    """A spoken question with one correct answer. `answers`: ways to phrase it."""

    question: Recording
    answers: tuple[str, ...]
    subject: str = ""


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One question's answer as it was played.

    - `heard`: the question as recognised; `said`: the answer without its `opening`, the words that filled the wait
    - `bridges`: how often a bridge was spoken; `whole`: the answer is nothing but the beginning of one revision
    - `first_sound`: seconds from the question's end to the first sound, which may be an opening's
    - `first_word`: seconds from there until the answer's first word had been said
    - `right`: its first sentence contains a known answer
    """

    question: str
    heard: str
    said: str
    opening: str
    bridges: int
    whole: bool
    first_sound: float | None
    first_word: float | None
    right: bool

    @property
    def taken_back(self) -> bool:
        """Whether something said was withdrawn: a bridge was spoken, even if imitated by a back-end, or the content
        changed.
        """
        learned = contains_any(self.said, language(ENGLISH).bridges)
        return self.bridges > 0 or learned or bool(self.said and not self.whole)

    def document(self) -> dict[str, Any]:
        """Returns the answer for JSON."""
        return {**rounded(asdict(self), 3), "taken_back": self.taken_back}


def judge(fact: Fact, turn: Turn) -> JudgedAnswer:
    """Judges the answer to a question."""
    texts: dict[int, str] = {}
    for event in turn.of(e.OracleDelta):
        texts[event.revision] = texts.get(event.revision, "") + event.text
    content = [word for word in turn.words if word.revision]
    said = " ".join(word.text for word in content)
    mine = fold(said)
    return JudgedAnswer(
        question=fact.question.text,
        heard=heard_in(turn.events),
        said=said,
        opening=" ".join(word.text for word in turn.words if not word.revision),
        bridges=turn.corrections,
        whole=any(fold(spoken(text))[: len(mine)] == mine for text in texts.values()),
        first_sound=turn.first_sound,
        first_word=content[0].at - turn.end if content else None,
        right=contains_any(first_sentence(said), fact.answers),
    )


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether `text` contains one of the phrases, as whole words."""
    words = f" {' '.join(fold(text))} "
    return any(f" {' '.join(fold(phrase))} " in words for phrase in phrases)


def first_sentence(text: str) -> str:
    """Returns `text` up to the first sentence-ending mark, ignoring the full stop after an initial (J. R. R.)."""
    for match in re.finditer(r"[.!?](?=\s|$)", text):
        if not re.search(r"(?:^|[\s.])\w$", text[: match.start()]):
            return text[: match.end()]
    return text


@dataclass(slots=True)
class FactsResult:
    """Answers by model and way, in the order of `facts`. `costs`: what the stages cost in simulated time."""

    facts: Sequence[Fact]
    judged: dict[tuple[str, str], list[JudgedAnswer]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    costs: str = ""

    def table(self) -> str:
        """Returns the result as two Markdown tables: all questions, and right answers by subject."""
        rows, by_subject = [], []
        for group, judged in self.judged.items():
            f = figures(judged)
            wrong = f["asked"] - f["right"] - f["unanswered"]
            counts = (wrong, f["unanswered"], f["taken_back"], f["openings"])
            share = f"{100 * f['right'] / max(1, f['asked']):.0f}"
            rows.append((*group, f["right"], share, *counts, *(shown(f[key]) for key in SECONDS)))
            by_subject.append((*group, *self._by_subject(judged).values()))
        head = ["model", "way", "right", "%", "wrong", "no answer", "taken back", "openings"]
        head += ["first sound p50, s", "p75", "first word of the answer p50, s", "p75"]
        subjects = markdown(("model", "way", *self._by_subject(())), by_subject, text_columns=2)
        lines = [*markdown(head, rows, text_columns=2), "", "Right by subject:", "", *subjects]
        return report(f"{len(self.facts)} questions with one right answer,", self.costs, lines, self.failures)

    def document(self) -> dict[str, Any]:
        """Returns the result for JSON."""
        groups: list[dict[str, Any]] = [
            {
                **{"model": model, "way": way},
                **figures(judged),
                "by_subject": self._by_subject(judged),
                "answers": [one.document() for one in judged],
            }
            for (model, way), judged in self.judged.items()
        ]
        head = {"questions": len(self.facts), "machine": machine(), "simulated": bool(self.costs), "costs": self.costs}
        return {**head, "groups": groups, "failures": self.failures}

    def _by_subject(self, judged: Sequence[JudgedAnswer]) -> dict[str, int]:
        out = dict.fromkeys((fact.subject for fact in self.facts), 0)
        for fact, one in zip(self.facts, judged, strict=False):
            out[fact.subject] += one.right
        return out


SECONDS = ("sound_p50", "sound_p75", "word_p50", "word_p75")


def figures(group: Sequence[JudgedAnswer]) -> dict[str, Any]:
    """Returns the counts of a group, and its times in seconds from the questions' ends, None if there are none."""
    sounds, words = [one.first_sound for one in group], [one.first_word for one in group]
    times = (at_share(values, share) for values in (sounds, words) for share in (0.5, 0.75))
    return {
        "asked": len(group),
        "unanswered": sum(not one.said for one in group),
        "taken_back": sum(one.taken_back for one in group),
        "whole": sum(one.whole and not one.bridges for one in group if one.said),
        "openings": sum(bool(one.opening) for one in group),
        "right": sum(one.right for one in group),
        **dict(zip(SECONDS, times, strict=True)),
    }


SETTLE_SECONDS = 0.6
"""Silence after an answer before the next question."""
QUESTIONS_PER_TALK = 12
VOICE_RANGE_DB = 22.0


def load_facts(count: int) -> list[Fact]:
    """Returns the first `count` questions with their recordings, with subjects interleaved."""
    facts = []
    for number, entry in enumerate(json.loads(resource("bench", "facts.json").read_text("utf-8"))[:count], 1):
        samples = read_sound(resource("bench", "facts", f"{number:03}.ogg"))
        question = Recording(f"{number:03}", entry["question"], samples, loud_end(samples))
        facts.append(Fact(question, tuple(entry["answers"]), entry["subject"]))
    return facts


def loud_end(samples: np.ndarray) -> float:
    """Returns the second at which the voice ends: the last 60 ms that are less than 22 dB softer than its loud ones.

    One of the voices hums for half a second after its last word, some 26 dB softer.
    """
    hop = SAMPLE_RATE // 50
    energy = np.convolve(np.square(samples), np.ones(3 * hop), "valid")[::hop]
    loud = np.quantile(energy, 0.95) * 10 ** (-VOICE_RANGE_DB / 10)
    return float(np.flatnonzero(energy > loud)[-1] * hop + 3 * hop) / SAMPLE_RATE


async def run_facts(
    make: MakeSession,
    models: Sequence[BackendChoice],
    facts: Sequence[Fact],
    progress: Progress,
    *,
    ways: Sequence[Way],
    costs: str = "",
) -> FactsResult:
    """Asks all `models` all questions in each way. Raises whatever opening a session raises.

    `costs`: the stage costs if the loop's time is simulated.
    """
    result = FactsResult(facts, costs=costs)
    for choice in models:
        name = choice.model or choice.provider
        for way in ways:
            group = result.judged[name, way] = []
            for start in range(0, len(facts), QUESTIONS_PER_TALK):
                progress(f"{name}, {way}: question {start + 1} of {len(facts)}")
                session = SessionChoice(backend=choice, duplex=way == "hands-free")
                async with Conversation(make, session, simulated=bool(costs)) as talk:
                    for fact in facts[start : start + QUESTIONS_PER_TALK]:
                        turn = await talk.ask(fact.question, way, settle=SETTLE_SECONDS)
                        result.failures += turn.failures
                        group.append(judge(fact, turn))
    return result
