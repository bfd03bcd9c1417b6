"""An answer with code and a table, spoken and shown: the window's transcript has it as its model wrote it."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer
from app.conversation import events as e
from app.conversation.languages import language
from app.gui.cards.card import Paragraph, Table
from app.gui.cards.copying import CodeButton
from app.gui.transcript.pane import TranscriptPane
from app.gui.window.main_window import MainWindow
from tests.gui.helpers import feed, running_model, say, spoken, transcript
from tests.support.scripted import ScriptedTurn
from tests.support.talks import simulate

CODE = "```python\nprint('Hello')\n```"
ANSWER = f"Here is **how**:\n\n{CODE}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- That *is* all."


def played(qtbot: QtBot, answer: str = ANSWER, *, interrupt: float = 0.0) -> tuple[TranscriptPane, list[int]]:
    """The pane after a simulated talk, and how long the answer was after each word."""
    script = [ScriptedTurn(1.0, 3.0, "How do I greet in Python?")]
    if interrupt:
        script.append(ScriptedTurn(interrupt, interrupt + 1.5, "Stop, that is enough."))

    def reply(request: ChatRequest) -> ScriptedAnswer:
        text = "All right." if len(request.messages) > 2 else answer
        return ScriptedAnswer(tuple(text[n : n + 4] for n in range(0, len(text), 4)), 0.1, 0.005)

    model, grown = running_model(), []
    pane = TranscriptPane(model)
    qtbot.addWidget(pane)
    pane.resize(500, 700)
    pane.show()
    for event in simulate(script, reply, answer_mode="after", seconds=30).events:
        feed(model, event)
        if isinstance(event, e.AssistantSaid) and event.turn == 1:
            grown.append(len(pane.view.content.text(1)))
    return pane, grown


def test_the_answer_is_shown_as_it_was_written(qtbot: QtBot) -> None:
    pane, grown = played(qtbot)
    looks = [Table if isinstance(one, Table) else one.look for one, _ in pane.view.content.elements(1)]
    assert looks == ["text", "code", Table, "item"]
    assert "**" not in pane.view.content.text(1) and "on the screen" not in pane.view.content.text(1)
    assert grown == sorted(grown), "nothing that was shown is taken back"
    pane.view.grab()
    assert len(pane.findChildren(CodeButton)) == 1


def test_announced_code_is_shown_and_what_was_not_said_is_not(qtbot: QtBot) -> None:
    rest = "And then there is a lot more to say about it, which takes its time. " * 3
    pane, _ = played(qtbot, f"So:\n\n{CODE}\n\n{rest}\n\n```sh\nnever said\n```", interrupt=8.0)
    text = pane.view.content.text(1)
    assert "print('Hello')" in text and "never said" not in text and text.endswith("   interrupted")
    elements = [one for one, _ in pane.view.content.elements(1) if isinstance(one, Paragraph)]
    assert elements[-1].runs[-1] == ("   interrupted", "bad")


def test_a_turn_and_the_conversation_are_copied_as_they_were_written(qtbot: QtBot) -> None:
    pane, _ = played(qtbot)
    assert pane.text() == f"You: How do I greet in Python?\n\nKAME: {ANSWER}"
    pane._open_menu(QPoint(200, round(pane.view.box_of(1).top()) + 30))
    assert pane.menu is not None
    next(action for action in pane.menu.actions() if "turn" in action.text()).trigger()
    assert QApplication.clipboard().text() == ANSWER


async def test_the_users_words_are_plain_and_so_is_a_plain_answer(window: MainWindow) -> None:
    say(window, *spoken(1, "Is *this* `so`? # 1", "It is so, 3 of 4."))
    assert transcript(window) == ["You\nIs *this* `so`? # 1", "KAME   small\nIt is so, 3 of 4."]
    assert not any(card.written for card in window.transcript.view.cards)


async def test_code_that_still_comes_grows_while_nothing_is_said(window: MainWindow) -> None:
    said = language("en").on_screen["code"]
    say(
        window,
        e.TranscriptFinal(1, 1, "Code?", 1),
        e.OracleRequested(1, 1, 1, "embedded", "small", "Code?", True),
        e.OracleDelta(2, 1, "```sh\nls"),
        e.AssistantStarted(2, 1, 1),
        e.AssistantSaid(3, 1, said, 1),
    )
    assert transcript(window)[1] == "KAME   small\nls\n"
    say(window, e.OracleDelta(4, 1, " -l\necho"))
    assert transcript(window)[1] == "KAME   small\nls -l\u2028echo\n"
