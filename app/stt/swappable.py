"""A transcriber that another one can replace between two turns, so that no word is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack

from app.conversation.frame import Frame
from app.stt.base import Transcriber, TranscriptUpdate

HANDOVER_SECONDS = 2.0
"""How long after a turn's end the user may still continue it."""
RECENT_SECONDS = 2.56
"""How much earlier audio a new transcriber gets, since a turn may begin that long before its onset is detected."""


class SwappableTranscriber:
    """A `Transcriber` that can be replaced. It starts with `first`.

    `on_changed` is called when another one has taken over, and `on_retired` with one that is no longer needed, which
    the caller exits.
    """

    def __init__(self, first: Transcriber) -> None:
        self.on_update: Callable[[TranscriptUpdate], None] = lambda update: None
        self.on_finished: Callable[[int, float, float], None] = lambda turn, probability, end: None
        self.on_failure: Callable[[str], None] = lambda sentence: None
        self.on_notice: Callable[[str], None] = lambda sentence: None
        self.on_broken: Callable[[], None] = lambda: None
        self.on_changed: Callable[[], None] = lambda: None
        self.on_retired: Callable[[Transcriber], None] = lambda transcriber: None
        self.current = first
        self._next: Transcriber | None = None
        self._ending: list[Transcriber] = []  # each is still decoding the end of its last turn
        self._recent: deque[tuple[Frame, bool]] = deque()  # since the last turn's end
        self._shed = 0  # by earlier ones
        self._open = False
        self._at = 0.0
        self._ended_at = -1e9
        self._follow(first)

    def take(self, transcriber: Transcriber) -> None:
        """Makes this transcriber, which is entered, take over as soon as the newest turn is definitely over."""
        if self._next is not None:
            self.on_retired(self._next)
        self._next = transcriber
        self._follow(transcriber)

    @property
    def name(self) -> str:
        """The name of the transcriber in use."""
        return self.current.name

    @property
    def shed(self) -> int:
        """How many decodes all transcribers so far have skipped."""
        return self._shed + self.current.shed

    @property
    def busy(self) -> bool:
        """Whether more words will be delivered."""
        return self.current.busy or any(old.busy for old in self._ending)

    def push(self, frame: Frame, voiced: bool) -> None:
        """Processes a frame."""
        self._at = frame.at
        if self._next is not None and not self._open and frame.at - self._ended_at >= HANDOVER_SECONDS:
            self._hand_over()
        self._recent.append((frame, voiced))
        if len(self._recent) > round(RECENT_SECONDS / frame.seconds):
            self._recent.popleft()
        self.current.push(frame, voiced)
        for old in [old for old in self._ending if not old.busy]:
            self._ending.remove(old)
            self.on_retired(old)

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        """A turn has begun."""
        if self._next is not None:
            self._hand_over()
        self._open = True
        self.current.begin(turn, at, silent_since)

    def pause(self, turn: int, speech_end: float) -> None:
        """The user paused within the turn."""
        self.current.pause(turn, speech_end)

    def resume(self, turn: int) -> None:
        """The user continues the turn."""
        self._open = True
        self.current.resume(turn)

    def end(self, turn: int, speech_end: float) -> None:
        """The turn is over."""
        self._close_turn()
        self.current.end(turn, speech_end)

    def discard(self, turn: int) -> None:
        """The sound was not a turn after all."""
        self._close_turn()
        self.current.discard(turn)

    def __enter__(self) -> SwappableTranscriber:
        self.current.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        """Exits all transcribers that have not been retired."""
        held = [self.current, *self._ending, *([self._next] if self._next is not None else [])]
        self._next, self._ending = None, []
        with ExitStack() as stack:  # each is exited even if another one fails
            for transcriber in held:
                stack.push(transcriber.__exit__)

    def _close_turn(self) -> None:
        self._open, self._ended_at = False, self._at
        self._recent.clear()  # the sound so far is this turn's

    def _hand_over(self) -> None:
        assert self._next is not None
        old, self.current, self._next = self.current, self._next, None
        self._shed += old.shed
        self._ending.append(old)
        for frame, voiced in self._recent:
            self.current.push(frame, voiced)
        self.on_changed()

    def _follow(self, transcriber: Transcriber) -> None:
        transcriber.on_update = lambda update: self.on_update(update)
        transcriber.on_finished = lambda *judged: self.on_finished(*judged)
        transcriber.on_failure = lambda sentence: self.on_failure(sentence)
        transcriber.on_notice = lambda sentence: self.on_notice(sentence)
        transcriber.on_broken = lambda: self._on_broken(transcriber)

    @property
    def changing(self) -> bool:
        """Whether another transcriber is about to take over."""
        return self._next is not None

    def _on_broken(self, transcriber: Transcriber) -> None:
        if transcriber is self.current and not self.changing:
            self.on_broken()
