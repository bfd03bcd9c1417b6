"""Starting, changing, failing, restarting and closing, with a session that notes what it is told."""

import asyncio
import logging
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice, Progress, UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory, two_devices
from tests.gui.helpers import choose, key, press, say, shown, transcript, typed, until, window_and_factory


@pytest.fixture
def given() -> dict[str, object]:
    return {"list_devices": two_devices}


def pick(picker, key: str) -> None:
    place = picker.findData(key)
    assert place >= 0, f"{key} is not offered"
    picker.setCurrentIndex(place)
    picker.activated.emit(place)


async def test_the_window_is_there_at_once_and_tells_what_it_waits_for() -> None:
    factory = FakeFactory(gate=asyncio.Event(), progress=(Progress(("voice", "model")), Progress(("voice",))))
    async with shown(factory, running=False) as window:
        assert window.isVisible()
        assert window.dock.button.text() == "Getting ready"
        await until(lambda: "loading: voice)" in window.status.state.toolTip())
        assert window.status.state.toolTip() == "Getting ready (loading: voice)"
        assert window.dock.button.hint == "loading: voice"
        factory.gate.set()
        await until(lambda: window.dock.button.text() == "Hold to talk")
        factory.session.say(e.SessionStarted(0, "cascade", "whisper", "embedded", "small", "thinking"))
        window.model.flush()
        assert window.status.state.toolTip() == "Running: cascade · whisper · embedded · small"


async def test_progress_may_be_told_from_the_thread_that_loads(gate, window, factory) -> None:
    await until(lambda: factory.choices)
    await asyncio.to_thread(factory.reporters[-1], Progress(note="from afar"))
    await until(lambda: window.dock.button.hint == "from afar")


@pytest.mark.parametrize("way", ["space", "mouse"])
async def test_who_holds_to_talk_while_it_gets_ready_is_heard_once_it_is(way: str, gate, window, factory) -> None:
    await until(window.isActiveWindow)
    button = window.dock.button
    if way == "space":
        key(window, Qt.Key.Key_Space, down=True)
    else:
        QTest.mousePress(button, Qt.MouseButton.LeftButton)
    gate.set()
    await until(lambda: bool(factory.sessions) and factory.session.calls == [("press",)])
    if way == "space":
        key(window, Qt.Key.Key_Space, down=False)
    else:
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    await until(lambda: factory.session.calls == [("press",), ("release",)])
    assert window.transcript.composer.field.toPlainText() == ""


async def test_without_a_microphone_no_turn_opens(window, factory) -> None:
    await until(window.isActiveWindow)
    say(window, e.DeviceChanged(1.0, "microphone", "absent", "", "No microphone was found. Type, or plug one in."))
    assert window.dock.button.text() == "No microphone"
    for down in (True, False):
        key(window, Qt.Key.Key_Space, down=down)
    QTest.mousePress(window.dock.button, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(window.dock.button, Qt.MouseButton.LeftButton)
    assert factory.session.calls == [] and transcript(window) == []


async def test_a_start_without_its_server_lets_one_talk_to_the_built_in_model_meanwhile() -> None:
    server = BackendChoice("compatible", "alpha", "http://127.0.0.1:8091")
    settings = Settings(provider="compatible", compatible_model="alpha", compatible_url=server.base_url)
    async with window_and_factory(settings, service=FakeBackendService()) as (window, factory):
        session, pill = factory.session, window.top_bar.pill
        session.publish(driving=BackendChoice(model="smollm2-135m"), model="smollm2-135m")
        say(window, e.Failure(1.0, "backend", "127.0.0.1:8091 does not answer.", False, *server.public))
        assert window.dock.button.text() == "Hold to talk"
        assert pill.text() == "SmolLM2 135M" and pill.coming is not None and pill.coming.name == "alpha"
        (row,) = window.messages.rows
        assert [one.text() for one in row.offers] == ["Key and server…", "Choose another…", "Try again"]
        typed(window, "Hello.")
        assert session.calls == [("write", "Hello.")]
        press(row, "Try again")
        await until(lambda: pill.text() == "alpha" and pill.coming is None)
        assert window.messages.rows == [] and window.settings.provider == "compatible"


class Early:
    """A session that is loading, and hears the user."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def press(self) -> None:
        self.calls.append("press")

    def release(self) -> None:
        self.calls.append("release")

    def set_muted(self, muted: bool) -> None:
        self.calls.append(muted)


async def test_one_can_talk_while_voice_and_model_are_still_loading() -> None:
    early = Early()
    factory = FakeFactory(gate=asyncio.Event(), progress=(Progress(("voice", "model"), early=early),))
    async with shown(factory, running=False) as window:
        button = window.dock.button
        await until(lambda: button.text() == "Hold to talk")
        assert button.hint == "loading: voice, model"
        QTest.mousePress(button, Qt.MouseButton.LeftButton)
        assert button.text() == "Listening"
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
        assert button.text() == "Hold to talk" and button.hint == "kept; loading: voice, model"
        QTest.mousePress(button, Qt.MouseButton.LeftButton)
        assert early.calls == [False, "press", "release", "press"]
        factory.gate.set()
        await until(lambda: window.manager.session)
        assert button.text() == "Listening" and factory.session.calls == [], "the turn continues"
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
        assert factory.session.calls == [("release",)] and len(early.calls) == 4


async def test_a_microphone_that_is_muted_while_loading_keeps_nothing() -> None:
    early = Early()
    factory = FakeFactory(gate=asyncio.Event(), progress=(Progress(("voice",), early=early),))
    async with shown(factory, running=False) as window:
        await until(lambda: early.calls == [False])
        window.dock.mute.click()
        assert early.calls == [False, True]
        window.dock.mute.click()
        assert early.calls == [False, True, False]


async def test_the_settings_make_the_session() -> None:
    settings = Settings(
        provider="ollama", ollama_model="gemma", answer_mode="after", duplex=True, microphone="Desk microphone"
    )
    settings.echo_cancellation, settings.noise_suppression, settings.auto_gain = False, True, True
    async with window_and_factory(settings, list_devices=two_devices) as (window, factory):
        (choice,) = factory.choices
        assert choice.backend == BackendChoice("ollama", "gemma", "http://127.0.0.1:11434")
        assert (choice.answer_mode, choice.duplex, choice.microphone) == ("after", True, "Desk microphone")
        assert choice.record_folder == "" and choice.processing == e.Processing(False, True, True)
        assert window.dock.duplex.isChecked()
        assert window.dock.button.text() == "Listening"
        assert window.devices.microphone.currentText() == "Desk microphone"
        assert window.popover.answer_mode.currentData() == "after"
        assert window.top_bar.pill.text() == "gemma"


async def test_of_two_backends_picked_in_a_hurry_the_last_one_holds(window: MainWindow, factory: FakeFactory) -> None:
    factory.session.slow = asyncio.Event()
    choose(window, "ollama")
    await until(lambda: factory.session.calls)
    choose(window, "openai")
    factory.session.slow.set()
    await until(lambda: window.settings.provider == "openai")
    assert [call[1].provider for call in factory.session.calls] == ["ollama", "openai"]
    assert window.popover.choice.provider == "openai"


async def test_what_changes_while_loading_reaches_the_session(gate, window, factory) -> None:
    await until(lambda: factory.choices)
    pick(window.popover.answer_mode, "after")
    window.dock.duplex.click()
    gate.set()
    await until(lambda: window.manager.session)
    assert sorted(factory.session.calls) == [("set_answer_mode", "after"), ("set_duplex", True)]


async def test_a_factory_that_fails_shows_its_sentence_and_can_be_tried_again() -> None:
    factory = FakeFactory(outcomes=[UserError("No microphone was found. Plug one in.")])
    async with shown(factory, running=False) as window:
        await until(lambda: window.messages.rows)
        (row,) = window.messages.rows
        assert row.label.text() == "No microphone was found. Plug one in."
        assert window.dock.button.text() == "Stopped"
        press(row, "Try again")
        await until(lambda: window.manager.session)
        assert window.dock.button.text() == "Hold to talk"
        assert window.messages.sentences() == []
        assert len(factory.choices) == 2


async def test_a_fault_in_the_factory_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    factory = FakeFactory(outcomes=[KeyError("weights")])
    with caplog.at_level(logging.ERROR):
        async with shown(factory, running=False) as window:
            await until(lambda: window.messages.rows)
            assert "bug in KAME ('weights')" in window.messages.sentences()[0]
            assert window.dock.button.text() == "Stopped"
    assert "KeyError" in caplog.text


async def test_a_notice_is_shown_as_one_and_not_as_an_error(window: MainWindow) -> None:
    say(window, e.Notice(1, "tts", "The voice had stopped and was started again."))
    [row] = window.messages.rows
    assert (row.level, row.sentence) == ("notice", "The voice had stopped and was started again.")


async def test_a_fatal_failure_stops_and_keeps_what_was_said(window: MainWindow, factory: FakeFactory) -> None:
    say(window, e.TranscriptFinal(1, 1, "Keep this.", 1))
    session = factory.session
    session.last_words = [e.SessionEnded(3, 30)]
    say(window, e.Failure(2, "audio", "The microphone was unplugged. Plug it in.", fatal=True))
    await until(lambda: session.stopped)
    window.model.flush()
    assert window.dock.button.text() == "Stopped"
    assert window.status.state.toolTip() == "Stopped"
    assert transcript(window) == ["You\nKeep this."]
    (row,) = window.messages.rows
    press(row, "Try again")
    await until(lambda: len(factory.sessions) == 2 and window.manager.session)
    say(window, e.TranscriptFinal(1, 1, "And this.", 1))
    first, divider, second = transcript(window)
    assert (first, second) == ("You\nKeep this.", "You\nAnd this.")
    assert divider.startswith("Continued, ")
    assert window.messages.sentences() == []


async def test_a_new_talk_ends_the_old_one_and_its_last_words_stay_above(window, factory) -> None:
    old = factory.session
    say(window, e.AssistantStarted(1, 1, 1), e.AssistantSaid(2, 1, "I was", 1))
    old.last_words = [e.AssistantSaid(3, 1, "saying", 1), e.AssistantEnded(3, 1, True), e.SessionEnded(3, 9)]
    window.top_bar.new_button.click()
    await until(lambda: len(factory.sessions) == 2 and window.manager.session)
    assert old.stopped == 1
    factory.session.say(e.TranscriptFinal(1, 1, "Afresh.", 1))
    old.say(e.TranscriptFinal(9, 9, "A ghost.", 9))
    window.model.flush()
    first, divider, last = transcript(window)
    assert first == "KAME\nI was saying   interrupted"
    assert divider.startswith("New conversation, ")
    assert last == "You\nAfresh."
    assert window.manager.phase == "running"


async def test_another_device_while_loading_is_taken_without_loading_anew(gate, window, factory) -> None:
    await until(lambda: factory.choices)
    pick(window.devices.microphone, "Desk microphone")
    pick(window.devices.loudspeaker, "Headphones")
    gate.set()
    await until(lambda: window.manager.session)
    assert factory.session.calls == [("set_devices", "Desk microphone", "Headphones")]
    assert len(factory.choices) == 1 and factory.cancelled == 0


async def test_another_device_while_loading_rescues_a_start_that_fails_for_the_last_one(gate, window, factory) -> None:
    factory.outcomes = [UserError("That loudspeaker is in use."), None]
    await until(lambda: factory.choices)
    pick(window.devices.loudspeaker, "Headphones")
    gate.set()
    await until(lambda: window.manager.session)
    assert [choice.loudspeaker for choice in factory.choices] == ["", "Headphones"]
    assert window.messages.sentences() == [] and not window.manager.gave_up


async def test_a_device_that_is_gone_stays_chosen_and_is_marked() -> None:
    settings = Settings(microphone="Old one")
    async with shown(FakeFactory(), settings, list_devices=two_devices) as window:
        assert window.devices.microphone.currentText() == "Not found: Old one"
        assert window.settings.microphone == "Old one"


async def test_devices_that_cannot_be_listed_do_not_stop_the_talk(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> tuple[list[str], list[str]]:
        raise OSError("no sound system")

    async with shown(FakeFactory(), list_devices=broken) as window:
        assert window.dock.button.text() == "Hold to talk"
    assert "no sound system" in caplog.text


async def test_the_newest_of_several_starts_wins(gate: asyncio.Event, window: MainWindow, factory: FakeFactory) -> None:
    await until(lambda: factory.choices)
    pick(window.devices.microphone, "Desk microphone")
    pick(window.devices.loudspeaker, "Headphones")
    choose(window, "ollama")
    choose(window, "openai")
    await until(lambda: len(factory.choices) == 2)
    gate.set()
    await until(lambda: window.manager.session)
    assert len(factory.sessions) == 1
    assert factory.cancelled == 1
    assert factory.session.choice.backend.provider == "openai"
    assert (factory.session.choice.microphone, factory.session.choice.loudspeaker) == ("Desk microphone", "Headphones")


async def test_settings_that_cannot_be_saved_are_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    async with shown(FakeFactory(), Settings(path=blocked / "settings.json")) as window:
        pick(window.popover.answer_mode, "after")
        saved = "The settings could not be saved"
        await until(lambda: any(sentence.startswith(saved) for sentence in window.messages.sentences()))


async def test_closing_does_not_wait_for_a_session_that_hangs(caplog: pytest.LogCaptureFixture) -> None:
    async with window_and_factory() as (window, factory):
        factory.session.stop_hangs = True
        window.close()
        began = asyncio.get_running_loop().time()
        await window.finish(0.2)
        assert asyncio.get_running_loop().time() - began < 1.0
        assert factory.session.stopped == 1
    assert "did not end within" in caplog.text


async def test_after_a_failed_start_another_backend_starts_the_talk() -> None:
    factory = FakeFactory(outcomes=[UserError("Ollama is not running. Start it.")])
    async with shown(factory, Settings(provider="ollama"), running=False) as window:
        await until(lambda: window.messages.rows)
        assert window.dock.button.text() == "Stopped"
        choose(window, "embedded")
        await until(lambda: window.manager.session)
        assert [choice.backend.provider for choice in factory.choices] == ["ollama", "embedded"]
        assert window.messages.sentences() == [] and window.settings.provider == "embedded"
        window.devices.stop_button.click()
        await until(lambda: factory.session.stopped)
        choose(window, "openai")  # who has stopped it wants it stopped
        await asyncio.sleep(0.05)
        assert len(factory.choices) == 2 and window.settings.provider == "openai"
        window.manager.restart_wanted.emit()  # another voice, say
        window.frontend_bar.arrived.emit()
        await asyncio.sleep(0.05)
        assert len(factory.choices) == 2 and window.manager.phase == "stopped"
