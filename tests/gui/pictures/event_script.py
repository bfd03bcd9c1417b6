"""Builds the events that a session would emit for a scripted conversation: words, revisions, levels, usage."""

from app.conversation import events as e
from tests.gui.pictures.timeline import fed, sound, spoken

USER_WORD = 0.3
"""Seconds per word of the user."""
ASSISTANT_WORD = 0.31
"""Seconds per word of the assistant."""
PIECE = 4
"""Words in one delta of an oracle revision."""

Backend = tuple[str, str]


class EventScript:
    """Collects events in any order; `events` sorts them and adds the levels of both voices."""

    def __init__(self, backend: Backend, frontend: str = "kame") -> None:
        self.backend = backend
        self._events: list[e.Event] = [e.SessionStarted(0.0, frontend, "whisper base.en", *backend, "thinking")]
        self._user: list[tuple[float, float]] = []
        self._assistant: list[tuple[float, float]] = []

    def add(self, *events: e.Event) -> None:
        """Adds other events."""
        self._events += events

    def events(self, until: float) -> list[e.Event]:
        """All events up to session time `until`, in order."""
        levels = sound(until, self._user, self._assistant)
        events = sorted((*self._events, *levels), key=lambda event: event.at)
        return [event for event in events if event.at <= until]

    def user_says(self, turn: int, at: float, text: str) -> float:
        """Adds a turn of the user; returns its end."""
        words = text.split()
        end = at + len(words) * USER_WORD
        self._user.append((at, end))
        self.add(e.UserStarted(at + 0.08, turn))
        for count in range(2, len(words), 2):
            heard = at + count * USER_WORD
            stable, unstable = " ".join(words[: count - 2]), " ".join(words[count - 2 : count])
            self.add(e.TranscriptPartial(heard + 0.1, turn, stable, unstable, heard))
        self.add(e.TranscriptFinal(end + 0.14, turn, text, end), e.UserEnded(end + 0.15, turn, end, "words"))
        return end

    def request(
        self,
        revision: int,
        turn: int,
        at: float,
        words: str,
        answer: str = "",
        *,
        backend: Backend | None = None,
        final: bool = False,
        first: float = 0.3,
        until: float | None = None,
        secondary: bool = False,
        cost: float | None = 0.0,
    ) -> float:
        """Adds an oracle revision, superseded at `until` if given; returns the time of its first words."""
        name = backend or self.backend
        self.add(e.OracleRequested(at, revision, turn, *name, words, final, secondary))
        pieces = _pieces(answer)
        for place, piece in enumerate(pieces):
            came = at + first + place * 0.12
            if until is None or came < until:
                self.add(e.OracleDelta(came, revision, piece))
        end = at + first + len(pieces) * 0.12 if until is None else until
        count = len(answer.split())
        self.add(e.OracleEnded(end, revision, "complete" if until is None else "superseded", count))
        if pieces:
            tokens = (118 + 31 * turn + len(words.split()), round(count * 1.35))
            rate = round(PIECE / 0.12, 1)
            self.add(
                e.OracleCounted(end, revision, *name, *tokens, 0, True, cost, first * 1000, rate, 400.0, secondary)
            )
        return at + first

    def supersede(self, at: float, newer: int, *older: int) -> None:
        """Lets a revision supersede older ones."""
        self.add(*(e.OracleSuperseded(at, revision, newer) for revision in older))

    def assistant_says(
        self,
        turn: int,
        revision: int,
        at: float,
        text: str,
        *,
        begins: bool = True,
        ends: bool = False,
        interrupted: bool = False,
    ) -> float:
        """Adds an answer, with its words fed just before; returns its end."""
        end = at + len(text.split()) * ASSISTANT_WORD
        if begins:
            self.add(e.AssistantStarted(at, turn, revision))
        self.add(*fed(at - 0.05, revision, len(text.split())), *spoken(at, turn, revision, text, ASSISTANT_WORD))
        self._assistant.append((at, end))
        if ends:
            self.add(e.AssistantEnded(end, turn, interrupted))
        return end


def _pieces(answer: str) -> list[str]:
    """Splits an answer into deltas of some words, with the space before them."""
    words = answer.split()
    return [
        ("" if place == 0 else " ") + " ".join(words[place : place + PIECE]) for place in range(0, len(words), PIECE)
    ]
