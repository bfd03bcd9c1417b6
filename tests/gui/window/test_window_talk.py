"""What the window shows of a conversation: real texts and formats, read back from the widgets."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.gui.design.look import STATE_COLOURS
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import oracle, say, shown, transcript, until
from tests.gui.pictures.window import talk


def asked(revision: int, words: str = "tell me", final: bool = False) -> e.OracleRequested:
    return e.OracleRequested(1.0, revision, 1, "embedded", "small", words, final)


async def test_partial_words_look_unsettled_until_they_are_final() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        view = window.transcript.view
        say(window, factory, e.UserStarted(1, 1), e.TranscriptPartial(2, 1, "What is", "the time", 2))
        assert transcript(window) == ["You\nWhat is the time"]
        (stable, plain), (unstable, loose) = view.card_formats(0)
        assert (stable, unstable) == ("What is ", "the time")
        assert loose.fontItalic() and loose.foreground().color() != plain.foreground().color()
        assert not plain.fontItalic()
        say(window, factory, e.TranscriptFinal(3, 1, "What is the time?", 3))
        ((text, final),) = view.card_formats(0)
        assert text == "What is the time?"
        assert not final.fontItalic() and final.foreground().color() == plain.foreground().color()


async def test_the_assistants_words_grow_and_an_interruption_is_marked() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, e.TranscriptFinal(2, 1, "Hello.", 2), e.AssistantStarted(3, 1, 1))
        say(window, factory, e.AssistantSaid(4, 1, "Hello to", 1))
        assert transcript(window)[1] == "KAME\nHello to"
        say(window, factory, e.AssistantSaid(5, 1, "you, my", 1), e.AssistantEnded(6, 1, True))
        assert transcript(window)[1] == "KAME\nHello to you, my   interrupted"
        say(window, factory, e.AssistantStarted(7, 2, 2), e.AssistantSaid(8, 2, "Yes.", 2))
        say(window, factory, e.AssistantEnded(9, 2, False))
        assert transcript(window)[2] == "KAME\nYes."


async def test_a_backchannel_is_small() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, e.TranscriptFinal(1, 1, "A real sentence.", 1), e.UserBackchannel(2, 2, "mhm"))
        assert transcript(window)[1] == "You, in passing\nmhm"
        sizes = [window.transcript.view.card_formats(place)[0][1].fontPointSize() for place in (0, 1)]
        assert sizes[1] < sizes[0]


async def test_turns_stand_in_the_order_of_their_sound() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, e.TranscriptFinal(1, 1, "first", 1), e.AssistantStarted(5, 1, 1))
        say(window, factory, e.AssistantSaid(6, 1, "third", 1), e.TranscriptFinal(3, 2, "second", 3))
        assert [text.split("\n")[1] for text in transcript(window)] == ["first", "second", "third"]
        say(window, factory, e.AssistantSaid(7, 1, "and on", 1))
        assert [text.split("\n")[1] for text in transcript(window)] == ["first", "second", "third and on"]


async def test_a_superseded_revision_is_struck_through_and_the_speaking_one_marked() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        view = window.oracle.view
        say(window, factory, asked(1, "what is the"), e.OracleDelta(1.4, 1, "It is noon."))
        ((_, before),) = view.card_formats(0)
        assert not before.fontStrikeOut()
        say(window, factory, asked(2, "what is the time in Rome", True), e.OracleDelta(1.25, 2, "In Rome"))
        say(window, factory, e.OracleSuperseded(1.3, 1, 2), e.AssistantStarted(1.4, 1, 2))
        newest, oldest = oracle(window)
        assert newest == (
            "2   speaking   small (embedded) · complete turn · first words after 250 ms · 2 words\nIn Rome"
        )
        assert oldest == (
            "1   superseded by 2   small (embedded) · on 3 words · first words after 400 ms · 3 words\nIt is noon."
        )
        ((_, after),) = view.card_formats(0)
        assert after.fontStrikeOut()
        assert after.foreground().color() != before.foreground().color()
        ((_, speaking),) = view.card_formats(1)
        assert not speaking.fontStrikeOut()
        assert [card.style for card in view.cards] == ["plain", "live"]


async def test_a_failed_revision_says_so() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, asked(1), e.OracleEnded(2, 1, "failed", 0))
        assert oracle(window) == ["1   failed   small (embedded) · on 2 words\n(no words)"]


async def test_the_oracle_pane_keeps_the_newest_eighty() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        for revision in range(1, 101):
            factory.session.say(asked(revision), e.OracleDelta(2, revision, f"thought {revision}"))
        window.pump.flush()
        cards = oracle(window)
        assert len(cards) == 80
        assert cards[0].endswith("thought 100") and cards[-1].endswith("thought 21")
        assert window.oracle.view.document().blockCount() == 160


async def test_the_button_tells_the_state_in_words_and_colour() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        button = window.dock.button
        seen = [(button.text(), button.colour())]
        for event in (
            e.UserStarted(1, 1),
            e.UserEnded(2, 1, 1.9, "button"),
            e.AssistantStarted(2.5, 1, 1),
            e.AssistantEnded(4, 1, False),
        ):
            say(window, factory, event)
            seen.append((button.text(), button.colour()))
        words = ["Hold to talk", "Hearing you", "Thinking", "Speaking", "Hold to talk"]
        states = ["ready", "hearing", "thinking", "speaking", "ready"]
        assert seen == [(word, STATE_COLOURS[state]) for word, state in zip(words, states, strict=True)]
        assert len({colour.name() for _, colour in seen[:4]}) == 4


async def test_the_response_time_is_shown() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        assert window.status.response.text() == "No answer yet"
        say(window, factory, e.UserEnded(2.2, 1, 1.85, "words"), e.AssistantStarted(2.31, 1, 1))
        assert window.status.response.text() == "Last answer after 0.46 s"
        say(window, factory, e.AssistantStarted(5.0, 2, 2), e.UserEnded(5.4, 2, 5.2, "words"))
        assert window.status.response.text() == "Last answer began 0.20 s before you ended"


async def test_the_levels_move_hold_their_peak_and_fall() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        meter, other = window.devices.microphone_level, window.devices.loudspeaker_level
        window.dock.devices_button.click()
        say(window, factory, e.LevelMeasured(1.0, -12.0, -30.0))
        assert (meter.level_db, meter.peak_db, other.level_db) == (-12.0, -12.0, -30.0)
        say(window, factory, e.LevelMeasured(1.5, -40.0, float("-inf")))
        assert (meter.level_db, meter.peak_db) == (-40.0, -12.0)
        assert (other.level_db, other.peak_db) == (-60.0, -30.0)
        say(window, factory, e.LevelMeasured(2.5, -40.0, 3.0))
        assert -40.0 < meter.peak_db < -12.0
        assert other.level_db == 0.0
        window.devices.stop_button.click()
        assert (meter.level_db, meter.peak_db) == (-60.0, -60.0)


async def test_five_thousand_events_cost_one_batch_and_one_edit_a_card() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        batches, session = window.pump.batches, factory.session
        session.say(e.UserStarted(1, 1), asked(1))
        for step in range(2_500):
            session.say(e.TranscriptPartial(step / 100, 1, f"word {step}", "loose", step / 100))
            session.say(e.OracleDelta(step / 100, 1, f" w{step}"))
        assert transcript(window) == []
        await until(lambda: window.pump.batches > batches)
        assert window.pump.batches == batches + 1
        assert window.transcript.view.edits == 1
        assert window.oracle.view.edits == 1
        assert transcript(window) == ["You\nword 2499 loose"]
        assert oracle(window)[0].endswith(" w2498 w2499")


async def test_an_event_edits_only_its_own_card_among_hundreds() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        for turn in range(1, 401):
            factory.session.say(e.TranscriptFinal(turn, turn, f"sentence {turn}", turn))
        window.pump.flush()
        edits = window.transcript.view.edits
        say(window, factory, e.TranscriptPartial(500, 401, "one", "more", 500))
        assert window.transcript.view.edits == edits + 1
        assert len(transcript(window)) == 401


async def test_a_fault_in_the_window_shows_a_bar_and_the_talk_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    factory = FakeFactory()
    async with shown(factory) as window:

        def fail(_: e.Event) -> None:
            raise RuntimeError("no such card")

        monkeypatch.setattr(window.oracle, "apply", fail)
        say(window, factory, e.TranscriptFinal(1, 1, "Still here.", 1))
        assert transcript(window) == ["You\nStill here."]
        assert "RuntimeError" in window.messages.sentences()[0]
        assert "no such card" in caplog.text
        monkeypatch.undo()
        say(window, factory, asked(1))
        assert len(oracle(window)) == 1


async def test_a_sentence_is_shown_until_it_is_closed() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        assert not window.messages.isVisible()
        failure = e.Failure(1, "backend", "Ollama did not answer. Start it.")
        say(window, factory, failure, failure)
        (row,) = window.messages.rows
        assert row.label.text() == "Ollama did not answer. Start it."
        assert window.messages.isVisible() and not row.retry_button.isVisible()
        assert window.manager.phase == "running"
        row.close_button.click()
        assert not window.messages.isVisible() and window.messages.sentences() == []


async def test_text_is_copied_with_the_standard_key() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        await until(window.isActiveWindow)
        say(window, factory, *talk())
        QApplication.clipboard().clear()
        window.transcript.view.setFocus()
        QTest.keySequence(window.transcript.view, QKeySequence(QKeySequence.StandardKey.SelectAll))
        QTest.keySequence(window.transcript.view, QKeySequence(QKeySequence.StandardKey.Copy))
        copied = QApplication.clipboard().text()
        assert "You\nWhat is the highest mountain in Europe, and how high is it?" in copied
        assert "interrupted" in copied
        # From the menu, with the focus elsewhere: what is selected is copied all the same.
        QApplication.clipboard().clear()
        window.dock.button.setFocus(Qt.FocusReason.OtherFocusReason)
        window.menu.copy.emit()
        assert QApplication.clipboard().text() == copied


async def test_the_window_says_what_the_settings_file_had_wrong() -> None:
    settings = Settings(notice="The settings file was damaged.")
    async with shown(FakeFactory(), settings) as window:
        assert window.messages.sentences() == ["The settings file was damaged."]
