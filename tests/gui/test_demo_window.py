"""The demo in the whole window: its talks are shown in the panes, kept as one conversation, and the user's is back."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.session.control import BackendChoice
from app.settings import Settings
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import shown, transcript, until
from tests.support.demo_talk import QUICK_MANNER, ScriptedDesk


async def test_from_the_menu_to_the_chart_and_back_to_the_users_talk(qtbot) -> None:
    factory, history, settings = FakeFactory(), FakeHistory(), Settings(manner="after")
    desk = ScriptedDesk(ways=(QUICK_MANNER,))
    async with shown(factory, settings, history=history, demo=desk) as window:
        assert window.menu.demo_action.isVisible()
        users = window.talks.key
        window.menu.demo_action.trigger()
        demo = window.demo
        await until(lambda: demo.panel and demo.panel.start_button.isEnabled())
        demo.panel.quick.setChecked(True)
        qtbot.mouseClick(demo.panel.start_button, Qt.MouseButton.LeftButton)
        await until(lambda: demo.running and not window.talk_bar.duplex.isEnabled())  # its microphone needs no button
        await until(lambda: demo.panel.page.isVisible(), 20)
        await until(lambda: len(factory.sessions) == 2 and window.keeper.session is not None)
        window.pump.flush()
        assert window.talk_bar.duplex.isEnabled() and not window.talk_bar.duplex.isChecked()
        begun = [call[1] for call in history.calls if call[0] == "begin"]
        assert begun[0] == users and len(set(begun[1:])) == 1 and begun[1] != users, "one conversation of its own"
        assert any("Or rather" in card or "KAME" in card for card in transcript(window))
        assert (settings.provider, settings.manner, settings.duplex) == ("embedded", "after", False)
        assert window.setup.choice == BackendChoice() == factory.choices[1].backend
        assert factory.choices[1].manner == "after"


async def test_without_a_demo_there_is_no_way_to_it() -> None:
    async with shown(FakeFactory()) as window:
        assert not window.menu.demo_action.isVisible() and window.demo is None
