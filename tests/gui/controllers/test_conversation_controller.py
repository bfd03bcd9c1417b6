"""Which conversation a session belongs to: kept as it happens, opened again, gone on with, removed, duplicated."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.conversation.prompt import ChatMessage
from app.gui.models.model_question import ModelQuestion
from app.gui.window.main_window import MainWindow
from app.history.base import ConversationView, Setup
from app.history.store import HistoryStore
from app.session.control import BackendChoice, Style, ToolChoice, UserError
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory, FakeLog
from tests.gui.fakes import CHOICES, FakeBackendService, FakeFactory
from tests.gui.helpers import (
    click_model,
    open_dialog,
    oracle,
    press,
    say,
    shown,
    spoken,
    transcript,
    typed,
    until,
    window_and_factory,
)

GEMMA = Setup(BackendChoice("ollama", "gemma3:4b", "http://127.0.0.1:11434"), Style("You are a guide.", 0.5, "short"))
PLAIN = Setup(BackendChoice())


def started(backend: str = "small") -> e.SessionStarted:
    return e.SessionStarted(0.0, "cascade", "whisper", "embedded", backend, "thinking")


def kept(history: FakeHistory, key: str, title: str, *talks: list[e.Event], setup: Setup = GEMMA) -> None:
    history.views[key] = ConversationView(key, title, created=10.0, changed=10.0, turns=2, setup=setup)
    for events in talks:
        log = FakeLog()
        log.events = list(events)
        history.logs.setdefault(key, []).append(log)


def two_kept() -> FakeHistory:
    """A history with a conversation of two sessions, and one of a single session."""
    history = FakeHistory(now=100.0)
    kept(
        history,
        "elbrus",
        "Heights",
        [started(), *spoken(1, "How high is the Elbrus?", "5642 metres.")],
        [started(), *spoken(1, "And the Mont Blanc?", "4806 metres.")],
    )
    kept(history, "soup", "Soup", [started(), *spoken(1, "What goes into a soup?", "Leeks.")], setup=PLAIN)
    return history


@pytest.fixture
def history() -> FakeHistory:
    return two_kept()


@pytest.fixture
def given(history: FakeHistory) -> dict[str, Any]:
    return {"history": history, "choices": CHOICES, "service": FakeBackendService()}


def click(window: MainWindow, key: str) -> None:
    rows = window.conversations.rows
    place = window.conversations.list.place(key)
    assert place >= 0, f"{key} is not listed"
    box = rows.visualRect(rows.model().index(place, 0))
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=box.center())


async def listed(window: MainWindow, *keys: str) -> None:
    await until(lambda: all(window.conversations.list.place(key) >= 0 for key in keys))


async def opened(window: MainWindow, factory: FakeFactory, key: str) -> None:
    sessions = len(factory.sessions)
    await listed(window, key)
    click(window, key)
    # The session of the conversation that was opened before may still be starting.
    await until(
        lambda: window.talks.key == key and len(factory.sessions) > sessions and window.manager.session is not None
    )


async def another(window: MainWindow, factory: FakeFactory) -> None:
    """Ctrl+N, and a new session that runs."""
    sessions = len(factory.sessions)
    await until(window.isActiveWindow)
    QTest.keySequence(window, QKeySequence(QKeySequence.StandardKey.New))
    await until(lambda: len(factory.sessions) > sessions and window.manager.session is not None)


async def test_all_that_is_said_is_written_down_and_listed_by_its_title() -> None:
    factory, history = FakeFactory(), FakeHistory(now=100.0)
    async with shown(factory, history=history) as window:
        ((_, key, setup, folder),) = [call for call in history.calls if call[0] == "begin"]
        assert (key, setup.backend, folder) == (window.talks.key, BackendChoice(), None)
        events = [started(), *spoken(1, "Why is the sky blue?", "It scatters.")]
        history.views[window.talks.key] = ConversationView(window.talks.key, "Why is the sky blue", turns=2)
        say(window, *events)
        (log,) = history.logs[window.talks.key]
        assert log.events == events
        await until(lambda: window.transcript.header.heading.text() == "Why is the sky blue")
        assert window.windowTitle() == "Why is the sky blue", "Qt adds the app's name, as to dialogs"
        assert window.conversations.list.current == window.talks.key
        assert window.conversations.list.live == window.talks.key
        assert not log.ended
    assert history.closed


async def test_ctrl_n_begins_a_new_one_and_last_words_go_to_the_old_one(window, factory, history) -> None:
    first = window.talks.key
    say(window, started(), *spoken(1, "Hello?", "Hi."), e.UserStarted(9, 2))
    last = [e.TranscriptFinal(9.5, 2, "Last words.", 9.5), e.SessionEnded(10, 125)]
    factory.session.last_words = last
    await another(window, factory)
    assert window.talks.key != first
    assert transcript(window) == [] and oracle(window) == [] and not window.inspector.activity.turns
    (log,) = history.logs[first]
    assert log.events[-2:] == last and log.ended
    say(window, *spoken(1, "Another thing."))
    assert transcript(window) == ["You\nAnother thing."]
    assert [event for event in history.logs[window.talks.key][0].events] == spoken(1, "Another thing.")
    assert factory.choices[-1].earlier == ()


async def test_the_one_that_was_open_is_not_highlighted_after_ctrl_n(window, factory) -> None:
    say(window, started(), *spoken(1, "Now?", "Noon."))
    pane = window.conversations
    await opened(window, factory, "elbrus")
    assert pane.rows.highlighted == "elbrus"
    await another(window, factory)
    assert pane.rows.highlighted == ""


async def test_an_old_one_is_shown_whole_and_gone_on_with(window, factory, history) -> None:
    say(window, started(), *spoken(1, "Now?", "Noon."))
    factory.session.last_words = [e.TranscriptFinal(30, 2, "Of another conversation.", 30)]
    await opened(window, factory, "elbrus")
    assert [text.split("\n")[1] for text in transcript(window)] == [
        "",
        "How high is the Elbrus?",
        "5642 metres.",
        "",
        "And the Mont Blanc?",
        "4806 metres.",
        "",
    ]
    assert transcript(window)[-1].startswith("Continued")
    assert [text.rsplit("\n", 1)[1] for text in oracle(window)] == ["4806 metres.", "5642 metres."]
    choice = factory.choices[-1]
    assert (choice.backend, choice.style) == (GEMMA.backend, GEMMA.style)
    assert choice.earlier == (
        ChatMessage("user", "How high is the Elbrus?"),
        ChatMessage("assistant", "5642 metres."),
        ChatMessage("user", "And the Mont Blanc?"),
        ChatMessage("assistant", "4806 metres."),
    )
    assert window.popover.choice.provider == "ollama" and window.popover.choice.model == "gemma3:4b"
    assert window.settings.provider == "embedded", "the model of an old conversation is not that of new ones"
    assert window.windowTitle().startswith("Heights")
    say(window, *spoken(1, "And K2?", "8611 metres."))
    assert transcript(window)[-1] == "KAME   small\n8611 metres."
    assert history.logs["elbrus"][-1].events == spoken(1, "And K2?", "8611 metres.")


async def test_one_that_is_being_opened_gives_way_to_what_is_wanted_since(window, factory, history) -> None:
    await opened(window, factory, "soup")
    gate = history.gates["talks"] = asyncio.Event()
    click(window, "elbrus")
    await asyncio.sleep(0.02)
    click(window, "soup")  # after all
    gate.set()
    await until(lambda: window.talks.key == "soup" and "What goes into a soup?" in "".join(transcript(window)[1:]))
    gate.clear()
    click(window, "elbrus")
    await asyncio.sleep(0.02)
    await another(window, factory)
    fresh = window.talks.key
    gate.set()
    await asyncio.sleep(0.05)
    assert window.talks.key == fresh and fresh not in ("soup", "elbrus") and transcript(window) == []
    gate.clear()
    click(window, "elbrus")
    await asyncio.sleep(0.02)
    window.conversations.remove_wanted.emit("elbrus")
    gate.set()
    await until(lambda: "remove" in history.done)
    await asyncio.sleep(0.05)
    assert window.talks.key == fresh and transcript(window) == [], "it is not there any more"


async def test_one_is_opened_while_a_session_is_still_being_built() -> None:
    factory, history = FakeFactory(gate=asyncio.Event()), two_kept()
    async with shown(factory, history=history, choices=CHOICES, running=False) as window:
        await until(lambda: factory.choices)
        first = window.talks.key
        await listed(window, "elbrus")
        click(window, "elbrus")
        await until(lambda: window.talks.key == "elbrus")
        factory.gate.set()
        await until(lambda: window.manager.session is not None)
        assert window.manager.session.choice.backend == GEMMA.backend  # type: ignore[union-attr]
        assert [key for key in history.logs if key == first] == [], (
            "the conversation that never was leaves nothing behind"
        )
        assert len(history.logs["elbrus"]) == 3
        assert [text.startswith("Continued") for text in transcript(window)].count(True) == 1


async def test_the_one_that_is_shown_can_be_removed_and_brought_back(window, factory, history) -> None:
    await opened(window, factory, "elbrus")
    factory.session.last_words = [e.TranscriptFinal(30, 5, "Too late.", 30)]
    # Held in another way a moment before: to write that down must not bring it back.
    window.dialogs.conversation_set.emit(Style("You are terse."), ToolChoice(), 0.0, False)
    rows = window.conversations.rows
    rows.setFocus()
    QTest.keyClick(rows, Qt.Key.Key_Delete)
    await until(lambda: "remove" in history.done)
    await until(lambda: len(factory.sessions) == 3 and window.manager.session is not None)
    assert window.talks.key not in ("elbrus", "soup") and transcript(window) == []
    assert window.windowTitle() == "KAME" and factory.choices[-1].earlier == ()
    assert window.conversations.list.place("elbrus") < 0
    await asyncio.sleep(0.6)
    assert ("keep_setup" not in [call[0] for call in history.calls]) and "elbrus" not in history.views
    QTest.mouseClick(window.conversations.undo.button, Qt.MouseButton.LeftButton)
    await listed(window, "elbrus")
    await opened(window, factory, "elbrus")
    assert "How high is the Elbrus?" in transcript(window)[1]
    assert not any("Too late" in text for text in transcript(window))


async def test_the_one_that_is_shown_and_can_not_be_removed_is_shown_again(window, factory, history) -> None:
    await opened(window, factory, "elbrus")
    history.refusals["remove"] = UserError("The disk can't be written to.")
    window.conversations.remove_wanted.emit("elbrus")
    assert window.talks.key != "elbrus" and transcript(window) == []
    await until(lambda: window.talks.key == "elbrus")
    assert "The disk can't be written to." in window.messages.sentences()
    assert "How high is the Elbrus?" in "".join(transcript(window))


async def test_how_it_is_held_is_kept_with_it() -> None:
    factory, history = FakeFactory(), two_kept()
    async with shown(factory, history=history, choices=CHOICES, service=FakeBackendService()) as window:
        await opened(window, factory, "soup")
        style = Style("You are a cook.", 0.2, "long")
        window.dialogs.conversation_set.emit(style, ToolChoice(("clock",)), 0.5, False)
        await until(lambda: history.views["soup"].setup.style == style)
        assert history.views["soup"].setup == Setup(BackendChoice(), style, ToolChoice(("clock",)), 0.5)
        window.backends.choose(BackendChoice("openai", "gpt-5"))
        await until(lambda: history.views["soup"].setup.backend == BackendChoice("openai", "gpt-5"))
        # Changed a moment before another one is opened, or the window is closed: it counts all the same.
        window.dialogs.conversation_set.emit(Style("You are a baker."), ToolChoice(), 0.0, False)
        await opened(window, factory, "elbrus")
        await until(lambda: history.views["soup"].setup.style.persona == "You are a baker.")
        assert history.views["elbrus"].setup == GEMMA
        gate = history.gates["keep_setup"] = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, gate.set)
        window.dialogs.conversation_set.emit(Style("You are a pilot."), ToolChoice(), 0.0, False)
    assert history.views["elbrus"].setup.style.persona == "You are a pilot."


async def test_without_history_nothing_is_written_and_what_was_said_stays() -> None:
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, Settings(keep_history=False), history=history) as window:
        say(window, *spoken(1, "Not for the records.", "No."))
        await another(window, factory)
        say(window, *spoken(1, "Nor this.", "Nor this."))
        assert [text.split("\n")[1] for text in transcript(window)] == [
            "Not for the records.",
            "No.",
            "",
            "Nor this.",
            "Nor this.",
        ]
        assert transcript(window)[2].startswith("New conversation")
        assert history.logs == {} and factory.choices[-1].earlier == ()
        window.manager.restart_wanted.emit()
        await until(lambda: len(factory.sessions) == 3 and window.manager.session is not None)
        assert [message.content for message in factory.choices[-1].earlier] == ["Nor this.", "Nor this."]


async def test_what_is_nowhere_kept_is_not_taken_away_unasked() -> None:
    factory, history, settings = FakeFactory(), two_kept(), Settings(keep_history=False)
    async with shown(factory, settings, history=history) as window:
        await opened(window, factory, "soup")  # nothing was said yet
        say(window, *spoken(1, "Not for the records.", "No."))
        settings.keep_history = True
        await another(window, factory)
        assert any("Not for the records." in card for card in transcript(window)), "it was not kept before"
        await listed(window, "elbrus")
        click(window, "elbrus")
        await until(lambda: window.messages.rows)
        assert "is not kept" in window.messages.sentences()[0] and window.talks.key not in ("elbrus", "soup")
        assert any("Not for the records." in card for card in transcript(window))
        press(window.messages.rows[0], "Open it")
        await until(lambda: window.talks.key == "elbrus")
        assert not any("Not for the records." in card for card in transcript(window))
        await opened(window, factory, "soup")  # all that is shown is kept now
        assert window.messages.sentences() == []


async def test_trouble_is_told_once_and_the_talk_goes_on() -> None:
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, history=history) as window:
        history.trouble = "The disk is full: nothing is kept."
        for turn in range(1, 4):
            say(window, *spoken(turn, f"Question {turn}?", "Yes.", at=turn * 10.0))
        assert window.messages.sentences().count(history.trouble) == 1
        window.messages.rows[0].close_button.click()
        say(window, *spoken(4, "And on?", "Yes.", at=50.0))
        await another(window, factory)
        assert history.trouble not in window.messages.sentences(), "said once"
        assert "Question 1?" in transcript(window)[0], "what is nowhere kept is not taken away"


async def test_one_that_cannot_be_read_leaves_what_is_shown(window, factory, history) -> None:
    say(window, *spoken(1, "Still here?", "Yes."))
    await listed(window, "elbrus")
    history.refusals["talks"] = UserError("The file is damaged.")
    click(window, "elbrus")
    await until(lambda: "The file is damaged." in window.messages.sentences())
    assert len(factory.sessions) == 1 and "Still here?" in transcript(window)[0]
    await opened(window, factory, "elbrus")


async def test_another_voice_goes_on_in_the_same_conversation(window, factory, history) -> None:
    key = window.talks.key
    say(window, started(), *spoken(1, "Who are you?", "KAME."))
    picker = window.popover.frontend
    picker.setCurrentIndex(picker.findData("kame"))
    picker.activated.emit(picker.currentIndex())
    await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
    assert window.talks.key == key and len(history.logs[key]) == 2
    assert factory.choices[-1].frontend == "kame"
    assert [message.content for message in factory.choices[-1].earlier] == ["Who are you?", "KAME."]
    assert transcript(window)[2].startswith("Continued")


async def test_stopped_and_started_again_it_is_still_the_same(window: MainWindow, factory: FakeFactory) -> None:
    key = window.talks.key
    say(window, started(), *spoken(1, "Who are you?", "KAME."))
    window.devices.stop_button.click()
    await until(lambda: factory.session.stopped)
    assert window.conversations.list.live == "" and not window.devices.stop_button.isEnabled()
    window.starter.go_on()
    await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
    assert window.talks.key == key and window.conversations.list.live == key


async def test_with_a_real_manager_a_talk_is_found_again_in_the_next_window(tmp_path: Path) -> None:
    events = [started("gemma"), *spoken(1, "How far is the moon?", "384,400 km."), e.SessionEnded(20.0, 250)]
    async with window_and_factory(history=HistoryStore(tmp_path / "h.db", None)) as (window, factory):
        say(window, *events[:-1])
        typed(window, "And the sun?")
        await until(lambda: window.windowTitle().startswith("How far is the moon"))
        window.dialogs.conversation_set.emit(Style("You are an astronomer."), ToolChoice(), 0.0, False)
        factory.session.last_words = [e.TranscriptFinal(19.0, 2, "And the sun?", 19.0), events[-1]]
        key = window.talks.key
    factory = FakeFactory()
    service = FakeBackendService()
    async with shown(factory, history=HistoryStore(tmp_path / "h.db", None), service=service) as window:
        assert window.talks.key != key
        await opened(window, factory, key)
        said = [text.split("\n")[1] for text in transcript(window)]
        assert said == ["", "How far is the moon?", "384,400 km.", "And the sun?", ""]
        assert factory.choices[-1].style.persona == "You are an astronomer."
        assert [m.content for m in factory.choices[-1].earlier] == [
            "How far is the moon?",
            "384,400 km.",
            "And the sun?",
        ]
        say(window, *spoken(1, "And Mars?", "Further."))
        window.conversations.duplicate_wanted.emit(key)
        click_model(open_dialog(window, ModelQuestion).models.list, "gpt-5")
        await until(lambda: window.talks.key != key)
        await until(lambda: len(factory.sessions) == 3 and window.manager.session is not None)
        assert "And Mars?" in "".join(transcript(window))
        assert factory.choices[-1].backend == BackendChoice("openai", "gpt-5")
        assert factory.choices[-1].style.persona == "You are an astronomer."
        await listed(window, key, window.talks.key)
        window.conversations.remove_wanted.emit(window.talks.key)
        await until(lambda: transcript(window) == [] and window.manager.session is not None)
    assert (tmp_path / "h.db").exists()


async def test_the_models_title_is_kept_unless_the_user_has_given_one(window, factory, history) -> None:
    say(window, *spoken(1, "What is the capital of France?", "Paris."))
    assert factory.choices[-1].titled
    say(window, e.ConversationTitled(9.0, "Capitals of Europe", "openai", "gpt-5"))
    key = window.talks.key
    await until(lambda: history.views[key].title == "Capitals of Europe" and window.talks.named)
    await until(lambda: "Capitals of Europe" in window.windowTitle())
    window.conversations.renamed.emit(key, "Mine")
    await until(lambda: window.talks.title == "Mine")
    say(window, e.ConversationTitled(12.0, "Capitals once more", "openai", "gpt-5"))
    await asyncio.sleep(0.05)
    assert history.views[key].title == "Mine"
    window.starter.stop()
    await until(lambda: window.model.talk.phase == "stopped")
    window.starter.go_on()
    await until(lambda: len(factory.choices) == 2)
    assert not factory.choices[-1].titled
