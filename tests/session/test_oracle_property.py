"""Even if words are late, many or missing, every word of the newest revision reaches the front-end once, in order.
Runs the real runner, mailbox and loop in simulated time against random arrival times, revision lengths, delta cuts,
stalls and failures, and reads what a front-end was given frame by frame."""

import asyncio
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.conversation import events as e
from app.conversation.oracle import OraclePolicy
from app.conversation.prompt import ChatMessage
from app.conversation.speaking.revisions import OracleAsked, OracleDone, OracleWords
from app.session.clock import run_simulated
from app.session.mailbox import Mailbox
from app.session.oracle_runner import OracleRunner
from app.session.oracle_stream import OracleContext
from tests.support.examples import examples


@dataclass(frozen=True)
class Ask:
    """The transcript grows by `words` words after `gap` seconds."""

    gap: float
    words: int
    final: bool
    settled: bool


SECONDS = st.sampled_from([0.0, 0.01, 0.05, 0.08, 0.1, 0.3, 1.2, 4.0])


@st.composite
def answers(draw: st.DrawFn) -> ScriptedAnswer:
    words = draw(st.integers(0, 30))
    text = " ".join(f"{'—' if n % 7 == 3 else ''}w{n}" for n in range(words))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=20)))
    deltas = tuple(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))
    error = draw(st.sampled_from(["", "", "", "It broke. Ask again."]))
    return ScriptedAnswer(deltas, draw(SECONDS), draw(SECONDS) / 10, error)


ASKS = st.lists(st.builds(Ask, SECONDS, st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=12)


def _reply(script: list[ScriptedAnswer], words: str) -> ScriptedAnswer:
    """The answer to some words: which one depends on them alone."""
    return script[len(words) % len(script)]


async def _run(asks: list[Ask], script: list[ScriptedAnswer], concurrent: bool) -> tuple[list, list, int]:
    loop = asyncio.get_running_loop()
    mailbox, events, given_out = Mailbox(), [], []
    backend = ScriptedBackend(lambda request: _reply(script, request.messages[0].content), concurrent=concurrent)
    async with asyncio.TaskGroup() as group:
        host = OracleContext(
            request=lambda backend, turn, words, final: ChatRequest((ChatMessage("user", words),)),
            post=mailbox.post,
            emit=events.append,
            now=loop.time,
            group=group,
        )
        runner = OracleRunner(host, backend, OraclePolicy(interval=0.2))
        over = asyncio.Event()

        async def frames() -> None:
            while not over.is_set():
                given_out.extend(mailbox.drain())
                for _ in range(3):
                    await asyncio.sleep(0.02)
                    given_out.extend(mailbox.take_oracle())
                await asyncio.sleep(0.02)
            given_out.extend(mailbox.drain())

        group.create_task(frames())
        turn, words = 1, ["What", "is"]
        for ask in asks:
            await asyncio.sleep(ask.gap)
            words += [f"more{len(words) + n}" for n in range(ask.words)]
            runner.transcript(turn, " ".join(words), final=ask.final, settled=ask.settled, language="en")
            if ask.final:
                turn, words = turn + 1, ["Then", "what"]
        while runner.busy:
            await asyncio.sleep(0.5)
        await runner.close()
        over.set()
    return given_out, events, backend.open_streams


@settings(max_examples=examples(250), suppress_health_check=[HealthCheck.too_slow])
@given(ASKS, st.lists(answers(), min_size=1, max_size=6), st.booleans())
def test_the_newest_revision_arrives_in_order(asks: list[Ask], script: list[ScriptedAnswer], concurrent: bool) -> None:
    given_out, events, open_streams = run_simulated(_run(asks, script, concurrent))
    assert open_streams == 0
    words = [item for item in given_out if isinstance(item, OracleWords)]
    # Nothing of a superseded revision after its successor's first word, and never backwards.
    revisions = [item.revision for item in words]
    assert revisions == sorted(revisions)
    by_revision: dict[int, str] = {}
    for item in words:
        by_revision[item.revision] = by_revision.get(item.revision, "") + item.text
    asked = [item.revision for item in given_out if isinstance(item, OracleAsked)]
    assert asked == list(range(1, len(asked) + 1))
    ended = {x.revision: x for x in events if isinstance(x, e.OracleEnded)}
    assert sorted(ended) == asked, "a stream was left without an end"
    requested = {x.revision: x.words for x in events if isinstance(x, e.OracleRequested)}
    for revision in asked:
        full = " ".join("".join(_reply(script, requested[revision]).deltas).split())
        told = " ".join(by_revision.get(revision, "").split())
        if ended[revision].reason == "complete":
            assert told == full
        elif ended[revision].reason == "failed":
            assert told == full  # what came before it broke is not lost
        else:
            assert full.startswith(told)  # cut off, but nothing skipped, twice, or out of order
    done = [item.revision for item in given_out if isinstance(item, OracleDone)]
    assert len(done) == len(set(done))
    if asked:
        newest = asked[-1]
        assert ended[newest].reason in ("complete", "failed")


def test_a_stream_superseded_before_its_task_ran_still_ends() -> None:
    asks = [Ask(0.0, 2, False, True), Ask(0.0, 2, True, True), Ask(0.0, 2, True, True)]
    script = [ScriptedAnswer(("one two",), 0.0, 0.0)]
    _, events, _ = run_simulated(_run(asks, script, True))
    ended, requested = ([x for x in events if isinstance(x, kind)] for kind in (e.OracleEnded, e.OracleRequested))
    assert len(ended) == len(requested)
