"""The oracle as one sees it: where the voice is in a text, what was struck, the large card, and two models' columns."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.conversation import events as e
from app.gui.cards.view import CardView
from app.gui.oracle.pane import OraclePane
from tests.gui.helpers import heard, running_model

CLAUDE, GPT, LOCAL = ("Anthropic", "claude"), ("OpenAI", "gpt"), ("Embedded", "small")
ANSWER = "The highest mountain in Europe is Mount Elbrus."


def made(qtbot: QtBot, width: int = 700, *events: e.Event) -> OraclePane:
    pane = OraclePane(running_model(), clock=lambda: 100.0)
    qtbot.addWidget(pane)
    pane.resize(width, 600)
    pane.header.set_running(True)
    pane.header.earlier.setChecked(True)
    pane.header.details.setChecked(True)
    with qtbot.waitExposed(pane):
        pane.show()
    return say(pane, *events)


def say(pane: OraclePane, *events: e.Event) -> OraclePane:
    for event in events:
        pane._model.put(event)
    pane._model.flush()
    return pane


def asked(
    revision: int,
    backend: tuple[str, str] = CLAUDE,
    secondary: bool = False,
    turn: int = 1,
    words: str = "how high is it",
) -> e.OracleRequested:
    return e.OracleRequested(1, revision, turn, *backend, words, True, secondary)


def said(revision: int, *words: str) -> list[e.Event]:
    return [e.AssistantSaid(3, 1, word, revision) for word in words]


def looks(view: CardView, place: int = 0) -> list[tuple[str, str]]:
    """The pieces of a card's body by what they look like; the newest card has place 0."""
    return [(text, kind) for text, kind in view.cards[-1 - place].body if kind != "count"]


def texts(view: CardView) -> list[str]:
    return [view.content.text(place) for place in reversed(range(len(view.cards)))]


def numbers(view: CardView) -> list[str]:
    return [text.split("   ")[0] for text in texts(view)]


def test_heard_sent_and_waiting_words_are_told_apart_and_the_caret_stands_behind_what_was_heard(qtbot: QtBot) -> None:
    pane = made(
        qtbot, 700, asked(1), e.OracleDelta(2, 1, ANSWER), e.OracleFed(2, 1, 5, 9.0), e.AssistantStarted(2, 1, 1)
    )
    view = pane.view
    assert looks(view) == [("The highest mountain in Europe", "text"), (" is Mount Elbrus.", "still")]
    assert view.cards[-1].caret == 0 and view.cards[-1].style == "live"
    say(pane, *said(1, "The", "highest"))
    assert looks(view) == [("The highest", "heard"), (" mountain in Europe", "text"), (" is Mount Elbrus.", "still")]
    assert view.cards[-1].caret == len("The highest")
    assert "2 words heard, 3 sent to the voice, 3 still waiting" in view.cards[-1].tip
    heard, sent, still = (form for _, form in view.content.formats(len(view.cards) - 1))
    assert heard.background().style() != Qt.BrushStyle.NoBrush == sent.background().style()
    assert sent.foreground() != still.foreground()
    assert texts(view)[0].split("\n")[1] == ANSWER, "the caret is no part of the text"
    say(pane, e.OracleFed(4, 1, 3, 9.0), *said(1, *ANSWER.split()[2:]), e.AssistantEnded(5, 1, False))
    assert (looks(view), view.cards[-1].caret) == ([(ANSWER, "text")], -1)


def test_of_a_superseded_answer_what_was_heard_stays_and_the_rest_is_struck(qtbot: QtBot) -> None:
    pane = made(
        qtbot,
        700,
        asked(1),
        e.OracleDelta(2, 1, "The highest mountain in Europe is Mont Blanc."),
        e.AssistantStarted(2, 1, 1),
        *said(1, "The highest mountain in Europe is"),
        asked(2),
        e.OracleDelta(3, 2, ANSWER),
        e.OracleSuperseded(3, 1, 2),
    )
    assert looks(pane.view, 1) == [("The highest mountain in Europe is ", "heard"), ("Mont Blanc.", "struck")]
    assert texts(pane.view)[1].startswith("1   replaced by 2   speaking   claude")
    say(pane, e.AssistantCorrected(4, 1, 2, "continued"))
    assert looks(pane.view, 1) == [("The highest mountain in Europe is ", "said"), ("Mont Blanc.", "struck")]
    assert [form.fontStrikeOut() for _, form in pane.view.content.formats(len(pane.view.cards) - 2)] == [False, True]
    assert looks(pane.view) == [("The highest mountain in Europe is", "heard"), (" Mount Elbrus.", "text")]


def test_the_large_card_shows_the_one_that_counts_and_nothing_is_lost(qtbot: QtBot) -> None:
    pane = made(qtbot, 400, asked(1), e.OracleDelta(2, 1, "Noon."), asked(2))
    thought = pane.thought.view
    before, told = texts(pane.view), heard(pane.header.earlier.toggled)
    qtbot.mouseClick(pane.header.earlier, Qt.MouseButton.LeftButton)
    assert told == [False] and not pane.earlier
    assert thought.isVisible() and not pane.view.isVisible()
    assert texts(thought)[0].splitlines()[0].startswith("claude") and texts(thought)[0].endswith("\nNoon."), (
        "the newer one has said nothing yet"
    )
    say(pane, e.OracleDelta(3, 2, "One."), e.OracleSuperseded(3, 1, 2), e.AssistantStarted(3, 1, 2), *said(2, "One"))
    assert texts(thought)[0].startswith("speaking   claude") and texts(thought)[0].endswith("\nOne.")
    assert thought.cards[0].caret > 0 and thought.cards[0].quote == "how high is it"
    say(pane, asked(3, turn=2))
    assert texts(thought)[0].startswith("asked   claude") and texts(thought)[0].endswith("Waiting for claude … 2 s")
    assert texts(pane.view) == before, "what isn't seen costs nothing"
    pane.header.earlier.setChecked(True)
    assert told == [False, True] and pane.view.isVisible() and not thought.isVisible()
    assert numbers(pane.view) == ["3", "2", "1"] and texts(pane.view)[2].startswith("1   replaced by 2")


def test_figures_are_shown_on_demand(qtbot: QtBot) -> None:
    counted = e.OracleCounted(3, 1, *CLAUDE, 120, 12, 0, True, 0.001, 250, 30.0, 400)
    pane = made(qtbot, 400, asked(1), e.OracleDelta(2, 1, "Noon."), counted, e.OracleEnded(3, 1, "complete", 1))
    pane.header.earlier.setChecked(False)
    told = heard(pane.header.details.toggled)
    for view in (pane.view, pane.thought.view):
        assert "tokens in" in texts(view)[0] and "first words after" in texts(view)[0] and view.cards[0].quote
    qtbot.mouseClick(pane.header.details, Qt.MouseButton.LeftButton)
    pane.header.earlier.setChecked(True)
    for view in (pane.view, pane.thought.view):
        assert "tokens" not in texts(view)[0] and "first words" not in texts(view)[0] and not view.cards[0].quote
    assert told == [False]


def test_the_large_text_is_large_and_tells_how_long_is_waited(qtbot: QtBot) -> None:
    pane = made(qtbot, 400)
    pane.header.earlier.setChecked(False)
    pane.header.details.setChecked(False)
    thought = pane.thought.view
    assert thought.cards == []
    say(pane, e.UserStarted(97.0, 1), asked(1))  # the session began at 3 by the clock, at the latest
    pane.time.clock = lambda: 104.0
    pane.wait_timer.timeout.emit()
    assert texts(thought) == ["asked   claude\nWaiting for claude … 100 s"]
    say(pane, e.ToolCalled(98, 1, "clock", "{}"))
    assert texts(thought) == ["asked   claude\nclock …"]
    say(pane, e.OracleDelta(99, 1, "Noon."))
    ((_, form),) = thought.content.formats(0)
    pane.header.earlier.setChecked(True)
    ((_, usual),) = [piece for piece in pane.view.content.formats(0) if piece[0].endswith("Noon.")]
    assert form.fontPointSize() > 1.3 * usual.fontPointSize()


def pair(qtbot: QtBot, width: int = 700) -> OraclePane:
    return made(
        qtbot,
        width,
        e.SessionStarted(0, "c", "w", *CLAUDE, "thinking"),
        asked(1),
        e.OracleDelta(1, 1, "Mine."),
        e.SecondaryChanged(1, *GPT),
        asked(2, turn=2),
        asked(3, GPT, True, 2),
        e.OracleDelta(2, 2, "My second."),
        e.OracleDelta(2, 3, "Its own."),
    )


def test_two_models_have_a_column_each_and_the_driver_is_marked(qtbot: QtBot) -> None:
    pane = pair(qtbot)
    left, right = pane.columns
    assert (numbers(left.view), numbers(right.view)) == (["2", "1"], ["3"])
    assert (left.backend.text(), right.backend.text()) == ("claude (Anthropic)", "gpt (OpenAI)")
    assert left.mark.isVisible() and not left.hand_button.isVisible()
    assert right.hand_button.isVisible() and not right.mark.isVisible()
    assert right.hand_button.accessibleName() == "Switch to gpt (OpenAI)"
    assert {left.view.accessibleName(), right.view.accessibleName()} == {
        "Thoughts of claude (Anthropic)",
        "Thoughts of gpt (OpenAI)",
    }
    assert not pane.header.who.isVisible() and not pane.header.hand_button.isVisible()
    assert abs(left.width() - right.width()) <= 20
    assert right.view.cards[-1].style == "calm" and "comparison" not in texts(right.view)[0]


def test_one_click_switches_to_the_comparison_and_the_models_keep_their_columns(qtbot: QtBot) -> None:
    pane = pair(qtbot)
    left, right = pane.columns
    with qtbot.waitSignal(pane.header.hand_over, timeout=0):
        qtbot.mouseClick(right.hand_button, Qt.MouseButton.LeftButton)
    assert left.mark.isVisible(), "it isn't so before the session says so"
    say(
        pane,
        e.BackendChanged(3, *GPT, "handed"),
        e.OracleHandedOver(3, 3),
        e.OracleSuperseded(3, 2, 3),
        e.SecondaryChanged(3, *CLAUDE),
        asked(4, CLAUDE, True, 3),
    )
    assert (left.backend.text(), right.backend.text()) == ("claude (Anthropic)", "gpt (OpenAI)")
    assert right.mark.isVisible() and left.hand_button.isVisible()
    assert not left.mark.isVisible() and not right.hand_button.isVisible()
    assert (numbers(left.view), numbers(right.view)) == (["4", "2", "1"], ["3"])
    with qtbot.waitSignal(pane.header.hand_over, timeout=0):
        qtbot.mouseClick(left.hand_button, Qt.MouseButton.LeftButton)
    say(pane, e.BackendChanged(4, *CLAUDE, "handed"), e.SecondaryChanged(4, *GPT), asked(5, CLAUDE, turn=3))
    assert left.mark.isVisible() and numbers(left.view) == ["5", "4", "2", "1"]


def test_without_a_comparison_everything_is_in_one_column_in_its_order(qtbot: QtBot) -> None:
    pane = pair(qtbot)
    say(pane, e.BackendChanged(3, *GPT, "handed"), e.SecondaryChanged(3, *CLAUDE), e.SecondaryChanged(4, "", ""))
    left, right = pane.columns
    assert not right.isVisible() and not left.heading.isVisible()
    assert numbers(left.view) == ["3", "2", "1"]
    assert "comparison" in texts(left.view)[0]
    say(pane, asked(4, GPT, turn=3), e.SecondaryChanged(5, *LOCAL))
    assert (left.backend.text(), right.backend.text()) == ("gpt (OpenAI)", "small (Embedded)")
    assert numbers(left.view) == ["4", "3", "2", "1"] and numbers(right.view) == []
    say(pane, e.SecondaryChanged(6, "", ""), e.SecondaryChanged(7, *CLAUDE))
    assert (numbers(left.view), numbers(right.view)) == (["4", "3"], ["2", "1"]), "each model's own"


def test_a_narrow_pane_shows_one_column_and_names_both_models(qtbot: QtBot) -> None:
    pane = pair(qtbot, 330)
    assert numbers(pane.view) == ["3", "2", "1"] and not pane.columns[1].isVisible()
    assert pane.header.who.text() == "claude (Anthropic) answers; gpt (OpenAI) is the comparison."
    assert pane.header.hand_button.isVisible() and pane.view.cards[-1].style == "beside"
    pane.resize(600, 600)
    qtbot.waitUntil(lambda: pane.columns[1].isVisible())
    assert (numbers(pane.view), numbers(pane.columns[1].view)) == (["2", "1"], ["3"])
    pane.resize(330, 600)
    qtbot.waitUntil(lambda: not pane.columns[1].isVisible())
    assert numbers(pane.view) == ["3", "2", "1"]


def test_a_new_talk_begins_with_one_column(qtbot: QtBot) -> None:
    pane = pair(qtbot)
    pane._model.begin(first=False)
    assert not pane.columns[1].isVisible() and numbers(pane.view) == ["3", "2", "1"]
    assert pane.header.switch.accessibleName() == "Compare"
    say(pane, e.SessionStarted(0, "c", "w", *LOCAL, "thinking"), asked(1, LOCAL))
    assert numbers(pane.view) == ["1", "3", "2", "1"]
