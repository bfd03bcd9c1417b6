"""Asks questions in a session, in real or simulated time, and derives from the events what happened in each turn.

Sound enters and leaves as on devices, including the loudspeaker's prebuffer but not the hardware's own buffers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

import numpy as np

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.conversation import events as e
from app.research.benches.recordings import Recording
from app.session.control import SessionChoice
from app.session.session import Session

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
    """The events from a question, whose voice ended at session time `end`, to the next one. All times derived from it
    are in seconds from that end, negative before it. `over`: the answer ended before the wait for it did.
    """

    events: Sequence[e.Event]
    end: float
    over: bool = True

    def of(self, kind: type[_Event]) -> list[_Event]:
        """Returns the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def resumed(self) -> float:
        """When the user last resumed after a pause, in session time, or -1. An answer that began before that is not
        the answer to the question.
        """
        return max((event.at for event in self.of(e.UserResumed)), default=-1.0)

    @property
    def words(self) -> list[e.AssistantSaid]:
        """The words that were played, with revision 0 for those of an opening."""
        return [event for event in self.of(e.AssistantSaid) if event.at > self.resumed]

    @property
    def starts(self) -> list[float]:
        """When the assistant started to be audible."""
        return [event.at + PREBUFFER_SECONDS - self.end for event in self.of(e.AssistantStarted)]

    @property
    def first_sound(self) -> float | None:
        """When the answer, or its opening, started to be audible; None if it didn't."""
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
    """A session that is asked questions. Raises whatever opening a session raises.

    - `make`: creates the session
    - `simulated`: the running loop's time is simulated
    - `remember_seconds`: how much of the assistant's audio is kept for `read_back`
    """

    def __init__(
        self, make: MakeSession, choice: SessionChoice, *, simulated: bool = False, remember_seconds: float = 0.0
    ) -> None:
        self._asker, self._simulated = PacedAsker(paced=not simulated), simulated
        listener = PacedListener(asyncio.get_running_loop().time if simulated else time.perf_counter)
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
        seconds. A typed question counts as spoken up to now.
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

    async def read_back(self, read: Read, begin: float) -> str | None:
        """Returns the words recognised in the assistant's audio since session time `begin`; None without audio."""
        sound = self.session.sound_of("assistant", begin, self.session.clock())
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
