"""The slow clock: asks the back-end as the user's words grow, and sends what it says to the front-end.

The newest revision wins, but only once it speaks: until its first whole words are there, the stream
before it goes on. Nothing is lost, nothing is reordered, nothing of an older revision passes behind the
first words of a newer one. Knows nothing of sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.backend.base import Backend, BackendError, ChatRequest
from app.conversation import events as e
from app.conversation.oracle import OraclePolicy, OracleTrack
from app.conversation.words import WordGatherer, fold
from app.frontend.base import OracleAsked, OracleCompleted, OracleDone, OracleWords
from app.session.mailbox import Message


@dataclass(slots=True)
class _Stream:
    revision: int
    turn: int
    words: str
    final: bool
    backend: Backend
    task: asyncio.Task[None] | None = None
    count: int = 0
    over: bool = False
    enough: bool = False


class OracleRunner:
    """`request` makes the chat request for (turn, words); `post` reaches the front-end; `emit` everyone.

    `group` holds the tasks of all streams. `now` is the session's time.
    """

    def __init__(
        self,
        *,
        backend: Backend,
        policy: OraclePolicy,
        request: Callable[[int, str], ChatRequest],
        post: Callable[[Message], None],
        emit: Callable[[e.Event], None],
        now: Callable[[], float],
        group: asyncio.TaskGroup,
    ) -> None:
        self.backend = backend
        self.policy = policy
        self._request = request
        self._post = post
        self._emit = emit
        self._now = now
        self._group = group
        self._track = OracleTrack()
        self._streams: dict[int, _Stream] = {}
        self._newest: _Stream | None = None
        self._latest: tuple[int, str, bool, bool] | None = None
        self._spoke_last = (0, 0)
        self._priming: asyncio.Task[None] | None = None
        self._failed_turn = 0
        self._told = ""

    @property
    def busy(self) -> bool:
        """Whether a stream is open."""
        return bool(self._streams)

    def transcript(self, turn: int, words: str, *, final: bool, settled: bool) -> None:
        """The user's turn `turn` reads `words` now. `settled`: they are silent; `final`: it is over."""
        if turn == self._failed_turn and not final:
            return  # a brain that just failed isn't asked again for every word
        self._latest = (turn, words, final, settled)
        decision = self.policy.decide(turn, words, self._now(), final=final, paused=settled)
        if decision == "start":
            self._start(turn, words, final)
        elif decision == "promote" and self._newest is not None and not self._newest.final:
            self._newest.final = True
            self._emit(e.OraclePromoted(self._now(), self._newest.revision))
            self._post(OracleCompleted(self._newest.revision))

    def prime(self, turn: int) -> None:
        """Lets the back-end read in advance what the request for `turn` will begin with."""
        if not self._streams:
            self._priming = self._group.create_task(
                self.backend.prime(self._request(turn, "")), name=f"prime-{turn}"
            )

    def abandon(self, turn: int) -> None:
        """The answer to `turn` is not wanted any more: its streams are closed."""
        for stream in list(self._streams.values()):
            if stream.turn == turn:
                self._cancel(stream)

    async def close(self) -> None:
        """Closes all streams and waits for them."""
        tasks = [s.task for s in self._streams.values() if s.task is not None]
        if self._priming is not None:
            tasks.append(self._priming)  # nobody must wait for it at the end
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # -- one revision ------------------------------------------------------------------------------

    def _start(self, turn: int, words: str, final: bool) -> None:
        before = self._newest
        revision = self._track.begin()
        stream = _Stream(revision, turn, words, final, self.backend)
        self._newest = stream
        self._streams[revision] = stream
        self.policy.started(turn, words, self._now())
        self._emit(
            e.OracleRequested(
                self._now(), revision, turn, self.backend.name, self.backend.model, words, final
            )
        )
        self._post(OracleAsked(revision, turn, final))
        for old in list(self._streams.values()):
            # Besides the newest, the one that speaks now goes on; whoever has not spoken by now is past.
            if old.revision < revision and not self._may_go_on(old, before):
                self._cancel(old)
        stream.task = self._group.create_task(self._run(stream), name=f"oracle-{revision}")

    def _may_go_on(self, old: _Stream, before: _Stream | None) -> bool:
        if old.turn != self._newest.turn:  # type: ignore[union-attr]
            return False
        if old.backend is self.backend and not self.backend.traits.concurrent:
            return old is before and not old.count
        return old is before or old.revision == self._track.speaking

    async def _run(self, stream: _Stream) -> None:
        gatherer = WordGatherer()
        reason: e.EndReason = "complete"
        try:
            request = self._request(stream.turn, stream.words)
            async with stream.backend.stream(request) as deltas:
                async for delta in deltas:
                    self._deliver(stream, gatherer.push(delta))
                    if stream.over:
                        return  # its own first words have set a newer one going
                    if stream.enough:
                        break
            if not stream.enough:  # what came behind the sentence's end is the next one's beginning
                self._deliver(stream, gatherer.flush())
            if not stream.count:
                self._fail(stream, f"{stream.backend.name} gave an empty answer. Ask again, or choose another brain.")
                reason = "failed"
        except asyncio.CancelledError:
            reason = "superseded"
            raise
        except BackendError as error:
            self._deliver(stream, gatherer.flush())
            self._fail(stream, str(error))
            reason = "failed"
        except Exception as error:
            self._deliver(stream, gatherer.flush())
            self._fail(
                stream,
                f"{stream.backend.name} failed in a way that this app does not know ({type(error).__name__}). "
                "Ask again, or choose another brain.",
            )
            reason = "failed"
        finally:
            self._end(stream, reason)

    def _deliver(self, stream: _Stream, text: str) -> None:
        if stream.over or not text:
            return
        first = stream.count == 0
        if not self._track.accept(stream.revision, text):
            return
        now = self._now()
        if first:
            if stream is self._newest:
                self.policy.spoke()
            self._supersede(stream, now)
        stream.count += len(fold(text))
        enough = stream.backend.traits.enough_words
        stream.enough = 0 < enough <= stream.count and text.rstrip().endswith((".", "!", "?"))
        self._emit(e.OracleDelta(now, stream.revision, text))
        self._post(OracleWords(stream.revision, stream.turn, text, now))
        if first and stream is self._newest:
            self._reconsider()

    def _supersede(self, stream: _Stream, now: float) -> None:
        """`stream` has spoken: what spoke before it in this turn is past, whether it has ended or not."""
        past = [old.revision for old in self._streams.values() if old.revision < stream.revision]
        revision, turn = self._spoke_last
        if turn == stream.turn and revision not in past:
            past.append(revision)
        for revision in sorted(past):
            self._emit(e.OracleSuperseded(now, revision, stream.revision))
        self._spoke_last = (stream.revision, stream.turn)
        for old in list(self._streams.values()):
            if old.revision < stream.revision:
                self._cancel(old)

    def _reconsider(self) -> None:
        """The newest request has its say now: words that came meanwhile may be worth another."""
        if self._latest is not None and not self._latest[2]:
            turn, words, final, settled = self._latest
            self.transcript(turn, words, final=final, settled=settled)

    def _fail(self, stream: _Stream, sentence: str) -> None:
        if not stream.over and (self._failed_turn, self._told) != (stream.turn, sentence):
            self._failed_turn, self._told = stream.turn, sentence
            self._emit(e.Failure(self._now(), "backend", sentence))

    def _end(self, stream: _Stream, reason: e.EndReason) -> None:
        if stream.over:
            return
        stream.over = True
        self._streams.pop(stream.revision, None)
        if stream is self._newest:
            self.policy.ended()
        self._emit(e.OracleEnded(self._now(), stream.revision, reason, stream.count))
        if reason != "superseded":
            self._post(OracleDone(stream.revision, failed=reason == "failed"))
        if reason == "complete":
            self._failed_turn = 0

    def _cancel(self, stream: _Stream) -> None:
        """Closes a stream without waiting: what it still says is refused from this moment on."""
        self._end(stream, "superseded")
        if stream.task is not None and stream.task is not asyncio.current_task():
            stream.task.cancel()

