"""`bench answers` and `bench facts`: short questions in a conversation, and the first words of the answers.

`bench answers` asks sixty questions (`resources/bench/answers.json`) hands-free and with the talk button, in the app's
own voice or in recordings of other voices. The figure of interest is how often the app takes back what it said; whether
an answer is right depends on the back-end.

`bench facts` asks each installed language model 120 questions with one right answer (`resources/bench/facts.json`,
eight subjects), typed and spoken by four voices of Kokoro that nothing is fitted to, a dozen in each conversation. An
answer is right if its first sentence contains one of the known ways to put it; a mention further on does not count.

An answer is judged by its session's events. Sound enters and leaves as on devices, paced by the clock, or in simulated
time.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import ENGLISH, language
from app.conversation.spoken_form import spoken
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, no_progress, quantile, rounded
from app.platform.installation import resource
from app.research.benches.recordings import (
    SUFFIXES,
    MakeSession,
    Question,
    Reader,
    read_sound,
    until_answered,
    voice_end,
    word_distance,
)
from app.session.control import BackendChoice, SessionChoice
from app.session.session import Session
from app.stt.base import TranscriberError


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One question's answer as it was played.

    `heard`: the question as recognised; `said`: the answer without its `opening`, the words that filled the wait;
    `bridges`: how often a bridge was spoken; `whole`: the answer is nothing but the beginning of one revision. Seconds
    from the question's end: `first_sound`, which may be an opening's; `first_word`, until the answer's first word had
    been said. `right`: it contains a known answer.
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


def judge(
    question: str, answers: Sequence[str], events: Sequence[e.Event], end: float, output_delay: float
) -> JudgedAnswer:
    """Judges the answer to a question that ended at session time `end`. `answers`: ways to put the right one;
    `output_delay`: seconds from a loudspeaker's input to its sound.
    """
    texts: dict[int, str] = {}
    for event in events:
        if isinstance(event, e.OracleDelta):
            texts[event.revision] = texts.get(event.revision, "") + event.text
    # An answer that began too early, before the user resumed the turn, is not the answer to the question.
    resumed = max((x.at for x in events if isinstance(x, e.UserResumed)), default=-1.0)
    words = [x for x in events if isinstance(x, e.AssistantSaid) and x.at > resumed]
    content = [x for x in words if x.revision]
    opening = " ".join(x.text for x in words if not x.revision)
    said = " ".join(x.text for x in content)
    mine = fold(said)
    whole = any(fold(spoken(text))[: len(mine)] == mine for text in texts.values())
    starts = [x.at for x in events if isinstance(x, e.AssistantStarted) and x.at > resumed]
    finals = {x.turn: x.text for x in events if isinstance(x, e.TranscriptFinal)}
    return JudgedAnswer(
        question=question,
        heard=" ".join(finals[turn] for turn in sorted(finals)),
        said=said,
        opening=opening,
        bridges=sum(isinstance(x, e.AssistantCorrected) and x.how == "corrected" for x in events),
        whole=whole,
        first_sound=starts[0] + output_delay - end if starts else None,
        first_word=content[0].at - end if content else None,
        right=contains_any(said, answers),
    )


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether `text` contains one of the phrases, as whole words."""
    words = f" {' '.join(fold(text))} "
    return any(f" {' '.join(fold(phrase))} " in words for phrase in phrases)


Way = Literal["hands-free", "talk button", "typed"]
WAYS: tuple[Way, ...] = ("hands-free", "talk button")

RELEASE_SECONDS = 0.15
"""Time from the last word until the talk button is released."""
SETTLE_SECONDS = 0.6
"""Silence after an answer before the next question, so that the question opens a new turn."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A spoken question with one correct answer. `answers`: ways to phrase it; `voice`: the speaker."""

    question: Question
    answers: tuple[str, ...]
    voice: str
    subject: str = ""


Groups = dict[tuple[str, str], list[JudgedAnswer]]


def _document(costs: str, groups: list[dict[str, Any]], failures: list[str]) -> dict[str, Any]:
    return {"machine": machine(), "simulated": bool(costs), "costs": costs, "groups": groups, "failures": failures}


def _report(title: str, costs: str, lines: list[str], failures: list[str]) -> str:
    head = f"{title} in {'simulated' if costs else 'real'} time, {machine()}"
    return "\n".join([head, "", *lines, *(["", costs] if costs else []), *dict.fromkeys(failures)])


@dataclass(slots=True)
class AnswersResult:
    """Answers by way and voice; `read_back`: the words that were read back wrong and all words, by way and voice.

    `costs`: what the stages cost in simulated time; empty in real time.
    """

    judged: Groups = field(default_factory=dict)
    read_back: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    costs: str = ""

    def table(self) -> str:
        """Returns the result as a Markdown table, and the answers that were taken back."""
        rows = []
        for group, judged in self.judged.items():
            f = figures(judged)
            wrong, words = self.read_back.get(group, (0, 0))
            counts = (f[key] for key in ("whole", "openings", "right"))
            seconds = (f"{f[key]:.2f}" for key in SECONDS)
            share, read = f"{100 * f['share']:.1f}", f"{100 * wrong / words:.1f}" if words else "–"
            rows.append((*group, f["asked"], f["unanswered"], f["taken_back"], share, *counts, *seconds, read))
        head = ["way", "voice", "asked", "unanswered", "taken back", "%", "one whole", "openings", "right"]
        head += ["first sound p50, s", "p75", "first word said p50, s", "p75", "read back otherwise, %"]
        lines = markdown(head, rows, text_columns=2)
        for (way, voice), judged in self.judged.items():
            lines += ["", *(f"{way}, {voice}, taken back: {x.heard} → {x.said}" for x in judged if x.taken_back)]
        return _report("Short questions", self.costs, lines, self.failures)

    def document(self) -> dict[str, Any]:
        """Returns the result for JSON."""
        groups = [
            {
                "way": way,
                "voice": voice,
                **figures(judged),
                "read_back": self.read_back.get((way, voice)),
                "answers": [one.document() for one in judged],
            }
            for (way, voice), judged in self.judged.items()
        ]
        return _document(self.costs, groups, self.failures)


@dataclass(slots=True)
class FactsResult:
    """Answers by model and way, in the order of `facts`. `costs`: as in `AnswersResult`."""

    facts: Sequence[Asked]
    judged: Groups = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    costs: str = ""

    def table(self) -> str:
        """Returns the result as two Markdown tables: all questions, and right answers by subject."""
        rows, by_subject = [], []
        for group, judged in self.judged.items():
            f = figures(judged)
            wrong = f["asked"] - f["right"] - f["unanswered"]
            counts = (wrong, f["unanswered"], f["taken_back"], f["openings"])
            seconds = (f"{f[key]:.2f}" for key in SECONDS)
            rows.append((*group, f["right"], f"{100 * f['right'] / max(1, f['asked']):.0f}", *counts, *seconds))
            by_subject.append((*group, *self._by_subject(judged).values()))
        head = ["model", "way", "right", "%", "wrong", "no answer", "taken back", "openings"]
        head += ["first sound p50, s", "p75", "first word of the answer p50, s", "p75"]
        subjects = markdown(("model", "way", *self._by_subject(())), by_subject, text_columns=2)
        lines = [*markdown(head, rows, text_columns=2), "", "Right by subject:", "", *subjects]
        title = f"{len(self.facts)} questions with one right answer,"
        return _report(title, self.costs, lines, self.failures)

    def document(self) -> dict[str, Any]:
        """Returns the result for JSON."""
        groups = [
            {
                "model": model,
                "way": way,
                **figures(judged),
                "by_subject": self._by_subject(judged),
                "answers": [one.document() for one in judged],
            }
            for (model, way), judged in self.judged.items()
        ]
        return {"questions": len(self.facts), **_document(self.costs, groups, self.failures)}

    def _by_subject(self, judged: Sequence[JudgedAnswer]) -> dict[str, int]:
        out = dict.fromkeys((fact.subject for fact in self.facts), 0)
        for fact, one in zip(self.facts, judged, strict=False):
            out[fact.subject] += one.right
        return out


SECONDS = ("sound_p50", "sound_p75", "word_p50", "word_p75")


def figures(group: Sequence[JudgedAnswer]) -> dict[str, Any]:
    """Counts of a group, and its times in seconds from the questions' ends (nan if there are none)."""
    taken_back = sum(one.taken_back for one in group)
    sounds = [one.first_sound for one in group if one.first_sound is not None]
    words = [one.first_word for one in group if one.first_word is not None]
    times = (quantile(values, share) for values in (sounds, words) for share in (0.5, 0.75))
    return {
        "asked": len(group),
        "unanswered": sum(not one.said for one in group),
        "taken_back": taken_back,
        "share": round(taken_back / max(1, len(group)), 4),
        "whole": sum(one.whole and not one.bridges for one in group if one.said),
        "openings": sum(bool(one.opening) for one in group),
        "right": sum(one.right for one in group),
        **dict(zip(SECONDS, times, strict=True)),
    }


def load_asked(count: int, recordings: Path | None) -> list[Asked]:
    """Loads the first `count` questions in the app's own voice, and as recorded in `recordings`.

    The recordings are VOICE/NN.wav, with NN from 01 in the order of the questions. Raises TranscriberError and
    VoiceError.
    """
    from app.tts.voices import make_voice

    entries = json.loads(resource("bench", "answers.json").read_text("utf-8"))[:count]
    out: list[Asked] = []
    with make_voice() as voice:
        for number, entry in enumerate(entries, 1):
            samples = voice.synthesize(entry["question"]).result().samples
            out.append(_asked(number, entry, samples, "the app's own"))
    if recordings is None:
        return out
    if not recordings.is_dir():
        raise TranscriberError(f"There is no folder {recordings}. Name one with VOICE/01.wav and so on in it.")
    for folder in sorted(path for path in recordings.iterdir() if path.is_dir()):
        for number, entry in enumerate(entries, 1):
            file = next((f for f in (folder / f"{number:02}{suffix}" for suffix in SUFFIXES) if f.is_file()), None)
            if file is not None:
                out.append(_asked(number, entry, read_sound(file), folder.name))
    return out


def _asked(number: int, entry: dict[str, Any], samples: np.ndarray, voice: str) -> Asked:
    question = Question(f"{number:02}", entry["question"], samples, voice_end(samples))
    return Asked(question, tuple(entry["answers"]), voice)


async def run_answers(
    make: MakeSession,
    choice: SessionChoice,
    asked: Sequence[Asked],
    progress: Progress,
    *,
    ways: Sequence[Way] = WAYS,
    reader: Path | None = None,
    costs: str = "",
) -> AnswersResult:
    """Asks all questions in each way. Raises TranscriberError, and whatever opening a session raises.

    `reader`: a folder with a Whisper model for CTranslate2, other than the app's, that transcribes the played answers.
    `costs`: the stage costs if the loop's time is simulated.
    """
    back = Reader(reader, threads=0) if reader is not None else None
    result = AnswersResult(costs=costs)
    for way in ways:
        for voice in dict.fromkeys(one.voice for one in asked):
            mine = [one for one in asked if one.voice == voice]
            asker = PacedAsker(paced=not costs)
            listener = PacedListener(asyncio.get_running_loop().time if costs else time.perf_counter)
            talk = make(
                replace(choice, duplex=way == "hands-free"),
                asker,
                listener,
                end_with_input=False,
                remember_seconds=120.0 if back is not None else 0.0,
            )
            group = result.judged[way, voice] = []
            wrong = words = 0
            async with talk:
                events: list[e.Event] = []
                talk.add_listener(events.append)
                await asyncio.sleep(1.0)
                for number, one in enumerate(mine, 1):
                    progress(f"{way}, {voice}: question {number} of {len(mine)}")
                    events.clear()
                    began = await _ask(talk, asker, one.question, way)
                    end = began + one.question.end
                    await until_answered(talk, events, end, SETTLE_SECONDS)
                    result.failures += [x.sentence for x in events if isinstance(x, e.Failure)]
                    group.append(judge(one.question.text, one.answers, events, end, PREBUFFER_SECONDS))
                    sound = talk.sound_of("assistant", end, talk.clock()) if back is not None else None
                    if back is not None and sound is not None and group[-1].said:
                        said = fold(f"{group[-1].opening} {group[-1].said}")
                        # In simulated time the loop must not wait for a thread, whose time isn't simulated.
                        read = back.read(sound) if costs else await asyncio.to_thread(back.read, sound)
                        wrong += word_distance(said, fold(read))
                        words += len(said)
            result.read_back[way, voice] = wrong, words
    return result


async def _ask(talk: Session, asker: PacedAsker, question: Question, way: Way) -> float:
    """Says or types the question, holding the talk button if the way requires it.

    Returns when its audio began; for a typed question, when it would have begun to end now.
    """
    if way == "typed":
        talk.write(question.text)
        return talk.clock() - question.end
    if way == "talk button":
        talk.press()
    began = asker.ask(question)
    if way == "talk button":
        await asyncio.sleep(max(0.0, began + question.end + RELEASE_SECONDS - talk.clock()))
        talk.release()
    return began


QUESTIONS_PER_TALK = 12
VOICES = "four voices"
VOICE_RANGE_DB = 22.0


def load_facts(count: int) -> list[Asked]:
    """Returns the first `count` questions with their recordings, with subjects interleaved."""
    facts = []
    for number, entry in enumerate(json.loads(resource("bench", "facts.json").read_text("utf-8"))[:count], 1):
        samples = read_sound(resource("bench", "facts", f"{number:03}.ogg"))
        question = Question(f"{number:03}", entry["question"], samples, loud_end(samples))
        facts.append(Asked(question, tuple(entry["answers"]), VOICES, entry["subject"]))
    return facts


def loud_end(samples: np.ndarray) -> float:
    """The second at which the voice ends: the last 60 ms that are less than 22 dB softer than its loud ones.

    One of the voices hums on for half a second after its last word, some 26 dB softer.
    """
    hop = SAMPLE_RATE // 50
    energy = np.convolve(np.square(samples), np.ones(3 * hop), "valid")[::hop]
    loud = np.quantile(energy, 0.95) * 10 ** (-VOICE_RANGE_DB / 10)
    return float(np.flatnonzero(energy > loud)[-1] * hop + 3 * hop) / SAMPLE_RATE


def is_right(answer: JudgedAnswer, answers: Sequence[str]) -> bool:
    """Whether the first sentence of the answer contains one of the known answers."""
    return contains_any(first_sentence(answer.said), answers)


def first_sentence(text: str) -> str:
    """Returns `text` up to the first sentence-ending mark, ignoring the full stop after an initial (J. R. R.)."""
    for match in re.finditer(r"[.!?](?=\s|$)", text):
        if not re.search(r"(?:^|[\s.])\w$", text[: match.start()]):
            return text[: match.end()]
    return text


async def run_facts(
    make: MakeSession,
    models: Sequence[BackendChoice],
    facts: Sequence[Asked],
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
                asked = facts[start : start + QUESTIONS_PER_TALK]
                session = SessionChoice(backend=choice)
                part = await run_answers(make, session, asked, no_progress, ways=(way,), costs=costs)
                judged = zip(part.judged[way, VOICES], asked, strict=True)
                group += [replace(one, right=is_right(one, fact.answers)) for one, fact in judged]
                result.failures += part.failures
    return result
