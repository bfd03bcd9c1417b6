"""`bench sounds`: how the app reacts to sounds that are no turn, such as laughter, and to real interruptions.

Each recording is processed twice by the app's own voice detector and recogniser: while the assistant speaks and while
nobody does. Recogniser and judges are as late as in `bench turns`, in the sound's own time, so that the figures are the
same on every machine.

What is said in `bench turns` and where the speaker stops, read from `resources/bench/sayings.json`.

In the texts `|` marks a pause, `|*` a pause that follows a complete question or request whatever the kind of the rest,
and `^` a place where a recording is cut in two. All texts but MT-Bench's questions were written for this bench.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.conversation import floor
from app.conversation.frame import SAMPLE_RATE
from app.conversation.turn import TurnSettings, TurnTracker
from app.diagnostics.tables import Progress, markdown, no_progress, quantile
from app.platform.installation import resource
from app.research.benches.listening import Listener, SpeechModels, speech_models
from app.research.benches.recordings import read_sound, sound_files
from app.stt.endpointing_weights import end_weights


@dataclass(frozen=True, slots=True)
class Saying:
    """A text that is spoken with a pause between each two of its `parts`.

    `kind` tells where the pauses are: `clause` in the middle of a clause, `um` after a filled hesitation, `phrase`
    where one of them follows a complete question or request, `statement` between a statement and the question or
    request about it; `whole` is a question or a request without a pause, and `plain` a complete statement, with a
    pause inside a clause or without one.
    """

    kind: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text without the pauses."""
        return " ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of one of the bench's own recordings, from second `begin` to `end`, with its text."""

    file: str
    begin: float
    end: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A spoken turn of MT-Bench that the bench's own recordings do not include, by its file name.

    `whole_inside`: those of its stretches (counted from 0) in which the speaker rests after a complete question.
    """

    file: str
    text: str
    whole_inside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sayings:
    """All texts of the bench. `fresh` was written later: a quarter goes to each of the first two parts, half to the
    third.
    """

    spoken: tuple[Saying, ...]
    fresh: tuple[Saying, ...]
    bench: tuple[Excerpt, ...]
    recorded: tuple[Recorded, ...]


@functools.cache
def sayings() -> Sayings:
    """All texts, in the file's order."""
    found = json.loads(resource("bench", "sayings.json").read_text("utf-8"))
    return Sayings(
        _sayings(found["spoken"]),
        _sayings(found["fresh"]),
        tuple(Excerpt(**entry) for entry in found["bench"]),
        tuple(_recorded(**entry) for entry in found["recorded"]),
    )


def _sayings(kinds: dict[str, list[str]]) -> tuple[Saying, ...]:
    return tuple(
        Saying("phrase" if "|*" in text else kind, tuple(part.strip() for part in text.replace("|*", "|").split("|")))
        for kind, texts in kinds.items()
        for text in texts
    )


def _recorded(file: str, text: str, whole_inside: Any = ()) -> Recorded:
    return Recorded(file, text, tuple(whole_inside))


LEVEL_DBFS = -24.0
"""RMS of a recording's loud part: that of speech at a headset."""
ROOM_DBFS = -65.0
LEAD_SECONDS, TAIL_SECONDS = 1.5, 3.0
"""Of the room alone around each recording; the tail is longer than any wait for a turn's end."""
NEVER_SECONDS = 9.0
"""Counts as the delay of a recording that did not silence the assistant."""

Fate = Literal["nothing", "held", "interrupted"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The app's reaction to one recording.

    Over the assistant: `fate` is the worst that happened to its answer; `stopped` when it first fell silent and
    `interrupted` when its answer was discarded, in seconds from the sound's beginning; `silent` for how long it was
    held; `kept` the words of the turn that took the floor from it. In silence: `answered` are the words that the
    back-end was asked about, empty if it was not asked.
    """

    name: str
    fate: Fate
    stopped: float | None
    interrupted: float | None
    silent: float
    kept: str
    answered: str


def in_room(sound: np.ndarray) -> np.ndarray:
    """The recording (float32 24 kHz) at `LEVEL_DBFS` in a quiet room."""
    block = SAMPLE_RATE // 50
    power = np.square(sound[: len(sound) // block * block], dtype=np.float64).reshape(-1, block).mean(axis=1)
    loud = power[power > power.max(initial=0.0) / 100].mean() if power.size else 0.0
    gain = 10 ** (LEVEL_DBFS / 20) / np.sqrt(loud + 1e-12)
    sound = sound * min(gain, 0.95 / (np.abs(sound).max(initial=0.0) + 1e-9))
    lead, tail = (round(seconds * SAMPLE_RATE) for seconds in (LEAD_SECONDS, TAIL_SECONDS))
    room = np.random.default_rng(1).standard_normal(lead + len(sound) + tail) * 10 ** (ROOM_DBFS / 20)
    room[lead : lead + len(sound)] += sound
    return room.astype(np.float32)


def follow(name: str, samples: np.ndarray, models: SpeechModels, settings: TurnSettings | None = None) -> Outcome:
    """Listens to a recording (as from `in_room`) while the assistant speaks, and while nobody does."""

    def listener(speaks_from: float) -> Listener:
        tracker = TurnTracker(end_weights(), settings)
        return Listener(models.voice_detector(), models.transcriber(), tracker, speaks_from=speaks_from)

    over, alone = listener(-math.inf), listener(math.inf)
    held: list[tuple[float, float]] = []
    held_since = interrupted = None
    for at, happened in over.listen(samples):
        for one in happened:
            match one:
                case floor.Hold():
                    held_since = at
                case floor.GoOn() if held_since is not None:
                    held.append((held_since, at))
                    held_since = None
                case floor.Interrupt() | floor.Yield() if interrupted is None:
                    if held_since is not None:
                        held.append((held_since, at))
                    interrupted, held_since = at, None
    for _ in alone.listen(samples):
        pass
    fate: Fate = "interrupted" if interrupted is not None else "held" if held else "nothing"
    stops = [begin for begin, _ in held] + ([interrupted] if interrupted is not None else [])
    return Outcome(
        name,
        fate,
        min(stops) - LEAD_SECONDS if stops else None,
        interrupted - LEAD_SECONDS if interrupted is not None else None,
        sum(end - begin for begin, end in held),
        " / ".join(words for words in over.finals.values() if words),
        " / ".join(words for words in alone.finals.values() if words),
    )


@dataclass(slots=True)
class SoundsResult:
    """Reactions to sounds that are no turn, and to speech."""

    sounds: list[Outcome] = field(default_factory=list)
    speech: list[Outcome] = field(default_factory=list)

    def table(self) -> str:
        """The result as two Markdown tables: each recording, and the shares."""
        each = []
        for one in (*self.sounds, *self.speech):
            when = "" if one.stopped is None else f" after {1000 * one.stopped:.0f} ms"
            each.append((one.name, f"{one.fate}{when}", f"{one.silent:.2f}", one.kept, one.answered))
        shares = []
        for name, group in (("no turn", self.sounds), ("speech", self.speech)):
            if group:
                f = figures(group)
                percents = (f"{100 * f[key]:.1f}" for key in ("interrupt", "hold", "answered", "within_300_ms"))
                shares.append((name, f["recordings"], *percents, f["p50_ms"], f["p95_ms"]))
        head = (
            "",
            "recordings",
            "interrupt, %",
            "hold, %",
            "answered, %",
            "stop within 300 ms, %",
            "p50, ms",
            "p95, ms",
        )
        names = ("recording", "over the assistant", "silent, s", "asked", "in silence, asked")
        return "\n".join([*markdown(names, each, text_columns=5), "", *markdown(head, shares)])

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            name: {**figures(group), "each": [{**asdict(one), "silent": round(one.silent, 3)} for one in group]}
            for name, group in (("sounds", self.sounds), ("speech", self.speech))
            if group
        }


def figures(group: Sequence[Outcome]) -> dict[str, Any]:
    """Shares of all recordings, and the delays until the assistant fell silent."""
    delays = [NEVER_SECONDS if one.stopped is None else one.stopped for one in group]
    count = len(group)
    return {
        "recordings": count,
        "interrupt": sum(one.fate == "interrupted" for one in group) / count,
        "hold": sum(one.fate == "held" for one in group) / count,
        "answered": sum(bool(one.answered) for one in group) / count,
        "within_300_ms": sum(delay <= 0.3 for delay in delays) / count,
        "p50_ms": round(1000 * quantile(delays, 0.5, 9)),
        "p95_ms": round(1000 * quantile(delays, 0.95, 9)),
    }


def run_sounds(folder: Path, speech: Path | None = None, *, progress: Progress = no_progress) -> SoundsResult:
    """Listens to the recordings in `folder`, none of which is a turn, and to those in `speech`, each one turn.

    Raises TranscriberError.
    """
    result = SoundsResult()
    files = [(path, result.sounds) for path in sound_files(folder)]
    files += [(path, result.speech) for path in sound_files(speech)] if speech is not None else []
    with speech_models() as models:
        for number, (path, group) in enumerate(files, 1):
            progress(f"recording {number} of {len(files)}")
            group.append(follow(path.name, in_room(read_sound(path)), models))
    return result
