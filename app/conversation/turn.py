"""Who holds the floor: onset, endpointing, barge-in, backchannel.

Fed once a frame with what a voice detector says of the user's sound; told, whenever they come, what
the words are and how finished the turn seems. Time is the sound's own. Pure: no model, no clock.

A turn may be taken early: when the user goes on within `reopen_seconds`, the same turn is open again
and the assistant yields. That is what makes a quick answer affordable: pauses inside a question can't
be told from its end by their sound alone.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.conversation import events as e
from app.conversation.endpointing import EndWeights, PauseLengths
from app.conversation.voice import WINDOW_SECONDS, VoiceRun, VoiceSettings, VoiceWindow
from app.conversation.words import fold, is_backchannel, is_echo


@dataclass(frozen=True, slots=True)
class TakeFloor:
    """The user has finished turn `turn`: the assistant may speak.

    `speech_end`: when the voice was last heard, None where nothing was. `heard`: the turn's words, where those known by
    then reach up to the voice's end, else empty. `told`: the user has said that the turn is over, with the talk button
    or by typing; otherwise it is a guess.
    """

    turn: int
    speech_end: float | None = None
    heard: str = ""
    told: bool = False


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
    """Times in seconds, probabilities in [0, 1]. What counts as voice, and as an interruption, is in `voice`.

    `pause_seconds` is one window of silence. How long a pause must last to end the turn is told by `turn_end`;
    `patience` in [-1, 1] moves that, 0 as fitted, 1 the longest waits. `ask_again`: silence after which the judge is
    asked once more, because it hears more in the silence. `unready_seconds`: a turn that could not be answered at once
    ends no sooner than after so much silence, when an opening is nearly due: who goes on before that has not been cut
    off. `answer_seconds`: who says "yes" over the assistant and goes on so soon behind it has begun an answer.

    Who makes a sound over the assistant for `backchannel_seconds` interrupts it if the recogniser hears words in it,
    and lets it go on if it hears none, as in laughter. What the recogniser has told nothing of by `wordless_seconds`,
    since it is slow, interrupts.
    """

    voice: VoiceSettings = field(default_factory=VoiceSettings)
    pause_seconds: float = 0.032
    patience: float = 0.0
    ask_again: tuple[float, ...] = (0.16, 0.3, 0.5)
    unready_seconds: float = 0.66
    reopen_seconds: float = 1.6
    backchannel_seconds: float = 0.9
    hold_silence: float = 0.72
    answer_seconds: float = 1.5
    wordless_seconds: float = 1.6


TYPED_SILENCE_SECONDS = 0.2
"""After a turn that was typed, so much silence shows that what is heard then is not what was heard before."""

LEARNED_PAUSES = (0.15, 2.4)
"""Seconds. Shorter silences belong to words (a stop consonant closes for 0.1 s), longer ones to something else."""
COVERED_SECONDS = 0.05
"""Words that reach so near to the voice's end hold all that was said."""

WORDLESS_SECONDS = 0.5
"""So much of a sound is heard before no words in it mean that there are none."""
WORDED_LOOKS = 2
"""So many looks in a row at a sound that goes on have to find words in it: one alone may take a laugh for some."""

LEVEL_TURNS = 5
"""The user's own level is the median of so many of their last turns..."""
LEVEL_FADES_DB = 0.1
"""... and counts so much less with every second since then: who has moved away is heard again after a while."""

_SAID_SECONDS = 6.0
"""How long its own words are remembered: an utterance of the user's, and the way through the devices."""


class TurnTracker:
    """Follows the floor, frame by frame.

    `duplex` on: the voice alone opens and closes turns. Off: `press` and `release` do (push-to-talk).
    `ends`: the weights by which a turn is over. `pauses`: what is known of how long this user pauses, which the
    tracker goes on learning.
    `hear` returns what happened, in order: events for everyone, and commands for the front-end.
    """

    def __init__(
        self,
        ends: EndWeights,
        settings: TurnSettings | None = None,
        *,
        duplex: bool = True,
        pauses: PauseLengths | None = None,
    ) -> None:
        self.settings = settings or TurnSettings()
        self.ends = ends
        self.duplex = duplex
        self.pauses = pauses or PauseLengths()
        self.patience = self.settings.patience
        self.turn = 0
        self._state: Literal["silent", "speaking", "paused"] = "silent"
        self._run = VoiceRun(self.settings.voice)
        self._voiced = 0.0  # seconds of voice in this turn
        self._last_voice = 0.0
        self._said: deque[tuple[float, str]] = deque()  # the assistant's own words, each with when it was heard
        self._onset_at = 0.0
        self._turn_levels: list[float] = []  # of the voice in this turn
        self._own_levels: deque[float] = deque(maxlen=LEVEL_TURNS)  # of the last turns
        self._own_level_at = 0.0
        self.echoes = 0
        """How often its own words came back and were let pass."""
        self._words = ""
        self._language = "en"  # of the words
        self._words_until = 0.0
        self._finished: float | None = None
        self._asked = 0  # how often the judge was asked again in this pause
        self._held = False
        self._wordless = False  # the assistant goes on over this turn, since no words were heard in it so far
        self._worded = 0  # how often in a row the turn was told to have words
        self._pressed = False
        self._button: Literal["press", "release"] | None = None
        self._typed = 0  # turns that were typed since the last frame
        self._waits_for_silence = False  # what is heard since the last typed turn went on from before it
        self._ended_turn_voice = -1e9
        self._passed_voice = -1e9  # when a short word was over that was let pass, and may begin an answer
        self._told_pause = -1.0  # the end of speech that the last pause was told of with

    @property
    def user_holds_floor(self) -> bool:
        """Whether a turn of the user is open."""
        return self._state != "silent"

    @property
    def heard(self) -> str:
        """The turn's words, where those that are known reach up to the end of the voice; else empty."""
        return self._words if self._words_until >= self._last_voice - COVERED_SECONDS else ""

    def would_go_on(self, at: float) -> bool:
        """Whether who speaks at `at` goes on with the turn that has just ended."""
        return at - self._ended_turn_voice <= self.settings.reopen_seconds

    def own_level(self, at: float) -> float | None:
        """dBFS of the user's own speech, by their last turns; None: not known yet."""
        if not self._own_levels:
            return None
        return statistics.median(self._own_levels) - LEVEL_FADES_DB * (at - self._own_level_at)

    def hint_words(self, turn: int, text: str, heard_until: float, language: str = "en") -> None:
        """The words of `turn` as far as they are known, and their language."""
        if turn == self.turn:
            self._words, self._words_until, self._language = text, heard_until, language
            self._worded = 0 if is_backchannel(text, language) else self._worded + 1

    def hint_finished(self, turn: int, probability: float, speech_end: float) -> None:
        """How surely the turn was finished, by its sound and its words, at the pause that began at `speech_end`."""
        if turn == self.turn and abs(speech_end - self._last_voice) < 1e-6:
            self._finished = probability

    def said(self, text: str, at: float) -> None:
        """Words of the assistant were heard at `at`: they may come back through the microphone."""
        self._said.append((at, text))
        while self._said and at - self._said[0][0] > _SAID_SECONDS:
            self._said.popleft()

    def press(self) -> None:
        """The talk button went down."""
        self._button = "press"

    def release(self) -> None:
        """The talk button went up."""
        self._button = "release"

    def typed(self) -> None:
        """The user has typed a whole turn: it interrupts, and ends one that is still being spoken. A voice, or a noise,
        that goes on meanwhile opens no turn until there was a silence: or nobody could type beside it.
        """
        self._typed += 1

    def hear(
        self, at: float, windows: Sequence[VoiceWindow], *, assistant_speaks: bool, answer_ready: bool = True
    ) -> list[TurnEvent | FloorCommand]:
        """Takes the windows of one frame that ended at `at`; returns what follows from them, in order.

        `answer_ready` False: nothing could be said at once if the turn ended, so that it may as well wait a little.
        """
        out: list[TurnEvent | FloorCommand] = []
        self._run.own_level = self.own_level(at)
        self._push(at, out, assistant_speaks)
        for window in windows:
            self._window(window)
            if not self._pressed and self.duplex and self._state == "silent":
                self._onset(window.end, out, assistant_speaks)
        if self._state != "silent" and not self._pressed:
            self._progress(at, answer_ready, out)
        return out

    def end_input(self, at: float) -> list[TurnEvent | FloorCommand]:
        """The sound has ended for good: closes an open turn."""
        out: list[TurnEvent | FloorCommand] = []
        if self._wordless:
            self._let_pass(at, out)
        elif self._state != "silent":
            self._close(at, "input_end", out)
        return out

    def _window(self, window: VoiceWindow) -> None:
        if not self._run.hear(window):
            return
        self._last_voice = window.end
        if self._state != "silent":
            self._voiced += WINDOW_SECONDS
            if window.level is not None:
                self._turn_levels.append(window.level)
        if self._state == "paused" and self._run.seconds >= self.settings.voice.barge_in_seconds - 1e-9:
            self._state, self._finished = "speaking", None
            self._learn_pause(window.end - self._run.seconds)

    def _learn_pause(self, until: float) -> None:
        """The turn goes on behind the pause that lasted `until` then."""
        length = until - self._told_pause
        if not self._wordless and LEARNED_PAUSES[0] <= length <= LEARNED_PAUSES[1]:
            self.pauses.add(length)

    def _onset(self, at: float, out: list[TurnEvent | FloorCommand], assistant_speaks: bool) -> None:
        s = self.settings
        if self._waits_for_silence:
            self._waits_for_silence = self._run.silence < TYPED_SILENCE_SECONDS
            return
        goes_on = self.would_go_on(at)
        # Who was answered a moment ago may well go on: that takes less evidence than an interruption.
        if not (self._run.interrupts if assistant_speaks and not goes_on else self._run.begins):
            return
        voiced = self._run.seconds
        if goes_on:
            out.append(e.UserResumed(at, self.turn))
            out.append(Yield(self.turn))
            self._learn_pause(at - voiced)
        else:
            if at - self._passed_voice <= s.answer_seconds:
                out.append(e.UserResumed(at, self.turn))  # the "yes" that was let pass began this
                self._words, self._words_until, self._worded = "", 0.0, 0
            else:
                self._open(at, out)
            self._held = assistant_speaks
            # An answer that has not begun to sound is not worth holding back.
            out.append(Hold(self.turn) if assistant_speaks else Interrupt())
        self._state = "speaking"
        self._onset_at = at - voiced
        self._voiced, self._finished, self._last_voice = voiced, None, at

    def _open(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        self.turn += 1
        self._turn_levels = []
        self._state, self._voiced, self._words, self._words_until = "speaking", 0.0, "", 0.0
        self._finished, self._held, self._last_voice, self._passed_voice = None, False, at, -1e9
        self._wordless, self._worded = False, 0
        out.append(e.UserStarted(at, self.turn))

    def _progress(self, at: float, answer_ready: bool, out: list[TurnEvent | FloorCommand]) -> None:
        s = self.settings
        quiet = at - self._last_voice
        if (self._held or self._wordless) and self._is_own_echo():
            self.echoes += 1
            self._let_pass(at, out)
            self._passed_voice = -1e9
            return
        if self._held and self._voiced >= s.backchannel_seconds:
            self._judge_long_hold(out)
        elif self._wordless and self._worded >= WORDED_LOOKS:
            self._wordless = False
            out.append(Interrupt())
        # A click or a word's release in the silence is no speech yet, but a later end of it: the judge is told anew.
        if self._run.silence + 1e-9 >= s.pause_seconds and (
            self._state == "speaking" or self._last_voice != self._told_pause
        ):
            self._state, self._asked, self._told_pause = "paused", 0, self._last_voice
            out.append(e.UserPaused(at, self.turn, self._last_voice))
        if self._state != "paused":
            return
        if self._held:
            self._settle_hold(at, quiet, out)
        elif self._wordless:
            if quiet >= s.hold_silence:
                self._let_pass(at, out)
        elif quiet + 1e-9 >= max(self._silence_wanted(), 0.0 if answer_ready else s.unready_seconds):
            self._close(at, "words" if self._sounded_finished else "silence", out)
        elif self._asked < len(s.ask_again) and quiet >= s.ask_again[self._asked]:
            # The judge hears more in the silence that follows: it is asked once more.
            self._asked += 1
            if self._finished is not None:
                out.append(e.UserPaused(at, self.turn, self._last_voice))

    def _silence_wanted(self) -> float:
        finished = self.ends.unknown if self._finished is None else self._finished
        return self.ends.wait(finished, slower=self.pauses.slower, patience=self.patience)

    @property
    def _sounded_finished(self) -> bool:
        return self._finished is not None and self._finished >= 0.5

    def _judge_long_hold(self, out: list[TurnEvent | FloorCommand]) -> None:
        """The user has made a sound over the assistant for long: words interrupt it, and none let it go on."""
        wordless = self._words_until >= self._onset_at + WORDLESS_SECONDS and not self._worded
        if self._worded >= WORDED_LOOKS or (self._voiced >= self.settings.wordless_seconds and not wordless):
            self._held = False
            out.append(Interrupt())
        elif wordless:
            self._held, self._wordless = False, True
            out.append(GoOn())

    def _settle_hold(self, at: float, quiet: float, out: list[TurnEvent | FloorCommand]) -> None:
        """The user spoke briefly over the assistant: the words tell whether it goes on."""
        known = self._words_until >= self._last_voice - COVERED_SECONDS
        if known and not is_backchannel(self._words, self._language):
            self._held = False
            out.append(Interrupt())
        elif (known and quiet >= 0.08) or quiet >= self.settings.hold_silence:
            self._let_pass(at, out)

    def _is_own_echo(self) -> bool:
        own = [(when, text) for when, text in self._said if self._last_voice - when <= _SAID_SECONDS]
        if is_echo(self._words, " ".join(text for _, text in own), self._language):
            # A short echo comes while the words are said; who repeats two words does it behind them.
            near = " ".join(text for when, text in own if when >= self._onset_at - 0.5)
            return len(fold(self._words)) >= 4 or is_echo(self._words, near, self._language)
        return False

    def _let_pass(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        """It was no interruption: the turn is dropped and the assistant goes on."""
        told = self._wordless  # it goes on already
        self._held = self._wordless = False
        self._state = "silent"
        self._run.begin()
        self._passed_voice = self._last_voice if fold(self._words) else -1e9
        out.append(e.UserBackchannel(at, self.turn, self._words))
        if not told:
            out.append(GoOn())

    def _close(self, at: float, reason: str, out: list[TurnEvent | FloorCommand]) -> None:
        if self._held or self._wordless:
            self._held = self._wordless = False
            out.append(Interrupt())
        if self._turn_levels and reason != "typed" and not is_backchannel(self._words, self._language):
            # Four fifths of a turn's windows are softer: pauses, consonants, unstressed vowels.
            self._own_levels.append(sorted(self._turn_levels)[len(self._turn_levels) * 4 // 5])
            self._own_level_at = at
        self._state = "silent"
        self._run.begin()
        # A button says where a turn ends: what follows is a new one.
        self._ended_turn_voice = self._last_voice if reason in ("words", "silence") else -1e9
        out.append(e.UserEnded(at, self.turn, self._last_voice, reason))  # type: ignore[arg-type]
        speech_end = None if reason == "typed" else self._last_voice
        out.append(TakeFloor(self.turn, speech_end, self.heard, reason in ("button", "typed")))

    def _push(self, at: float, out: list[TurnEvent | FloorCommand], assistant_speaks: bool) -> None:
        button, self._button = self._button, None
        if button == "press" and not self._pressed:
            self._pressed = True
            if self._state == "silent":
                self._open(at, out)
                out.append(Interrupt())
            elif self._wordless:
                self._wordless = False
                out.append(Interrupt())
        elif button == "release" and self._pressed:
            self._pressed = False
            if self._state != "silent":
                self._close(at, "button", out)
        while self._typed:
            self._typed -= 1
            if self._state != "silent":
                self._close(at, "button" if self._pressed else "words", out)
            self._open(at, out)
            out.append(Interrupt())
            self._close(at, "typed", out)
            self._pressed, self._waits_for_silence = False, self.duplex
