"""Sends requests to one back-end as the user's words arrive, and passes its revisions to the front-end.

The newest revision wins, but only once it has words: until then, the stream before it continues. No words are lost or
reordered, and none of an older revision follow the first words of a newer one. The back-end can be exchanged at any
time. If it fails, the standby takes over. What is said of the revisions is decided in
`app.conversation.speaking.what_to_say`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.backend.base import Backend, BackendError, Notice
from app.conversation import events as e
from app.conversation.markdown import ends_in_block
from app.conversation.oracle import Kind, OraclePolicy
from app.conversation.speaking.revisions import OracleAsked, OracleCompleted, OracleDone, OracleWords, Revisions
from app.conversation.turns.floor import Interrupt
from app.conversation.words import fold, is_backchannel
from app.session.mailbox import Message
from app.session.oracle_stream import (
    SHORT_WAIT_SECONDS,
    OracleContext,
    OracleStream,
    RequestSchedule,
    backend_failure,
    count,
    run,
)

LONGEST_WAIT_SECONDS = 20.0
"""The longest time to wait for a server whose rate limit is reached, rather than to leave a question unanswered."""


@dataclass(frozen=True, slots=True)
class _Question:
    """The words of a user's turn so far."""

    turn: int
    words: str
    kind: Kind

    @property
    def final(self) -> bool:
        return self.kind == "final"


class OracleRunner:
    """The requests to one back-end at a time.

    - `backend`: the back-end in use; `standby`: an earlier one, which takes over if it fails.
    - `secondary`: the revisions are shown and not spoken.
    - `refused_turn`: the last turn that was not asked about because of its cost, or 0.
    """

    def __init__(
        self, context: OracleContext, backend: Backend, policy: OraclePolicy, *, secondary: bool = False
    ) -> None:
        self.backend = backend
        self.standby: Backend | None = None
        self.policy = policy
        self._context = context
        self.secondary = secondary
        self._emit = context.emit
        self._now = context.now
        self._post: Callable[[Message], None] = (lambda message: None) if secondary else context.post
        self._revisions = Revisions()
        self._streams: dict[int, OracleStream] = {}
        self._newest: OracleStream | None = None
        self._speaks: OracleStream | None = None
        self._latest: _Question | None = None
        self._priming: asyncio.Task[None] | None = None
        self._failed_turn = 0
        self._failure_shown = ""
        self._notice_shown = (0, "")
        self._schedule = RequestSchedule(context, self._retry, secondary=secondary)
        self._worked: set[Backend] = set()
        self.refused_turn = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a stream is open, or a request waits for its server."""
        return bool(self._streams) or self._schedule.waits

    def uses(self, backend: Backend) -> bool:
        """Whether a stream of `backend` is open or may still be opened."""
        return backend in (self.backend, self.standby, *(stream.backend for stream in self._streams.values()))

    def transcript(self, turn: int, words: str, *, final: bool, settled: bool, language: str) -> None:
        """Processes the words of a user's turn so far. `settled`: the user is silent; `final`: the turn is over."""
        self.policy.language = language
        if not self._closed and (final or not is_backchannel(words, language)):  # "mhm" must not end the answer
            self._latest = _Question(turn, words, "final" if final else "paused" if settled else "partial")
            self._consider(self._latest)

    def _consider(self, question: _Question) -> None:
        """Starts a request if the words are worth one, or promotes the newest one if it answers them."""
        if question.turn == self._failed_turn and not question.final:
            return  # a back-end that just failed isn't asked again for every word
        newest = self._newest
        pace = self._context.pace(self.backend)
        self.policy.interval, self.policy.new_words = pace.interval, pace.new_words
        turn, words, final = question.turn, question.words, question.final
        decision = self.policy.decide(turn, words, self._now(), final=final, paused=question.kind == "paused")
        if decision == "promote" and newest is not None and not newest.final:
            acts = self._context.acts() and not self.secondary  # tools may change something for a complete turn only
            decision = "start" if acts or not newest.usable else "promote"
        if decision == "start":
            self._start(question)
        elif decision == "promote" and newest is not None:
            self._promote(newest)

    def _promote(self, stream: OracleStream) -> None:
        if not stream.final:
            stream.final = True
            self._emit(e.OraclePromoted(self._now(), stream.revision))
        # Also a second time: the user may have continued without saying more.
        self._post(OracleCompleted(stream.revision))

    def prime(self, turn: int) -> None:
        """Has the back-end process in advance what the request for `turn` will begin with."""
        if not self._streams and not self._closed:
            request = self._context.request(self.backend, turn, "", False)
            self._priming = self._context.group.create_task(self.backend.prime(request), name=f"prime-{turn}")

    def swap(self, backend: Backend, *, again: bool) -> None:
        """Uses `backend` from the next request on. `again`: it is asked about the current turn immediately.

        The old back-end's stream continues until the new one has words.
        """
        if backend is self.backend:
            return
        if self.standby is None or self.backend in self._worked:  # one that is known to work is the better standby
            self.standby = self.backend
        self.backend = backend
        self._failed_turn, self._failure_shown = 0, ""
        if again:
            self._ask_again(wanted=True)

    def abandon(self, turn: int) -> None:
        """Closes the streams that answer `turn`, and drops a request about it that is waiting."""
        if self._latest is not None and self._latest.turn == turn:
            self._schedule.stop()
        for stream in list(self._streams.values()):
            if stream.turn == turn:
                self._cancel(stream)

    async def close(self) -> None:
        """Closes all streams and waits for their end. No request is sent from now on."""
        self._closed = True
        self._schedule.stop()
        tasks = [s.task for s in self._streams.values() if s.task is not None]
        for stream in list(self._streams.values()):
            self._cancel(stream)
        if self._priming is not None:
            self._priming.cancel()  # its result isn't needed
            tasks.append(self._priming)
        if tasks:
            await asyncio.wait(tasks)

    # -- handing over ------------------------------------------------------------------------------

    def hand_over_to(self, driver: OracleRunner, turn: int | None) -> None:
        """Exchanges back-ends with `driver`, so that this secondary runner's back-end drives from now on.

        `turn`: a turn whose words so far go to the front-end immediately, and the rest as they arrive.
        """
        mine = self._newest
        taken = mine if mine is not None and mine.turn == turn and mine.usable else None
        for stream in list(self._streams.values()):
            if stream is not taken:
                self._cancel(stream)
        if taken is not None:
            self._streams.pop(taken.revision, None)
            self._speaks = None  # it is the driver's now, and no later answer of this runner supersedes it
        self.backend, driver.backend = driver.backend, self.backend
        self.standby, driver.standby = None, self.backend
        self._newest = None
        self._failed_turn, driver._failed_turn = driver._failed_turn, self._failed_turn
        self._worked, driver._worked = driver._worked, self._worked
        self.policy.forget()
        if taken is not None:
            driver._take_over(taken, e.OracleHandedOver(self._now(), taken.revision))
        elif turn is not None:
            driver._ask_again(wanted=True)

    def say(self, turn: int, words: str, text: str) -> None:
        """Answers `words` with `text`, which is known already: nothing is requested."""
        if self._closed:
            return
        now, revision, backend = self._now(), next(self._context.numbers), self.backend
        self._latest = _Question(turn, words, "final")
        stream = OracleStream(self, revision, turn, words, True, backend, now, text=text, count=len(fold(text)))
        stream.over = stream.complete = stream.paused = True
        language = self.policy.language
        asked = e.OracleRequested(now, revision, turn, backend.name, backend.model, words, True, language=language)
        self._take_over(stream, asked)
        self._emit(e.OracleDelta(now, revision, text))
        self._emit(e.OracleEnded(now, revision, "complete", stream.count))

    def _take_over(self, stream: OracleStream, event: e.Event) -> None:
        """Makes a stream, which has words already or another owner so far, this runner's newest one."""
        now, stream.owner = self._now(), self
        self._use(stream, event, wanted=True, paused=stream.paused)
        if stream.count and self._revisions.add(stream.revision, stream.text) is not None:
            self.policy.spoke()
            self._supersede(stream, now)
            self._post(OracleWords(stream.revision, stream.turn, stream.text, now))
        if stream.over:
            self.policy.ended()
            self._post(OracleDone(stream.revision))

    # -- one revision ------------------------------------------------------------------------------

    def _ask_again(self, *, wanted: bool = False) -> None:
        latest = self._latest
        if latest is not None and (latest.final or self.policy.partials) and fold(latest.words):
            self._start(latest, again=True, wanted=wanted)

    def _start(self, question: _Question, *, again: bool = False, wanted: bool = False) -> None:
        """Sends a request, unless its cost or the server's rate limit forbids it.

        `again`: the question must be answered, whatever its kind. `wanted`: see `OracleAsked`.
        """
        if self._closed:
            return
        turn, words, final, backend = question.turn, question.words, question.final, self.backend
        if not self._context.allowed(backend):
            self._refuse(question)
            return
        now = self._now()
        if not self._schedule.may_send(backend, turn, "final" if again else question.kind, self._longest_wait):
            return
        paused = question.kind != "partial" or again
        cold = self._schedule.sent(backend)
        revision = next(self._context.numbers)
        stream = OracleStream(self, revision, turn, words, final, backend, now, cold=cold)
        stream.paused = paused
        name, model, language = backend.name, backend.model, self.policy.language
        asked = e.OracleRequested(now, revision, turn, name, model, words, final, self.secondary, language)
        self._use(stream, asked, wanted=wanted, paused=paused)
        stream.task = self._context.group.create_task(run(stream, self._context), name=f"oracle-{revision}")

    @property
    def _longest_wait(self) -> float:
        """How long a question waits for its server's rate limit: only briefly if another back-end could answer."""
        return LONGEST_WAIT_SECONDS if self.standby is None else SHORT_WAIT_SECONDS

    def _refuse(self, question: _Question) -> None:
        """Ends a turn about which no back-end may be asked because of its cost, and tells the user so once."""
        if not question.final or question.turn == self.refused_turn:
            return
        self.refused_turn = question.turn
        self._post(Interrupt(user_speaks=False))
        if not self.secondary:
            sentence = (
                "This is not answered, since the conversation has cost as much as you allow. Raise the spending limit, "
                "or choose a model that runs on this machine."
            )
            self._emit(e.Failure(self._now(), "backend", sentence, about="unanswered"))

    def ask_refused(self) -> None:
        """Asks what was refused because of its cost."""
        if self.refused_turn and self._latest is not None and self._latest.turn == self.refused_turn:
            self._ask_again()

    def _use(self, stream: OracleStream, event: e.Event, *, wanted: bool, paused: bool) -> None:
        """Makes a stream the newest, here and in the front-end, and emits `event` about it.

        Older ones are cancelled, except the one that is being spoken. `wanted`, `paused`: see `OracleAsked`.
        """
        before, self._newest = self._newest, stream
        if not stream.over:
            self._streams[stream.revision] = stream
        self.policy.started(stream.turn, stream.words, self._now())
        self._emit(event)
        expected, language = self._context.pace(stream.backend).first_clause, self.policy.language
        number, turn, words = stream.revision, stream.turn, stream.words
        asked = OracleAsked(number, turn, stream.final, wanted, words, paused, expected=expected, language=language)
        stream.order = self._revisions.ask(asked, in_use=self._revisions.newest_with_words).order
        self._post(asked)
        if turn == self.refused_turn:
            self.refused_turn = 0
        for old in list(self._streams.values()):
            if old.order < stream.order and not self._may_go_on(old, stream, before):
                self._cancel(old)

    def _may_go_on(self, old: OracleStream, new: OracleStream, before: OracleStream | None) -> bool:
        if old.turn != new.turn:
            return False
        if old.backend is new.backend and not new.backend.traits.concurrent:
            # One request at a time: words that may be complete must not wait behind a guess at their beginning.
            return old is before and not old.count and not new.paused
        speaking = self._revisions.newest_with_words
        return old.revision == speaking or (old is before and not (new.final and speaking in self._streams))

    def deliver(self, stream: OracleStream, text: str) -> None:
        if stream.over or not text:
            return
        known = self._revisions.add(stream.revision, text)
        if known is None:
            return
        first, now = stream.count == 0, self._now()
        stream.text += text
        if first:
            if not known.has_words:
                return  # the mark at the beginning of a heading or a list: it goes with the first word
            text, stream.first_at = stream.text, now
            self._worked.add(stream.backend)
            self._context.pace(stream.backend).began(now - stream.asked_at, "cold" if stream.cold else "warm")
            if stream is self._newest:
                self.policy.spoke()
            self._supersede(stream, now)
        stream.count += len(fold(text))
        traits = stream.backend.traits
        stream.enough = traits.is_enough(text, stream.count) and not ends_in_block(stream.text)
        self._emit(e.OracleDelta(now, stream.revision, text))
        self._post(OracleWords(stream.revision, stream.turn, text, now))
        if first and stream is self._newest and self._latest is not None and not self._latest.final:
            self._consider(self._latest)  # the words that came meanwhile may be worth another request

    def _supersede(self, stream: OracleStream, now: float) -> None:
        """Reports that `stream`, which has its first words, supersedes the revisions before it in this turn."""
        past = {old.revision for old in self._streams.values() if old.order < stream.order}
        if self._speaks is not None and self._speaks.turn == stream.turn:
            past.add(self._speaks.revision)
        for revision in sorted(past):
            self._emit(e.OracleSuperseded(now, revision, stream.revision))
        self._speaks = stream
        for old in list(self._streams.values()):
            if old.order < stream.order:
                self._cancel(old)

    # -- its end -----------------------------------------------------------------------------------

    def notify(self, stream: OracleStream, notice: Notice) -> None:
        """Shows a message about the request, once per turn."""
        sentence = f"The comparison model: {notice.sentence}" if self.secondary else notice.sentence
        if stream.over or (stream.turn, sentence) == self._notice_shown:
            return
        self._notice_shown = (stream.turn, sentence)
        if notice.loss:
            self._emit(e.Failure(self._now(), "backend", sentence, secondary=self.secondary, about="backend"))
        else:
            self._emit(e.Notice(self._now(), "backend", sentence))

    def fail(self, stream: OracleStream, error: BackendError) -> None:
        """Reports a failure, and has another back-end answer if there is one."""
        if stream.over:
            return
        sentence, took_over = str(error), False
        rest = self._schedule.refused(stream.backend, error)
        limited = error.kind == "quota" and rest > 0
        present = stream.backend is self.backend
        if limited and present and not stream.count and self._waits_out(stream, rest):
            return
        question_fails = error.kind == "content"  # no other back-end would answer it either
        replaceable = present and stream is self._newest and not stream.count and not question_fails
        standby = self.standby
        if standby is not None and error.kind == "network" and standby.name == stream.backend.name:
            standby = None  # it is at the same server
        if replaceable and standby is None and not self.secondary and self._context.rescue():
            sentence += " The built-in model answers meanwhile."
        elif replaceable and self.standby is not None:
            self.backend, self.standby, took_over = self.standby, None, True
            stream.retry = not self._has_answer(self.backend)
            sentence += f" {self.backend.name} ({self.backend.model}) answers again."
        if (self._failed_turn, self._failure_shown) != (stream.turn, sentence):
            self._failure_shown = sentence
            if present:
                self._failed_turn = stream.turn
            failure = backend_failure(self._now(), sentence, error.kind, stream.backend, secondary=self.secondary)
            self._context.failed(failure, error.kind, stream.backend)
            self._emit(failure)
        if took_over:
            self._failed_turn = 0
            self._context.changed(stream.backend)

    def _waits_out(self, stream: OracleStream, rest: float) -> bool:
        """Deals with a request that was refused only because there were too many; returns False if it has to fail.

        One on a partial transcript isn't missed. Another one is sent again if the wait is short, or if no other
        back-end could answer meanwhile.
        """
        if self._latest is None or self._latest.turn != stream.turn or stream is not self._newest:
            return True
        if not self._latest.final:
            return True
        if rest > self._longest_wait:
            return False
        self._schedule.wait(stream.backend, stream.turn, rest)
        return True

    def _retry(self, turn: int) -> None:
        """Asks about `turn` again, unless the user has moved on."""
        if self._latest is not None and self._latest.turn == turn:
            self._failed_turn = 0
            self._ask_again()

    def _has_answer(self, backend: Backend) -> bool:
        """Whether `backend` has answered, or is answering, all that the user has said in this turn."""
        said, latest = self._speaks, self._latest
        if said is None or said.backend is not backend or latest is None or not said.usable:
            return False
        if said.turn != latest.turn or fold(said.words) != fold(latest.words):
            return False
        self._newest = said
        self.policy.started(latest.turn, latest.words, self._now())
        self.policy.spoke()
        if said.over:
            self.policy.ended()
        if latest.final and not said.final:
            self._promote(said)
        return True

    def end(self, stream: OracleStream, reason: e.EndReason) -> None:
        if stream.over:
            return
        now = self._now()
        stream.over, stream.complete = True, reason == "complete"
        self._streams.pop(stream.revision, None)
        if stream is self._newest:
            self.policy.ended()
        self._emit(e.OracleEnded(now, stream.revision, reason, stream.count))
        if reason == "superseded" and not stream.count:
            self._context.pace(stream.backend).began(now - stream.asked_at, "superseded")
        if stream.count or reason != "failed" or stream.usage is not None:
            count(stream, self._context, now)  # a refused request cost nothing
        if reason != "superseded":
            self._post(OracleDone(stream.revision, failed=reason == "failed"))
        if reason == "complete":
            self._failed_turn = 0
        if stream.retry:
            self._retry(stream.turn)

    def _cancel(self, stream: OracleStream) -> None:
        """Closes a stream without waiting. Words that it still delivers are dropped."""
        self.end(stream, "superseded")
        if stream.task is not None and stream.task is not asyncio.current_task():
            stream.task.cancel()
