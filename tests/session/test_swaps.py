"""The back-end is changed in mid-conversation: by hand, by its own failure, by handing over, and at random."""

import asyncio
import gc
import itertools
import random
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from app.backend.base import Backend, BackendError, ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.cli.talk_command import Swapper
from app.conversation import events as e
from app.conversation.words import fold
from app.session.control import BackendChoice
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, at, change, hand_over, making, simulate

QUESTION = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]


class Makers:
    """Makes scripted back-ends by their model's name, and keeps them."""

    def __init__(self, script: Callable[[str, ChatRequest], ScriptedAnswer], *, opening: float = 0.0) -> None:
        self.made: list[ScriptedBackend] = []
        self._script = script
        self._opening = opening

    async def __call__(self, choice: BackendChoice) -> Backend:
        made = self.make(choice.model)
        await asyncio.sleep(self._opening)
        return made

    def make(self, model: str) -> ScriptedBackend:
        made = ScriptedBackend(lambda request: self._script(model, request), name=model.upper(), model=model)
        self.made.append(made)
        return made

    def talk(self, first: str, script: list[ScriptedTurn] = QUESTION, **more: Any) -> Talk:
        """A conversation that begins with the back-end `first`; the others are made here, too."""
        return simulate(script, lambda r: answer(""), backend=self.make(first), make_backend=self, **more)


def choose(model: str) -> Callable[[Session], object]:
    return lambda session: session.change(backend=BackendChoice("scripted", model))


def words_of(model: str, count: int) -> str:
    return " ".join(f"{model}{n}" for n in range(count)) + "."


def disagreements(session: Session) -> list[e.Event]:
    """The events, from now on, that don't find the session in the state that they report."""
    found: list[e.Event] = []

    def agrees(event: e.Event) -> bool:
        state = session.state
        match event:
            case e.BackendChanged(model=model, reason=reason):
                told = event.provider, event.chosen_model, event.base_url
                return (state.driving.public, state.model, state.reason) == (told, model, reason)
            case e.SecondaryChanged(backend=backend):
                return (state.secondary is not None) == bool(backend) and state.secondary != state.driving
            case e.ChangeRefused(part=part, sentence=sentence):
                refusal = state.refusal(part)
                return refusal is not None and refusal.sentence == sentence
            case e.Failure() if event.provider:
                return state.fault_of(event) is not None
        return True

    session.add_listener(lambda event: None if agrees(event) else found.append(event))
    return found


def fed_in_order(talk: Talk) -> None:
    """Whatever the front-end was fed was of the newest revision that had words."""
    orders: dict[int, int] = {}
    count = itertools.count(1)
    driving: set[int] = set()
    speaking = fed = 0
    for event in talk.events:
        match event:
            case e.OracleRequested(revision=revision, secondary=secondary):
                orders[revision] = next(count)
                if not secondary:
                    driving.add(revision)
            case e.OracleHandedOver(revision=revision):
                orders[revision] = next(count)
                driving.add(revision)
            case e.OracleDelta(revision=revision) if revision in driving:
                assert orders[revision] >= speaking
                speaking = orders[revision]
            case e.OracleFed(revision=revision):
                assert revision in driving, "fed by the comparison model"
                assert fed <= orders[revision], "fed by a revision that a newer one had silenced"
                fed = orders[revision]


def asked(talk: Talk, revision: int) -> e.OracleRequested:
    return next(x for x in talk.of(e.OracleRequested) if x.revision == revision)


def test_in_mid_answer_the_new_backend_takes_over_as_soon_as_it_has_words() -> None:
    makers = Makers(lambda model, request: answer(words_of(model, 60), first=0.7 if model == "new" else 0.1, every=0.2))
    talk = makers.talk("old", seconds=30, during=at(6.0, choose("new")))
    [change] = talk.of(e.BackendChanged)
    assert (change.backend, change.model, change.reason) == ("NEW", "new", "chosen")
    first = next(d for d in talk.of(e.OracleDelta) if asked(talk, d.revision).model == "new")
    assert first.at - change.at == pytest.approx(0.7, abs=0.25)
    # The old stream fed on until then, and not after.
    olds = [d.at for d in talk.of(e.OracleDelta) if asked(talk, d.revision).model == "old"]
    assert change.at < max(olds) < first.at
    assert first.at - max(olds) <= 0.3, "the listener's gap is more than a word of the old one"
    said = talk.said(1)
    assert (
        "old0" in said
        and "new" in said
        and fold(said).index("old0") < min(i for i, w in enumerate(fold(said)) if w.startswith("new"))
    )
    assert talk.transcript.last("assistant").backends == ("old", "new")  # type: ignore[union-attr]
    fed_in_order(talk)
    assert not talk.tasks_left and all(b.open_streams == 0 and b.closed for b in makers.made)


def test_while_nobody_waits_a_swap_asks_nothing() -> None:
    makers = Makers(lambda model, request: answer(words_of(model, 5)))
    talk = makers.talk(
        "old",
        [*QUESTION, ScriptedTurn(15.0, 17.0, "And what of Spain then?")],
        seconds=30,
        during=at(12.0, choose("new")),
    )
    assert not [r for r in talk.of(e.OracleRequested) if 11 < r.at < 15]
    assert talk.said(1) == words_of("old", 5) and talk.said(2) == words_of("new", 5)


def test_a_backend_that_can_not_be_opened_changes_nothing() -> None:
    async def refuse(choice: BackendChoice) -> Backend:
        raise BackendError("There is no such model. Choose another.", "setup")

    async def try_it(session: Session) -> None:
        await change(session, backend=BackendChoice("scripted", "new"))

    talk = simulate(QUESTION, lambda r: answer(words_of("old", 8)), make_backend=refuse, during=at(2.0, try_it))
    [refused] = talk.of(e.ChangeRefused)
    assert (refused.part, refused.sentence) == ("backend", "There is no such model. Choose another.")
    assert (refused.provider, refused.model) == ("scripted", "new")
    assert talk.said(1) == words_of("old", 8) and not talk.of(e.BackendChanged)


def test_a_backend_that_fails_after_the_swap_gives_way_to_the_old_one() -> None:
    def script(model: str, request: ChatRequest) -> ScriptedAnswer:
        if model == "bad":
            return ScriptedAnswer((), 0.3, 0.0, "Bad refuses the API key. Check the key, or choose another model.")
        return answer(words_of(model, 12), every=0.1)

    makers = Makers(script)
    talk = makers.talk("old", during=at(1.5, choose("bad")))
    assert talk.said(1) == words_of("old", 12)
    assert [f.sentence for f in talk.of(e.Failure)] == [
        "Bad refuses the API key. Check the key, or choose another model. OLD (old) answers again."
    ]
    assert [(c.model, c.reason) for c in talk.of(e.BackendChanged)] == [("bad", "chosen"), ("old", "fallback")]
    sets = talk.of(e.ConversationConfigured)
    assert [s.model for s in sets][-1] == "old", "what is kept with the conversation is what answers"
    fed_in_order(talk)
    assert not talk.tasks_left and all(b.closed for b in makers.made)


def refuses(model: str, request: ChatRequest) -> ScriptedAnswer:
    if model == "bad":
        return ScriptedAnswer((), 0.1, 0.0, "Bad wants a key. Enter it, or choose another model.")
    return answer(words_of(model, 6), every=0.1)


@pytest.mark.parametrize("cough", [[], [ScriptedTurn(6.0, 6.4, "")]], ids=["silence", "cough"])
def test_a_backend_that_is_chosen_after_a_failure_is_heard(cough: list[ScriptedTurn]) -> None:
    makers = Makers(refuses)
    talk = makers.talk("bad", [*QUESTION, *cough], seconds=20, during=at(10.0, choose("good")))
    assert len(talk.of(e.UserStarted)) == 1 + len(cough)
    assert talk.said(1) == words_of("good", 6) and 10 < talk.of(e.AssistantStarted)[0].at < 11


def test_a_backend_that_is_chosen_while_the_user_continues_speaks_of_the_new_question_alone() -> None:
    makers = Makers(refuses)
    turns = [*QUESTION, ScriptedTurn(8.5, 11.0, "Oh well, then tell me what time it is.")]
    talk = makers.talk("bad", turns, seconds=25, during=at(8.9, choose("good")))
    assert [s.turn for s in talk.of(e.AssistantStarted)] == [2] and talk.of(e.AssistantStarted)[0].at > 10.9
    assert talk.said(2) == words_of("good", 6)


def test_an_answer_that_is_there_is_not_asked_for_twice_when_the_new_backend_fails() -> None:
    def script(model: str, request: ChatRequest) -> ScriptedAnswer:
        if model == "bad":
            return ScriptedAnswer((), 0.2, 0.0, "It fails. Choose another.")
        return answer(words_of("old", 40))

    makers = Makers(script)
    talk = makers.talk("old", seconds=30, during=at(5.0, choose("bad")))
    assert talk.said(1) == words_of("old", 40)
    assert not [r for r in talk.of(e.OracleRequested) if r.at > 5.1 and r.model == "old"]


def test_a_content_filter_is_not_the_backends_fault() -> None:
    class Picky(ScriptedBackend):
        async def _items(self, reply):  # type: ignore[no-untyped-def]
            raise BackendError("It does not answer this. Ask in other words.", "content")
            yield ""

    picky = making(lambda _: Picky(lambda request: answer(""), name="PICKY", model="picky"))
    talk = simulate(QUESTION, lambda r: answer(words_of("old", 3)), make_backend=picky, during=at(0.5, choose("picky")))
    assert [f.sentence for f in talk.of(e.Failure)] == ["It does not answer this. Ask in other words."]
    assert [c.reason for c in talk.of(e.BackendChanged)] == ["chosen"]


def test_a_backend_that_loads_for_long_holds_up_no_other_and_the_last_wish_counts() -> None:
    made: list[ScriptedBackend] = []

    class Slow(ScriptedBackend):
        async def open(self) -> None:
            await asyncio.sleep(8.0 if self.model == "slow" else 0.1)

    async def make(choice: BackendChoice) -> Backend:
        made.append(Slow(lambda request: answer(words_of(choice.model, 5)), name=choice.model, model=choice.model))
        return made[-1]

    async def steps(session: Session) -> None:
        slow = asyncio.create_task(change(session, backend=BackendChoice("scripted", "slow")))
        await asyncio.sleep(0.5)
        await change(session, backend=BackendChoice("scripted", "quick"))
        await slow

    turns = [*QUESTION, ScriptedTurn(12.0, 13.5, "And what of Spain then?")]
    talk = simulate(turns, lambda r: answer("old"), seconds=25, make_backend=make, during=at(0.0, steps))
    assert [(c.model, round(c.at)) for c in talk.of(e.BackendChanged)] == [("quick", 1)]
    assert talk.said(1) == talk.said(2) == words_of("quick", 5)
    assert all(b.closed for b in made) and not talk.tasks_left


def test_a_conversation_that_ends_does_not_wait_for_a_backend_that_still_loads() -> None:
    class Endless(ScriptedBackend):
        async def open(self) -> None:
            await asyncio.sleep(10_000)

    made: list[ScriptedBackend] = []

    async def make(choice: BackendChoice) -> Backend:
        made.append(Endless(lambda request: answer("")))
        return made[-1]

    talk = simulate(
        QUESTION,
        lambda r: answer(words_of("old", 3)),
        seconds=8,
        make_backend=make,
        secondary=BackendChoice("scripted", "endless"),
    )
    assert talk.of(e.SessionEnded)[0].at < 20 and talk.said(1) == words_of("old", 3)
    assert made[0].closed and not talk.tasks_left


# -- side by side ------------------------------------------------------------------------------------


def side_by_side(at_seconds: float, *, slow: float = 0.1, seconds: float = 30.0) -> Talk:
    def script(model: str, request: ChatRequest) -> ScriptedAnswer:
        return answer(words_of(model, 30), first=slow if model == "secondary" else 0.1, every=0.1)

    makers = Makers(script)

    async def steps(session: Session) -> None:
        await change(session, secondary=BackendChoice("scripted", "secondary"))
        await asyncio.sleep(at_seconds - asyncio.get_running_loop().time())
        hand_over(session)

    talk = makers.talk("driver", seconds=seconds, during=at(0.0, steps))
    assert not talk.tasks_left and all(b.open_streams == 0 and b.closed for b in makers.made)
    return talk


def test_the_secondary_backend_is_asked_the_same_and_never_spoken() -> None:
    talk = side_by_side(29.0)
    of = {r.revision: r for r in talk.of(e.OracleRequested)}
    assert {r.model for r in of.values() if r.secondary} == {"secondary"}
    finals = {r.model: r.words for r in of.values()}
    assert finals["secondary"] == finals["driver"]
    assert talk.said(1) == words_of("driver", 30)
    assert not [f for f in talk.of(e.OracleFed) if of[f.revision].secondary]
    counts = {(c.model, c.secondary) for c in talk.of(e.OracleCounted)}
    assert counts == {("driver", False), ("secondary", True)}
    revisions = list(of)
    assert revisions == sorted(set(revisions)), "two back-ends, one count of revisions"


def test_handing_over_in_mid_answer_speaks_what_the_other_has_said_already_and_asks_nothing_again() -> None:
    talk = side_by_side(5.0)
    [handed] = talk.of(e.OracleHandedOver)
    assert asked(talk, handed.revision).model == "secondary" and asked(talk, handed.revision).secondary
    said_before = [d for d in talk.of(e.OracleDelta) if d.revision == handed.revision and d.at <= handed.at]
    assert said_before, "its words were there: no gap at all"
    assert [c.reason for c in talk.of(e.BackendChanged)] == ["handed"]
    assert talk.of(e.SecondaryChanged)[-1].model == "driver"
    said = fold(talk.said(1))
    assert said[0] == "driver0" and "secondary29" in said and "driver29" not in said
    text = " ".join("".join(d.text for d in talk.of(e.OracleDelta) if d.revision == handed.revision).split())
    assert text == words_of("secondary", 30), "whole, once"
    assert not [r for r in talk.of(e.OracleRequested) if r.at >= handed.at], "nobody was asked again"
    fed_in_order(talk)


def test_handing_over_to_one_that_has_not_spoken_yet_leaves_the_driver_speaking_until_it_has() -> None:
    talk = side_by_side(4.0, slow=2.5)
    [handed] = talk.of(e.OracleHandedOver)
    first = next(d for d in talk.of(e.OracleDelta) if d.revision == handed.revision)
    assert first.at > handed.at
    fed = [f for f in talk.of(e.OracleFed) if handed.at < f.at <= first.at]
    assert fed and all(asked(talk, f.revision).model == "driver" for f in fed)
    fed_in_order(talk)


def test_the_secondary_backend_is_another_one_and_choosing_it_hands_over() -> None:
    makers = Makers(lambda model, request: answer(words_of(model, 30), every=0.1))

    async def steps(session: Session) -> None:
        await change(session, secondary=BackendChoice())
        await change(session, secondary=BackendChoice("scripted", "secondary"))
        await asyncio.sleep(5.0)
        await change(session, backend=BackendChoice("scripted", "secondary"))

    talk = makers.talk("driver", seconds=30, during=at(0.0, steps))
    [refused] = talk.of(e.ChangeRefused)
    assert refused.sentence == "The comparison model would be the same as the first one. Choose another one."
    assert talk.of(e.OracleHandedOver) and talk.of(e.SecondaryChanged)[-1].model == "driver"
    assert len(makers.made) == 2


def test_handing_over_when_all_is_said_changes_the_next_answer_alone() -> None:
    talk = side_by_side(28.0, seconds=40.0)
    assert talk.said(1) == words_of("driver", 30) and not talk.of(e.OracleHandedOver)
    assert talk.of(e.BackendChanged)[-1].model == "secondary"


LONG_QUESTION = [ScriptedTurn(1.0, 5.0, "Please tell me what the capital of France is today and why")]
"""Asked about several times while it is still being said."""


@pytest.mark.parametrize("moment", [2.0, 3.0, 4.4, 5.05, 5.3])
def test_a_revision_that_was_handed_over_is_superseded_by_the_driver_alone(moment: float) -> None:
    makers = Makers(lambda model, request: answer(words_of(model, 12), first=0.15))
    talk = makers.talk(
        "driver", LONG_QUESTION, seconds=14, secondary=BackendChoice("scripted", "second"), during=at(moment, hand_over)
    )
    [handed] = [x.revision for x in talk.of(e.OracleHandedOver)]
    compared = {x.revision for x in talk.of(e.OracleRequested) if x.secondary} - {handed}
    assert not [x for x in talk.of(e.OracleSuperseded) if x.revision == handed and x.by in compared]


@pytest.mark.parametrize("moment", [2.8, 3.2, 4.6, 4.95])
def test_an_answer_that_was_handed_over_is_spoken_whole(moment: float) -> None:
    async def make(choice: BackendChoice) -> Backend:
        sentences = "I believe that it is surely Paris. It lies on a river."
        return ScriptedBackend(lambda request: answer(sentences, first=0.15), name="SECOND", model="second")

    talk = simulate(
        LONG_QUESTION,
        lambda r: answer("Driver words are these here. And some more.", first=0.2),
        seconds=14,
        make_backend=make,
        secondary=BackendChoice("scripted", "second"),
        during=at(moment, hand_over),
    )
    said = [(x.revision, x.text) for x in talk.of(e.AssistantSaid) if asked(talk, x.revision).model == "second"]
    assert " ".join(text for _, text in said) == "I believe that it is surely Paris. It lies on a river."
    assert len({revision for revision, _ in said}) == 1, "a fragment was spoken"


def test_handing_over_and_another_comparison_model_asked_for_at_once() -> None:
    makers = Makers(lambda model, request: answer(words_of(model, 5)))
    second, third = BackendChoice("scripted", "second"), BackendChoice("scripted", "third")
    talk = makers.talk(
        "driver",
        seconds=14,
        secondary=second,
        during=at(9.0, lambda session: change(session, backend=second, secondary=third)),
    )
    assert [x.model for x in talk.of(e.BackendChanged)] == ["second"]
    assert [x.model for x in talk.of(e.SecondaryChanged)] == ["second", "driver", "third"]


def test_the_state_is_published_before_the_events_of_the_same_change() -> None:
    second, bad, absent = (BackendChoice("scripted", model) for model in ("second", "bad", "absent"))
    makers, published = Makers(refuses), []
    wrong: list[list[e.Event]] = []

    async def make(choice: BackendChoice) -> Backend:
        if choice == absent:
            raise BackendError("There is no such model. Choose another.", "setup")
        return makers.make(choice.model)

    def during(session: Session) -> None:
        wrong.append(disagreements(session))
        session.on_state(published.append)
        at(4.0, steps)(session)

    async def steps(session: Session) -> None:
        assert published == [session.state], "whoever comes later gets the present state"
        await change(session, secondary=second)
        await change(session, backend=absent)
        await change(session, backend=absent)
        hand_over(session)
        assert (session.state.driving, session.state.secondary) == (second, BackendChoice())
        assert session.state.refusal("backend") is None, "it has changed since"
        await change(session, secondary=None)
        await change(session, backend=bad)
        assert session.state.wanted.backend == session.state.driving == bad

    turns = [*QUESTION, ScriptedTurn(8.0, 9.0, "And what of Spain then?")]
    talk = simulate(turns, lambda r: answer(words_of("first", 4)), make_backend=make, during=during)
    told = talk.of(e.BackendChanged, e.SecondaryChanged, e.ChangeRefused)
    kinds = " ".join(type(x).__name__.removesuffix("Changed") for x in told)
    assert kinds == "Secondary ChangeRefused ChangeRefused Backend Secondary Secondary Backend Backend"
    assert wrong == [[]] and (published[-1].driving, published[-1].reason) == (BackendChoice(), "fallback")
    assert len(published) == len(set(map(id, published))) and all(a != b for a, b in itertools.pairwise(published))


def test_swaps_by_the_clock_wait_for_one_another_also_when_the_driver_falls_back_meanwhile() -> None:
    class Slow(ScriptedBackend):
        async def open(self) -> None:
            await asyncio.sleep(6.0)

    async def make(choice: BackendChoice) -> Backend:
        if choice.model == "slow":
            return Slow(lambda request: answer("Slow."), model="slow")
        return makers.make(choice.model)

    makers = Makers(refuses)
    swaps = [(float(at), BackendChoice("scripted", model)) for at, model in ((1, "bad"), (2, "slow"), (5, "quick"))]
    talk = simulate(
        [ScriptedTurn(3.0, 4.5, "What is the capital of France?")],
        lambda r: answer("Paris."),
        make_backend=make,
        during=lambda session: Swapper(session, swaps) and None,
    )
    changes = [(change.chosen_model, change.reason) for change in talk.of(e.BackendChanged)]
    assert changes == [("bad", "chosen"), ("", "fallback"), ("slow", "chosen"), ("quick", "chosen")]


# -- many -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fifty_random_swaps_in_a_quarter_of_an_hour() -> None:
    chance = random.Random(20)
    turns: list[ScriptedTurn] = []
    moment = 1.0
    for number in itertools.count():
        length = chance.uniform(0.8, 5.0)
        if moment + length > 890:
            break
        words = " ".join(f"q{number}w{n}" for n in range(max(2, round(length * 2.5))))
        turns.append(ScriptedTurn(round(moment, 2), round(moment + length, 2), words + "?"))
        moment += length + chance.uniform(1.5, 16.0)

    def script(model: str, request: ChatRequest) -> ScriptedAnswer:
        heard = fold(request.messages[-1].content)[-1].partition("w")[0]
        deltas = tuple(f"{'' if n == 0 else ' '}{model}x{heard}" for n in range(chance.randint(1, 30)))
        error = "It broke. Ask again." if chance.random() < 0.08 else ""
        if error and chance.random() < 0.5:
            deltas = ()
        return ScriptedAnswer(deltas, chance.uniform(0.0, 2.5), chance.uniform(0.0, 0.3), error)

    makers = Makers(script, opening=0.05)
    swaps = 0
    sessions: weakref.WeakSet[Session] = weakref.WeakSet()
    wrong: list[list[e.Event]] = []

    def during(session: Session) -> None:
        sessions.add(session)
        wrong.append(disagreements(session))

        async def swapper() -> None:
            nonlocal swaps
            for moment in sorted(chance.uniform(0.5, 880.0) for _ in range(50)):
                await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))
                await change(session, backend=BackendChoice("scripted", f"m{chance.randrange(9)}"))
                swaps += 1
                if chance.random() < 0.2:
                    # Refused if it is the one that drives.
                    await change(session, secondary=BackendChoice("scripted", f"m{chance.randrange(9)}"))
                elif chance.random() < 0.2:
                    hand_over(session)
                elif chance.random() < 0.1:
                    await change(session, secondary=None)

        session.swapper = asyncio.get_running_loop().create_task(swapper())  # type: ignore[attr-defined]

    talk = makers.talk("m0", turns, seconds=900, during=during)
    assert wrong == [[]]
    assert swaps == 50 and len(talk.transcript.turns) > 75
    of = {r.revision: r for r in talk.of(e.OracleRequested)}
    # Every word told as a back-end's is that back-end's, and of the turn that it was asked about.
    for delta in talk.of(e.OracleDelta):
        request = of[delta.revision]
        for word in delta.text.split():
            assert word.startswith(f"{request.model}x"), (word, request)
    fed_in_order(talk)
    fed = {x.revision for x in talk.of(e.OracleFed)}
    for said in talk.of(e.AssistantSaid):
        assert not said.revision or (said.revision in fed and of[said.revision].turn == said.turn)
    ended = [x.revision for x in talk.of(e.OracleEnded)]
    assert sorted(ended) == sorted(of), "a revision without an end, or with two"
    assert not talk.tasks_left
    assert all(b.open_streams == 0 and b.closed for b in makers.made)
    assert len(makers.made) < 50, "a back-end that one goes back to was made again each time"
    # Nothing of the conversation stays behind.
    gc.collect()
    assert not sessions


AUSTRALIA = [ScriptedTurn(1.0, 3.0, "What is the capital of Australia?")]
FIRST = "Australia is a large country. The capital is Sydney. It lies by the sea, where most people live today."
SECOND = "Australia is a large country. The capital is Canberra. It lies inland."


def test_the_words_that_another_model_disagrees_with_are_withdrawn() -> None:
    other = making(lambda _: ScriptedBackend(lambda request: answer(SECOND), name="Other"))
    during = at(6.5, lambda session: session.change(backend=BackendChoice("other")))
    talk = simulate(AUSTRALIA, lambda request: answer(FIRST), make_backend=other, during=during, answer_mode="after")
    [corrected] = talk.of(e.AssistantCorrected)
    assert corrected.how == "corrected"
    turn = talk.transcript.turns[1]
    kept, withdrawn, replaced = turn.passages
    assert kept.text.strip() == "Australia is a large country."
    assert withdrawn.withdrawn and withdrawn.text.startswith("The capital is Sydney.")
    assert replaced.replaces and "the capital is Canberra. It lies inland." in replaced.text
    assert kept.text + withdrawn.text + replaced.text == turn.text
