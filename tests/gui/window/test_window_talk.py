"""What the window shows of a conversation: real texts, formats and counts, read back from the widgets."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.gui.design.look import STATE_COLOURS
from app.gui.widgets.formats import clock_words, dollars, seconds_words, tokens, wait
from app.gui.widgets.translation import use_language
from app.gui.window.main_window import MainWindow
from app.session.control import Progress
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import oracle, press, say, shown, spoken, transcript, until
from tests.gui.pictures.window import talk


def asked(revision: int, words: str = "tell me", final: bool = False) -> e.OracleRequested:
    return e.OracleRequested(1.0, revision, 1, "embedded", "small", words, final)


async def test_partial_words_look_unsettled_until_they_are_final(window: MainWindow) -> None:
    view = window.transcript.view
    say(window, e.UserStarted(1, 1), e.TranscriptPartial(2, 1, "What is", "the time", 2))
    assert transcript(window) == ["You\nWhat is the time"]
    (stable, plain), (unstable, loose) = view.content.formats(0)
    assert (stable, unstable) == ("What is ", "the time")
    assert loose.fontItalic() and loose.foreground().color() != plain.foreground().color()
    assert not plain.fontItalic()
    say(window, e.TranscriptFinal(3, 1, "What is the time?", 3))
    ((text, final),) = view.content.formats(0)
    assert text == "What is the time?"
    assert not final.fontItalic() and final.foreground().color() == plain.foreground().color()


async def test_the_assistants_words_grow_and_an_interruption_is_marked(window: MainWindow) -> None:
    say(window, e.TranscriptFinal(2, 1, "Hello.", 2), e.AssistantStarted(3, 1, 1))
    say(window, e.AssistantSaid(4, 1, "Hello to", 1))
    assert transcript(window)[1] == "KAME\nHello to"
    say(window, e.AssistantSaid(5, 1, "you, my", 1), e.AssistantEnded(6, 1, True))
    assert transcript(window)[1] == "KAME\nHello to you, my   interrupted"
    say(window, e.AssistantStarted(7, 2, 2), e.AssistantSaid(8, 2, "Yes.", 2))
    say(window, e.AssistantEnded(9, 2, False))
    assert transcript(window)[2] == "KAME\nYes."


def unheard(turn: int, at: float) -> list[e.Event]:
    """The talk button is held and let go, and nothing was understood."""
    return [
        e.UserStarted(at, turn),
        e.TranscriptPartial(at + 0.4, turn, "", "uh", at),
        e.UserEnded(at + 0.9, turn, at + 0.8, "button"),
        e.TranscriptFinal(at + 1, turn, "", at + 1),
    ]


async def test_a_turn_in_which_nothing_was_understood_leaves_no_card_and_is_said(window: MainWindow) -> None:
    button, popover = window.dock.button, window.devices
    say(window, *unheard(1, 1.0))
    assert transcript(window) == [] and not window.transcript.cards.has_words
    assert (button.text(), button.hint) == ("I heard nothing", "speak while the button is down")
    assert window.messages.rows == []
    say(window, e.LevelMeasured(7.0, -50.0, -60.0))
    assert button.text() == "Hold to talk"
    say(window, *unheard(2, 8.0))
    assert (button.text(), button.hint) == ("I heard nothing", "check the microphone")
    press(window.messages.rows[0], "Choose the microphone…")
    assert popover.isVisible()
    say(window, *spoken(3, "And now?", at=12.0))
    assert window.messages.rows == [] and transcript(window)[0].endswith("And now?")


async def test_noise_hands_free_says_nothing(window: MainWindow) -> None:
    window.dock.duplex.click()
    say(window, *unheard(1, 1.0), *unheard(2, 4.0))
    assert window.dock.button.text() == "Listening" and window.messages.rows == []


async def test_who_talks_while_muted_is_told_and_can_unmute(window: MainWindow) -> None:
    window.dock.mute.click()
    say(window, e.MicrophoneMuted(1, True), e.DeviceChanged(2, "microphone", "muted", "Mic", "You are talking."))
    press(window.messages.rows[0], "Unmute")
    assert not window.dock.mute.isChecked() and window.messages.rows == []


async def test_a_backchannel_is_small(window: MainWindow) -> None:
    say(window, e.TranscriptFinal(1, 1, "A real sentence.", 1), e.UserBackchannel(2, 2, "mhm"))
    assert transcript(window)[1] == "You, in passing\nmhm"
    sizes = [window.transcript.view.content.formats(place)[0][1].fontPointSize() for place in (0, 1)]
    assert sizes[1] < sizes[0]


async def test_turns_stand_in_the_order_of_their_sound(window: MainWindow) -> None:
    say(window, e.TranscriptFinal(1, 1, "first", 1), e.AssistantStarted(5, 1, 1))
    say(window, e.AssistantSaid(6, 1, "third", 1), e.TranscriptFinal(3, 2, "second", 3))
    assert [text.split("\n")[1] for text in transcript(window)] == ["first", "second", "third"]
    say(window, e.AssistantSaid(7, 1, "and on", 1))
    assert [text.split("\n")[1] for text in transcript(window)] == ["first", "second", "third and on"]


async def test_a_superseded_revision_is_struck_through_and_the_speaking_one_marked(window: MainWindow) -> None:
    view = window.oracle.view
    say(window, asked(1, "what is the"), e.OracleDelta(1.4, 1, "It is noon."))
    ((_, before),) = view.content.formats(0)
    assert not before.fontStrikeOut()
    say(window, asked(2, "what is the time in Rome", True), e.OracleDelta(1.25, 2, "In Rome"))
    say(window, e.OracleSuperseded(1.3, 1, 2), e.AssistantStarted(1.4, 1, 2))
    newest, oldest = oracle(window)
    assert newest == ("2   speaking   small (embedded) · complete turn · first words after 250 ms · 2 words\nIn Rome")
    assert oldest == (
        "1   replaced by 2   small (embedded) · on 3 words · first words after 400 ms · 3 words\nIt is noon."
    )
    ((_, after),) = view.content.formats(0)
    assert after.fontStrikeOut()
    assert after.foreground().color() != before.foreground().color()
    ((_, speaking),) = view.content.formats(1)
    assert not speaking.fontStrikeOut()
    assert [card.style for card in view.cards] == ["plain", "live"]


async def test_a_failed_revision_says_so(window: MainWindow) -> None:
    say(window, asked(1), e.OracleEnded(2, 1, "failed", 0))
    assert oracle(window) == ["1   failed   small (embedded) · on 2 words\n(no words)"]


async def test_the_button_tells_the_state_in_words_and_colour(window: MainWindow) -> None:
    button = window.dock.button
    seen = [(button.text(), button.colour())]
    for event in (
        e.UserStarted(1, 1),
        e.UserEnded(2, 1, 1.9, "button"),
        e.AssistantStarted(2.5, 1, 1),
        e.AssistantEnded(4, 1, False),
    ):
        say(window, event)
        seen.append((button.text(), button.colour()))
    words = ["Hold to talk", "Hearing you", "Thinking", "Speaking", "Hold to talk"]
    states = ["ready", "hearing", "thinking", "speaking", "ready"]
    assert seen == [(word, STATE_COLOURS[state]) for word, state in zip(words, states, strict=True)]
    assert len({colour.name() for _, colour in seen[:4]}) == 4


@pytest.mark.parametrize("percent", [100, 125])
async def test_the_words_below_the_talk_button_are_whole_in_a_small_window(percent: int, gate, factory) -> None:
    factory.progress = (Progress(("recogniser", "voice", "model")),)
    async with shown(factory, Settings(font_scale=percent), running=False) as window:
        window.resize(900, 600)
        button, caption = window.dock.button, window.dock.caption
        seen: list[str] = []
        await until(lambda: window.width() == 900 and button.hint.startswith("loading: speech"))
        for event in (
            None,
            *unheard(1, 1.0),
            e.MicrophoneMuted(9.0, True),
            e.MicrophoneMuted(9.1, False),
            e.DeviceChanged(9.2, "microphone", "lost", "", "It is gone."),
        ):
            if event is not None:
                gate.set()
                await until(lambda: window.manager.session)
                say(window, event)
            seen.append(caption.text())
            assert caption.fontMetrics().horizontalAdvance(caption.text()) <= caption.width(), caption.text()
            assert button.minimumSizeHint().width() <= button.width(), button.text()
        assert "nothing you say is heard" in seen and "type, or plug one in" in seen


async def test_the_levels_move_hold_their_peak_and_fall(window: MainWindow) -> None:
    meter, other = window.devices.microphone_level, window.devices.loudspeaker_level
    window.dock.devices_button.click()
    say(window, e.LevelMeasured(1.0, -12.0, -30.0))
    assert (meter.level_db, meter.peak_db, other.level_db) == (-12.0, -12.0, -30.0)
    say(window, e.LevelMeasured(1.5, -40.0, float("-inf")))
    assert (meter.level_db, meter.peak_db) == (-40.0, -12.0)
    assert (other.level_db, other.peak_db) == (-60.0, -30.0)
    say(window, e.LevelMeasured(2.5, -40.0, 3.0))
    assert -40.0 < meter.peak_db < -12.0
    assert other.level_db == 0.0
    window.devices.stop_button.click()
    assert (meter.level_db, meter.peak_db) == (-60.0, -60.0)


async def test_five_thousand_events_cost_one_batch_and_one_edit_a_card(window, factory) -> None:
    batches, session = window.model.batches, factory.session
    session.say(e.UserStarted(1, 1), asked(1))
    for step in range(2_500):
        session.say(e.TranscriptPartial(step / 100, 1, f"word {step}", "loose", step / 100))
        session.say(e.OracleDelta(step / 100, 1, f" w{step}"))
    assert transcript(window) == []
    await until(lambda: window.model.batches > batches)
    assert window.model.batches == batches + 1
    assert window.transcript.view.content.edits == 2  # the user's words and the answer that is guessed
    assert window.oracle.view.content.edits == 1
    assert transcript(window)[0] == "You\nword 2499 loose" and transcript(window)[1].startswith("KAME")
    assert oracle(window)[0].endswith(" w2498 w2499")


async def test_a_fault_in_the_window_shows_a_bar_and_the_talk_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, window: MainWindow
) -> None:

    def fail(_: e.Event) -> None:
        raise RuntimeError("no such card")

    monkeypatch.setattr(window.oracle.header, "apply", fail)
    say(window, e.TranscriptFinal(1, 1, "Still here.", 1))
    assert transcript(window) == ["You\nStill here."]
    assert "RuntimeError" in window.messages.sentences()[0]
    assert "no such card" in caplog.text
    monkeypatch.undo()
    say(window, asked(1))
    assert len(oracle(window)) == 1


async def test_text_is_copied_with_the_standard_key(window: MainWindow) -> None:
    say(window, *talk())
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
    window.commands["copy"].trigger()
    assert QApplication.clipboard().text() == copied


async def test_the_window_says_what_the_settings_file_had_wrong() -> None:
    settings = Settings(notice="The settings file was damaged.")
    async with shown(FakeFactory(), settings) as window:
        assert window.messages.sentences() == ["The settings file was damaged."]


CLAUDE, LOCAL = ("Anthropic", "claude"), ("Embedded", "small")


def requested(revision: int, backend: tuple[str, str], at: float = 1.0) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "tell me", False)


def counted(
    revision: int, backend: tuple[str, str], cost: float | None, exact: bool = True, **wants
) -> e.OracleCounted:
    cached = wants.get("cached", 0)
    return e.OracleCounted(
        2, revision, *backend, 1200, 45, cached, exact, cost, wants.get("first_ms", 310.0), 8.0, 400.0
    )


NUMBERS: dict[Callable[[Any], str], list[tuple[float, str]]] = {
    dollars: [(0, "$0"), (0.00002, "<$0.0001"), (0.0031, "$0.0031"), (0.4249, "$0.42"), (12.3, "$12.30")],
    tokens: [(812, "812"), (8_240, "8.2k"), (1_300_000, "1.3M")],
    wait: [(0.4204, "420 ms"), (0.9996, "1.0 s"), (12.039, "12.0 s")],
    seconds_words: [(-0.001, "0.00 s"), (0.454, "0.45 s"), (-0.1, "\u22120.10 s"), (9.996, "10.0 s")],
}


@pytest.mark.parametrize(
    ("words", "number", "text"), [(words, *case) for words, cases in NUMBERS.items() for case in cases]
)
def test_numbers_in_few_letters(words: Callable[[Any], str], number: float, text: str) -> None:
    assert words(number) == text


async def test_seconds_have_the_decimal_sign_of_the_language(in_english: QApplication) -> None:
    use_language(in_english, "de")
    assert [clock_words(63.2, tenths=True), wait(1.25), seconds_words(-0.1)] == ["1:03,2", "1,2 s", "\u22120,10 s"]
    async with shown(FakeFactory()) as window:
        say(window, *spoken(1, "What is it?", "A test."))
        await until(lambda: "," in window.status.response.text())


async def test_requests_tokens_and_cost_are_told_for_the_talk_and_each_backend(window, factory) -> None:
    label = window.status.counts
    assert label.text() == ""
    say(window, requested(1, CLAUDE))
    assert label.text() == ""
    say(
        window,
        e.OracleEnded(2, 1, "superseded", 3),
        counted(1, CLAUDE, 0.003, cached=1000),
        requested(2, CLAUDE),
        counted(2, CLAUDE, 0.0051),
        requested(3, LOCAL),
        counted(3, LOCAL, None, exact=False),
    )
    assert label.text() == "$0.0081 · more of unknown price"
    assert window.status.usage_summary() == ("3 requests, 1 cut short · 3.7k tokens · $0.0081 · more of unknown price")
    lines = label.toolTip().splitlines()
    assert lines == [
        "3 requests, of which 1 were cut short by a newer one",
        "3,600 tokens in, 135 out",
        "claude (Anthropic): 2 requests, 1 cut short, 2,400 in, 90 out, 1,000 from the cache, $0.0081",
        "small (Embedded): 1 request, 0 cut short, 1,200 in, 45 out, estimated, no price known",
    ]
    assert label.accessibleDescription() == label.toolTip()
    say(window, e.BudgetChanged(3, "slow", 0.0081, 0.01))
    assert label.toolTip().splitlines()[-1] == "Spending limit: $0.0081 of $0.01; the model is asked less often"
    window.top_bar.new_button.click()
    await until(lambda: len(factory.sessions) == 2 and window.manager.session)
    assert label.text() == ""


async def test_a_backend_without_a_price_is_not_free(window: MainWindow) -> None:
    say(window, requested(1, CLAUDE), counted(1, CLAUDE, None))
    assert window.status.counts.text() == "price unknown"
    assert oracle(window)[0].endswith("\u20281,200 tokens in, 45 out · no price known")


async def test_a_card_tells_what_it_took(window: MainWindow) -> None:
    say(window, requested(1, CLAUDE), e.OracleDelta(1.42, 1, "Noon."))
    assert oracle(window)[0] == "1   claude (Anthropic) · on 2 words · first words after 420 ms · 1 word\nNoon."
    say(window, counted(1, CLAUDE, 0.0031, exact=False, cached=900))
    assert oracle(window)[0] == (
        "1   claude (Anthropic) · on 2 words · first words after 310 ms · 1 word\n"
        "Noon.\u2028about 1,200 tokens in, 45 out (900 from the cache) · $0.0031"
    )
    say(window, requested(2, CLAUDE), e.OracleDelta(13.039, 2, "Noon."))
    assert "first words after 12.0 s · 1 word" in oracle(window)[0]
    say(window, counted(2, CLAUDE, 0.0031, first_ms=11_980.0))
    assert "first words after 12.0 s · 1 word" in oracle(window)[0]


async def test_a_tool_is_told_with_its_server_and_its_arguments_even_if_they_are_no_object(window: MainWindow) -> None:
    say(
        window,
        requested(1, CLAUDE),
        e.ToolCalled(1, 1, "adder__add", '{"a": 17, "b": 25}'),
        e.ToolReturned(1.2, 1, "adder__add", True, "42", 0.2),
        e.ToolCalled(1, 1, "files__read__all", "{}"),
        e.ToolReturned(9, 1, "files__read__all", False, "The tool “files__read__all” took too long.", 8.0),
        *(e.ToolCalled(1, 1, "files", words) for words in ("[1, 2]", "{broken", "")),
    )
    assert oracle(window)[0].split("\n")[1].split("\u2028")[:5] == [
        "add (adder) with 17, 25 → 42 (200 ms)",
        "read__all (files) → failed: The tool “read__all (files)” took too long. (8.0 s)",
        "files with [1, 2] …",
        "files with {broken …",
        "files …",
    ]


async def test_what_has_become_of_a_call_that_needs_consent_is_told(window: MainWindow) -> None:
    def told() -> list[str]:
        return oracle(window)[0].split("\n")[1].split("\u2028")

    mail = ("mail__send", '{"to": "anna"}')
    say(window, requested(1, CLAUDE), e.ConsentAsked(1, 1, 1, (mail[0],), (mail[1],), ("changes",)))
    assert told()[0] == "send (mail) with anna · waits for your consent"
    say(window, e.ConsentAnswered(2, 1, False, "words"))
    assert told()[0] == "send (mail) with anna · not allowed"
    say(window, e.ConsentAsked(3, 1, 1, (mail[0],), (mail[1],), ("changes",)), e.ConsentAnswered(4, 1, True, "voice"))
    say(window, e.CallNotMade(5, 1, *mail))
    assert told()[:3] == [
        "send (mail) with anna · not allowed",
        "send (mail) with anna · allowed",
        "send (mail) with anna · not done without your consent",
    ]


async def test_tools_are_told_as_they_work(window: MainWindow) -> None:
    view = window.oracle.view
    say(window, requested(1, CLAUDE), e.ToolCalled(1.2, 1, "calculator", '{"expression": "17 * 23"}'))
    assert oracle(window)[0].split("\n")[1] == "calculator with 17 * 23 …\u2028…"
    say(window, e.ToolReturned(1.3, 1, "calculator", True, "391", 0.02), e.OracleDelta(1.5, 1, "391."))
    assert oracle(window)[0].split("\n")[1] == "calculator with 17 * 23 → 391 (20 ms)\u2028391."
    say(window, e.ToolCalled(2, 1, "clock", "{}"))
    say(window, e.ToolReturned(3.5, 1, "clock", False, "no\nclock " * 40, 1.5))
    text = oracle(window)[0].split("\n")[1]
    assert "clock → failed: no clock no clock" in text and "… (1.5 s)" in text and len(text) < 220
    failed = next(form for piece, form in view.content.formats(0) if piece.startswith("clock"))
    assert failed.foreground().color() == view._look.bad


async def test_a_change_of_backend_divides_the_transcript_where_it_was(window: MainWindow) -> None:
    say(window, e.SessionStarted(0, "c", "w", *LOCAL, "thinking"), e.BackendChanged(0.5, *LOCAL))
    assert transcript(window) == []  # before the first word there is nothing to divide
    say(window, e.TranscriptFinal(1, 1, "First.", 1), e.BackendChanged(2, *CLAUDE))
    say(window, e.AssistantStarted(3, 1, 1), e.AssistantSaid(4, 1, "An answer.", 1))
    say(window, e.BackendChanged(5, *LOCAL, "fallback"), e.BackendChanged(5.5, "Google", "g", "fallback"))
    say(window, e.AssistantSaid(6, 1, "More.", 1), e.TranscriptFinal(7, 2, "Second.", 7))
    assert transcript(window) == [
        "You\nFirst.",
        "Now answering: claude (Anthropic)\n",
        "KAME\nAn answer. More.",
        "small (Embedded) takes over again\n",
        "g (Google) takes over\n",
        "You\nSecond.",
    ]
    view = window.transcript.view
    assert [card.style for card in view.cards].count("divider") == 3
