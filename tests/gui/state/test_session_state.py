"""What the window's state passes on to the user's session."""

from __future__ import annotations

from app.conversation.events import TalkTapped
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_state import SessionState
from app.session.control import SessionChoice
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.state.test_session_manager import calm, managed


async def test_silence_reaches_the_session() -> None:
    factory = FakeFactory()
    async with managed(factory, SessionChoice()) as manager:
        SessionState(manager, Settings()).silence()
        assert factory.session.calls[-1] == ("silence",)


async def test_pressing_again_takes_the_hint_of_a_tap_back() -> None:
    async with managed(FakeFactory(), SessionChoice()) as manager:
        state = SessionState(manager, Settings())
        state.apply(TalkTapped(1.0))
        assert state.talk.tapped
        state.press()
        assert not state.talk.tapped


async def test_without_a_session_there_is_nothing_to_silence() -> None:
    factory = FakeFactory()
    manager = SessionManager(factory, lambda event: None)
    state = SessionState(manager, Settings())
    state.silence()
    manager.start(SessionChoice())
    state.silence()  # it is being built
    await calm()
    assert ("silence",) not in factory.session.calls
    manager.stop()
    state.silence()
    await manager.close()
    assert ("silence",) not in factory.session.calls
