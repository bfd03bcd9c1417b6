"""The user's consent to tool calls that may send or change something.

The toolbox makes such a call only if the session's `Consent` lets it. In the window, the call waits: its arguments are
shown, the assistant asks, and the user answers by a button, by typing or aloud. Anything but a plain yes is a no. What
the model has read, such as a document or a tool's result, may have been written by somebody who wants the call, so a
tool that is always allowed is asked about again as soon as the model has been given such text.

A spoken yes counts if it is a turn of its own that contains nothing else, began after the question had been spoken to
its end, and isn't continued. Only its window's microphone can give it: other sessions have the policy `refuse`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from app.conversation import events as e
from app.conversation.words import consents, fold
from app.tools.base import ToolCall, ToolCallMessage, ToolMessage, ToolSpec

Policy = Literal["ask", "refuse", "allow"]
"""What happens to calls that need consent: the user is asked, none is made, or all are made (`--allow-acting`)."""
Verdict = Literal["run", "ask", "refuse"]

ONSET_SECONDS = 0.2
"""The voice detector reports the beginning of a voice up to this much later."""
ANSWER_SECONDS = 30.0
"""A voice that begins later after the question doesn't answer it."""
CONTINUED_SECONDS = 1.7
"""How long a spoken yes isn't acted on, since the user may continue: a little more than the time in which a voice
reopens a turn (`TurnSettings.reopen_seconds`)."""


@dataclass(slots=True, eq=False)
class Proposal:
    """The tool calls of one model message. At least one needs the user's consent.

    - `calls`, `content`, `opaque`: those of the message.
    - `before`: the turn's earlier calls and their results.
    - `results`: the text for the model by the place of the call; None for those that have not been made.
    - `maker`: the provider, model and address that the message came from.
    - `question`: what the assistant asks.
    - `delay`: seconds to wait before the calls are made.
    """

    calls: tuple[ToolCall, ...]
    content: str
    opaque: str
    before: tuple[ToolCallMessage | ToolMessage, ...]
    results: list[str | None]
    maker: tuple[str, str, str]
    question: str = ""
    delay: float = 0.0
    _taken: set[int] = field(default_factory=set)

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """The calls that have not been made."""
        return tuple(call for call, result in zip(self.calls, self.results, strict=True) if result is None)

    def messages(self, maker: tuple[str, str, str]) -> tuple[ToolCallMessage | ToolMessage, ...]:
        """Returns the messages for the model `maker` once all calls have results.

        Fields that only the model understands which made the calls are left out for another one.
        """
        results = zip(self.calls, self.results, strict=True)
        answers = [ToolMessage(call.id, call.name, result or "") for call, result in results]
        messages = (*self.before, ToolCallMessage(self.calls, self.content, self.opaque), *answers)
        return messages if maker == self.maker else tuple(map(_without_opaque, messages))

    def take(self, name: str, arguments: str) -> bool:
        """Returns whether it has this call, which can be taken once."""
        for place, call in enumerate(self.calls):
            open_call = place not in self._taken and self.results[place] is None
            if open_call and (call.name, call.arguments) == (name, arguments):
                self._taken.add(place)
                return True
        return False


def _without_opaque(message: ToolCallMessage | ToolMessage) -> ToolCallMessage | ToolMessage:
    if isinstance(message, ToolMessage):
        return message
    return ToolCallMessage(tuple(replace(call, opaque="") for call in message.calls), message.content)


@dataclass(slots=True)
class _Question:
    """`turn`: the user's turn that is being answered. `asked_until`: when the question had been spoken to its end."""

    turn: int
    proposal: Proposal
    said: str = ""
    asked_until: float | None = None
    answered_aloud: int = 0  # the turn that may answer it
    answered_typed: int = 0


class Consent:
    """What the user allows in one session. Not thread-safe.

    `on_answer` is called with the turn in which a question was asked, whether it was answered with yes, and by what.
    """

    def __init__(self, policy: Policy = "refuse") -> None:
        self.policy: Policy = policy
        self.on_answer: Callable[[int, bool, e.ConsentBy], None] = lambda turn, allowed, by: None
        self._outside = False
        self._question: _Question | None = None
        self._granted: tuple[int, Proposal] | None = None

    def note_outside(self) -> None:
        """Records that the model is given text that others may have written. It may repeat it in any later turn."""
        self._outside = True

    def verdict(self, spec: ToolSpec) -> Verdict:
        """Returns what becomes of a call of this tool."""
        if not spec.acts or self.policy == "allow":
            return "run"
        if self.policy == "refuse":
            return "refuse"
        return "run" if spec.always and not self._outside else "ask"

    def take(self, spec: ToolSpec, arguments: str) -> bool:
        """Returns whether this call may be made now. What the user has allowed, can be taken once."""
        if self.verdict(spec) == "run":
            return True
        return self._granted is not None and self._granted[1].take(spec.name, arguments)

    # -- the question

    @property
    def pending(self) -> bool:
        """Whether a question waits for its answer."""
        return self._question is not None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The names of the tools whose calls wait for the user."""
        calls = self._question.proposal.waiting if self._question is not None else ()
        return tuple(dict.fromkeys(call.name for call in calls))

    def ask(self, turn: int, proposal: Proposal) -> None:
        """Lets calls that were wanted in the answer to `turn` wait for the user."""
        self.withdraw()
        self._question = _Question(turn, proposal)

    def withdraw(self) -> None:
        """Withdraws the question, if there is one: it can no longer be answered."""
        self._close(allowed=False, by="withdrawn")

    def deny(self) -> None:
        """The user has pressed the button that says no."""
        self._close(allowed=False, by="button")

    def grant(self, turn: int) -> None:
        """The user has pressed the button that says yes, which is turn `turn`."""
        if self._question is not None:
            self._allow(turn, "button", delay=0.0)

    def answer(self, turn: int, words: str, language: str) -> None:
        """Answers the question, if there is one, with the complete words of a later turn."""
        question = self._question
        if question is None or turn <= question.turn:
            return
        if not consents(words, language):
            self._close(allowed=False, by="words")
        elif turn == question.answered_typed:
            self._allow(turn, "typed", delay=0.0)
        elif turn == question.answered_aloud:
            self._allow(turn, "voice", delay=CONTINUED_SECONDS)
        else:
            self._close(allowed=False, by="words")

    def granted(self, turn: int) -> Proposal | None:
        """Returns the calls that the user has allowed by turn `turn`."""
        return self._granted[1] if self._granted is not None and self._granted[0] == turn else None

    def follow(self, event: e.Event) -> None:
        """Follows what is said, in order, to know whether a spoken yes counts."""
        if isinstance(event, e.UserResumed) and self._granted is not None and self._granted[0] == event.turn:
            self._granted = None  # "yes", and then more
        question = self._question
        if question is None:
            return
        match event:
            case e.AssistantStarted(turn=turn) if turn == question.turn:
                question.said, question.asked_until = "", None
            case e.AssistantSaid(turn=turn, text=text) if turn == question.turn:
                question.said = f"{question.said} {text}"
            case e.AssistantEnded(at=at, turn=turn, interrupted=interrupted) if turn == question.turn:
                wanted = fold(question.proposal.question)
                whole = not interrupted and fold(question.said)[-len(wanted) :] == wanted
                question.asked_until = at if whole else None
            case e.UserStarted(at=at, turn=turn) if turn > question.turn:
                waited = -1.0 if question.asked_until is None else at - question.asked_until
                question.answered_aloud = turn if ONSET_SECONDS <= waited <= ANSWER_SECONDS else 0
            case e.UserEnded(turn=turn, reason="typed"):
                question.answered_typed = turn
            case e.UserResumed(turn=turn):
                question.answered_aloud = 0
                if turn == question.turn:
                    self.withdraw()

    def _allow(self, turn: int, by: e.ConsentBy, *, delay: float) -> None:
        assert self._question is not None
        self._question.proposal.delay = delay
        self._granted = turn, self._question.proposal
        self._close(allowed=True, by=by)

    def _close(self, *, allowed: bool, by: e.ConsentBy) -> None:
        question, self._question = self._question, None
        if question is not None:
            self.on_answer(question.turn, allowed, by)
