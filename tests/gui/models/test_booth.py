"""Booth mode: large favourites that swap the model in mid-sentence, and what shows that another one took over."""

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.hotkeys.push_to_talk import REPEAT_MS
from app.gui.models.booth import BoothStrip
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import press_key, say, transcript, type_keys, until

SMALL, GPT = BackendChoice("embedded"), BackendChoice("openai", "gpt-4.1")


def begin(window: MainWindow) -> BoothStrip:
    window.popover.favourites.show_backends([SMALL, GPT])
    window.commands["booth"].trigger()
    return window.booth


def swapped_in_mid_answer() -> list[e.Event]:
    """The first model has begun to answer; the second takes over 1.2 s after the change."""
    return [
        e.UserStarted(1, 1),
        e.OracleRequested(1.5, 1, 1, "Embedded", "small", "What is it", True),
        e.OracleDelta(1.8, 1, "It is a river in the north."),
        e.TranscriptFinal(2, 1, "What is it?", 2),
        e.UserEnded(2, 1, 1.9, "button"),
        e.AssistantStarted(2.2, 1, 1),
        e.AssistantSaid(2.6, 1, "It is a", 1),
        e.BackendChanged(3.0, "OpenAI", "gpt-4.1", "chosen"),
        e.OracleRequested(3.0, 2, 1, "OpenAI", "gpt-4.1", "What is it?", True),
        e.OracleDelta(3.6, 2, "It is a town on the coast."),
        e.AssistantSaid(4.2, 1, "town", 2),
    ]


async def test_a_digit_swaps_the_model_unless_something_is_being_typed(
    window: MainWindow, factory: FakeFactory
) -> None:
    booth = begin(window)
    assert booth.isVisible() and [chip.name for chip in booth.chips][1:] == ["gpt-4.1"]
    await until(window.isActiveWindow)
    await press_key(window, Qt.Key.Key_2)
    assert factory.session.calls == [("set_backend", GPT)]
    await until(lambda: booth.chips[1].isChecked(), 5)
    assert not booth.chips[0].isChecked()
    field = window.transcript.composer.field
    QTest.keyClicks(field, "In ")
    await press_key(window, Qt.Key.Key_1)
    assert field.text() == "In 1" and len(factory.session.calls) == 1
    field.clear()
    window.routing.end_typing()
    await press_key(window, Qt.Key.Key_2)
    await type_keys(window, "nd")
    assert field.text() == "2nd", "it was the beginning of a message"
    field.clear()
    window.routing.end_typing()
    await press_key(window, Qt.Key.Key_2)
    await type_keys(window, " ")
    await asyncio.sleep(2 * REPEAT_MS / 1000)  # until the space bar counts as released
    await type_keys(window, "plus 3")
    assert field.text() == "2 plus 3", "and so it was here"
    booth.chips[0].click()
    assert factory.session.calls[-1] == ("set_backend", SMALL)


async def test_a_digit_is_text_without_booth_mode(window: MainWindow, factory: FakeFactory) -> None:
    window.popover.favourites.show_backends([SMALL, GPT])
    await until(window.isActiveWindow)
    await press_key(window, Qt.Key.Key_2)
    assert window.transcript.composer.field.text() == "2" and factory.session.calls == []


async def test_the_model_that_takes_over_is_named_where_it_does(window: MainWindow) -> None:
    booth, ticks = begin(window), []
    booth.took_over.connect(lambda: ticks.append(transcript(window)))
    say(window, *swapped_in_mid_answer()[:-1])
    assert ticks == []
    say(window, swapped_in_mid_answer()[-1])
    assert len(ticks) == 1
    lines = transcript(window)[1].replace("\u2028", "\n").splitlines()
    assert lines[0] == "KAME   small → gpt-4.1"
    assert lines[1].strip() == "It is a" and lines[2] == "▸ gpt-4.1 took over after 1.2 s"
    assert lines[3].startswith("town"), "and the rest of its answer follows"


async def test_without_favourites_it_says_how_to_get_some(window: MainWindow) -> None:
    window.popover.favourites.show_backends([])
    window.commands["booth"].trigger()
    assert window.booth.hint.isVisible() and not window.booth.chips
