"""The window's state: which session and model it takes for its own, what it passes on, and its word for it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.conversation import events as e
from app.conversation.events import TalkTapped
from app.conversation.record.revisions import RevisionLog
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.gui.state.talk_state import TalkState
from app.session.control import BackendChoice, SessionChoice, ToolChoice, UserError
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import feed as feed_model

FIRST = BackendChoice("openai", "gpt-4.1")
SECOND = BackendChoice("ollama", "gemma3:4b")


@pytest.fixture
def choice() -> SessionChoice:
    return SessionChoice(backend=FIRST)


@pytest.fixture
async def manager(factory: FakeFactory, choice: SessionChoice) -> AsyncIterator[SessionManager]:
    """A manager whose session was started with `choice`."""
    manager = SessionManager(factory, SessionModel())
    manager.start(choice)
    await calm()
    yield manager
    await manager.close()


async def calm() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_start_that_failed_is_not_repeated_after_a_stop() -> None:
    """As when the demo has the devices: choosing a model must not start a second session beside it."""
    factory = FakeFactory([UserError("no microphone")])
    manager = SessionManager(factory, SessionModel())
    manager.start(SessionChoice(backend=FIRST))
    await calm()
    assert manager.gave_up
    manager.stop()
    manager.want(backend=SECOND, microphone="other")
    await calm()
    assert manager.phase == "stopped" and len(factory.choices) == 1
    await manager.close()


async def test_what_is_changed_while_a_session_loads_is_wanted_of_it() -> None:
    """Also if the session has meanwhile come to something else than it was to begin with."""
    factory = FakeFactory(gate=asyncio.Event())
    manager = SessionManager(factory, SessionModel())
    manager.start(SessionChoice(backend=FIRST, secondary=SECOND, patience=0.0))
    await calm()
    tools = ToolChoice(("clock",))
    manager.want(tools=tools, patience=0.5)
    factory.gate.set()
    await calm()
    session = factory.session
    assert ("set_tools", tools) in session.calls and ("set_patience", 0.5) in session.calls
    assert ("set_secondary", SECOND) not in session.calls
    assert manager.wanted == session.choice and manager.wanted.secondary == SECOND
    await manager.close()


async def test_pressing_again_takes_the_hint_of_a_tap_back(manager: SessionManager) -> None:
    talk = manager.model.talk
    feed_model(manager.model, TalkTapped(1.0))
    assert talk.tapped
    manager.press()
    assert not talk.tapped


async def test_without_a_session_there_is_nothing_to_silence() -> None:
    factory = FakeFactory()
    manager = SessionManager(factory, SessionModel())
    manager.silence()
    manager.start(SessionChoice())
    manager.silence()  # it is being built
    await calm()
    assert ("silence",) not in factory.session.calls
    manager.stop()
    manager.silence()
    await manager.close()
    assert ("silence",) not in factory.session.calls


LOGS: dict[int, RevisionLog] = {}
"""The revisions of each state's session."""


def running(**wants: bool) -> TalkState:
    state = TalkState(phase="running", **wants)
    LOGS[id(state)] = RevisionLog()
    return state


def feed(state: TalkState, *events: e.Event) -> list[str]:
    words, log = [], LOGS.setdefault(id(state), RevisionLog())
    for event in events:
        state.apply(event, log.apply(event))
        words.append(state.word)
    return words


def asked(revision: int) -> e.OracleRequested:
    return e.OracleRequested(2.0, revision, 1, "embedded", "", "hello there", True)


def test_duplex_listens_and_the_button_listens_while_held() -> None:
    assert running(duplex=True).word == "listening"
    assert running(held=True).word == "listening"
    assert running().word == "ready"


def test_loading_and_stopped_go_before_everything() -> None:
    state = TalkState(phase="loading", speaking=True)
    assert state.word == "loading"
    state.phase = "stopped"
    assert state.word == "stopped"


def test_a_barge_in_is_heard_and_may_be_none() -> None:
    state = running(duplex=True)
    feed(state, e.AssistantStarted(1, 1, 1))
    assert feed(state, e.UserStarted(2, 2), e.AssistantHeld(2.1, 1)) == ["speaking", "hearing"]
    assert feed(state, e.UserBackchannel(2.5, 2, "mhm"), e.AssistantResumed(2.6, 1)) == ["listening", "speaking"]


@pytest.mark.parametrize("end", [e.OracleEnded(3, 2, "failed", 0), e.OracleEnded(3, 2, "complete", 0)])
def test_nothing_is_thought_when_the_newest_revision_gave_nothing(end: e.OracleEnded) -> None:
    state = running()
    feed(state, e.UserStarted(1, 1), asked(1), asked(2), e.UserEnded(2, 1, 1.9, "button"))
    assert feed(state, e.OracleEnded(2.5, 1, "failed", 0)) == ["thinking"]
    assert feed(state, end) == ["ready"]


def test_nothing_is_thought_when_nothing_was_said() -> None:
    state = running()
    feed(state, e.UserStarted(1, 1), e.UserEnded(1.1, 1, 1.0, "button"))
    assert state.word == "thinking"
    assert feed(state, e.TranscriptFinal(1.2, 1, "", 1.1)) == ["ready"]
    feed(state, e.UserStarted(2, 2), e.UserEnded(3, 2, 2.9, "button"))
    assert feed(state, e.TranscriptFinal(3.1, 2, "Why?", 3.0)) == ["thinking"]


def test_a_tap_is_shown_for_a_while_or_until_the_next_turn() -> None:
    state = running()
    assert feed(state, e.TalkTapped(5.0), e.LevelMeasured(8.9, -60.0, -120.0)) == ["ready", "ready"] and state.tapped
    feed(state, e.LevelMeasured(9.1, -60.0, -120.0))
    assert not state.tapped
    feed(state, e.TalkTapped(10.0), e.UserStarted(11.0, 1))
    assert not state.tapped
    feed(state, e.TalkTapped(20.0))
    state.begin()
    assert not state.tapped


def test_where_the_button_is_pressed_once_to_talk_and_once_to_end_a_tap_is_as_it_should_be() -> None:
    state = running(toggles=True)
    feed(state, e.TalkTapped(5.0))
    assert not state.tapped


def test_a_tap_while_it_thinks_drops_the_answer() -> None:
    state = running()
    feed(state, e.UserStarted(1, 1), asked(1), e.UserEnded(2, 1, 1.9, "button"))
    assert feed(state, e.TalkTapped(3.0), e.AssistantEnded(3.0, 1, True)) == ["thinking", "ready"]


def test_a_secondary_backend_changes_nothing() -> None:
    state = running()
    beside = e.OracleRequested(2.0, 3, 1, "openai", "", "hello there", True, True)
    feed(state, e.UserStarted(1, 1), asked(2), beside, e.UserEnded(2, 1, 1.9, "button"))
    assert feed(state, e.OracleEnded(2.5, 3, "failed", 0)) == ["thinking"]
    assert feed(state, e.OracleEnded(2.6, 2, "failed", 0)) == ["ready"]


def test_nothing_is_thought_at_the_cap_until_the_question_is_asked_after_all() -> None:
    state = running()
    feed(state, e.UserStarted(1.0, 1), e.UserEnded(2.0, 1, 1.9, "words"))
    assert feed(state, e.Failure(2.1, "backend", "No.", about="cap")) == ["thinking"]
    assert feed(state, e.Failure(2.1, "backend", "No.", about="unanswered")) == ["ready"]
    assert feed(state, asked(2), e.AssistantStarted(4.0, 1, 2), asked(3)) == ["thinking", "speaking", "speaking"]
    assert feed(state, e.AssistantEnded(5.0, 1, False), e.UserStarted(6.0, 2), asked(4))[-1] == "hearing"


def test_a_new_talk_forgets_the_old_one() -> None:
    state = running(duplex=True)
    feed(state, e.UserEnded(2, 1, 1, "words"), e.AssistantStarted(3, 1, 1))
    state.begin()
    assert state.word == "listening"
