"""The fast clock: one step every 80 ms, and the thread that repeats it.

A step drains the mailbox, asks the voice detector and the turn tracker, steps the front-end, and hands the
sound to the sink. What happened crosses to the event loop as one `StepMessage`. Knows nothing of Qt,
asyncio's tasks, or what anybody does with the events.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from app.audio.io.base import AudioSink, AudioSource, EndOfAudio, SoundEdge
from app.audio.io.errors import AudioError
from app.audio.io.levels import CLIPPED, peak_dbfs
from app.conversation import events as e
from app.conversation import turn as floor
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame, silence
from app.conversation.turn import TurnEvent, TurnTracker
from app.frontend.base import (
    FrontEnd,
    FrontEndError,
    FrontEndInput,
    FrontEndStep,
    Mark,
    OracleAsked,
    OracleCompleted,
    OracleDone,
    OracleWords,
    SetAnswerMode,
    SetDials,
    SetOpenings,
    SetVoice,
)
from app.session.clock import SessionClock
from app.session.early_barge_in import EarlyBargeIn
from app.session.lost_sound import LostSound
from app.session.mailbox import (
    FinishedHint,
    Mailbox,
    SetDuplex,
    SetPatience,
    SwapFrontEnd,
    TalkButton,
    TypedWords,
    WordsHint,
)
from app.stt.base import VoiceActivity
from app.tts.base import Voice

GAUGE_FRAMES = 12
"""The context's gauge is told about once a second."""

ECHO_TOLD_SECONDS = 300.0
"""That echo remains is said once in so long: whoever keeps the loudspeakers on has read it."""

FEW_SAMPLES = 240
"""10 ms: less than this is how far a sink's figures may be apart right after it was flushed."""

_LASTING = (SetDials, SetAnswerMode, SetOpenings)
"""What holds until it is said otherwise, whatever turn it is."""

BACKLOG_FRAMES = 5
"""More frames than this waiting (0.4 s) means that we have fallen behind: the newest one is next."""


ECHO_REMAINS = (
    "The microphone hears the app's own voice from the loudspeaker, so it may interrupt itself. Use headphones, turn "
    "the loudspeaker down or move it away from the microphone, or switch full duplex off and hold the button to talk."
)


@dataclass(frozen=True, slots=True)
class StepMessage:
    """What one step crossed with: the user's frame, what was given out for it, and all that happened."""

    frame: Frame
    samples: np.ndarray
    voiced: bool
    events: tuple[e.Event, ...]
    turn_events: tuple[TurnEvent, ...]
    flushed: int = 0
    dropped: int = 0
    """Frames before this one that were given up, to catch up with the microphone."""
    missing: int = 0
    """Frames before this one that the device lost."""
    user_dbfs: float = -120.0
    assistant_dbfs: float = -120.0
    late_ms: float = 0.0
    clipped: bool = False
    typed: tuple[str, ...] = ()
    """The words of the turns in `turn_events` that ended because they were typed, in their order."""
    lost: str = ""
    """Why the front-end can't go on, if it can't: another one is wanted."""
    voices: tuple[Voice, ...] = ()
    """The voices that the front-end was given at this step: the last one is its own from now on."""


class _Mute:
    """Stands in while a front-end that was lost is replaced: silent, and deaf."""

    name = "none"
    hears_oracle = True
    needs = ""
    voice = None
    speaking = busy = False
    idle = False

    def ready(self, heard: str) -> bool:
        return True

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        return FrontEndStep(silence())

    def unheard(self, samples: int, words: int) -> None:
        pass

    def __enter__(self) -> _Mute:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


@dataclass(slots=True)
class _Pending:
    """Words on their way to the loudspeaker: heard when sample `end` of all that was written has played."""

    end: int
    event: e.AssistantSaid


class FrameStepper:
    """One step; see the module's docstring. All calls on one thread, the one that reads `source` between them.

    Where `source` tells what of a frame is ready, an interruption is noticed before its end: see `EarlyBargeIn`.
    """

    def __init__(
        self,
        *,
        frontend: FrontEnd,
        sink: AudioSink,
        voice_activity: VoiceActivity,
        tracker: TurnTracker,
        mailbox: Mailbox,
        clock: SessionClock,
        edge: SoundEdge | None = None,
        source: AudioSource | None = None,
    ) -> None:
        self.frontend = frontend
        self.tracker = tracker
        self._sink = sink
        self._voice = EarlyBargeIn(voice_activity, tracker.settings.voice, source, sink)
        self._goes_on = False  # the front-end did at a hold: its model hears the user itself
        self._mailbox = mailbox
        self._clock = clock
        self._edge = edge
        self._ready = True
        self._muted = False
        self._sink_flushed = 0
        self._waiting: list[FrontEndInput] = []  # for a front-end that pauses, since nobody would hear it
        self._echo_told_at = -1e9
        self._pending: deque[_Pending] = deque()
        self._underruns = 0
        self._written = 0
        self._of_turn: list[FrontEndInput] = []  # what a front-end would need that took over now
        self._turn = 0
        self._answering = 0

    def step(self, frame: Frame, *, dropped: int = 0, missing: int = 0) -> StepMessage:
        """Runs one step for `frame`. Raises AudioError when the sink is gone."""
        self._clock.frame_ended(frame.index)
        inputs: list[FrontEndInput] = []
        events: list[e.Event] = []
        typed: list[str] = []
        for message in self._mailbox.drain():
            match message:
                case TypedWords(text):
                    self.tracker.typed()
                    typed.append(text)
                case WordsHint(turn, text, until, language):
                    self.tracker.hint_words(turn, text, until, language)
                case FinishedHint(turn, probability, speech_end):
                    self.tracker.hint_finished(turn, probability, speech_end)
                case TalkButton(pressed):
                    self.tracker.press() if pressed else self.tracker.release()
                case SetDuplex(duplex):
                    self.tracker.duplex = duplex
                case SetPatience(patience):
                    self.tracker.patience = patience
                case SwapFrontEnd(frontend):
                    self.frontend, self._goes_on = frontend, False
                    # What came before in this drain is in the turn's record, too.
                    waited = [item for item in self._waiting if not isinstance(item, floor.FloorCommand)]
                    inputs = [item for item in (*waited, *inputs) if not _belongs_to_turn(item)]
                    self._waiting = []
                    inputs = [*self._of_turn, *inputs]
                    events.append(e.FrontEndChanged(frame.at, frontend.name))
                case _:
                    inputs.append(message)
                    self._remember(message)
        for item in inputs:
            if isinstance(item, OracleWords):
                waited = max(0.0, (self._clock() - item.posted_at) * 1000)
                words = len(item.text.split())
                events.append(e.OracleFed(frame.at, item.revision, words, round(waited, 1)))
        if dropped or missing:
            self._voice.dropped()
        windows = self._voice.hear(frame)
        turn_events: list[TurnEvent] = []
        told_to_stop = False
        speaking = self.frontend.speaking
        ready = self.frontend.ready(self.tracker.heard)
        for fact in self.tracker.hear(frame.at, windows, assistant_speaks=speaking, answer_ready=ready):
            if isinstance(fact, floor.TakeFloor | floor.Hold | floor.GoOn | floor.Interrupt | floor.Yield):
                inputs.append(fact)
                self._remember(fact)
                told_to_stop = told_to_stop or (speaking and isinstance(fact, floor.Hold))
            else:
                turn_events.append(fact)
        if any(isinstance(event, e.UserEnded | e.UserBackchannel) for event in turn_events):
            self._voice.settled()
        self._ready = self._edge is None or self._edge.ready
        events += self._of_edge(frame)
        self._waiting += inputs
        lost = ""
        voices = tuple(item.voice for item in self._waiting if isinstance(item, SetVoice)) if self._ready else ()
        try:
            step = self._step_frontend(frame)
        except FrontEndError as error:
            sounding = self.frontend.speaking
            marks = (Mark("ended", self._answering),) if sounding else ()
            lost, step = str(error), FrontEndStep(silence(), marks=marks, flush=sounding)
            self.frontend = _Mute()
        flushed = self._flush() if step.flush else self._take_back()
        in_vain = told_to_stop and self._ready and not step.flush
        self._goes_on = self._goes_on or in_vain
        self._voice.stepped(flushed=step.flush, in_vain=in_vain)
        if self._ready:
            self._write(step.samples)
        for said in step.said:
            end = self._written - FRAME_SAMPLES + said.end
            event = e.AssistantSaid(frame.at, said.turn, said.text, said.revision, said.glued)
            self._pending.append(_Pending(end, event))
        for mark in step.marks:
            event = self._mark_event(frame.at, mark)
            if isinstance(event, e.AssistantEnded):
                events += self._heard(frame.at, up_to_turn=event.turn)
            events.append(event)
        events += self._heard(frame.at)
        events += self._of_model(frame, step)
        if step.problem:
            events.append(e.Failure(frame.at, "tts", step.problem))
        if self._sink.underruns > self._underruns:
            events.append(e.Underrun(frame.at, self._sink.underruns - self._underruns))
            self._underruns = self._sink.underruns
        self._voice.listen(
            self._can_be_interrupted,
            self.tracker.own_level(frame.at),
            goes_on=self.tracker.would_go_on(frame.at + FRAME_SECONDS),
        )
        return StepMessage(
            frame=frame,
            samples=step.samples,
            voiced=any(w.probability >= 0.5 for w in windows),
            events=tuple(events),
            turn_events=tuple(turn_events),
            flushed=flushed,
            dropped=dropped,
            missing=missing,
            user_dbfs=peak_dbfs(frame.samples),
            assistant_dbfs=peak_dbfs(step.samples),
            late_ms=round((self._clock() - frame.at) * 1000, 1),
            clipped=bool(np.abs(frame.samples).max(initial=0.0) >= CLIPPED),
            typed=tuple(typed),
            lost=lost,
            voices=voices,
        )

    @property
    def _can_be_interrupted(self) -> bool:
        """Whether somebody who speaks now makes the front-end fall silent at once."""
        return (
            self._ready
            and self.tracker.duplex
            and not self.tracker.user_holds_floor
            and self.frontend.speaking
            and not self._goes_on
        )

    def _step_frontend(self, frame: Frame) -> FrontEndStep:
        """Steps the front-end; while there is no loudspeaker it pauses, and what is for it waits."""
        if not self._ready:
            return FrontEndStep(silence())
        inputs, self._waiting = self._waiting, []
        return self.frontend.step(self._what_it_hears(frame), inputs)

    def _of_edge(self, frame: Frame) -> list[e.Event]:
        """What happened to the devices, and how the edge does."""
        if self._edge is None:
            return []
        events: list[e.Event] = [
            e.DeviceChanged(frame.at, notice.kind, notice.change, notice.name, notice.sentence)
            for notice in self._edge.notices()
        ]
        # Told once it is so: the frame itself is the proof.
        if self._edge.muted != self._muted and not (self._edge.muted and frame.samples.any()):
            self._muted = self._edge.muted
            events.append(e.MicrophoneMuted(frame.at, self._muted))
        if frame.index % GAUGE_FRAMES == 0:
            health = self._edge.health()
            events.append(
                e.SoundMeasured(
                    frame.at,
                    health.erle_db,
                    health.echo_remains,
                    health.drift_ppm,
                    health.overrun_ms,
                    health.underruns,
                )
            )
            if health.echo_remains and self.tracker.duplex and frame.at - self._echo_told_at > ECHO_TOLD_SECONDS:
                self._echo_told_at = frame.at
                events.append(e.Failure(frame.at, "audio", ECHO_REMAINS, about="echo"))
        return events

    def _what_it_hears(self, frame: Frame) -> Frame:
        """With the talk button, a front-end that listens by itself hears the user only while it is down."""
        if self.tracker.duplex or self.tracker.user_holds_floor:
            return frame
        return Frame(frame.index, silence())

    def _remember(self, item: object) -> None:
        """Keeps what belongs to the newest turn, for a front-end that may have to take over in it."""
        if isinstance(item, OracleAsked | floor.TakeFloor) and item.turn > self._turn:
            self._turn = item.turn
            self._of_turn = [kept for kept in self._of_turn if isinstance(kept, _LASTING)]
        if isinstance(item, _LASTING):
            self._of_turn = [kept for kept in self._of_turn if type(kept) is not type(item)]
        if isinstance(item, floor.Interrupt | floor.Yield):
            self._of_turn = [kept for kept in self._of_turn if not isinstance(kept, floor.TakeFloor)]
        elif _belongs_to_turn(item) or isinstance(item, _LASTING):
            self._of_turn.append(item)  # type: ignore[arg-type]

    def _of_model(self, frame: Frame, step: FrontEndStep) -> list[e.Event]:
        """What a front-end with a memory and an oracle of its own tells of them."""
        events: list[e.Event] = []
        if step.oracle is not None:
            events.append(e.OracleTaken(frame.at, step.oracle.revision, step.oracle.taken, step.oracle.waiting))
        if step.context is not None:
            if step.context.began_anew:
                events.append(e.ContextRestarted(frame.at, step.context.primed))
            if step.context.began_anew or frame.index % GAUGE_FRAMES == 0:
                events.append(e.ContextMeasured(frame.at, step.context.frames, step.context.capacity))
        return events

    def _write(self, samples: np.ndarray) -> None:
        if self._sink.keeps_time or self.frontend.speaking or samples.any():
            self._sink.write(samples)
            self._written += len(samples)
        else:
            # Nothing to say: the sink idles, so that the next answer starts at once and not behind silence.
            self._sink.write(samples[:0])

    def _flush(self) -> int:
        """Silences what is not played yet; what nobody heard was not said."""
        self._take_back()  # a loudspeaker may go at this very moment
        reached = self._written - self._sink.queued
        thrown = self._sink.flush()
        self._was_unheard(reached, thrown)
        self._sink_flushed = self._sink.flushed
        return thrown

    def _take_back(self) -> int:
        """A loudspeaker that went took with it what it had not played: that is still to be said."""
        if self._edge is None:
            return 0
        flushed = self._sink.flushed  # it may rise at any moment
        thrown, self._sink_flushed = flushed - self._sink_flushed, flushed
        if thrown < FEW_SAMPLES:
            return 0
        self._was_unheard(self._written - self._sink.queued - thrown, thrown)
        return thrown

    def _was_unheard(self, reached: int, thrown: int) -> None:
        """What was written behind sample `reached` was thrown away, `thrown` samples."""
        unheard = [p for p in self._pending if p.end > reached]
        for _ in unheard:
            self._pending.pop()
        self.frontend.unheard(thrown, len(unheard))

    def _heard(self, at: float, *, up_to_turn: int = 0) -> list[e.AssistantSaid]:
        """The words that have been played by now; all of the turns that are over, up to this one."""
        reached = self._written - self._sink.queued
        out: list[e.AssistantSaid] = []
        while self._pending and (self._pending[0].event.turn <= up_to_turn or self._pending[0].end <= reached):
            event = self._pending.popleft().event
            self.tracker.said(event.text, at)
            out.append(dataclasses.replace(event, at=at))
        return out

    def _mark_event(self, at: float, mark: Mark) -> e.Event:
        match mark.what:
            case "started":
                self._answering = mark.turn
                return e.AssistantStarted(at, mark.turn, mark.revision)
            case "opened":
                return e.AssistantOpened(at, mark.turn)
            case "mended":
                return e.AssistantCorrected(at, mark.turn, mark.revision, mark.how)
            case "held":
                return e.AssistantHeld(at, mark.turn)
            case "went_on":
                return e.AssistantResumed(at, mark.turn)
            case _:
                return e.AssistantEnded(at, mark.turn, mark.what == "interrupted")


def _belongs_to_turn(item: object) -> bool:
    return isinstance(item, OracleAsked | OracleWords | OracleCompleted | OracleDone | floor.TakeFloor)


class FrameThread:
    """Steps in real time on a thread of its own, until `stop`.

    `deliver` gets each StepMessage, `failed` a sentence when the sound's edge is gone, `over` is called when
    a finite source has ended (the user is silent from then on). They are called on this thread and must
    only hand over.
    """

    def __init__(
        self,
        stepper: FrameStepper,
        source: AudioSource,
        deliver: Callable[[StepMessage], None],
        failed: Callable[[str], None],
        over: Callable[[], None],
        *,
        now: Callable[[], float],
    ) -> None:
        self._stepper = stepper
        self._source = source
        self._deliver = deliver
        self._failed = failed
        self._over = over
        self._now = now
        self._lost = LostSound()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frames", daemon=True)

    def start(self) -> None:
        """Begins to step."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and waits for it."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        index, ended_at = 0, None
        try:
            while not self._stop.is_set():
                dropped = missing = 0
                if ended_at is not None:
                    # The file is over: silence, at the pace of the sound before it.
                    ended_at += FRAME_SECONDS
                    self._stop.wait(max(0.0, ended_at - self._now()))
                    samples = silence()
                else:
                    if self._source.backlog > BACKLOG_FRAMES:
                        dropped = self._source.drop_to_newest()
                    try:
                        taken = self._source.read_frame(0.2)
                    except EndOfAudio:
                        ended_at = self._now()
                        self._over()
                        continue
                    if taken is None:
                        continue
                    samples = taken
                    index += dropped
                    missing = self._lost.missing(self._now(), index, self._source.backlog)
                    index += missing
                self._deliver(self._stepper.step(Frame(index, samples), dropped=dropped, missing=missing))
                index += 1
        except AudioError as error:
            self._failed(str(error))
        except Exception as error:
            self._failed(
                f"The frame loop broke ({type(error).__name__}: {error}). This is a fault of the app: the talk is "
                "over, what was said stays. Start it anew."
            )
