"""Who holds the floor: onset, endpointing, barge-in, backchannel.

Fed once a frame with what a voice detector says of the user's sound; told, whenever they come, what
the words are and how finished they sound. Time is the sound's own. Pure: no model, no clock.

A turn may be taken early: when the user goes on within `reopen_seconds`, the same turn is open again
and the assistant yields. That is what makes a quick answer affordable: pauses inside a question can't
be told from its end by their sound alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.conversation import events as e
from app.conversation.words import fold, is_backchannel


@dataclass(frozen=True, slots=True)
class VoiceWindow:
    """One look of the voice detector: the 32 ms of sound up to `end`, in seconds of session time.

    `probability` is that somebody speaks; `hum` tells that the sound is a closed-mouth "mhm".
    """

    end: float
    probability: float
    hum: bool = False


@dataclass(frozen=True, slots=True)
class TakeFloor:
    """The user has finished turn `turn`: the assistant may speak."""

    turn: int


@dataclass(frozen=True, slots=True)
class Hold:
    """The user speaks: be silent, but keep what is left to say."""

    turn: int


@dataclass(frozen=True, slots=True)
class GoOn:
    """It was no interruption: say what is left."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """What is left to say is void. `user_speaks`: since the user has taken the floor; else it was mere noise."""

    user_speaks: bool = True


@dataclass(frozen=True, slots=True)
class Yield:
    """The user goes on with turn `turn`, which was taken too early: be silent and answer it anew."""

    turn: int


FloorCommand = TakeFloor | Hold | GoOn | Interrupt | Yield
TurnEvent = e.UserStarted | e.UserPaused | e.UserResumed | e.UserEnded | e.UserBackchannel


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Times in seconds, probabilities in [0, 1]. Silero's authors advise 0.5 and 0.15 less to go on."""

    onset_probability: float = 0.5
    offset_probability: float = 0.35
    onset_seconds: float = 0.064
    barge_in_seconds: float = 0.064
    hum_seconds: float = 0.64
    pause_seconds: float = 0.064
    quick_silence: float = 0.128
    request_silence: float = 0.24
    normal_silence: float = 0.72
    unfinished_silence: float = 1.4
    unsure_silence: float = 0.48
    plain_silence: float = 0.48
    reopen_seconds: float = 1.6
    backchannel_seconds: float = 0.9


_QUESTION_HEADS = frozenset(
    "who whom whose what which when where why how is are was were am do does did can could will would shall "
    "should may might must have has had isn't aren't don't doesn't didn't can't couldn't won't wouldn't "
    "what's who's where's how's".split()
)
_REQUEST_HEADS = frozenset(
    "explain describe tell give name list compare summarize summarise provide define discuss write suggest "
    "calculate compute solve find show identify outline say help translate please let's recommend propose "
    "create make draw".split()
)
_OPEN_TAILS = frozenset(
    "and or but because so if that which who the a an of to in on at with for from by as is are was were my "
    "your his her its our their this these those very um uh like than when while whether also then".split()
)
_LEADS = frozenset(
    "so and but then now well also okay ok please or".split()
)


def end_silence(words: str, finished: float | None, settings: TurnSettings) -> float:
    """Seconds of silence after which `words` are taken as a complete turn.

    `finished` is how finished the sound is (Smart Turn's probability), None while unknown. A question
    that also sounds finished is answered at once; a statement may be followed by its question, and gets
    the pause that speakers make between sentences (0.3 to 0.67 s in our recordings); an open clause waits.
    """
    last = _last_sentence(words)
    if finished is None or not last:
        return settings.normal_silence
    folded = fold(last)
    if not folded or (folded[-1] in _OPEN_TAILS and not last.endswith("?")):
        return settings.unfinished_silence
    if finished < 0.35:
        return settings.unfinished_silence if not last.endswith(("?", ".", "!")) else settings.normal_silence
    head = next((word for word in folded if word not in _LEADS), "")
    if last.endswith("?") or head in _QUESTION_HEADS or any(f" {q} " in f" {' '.join(folded)} " for q in _ASKING):
        return settings.quick_silence if finished >= 0.5 else settings.unsure_silence
    if head in _REQUEST_HEADS or any(word in _REQUEST_HEADS for word in folded):
        return settings.request_silence if finished >= 0.5 else settings.normal_silence
    # Something was asked already, and this may be what it was asked about ("… which one? Tyre, car, wheel.").
    opening = next((word for word in fold(words) if word not in _LEADS), "")
    asked = "?" in words or opening in _REQUEST_HEADS | _QUESTION_HEADS
    return settings.unsure_silence if asked and finished >= 0.9 else settings.normal_silence


_ASKING = ("what", "why", "how many", "how much", "how do", "how does", "how can", "how would", "where", "who is")


_SENTENCE_START = re.compile(r"(?<=[.?!]) (?=[A-Z\"“])")
"""A full stop before a small letter is the recogniser's, between two stretches of one sentence."""


def _last_sentence(words: str) -> str:
    return _SENTENCE_START.split(words.strip())[-1]


class TurnTracker:
    """Follows the floor, frame by frame.

    `duplex` on: the voice alone opens and closes turns. Off: `press` and `release` do (push-to-talk).
    `eager` on: words and sound tell a turn's end (`end_silence`). Off: a plain silence does, as in a cascade.
    `hear` returns what happened, in order: events for everyone, and commands for the front-end.
    """

    def __init__(
        self, settings: TurnSettings | None = None, *, duplex: bool = True, eager: bool = True
    ) -> None:
        self.settings = settings or TurnSettings()
        self.duplex = duplex
        self.eager = eager
        self.turn = 0
        self._state: Literal["silent", "speaking", "paused"] = "silent"
        self._run = 0.0  # seconds of unbroken voice
        self._hum = 0.0  # seconds of it that only hum
        self._voiced = 0.0  # seconds of voice in this turn
        self._last_voice = 0.0
        self._words = ""
        self._words_until = 0.0
        self._finished: float | None = None
        self._held = False
        self._pressed = False
        self._button: Literal["press", "release"] | None = None
        self._ended_turn_voice = -1e9

    @property
    def user_holds_floor(self) -> bool:
        """Whether a turn of the user is open."""
        return self._state != "silent"

    def hint_words(self, turn: int, text: str, heard_until: float) -> None:
        """The words of `turn` as far as they are known."""
        if turn == self.turn:
            self._words, self._words_until = text, heard_until

    def hint_finished(self, turn: int, probability: float, speech_end: float) -> None:
        """How finished the turn sounded at the pause that began at `speech_end`."""
        if turn == self.turn and abs(speech_end - self._last_voice) < 1e-6:
            self._finished = probability

    def press(self) -> None:
        """The talk button went down."""
        self._button = "press"

    def release(self) -> None:
        """The talk button went up."""
        self._button = "release"

    def hear(
        self, at: float, windows: Sequence[VoiceWindow], *, assistant_speaks: bool
    ) -> list[TurnEvent | FloorCommand]:
        """Takes the windows of one frame that ended at `at`; returns what follows from them, in order."""
        out: list[TurnEvent | FloorCommand] = []
        self._push(at, out, assistant_speaks)
        for window in windows:
            self._window(window)
            if not self._pressed and self.duplex and self._state == "silent":
                self._onset(window.end, out, assistant_speaks)
        if self._state != "silent" and not self._pressed:
            self._progress(at, out)
        return out

    def end_input(self, at: float) -> list[TurnEvent | FloorCommand]:
        """The sound has ended for good: closes an open turn."""
        out: list[TurnEvent | FloorCommand] = []
        if self._state != "silent":
            self._close(at, "input_end", out)
        return out

    def _window(self, window: VoiceWindow) -> None:
        floor = self.settings.offset_probability if self._run else self.settings.onset_probability
        length = 0.032
        if window.probability >= floor:
            self._run += length
            self._hum += length if window.hum else 0.0
            self._last_voice = window.end
            if self._state != "silent":
                self._voiced += length
            if self._state == "paused" and self._run >= self.settings.onset_seconds - 1e-9:
                self._state, self._finished = "speaking", None
        else:
            self._run = self._hum = 0.0

    def _onset(self, at: float, out: list[TurnEvent | FloorCommand], assistant_speaks: bool) -> None:
        s = self.settings
        need = s.barge_in_seconds if assistant_speaks else s.onset_seconds
        humming = assistant_speaks and self._run > 0 and self._hum >= 0.6 * self._run
        if self._run + 1e-9 < (s.hum_seconds if humming else need):
            return
        voiced = self._run
        if at - self._ended_turn_voice <= s.reopen_seconds:
            out.append(e.UserResumed(at, self.turn))
            out.append(Yield(self.turn))
        else:
            self._open(at, out)
            self._held = assistant_speaks
            # An answer that has not begun to sound is not worth holding back.
            out.append(Hold(self.turn) if assistant_speaks else Interrupt())
        self._state = "speaking"
        self._voiced, self._finished, self._last_voice = voiced, None, at

    def _open(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        self.turn += 1
        self._state, self._voiced, self._words, self._words_until = "speaking", 0.0, "", 0.0
        self._finished, self._held, self._last_voice = None, False, at
        out.append(e.UserStarted(at, self.turn))

    def _progress(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        s = self.settings
        quiet = at - self._last_voice
        if self._held and self._voiced >= s.backchannel_seconds:
            self._held = False
            out.append(Interrupt())
        if self._state == "speaking" and quiet >= s.pause_seconds:
            self._state = "paused"
            out.append(e.UserPaused(at, self.turn, self._last_voice))
        if self._state != "paused":
            return
        if self._held:
            self._settle_hold(at, quiet, out)
        elif quiet + 1e-9 >= self._silence_wanted():
            known = self.eager and self._finished is not None and bool(self._words)
            self._close(at, "words" if known and quiet < s.normal_silence else "silence", out)

    def _silence_wanted(self) -> float:
        if not self.eager:
            return self.settings.plain_silence
        return end_silence(self._words, self._finished, self.settings)

    def _settle_hold(self, at: float, quiet: float, out: list[TurnEvent | FloorCommand]) -> None:
        """The user spoke briefly over the assistant: the words tell whether it goes on."""
        known = self._words_until >= self._last_voice - 0.05
        if known and not is_backchannel(self._words):
            self._held = False
            out.append(Interrupt())
        elif (known and quiet >= 0.16) or quiet >= self.settings.normal_silence:
            self._held = False
            self._state = "silent"
            out.append(e.UserBackchannel(at, self.turn, self._words))
            out.append(GoOn())

    def _close(self, at: float, reason: str, out: list[TurnEvent | FloorCommand]) -> None:
        if self._held:
            self._held = False
            out.append(Interrupt())
        self._state, self._run, self._hum = "silent", 0.0, 0.0
        # A button says where a turn ends: what follows is a new one.
        self._ended_turn_voice = self._last_voice if reason in ("words", "silence") else -1e9
        out.append(e.UserEnded(at, self.turn, self._last_voice, reason))  # type: ignore[arg-type]
        out.append(TakeFloor(self.turn))

    def _push(self, at: float, out: list[TurnEvent | FloorCommand], assistant_speaks: bool) -> None:
        button, self._button = self._button, None
        if button == "press" and not self._pressed:
            self._pressed = True
            if self._state == "silent":
                self._open(at, out)
                out.append(Interrupt())
        elif button == "release" and self._pressed:
            self._pressed = False
            if self._state != "silent":
                self._close(at, "button", out)
