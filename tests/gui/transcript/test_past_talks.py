"""Kept talks, also endless ones, are shown a few cards at a time: the window answers meanwhile."""

from __future__ import annotations

import time

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.conversation import events as e
from app.gui.cards.card import LONGEST_BODY
from app.gui.state import past_talk as past_talk_module
from app.gui.state.past_talk import PastTalk, past_talk, past_talks
from app.gui.state.session_model import SessionModel
from app.gui.transcript.pane import TranscriptPane
from app.history.base import KeptTalk
from app.research.window import many_turns
from tests.gui.helpers import feed


def kept(turns: int) -> KeptTalk:
    return KeptTalk(5.0, tuple(many_turns(turns)))


def said(text: str, turn: int = 1) -> tuple[e.Event, ...]:
    return e.UserStarted(1.0, turn), e.TranscriptFinal(2.0, turn, text, 2.0)


def pane_with(qtbot: QtBot, *talks: PastTalk) -> TranscriptPane:
    pane = TranscriptPane(SessionModel())
    qtbot.addWidget(pane)
    pane.resize(500, 700)
    pane.show()
    pane._model.add_past(talks)
    return pane


def begin(pane: TranscriptPane) -> None:
    pane._model.set_phase("running")
    pane._model.begin(first=False)


def heads(pane: TranscriptPane) -> list[str]:
    return [pane.view.content.text(place).split("\n")[0] for place in range(len(pane.view.cards))]


@pytest.mark.slow
def test_the_window_gets_its_turn_while_a_long_talk_is_shown(qtbot: QtBot) -> None:
    pane = pane_with(qtbot, past_talk(kept(2_000)))
    assert pane.cards.showing and pane.cards.has_words and 0 < len(pane.view.cards) < 2_001
    counts, deadline = set(), time.monotonic() + 60.0
    while pane.cards.showing:
        assert time.monotonic() < deadline, f"{len(pane.view.cards)} cards are shown so far"
        QApplication.processEvents()  # on a busy machine not each time with a card
        counts.add(len(pane.view.cards))
    assert len(counts) > 3 and len(pane.view.cards) == 2_001
    assert pane.view.at_newest() and "Question 1000:" in pane.view.content.text(1_999)
    assert len(pane._model.messages) == 2_000


def test_talks_come_in_order_and_what_is_said_meanwhile_below_them(qtbot: QtBot) -> None:
    pane = pane_with(qtbot, past_talk(kept(600)), past_talk(kept(4)))
    begin(pane)
    feed(pane._model, *said("And now?"))
    assert pane.cards.showing, "a session that begins does not wait for all cards"
    qtbot.waitUntil(lambda: not pane.cards.showing)
    told = heads(pane)
    assert [place for place, card in enumerate(pane.view.cards) if card.style == "divider"] == [0, 601, 606]
    assert len(told) == 608 and "And now?" in pane.view.content.text(607)
    feed(pane._model, e.TranscriptFinal(2.5, 1, "And now, what?", 2.5))
    assert "And now, what?" in pane.view.content.text(607) and len(pane.view.cards) == 608
    assert [turn.talk for turn in map(pane.cards.turn, (1, 602, 607)) if turn] == [1, 2, 3]


@pytest.mark.slow
def test_a_session_that_ends_while_past_talks_are_shown_is_shown_with_the_next(qtbot: QtBot) -> None:
    pane = pane_with(qtbot, past_talk(kept(2_000)))
    for number in (1, 2):
        begin(pane)
        feed(pane._model, *said(f"Session {number}."))
        pane._model.set_phase("stopped")
    qtbot.waitUntil(lambda: not pane.cards.showing)
    assert [pane.view.content.text(place).split("\n")[-1] for place in (-3, -1)] == ["Session 1.", "Session 2."]
    assert len(pane.view.cards) == 2_005 and [message.content for message in pane._model.messages][-2:] == [
        "Session 1.",
        "Session 2.",
    ]


def test_another_conversation_takes_its_place_at_once(qtbot: QtBot) -> None:
    pane = pane_with(qtbot, past_talk(kept(2_000)))
    assert pane.cards.showing
    pane._model.clear()
    assert not pane.cards.showing and not pane.cards.has_words
    pane._model.add_past([past_talk(KeptTalk(86_400.0, said("Hello.")))])
    qtbot.waitUntil(lambda: not pane.cards.showing)
    assert heads(pane)[1] == "You" and len(pane.view.cards) == 2


@pytest.mark.slow
def test_what_is_copied_is_all_of_it_though_some_is_still_to_be_shown(qtbot: QtBot) -> None:
    pane = pane_with(qtbot, past_talk(kept(2_000)))
    assert pane.cards.showing
    assert pane.text().count("You: Question ") == 1_000


def test_a_word_without_an_end_is_cut_where_it_is_shown_and_copied_whole(qtbot: QtBot) -> None:
    word = "a" * 900_000 + "b"  # Qt lays this out in minutes
    pane = pane_with(qtbot, past_talk(KeptTalk(0.0, said(word))))
    shown = pane.view.content.text(1)
    assert "…aa" in shown and shown.endswith("ab") and len(shown) < LONGEST_BODY + 100
    assert word in pane.text()


def test_of_an_endless_conversation_the_newest_turns_are_shown(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_talk_module, "MOST_LETTERS", 70_000)
    long = "word " * 100_000  # of which 20,000 letters are shown
    talk = (*said(long), *said(long, 2))
    first, second = past_talks([KeptTalk(0.0, talk), KeptTalk(9.0, talk)])
    assert len(first.turns) == len(second.turns) == 2
    pane = pane_with(qtbot, first, second)
    pane.cards.show_rest()
    assert [card.style for card in pane.view.cards] == ["divider", "divider", "user", "divider", "user", "user"]
    assert "Earlier turns are too many" in heads(pane)[1]
    assert len(pane._model.messages) == 4


def test_a_model_that_comes_back_takes_over_again(qtbot: QtBot) -> None:
    changes = [
        e.SessionStarted(0.0, "cascade", "w", "Ollama", "gemma", "thinking"),
        e.BackendChanged(0.5, "Ollama", "llama"),  # before the first word
        *said("Hello."),
        e.BackendChanged(3.0, "Ollama", "qwen", "fallback"),
        e.BackendChanged(4.0, "Ollama", "gemma", "fallback"),
        e.BackendChanged(5.0, "Ollama", "phi", "handed"),
    ]
    pane = pane_with(qtbot, past_talk(KeptTalk(0.0, tuple(changes))))
    notes = [head for head, card in zip(heads(pane), pane.view.cards, strict=True) if card.style == "divider"]
    assert notes[1:] == ["qwen (Ollama) takes over", "gemma (Ollama) takes over again", "Switched to phi (Ollama)"]
