"""`bench turns`: how often a speaker who pauses is cut off, and how soon after the end the floor is taken.

Real voice detector, recogniser and judge listen to spoken questions with pauses put in (see `pauses`). What they
find is told to the turn tracker as late as it would be, in the sound's own time: each look at the words takes
`DECODE_SECONDS`, each judgement `JUDGE_SECONDS` or `WORDS_SECONDS`, so that the figures are the same on every machine.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.turn import TurnSettings, TurnTracker
from app.conversation.turn_end import PauseLengths
from app.evaluation.pauses import Case, bench_cases, recorded_cases, spoken_cases
from app.evaluation.people import people
from app.installed import completing_command
from app.offline_models import model_path
from app.stt.base import EndOfTurn, TranscriberError, TranscriptUpdate, VoiceActivity
from app.stt.streaming import Decoder, StreamingTranscriber, WordsJudge
from app.stt.turn_ends import end_weights

DECODE_SECONDS = 0.13
"""A look of tiny.en at 3 to 6 s of sound on one core of a laptop."""
JUDGE_SECONDS = 0.05
"""A judgement of Smart Turn on one core (30 to 60 ms)."""
WORDS_SECONDS = 0.03
"""A judgement of the words by the language model on one core, when they go on from the last ones (20 to 40 ms)."""


class _TimedWorker:
    """Works at once, and gives its results out when they would have come: one piece of work after another."""

    def __init__(self, ears: TimedEars, seconds: float) -> None:
        self._ears = ears
        self._seconds = seconds
        self._free_at = 0.0

    def submit(self, work: Callable[..., Any], *args: object) -> Future[Any]:
        self._free_at = max(self._free_at, self._ears.now) + self._seconds
        self._ears.due = self._free_at
        work(*args)
        return Future()


class TimedEars(StreamingTranscriber):
    """The app's own ears with their threads taken out: answers come `decode` or `judge` seconds of sound later."""

    def __init__(
        self,
        decoder: Decoder,
        judge: EndOfTurn,
        words: WordsJudge | None = None,
        *,
        decode: float = DECODE_SECONDS,
        judged: float = JUDGE_SECONDS,
        weighed: float = WORDS_SECONDS,
    ) -> None:
        super().__init__("timed", lambda: (decoder, judge), self._keep)
        self.now = self.due = 0.0
        self._answers: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._decoder, self._judge = decoder, judge
        self._worker = _TimedWorker(self, decode)  # type: ignore[assignment]
        self._judge_worker = _TimedWorker(self, judged)  # type: ignore[assignment]
        self._words_judge = words
        self._words_worker = _TimedWorker(self, weighed)  # type: ignore[assignment]

    def _keep(self, answer: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._answers, (self.due, self._count, answer))

    def deliver(self, until: float) -> None:
        """Gives out what has come by `until`, in order; what an answer sets going begins when it came."""
        while self._answers and self._answers[0][0] <= until + 1e-9:
            at, _, answer = heapq.heappop(self._answers)
            self.now = at
            answer()
        self.now = until


FIRST_SOUND_SECONDS = 0.1
"""From a turn's end until an answer that is ready sounds."""
AUDIBLE_SECONDS = 0.2
"""An answer that sounds longer than this into what the speaker goes on to say has audibly cut the speaker off."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A turn that was ended `at` seconds though its speaker went on at `resumed`. `silent_at`: when the answer, which
    sounds from FIRST_SOUND_SECONDS behind the turn's end on, was silenced; None if it was not.
    """

    at: float
    resumed: float
    silent_at: float | None

    @property
    def audible(self) -> bool:
        """Whether the answer sounded into what the speaker went on to say."""
        begin = max(self.resumed, self.at + FIRST_SOUND_SECONDS)
        return self.silent_at is None or self.silent_at - begin > AUDIBLE_SECONDS


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a case. `cuts`: turns that were ended before the true end; `delay`: from the true end to the
    turn's end (None: it never ended); `words`: as they were at that end.
    """

    case: Case
    cuts: tuple[Cut, ...]
    delay: float | None
    words: str
    reason: str = ""

    @property
    def audible(self) -> bool:
        """Whether the speaker was audibly cut off."""
        return any(cut.audible for cut in self.cuts)


def follow(
    case: Case,
    make_voice: Callable[[], VoiceActivity],
    decoder: Decoder,
    judge: EndOfTurn,
    words_judge: WordsJudge | None = None,
    settings: TurnSettings | None = None,
    *,
    pauses: PauseLengths | None = None,
) -> Heard:
    """Listens to one case as a session does, frame by frame."""
    tracker = TurnTracker(end_weights(), settings, pauses=pauses)
    voice, ears = make_voice(), TimedEars(decoder, judge, words_judge)
    words = ""

    def hear(update: TranscriptUpdate) -> None:
        nonlocal words
        words = " ".join(part for part in (update.stable, update.unstable) if part)
        tracker.hint_words(update.turn, words, update.heard_until)

    ears.on_update = hear
    ears.on_finished = tracker.hint_finished
    cuts: list[Cut] = []
    delay, reason, at_end = None, "", ""
    sounds_from = math.inf
    for index in range(len(case.samples) // FRAME_SAMPLES):
        frame = Frame(index, case.samples[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES])
        ears.deliver(frame.at)
        windows = voice.hear(frame)
        facts = tracker.hear(frame.at, windows, assistant_speaks=frame.at > sounds_from)
        ears.push(frame, any(w.probability >= 0.5 for w in windows))
        for fact in facts:
            match fact:
                case e.UserStarted(at, turn) | e.UserResumed(at, turn):
                    if cuts and cuts[-1].silent_at is None:
                        cuts[-1] = replace(cuts[-1], silent_at=at)
                    sounds_from = math.inf
                    ears.begin(turn, at) if isinstance(fact, e.UserStarted) else ears.resume(turn)
                case e.UserPaused(_, turn, speech_end):
                    ears.pause(turn, speech_end)
                case e.UserEnded(at, turn, speech_end, why):
                    sounds_from = at + FIRST_SOUND_SECONDS
                    resumed, untold = case.resumes(speech_end), case.is_untold(speech_end)
                    if resumed is not None and not untold:
                        cuts.append(Cut(at, resumed, None))
                    elif delay is None:
                        # For all that anybody could know, the speaker had finished at an untold pause.
                        delay, reason, at_end = at - (speech_end if untold else case.end), why, words
                    ears.end(turn, speech_end)
    return Heard(case, tuple(cuts), delay, at_end, reason)


@dataclass(slots=True)
class TurnsResult:
    """What a run of the bench gave."""

    heard: list[Heard] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, list[Heard]]]:
        """The groups that the table shows, by name."""
        people = [one for one in self.heard if one.case.speaker]
        spoken = [one for one in self.heard if not one.case.speaker]
        # A question that is whole before the pause may be all: nobody can tell, so these are told apart.
        told = [one for one in spoken if one.case.kind not in ("phrase", "plain")]
        groups: dict[str, list[Heard]] = {}
        for one in told:
            for name in (one.case.voice, one.case.making, f"kind: {one.case.kind}"):
                groups.setdefault(name, []).append(one)
        out = [("**people**", people), ("**synthetic questions and requests**", told), *sorted(groups.items())]
        out.append(("whole before the pause", [one for one in spoken if one.case.kind == "phrase"]))
        out.append(("plain statements", [one for one in spoken if one.case.kind == "plain"]))
        return [(name, group) for name, group in out if group]

    def table(self) -> str:
        """For people: Markdown."""
        lines = [
            "| who and what | turns | cut off | audibly | missed | delay p25, ms | p50 | p75 | p90 |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for name, group in self.rows():
            f = figures(group)
            lines.append(
                f"| {name} | {f['cases']} | {f['cut_off']} ({100 * f['share']:.1f} %) |"
                f" {f['audible']} ({100 * f['audible_share']:.1f} %) | {f['missed']} |"
                + "".join(f" {1000 * f[key]:.0f} |" for key in ("p25", "p50", "p75", "p90"))
            )
        for sentence in self.left_out:
            lines += ["", sentence]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "decode_seconds": DECODE_SECONDS,
            "judge_seconds": JUDGE_SECONDS,
            "words_seconds": WORDS_SECONDS,
            "groups": {name.strip("*"): figures(group) for name, group in self.rows()},
            "cut_off": [
                {
                    "case": one.case.name,
                    "text": one.case.text,
                    "at": [round(cut.at, 3) for cut in one.cuts],
                    "audible": one.audible,
                }
                for one in self.heard
                if one.cuts
            ],
            "left_out": self.left_out,
        }


def figures(group: Sequence[Heard]) -> dict[str, Any]:
    """Turns, how many were cut off at least once, and audibly, how many were missed, and the delays in seconds; a turn
    that never ended counts as 9 s.
    """
    delays = [9.0 if one.delay is None else one.delay for one in group]
    cut, audible = sum(bool(one.cuts) for one in group), sum(one.audible for one in group)
    return {
        "cases": len(group),
        "cut_off": cut,
        "share": round(cut / max(1, len(group)), 4),
        "audible": audible,
        "audible_share": round(audible / max(1, len(group)), 4),
        "missed": sum(one.delay is None for one in group),
        **{f"p{q}": round(float(np.quantile(delays, q / 100)), 3) for q in (25, 50, 75, 90)},
    }


class Hearing:
    """A recogniser for `pauses`, which gives it sound at 24 kHz."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def __call__(self, samples: np.ndarray) -> str:
        return self._decoder.decode(soxr.resample(samples, SAMPLE_RATE, 16_000).astype(np.float32))


def run_turns(
    *, cases: int = 0, part: int = 2, recordings: Path | None = None, people_in: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> TurnsResult:
    """Listens, with the app's own ears and judges, to the bench's questions (parts 0 and 1) and to what the voice says;
    also to MT-Bench spoken in `recordings`, and to the real speakers in `people_in`, where they are given. `part`: one
    of PARTS, by its place; `cases`: the first so many of each. Raises TranscriberError and VoiceError.
    """
    from app.stt import finished_words
    from app.stt.silero import SileroVoiceActivity
    from app.stt.smart_turn import SmartTurn
    from app.stt.whisper_decoder import WhisperDecoder
    from app.tts.piper import PiperVoice

    ears, voice = model_path("ears"), model_path("voice")
    if not ears.is_dir() or not model_path("end of turn").is_file():
        raise TranscriberError("The models that hear are not installed. Set the app up again: "
                               f"{completing_command()}.")  # fmt: skip
    decoder, judging = WhisperDecoder(ears), SmartTurn(model_path("end of turn"))
    result, hear = TurnsResult(), Hearing(decoder)
    progress("speaking and cutting the questions")
    found, left_out = bench_cases(hear, part)
    if recordings is not None:
        if not recordings.is_dir():
            raise TranscriberError(f"There is no folder {recordings}. Name one with recordings in it.")
        try:
            some, missing = recorded_cases(recordings, hear, part)
        except soundfile.LibsndfileError as error:
            sentence = f"A recording can't be read: {error} Each is to be VOICE/QUESTION_TURN.flac."
            raise TranscriberError(sentence) from error
        found, left_out = found + some, left_out + missing
    if voice.is_file():
        with PiperVoice(voice) as speaker:
            some, missing = spoken_cases(lambda text: speaker.synthesize(text).result().samples, hear, part, most=cases)
        found, left_out = found + some, left_out + missing
    else:
        result.left_out.append("The voice is not installed, so only recordings were heard.")
    found = found[: cases or None]
    if people_in is not None:
        try:
            found += people(people_in, hear, SileroVoiceActivity, part)[: cases or None]
        except (OSError, ValueError, KeyError, soundfile.LibsndfileError) as error:
            sentence = f"The recordings of people can't be read: {error}. The folder must hold manifest.jsonl."
            raise TranscriberError(sentence) from error
    if not found:
        raise TranscriberError("There is nothing to listen to: the voice is not installed. "
                               f"Set the app up again: {completing_command()}.")  # fmt: skip
    if left_out:
        result.left_out.append(f"{len(left_out)} could not be cut between two words: {', '.join(left_out)}.")
    words = finished_words.load()
    if words is None:
        result.left_out.append("The language model is not installed, so the words were judged by rules alone.")
    try:
        pauses: dict[str, PauseLengths] = {}
        for number, case in enumerate(found, 1):
            progress(f"case {number} of {len(found)}")
            known = pauses.setdefault(case.speaker, PauseLengths()) if case.speaker else None
            result.heard.append(follow(case, SileroVoiceActivity, decoder, judging, words, pauses=known))
    finally:
        if words is not None:
            words.close()
    return result
