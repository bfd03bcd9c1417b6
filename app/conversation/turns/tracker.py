"""Tracks the user's turns: onset, endpointing, barge-in and backchannels.

Its input is the voice detector's windows of each frame and, whenever they arrive, the turn's words and the probability
that it is finished. Time is measured in audio, so it needs neither a model nor a clock.

A turn may be ended too early, since a pause within a question can't be distinguished from its end by sound alone. If
the user continues within `reopen_seconds`, the same turn is opened again and the assistant yields. Only this makes
quick answers possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.conversation import events as e
from app.conversation.turns.endpointing import EndWeights, PauseLengths
from app.conversation.turns.floor import FloorCommand, GoOn, Hold, Interrupt, Silence, TakeFloor, TurnEvent, Yield
from app.conversation.turns.voice import WINDOW_SECONDS, OwnWords, SpeechLevel, VoiceRun, VoiceSettings, VoiceWindow
from app.conversation.words import fold, is_backchannel


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Times in seconds. What counts as voice, and as an interruption, is in `voice`.

    - `pause_seconds`: one window of silence.
    - `patience` in [-1, 1]: shifts how long a pause must last to end the turn; 0 as fitted, 1 longest.
    - `ask_again`: silences after which the end of the turn is judged again, since longer ones say more.
    - `least_seconds`: the least silence that ends a turn whose answer may start immediately. Whole questions before a
      short pause, as in "Who wrote it, and when?", are then rarely answered.
    - `answer_seconds`: if a user says "yes" over the assistant and continues within this time, that was the beginning
      of their answer.
    - `far_seconds`: a distant voice that was heard over the assistant, or right after the user's turn, is still
      somebody else's when the assistant falls silent, until it has paused for this long.
    - `long_voice_seconds`, `long_seconds`: after this much voice, a turn ends only after this silence, since it is
      likely to have more sentences, and its answer is rarely ready sooner. Chosen on the odd questions of MT-Bench,
      spoken by two synthetic voices: an answer would be heard in a pause of 28 of 52 turns instead of 35; on the even
      ones, of 25 instead of 29. Of the callers' sentences, 3 to 7 % are as long: whether users need this is unknown.
    - `backchannel_seconds`: a sound of this length over the assistant interrupts it if the recogniser finds words in
      it. If it finds none, as in laughter, the assistant continues. If a slow recogniser has reported nothing by
      `wordless_seconds`, the sound interrupts.
    """

    voice: VoiceSettings = field(default_factory=VoiceSettings)
    pause_seconds: float = 0.032
    patience: float = 0.0
    ask_again: tuple[float, ...] = (0.16, 0.3, 0.5)
    least_seconds: float = 0.25
    far_seconds: float = 2.0
    long_voice_seconds: float = 5.0
    long_seconds: float = 0.5
    reopen_seconds: float = 1.6
    backchannel_seconds: float = 0.9
    hold_silence: float = 0.72
    answer_seconds: float = 1.5
    wordless_seconds: float = 1.6


TAP_SECONDS = 0.3
"""A shorter press of the talk button without a voice is a tap. No word is this short."""
TYPED_SILENCE_SECONDS = 0.2
"""After a typed turn, a voice opens a turn only once there has been this much silence."""
LEARNED_PAUSES = (0.15, 2.4)
"""Seconds. Shorter silences belong to words (a stop consonant closes for 0.1 s), longer ones to something else."""
COVERED_SECONDS = 0.05
"""Words that reach this close to the voice's end are complete."""
NEARLY_COVERED_SECONDS = 0.16
"""If words reach this close to the voice's end, only the decay of the last one is missing."""
WORDLESS_SECONDS = 0.5
"""The recogniser must have processed this much of a sound before it counts as wordless."""
WORDED_LOOKS = 2
"""How many consecutive decodes of a continuing sound must find words: a single one may mistake a laugh for words."""


EndReason = Literal["words", "silence", "button", "typed", "input_end"]
_NEVER = -1e9


class TurnTracker:
    """Tracks who holds the floor, frame by frame.

    - `ends`: the weights of endpointing.
    - `duplex`: the voice alone opens and closes turns; otherwise `press` and `release` do (push-to-talk).
    - `pauses`: how long this user pauses, which the tracker continues to learn.
    - `numbers`: returns the number of the next turn. It is shared with the session, which numbers typed turns.
    """

    def __init__(
        self,
        ends: EndWeights,
        settings: TurnSettings | None = None,
        *,
        duplex: bool = True,
        pauses: PauseLengths | None = None,
        numbers: Callable[[], int] | None = None,
    ) -> None:
        self.settings = settings or TurnSettings()
        self.ends = ends
        self.duplex = duplex
        self.pauses = pauses or PauseLengths()
        self.patience = self.settings.patience
        self.turn = 0
        self._numbers = numbers or itertools.count(1).__next__
        self._spare = 0  # the number of a turn that was taken back
        self._before = 0  # the turn before the one that the button opened
        self._state: Literal["silent", "speaking", "paused"] = "silent"
        self._run = VoiceRun(self.settings.voice)
        self._level = SpeechLevel()
        self.own_words = OwnWords()
        """The assistant's words that were played, since they may come back through the microphone."""
        self._onset_at = 0.0
        self._voiced = 0.0  # seconds of voice in this turn
        self._last_voice = 0.0
        self._words = ""
        self._language = "en"  # of the words
        self._words_until = 0.0
        self._finished: float | None = None
        self._asked = 0  # how often the end was judged again in this pause
        self._held = False
        self._wordless = False  # the assistant continues over this turn, since no words were found in it so far
        self._worded = 0  # how often in a row words were found in the turn
        self._pressed = False
        self._presses: list[bool] = []  # and releases since the last frame
        self._unannounced: e.UserStarted | None = None  # the turn that the button opened, while it may be a tap
        self._silences = self._drops = False
        self._waits_for_silence = False  # the voice has continued since before the last typed turn
        self._ended_turn_voice = _NEVER
        self._passed_voice = _NEVER  # end of a backchannel that may begin an answer
        self._far_voice = _NEVER  # when a distant voice was last ignored
        self._reported_pause = -1.0  # the speech end of the last UserPaused

    @property
    def user_holds_floor(self) -> bool:
        """Whether a turn of the user is open."""
        return self._state != "silent"

    @property
    def heard(self) -> str:
        """The turn's words if those known so far reach up to the end of the voice; else empty."""
        return self._words_up_to_the_end(COVERED_SECONDS)

    def _words_up_to_the_end(self, lag: float) -> str:
        return self._words if self._words_until >= self._last_voice - lag else ""

    def would_resume(self, at: float) -> bool:
        """Whether a voice at `at` resumes the turn that has just ended."""
        return at - self._ended_turn_voice <= self.settings.reopen_seconds

    def user_level(self, at: float) -> float | None:
        """Returns the level in dBFS that a voice at `at` is compared with; None while it isn't known."""
        return self._level.estimate(at, resumes=self.would_resume(at))

    def hint_words(self, turn: int, text: str, heard_until: float, language: str = "en") -> None:
        """Updates the words of `turn` and their language."""
        if turn == self.turn:
            self._words, self._words_until, self._language = text, heard_until, language
            self._worded = 0 if is_backchannel(text, language) else self._worded + 1

    def hint_finished(self, turn: int, probability: float, speech_end: float) -> None:
        """Updates the probability that the turn was finished at the pause that began at `speech_end`."""
        if turn == self.turn and abs(speech_end - self._last_voice) < 1e-6:
            self._finished = probability

    def silence(self) -> None:
        """The user has silenced the assistant. What they say next does not resume the turn that was answered."""
        self._silences = True

    def drop(self) -> None:
        """Ends the open turn without an answer."""
        self._drops = True

    def press(self) -> None:
        """The talk button went down."""
        self._presses.append(True)

    def release(self) -> None:
        """The talk button went up."""
        self._presses.append(False)

    def type(self, at: float, turn: int) -> list[TurnEvent | FloorCommand]:
        """Adds the typed turn `turn`, which interrupts the assistant and ends an open spoken turn.

        A continuing voice or noise opens no turn until there has been a silence; otherwise, nobody could type while a
        television is on.
        """
        out: list[TurnEvent | FloorCommand] = []
        if turn < self.turn:
            return out  # the user has begun to speak since
        if not self._take_back() and self._state != "silent":
            self._close(at, "button" if self._pressed else "words", out)
        self.turn, self._spare, self._words = turn, 0, ""
        self._ended_turn_voice = self._passed_voice = _NEVER
        self._pressed, self._waits_for_silence = False, self.duplex
        self._run.begin()
        out += (Interrupt(), TakeFloor(turn, explicit=True))
        return out

    def hear(
        self,
        at: float,
        windows: Sequence[VoiceWindow],
        *,
        assistant_speaks: bool,
        thinks_along: bool = False,
    ) -> list[TurnEvent | FloorCommand]:
        """Processes the voice detector's windows of a frame that ended at `at`; returns the events and the commands to
        the front-end that follow, in order.

        `thinks_along`: see `FrontEnd.thinks_along`; `TurnSettings.least_seconds` then applies.
        """
        out: list[TurnEvent | FloorCommand] = []
        self._run.own_level = self.user_level(at)
        self._apply_silence(out)
        self._apply_drop(at, out)
        self._apply_button(at, out)
        for window in windows:
            self._push_window(window)
            if not self._pressed and self.duplex and self._state == "silent":
                self._detect_onset(window.end, out, assistant_speaks)
        self._announce(at, out)
        if self._state != "silent" and not self._pressed:
            self._advance(at, self.settings.least_seconds if thinks_along else 0.0, out)
        return out

    def end_input(self, at: float) -> list[TurnEvent | FloorCommand]:
        """Closes an open turn at the end of all input."""
        out: list[TurnEvent | FloorCommand] = []
        if self._wordless:
            self._let_pass(at, out)
        elif not self._take_back() and self._state != "silent":
            self._close(at, "input_end", out)
        return out

    def _push_window(self, window: VoiceWindow) -> None:
        if not self._run.hear(window):
            return
        self._last_voice = window.end
        if self._state != "silent":
            self._voiced += WINDOW_SECONDS
            if window.level is not None:
                self._level.add(window.level)
        if self._state == "paused" and self._run.seconds >= self.settings.voice.barge_in_seconds - 1e-9:
            self._state, self._finished = "speaking", None
            self._learn_pause(window.end - self._run.seconds)

    def _learn_pause(self, until: float) -> None:
        """Learns from the pause that lasted until then, after which the turn went on."""
        length = until - self._reported_pause
        if not self._wordless and LEARNED_PAUSES[0] <= length <= LEARNED_PAUSES[1]:
            self.pauses.add(length)

    def _detect_onset(self, at: float, out: list[TurnEvent | FloorCommand], assistant_speaks: bool) -> None:
        if self._waits_for_silence:
            self._waits_for_silence = self._run.silence < TYPED_SILENCE_SECONDS
            return
        goes_on = self.would_resume(at)
        # A user who was answered a moment ago may well continue, so that takes less evidence than an interruption.
        run = self._run
        goes_on_far = at - self._far_voice <= self.settings.far_seconds
        if run.begins and run.is_far and (assistant_speaks or goes_on or goes_on_far):
            self._far_voice = at
            return
        if not (run.resumes if goes_on else run.interrupts if assistant_speaks else run.begins):
            return
        voiced = self._run.seconds
        if goes_on:
            out += (e.UserResumed(at, self.turn), Yield(self.turn))
            self._learn_pause(at - voiced)
        else:
            if at - self._passed_voice <= self.settings.answer_seconds:
                out.append(e.UserResumed(at, self.turn))  # the "yes" before was the beginning of this turn
                self._words, self._words_until, self._worded = "", 0.0, 0
            else:
                out.append(self._open(at))
            self._held = assistant_speaks
            # An answer that isn't audible yet isn't worth holding.
            out.append(Hold(self.turn) if assistant_speaks else Interrupt(turn=self.turn))
        self._state = "speaking"
        self._onset_at = at - voiced
        self._voiced, self._finished, self._last_voice = voiced, None, at

    def _open(self, at: float) -> e.UserStarted:
        self._before = self.turn
        self.turn, self._spare = self._spare or self._numbers(), 0
        self._level.start_turn()
        self._state, self._voiced, self._words, self._words_until = "speaking", 0.0, "", 0.0
        self._finished, self._held, self._last_voice, self._passed_voice = None, False, at, _NEVER
        self._wordless, self._worded = False, 0
        return e.UserStarted(at, self.turn)

    def _advance(self, at: float, least: float, out: list[TurnEvent | FloorCommand]) -> None:
        """Advances an open turn: echo, barge-in, pause, end. `least`: the least silence that ends it, in seconds."""
        s = self.settings
        quiet = at - self._last_voice
        if (self._held or self._wordless) and self.own_words.is_echo(
            self._words, onset=self._onset_at, voice_end=self._last_voice, language=self._language
        ):
            self._let_pass(at, out)
            self._passed_voice = _NEVER
            return
        if self._held and self._voiced >= s.backchannel_seconds:
            self._resolve_long_hold(out)
        elif self._wordless and self._worded >= WORDED_LOOKS:
            self._wordless = False
            out.append(Interrupt())
        # A click or a word's release in the silence isn't speech but moves the speech end, so the end is judged again.
        if self._run.silence + 1e-9 >= s.pause_seconds and (
            self._state == "speaking" or self._last_voice != self._reported_pause
        ):
            self._state, self._asked, self._reported_pause = "paused", 0, self._last_voice
            out.append(e.UserPaused(at, self.turn, self._last_voice))
        if self._state != "paused":
            return
        if self._held:
            self._resolve_hold(at, quiet, out)
        elif self._wordless:
            if quiet >= s.hold_silence:
                self._let_pass(at, out)
        elif quiet + 1e-9 >= max(self._end_silence(), least):
            likely = self._finished is not None and self._finished >= 0.5
            self._close(at, "words" if likely else "silence", out)
        elif self._asked < len(s.ask_again) and quiet >= s.ask_again[self._asked]:
            self._asked += 1
            if self._finished is not None:
                out.append(e.UserPaused(at, self.turn, self._last_voice))

    def _end_silence(self) -> float:
        """Seconds of silence that end the turn."""
        s = self.settings
        finished = self.ends.unknown if self._finished is None else self._finished
        wait = self.ends.wait(finished, slower=self.pauses.slower, patience=self.patience)
        if self._voiced < s.long_voice_seconds:
            return wait
        return max(wait, s.long_seconds * (1 + min(0.0, self.patience)))

    def _resolve_long_hold(self, out: list[TurnEvent | FloorCommand]) -> None:
        """Decides on a long sound over the assistant: words interrupt it; without words, it continues."""
        wordless = self._words_until >= self._onset_at + WORDLESS_SECONDS and not self._worded
        if self._worded >= WORDED_LOOKS or (self._voiced >= self.settings.wordless_seconds and not wordless):
            self._held = False
            out.append(Interrupt())
        elif wordless:
            self._held, self._wordless = False, True
            out.append(GoOn())

    def _resolve_hold(self, at: float, quiet: float, out: list[TurnEvent | FloorCommand]) -> None:
        """Decides by the words on a short sound over the assistant."""
        known = self._words_until >= self._last_voice - COVERED_SECONDS
        if known and not is_backchannel(self._words, self._language):
            self._held = False
            out.append(Interrupt())
        elif (known and quiet >= 0.08) or quiet >= self.settings.hold_silence:
            self._let_pass(at, out)

    def _let_pass(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        """Drops the turn, which was not an interruption. The assistant continues, unless it does already."""
        out.append(e.UserBackchannel(at, self.turn, self._words))
        if not self._wordless:
            out.append(GoOn())
        self._held = self._wordless = False
        self._state = "silent"
        self._run.begin()
        self._passed_voice = self._last_voice if fold(self._words) else _NEVER

    def _close(
        self, at: float, reason: EndReason, out: list[TurnEvent | FloorCommand], *, answered: bool = True
    ) -> None:
        if self._held or self._wordless:
            self._held = self._wordless = False
            out.append(Interrupt())
        if not is_backchannel(self._words, self._language):
            self._level.keep_turn(at)
        self._state = "silent"
        self._run.begin()
        # A button states where a turn ends, so a new one follows.
        self._ended_turn_voice = self._last_voice if reason in ("words", "silence") else _NEVER
        out.append(e.UserEnded(at, self.turn, self._last_voice, reason))
        if not answered:
            out.append(Silence(self.turn))
            return
        nearly = self._words_up_to_the_end(NEARLY_COVERED_SECONDS)
        out.append(TakeFloor(self.turn, self._last_voice, self.heard, reason == "button", nearly))

    def _apply_silence(self, out: list[TurnEvent | FloorCommand]) -> None:
        if self._silences:
            self._silences = False
            self._ended_turn_voice = self._passed_voice = _NEVER
            out.append(Silence(0 if self.user_holds_floor else self.turn))

    def _apply_drop(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        if not self._drops:
            return
        self._drops = self._pressed = False
        self._presses = []
        if self._take_back():
            out.append(Interrupt(user_speaks=False))
        elif self._state != "silent":
            self._close(at, "button", out, answered=False)

    def _apply_button(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        presses, self._presses = self._presses, []
        for pressed in presses:
            if pressed == self._pressed:
                continue
            self._pressed = pressed
            if not pressed and self._take_back():
                # A tap silences the assistant.
                self._silences = True
                out += (Interrupt(user_speaks=False), e.TalkTapped(at))
                self._apply_silence(out)
            elif not pressed and self._state != "silent":
                self._close(at, "button", out)
            elif pressed and self._state == "silent":
                self._unannounced = self._open(at)
                out.append(Interrupt(turn=self.turn))
            elif pressed and self._wordless:
                self._wordless = False
                out.append(Interrupt())

    def _announce(self, at: float, out: list[TurnEvent | FloorCommand]) -> None:
        """Reports the turn that the button has opened, once the press is too long for a tap."""
        started = self._unannounced
        if started is not None and (self._run.begins or at - started.at >= TAP_SECONDS - 1e-9):
            self._unannounced = None
            out.append(started)

    def _take_back(self) -> bool:
        """Drops the turn that has not been reported yet, if there is one."""
        if self._unannounced is None:
            return False
        self._unannounced, self._state = None, "silent"
        self.turn, self._spare = self._before, self.turn
        return True
