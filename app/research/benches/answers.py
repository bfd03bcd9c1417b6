"""`bench answers` and `bench facts`: ask short questions in a conversation and check the answers.

`bench answers` asks sixty questions (`resources/bench/answers.json`) hands-free and with the talk button, in the app's
own voice or in recordings of other voices. The key figure is how often the app retracts something it has said; whether
an answer is right depends on the back-end. With `--false-premises` it asks twenty questions that assume something false
(`resources/bench/false_premises.json`), which the words that are spoken before the answer is known mustn't confirm.

`bench facts` asks each installed language model 120 questions with one right answer (`resources/bench/facts.json`,
eight subjects), typed and spoken by four Kokoro voices that nothing is fitted to, twelve per conversation. An answer is
right if its first sentence contains one of the accepted phrasings; a later mention does not count.

Answers are judged from the session's events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import ENGLISH, language
from app.conversation.speaking.clauses import spoken
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, rounded
from app.platform.installation import resource
from app.research.benches.recordings import (
    SUFFIXES,
    VOICE_FLOOR,
    Conversation,
    MakeSession,
    Reader,
    Recording,
    Turn,
    Way,
    clean,
    heard_in,
    read_sound,
    saying,
    word_distance,
)
from app.research.results import at_share, report, shown
from app.session.control import BackendChoice, SessionChoice
from app.stt.base import TranscriberError


@dataclass(frozen=True, slots=True)
class Fact:
    """A spoken question with one correct answer. `answers`: the accepted phrasings."""

    question: Recording
    answers: tuple[str, ...]
    subject: str = ""


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One question's answer, as played.

    - `heard`: the question as recognised; `said`: the answer without its `opening`, the filler played before it
    - `bridges`: number of spoken bridges such as “Or rather”; `whole`: whether the answer is a prefix of a single
      revision
    - `first_sound`: seconds from the question's end to the first sound, which may be that of an opening
    - `first_word`: seconds from the question's end until the answer's first word had been spoken
    - `right`: whether its first sentence contains an accepted answer
    - `restated`: its first words, if they only restated the question before the answer was known
    - `hole`: seconds of silence between these words and the next one; None if that wasn't measured
    - `left_out`: it had no opening, since it was due, or since the answer before had one
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
    restated: str = ""
    left_out: bool = False
    hole: float | None = None

    @property
    def taken_back(self) -> bool:
        """Whether the app retracted something it had said: a bridge was spoken (even one imitated by a back-end), or
        the content changed.
        """
        learned = contains_any(self.said, language(ENGLISH).bridges)
        return self.bridges > 0 or learned or bool(self.said and not self.whole)

    def document(self) -> dict[str, Any]:
        """Returns the answer as a JSON-serialisable dict."""
        return {**rounded(asdict(self), 3), "taken_back": self.taken_back}


def judge(fact: Fact, turn: Turn) -> JudgedAnswer:
    """Judges the answer to a question."""
    texts: dict[int, str] = {}
    for event in turn.of(e.OracleDelta):
        texts[event.revision] = texts.get(event.revision, "") + event.text
    content = [word for word in turn.words if word.revision]
    said = " ".join(word.text for word in content)
    mine = fold(said)
    rules = {event.rule for event in turn.of(e.SpeechDecided)}
    opening = " ".join(word.text for word in turn.words if not word.revision)
    restated = max((event.words for event in turn.of(e.SpeechDecided) if event.at > turn.resumed), default=0)
    return JudgedAnswer(
        question=fact.question.text,
        heard=heard_in(turn.events),
        said=said,
        opening=opening,
        bridges=turn.corrections,
        whole=any(fold(spoken(text))[: len(mine)] == mine for text in texts.values()),
        first_sound=turn.first_sound,
        first_word=content[0].at - turn.end if content else None,
        right=contains_any(first_sentence(said), fact.answers),
        restated=" ".join(word.text for word in content[:restated]),
        left_out=not opening and not rules.isdisjoint(("answer due", "opened before")),
    )


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether `text` contains any of the phrases as whole words."""
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
    """Answers keyed by model and way of asking, in the order of `facts`.

    `costs`: describes the stage delays of simulated time; empty in real time.
    """

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
        """Returns the result as a JSON-serialisable dict."""
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


COUNTS = ("asked", "unanswered", "taken_back", "whole", "openings", "left_out", "restated", "right")
SECONDS = ("sound_p50", "sound_p75", "word_p50", "word_p75")


def figures(group: Sequence[JudgedAnswer]) -> dict[str, Any]:
    """Returns a group's counts, and quantiles of its latencies in seconds (None without data)."""
    sounds, words = [one.first_sound for one in group], [one.first_word for one in group]
    times = (at_share(values, share) for values in (sounds, words) for share in (0.5, 0.75))
    return {
        "asked": len(group),
        "unanswered": sum(not one.said for one in group),
        "taken_back": sum(one.taken_back for one in group),
        "whole": sum(one.whole and not one.bridges for one in group if one.said),
        "openings": sum(bool(one.opening) for one in group),
        "left_out": sum(one.left_out for one in group),
        "restated": sum(bool(one.restated) for one in group),
        "right": sum(one.right for one in group),
        **dict(zip(SECONDS, times, strict=True)),
    }


SETTLE_SECONDS = 0.6
"""Silence after an answer before the next question."""
QUESTIONS_PER_TALK = 12
VOICE_RANGE_DB = 22.0
AROUND_SECONDS = 0.1
"""The time of a word's end is accurate to within this."""


def load_facts(count: int) -> list[Fact]:
    """Returns the first `count` questions with their recordings, with subjects interleaved."""
    facts = []
    for number, entry in enumerate(json.loads(resource("bench", "facts.json").read_text("utf-8"))[:count], 1):
        samples = read_sound(resource("bench", "facts", f"{number:03}.ogg"))
        question = Recording(f"{number:03}", entry["question"], samples, loud_end(samples))
        facts.append(Fact(question, tuple(entry["answers"]), entry["subject"]))
    return facts


def loud_end(samples: np.ndarray) -> float:
    """Returns the time in seconds at which the voice ends: after the last 60 ms less than 22 dB below its loud parts.

    One of the voices hums for half a second after its last word, about 26 dB below its loud parts.
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
    """Asks each of `models` all questions in each of `ways`. Propagates errors from opening a session.

    `costs`: describes the stage delays if the loop runs in simulated time; empty in real time.
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


OWN_VOICE = "the app's own"
REMEMBER_SECONDS = 120.0


def load_asked(count: int, recordings: Path | None, *, false_premises: bool = False) -> dict[str, list[Fact]]:
    """Returns the first `count` questions keyed by voice: the app's own, and each voice recorded in `recordings`.

    The recordings are VOICE/NN.wav (or .flac, .ogg), numbered from 01 in question order. `false_premises`: the
    questions that assume something false, in place of the sixty. Raises TranscriberError and VoiceError.
    """
    from app.tts.voices import make_voice

    if false_premises:
        questions = json.loads(resource("bench", "false_premises.json").read_text("utf-8"))
        found = [{"question": question, "answers": []} for question in questions]
    else:
        found = json.loads(resource("bench", "answers.json").read_text("utf-8"))
    entries = list(enumerate(found[:count], 1))

    def facts(sounds: dict[int, Any]) -> list[Fact]:
        return [
            Fact(clean(f"{number:02}", entry["question"], sounds[number]), tuple(entry["answers"]))
            for number, entry in entries
            if number in sounds
        ]

    with make_voice() as voice:
        say = saying(voice)
        asked = {OWN_VOICE: facts({number: say(entry["question"]) for number, entry in entries})}
    if recordings is None:
        return asked
    if not recordings.is_dir():
        raise TranscriberError(f"There is no folder {recordings}. Name one with VOICE/01.wav and so on in it.")
    for folder in sorted(path for path in recordings.iterdir() if path.is_dir()):
        files = [(n, folder / f"{n:02}{suffix}") for n, _ in entries for suffix in SUFFIXES]
        if sounds := {n: read_sound(file) for n, file in files if file.is_file()}:
            asked[folder.name] = facts(sounds)
    return asked


def _hole(answer: JudgedAnswer) -> str:
    return "" if answer.hole is None else f", {answer.hole:.2f} s of silence behind it"


def hole_behind(restated: str, turn: Turn, sound: np.ndarray | None) -> float | None:
    """Returns the longest silence, in seconds, between the `restated` words and the next word of the answer.

    `sound`: the assistant's audio since the question's end, None if it isn't known. None is returned unless both words
    were played.
    """
    words = [word.at - turn.end for word in turn.words if word.revision]
    count = len(restated.split())
    if not count or sound is None or len(words) <= count:
        return None
    around = sound[round((words[count - 1] - AROUND_SECONDS) * SAMPLE_RATE) : round(words[count] * SAMPLE_RATE)]
    longest = run = 0
    for loud in np.abs(around) > VOICE_FLOOR:
        run = 0 if loud else run + 1
        longest = max(longest, run)
    return longest / SAMPLE_RATE


@dataclass(slots=True)
class AnswersResult:
    """Answers keyed by way of asking and voice.

    - `read_back`: the number of wrong words in the transcripts of the played answers, and of all words, by way and
      voice
    - `costs`: describes the stage delays of simulated time; empty in real time
    """

    judged: dict[tuple[str, str], list[JudgedAnswer]] = field(default_factory=dict)
    read_back: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    costs: str = ""

    def table(self) -> str:
        """Returns the result as a Markdown table, followed by the retracted answers."""
        rows = []
        for group, judged in self.judged.items():
            f = figures(judged)
            wrong, words = self.read_back.get(group, (0, 0))
            counts = (f[key] for key in COUNTS)
            read = f"{100 * wrong / words:.1f}" if words else "–"
            rows.append((*group, *counts, *(shown(f[key]) for key in SECONDS), read))
        head = ["way", "voice", *(key.replace("_", " ") for key in COUNTS)]
        head += ["first sound p50, s", "p75", "first word said p50, s", "p75", "read back otherwise, %"]
        lines = list(markdown(head, rows, text_columns=2))
        for (way, voice), judged in self.judged.items():
            lines += ["", *(f"{way}, {voice}, taken back: {x.heard} → {x.said}" for x in judged if x.taken_back)]
            lines += [
                f"{way}, {voice}, restated{_hole(x)}: {x.heard} → {x.restated} | {x.said}" for x in judged if x.restated
            ]
        return report("Short questions", self.costs, lines, self.failures)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        groups = [
            {
                **{"way": group[0], "voice": group[1]},
                **figures(judged),
                "read_back": self.read_back.get(group),
                "answers": [one.document() for one in judged],
            }
            for group, judged in self.judged.items()
        ]
        head = {"machine": machine(), "simulated": bool(self.costs), "costs": self.costs}
        return {**head, "groups": groups, "failures": self.failures}


async def run_answers(
    make: MakeSession,
    choice: SessionChoice,
    asked: dict[str, list[Fact]],
    progress: Progress,
    *,
    ways: Sequence[Way],
    reader: Path | None = None,
    costs: str = "",
) -> AnswersResult:
    """Asks all questions in each of `ways`. Raises TranscriberError. Propagates errors from opening a session.

    - `reader`: a folder with a Whisper model for CTranslate2, other than the app's, that transcribes the played answers
    - `costs`: describes the stage delays if the loop runs in simulated time; empty in real time
    """
    read = Reader(reader, threads=0).read if reader is not None else None
    result = AnswersResult(costs=costs)
    for group in [(way, voice) for way in ways for voice in asked]:
        way, voice = group
        judged = result.judged[group] = []
        wrong = words = 0
        session = replace(choice, duplex=way == "hands-free")
        async with Conversation(make, session, simulated=bool(costs), remember_seconds=REMEMBER_SECONDS) as talk:
            for number, fact in enumerate(asked[voice], 1):
                progress(f"{way}, {voice}: question {number} of {len(asked[voice])}")
                turn = await talk.ask(fact.question, way, settle=SETTLE_SECONDS)
                result.failures += turn.failures
                one = judge(fact, turn)
                hole = hole_behind(one.restated, turn, talk.sound_since(turn.end))
                judged.append(replace(one, right=contains_any(one.said, fact.answers), hole=hole))
                back = await talk.read_back(read, turn.end) if read and one.said else None
                if back is not None:
                    said = fold(f"{one.opening} {one.said}")
                    wrong += word_distance(said, fold(back))
                    words += len(said)
        result.read_back[group] = wrong, words
    return result
