"""One conversation with the user: the frame loop, the recogniser and the back-ends, run side by side.

The fast clock steps the front-end once a frame on a thread of its own; the slow clock (transcript, back-ends) lives on
the event loop. Nothing here knows a concrete front-end, back-end or device.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from app.audio.io.base import AudioError
from app.conversation import events as e
from app.conversation.languages import language
from app.conversation.prompt import ChatMessage
from app.conversation.turns.floor import Interrupt
from app.conversation.turns.tracker import TurnSettings, TurnTracker
from app.conversation.words import asks_to_wait
from app.frontend.base import FrontEnd
from app.session.backend_controller import BackendController
from app.session.clock import Timeline
from app.session.control import Part, Progress, Repeat, SessionChoice, SessionState, Speaker
from app.session.early_sound import EarlySound
from app.session.frame_loop import FrameStepper, StepMessage
from app.session.frame_thread import STILL_RUNS, FrameDriver, FrameThread
from app.session.frontend_controller import FrontEndController
from app.session.mailbox import (
    AskAloud,
    FinishedHint,
    Mailbox,
    SilenceAnswer,
    TalkButton,
    TypedTurn,
    WordsHint,
    changed_settings,
)
from app.session.overload_reports import OverloadReports
from app.session.parts import Loader, SessionConfig, SessionParts
from app.session.playback import change_devices
from app.session.recorder import EventsOut, SoundMemory, StepHandlers
from app.session.speech_controller import SpeechController
from app.stt.base import TranscriptUpdate
from app.stt.swappable import SwappableTranscriber
from app.stt.text_endpointing import end_weights
from app.untrusted.text import harmless

_log = logging.getLogger(__name__)

CANT_READ = (
    "{} only hears and speaks: it can't read what you type. Say it, or choose a voice engine that is told what to say, "
    "KAME or the built-in voice."
)

SOUNDING_DBFS = -60.0
"""Peak level above which a frame that was played may be heard in the room."""
ECHO_SECONDS = 0.5
"""How long after it was played a frame may still reach the microphone: the devices' buffers, and the room."""


class Session:
    """One session. `async with Session(parts, config) as session: await session.ended()`.

    Entering it opens all parts and starts; BackendError, TranscriberError, VoiceError and AudioError are passed on.
    Leaving it stops the session and waits until everything has ended.
    """

    def __init__(self, parts: SessionParts, config: SessionConfig) -> None:
        self.parts = parts
        self.config = config
        self.mailbox = Mailbox()
        frame, seconds = parts.frontend.frame_samples, config.remember_seconds
        self.sound = SoundMemory(seconds, frame) if seconds else None
        self._events = EventsOut(parts.recorder)
        self._emit = self._events.emit
        self.transcript = self._events.transcript
        self._loader = Loader(parts, simulated=config.pace == "simulated")
        self._main: asyncio.Task[None] | None = None
        self._silent_since = 0.0  # the time from which the microphone picks up nothing that was played
        self._numbers = itertools.count(1).__next__  # of the user's turns, spoken or typed
        self._newest_turn = 0
        self._silenced_turn = 0  # the last one whose answer the user has stopped
        self._early: EarlySound | None = None
        self._skipped_decodes = 0  # decodes that the recogniser had skipped when this was last reported
        self._steps = StepHandlers(
            self._emit,
            ("recorder", self._keep),
            ("frontend", self._follow_speech),
            ("stt", self._recognise),
            ("stt", self._on_turns),
            ("frontend", self._pass_on_events),
        )
        self.backends = BackendController(
            parts,
            config.choice,
            self.transcript,
            consent=config.consent,
            post=self.mailbox.post,
            emit=self._emit,
            now=lambda: self.clock(),
        )
        self._overloads = OverloadReports(parts, lambda: self.state.driving, self._emit)
        self._frontends = FrontEndController(
            parts,
            self._loader,
            post=self.mailbox.post,
            emit=self._emit,
            now=lambda: self.clock(),
            quiet=lambda: self.quiet,
            replaced=self._ask_again,
            end=lambda sentence: self._end_because("frontend", sentence),
        )
        parts.transcriber = transcriber = SwappableTranscriber(parts.transcriber)
        self.speech = SpeechController(
            parts, transcriber, config, post=self.mailbox.post, emit=self._emit, now=lambda: self.clock()
        )

    # -- life --------------------------------------------------------------------------------------

    async def __aenter__(self) -> Session:
        loop = asyncio.get_running_loop()
        parts, config = self.parts, self.config
        clocks = {"real": time.perf_counter, "simulated": loop.time, "fast": None}
        self.clock = Timeline(clocks[config.pace], parts.frontend.frame_samples)
        try:
            await self._loader.load(self.backends.open, self._hear_early, self._report_progress)
        except BaseException:
            if self._early is not None:
                self._early.stop()
            await self._close_parts()
            raise
        parts.transcriber.on_update = self._on_transcript
        parts.transcriber.on_finished = lambda *judged: self.mailbox.post(FinishedHint(*judged))
        parts.transcriber.on_failure = lambda text: self._emit(e.Failure(self.clock(), "stt", text))
        parts.transcriber.on_notice = lambda text: self._emit(e.Notice(self.clock(), "stt", text))
        tracker = TurnTracker(
            end_weights(),
            TurnSettings(patience=config.choice.patience),
            duplex=config.choice.duplex,
            pauses=config.pauses,
            numbers=self._numbers,
        )
        self._stepper = FrameStepper(parts, tracker, self.mailbox, self.clock)
        self._driver = FrameDriver(
            self._stepper,
            parts.source,
            self.clock,
            config.pace,
            self._on_step,
            quiet=lambda: self.quiet,
            busy=self._is_busy,
            max_answer_seconds=config.max_answer_seconds if config.end_with_input else None,
            early=self._early,
        )
        self._started = asyncio.Event()
        self._main = asyncio.create_task(self._run(), name="session")
        await self._started.wait()
        return self

    def _hear_early(self) -> None:
        """The devices are open: if a person is using them, what they say is kept from now on."""
        if self.parts.edge is not None and self.config.pace == "real":
            self._early = EarlySound(self.parts.source, self.mailbox, always=self.config.choice.duplex)
            self._early.start()
            self._report_progress()

    def _report_progress(self) -> None:
        waiting = self._loader.waiting
        note = self.parts.frontend.loading if "voice" in waiting else ""
        self.parts.progress(Progress(waiting, note, self if self._early is not None else None))

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def ended(self) -> None:
        """Waits until the session has ended on its own. Raises the fault of the app that ended it, if any."""
        assert self._main is not None
        await asyncio.wait([self._main])
        if not self._main.cancelled() and (error := self._main.exception()) is not None:
            raise error

    async def stop(self) -> None:
        """Ends the session and waits until everything has ended. Idempotent."""
        if self._main is not None:
            self._driver.done.set()
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
                        self.choice.answer_mode,
                    )
                )
                if self.choice.branch is not None:
                    self._emit(e.BranchChosen(0.0, *self.choice.branch))
                if self._loader.lost:
                    self._emit(e.Failure(0.0, "frontend", self._loader.lost))
                self.backends.start(group)
                if self.config.tools_first:
                    await self.backends.tools_opened()
                self.speech.begin()
                self._started.set()
                try:
                    await self._driver.run()
                except AudioError as error:
                    self._end_because("audio", str(error))
                await self.backends.stop()
                await self._frontends.wait()
                await self._overloads.stop()
        finally:
            self._started.set()
            stepping = await self._driver.stop()
            if stepping is not None:
                self._emit(e.Failure(self.clock(), "frontend", STILL_RUNS))
            self._emit(e.SessionEnded(self.clock(), self.frames))
            self._loader.call_at_close(lambda: self.parts.keep_pauses(self.config.pauses))
            await self._close_parts(stepping)

    async def _close_parts(self, stepping: FrameThread | None = None) -> None:
        """Closes everything. Parts that a step of `stepping` may still use are closed once that thread has ended."""
        try:
            await self.backends.close()
        finally:
            await self.speech.close()
            await self._loader.close(stepping.join if stepping is not None else None)

    @property
    def frames(self) -> int:
        """The number of frames so far."""
        return self._steps.frames

    def _end_because(self, source: e.Source, sentence: str) -> None:
        self._emit(e.Failure(self.clock(), source, sentence, fatal=True))
        self._driver.done.set()

    def _on_step(self, message: StepMessage) -> None:
        """Handles one message of the frame loop, on the event loop's thread."""
        if self._main is None or self._main.done():
            return
        self._steps.handle(message)

    def _keep(self, message: StepMessage) -> None:
        if self.sound is not None:
            self.sound.add(message.frame.index, message.frame.samples, message.samples, message.flushed)
        if self.parts.recorder is not None:
            self.parts.recorder.sound(message.frame.samples, message.samples, message.flushed)

    def _follow_speech(self, message: StepMessage) -> None:
        self.speech.taken(message.voices)
        if message.too_slow:
            self._overloads.tell(message.frame.at, message.too_slow)
        self._frontends.follow(message)

    def _recognise(self, message: StepMessage) -> None:
        if message.assistant_dbfs > SOUNDING_DBFS:
            self._silent_since = message.frame.at + ECHO_SECONDS
        transcriber = self.parts.transcriber
        transcriber.push(message.frame, message.voiced)
        if transcriber.shed > self._skipped_decodes:
            self._emit(e.RecognitionSkipped(message.frame.at, transcriber.shed - self._skipped_decodes))
            self._skipped_decodes = transcriber.shed

    def _pass_on_events(self, message: StepMessage) -> None:
        for event in message.events:
            self._emit(event)
            self.backends.consent.follow(event)
            if isinstance(event, e.AssistantStarted):
                self.backends.prompts.reopened(event.turn)
            elif isinstance(event, e.AssistantEnded):
                self.backends.answered(event.turn, interrupted=event.interrupted)
        if message.silenced:
            self._silenced_turn = message.silenced
            self.backends.abandon(message.silenced)

    def _is_busy(self) -> bool:
        """Returns whether something that a frame has started is still in progress.

        The back-end counts only once the user's turn is over: before that, a newer request would follow anyway.
        """
        return (
            self.parts.transcriber.busy
            or self.parts.frontend.busy
            or self._frontends.replacing
            or (self.backends.busy and not self._stepper.tracker.user_holds_floor)
        )

    @property
    def quiet(self) -> bool:
        """Whether neither side has the floor and no work in progress could make the assistant speak."""
        return not (
            self._stepper.tracker.user_holds_floor
            or self._frontends.replacing
            or not self.parts.frontend.idle
            or self.parts.transcriber.busy
            or self.backends.busy
        )

    def _ask_again(self, lost: FrontEnd) -> None:
        """Asks the back-end for the newest turn, if the lost front-end needed none and the new one does."""
        asked = self.transcript.last("user")
        if not lost.hears_oracle and asked is not None and asked.text and asked.number > self._silenced_turn:
            self.backends.ask(asked.number, asked.text, final=not asked.open, settled=True)

    # -- turns -------------------------------------------------------------------------------------

    def _on_turns(self, message: StepMessage) -> None:
        transcriber = self.parts.transcriber
        for event in message.turn_events:
            self._emit(event)
            self.backends.consent.follow(event)
            match event:
                case e.UserStarted(at, turn):
                    self._newest_turn = max(self._newest_turn, turn)
                    transcriber.begin(turn, at, self._silent_since)
                case e.UserPaused(_, turn, speech_end):
                    transcriber.pause(turn, speech_end)
                case e.UserResumed(_, turn):
                    transcriber.resume(turn)
                    self.backends.prompts.reopened(turn)
                case e.UserEnded(_, turn, speech_end):
                    transcriber.end(turn, speech_end)
                case e.UserBackchannel(_, turn):
                    transcriber.discard(turn)
                    self.backends.abandon(turn)

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
        if turn < self._newest_turn or turn <= self._silenced_turn:
            return  # the user has typed or spoken again meanwhile, which is answered; or wants no answer
        if update.final and not words:
            # A cough, a door: nothing was said, so there is nothing to answer.
            self.mailbox.post(Interrupt(user_speaks=False))
            return
        self.mailbox.post(WordsHint(turn, words, update.heard_until, update.language))
        if asks_to_wait(words, update.language) and not self._has_asked:
            if update.final:
                self.backends.consent.withdraw()
                self.mailbox.post(SilenceAnswer())
            return
        self.backends.prompts.language = update.language
        if words:
            self.speech.heard(update.language)
        if self.parts.frontend.hears_oracle:
            self.backends.ask(turn, words, final=update.final, settled=update.settled)

    @property
    def _has_asked(self) -> bool:
        """Whether the assistant's last words are a question, to which "stop" may be the answer."""
        said = self.transcript.last("assistant")
        return said is not None and said.text.rstrip().endswith("?")

    # -- commands ----------------------------------------------------------------------------------

    def add_listener(self, listener: Callable[[e.Event], None]) -> None:
        """Calls `listener` with each event from now on, on the event loop's thread; the first one also with earlier
        ones.
        """
        self._events.add_listener(listener)

    def on_state(self, listener: Callable[[SessionState], None]) -> None:
        """Calls `listener` with the current state, and with each new one before the events that report the change."""
        self.backends.state_listeners.append(listener)
        listener(self.state)

    def press(self) -> None:
        """The talk button went down."""
        self.mailbox.post(TalkButton(True))

    def release(self) -> None:
        """The talk button went up."""
        self.mailbox.post(TalkButton(False))

    def set_muted(self, muted: bool) -> None:
        """Mutes the microphone while the session is loading. Once it runs, `apply` does that."""
        if self.parts.edge is not None:
            self.parts.edge.muted = muted

    def write(self, text: str) -> None:
        """Adds a typed turn, which interrupts the assistant and is answered like a spoken one."""
        words = " ".join(harmless(text).split())
        if words and not self._driver.done.is_set():
            self._write(self._numbers(), words)

    def choose_branch(self, branch: tuple[int, int], messages: Sequence[ChatMessage]) -> None:
        """Lets the user's next turn follow an earlier one, as in `Turn.after`; stops the answer to any other.

        `messages`: the conversation up to there, for the models. A front-end with weights of its own (KAME, Moshi)
        can't forget what it has heard since.
        """
        self.silence()
        self.backends.prompts.branch(messages, self._newest_turn)
        self._emit(e.BranchChosen(self.clock(), *branch))

    def repeat(self, text: str, how: Repeat) -> None:
        """Has `text`, an earlier answer or the rest of one, spoken; if it is empty, the model is asked.

        The user's turn that asks for it is written.
        """
        if not self._driver.done.is_set():
            self._write(self._numbers(), language(self.backends.prompts.language).repeats[how], text)

    def _write(self, turn: int, words: str, answer: str = "") -> None:
        at = self.clock()
        self._newest_turn = turn
        self.mailbox.post(TypedTurn(turn))
        for event in (
            e.UserStarted(at, turn),
            e.UserEnded(at, turn, at, "typed"),
            e.TranscriptFinal(at, turn, words, at),
        ):
            self._emit(event)
            self.backends.consent.follow(event)
        if self.parts.frontend.hears_oracle and answer:
            self.backends.say(turn, words, answer)
        elif self.parts.frontend.hears_oracle:
            self.backends.ask(turn, words, final=True, settled=True)
        else:
            self._emit(e.Failure(at, "frontend", CANT_READ.format(self.parts.frontend.name)))

    def allow(self, *, always: bool = False) -> None:
        """Allows the tool calls that wait for the user's consent; the user's turn that says so is written.

        `always`: also all later calls of these tools, as long as the model is given no text from outside. Does nothing
        if no call is waiting.
        """
        if self.backends.consent.pending and not self._driver.done.is_set():
            turn = self._numbers()
            self.backends.allow(turn, always=always)
            self._write(turn, language(self.backends.prompts.language).gives_consent)

    def deny(self) -> None:
        """Refuses the tool calls that wait for the user's consent."""
        self.backends.consent.deny()
        self.silence()

    def ask_aloud(self, samples: np.ndarray) -> None:
        """Feeds these samples (float32 mono 24 kHz) in place of the microphone until their turn has ended.

        They are also played on the loudspeaker, and become a user turn with or without hands-free mode. The talk button
        or a typed turn stops them.
        """
        self.backends.consent.withdraw()  # this voice is not the user's
        self.mailbox.post(AskAloud(samples))

    def stop_asking(self) -> None:
        """Stops the question that is being asked aloud. What was heard of it is kept, but not answered."""
        self.mailbox.post(AskAloud(None))

    def silence(self) -> None:
        """Stops the answer to a finished turn, whether it is being spoken, on hold or still being generated.

        The voice fades out within two frames. What was said is kept, the rest is never spoken, and the turn's requests
        are cancelled. A model that generates speech itself (KAME, Moshi) can't be stopped: its oracle is dropped, and
        it is muted until the user speaks or types again.
        """
        if not self.quiet:
            self.mailbox.post(SilenceAnswer())

    def sound_of(self, speaker: Speaker, begin: float, end: float) -> np.ndarray | None:
        """Returns one side's audio between two session times (s), float32 mono 24 kHz; None if it isn't kept."""
        return self.sound.cut(speaker, begin, end) if self.sound is not None else None

    @property
    def state(self) -> SessionState:
        """What is wanted now, and which back-ends and tools are in use."""
        return self.backends.state

    @property
    def choice(self) -> SessionChoice:
        """The choice that was applied last, except for back-ends and tools that were refused or have failed."""
        return self.backends.state.wanted

    def apply(self, choice: SessionChoice, *, reopen: Collection[Part] = ()) -> None:
        """Changes the running session to `choice`, part by part. Returns immediately.

        Parts that take time to load (back-ends, tools, voices) take effect when they are ready; the latest request for
        a part wins. Failures are reported as `ChangeRefused` or `Failure` events, and the session keeps what it had.
        The parts that `needs_restart` checks stay as they are.

        `reopen`: parts to open again although their choice is unchanged, since a key or a server has changed.
        """
        before = self.choice
        at = self.clock()
        for message in changed_settings(before, choice):
            self.mailbox.post(message)
        if choice.answer_mode != before.answer_mode:
            self._emit(e.AnswerModeChanged(at, choice.answer_mode))
        if choice.model.dials != before.model.dials:
            self._emit(e.DialsChanged(at, *choice.model.dials))
        if choice.speech != before.speech:
            self.speech.change(choice.speech)
        if choice.style.voice != before.style.voice:
            self.speech.change_own_voice(choice.style.voice)
        if self.parts.edge is not None:
            change_devices(self.parts.edge, before, choice)
        self.backends.apply(choice, reopen)

    def change(self, *, reopen: Collection[Part] = (), **parts: object) -> None:
        """Applies the current choice with these fields replaced."""
        self.apply(replace(self.choice, **parts), reopen=reopen)  # type: ignore[arg-type]

    def report_recording(self, sentence: str) -> None:
        """Reports a problem with the recording to the user. The session continues."""
        self._emit(e.Failure(self.clock(), "recorder", sentence))
