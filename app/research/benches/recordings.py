"""Recordings for benches and training: reading, levelling, transcription for comparison, and asking questions in
sessions.

Sources are single sound files, folders with a manifest, and the benches' own spoken questions. A Whisper model
transcribes speech for word-by-word comparison. Loudness follows ITU-R BS.1770-5: K-weighted, gated, mono.

A `Conversation` asks questions in a session, in real or simulated time; its audio input and output behave like devices,
including the loudspeaker's prebuffer but not the hardware's buffers. A `Turn` holds the events after one question and
derives figures from them.
"""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self, TypeVar

import jiwer
import numpy as np
import soundfile
import soxr

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.audio.io.base import AudioSink
from app.audio.io.files import read_frames
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.platform.installation import resource
from app.research.results import unreadable
from app.session.control import SessionChoice
from app.session.session import Session
from app.stt.base import TranscriberError
from app.stt.streaming import RATE
from app.stt.whisper_library import faster_whisper
from app.tts.base import Voice
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording (float32 mono, 24 kHz) and its text. `end`: when the voice ends, in seconds, 0 if unknown; `kind`:
    the kind of speaker.
    """

    name: str
    text: str
    samples: np.ndarray
    end: float = 0.0
    speaker: str = ""
    kind: str = ""


def clean(name: str, text: str, samples: np.ndarray) -> Recording:
    """Creates a recording of clean audio, whose voice ends with its last audible sample."""
    return Recording(name, text, samples, voice_end(samples))


def load_questions(count: int | None = None) -> list[Recording]:
    """Loads the first `count` spoken questions of the benches, or all ten."""
    entries = json.loads(resource("bench", "questions.json").read_text("utf-8"))[:count]
    return [
        clean(
            f"{entry['question']}_{entry['turn']}",
            entry["text"],
            read_frames(resource("bench", *entry["file"].split("/"))),
        )
        for entry in entries
    ]


_SHELF = ((1.53512485958697, -2.69169618940638, 1.19839281085285), (1.0, -1.69065929318241, 0.73248077421585))
_HIGH_PASS = ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621))
"""The two filters of the recommendation, numerator and denominator, at 48 kHz."""
_FILTER_RATE = 48_000
_BLOCK, _STEP = 0.4, 0.1
_ABSOLUTE_GATE, _RELATIVE_GATE = -70.0, -10.0


def loudness(samples: np.ndarray, rate: int) -> float:
    """Returns the loudness in LUFS; minus infinity for silence."""
    size = max(len(samples), round(_BLOCK * rate))
    spectrum = np.fft.rfft(samples, 2 * size)
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(2 * size, 1 / rate) / _FILTER_RATE)
    for numerator, denominator in (_SHELF, _HIGH_PASS):
        spectrum *= np.polyval(numerator[::-1], z) / np.polyval(denominator[::-1], z)
    weighted = np.fft.irfft(spectrum)[:size]
    block, step = round(_BLOCK * rate), round(_STEP * rate)
    powers = np.array([np.mean(np.square(weighted[at : at + block])) for at in range(0, size - block + 1, step)])
    kept = powers[_level(powers) > _ABSOLUTE_GATE]
    if not len(kept):
        return float("-inf")
    kept = kept[_level(kept) > _level(np.mean(kept)) + _RELATIVE_GATE]
    return float(_level(np.mean(kept)))


def _level(power: np.ndarray | float) -> np.ndarray:
    return -0.691 + 10 * np.log10(np.maximum(power, 1e-20))


_HOP = SAMPLE_RATE // 50
SUFFIXES = (".flac", ".ogg", ".wav")
VOICE_FLOOR = 0.01
"""Amplitude above which audio counts as voice: -40 dBFS. The noise of the bench's own recordings is below -70 dBFS."""
SPEAKER_PARTS = ("fit", "choose", "report")
"""Speakers are split into these parts: to fit to, to choose between candidates with, and to report figures on. Nothing
is fitted to the last one."""
REPORTED = SPEAKER_PARTS.index("report")


def read_sound(file: Path | BinaryIO) -> np.ndarray:
    """Reads a sound file as float32 mono 24 kHz. Raises TranscriberError."""
    with unreadable(TranscriberError, f"The recording {file} can't be read ({{}}). Leave it out, or replace it."):
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    return soxr.resample(samples.mean(axis=1), rate, SAMPLE_RATE).astype(np.float32)


def sound_files(folder: Path) -> list[Path]:
    """Returns the sound files in a folder and its subfolders. Raises TranscriberError if there are none."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not found:
        kinds = ", ".join(suffix[1:].upper() for suffix in SUFFIXES)
        raise TranscriberError(f"There are no recordings in {folder}. Name a folder with {kinds} files in it.")
    return found


def load_recordings(folder: Path, *, part: int | None = None) -> list[Recording]:
    """Loads the recordings listed in `folder`/manifest.jsonl, one object per line with `file`, `session` (the speaker)
    and `text`. `part`: only speakers of this part. Raises TranscriberError.
    """
    sentence = (
        f"The recordings in {folder} can't be read: {{}}. The folder must hold a manifest.jsonl with one object "
        'a line: {"file": ..., "session": a number for the speaker, "text": what is said}.'
    )
    with unreadable(TranscriberError, sentence):
        return [
            Recording(entry["file"], entry["text"], read_sound(folder / entry["file"]), speaker=entry["session"])
            for entry in read_json_lines(folder / "manifest.jsonl", CORPUS, CORPUS_LINE)
            if part is None or speaker_part(entry["session"]) == part
        ]


def saying(voice: Voice) -> Callable[[str], np.ndarray]:
    """Returns a function that speaks a text with `voice`, float32 24 kHz."""
    return lambda text: voice.synthesize(text).result().samples


def speaker_part(speaker: str) -> int:
    """Returns the number of the part that a speaker belongs to: for the known callers, the one listed for them in
    `resources/bench/callers.json`; for others, any.
    """
    return _known_callers().get(speaker, sum(speaker.encode()) % len(SPEAKER_PARTS))


@functools.cache
def _known_callers() -> dict[str, int]:
    listed = json.loads(resource("bench", "callers.json").read_text("utf-8"))
    return {caller: part for part, name in enumerate(SPEAKER_PARTS) for caller in listed[name]}


def voice_end(samples: np.ndarray) -> float:
    """Returns when the voice in a clean recording ends, in seconds."""
    return float(np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[-1] + 1) / SAMPLE_RATE


def at_level(samples: np.ndarray, dbfs: float, *, peak: float = 1.0) -> np.ndarray:
    """Scales a recording so that its loud parts have this level, or a lower one if its peak would exceed `peak`."""
    powers = np.square(samples[: len(samples) // _HOP * _HOP], dtype=np.float64).reshape(-1, _HOP).mean(axis=1)
    loud = powers[powers > powers.max(initial=0.0) / 100]
    gain = 10 ** (dbfs / 20) / np.sqrt((loud.mean() if len(loud) else 0.0) + 1e-12)
    return (samples * min(gain, peak / (np.abs(samples).max(initial=0.0) + 1e-9))).astype(np.float32)


Span = tuple[float, float]
"""Start and end in seconds."""


def joined(spans: Iterable[Span], gap: float, shortest: float = 0.0) -> list[Span]:
    """Merges spans separated by less than `gap` seconds, then drops those shorter than `shortest`."""
    out: list[Span] = []
    for begin, end in spans:
        if out and begin - out[-1][1] < gap:
            out[-1] = (out[-1][0], end)
        else:
            out.append((begin, end))
    return [(begin, end) for begin, end in out if end - begin >= shortest]


def trim(samples: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Trims a recording to the first and last sample above `VOICE_FLOOR` or, if given, a share `floor` of its peak."""
    loud = np.flatnonzero(np.abs(samples) > (floor * np.abs(samples).max(initial=0.0) or VOICE_FLOOR))
    return samples[loud[0] : loud[-1] + 1].astype(np.float32) if len(loud) else samples[:0].astype(np.float32)


_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SPELLINGS = {"okay": "ok", "gonna": "going to", "wanna": "want to", "uh": "", "um": "", "ah": "", "er": "", "hmm": ""}


def word_distance(reference: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Returns the number of substitutions, insertions and deletions between two word lists (Levenshtein)."""
    if not reference or not words:
        return len(reference) + len(words)
    found = jiwer.process_words(" ".join(reference), " ".join(words))
    return found.substitutions + found.insertions + found.deletions


def normalised(text: str) -> tuple[str, ...]:
    """Returns words normalised for comparison: lower case, no punctuation, numbers below 100 as digits, no "um"."""
    out: list[str] = []
    tens = False
    for word in fold(text.replace("-", " ")):
        number = _NUMBERS.get(word)
        if tens and number is not None and 0 < number < 10:
            out[-1], tens = str(int(out[-1]) + number), False
            continue
        tens = number is not None and number >= 20
        out += [str(number)] if number is not None else _SPELLINGS.get(word, word).split()
    return tuple(out)


def compare(pairs: Iterable[tuple[str, str]]) -> jiwer.WordOutput:
    """Compares pairs of spoken and recognised text, after normalisation."""
    pairs = [(" ".join(normalised(said)), " ".join(normalised(heard))) for said, heard in pairs]
    return jiwer.process_words([said for said, _ in pairs], [heard for _, heard in pairs])


class Reader:
    """A Whisper model for CTranslate2 in `folder`, on `threads` threads (0: all). Raises TranscriberError."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        sentence = (
            f"There is no model that reads back in {folder} ({{}}). Name a folder with a Whisper model that was "
            "converted for CTranslate2."
        )
        with unreadable(TranscriberError, sentence):
            model = faster_whisper().WhisperModel
            self._model = model(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)

    def read(self, samples: np.ndarray, language: str = "en") -> str:
        """Transcribes `samples` (float32, 24 kHz)."""
        return " ".join(segment.text.strip() for segment in self._segments(samples, language=language))

    def words(self, samples: np.ndarray, language: str, **how: Any) -> list[tuple[str, float]]:
        """Transcribes `samples` (float32, 24 kHz); returns each word with its end in seconds."""
        segments = self._segments(samples, language=language, word_timestamps=True, **how)
        return [(word.word.strip(), float(word.end)) for segment in segments for word in segment.words]

    def _segments(self, samples: np.ndarray, **how: Any) -> Iterable[Any]:
        sound = soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32)
        return self._model.transcribe(sound, **{"beam_size": 5, "condition_on_previous_text": False, **how})[0]


PATIENCE_SECONDS = 40.0
"""Maximum wait for an answer."""
SETTLE_SECONDS = 1.0
"""Silence before the first question, and between an answer and the next question, so that it opens a new turn."""
RELEASE_SECONDS = 0.15
"""Time from the last word until the talk button is released."""

MakeSession = Callable[..., Session]
RunTalk = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine that holds conversations, on a loop in real or simulated time."""
Read = Callable[[np.ndarray], str]
"""Recognises the words in float32 audio at 24 kHz."""
Way = Literal["hands-free", "talk button", "typed"]
_Event = TypeVar("_Event", bound=e.Event)


def heard_in(events: Sequence[e.Event]) -> str:
    """Returns the final words of all turns, in order."""
    finals = {event.turn: event.text for event in events if isinstance(event, e.TranscriptFinal)}
    return " ".join(finals[turn] for turn in sorted(finals))


@dataclass(frozen=True, slots=True)
class Turn:
    """The events from one question to the next.

    `end`: the session time at which the question's voice ended; derived times are in seconds from then, negative before
    it. `over`: whether the answer ended before the wait timed out.
    """

    events: Sequence[e.Event]
    end: float
    over: bool = True

    def of(self, kind: type[_Event]) -> list[_Event]:
        """Returns the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def resumed(self) -> float:
        """When the user last resumed after a pause, in session time, or -1. An answer that started earlier is not the
        answer to the question.
        """
        return max((event.at for event in self.of(e.UserResumed)), default=-1.0)

    @property
    def words(self) -> list[e.AssistantSaid]:
        """The played words, with revision 0 for those of an opening."""
        return [event for event in self.of(e.AssistantSaid) if event.at > self.resumed]

    @property
    def starts(self) -> list[float]:
        """The times at which the assistant became audible."""
        return [event.at + PREBUFFER_SECONDS - self.end for event in self.of(e.AssistantStarted)]

    @property
    def first_sound(self) -> float | None:
        """When the answer, or its opening, became audible; None if it didn't."""
        return next((at for at in self.starts if at > self.resumed - self.end), None)

    @property
    def corrections(self) -> int:
        """How often the voice corrected itself."""
        return sum(event.how == "corrected" for event in self.of(e.AssistantCorrected))

    @property
    def failures(self) -> list[str]:
        """The error messages."""
        return [event.sentence for event in self.of(e.Failure)]


class Conversation:
    """Opens a session and asks questions in it. Propagates errors from opening a session.

    - `make`: creates the session
    - `simulated`: whether the running loop is in simulated time
    - `remember_seconds`: how much of the assistant's audio is kept for `read_back`
    - `devices`: the microphone and the loudspeaker, if they aren't the usual ones of a bench
    """

    def __init__(
        self,
        make: MakeSession,
        choice: SessionChoice,
        *,
        simulated: bool = False,
        remember_seconds: float = 0.0,
        devices: tuple[PacedAsker, AudioSink] | None = None,
    ) -> None:
        now = asyncio.get_running_loop().time if simulated else time.perf_counter
        self._asker, listener = devices or (PacedAsker(paced=not simulated), PacedListener(now))
        self._simulated = simulated
        how: dict[str, Any] = {"end_with_input": False, "remember_seconds": remember_seconds}
        self.session = make(choice, self._asker, listener, **how)
        self._events: list[e.Event] = []

    async def __aenter__(self) -> Self:
        await self.session.__aenter__()
        self.session.add_listener(self._events.append)
        await asyncio.sleep(SETTLE_SECONDS)
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.session.__aexit__(*exc)

    async def ask(
        self,
        question: Recording,
        way: Way = "hands-free",
        *,
        settle: float = SETTLE_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> Turn:
        """Asks a question, and waits until it and its answer have been over for `settle` seconds, or for `patience`
        seconds at most. A typed question counts as ending now.
        """
        talk = self.session
        self._events.clear()
        if way == "typed":
            talk.write(question.text)
            end = talk.clock()
        else:
            if way == "talk button":
                talk.press()
            end = self._asker.ask(question) + question.end
        if way == "talk button":
            await asyncio.sleep(max(0.0, end + RELEASE_SECONDS - talk.clock()))
            talk.release()
        over = await self._until_answered(end, settle, patience)
        return Turn(tuple(self._events), end, over)

    def sound_since(self, begin: float) -> np.ndarray | None:
        """Returns the assistant's audio since session time `begin` (float32, 24 kHz); None if it isn't kept."""
        return self.session.sound_of("assistant", begin, self.session.clock())

    async def read_back(self, read: Read, begin: float) -> str | None:
        """Returns the words recognised in the assistant's audio since session time `begin`; None without audio."""
        sound = self.sound_since(begin)
        if sound is None:
            return None
        # In simulated time the loop must not wait for a thread, whose time isn't simulated.
        return read(sound) if self._simulated else await asyncio.to_thread(read, sound)

    async def _until_answered(self, end: float, settle: float, patience: float) -> bool:
        talk, quiet_since = self.session, None
        while talk.clock() - end < patience:
            await asyncio.sleep(0.05)
            asked = any(isinstance(event, e.UserEnded | e.TranscriptFinal) for event in self._events)
            quiet_since = (quiet_since or talk.clock()) if asked and talk.quiet else None
            if quiet_since is not None and talk.clock() - max(quiet_since, end) > settle:
                return True
        return False
