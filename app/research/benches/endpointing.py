"""`bench turns` and `bench sounds`: which sounds end a turn or interrupt the assistant, and which do not.

`bench turns`: how often a speaker who pauses is cut off, and how soon after the true end the turn is ended. The real
voice detector, recogniser and judges process spoken questions with inserted pauses, and real speakers.

`bench sounds`: the reactions to non-turn sounds such as laughter, and to real interruptions. Each recording is
processed twice, while the assistant speaks and while it is silent.

Both run in audio time, so the figures are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.turns import floor
from app.conversation.turns.endpointing import PauseLengths
from app.conversation.turns.tracker import TurnSettings, TurnTracker
from app.diagnostics.tables import Progress, markdown, no_progress, paragraphs, quantile, rounded
from app.models.locations import default_model
from app.platform.installation import completing_command
from app.research.benches.pauses import Case, bench_cases, people, spoken_cases
from app.research.benches.recordings import at_level, read_sound, saying, sound_files
from app.research.benches.timed_parts import (
    DECODE_SECONDS,
    FIRST_SOUND_SECONDS,
    HEARING_COSTS,
    JUDGE_SECONDS,
    WORDS_SECONDS,
    Listener,
    SpeechModels,
    speech_models,
)
from app.research.results import grouped
from app.stt.base import TranscriberError
from app.stt.text_endpointing import end_weights

AUDIBLE_SECONDS = 0.2
"""An answer that overlaps the speaker's continuation by more than this counts as an audible interruption."""
NEVER_SECONDS = 9.0
"""The delay assigned to a turn that never ended, and to a recording that did not silence the assistant."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A turn that was ended at `at` seconds although its speaker continued at `resumed`.

    `silent_at`: when its answer, which starts FIRST_SOUND_SECONDS after the turn's end, was silenced; None if it was
    not.
    """

    at: float
    resumed: float
    silent_at: float | None

    @property
    def audible(self) -> bool:
        """Whether the answer audibly overlapped the speaker's continuation."""
        begin = max(self.resumed, self.at + FIRST_SOUND_SECONDS)
        return self.silent_at is None or self.silent_at - begin > AUDIBLE_SECONDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a case.

    - `cuts`: turns that were ended before the true end
    - `delay`: seconds from the true end to the turn's end; None if it never ended
    - `words`: the words at that end
    """

    case: Case
    cuts: tuple[Cut, ...]
    delay: float | None
    words: str

    @property
    def audible(self) -> bool:
        """Whether the speaker was audibly cut off."""
        return any(cut.audible for cut in self.cuts)


@dataclass(slots=True)
class EndpointingResult:
    """Outcomes of all cases. `left_out`: messages about missing data."""

    outcomes: list[Outcome] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, list[Outcome]]]:
        """Returns the groups of outcomes in the table, with their names."""
        people = [one for one in self.outcomes if one.case.speaker]
        spoken = [one for one in self.outcomes if not one.case.speaker]
        # Nothing indicates that more follows a complete question or statement, so these cases are listed separately.
        clear = [one for one in spoken if one.case.kind not in ("phrase", "plain")]
        kinds = sorted(grouped(spoken, lambda one: f"kind: {one.case.kind}").items())
        groups = [("**people**", people), ("**synthetic questions and requests**", clear), *kinds]
        return [(name, group) for name, group in groups if group]

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        rows = []
        for name, group in self.rows():
            f = figures(group)
            counts = (f"{f[count]} ({100 * f[share]:.1f} %)" for count, share in SHARES)
            delays = (f"{1000 * f[key]:.0f}" for key in ("p25", "p50", "p75", "p90"))
            rows.append((name, f["cases"], *counts, f["missed"], *delays))
        head = ("who and what", "turns", "cut off", "audibly", "missed", "delay p25, ms", "p50", "p75", "p90")
        return "\n".join(
            [*markdown(head, rows), *paragraphs([f"In the sound's own time {HEARING_COSTS}.", *self.left_out])]
        )

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {
            "decode_seconds": DECODE_SECONDS,
            "judge_seconds": JUDGE_SECONDS,
            "words_seconds": WORDS_SECONDS,
            "groups": {name.strip("*"): figures(group) for name, group in self.rows()},
            "cut_off": [
                {
                    "case": one.case.name,
                    "text": one.case.text,
                    "at": [cut.at for cut in one.cuts],
                    "audible": one.audible,
                }
                for one in self.outcomes
                if one.cuts
            ],
            "left_out": self.left_out,
        }


SHARES = (("cut_off", "share"), ("audible", "audible_share"))


def figures(group: Sequence[Outcome]) -> dict[str, Any]:
    """Returns counts of the turns (all, cut off, audibly cut off, never ended), and quantiles of the delays."""
    delays = [NEVER_SECONDS if one.delay is None else one.delay for one in group]
    cut, audible = sum(bool(one.cuts) for one in group), sum(one.audible for one in group)
    return {
        "cases": len(group),
        "cut_off": cut,
        "share": round(cut / max(1, len(group)), 4),
        "audible": audible,
        "audible_share": round(audible / max(1, len(group)), 4),
        "missed": sum(one.delay is None for one in group),
        **{f"p{q}": quantile(delays, q / 100) for q in (25, 50, 75, 90)},
    }


def follow(
    case: Case, models: SpeechModels, settings: TurnSettings | None = None, *, pauses: PauseLengths | None = None
) -> Outcome:
    """Processes one case; an answer plays after each turn's end until it is interrupted."""
    tracker = TurnTracker(end_weights(), settings, pauses=pauses)
    listener = Listener(models.voice_detector(), models.transcriber(), tracker, answers=True)
    cuts: list[Cut] = []
    delay, words = None, ""
    for _, happened in listener.listen(case.samples):
        for one in happened:
            match one:
                case e.UserStarted(at) | e.UserResumed(at):
                    if cuts and cuts[-1].silent_at is None:
                        cuts[-1] = replace(cuts[-1], silent_at=at)
                case e.UserEnded(at, _, speech_end):
                    resumed, untold = case.resumes(speech_end), case.is_untold(speech_end)
                    if resumed is not None and not untold:
                        cuts.append(Cut(at, resumed, None))
                    elif delay is None:
                        # Before an untold pause, nothing indicated that the speaker would continue.
                        delay, words = at - (speech_end if untold else case.end), listener.words
    return Outcome(case, tuple(cuts), delay, words)


def run_endpointing(
    *, cases: int = 0, part: int = 2, people_in: Path | None = None, progress: Progress = no_progress
) -> EndpointingResult:
    """Runs the app's own models on the bench's questions (parts 0 and 1) and on speech by the app's voice.

    - `cases`: the maximum number of cases of each kind, 0 for all
    - `part`: index into PARTS
    - `people_in`: a folder of recordings of real speakers, used in addition

    Raises TranscriberError and VoiceError.
    """
    result = EndpointingResult()
    with speech_models() as models:
        progress("speaking and cutting the questions")
        found = _questions(models, part, cases, result.left_out)[: cases or None]
        if people_in is not None:
            found += people(people_in, models.transcribe, models.voice_detector, part)[: cases or None]
        if not found:
            raise TranscriberError(
                "There is nothing to listen to: the voice is not installed. "
                f"Set the app up again: {completing_command()}."
            )
        result.left_out += models.left_out
        pauses: dict[str, PauseLengths] = {}
        for number, case in enumerate(found, 1):
            progress(f"case {number} of {len(found)}")
            known = pauses.setdefault(case.speaker, PauseLengths()) if case.speaker else None
            result.outcomes.append(follow(case, models, pauses=known))
    return result


def _questions(models: SpeechModels, part: int, most: int, left_out: list[str]) -> list[Case]:
    """Returns the synthetic cases; adds a message to `left_out` for each missing kind."""
    from app.tts.voices import make_voice

    found = bench_cases(models.transcribe, part)
    if default_model("tts").is_file():
        with make_voice() as voice:
            found += spoken_cases(saying(voice), models.transcribe, part, most=most)
    else:
        left_out.append("The voice is not installed, so only recordings were heard.")
    if found.left_out:
        left_out.append(f"{len(found.left_out)} could not be cut between two words: {', '.join(found.left_out)}.")
    return found.made


LEVEL_DBFS = -24.0
"""RMS level of a recording's loud parts, that of speech into a headset."""
ROOM_DBFS = -65.0
LEAD_SECONDS, TAIL_SECONDS = 1.5, 3.0
"""Room noise before and after each recording; the tail is longer than any wait for the end of a turn."""

Fate = Literal["nothing", "held", "interrupted"]


@dataclass(frozen=True, slots=True)
class Reaction:
    """The app's reaction to one recording.

    While the assistant speaks:

    - `fate`: the strongest effect on its answer
    - `stopped`, `interrupted`: when it first fell silent, and when its answer was discarded, in seconds from the
      sound's start
    - `silent`: for how many seconds the answer was held
    - `kept`: the words of the turn that took the floor

    While the assistant is silent, `answered` holds the words sent to the back-end; it is empty if there was no request.
    """

    name: str
    fate: Fate
    stopped: float | None
    interrupted: float | None
    silent: float
    kept: str
    answered: str


def in_room(sound: np.ndarray) -> np.ndarray:
    """Returns the recording (float32, 24 kHz) at `LEVEL_DBFS` in a quiet room."""
    sound = at_level(sound, LEVEL_DBFS, peak=0.95)
    lead, tail = (round(seconds * SAMPLE_RATE) for seconds in (LEAD_SECONDS, TAIL_SECONDS))
    room = np.random.default_rng(1).standard_normal(lead + len(sound) + tail) * 10 ** (ROOM_DBFS / 20)
    room[lead : lead + len(sound)] += sound
    return room.astype(np.float32)


def react(name: str, samples: np.ndarray, models: SpeechModels) -> Reaction:
    """Processes a recording (from `in_room`) while the assistant speaks, and while it is silent."""

    over, alone = (
        Listener(models.voice_detector(), models.transcriber(), TurnTracker(end_weights()), speaks_from=speaks_from)
        for speaks_from in (-math.inf, math.inf)
    )
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
    answered = alone.final_words(samples)
    fate: Fate = "interrupted" if interrupted is not None else "held" if held else "nothing"
    stops = [begin for begin, _ in held] + ([interrupted] if interrupted is not None else [])
    return Reaction(
        name,
        fate,
        min(stops) - LEAD_SECONDS if stops else None,
        interrupted - LEAD_SECONDS if interrupted is not None else None,
        sum(end - begin for begin, end in held),
        " / ".join(filter(None, over.finals.values())),
        " / ".join(filter(None, answered)),
    )


@dataclass(slots=True)
class SoundsResult:
    """Reactions to non-turn sounds and to speech."""

    sounds: list[Reaction] = field(default_factory=list)
    speech: list[Reaction] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as two Markdown tables: each recording, and the shares."""
        each = []
        for one in (*self.sounds, *self.speech):
            when = "" if one.stopped is None else f" after {1000 * one.stopped:.0f} ms"
            each.append((one.name, f"{one.fate}{when}", f"{one.silent:.2f}", one.kept, one.answered))
        shares = []
        for name, group in (("no turn", self.sounds), ("speech", self.speech)):
            if group:
                f = reaction_figures(group)
                percents = (f"{100 * f[key]:.1f}" for key in ("interrupt", "hold", "answered", "within_300_ms"))
                shares.append((name, f["recordings"], *percents, f["p50_ms"], f["p95_ms"]))
        head: tuple[str, ...] = ("", "recordings", "interrupt, %", "hold, %", "answered, %", "stop within 300 ms, %")
        head += ("p50, ms", "p95, ms")
        names = ("recording", "over the assistant", "silent, s", "asked", "in silence, asked")
        return "\n".join([*markdown(names, each, text_columns=5), "", *markdown(head, shares)])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {
            name: {**reaction_figures(group), "each": rounded([asdict(one) for one in group])}
            for name, group in (("sounds", self.sounds), ("speech", self.speech))
            if group
        }


def reaction_figures(group: Sequence[Reaction]) -> dict[str, Any]:
    """Returns the shares of reactions, and quantiles of the delay until the assistant fell silent."""
    delays = [NEVER_SECONDS if one.stopped is None else one.stopped for one in group]
    return {
        "recordings": len(group),
        "interrupt": fmean(one.fate == "interrupted" for one in group),
        "hold": fmean(one.fate == "held" for one in group),
        "answered": fmean(bool(one.answered) for one in group),
        "within_300_ms": fmean(delay <= 0.3 for delay in delays),
        "p50_ms": round(1000 * quantile(delays, 0.5, 9)),
        "p95_ms": round(1000 * quantile(delays, 0.95, 9)),
    }


def run_sounds(folder: Path, speech: Path | None = None, *, progress: Progress = no_progress) -> SoundsResult:
    """Processes the recordings in `folder`, which contain no turn, and those in `speech`, which contain one each.

    Raises TranscriberError.
    """
    result = SoundsResult()
    files = [(path, result.sounds) for path in sound_files(folder)]
    files += [(path, result.speech) for path in sound_files(speech)] if speech is not None else []
    with speech_models() as models:
        for number, (path, group) in enumerate(files, 1):
            progress(f"recording {number} of {len(files)}")
            group.append(react(path.name, in_room(read_sound(path)), models))
    return result
