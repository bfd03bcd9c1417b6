"""Asks one back-end as the user's words grow, and streams its revisions to the front-end.

The newest revision wins, but only from its first whole words on: until then the stream before it goes on. Nothing is
lost or reordered, and no word of an older revision follows the first words of a newer one. The back-end can be
exchanged at any moment; one that fails gives way to the one before it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from app.backend.base import Backend, BackendError, FaultKind, Notice
from app.conversation import events as e
from app.conversation.markdown import ends_in_block
from app.conversation.oracle import Kind, OraclePolicy
from app.conversation.speaking.revisions import OracleAsked, OracleCompleted, OracleDone, OracleWords, Revisions
from app.conversation.turns.floor import Interrupt
from app.conversation.words import fold, is_backchannel
from app.session.mailbox import Message
from app.session.oracle_stream import (
    SHORT_WAIT_SECONDS,
    Chooser,
    OracleContext,
    OracleStream,
    RequestSchedule,
    backend_failure,
    count,
    run,
)

LONGEST_WAIT_SECONDS = 20.0
"""The longest time to wait for a server whose rate limit is reached, rather than to leave a question unanswered."""
SPARING_FACTOR = 4.0
"""How much longer the interval between requests is when the cap comes near."""
_NOT_RETRIED: tuple[FaultKind, ...] = ("content",)
"""Faults of the question, which no other back-end is asked to make good."""


class OracleRunner:
    """`backend` answers; `standby`, the one before it, takes over when it fails.

    `secondary`: revisions are shown and not spoken. `sparing`: ask less often. `refused_turn`: the last turn that was
    not asked about because of its cost, or 0.
    """

    def __init__(
        self, context: OracleContext, backend: Backend, policy: OraclePolicy, *, secondary: bool = False
    ) -> None:
        self.backend = backend
        self.standby: Backend | None = None
        self.policy = policy
        self.sparing = False
        self._context = context
        self.secondary = secondary
        self._emit = context.emit
        self._now = context.now
        self._post: Callable[[Message], None] = (lambda message: None) if secondary else context.post
        self._numbers = context.numbers or itertools.count(1)
        self._revisions = Revisions()
        self._streams: dict[int, OracleStream] = {}
        self._newest: OracleStream | None = None
        self._speaks: OracleStream | None = None
        self._latest: tuple[int, str, bool, bool] | None = None
        self._spoke_last = (0, 0)
        self._priming: asyncio.Task[None] | None = None
        self._failed_turn = 0
        self._told = ""
        self._notified = (0, "")
        self._schedule = RequestSchedule(context, self._ask_after_wait, secondary=secondary)
        self._worked: set[Backend] = set()
        self.refused_turn = 0
        self._closed = False
        self._routed: tuple[int, str, Backend] | None = None

    @property
    def busy(self) -> bool:
        """Whether a stream is open, or a request waits for its server."""
        return bool(self._streams) or self._schedule.waits

    def uses(self, backend: Backend) -> bool:
        """Whether a stream of `backend` is open or may still be opened."""
        return backend in (self.backend, self.standby) or any(
            backend in (s.backend, s.chosen) for s in self._streams.values()
        )

    def transcript(self, turn: int, words: str, *, final: bool, settled: bool, language: str = "en") -> None:
        """Take in the words of a user's turn so far. `settled`: the user is silent; `final`: the turn is over."""
        self.policy.language = language
        if self._closed or (not final and is_backchannel(words, language)):
            return  # "mhm" asks for nothing, and must not end the answer
        self._latest = (turn, words, final, settled)
        if turn == self._failed_turn and not final:
            return  # a back-end that just failed isn't asked again for every word
        self._set_pace()
        decision = self.policy.decide(turn, words, self._now(), final=final, paused=settled)
        newest = self._newest
        if decision == "promote" and newest is not None and not newest.final:
            if self._context.acts() and not self.secondary:
                decision = "start"  # tools may change something for a complete turn only
            elif newest.over and not newest.complete:
                decision = "start"  # it failed, or was cancelled
        silent = final or settled
        if newest is not None and newest.turn == turn:
            newest.want(whole=silent)
            if silent and newest.cut_short:
                decision = "start"
        if decision == "start":
            self._start(
                turn, words, final, brief=not silent, kind="final" if final else "paused" if settled else "partial"
            )
        elif decision == "promote" and newest is not None:
            if not newest.final:
                newest.final = True
                self._emit(e.OraclePromoted(self._now(), newest.revision))
            # Also a second time: the user may have gone on without saying more.
            self._post(OracleCompleted(newest.revision))

    def prime(self, turn: int) -> None:
        """Let the back-end read in advance what the request for `turn` will begin with."""
        if not self._streams and not self._closed:
            request = self._context.request(self.backend, turn, "", False)
            self._priming = self._context.group.create_task(self.backend.prime(request), name=f"prime-{turn}")

    def swap(self, backend: Backend, *, again: bool) -> None:
        """Ask `backend` from the next request on; with `again` it is asked at once for the present turn.

        The old one's stream goes on until the new one has words.
        """
        if backend is self.backend:
            return
        if self.standby is None or self.backend in self._worked:  # one that is known to work is the better standby
            self.standby = self.backend
        self.backend = backend
        self._failed_turn, self._told, self._routed = 0, "", None
        if again:
            self._ask_again(wanted=True)

    def abandon(self, turn: int) -> None:
        """Closes the streams that answer `turn`, and no longer waits to ask about it."""
        if self._latest is not None and self._latest[0] == turn:
            self._schedule.stop()
        for stream in list(self._streams.values()):
            if stream.turn == turn:
                self._cancel(stream)

    async def close(self) -> None:
        """Close all streams and wait for them; nothing is asked from now on."""
        self._closed = True
        self._schedule.stop()
        tasks = [s.task for s in self._streams.values() if s.task is not None]
        for stream in list(self._streams.values()):
            self._cancel(stream)
        if self._priming is not None:
            self._priming.cancel()  # not worth waiting for
            tasks.append(self._priming)
        if tasks:
            await asyncio.wait(tasks)

    # -- handing over ------------------------------------------------------------------------------

    def hand_over_to(self, driver: OracleRunner, turn: int | None) -> None:
        """Exchange back-ends with `driver`: this secondary runner's back-end drives from now on.

        With a `turn`, the words that it has for that turn go to the front-end at once, and the rest as they come.
        """
        mine = self._newest
        fits = mine is not None and mine.turn == turn and (mine.count or not mine.over)
        taken = mine if fits and mine is not None and not (mine.over and not mine.complete) else None
        for stream in list(self._streams.values()):
            if stream is not taken:
                self._cancel(stream)
        if taken is not None:
            self._streams.pop(taken.revision, None)
            self._spoke_last = (0, 0)  # it is the driver's now, and no later answer of this runner supersedes it
        self.backend, driver.backend = driver.backend, self.backend
        self.standby, driver.standby = None, self.backend
        self._routed = driver._routed = None
        self._newest = self._speaks = None
        self._failed_turn, driver._failed_turn = driver._failed_turn, self._failed_turn
        self._worked, driver._worked = driver._worked, self._worked
        self.policy.forget()
        if taken is not None:
            driver._take_over(taken)
        elif turn is not None:
            driver._ask_again(wanted=True)

    def _take_over(self, stream: OracleStream) -> None:
        """Go on with a stream of the other runner as this runner's newest; it keeps its revision number."""
        now, before = self._now(), self._newest
        stream.owner = self
        self._newest = stream
        if not stream.over:
            self._streams[stream.revision] = stream
        self.policy.started(stream.turn, stream.words, now)
        self._emit(e.OracleHandedOver(now, stream.revision))
        self._ask(stream, wanted=True, paused=not stream.brief)
        self._drop_past(stream, before)
        if stream.count and self._revisions.add(stream.revision, stream.text) is not None:
            self.policy.spoke()
            self._supersede(stream, now)
            self._post(OracleWords(stream.revision, stream.turn, stream.text, now))
        if stream.over:
            self.policy.ended()
            if not stream.cut_short:  # a whole answer follows
                self._post(OracleDone(stream.revision))

    def _ask(self, stream: OracleStream, *, wanted: bool, paused: bool) -> None:
        """Makes a stream's revision the newest, here and in the front-end."""
        asked = OracleAsked(
            stream.revision,
            stream.turn,
            stream.final,
            wanted,
            stream.words,
            paused=paused,
            expected=self._context.pace(stream.backend).first_clause,
            language=self.policy.language,
        )
        stream.order = self._revisions.ask(asked, in_use=self._revisions.speaking).order
        self._post(asked)

    # -- one revision ------------------------------------------------------------------------------

    def _set_pace(self) -> None:
        pace = self._context.pace(self._newest.backend if self._newest is not None else self.backend)
        self.policy.interval = pace.interval * (SPARING_FACTOR if self.sparing else 1.0)
        self.policy.new_words = pace.new_words
        self.policy.sparing = self.sparing

    def _ask_again(self, *, wanted: bool = False) -> None:
        if self._latest is not None and (self._latest[2] or self.policy.partials):
            turn, words, final, _ = self._latest
            if fold(words):
                self._start(turn, words, final, wanted=wanted)

    def _choose(self, turn: int, words: str) -> Backend:
        if not isinstance(self.backend, Chooser):
            return self.backend
        choice = self.backend.choose(turn, words, self._context.allowed)
        route = (turn, choice.kind, choice.backend)
        if route != self._routed:
            self._routed = route
            self._emit(
                e.BackendRouted(
                    self._now(),
                    turn,
                    choice.kind,
                    round(choice.share, 3),
                    choice.backend.name,
                    choice.backend.model,
                    choice.reason,
                    self.secondary,
                )
            )
        return choice.backend

    def _start(
        self, turn: int, words: str, final: bool, *, wanted: bool = False, brief: bool = False, kind: Kind = "final"
    ) -> None:
        """Sends a request, unless its cost or the server's rate limit forbids it."""
        if self._closed:
            return
        backend = self._choose(turn, words)
        if not self._context.allowed(backend):
            self._refuse(turn, final)
            return
        before, now = self._newest, self._now()
        if not self._schedule.may_send(backend, turn, kind, self._longest_wait):
            return
        cold = self._schedule.sent(backend)
        revision = next(self._numbers)
        stream = OracleStream(self, revision, turn, words, final, backend, self.backend, now, cold=cold)
        stream.want(whole=not brief)
        self._newest = stream
        self._streams[revision] = stream
        self.policy.started(turn, words, now)
        self._emit(
            e.OracleRequested(
                now, revision, turn, backend.name, backend.model, words, final, self.secondary, self.policy.language
            )
        )
        self._ask(stream, wanted=wanted, paused=not brief)
        self._drop_past(stream, before)
        stream.task = self._context.group.create_task(run(stream, self._context), name=f"oracle-{revision}")

    @property
    def _longest_wait(self) -> float:
        """How long a question waits for the limit of its server: only briefly if another back-end could answer it."""
        another = self.standby is not None or isinstance(self.backend, Chooser)
        return SHORT_WAIT_SECONDS if another else LONGEST_WAIT_SECONDS

    def _refuse(self, turn: int, final: bool) -> None:
        """No back-end may be asked because of its cost: tell the user once a turn, and end the turn."""
        if not final or turn == self.refused_turn:
            return
        self.refused_turn = turn
        self._post(Interrupt(user_speaks=False))
        if not self.secondary:
            self._emit(
                e.Failure(
                    self._now(),
                    "backend",
                    "This is not answered, since the conversation has cost as much as you allow. Raise the spending "
                    "limit, or choose a model that runs on this machine.",
                    about="unanswered",
                )
            )

    def ask_refused(self) -> None:
        """Ask what was refused because of its cost."""
        if self.refused_turn and self._latest is not None and self._latest[0] == self.refused_turn:
            self._ask_again()

    def _drop_past(self, stream: OracleStream, before: OracleStream | None) -> None:
        """Cancel older streams: besides the newest one only the one that speaks now goes on."""
        if stream.turn == self.refused_turn:
            self.refused_turn = 0
        for old in list(self._streams.values()):
            if old.order < stream.order and not self._may_go_on(old, stream, before):
                self._cancel(old)

    def _may_go_on(self, old: OracleStream, new: OracleStream, before: OracleStream | None) -> bool:
        if old.turn != new.turn:
            return False
        if old.backend is new.backend and not new.backend.traits.concurrent:
            # One request at a time: the complete turn must not wait behind a guess at its beginning.
            return old is before and not old.count and not new.final
        speaking = self._revisions.speaking
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
            text = stream.text
        if first:
            stream.first_at = now
            self._worked.add(stream.chosen)
            self._context.pace(stream.backend).began(now - stream.asked_at, "cold" if stream.cold else "warm")
            if stream is self._newest:
                self.policy.spoke()
            self._supersede(stream, now)
        stream.count += len(fold(text))
        traits = stream.backend.traits
        if stream.brief:
            stream.enough = stream.count >= traits.partial_words
        else:
            stream.enough = traits.is_enough(text, stream.count) and not ends_in_block(stream.text)
        self._emit(e.OracleDelta(now, stream.revision, text))
        self._post(OracleWords(stream.revision, stream.turn, text, now))
        if first and stream is self._newest:
            self._reconsider()

    def _supersede(self, stream: OracleStream, now: float) -> None:
        """`stream` has its first words: it supersedes what spoke before it in this turn."""
        past = [old.revision for old in self._streams.values() if old.order < stream.order]
        revision, turn = self._spoke_last
        if turn == stream.turn and revision not in past:
            past.append(revision)
        for revision in sorted(past):
            self._emit(e.OracleSuperseded(now, revision, stream.revision))
        self._spoke_last = (stream.revision, stream.turn)
        self._speaks = stream
        for old in list(self._streams.values()):
            if old.order < stream.order:
                self._cancel(old)

    def _reconsider(self) -> None:
        """The newest request has answered: the words that came meanwhile may be worth another one."""
        if self._latest is not None and not self._latest[2]:
            turn, words, final, settled = self._latest
            self.transcript(turn, words, final=final, settled=settled)

    # -- its end -----------------------------------------------------------------------------------

    def notify(self, stream: OracleStream, notice: Notice) -> None:
        """Shows a message about how the answer comes about, once a turn."""
        sentence = f"The comparison model: {notice.sentence}" if self.secondary else notice.sentence
        if stream.over or (stream.turn, sentence) == self._notified:
            return
        self._notified = (stream.turn, sentence)
        if notice.loss:
            self._emit(e.Failure(self._now(), "backend", sentence, secondary=self.secondary, about="backend"))
        else:
            self._emit(e.Notice(self._now(), "backend", sentence))

    def fail(self, stream: OracleStream, error: BackendError) -> None:
        """Tell what failed, and let another back-end answer if there is one."""
        if stream.over:
            return
        sentence, took_over = str(error), False
        rest = self._schedule.refused(stream.backend, error)
        limited = error.kind == "quota" and rest > 0
        present = stream.chosen is self.backend
        if limited and present and not stream.count and self._waits_out(stream, rest):
            return
        self._context.failed(stream.chosen, error.kind)
        if not stream.count and error.kind not in _NOT_RETRIED and stream is self._newest and present:
            if isinstance(self.backend, Chooser) and self.backend.failed(stream.backend, rest):
                stream.retry = True
                sentence += " Another model of the routing table answers meanwhile."
            elif self.standby is not None:
                self.backend, self.standby, took_over = self.standby, None, True
                stream.retry = not self._has_answer(self.backend)
                sentence += f" {self.backend.name} ({self.backend.model}) answers again."
        if (self._failed_turn, self._told) != (stream.turn, sentence):
            self._told = sentence
            if present:
                self._failed_turn = stream.turn
            failure = backend_failure(self._now(), sentence, error, stream.backend, secondary=self.secondary)
            self._context.reported(failure, stream.backend, stream.chosen)
            self._emit(failure)
        if took_over:
            self._routed = None
            self._failed_turn = 0
            self._context.changed(stream.chosen)

    def _waits_out(self, stream: OracleStream, rest: float) -> bool:
        """Deals with a request that was refused only because there were too many; returns False if it has to fail.

        One on a partial transcript isn't missed. Another one is sent again if the wait is short, or if no other
        back-end could answer meanwhile.
        """
        if self._latest is None or self._latest[0] != stream.turn or stream is not self._newest:
            return True
        if rest > SHORT_WAIT_SECONDS and isinstance(self.backend, Chooser):
            return False  # another one answers, also what the user is still saying
        if not self._latest[2]:
            return True
        if rest > self._longest_wait:
            return False
        self._schedule.wait(stream.backend, stream.turn, rest)
        return True

    def _ask_after_wait(self, turn: int) -> None:
        """Asks about `turn`, whose server accepts requests again, unless the user has moved on."""
        if not self._closed and self._latest is not None and self._latest[0] == turn:
            self._failed_turn = 0
            self._ask_again()

    def _has_answer(self, backend: Backend) -> bool:
        """Whether `backend` has an answer, complete or under way, to all that the user has said in this turn."""
        said = self._speaks
        if said is None or said.backend is not backend or self._latest is None or said.cut_short:
            return False
        turn, words, final, _ = self._latest
        if said.turn != turn or fold(said.words) != fold(words) or not (said.complete or not said.over):
            return False
        self._newest = said
        self.policy.started(turn, words, self._now())
        self.policy.spoke()
        if said.over:
            self.policy.ended()
        if final and not said.final:
            said.final = True
            self._emit(e.OraclePromoted(self._now(), said.revision))
            self._post(OracleCompleted(said.revision))
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
        if reason != "superseded" and not stream.cut_short:  # a whole answer follows
            self._post(OracleDone(stream.revision, failed=reason == "failed"))
        if reason == "complete":
            self._failed_turn = 0
        if stream.retry and not self._closed and self._latest is not None and self._latest[0] == stream.turn:
            self._failed_turn = 0
            self._ask_again()

    def _cancel(self, stream: OracleStream) -> None:
        """Close a stream without waiting; what it still says is refused from now on."""
        self.end(stream, "superseded")
        if stream.task is not None and stream.task is not asyncio.current_task():
            stream.task.cancel()
