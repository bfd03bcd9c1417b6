"""The tandem: runs the two clocks side by side, and tells everyone what happens.

Puts together what others do: frame loop, ears, oracle runner, recorder. Knows protocols only, no concrete
front-end, back-end or device. Lives on one event loop; its only other threads are its parts' own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import numpy as np

from app.audio.io.base import EndOfAudio
from app.audio.io.errors import AudioError
from app.conversation import events as e
from app.conversation import turn as floor
from app.conversation.frame import FRAME_SECONDS, Frame, silence
from app.conversation.sound_processing import Processing
from app.conversation.transcript import Transcript
from app.conversation.turn import TurnTracker
from app.frontend.base import FrontEndError, SetAnswerMode, SetDials, SetOpenings
from app.session.backend_controller import BackendController, BackendControllerParts
from app.session.clock import SessionClock
from app.session.control import BackendChoice, Speaker, SpeechChoice, Style, ToolChoice
from app.session.frame_loop import FrameStepper, FrameThread, StepMessage
from app.session.loading import Loader
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
from app.session.parts import SessionConfig, SessionParts
from app.session.sound_memory import SoundMemory
from app.session.speech_controller import SpeechController
from app.session.transcriber_swap import SwappableTranscriber
from app.stt.base import TranscriptUpdate
from app.stt.endpointing_weights import end_weights

SLOW_WINDOW_SECONDS = 10.0
SLOW_SECONDS = 1.0
"""So much dropped sound within the window is said to the user."""

DEAF_TO_TYPING = (
    "only hears and speaks: it can't read what you type. Say it, or choose a voice that is told what to say, KAME or "
    "the cascade."
)

SOUNDING_DBFS = -60.0
"""Peak level above which a frame that was given out may be heard in the room."""
ECHO_SECONDS = 0.5
"""How long after it was given out a frame may still be in the microphone: the devices' buffers, and the room."""

QUIET_SECONDS = 0.4
"""A file's talk is over when all has been silent for this long behind its end."""


class Session:
    """One talk. `async with Session(parts, config) as session: await session.ended()`.

    Entering opens all parts (BackendError, TranscriberError, VoiceError, AudioError pass through) and
    starts; leaving stops and waits for everything.
    """

    def __init__(self, parts: SessionParts, config: SessionConfig) -> None:
        self.parts = parts
        self.config = config
        self.transcript = Transcript()
        self.mailbox = Mailbox()
        self.sound = SoundMemory(config.remember_seconds) if config.remember_seconds else None
        self.frames = 0
        self._listeners: list[Callable[[e.Event], None]] = []
        self._early: list[e.Event] = []  # what happened before anybody listened
        self._loader = Loader(parts, simulated=config.pace == "simulated")
        self._done = asyncio.Event()
        self._over = False
        self._main: asyncio.Task[None] | None = None
        self._thread: FrameThread | None = None
        self._input_over_at: float | None = None
        self._last_activity = 0.0
        self._silent_since = 0.0  # from when on the microphone hears nothing of what was given out
        self._shed = 0
        self._newest_turn = 0  # that was begun, or typed
        self._answer_mode: e.AnswerMode = config.answer_mode
        self.backends = BackendController(
            BackendControllerParts(
                parts.backend,
                parts.make_backend,
                parts.make_tools,
                parts.cost,
                parts.paces,
                config.choice,
                config.style,
                config.cap,
                config.earlier,
            ),
            self.transcript,
            post=self.mailbox.post,
            emit=self._emit,
            now=lambda: self.clock(),
        )
        self.backends.language = config.language
        parts.transcriber = ears = SwappableTranscriber(parts.transcriber)
        self.speech = SpeechController(
            parts,
            ears,
            config.speech,
            config.style.voice,
            config.first_voice,
            simulated=config.pace == "simulated",
            post=self.mailbox.post,
            emit=self._emit,
            now=lambda: self.clock(),
        )
        self._replacing: asyncio.Task[None] | None = None
        self._drops: list[tuple[float, int]] = []
        self._slow_told_at = -1e9

    # -- life --------------------------------------------------------------------------------------

    async def __aenter__(self) -> Session:
        loop = asyncio.get_running_loop()
        parts = self.parts
        clocks = {"real": time.perf_counter, "simulated": loop.time, "fast": None}
        self.clock = SessionClock(clocks[self.config.pace])
        try:
            await self._loader.load()
        except BaseException:
            await self._close_parts()
            raise
        parts.transcriber.on_update = self._on_transcript
        parts.transcriber.on_finished = self._on_finished
        parts.transcriber.on_failure = lambda text: self._emit(e.Failure(self.clock(), "stt", text))
        self._stepper = FrameStepper(
            frontend=parts.frontend,
            sink=parts.sink,
            voice_activity=parts.voice_activity,
            tracker=TurnTracker(
                end_weights(), self.config.settings, duplex=self.config.duplex, pauses=self.config.pauses
            ),
            mailbox=self.mailbox,
            clock=self.clock,
            edge=parts.edge,
            source=parts.source,
        )
        self._started = asyncio.Event()
        self._main = asyncio.create_task(self._run(), name="session")
        await self._started.wait()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def ended(self) -> None:
        """Waits until the session is over by itself. Raises what broke it, if that was a fault of ours."""
        assert self._main is not None
        await asyncio.wait([self._main])
        if not self._main.cancelled() and (error := self._main.exception()) is not None:
            raise error

    async def stop(self) -> None:
        """See `SessionControl.stop`."""
        self._done.set()
        if self._main is not None:
            await asyncio.wait([self._main])
            if not self._main.cancelled() and (error := self._main.exception()) is not None:
                self._main = None
                raise error

    async def _run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                parts = self.parts
                self._emit(
                    e.SessionStarted(
                        0.0,
                        parts.frontend.name,
                        parts.transcriber.name,
                        parts.backend.name,
                        parts.backend.model,
                        self._answer_mode,
                    )
                )
                if self._loader.lost:
                    self._emit(e.Failure(0.0, "frontend", self._loader.lost))
                self.backends.start(
                    group,
                    partials=self._answer_mode == "thinking",
                    secondary=self.config.secondary,
                    tools=self.config.tools,
                )
                self.speech.begin()
                self._started.set()
                try:
                    await (self._follow_sound() if self.config.pace == "real" else self._drive())
                except AudioError as error:
                    self._on_sound_lost(str(error))
                await self.backends.stop()
                if self._replacing is not None:
                    await asyncio.wait([self._replacing])
        finally:
            self._started.set()
            if self._thread is not None:
                await asyncio.to_thread(self._thread.stop)
            await self._close_parts(ended=True)

    async def _close_parts(self, *, ended: bool = False) -> None:
        if ended:
            self._emit(e.SessionEnded(self.clock(), self.frames))
            self._over = True
            self._loader.call_at_close(lambda: self.parts.keep_pauses(self.config.pauses))
        try:
            await self.backends.close()
        finally:
            await self.speech.close()
            await self._loader.close()

    # -- the fast clock ----------------------------------------------------------------------------

    async def _follow_sound(self) -> None:
        """Real time: the frame thread steps, its messages come in here."""
        loop = asyncio.get_running_loop()
        self._thread = FrameThread(
            self._stepper,
            self.parts.source,
            lambda message: loop.call_soon_threadsafe(self._on_step, message),
            lambda sentence: loop.call_soon_threadsafe(self._on_sound_lost, sentence),
            lambda: loop.call_soon_threadsafe(self.input_over),
            now=time.perf_counter,
        )
        self._thread.start()
        await self._done.wait()
        await asyncio.to_thread(self._thread.stop)
        await asyncio.sleep(0)  # the thread's last messages

    async def _drive(self) -> None:
        """Simulated or fast: frames are stepped one by one on the loop."""
        index, over = 0, False
        while not self._done.is_set():
            samples = silence()
            if not over:
                try:
                    taken = self.parts.source.read_frame(FRAME_SECONDS)  # time that passes in the source alone
                    samples = taken if taken is not None else samples
                except EndOfAudio:
                    over = True
                    self.input_over()
            self._on_step(self._stepper.step(Frame(index, samples)))
            index += 1
            if self.config.pace == "simulated":
                await asyncio.sleep(FRAME_SECONDS)
            else:
                await self._settle()

    async def _settle(self) -> None:
        """Fast: waits for what a frame set going, as if ears and voice took no time at all.

        While the user talks the back-end is not waited for (a newer request would come anyway); once the
        turn is answered, it is.
        """
        await asyncio.sleep(0)
        while (
            self.parts.transcriber.busy
            or self.parts.frontend.busy
            or (self._replacing is not None and not self._replacing.done())
            or (self.backends.busy and not self._stepper.tracker.user_holds_floor)
        ) and not self._done.is_set():
            await asyncio.sleep(0.002)

    def input_over(self) -> None:
        """The source has given its last frame: the session ends when everybody has finished."""
        if self._input_over_at is None:
            self._input_over_at = self.clock()
            self._last_activity = self.clock()

    def _on_sound_lost(self, sentence: str) -> None:
        self._emit(e.Failure(self.clock(), "audio", sentence, fatal=True))
        self._done.set()

    def _on_step(self, message: StepMessage) -> None:
        """One message of the frame loop, on the event loop's thread."""
        if self._main is None or self._main.done():
            return
        frame, parts = message.frame, self.parts
        self.frames = frame.index + 1
        if message.dropped:
            self._emit(e.FramesDropped(frame.at, message.dropped))
            self._watch_pace(frame.at, message.dropped)
        if message.missing:
            self._emit(e.SoundLost(frame.at, message.missing))
        if message.voices:
            self.speech.taken(message.voices)
        if message.lost:
            self._replace_frontend(message.lost)
        if self.sound is not None:
            self.sound.add(frame.index, frame.samples, message.samples, message.flushed)
        if parts.recorder is not None:
            parts.recorder.sound(frame.index, frame.samples, message.samples, message.flushed)
        if message.assistant_dbfs > SOUNDING_DBFS:
            self._silent_since = frame.at + ECHO_SECONDS
        parts.transcriber.push(frame, message.voiced)
        self._on_turns(message)
        for event in message.events:
            self._emit(event)
            if isinstance(event, e.AssistantStarted):
                self.backends.reopened(event.turn)
            elif isinstance(event, e.AssistantEnded):
                self.backends.answered(event.turn, interrupted=event.interrupted)
        if parts.transcriber.shed > self._shed:
            self._emit(e.RecognitionSkipped(frame.at, parts.transcriber.shed - self._shed))
            self._shed = parts.transcriber.shed
        self._emit(
            e.LevelMeasured(frame.at, message.user_dbfs, message.assistant_dbfs, message.late_ms, message.clipped)
        )
        self._watch_end(frame.at)

    def _watch_pace(self, at: float, dropped: int) -> None:
        """Tells the user, at most once a minute, when frames are dropped again and again."""
        self._drops = [(then, n) for then, n in self._drops if at - then <= SLOW_WINDOW_SECONDS] + [(at, dropped)]
        lost = sum(n for _, n in self._drops) * FRAME_SECONDS
        if lost >= SLOW_SECONDS and at - self._slow_told_at >= 60:
            self._slow_told_at = at
            self._emit(
                e.Failure(
                    at,
                    "frontend",
                    f"This machine can't keep up: {lost:.1f} s of your voice were skipped in the last "
                    f"{SLOW_WINDOW_SECONDS:.0f} s. Close other programs, or choose a smaller precision, a shorter "
                    "context or the embedded voice in the settings.",
                )
            )

    def _replace_frontend(self, sentence: str) -> None:
        """The front-end is lost: says so, and brings another one in while the talk goes on."""
        if self.parts.fallback is None:
            self._emit(e.Failure(self.clock(), "frontend", sentence, fatal=True))
            self._done.set()
            return
        self._emit(e.Failure(self.clock(), "frontend", sentence))
        self._replacing = asyncio.get_running_loop().create_task(self._bring_fallback(), name="fallback")

    async def _bring_fallback(self) -> None:
        lost = self.parts.frontend
        try:
            frontend = await self._loader.replace_frontend()
        except FrontEndError as error:
            self._emit(e.Failure(self.clock(), "frontend", str(error), fatal=True))
            self._done.set()
            return
        self.mailbox.post(SwapFrontEnd(frontend))
        asked = self.transcript.last("user")
        if not lost.hears_oracle and asked is not None and asked.text:
            # Nobody was asked for that one's answers: the new one needs something to say.
            self.backends.ask(asked.number, asked.text, final=not asked.open, settled=True)

    def _on_turns(self, message: StepMessage) -> None:
        words = iter(message.typed)
        ends = (event for event in message.turn_events if isinstance(event, e.UserEnded) and event.reason == "typed")
        typed = {event.turn: next(words) for event in ends}
        for event in message.turn_events:
            if event.turn not in typed:
                self._on_turn(event)
                continue
            self._emit(event)
            self._newest_turn = event.turn
            if isinstance(event, e.UserEnded):
                self._take_words(event.turn, typed[event.turn], event.at)

    def _on_turn(self, event: floor.TurnEvent) -> None:
        ears = self.parts.transcriber
        self._emit(event)
        match event:
            case e.UserStarted(at, turn):
                self._newest_turn = turn
                ears.begin(turn, at, self._silent_since)
            case e.UserPaused(_, turn, speech_end):
                ears.pause(turn, speech_end)
            case e.UserResumed(_, turn):
                ears.resume(turn)
                self.backends.reopened(turn)
            case e.UserEnded(_, turn, speech_end):
                ears.end(turn, speech_end)
            case e.UserBackchannel(_, turn):
                ears.discard(turn)
                self.backends.abandon(turn)

    def _watch_end(self, at: float) -> None:
        """Ends a talk from a file when its sound is over and nobody has anything left to say."""
        if self._input_over_at is None or not self.config.end_with_input:
            return
        if not self.quiet:
            self._last_activity = at
        if at - self._last_activity >= QUIET_SECONDS or at - self._input_over_at > self.config.max_answer_seconds:
            self._done.set()

    @property
    def quiet(self) -> bool:
        """Nobody holds the floor, and nothing is under way that could make a sound."""
        return not (
            self._stepper.tracker.user_holds_floor
            or (self._replacing is not None and not self._replacing.done())
            or not self.parts.frontend.idle
            or self.parts.transcriber.busy
            or self.backends.busy
        )

    # -- the slow clock ----------------------------------------------------------------------------

    def _on_transcript(self, update: TranscriptUpdate) -> None:
        if self._main is None or self._main.done():
            return
        now, turn = self.clock(), update.turn
        words = " ".join(part for part in (update.stable, update.unstable) if part)
        if update.final:
            self._emit(e.TranscriptFinal(now, turn, words, update.heard_until))
        else:
            self._emit(e.TranscriptPartial(now, turn, update.stable, update.unstable, update.heard_until))
        if turn < self._newest_turn:
            return  # it was being written down when the user typed or spoke again: that is what is answered
        if update.final and not words:
            # A cough, a door: nobody said anything, so there is nothing to answer.
            self.mailbox.post(floor.Interrupt(user_speaks=False))
            return
        self.mailbox.post(WordsHint(turn, words, update.heard_until, update.language))
        self.backends.language = update.language
        self.speech.heard(update.language)
        if self.parts.frontend.hears_oracle:
            self.backends.ask(turn, words, final=update.final, settled=update.settled)

    def _take_words(self, turn: int, words: str, at: float) -> None:
        """A turn that was typed: nothing of it is to be heard."""
        self._emit(e.TranscriptFinal(self.clock(), turn, words, at))
        self.mailbox.post(WordsHint(turn, words, at))
        if self.parts.frontend.hears_oracle:
            self.backends.ask(turn, words, final=True, settled=True)
        else:
            self._emit(e.Failure(self.clock(), "frontend", f"{self.parts.frontend.name} " + DEAF_TO_TYPING))

    def _on_finished(self, turn: int, probability: float, speech_end: float) -> None:
        self.mailbox.post(FinishedHint(turn, probability, speech_end))

    # -- commands ----------------------------------------------------------------------------------

    def add_listener(self, listener: Callable[[e.Event], None]) -> None:
        """See `SessionControl.add_listener`."""
        self._listeners.append(listener)
        early, self._early = self._early, []
        for event in early:
            listener(event)

    def press(self) -> None:
        """See `SessionControl.press`."""
        self.mailbox.post(TalkButton(True))

    def release(self) -> None:
        """See `SessionControl.release`."""
        self.mailbox.post(TalkButton(False))

    def write(self, text: str) -> None:
        """See `SessionControl.write`."""
        if words := " ".join(text.split()):
            self.mailbox.post(TypedWords(words))

    def sound_of(self, speaker: Speaker, begin: float, end: float) -> np.ndarray | None:
        """See `SessionControl.sound_of`."""
        return self.sound.cut(speaker, begin, end) if self.sound is not None else None

    def set_duplex(self, duplex: bool) -> None:
        """See `SessionControl.set_duplex`."""
        self.mailbox.post(SetDuplex(duplex))

    def set_muted(self, muted: bool) -> None:
        """See `SessionControl.set_muted`."""
        if self.parts.edge is not None:
            self.parts.edge.muted = muted

    def set_devices(self, microphone: str, loudspeaker: str) -> None:
        """See `SessionControl.set_devices`."""
        if self.parts.edge is not None:
            self.parts.edge.choose(microphone, loudspeaker)

    def set_processing(self, processing: Processing) -> None:
        """See `SessionControl.set_processing`."""
        if self.parts.edge is not None:
            self.parts.edge.set_processing(processing)

    def set_answer_mode(self, answer_mode: e.AnswerMode) -> None:
        """See `SessionControl.set_answer_mode`."""
        self._answer_mode = answer_mode
        self.mailbox.post(SetAnswerMode(answer_mode))
        self.backends.set_partials(answer_mode == "thinking")
        self._emit(e.AnswerModeChanged(self.clock(), answer_mode))

    def set_patience(self, patience: float) -> None:
        """See `SessionControl.set_patience`."""
        self.mailbox.post(SetPatience(patience))

    def set_openings(self, on: bool) -> None:
        """See `SessionControl.set_openings`."""
        self.mailbox.post(SetOpenings(on))

    def set_speech(self, choice: SpeechChoice) -> None:
        """See `SessionControl.set_speech`."""
        self.speech.change(choice)

    def set_dials(self, delay: int, lead: int) -> None:
        """See `SessionControl.set_dials`."""
        self.mailbox.post(SetDials(delay, lead))
        self._emit(e.DialsChanged(self.clock(), delay, lead))

    async def set_backend(self, choice: BackendChoice) -> None:
        """See `SessionControl.set_backend`."""
        await self.backends.set_backend(choice)

    async def set_secondary(self, choice: BackendChoice | None) -> None:
        """See `SessionControl.set_secondary`."""
        await self.backends.set_secondary(choice)

    def hand_over(self) -> None:
        """See `SessionControl.hand_over`."""
        self.backends.hand_over()

    def set_style(self, style: Style) -> None:
        """See `SessionControl.set_style`."""
        self.backends.set_style(style)
        self.speech.change_own_voice(style.voice)

    async def set_tools(self, choice: ToolChoice) -> None:
        """See `SessionControl.set_tools`."""
        await self.backends.set_tools(choice)

    def set_cap(self, dollars: float) -> None:
        """See `SessionControl.set_cap`."""
        self.backends.set_cap(dollars)

    def recording_failed(self, sentence: str) -> None:
        """The recorder has given up; the talk goes on."""
        self._emit(e.Failure(self.clock(), "recorder", sentence))

    # -- events ------------------------------------------------------------------------------------

    def _emit(self, event: e.Event) -> None:
        if self._over:
            return  # nothing follows the end
        self.transcript.apply(event)
        if self.parts.recorder is not None:
            self.parts.recorder.event(event)
        if not self._listeners:
            self._early.append(event)
        for listener in list(self._listeners):
            listener(event)
