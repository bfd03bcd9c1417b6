"""One step of the frame loop: takes a frame of the user's audio and plays a frame of the assistant's.

A step drains the mailbox, tracks who has the floor, steps the front-end and writes to the loudspeaker. It returns what
happened as one `StepMessage`. What is said is decided by the front-end (`app.conversation.speaking.what_to_say`).

Between two steps, a front-end that thinks along gets the oracle's words that have arrived (`FrameStepper.prepare`), so
speech is synthesised before the next frame is complete.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.audio.io.resample import CLIPPED, peak_dbfs
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, Frame, silence
from app.conversation.speaking.revisions import OracleInput, OracleWords
from app.conversation.turns.floor import (
    FloorAfterGap,
    FloorCommand,
    GoOn,
    Hold,
    Interrupt,
    Silence,
    TakeFloor,
    TurnEvent,
    Yield,
)
from app.conversation.turns.tracker import TurnTracker
from app.conversation.turns.voice import VoiceWindow
from app.frontend.base import FrontEnd, FrontEndError, FrontEndInput, FrontEndStep, Mark, SetVoice
from app.session.clock import Timeline
from app.session.mailbox import (
    AskAloud,
    FinishedHint,
    Mailbox,
    Message,
    SetDuplex,
    SetPatience,
    SilenceAnswer,
    SwapFrontEnd,
    TalkButton,
    TurnInputs,
    TypedTurn,
    WordsHint,
)
from app.session.playback import GAUGE_FRAMES, AskedSound, EarlyBargeIn, Playback, SoundEvents
from app.tts.base import Voice

if TYPE_CHECKING:
    from app.session.parts import SessionParts

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepMessage:
    """The user's frame, the samples that were played for it (float32, a frame), and what happened.

    - `flushed`: samples written earlier that were discarded before they were played.
    - `lost`: why the front-end has failed; empty if it hasn't.
    - `silenced`: the turn whose answer the user has stopped, or 0.
    - `too_slow`: what the user should be told of a machine that is too slow, as a clause, or empty.
    - `voices`: the voices that the front-end received at this step. It uses the last one now.
    """

    frame: Frame
    samples: np.ndarray
    voiced: bool
    events: tuple[e.Event, ...]
    turn_events: tuple[TurnEvent, ...]
    flushed: int = 0
    assistant_dbfs: float = -120.0
    lost: str = ""
    silenced: int = 0
    too_slow: str = ""
    voices: tuple[Voice, ...] = ()


BROKEN = (
    "Something in the app broke while the voice engine “{name}” was working ({fault}). The conversation continues with "
    "the built-in voice. If it happens again, report this."
)

VOICED = 0.5
"""Probability of voice from which a frame counts as voiced."""


class _NoFrontEnd:
    """Stands in while a lost front-end is being replaced. It is silent."""

    name = "none"
    frame_samples = FRAME_SAMPLES
    hears_oracle = True
    loading = ""
    voice: Voice | None = None
    speaking = busy = idle = thinks_along = False

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        return FrontEndStep(silence(frame.length))

    def prepare(self, inputs: Sequence[OracleInput]) -> None:
        pass

    def unheard(self, samples: int, words: int) -> None:
        pass

    def __enter__(self) -> FrontEnd:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class FrameStepper:
    """Runs the steps. All calls come from the thread that reads the source between them.

    If the source provides parts of a frame as they arrive, an interruption is detected before the end of the frame.
    """

    def __init__(self, parts: SessionParts, tracker: TurnTracker, mailbox: Mailbox, clock: Timeline) -> None:
        self.frontend = parts.frontend
        self.tracker = tracker
        self._voice = EarlyBargeIn(parts.voice_activity, tracker.settings.voice, parts.source, parts.sink)
        self._mailbox = mailbox
        self._clock = clock
        self._edge = edge = parts.edge
        self._sound_events = SoundEvents(edge)
        self._playback = Playback(parts.sink, self._on_unheard, replaceable=edge is not None)
        self._waiting: list[FrontEndInput] = []  # held back while there is no loudspeaker
        self._fed: list[tuple[OracleWords, float]] = []  # since the last step, with when the front-end got them
        self._broken: Exception | None = None  # raised by the front-end since the last step
        self._turn_inputs = TurnInputs()
        self._after_gap = FloorAfterGap()
        self._asked = AskedSound(tracker, clock.frame_samples)
        self._ready = True
        self._goes_on = False  # the front-end has ignored a hold, since its model hears the user itself
        self._answering = 0
        self._over = 0  # the turn whose answer is over
        self._fades = False  # the loudspeaker is fading out, so the answer is silenced at the next step

    def step(self, frame: Frame, messages: Iterable[Message] | None = None) -> StepMessage:
        """Runs one step for `frame`. Raises AudioError when the sink is gone.

        `messages`: those that were posted before its end; None: all that are in the mailbox.

        For a lost frame, turns are tracked as if the user was silent, but the front-end isn't stepped: nothing could be
        played in that time, so an answer continues after it. A turn that ends in that time is answered a little later.
        """
        fades, self._fades = self._fades, False
        inputs, turn_events, events = self._sort_messages(
            frame, self._mailbox.drain() if messages is None else messages
        )
        asked = self._asked.next_frame() if not frame.lost else None
        if asked is not None:
            frame = dataclasses.replace(frame, samples=asked)
        if fades:
            self.tracker.silence()
        windows = self._voice.hear(frame)
        further_events, told_to_hold = self._track_turns(frame, windows, inputs)
        silenced = next((item for item in inputs if isinstance(item, Silence)), None)
        self._ready = self._edge is None or self._edge.ready
        self._waiting += self._after_gap.pass_on(inputs, frame.seconds, lost=bool(frame.lost))
        steps = self._ready and not frame.lost
        voices = tuple(item.voice for item in self._waiting if isinstance(item, SetVoice)) if steps else ()
        flushed = self._playback.lost_with_device()  # before the step, which begins where the sound was lost
        step, lost = self._step_frontend(frame) if steps else (FrontEndStep(silence(frame.length)), "")
        flushes = step.flush or (silenced is not None and self._ready)
        flushed += self._playback.flush() if flushes else 0
        hold_ignored = told_to_hold and steps and not flushes
        self._goes_on = self._goes_on or hold_ignored
        self._voice.stepped(flushed=flushes, hold_ignored=hold_ignored)
        events += self._play(frame, step, asked, writes=steps)
        sound = self._sound_events
        late = None if lost else step.late
        events += sound.after(frame, self._playback.new_underruns(), late=late, duplex=self.tracker.duplex)
        if silenced is not None and silenced.turn and silenced.turn != self._over:
            events.append(e.AssistantEnded(frame.at, silenced.turn, True))  # it had not begun
        levels = peak_dbfs(frame.samples), peak_dbfs(step.samples)
        clipped = bool(np.abs(frame.samples).max(initial=0.0) >= CLIPPED)
        late_ms = round((self._clock() - frame.at) * 1000, 1)
        events.append(e.LevelMeasured(frame.at, *levels, late_ms, clipped))
        end = frame.at + frame.seconds
        self._voice.listen(
            self._can_be_interrupted, self.tracker.user_level(end), goes_on=self.tracker.would_resume(end)
        )
        return StepMessage(
            frame=frame,
            samples=step.samples,
            voiced=any(w.probability >= VOICED for w in windows),
            events=tuple(events),
            turn_events=(*turn_events, *further_events),
            flushed=flushed,
            assistant_dbfs=levels[1],
            lost=lost,
            silenced=silenced.turn if silenced is not None else 0,
            too_slow=sound.too_slow,
            voices=voices,
        )

    def prepare(self) -> None:
        """Passes the oracle revisions that have arrived since the last step to a front-end that thinks along."""
        if not self.frontend.thinks_along or self._waiting or not self._ready or self._broken is not None:
            return
        inputs = self._mailbox.take_oracle()
        if not inputs:
            return
        for item in inputs:
            self._turn_inputs.add(item)
        now = self._clock()
        self._fed += [(item, now) for item in inputs if isinstance(item, OracleWords)]
        try:
            self.frontend.prepare(inputs)
        except Exception as error:
            self._broken = error

    # -- in

    def _sort_messages(
        self, frame: Frame, messages: Iterable[Message]
    ) -> tuple[list[FrontEndInput], list[TurnEvent], list[e.Event]]:
        """Follows the messages; returns inputs for the front-end, events of turns, and other events."""
        inputs: list[FrontEndInput] = []
        turn_events: list[TurnEvent] = []
        events: list[e.Event] = []
        for message in messages:
            match message:
                case TypedTurn(turn):
                    self._asked.leave()
                    turn_events += self._sort(self.tracker.type(frame.at, turn), inputs)[0]
                case WordsHint(turn, text, until, language):
                    self.tracker.hint_words(turn, text, until, language)
                case FinishedHint(turn, probability, speech_end):
                    self.tracker.hint_finished(turn, probability, speech_end)
                case AskAloud(samples):
                    self._asked.begin(samples) if samples is not None else self._asked.stop()
                case TalkButton(pressed):
                    self._asked.leave()
                    self.tracker.press() if pressed else self.tracker.release()
                case SilenceAnswer():
                    self._fades = self._voice.pause()
                    if not self._fades:
                        self.tracker.silence()
                case SetDuplex(duplex):
                    self.tracker.duplex = duplex
                case SetPatience(patience):
                    self.tracker.patience = patience
                case SwapFrontEnd(frontend):
                    self.frontend, self._goes_on, self._broken = frontend, False, None
                    inputs = self._turn_inputs.for_successor(self._waiting, inputs)
                    self._waiting = []
                    events.append(e.FrontEndChanged(frame.at, frontend.name))
                case _:
                    inputs.append(message)
                    self._turn_inputs.add(message)
        now, fed = self._clock(), self._fed
        self._fed = []
        for item, got in (*fed, *((item, now) for item in inputs if isinstance(item, OracleWords))):
            waited_ms = max(0.0, (got - item.posted_at) * 1000)
            events.append(e.OracleFed(frame.at, item.revision, len(item.text.split()), round(waited_ms, 1)))
        return inputs, turn_events, events

    def _track_turns(
        self, frame: Frame, windows: Sequence[VoiceWindow], inputs: list[FrontEndInput]
    ) -> tuple[list[TurnEvent], bool]:
        """Tracks who holds the floor; returns what `_sort` does."""
        facts = self.tracker.hear(
            frame.at,
            windows,
            assistant_speaks=self.frontend.speaking,
            thinks_along=self.frontend.thinks_along,
        )
        return self._sort(facts, inputs)

    def _sort(
        self, facts: Sequence[TurnEvent | FloorCommand], inputs: list[FrontEndInput]
    ) -> tuple[list[TurnEvent], bool]:
        """Adds the tracker's commands to `inputs`. Returns its events, and whether a speaking front-end must hold."""
        turn_events: list[TurnEvent] = []
        told_to_hold, speaking = False, self.frontend.speaking
        for fact in facts:
            if isinstance(fact, TakeFloor | Hold | GoOn | Interrupt | Yield | Silence):
                if isinstance(fact, TakeFloor):
                    self._over = 0
                inputs.append(fact)
                self._turn_inputs.add(fact)
                told_to_hold = told_to_hold or (speaking and isinstance(fact, Hold))
            else:
                turn_events.append(fact)
        if any(isinstance(event, e.UserEnded | e.UserBackchannel) for event in turn_events):
            self._voice.settled()
        return turn_events, told_to_hold

    # -- the front-end

    @property
    def _can_be_interrupted(self) -> bool:
        """Whether a voice that is detected now silences the front-end immediately."""
        return (
            self._ready
            and self.tracker.duplex
            and not self.tracker.user_holds_floor
            and self.frontend.speaking
            and not self._goes_on
        )

    def _step_frontend(self, frame: Frame) -> tuple[FrontEndStep, str]:
        """Steps the front-end; also returns why it has failed, if it has."""
        inputs, self._waiting = self._waiting, []
        # With push-to-talk, a front-end that listens to the user itself hears them only while the button is down.
        heard = (
            frame
            if self.tracker.duplex or self.tracker.user_holds_floor
            else dataclasses.replace(frame, samples=silence(frame.length))
        )
        broken, self._broken = self._broken, None
        try:
            if broken is not None:
                raise broken
            step = self.frontend.step(heard, inputs)
            for mark in step.marks:
                if mark.what in ("ended", "interrupted"):
                    self._turn_inputs.ended(mark.turn)
            return step, ""
        except FrontEndError as error:
            why = str(error)
        except Exception as error:
            _log.exception("The front-end broke at frame %d", frame.index)
            why = BROKEN.format(name=self.frontend.name, fault=f"{type(error).__name__}: {error}")
        sounding = self.frontend.speaking
        marks = (Mark("ended", self._answering),) if sounding else ()
        self.frontend = _NoFrontEnd()
        return FrontEndStep(silence(frame.length), marks=marks, flush=sounding), why

    def _on_unheard(self, samples: int, words: int) -> None:
        self.frontend.unheard(samples, words)

    # -- out

    def _play(self, frame: Frame, step: FrontEndStep, asked: np.ndarray | None, *, writes: bool) -> list[e.Event]:
        """Plays a step's audio and that of a question asked aloud; returns the events of the step and the loudspeaker.

        `writes` False: nothing is written, since there is no loudspeaker or the frame was lost.
        """
        playback, events = self._playback, list[e.Event]()
        if writes:
            sound = step.samples if asked is None else np.clip(step.samples + asked, -1.0, 1.0)
            playback.write(sound, speaking=self.frontend.speaking)
        for said in step.said:
            playback.add_words(frame.at, said)
        for mark in step.marks:
            event = self._mark_event(frame.at, mark)
            if isinstance(event, e.AssistantEnded):
                events += self._heard(frame.at, up_to_turn=event.turn)
            events.append(event)
        events += self._heard(frame.at)
        events += _of_model(frame, step)
        events += step.events
        if step.problem:
            events.append(e.Failure(frame.at, "tts", step.problem))
        if step.notice:
            events.append(e.Notice(frame.at, "tts", step.notice))
        return events

    def _heard(self, at: float, *, up_to_turn: int = 0) -> list[e.AssistantSaid]:
        heard = self._playback.heard(at, up_to_turn=up_to_turn)
        for event in heard:
            self.tracker.own_words.add(event.text, at)
        return heard

    def _mark_event(self, at: float, mark: Mark) -> e.Event:
        match mark.what:
            case "started":
                self._answering, self._over = mark.turn, 0
                return e.AssistantStarted(at, mark.turn, mark.revision)
            case "opened":
                return e.AssistantOpened(at, mark.turn)
            case "corrected":
                return e.AssistantCorrected(at, mark.turn, mark.revision, mark.how)
            case "held":
                return e.AssistantHeld(at, mark.turn)
            case "resumed":
                return e.AssistantResumed(at, mark.turn)
            case _:
                self._over = mark.turn
                return e.AssistantEnded(at, mark.turn, mark.what == "interrupted")


def _of_model(frame: Frame, step: FrontEndStep) -> list[e.Event]:
    """Returns the events about a front-end's own context and oracle stream."""
    events: list[e.Event] = []
    if step.oracle is not None:
        events.append(e.OracleTaken(frame.at, step.oracle.revision, step.oracle.taken, step.oracle.waiting))
    if step.context is not None:
        if step.context.restarted:
            events.append(e.ContextRestarted(frame.at, step.context.primed))
        if step.context.restarted or frame.index % GAUGE_FRAMES == 0:
            events.append(e.ContextMeasured(frame.at, step.context.frames, step.context.capacity))
    return events
