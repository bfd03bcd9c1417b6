"""Asks all assistants the same questions, one assistant after another, with one language model server.

Answers are measured from the audio that each loudspeaker plays. The figures and the table are computed here.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.backend.base import PERSONA
from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, rounded
from app.models.locations import default_model
from app.platform.children import python_module_command
from app.platform.files import write_json
from app.research.benches.pauses import people
from app.research.benches.recordings import REPORTED, Recording, load_questions, normalised, word_distance
from app.research.benches.rivals.process import FLOOR, Assistant, AssistantProcess, python_of, usage_of
from app.research.benches.timed_parts import speech_models
from app.research.results import at_share, grouped, report, shown
from app.session.control import UserError


@dataclass(slots=True)
class Measured:
    """The measurements of one assistant.

    - `processor`: processor seconds per second of conversation
    - `model_processor`: the same for the language model's server
    - `memory`: bytes at the end
    - `trouble`: why it could not be measured, or not to the end; empty if it could
    """

    name: str
    what: str
    outcomes: list[Outcome] = field(default_factory=list)
    processor: float = 0.0
    model_processor: float = 0.0
    memory: int = 0
    trouble: str = ""

    def by_kind(self) -> dict[str, list[Outcome]]:
        """Returns the outcomes, keyed by kind of speaker."""
        return grouped(self.outcomes, lambda one: one.kind)

    def document(self) -> dict[str, Any]:
        """Returns the figures as a JSON-serialisable dict."""
        names = ("name", "processor", "model_processor", "memory", "trouble")
        own: dict[str, Any] = {name: getattr(self, name) for name in names}
        own |= {kind: figures(group) for kind, group in self.by_kind().items()}
        return rounded({**own, "answers": [asdict(one) for one in self.outcomes]})


_SHARES = {"first_sound_p50": 0.5, "first_sound_p75": 0.75, "first_sound_worst": 1.0}


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Returns the figures of one kind of speaker.

    An answer that starts before the question's end is premature, not quick, so it is not timed.
    """
    sounds = [one.first_sound for one in outcomes if not one.early]
    seconds = {name: at_share(sounds, share) for name, share in _SHARES.items()}
    return {
        "asked": len(outcomes),
        **seconds,
        "early": sum(one.early for one in outcomes),
        "talked_over": sum(one.talked_over > AUDIBLE_SECONDS for one in outcomes),
        "unanswered": sum(one.first_sound is None and not one.early for one in outcomes),
        "wrong": sum(one.wrong for one in outcomes),
        "words": sum(one.words for one in outcomes),
    }


@dataclass(slots=True)
class RivalsResult:
    """The figures of all assistants, in the order they were asked. `model`: the language model they all use."""

    model: str
    measured: list[Measured] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as a Markdown table, with one row per assistant and kind of speaker."""
        head: tuple[str, ...] = ("", "who asks", "asked", "first sound p50, s", "p75", "worst", "began before the end")
        head += ("talked over", "no answer", "words wrong, %", "processor s per s", "model's", "memory, MB")
        rows: list[tuple[object, ...]] = []
        for one in self.measured:
            used = (shown(one.processor), shown(one.model_processor), round(one.memory / 1e6))
            for kind, group in one.by_kind().items():
                f = figures(group)
                counts = (f[name] for name in ("early", "talked_over", "unanswered"))
                wrong = shown(100 * f["wrong"] / max(1, f["words"]), 1)
                rows.append((one.name, kind, f["asked"], *(shown(f[name]) for name in _SHARES), *counts, wrong, *used))
        lines = [*markdown(head, rows, text_columns=2), "", *(f"- {one.name}: {one.what}" for one in self.measured)]
        troubles = [f"{one.name}: {one.trouble}" for one in self.measured if one.trouble]
        return report(f"Assistants side by side, all with {self.model},", "", lines, troubles)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        rivals = [one.document() for one in self.measured]
        return {"bench": "rivals", "machine": machine(), "model": self.model, "rivals": rivals}


PATIENCE_SECONDS = 15.0
"""Maximum wait for a first sound."""
SETTLE_SECONDS = 2.0
"""Silence after which an answer is over."""
LONGEST_ANSWER = 40.0
AUDIBLE_SECONDS = 0.2
"""A shorter overlap with the user goes unnoticed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one question.

    - `first_sound`: seconds from the question's end to the first sound after it; None if there is none
    - `early`: whether an answer started before the question's end; `talked_over`: seconds of audio played until then
    - `wrong`: number of recognition errors in the question's `words`
    """

    item: str
    kind: str
    first_sound: float | None
    early: bool
    talked_over: float
    heard: str
    wrong: int
    words: int


def ask(process: AssistantProcess, item: Recording) -> Outcome:
    """Asks a question, and waits until the answer is over, the wait times out, or the process exits."""
    told = len(process.words)
    begin = process.say(item.samples)
    end = begin + item.end
    time.sleep(max(0.0, end - time.perf_counter()))
    sounded = False
    while process.alive:
        time.sleep(0.05)
        now = time.perf_counter()
        sounded = sounded or process.loudspeaker.quiet_for < 0
        waited = now - end
        if waited > LONGEST_ANSWER or (not sounded and waited > PATIENCE_SECONDS):
            break
        if sounded and process.loudspeaker.quiet_for > SETTLE_SECONDS and waited > SETTLE_SECONDS:
            break
    turns = {turn: words.strip() for at, turn, words in process.words[told:] if at >= begin}
    heard = " ".join(turns[turn] for turn in sorted(turns))
    reference = normalised(item.text)
    return Outcome(
        item.name,
        item.kind,
        *_timing(process, begin, end),
        heard,
        word_distance(reference, normalised(heard)),
        len(reference),
    )


def _timing(process: AssistantProcess, begin: float, end: float) -> tuple[float | None, bool, float]:
    """Returns the time of the first sound after the end, whether one preceded it, and the seconds of overlap."""
    block = SAMPLE_RATE // 50
    during = np.abs(process.loudspeaker.played(begin + 0.3, end)) > FLOOR
    over = float(during[: len(during) // block * block].reshape(-1, block).any(axis=1).sum()) * 0.02
    places = np.flatnonzero(np.abs(process.loudspeaker.played(end, time.perf_counter())) > FLOOR)
    return (float(places[0]) / SAMPLE_RATE if len(places) else None), over > 0.02, over


FIRST_SECONDS = 3.0
"""Silence before the first question, since some assistants are still loading."""


def load_items(questions: int, folder: Path | None, utterances: int) -> list[Recording]:
    """Returns the bench's own questions, shuffled together with utterances of held-out speakers from `folder`.

    Raises TranscriberError.
    """
    items = [replace(one, kind="synthetic") for one in load_questions(questions)]
    if folder is not None and utterances:
        with speech_models() as models:
            cases = people(folder, models.transcribe, models.voice_detector, REPORTED)
        whole = [case for case in cases if not case.untold]
        picked = random.Random(4).sample(whole, min(utterances, len(whole)))
        items += [Recording(one.name, one.text, one.samples, one.end, kind="people") for one in picked]
    random.Random(1).shuffle(items)
    return items


def run_rivals(
    assistants: Sequence[Assistant],
    items: Sequence[Recording],
    server: Mapping[str, str],
    server_pid: int,
    out: Path,
    progress: Progress,
) -> RivalsResult:
    """Asks `assistants` all `items`. An exception from `progress` ends the run. Raises UserError.

    - `server`: `url`, `key` and `model` of an OpenAI-compatible server
    - `server_pid`: its process ID
    - `out`: the folder in which results are written after each assistant
    """
    if not items:
        raise UserError("There is nothing to ask: give --questions, or --people with --utterances.")
    out.mkdir(parents=True, exist_ok=True)
    settings = {f"KAME_RIVAL_{name.upper()}": value for name, value in server.items()}
    settings |= {
        "KAME_RIVAL_PERSONA": PERSONA,
        "KAME_RIVAL_WHISPER": str(default_model("stt")),
        "KAME_RIVAL_VOICE": str(default_model("tts")),
    }
    result = RivalsResult(server["model"])
    for assistant in assistants:
        one = Measured(assistant.name, assistant.what)
        result.measured.append(one)
        try:
            _measure(assistant, one, items, settings, server_pid, out, progress)
        except UserError as error:
            one.trouble = str(error)
        write_json(out / "results.json", result.document(), indent=1)
        (out / "results.md").write_text(result.table() + "\n", "utf-8")
    return result


def _measure(
    assistant: Assistant,
    one: Measured,
    items: Sequence[Recording],
    settings: Mapping[str, str],
    server_pid: int,
    out: Path,
    progress: Progress,
) -> None:
    progress(f"{assistant.name} starts")
    command = _command(assistant, progress)
    with AssistantProcess(assistant.name, command, settings, out / f"{assistant.name}.log") as process:
        time.sleep(FIRST_SECONDS)
        began, before = time.perf_counter(), process.usage()[0]
        model_before = usage_of(server_pid)[0]
        for place, item in enumerate(items, 1):
            progress(f"{assistant.name}: question {place} of {len(items)}")
            one.outcomes.append(ask(process, item))
            if not process.alive:
                one.trouble = f"it ended at question {place}; its log says why."
                break
        seconds = time.perf_counter() - began
        used, one.memory = process.usage()
        one.processor = (used - before) / seconds
        one.model_processor = (usage_of(server_pid)[0] - model_before) / seconds


def _command(assistant: Assistant, progress: Progress) -> list[str]:
    if not assistant.driver:
        return python_module_command("app.research.benches.rivals.ours", assistant.name)
    driver = Path(__file__).parent / "drivers" / assistant.driver
    return [str(python_of(assistant, progress)), str(driver)]
