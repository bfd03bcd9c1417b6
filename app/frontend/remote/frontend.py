"""The front-end `remote`: a server listens and speaks, and this machine acts as its microphone and loudspeaker.

It tracks which turn each of the server's answers belongs to, and when the answer ends.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, Frame
from app.conversation.speaking.spoken_answer import Said
from app.conversation.turns import tracker as floor
from app.frontend.base import (
    END_FRAMES,
    AnswerTracker,
    FrontEndError,
    FrontEndInput,
    FrontEndStep,
    Mark,
    SpeakingByItself,
    silenced,
)
from app.frontend.remote.address import read_address
from app.frontend.remote.connection import ServerConnection
from app.untrusted.text import one_line

Words = tuple[str, int, tuple[int, int] | None] | None
"""Words, their revision, and the characters of its text that they stand for, if known. They have a leading space unless
they continue the previous word. None: the server reports the end of its answer."""


MOST_FRAMES_THINKING = 750
"""Frames (60 s) for which an answer is expected of a server that is thinking. A silent one may have lost its model."""


class ServerAnswer(AnswerTracker):
    """Tracks the server's answers. Audio without words stops counting as speech after 3 s."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0
        """The user's newest turn."""
        self.thinking: int | None = None
        """The newest revision, while the server's model is working on it."""
        self._frames_thinking = 0

    def follow_oracle(self, event: e.Event) -> None:
        """Processes an event of the server's oracle: an answer is expected until the newest revision has ended."""
        match event:
            case e.OracleRequested(revision=revision, secondary=False):
                self.thinking, self._frames_thinking = revision, 0
            case e.OracleEnded(revision=revision) if revision == self.thinking:
                self.thinking = None
            case e.OracleDelta():
                self._frames_thinking = 0

    def follow(self, words: Sequence[Words], samples: np.ndarray) -> tuple[list[Said], list[Mark]]:
        """Processes a frame. Returns the words spoken in it, and any marks."""
        marks: list[Mark] = []
        said: list[Said] = []
        self._count(any(item is not None for item in words), samples)
        for item in words:
            if item is None:
                marks += self._close("ended")
                continue
            text, revision, written = item
            if self.answering is None or self.turn > self.answering[0]:
                marks += self._begin(self.turn, revision)
            assert self.answering is not None
            glued = not text.startswith(" ")
            said.append(Said(text.strip(), FRAME_SAMPLES, self.answering[0], revision, glued, written))
        if self._seems_over:
            marks += self._close("ended")
        return said, marks

    def _count(self, has_words: bool, samples: np.ndarray) -> None:
        super()._count(has_words, samples)
        self._frames_thinking += 1
        thinks = self.thinking is not None and self._frames_thinking < MOST_FRAMES_THINKING
        if thinks or (not self._quiet_frames and self.wordless_frames < 3 * END_FRAMES):
            self.idle_frames = 0


class RemoteFrontEnd(SpeakingByItself):
    """A session on the server at `url`. `key`: the server's access key, or empty.

    The server has its own back-end and decides when to speak. When the user interrupts, its answer is silenced here
    immediately, without waiting for the server. Raises FrontEndError for an invalid address, or if a key would be sent
    unencrypted over the internet.
    """

    name = "remote"
    hears_oracle = False
    loading = ""

    def __init__(self, url: str, key: str = "") -> None:
        self.address = read_address(url)
        if key and not self.address.may_have_key:
            raise FrontEndError(
                f"The key of the voice server at {self.address.shown} would cross the internet unencrypted, so it is "
                "not sent. Give the server a certificate and write wss://…, or reach it through a tunnel."
            )
        self._connection = ServerConnection(self.address, key)
        self._answer = ServerAnswer()
        self._silenced = self._was_silenced = False
        self._told = False
        self._lost = False

    @property
    def speaking(self) -> bool:
        return self._answer.answering is not None

    @property
    def idle(self) -> bool:
        return self._answer.idle

    def __enter__(self) -> RemoteFrontEnd:
        self._connection.open()
        return self

    def __exit__(self, *exc: object) -> None:
        self._connection.close()

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        connection, answer = self._connection, self._answer
        if connection.failed:
            raise FrontEndError(connection.failed)
        marks = [mark for item in inputs for mark in self._receive(item)]
        faded = any(isinstance(item, floor.Silence) for item in inputs)  # the loudspeaker fades the audio out
        flush = faded or any(mark.what == "interrupted" for mark in marks)
        connection.send(frame.samples)
        received = connection.take()
        samples = self._mute(received.samples, faded=faded)
        words, relayed = self._sort(received.events, frame.at)
        words += [(text, 0, None) for text in received.words]
        said, changes = answer.follow([] if self._silenced else words, samples)
        relayed += self._network_events(frame.at)
        return FrontEndStep(samples, tuple(said), (*marks, *changes), flush, events=tuple(relayed))

    def _receive(self, item: FrontEndInput) -> list[Mark]:
        """Handles one input. Returns the mark for an interruption, if the input caused one."""
        match item:
            case floor.TakeFloor(turn):
                self._answer.turn = max(self._answer.turn, turn)
                self._answer.idle_frames = 0
                self._silenced = False
            case floor.Hold(turn):
                self._answer.turn = max(self._answer.turn, turn)
            case floor.Interrupt(user_speaks, turn):
                marks = self._answer.stop() if user_speaks else []
                self._silenced = self._silenced or bool(marks)
                self._answer.turn = max(self._answer.turn, turn)
                return marks
            case floor.Yield() | floor.Silence():
                marks = self._answer.stop()
                self._silenced = self._silenced or bool(marks) or isinstance(item, floor.Silence)
                return marks
        return []

    def _sort(self, events: list[e.Event], at: float) -> tuple[list[Words], list[e.Event]]:
        """Splits the server's events into words and ends of answers, in order, and events to relay.

        The relayed events get this session's times and turns.
        """
        words, relayed = list[Words](), list[e.Event]()
        for event in events:
            self._answer.follow_oracle(event)
            match event:
                case e.AssistantSaid(text=text, revision=revision, glued=glued, begin=begin, end=end):
                    words.append((text if glued else f" {text}", revision, (begin, end) if begin >= 0 else None))
                case e.AssistantEnded():
                    words.append(None)
                case e.TranscriptPartial() | e.TranscriptFinal():
                    pass  # this machine has its own recogniser
                case e.Failure(sentence=sentence):
                    relayed.append(e.Failure(at, "frontend", _said_by_server(sentence)))
                case e.OracleRequested():
                    relayed.append(dataclasses.replace(event, at=at, turn=self._answer.turn))
                case e.OraclePromoted() | e.OracleDelta() | e.OracleSuperseded() | e.OracleEnded() | e.OracleCounted():
                    relayed.append(dataclasses.replace(event, at=at))
        return words, relayed

    def _network_events(self, at: float) -> list[e.Event]:
        """Returns events that describe the server and report changes to the connection."""
        connection, out = self._connection, list[e.Event]()
        if not self._told:
            self._told = True
            out.append(e.ServerDescribed(at, self.address.shown, self._description()))
        if connection.lost and not self._lost:
            self._lost = True
            sentence = (
                f"The connection to the voice server at {self.address.shown} is lost and is being tried again. What "
                "you say in the next seconds is sent when it is back."
            )
            out.append(e.Failure(at, "frontend", sentence))
        elif self._lost and not connection.lost:
            self._lost = False
            resumed = connection.welcome is not None and connection.welcome.resumed
            if not resumed:
                self._answer.thinking = None
            words = "" if resumed else " It has begun a new conversation, and knows nothing of what was said before."
            out.append(e.ServerDescribed(at, self.address.shown, f"The voice server is connected again.{words}"))
        return out

    def _description(self) -> str:
        """Returns a message that describes the server and its limitations."""
        welcome = self._connection.welcome
        if welcome is not None:
            return (
                f"The voice server at {self.address.shown} hears and speaks ({welcome.frontend}), and {welcome.model} "
                "thinks there: its oracle is shown here. The model, persona, tools and voice are chosen on the server, "
                "and it can't read what you type."
            )
        return (
            f"The voice server at {self.address.shown} hears and speaks. It shows no oracle; model, persona, tools "
            "and voice can't be chosen here, and it can't read what you type."
        )

    def _mute(self, samples: np.ndarray, *, faded: bool) -> np.ndarray:
        """Returns silence while the answer is silenced, starting with a fade-out unless audio has already `faded`."""
        was, self._was_silenced = self._was_silenced, self._silenced
        if not self._silenced:
            return samples
        return silenced(samples, fade=not (was or faded))


def _said_by_server(sentence: str) -> str:
    words = one_line(sentence, 500).rstrip(".")
    return f"The voice server says: {words}." if words else "The voice server has failed, and does not say why."
