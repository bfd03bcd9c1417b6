"""The document of cards: what stands where, in which format, whatever the text holds."""

from __future__ import annotations

import random

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.card import Card
from app.gui.card_view import CardView


def card(head: str, *body: tuple[str, str], style: str = "plain") -> Card:
    return Card(((head, "name"),), body, style)


def texts(view: CardView) -> list[str]:
    return [view.card_text(place) for place in range(len(view.cards))]


def made(qtbot: QtBot, newest_first: bool = False) -> CardView:
    view = CardView(newest_first=newest_first)
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    return view


def test_cards_can_be_put_anywhere_and_taken_out(qtbot: QtBot) -> None:
    view = made(qtbot)
    wanted: list[str] = []
    dice = random.Random(5)
    for step in range(120):
        if wanted and dice.random() < 0.4:
            place = dice.randrange(len(wanted))
            view.remove_card(place)
            del wanted[place]
        else:
            place = dice.randint(0, len(wanted))
            view.insert_card(place, card(f"h{step}", (f"body {step}", "text")))
            wanted.insert(place, f"h{step}\nbody {step}")
        assert texts(view) == wanted
    left = {view._block(place, 0).blockFormat().leftMargin() for place in range(len(wanted))}
    assert len(left) == 1


def test_formats_follow_the_kinds(qtbot: QtBot) -> None:
    view = made(qtbot)
    view.insert_card(0, card("You", ("settled ", "text"), ("loose", "unstable")))
    (first, plain), (second, loose) = view.card_formats(0)
    assert (first, second) == ("settled ", "loose")
    assert loose.fontItalic() and not plain.fontItalic()
    assert loose.foreground().color() != plain.foreground().color()
    view.set_card(0, card("You", ("settled loose", "text")))
    ((text, final),) = view.card_formats(0)
    assert text == "settled loose"
    assert not final.fontItalic()


def test_growing_text_stays_whole_with_letters_beyond_the_basic_plane(qtbot: QtBot) -> None:
    view = made(qtbot)
    view.insert_card(0, card("KAME", ("😀 a", "text")))
    view.set_card(0, card("KAME", ("😀 a𝄞b", "text"), (" x", "mark")))
    view.set_card(0, card("KAME", ("😀 a𝄞b", "text"), (" 😀y", "mark")))
    assert view.card_text(0) == "KAME\n😀 a𝄞b 😀y"
    assert [text for text, _ in view.card_formats(0)] == ["😀 a𝄞b", " 😀y"]


def test_no_character_makes_a_third_paragraph(qtbot: QtBot) -> None:
    view = made(qtbot)
    view.insert_card(0, card("A", ("one\ntwo\r\nthree\u2029four\0five\rsix", "text")))
    view.insert_card(1, card("B", ("last", "text")))
    assert view.document().blockCount() == 4
    assert view.card_text(1) == "B\nlast"
    view.selectAll()
    view.copy()
    copied = QApplication.clipboard().text()
    assert copied == "A\none\ntwo\nthree\nfour five\nsix\nB\nlast"


def test_what_is_the_same_costs_nothing_and_a_selection_survives_elsewhere(qtbot: QtBot) -> None:
    view = made(qtbot)
    for number in range(3):
        view.insert_card(number, card("h", (f"body {number}", "text")))
    cursor = view.textCursor()
    cursor.setPosition(view._block(0, 1).position())
    cursor.movePosition(cursor.MoveOperation.EndOfBlock, cursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    edits = view.edits
    view.set_card(2, card("h", ("body 2", "text")))
    assert view.edits == edits
    view.set_card(2, card("h", ("body 2 and more", "text")))
    view.insert_card(0, card("new", ("on top", "text")))
    assert view.edits == edits + 2
    assert view.textCursor().selectedText() == "body 0"


def test_a_reader_who_scrolled_away_is_left_where_they_read(qtbot: QtBot) -> None:
    view = made(qtbot, newest_first=True)
    for number in range(30):
        view.insert_card(0, card(f"h{number}", ("word " * 40, "text")))
    bar = view.verticalScrollBar()
    bar.setValue(600)
    before = view.cursorForPosition(view.viewport().rect().center()).block().text()
    stay, height = view.at_newest(), view.document().size().height()
    view.insert_card(0, card("newest", ("word " * 80, "text")))
    view.keep_view(stay, height)
    assert view.cursorForPosition(view.viewport().rect().center()).block().text() == before
    assert bar.value() > 600


def test_new_colours_reach_the_text(qtbot: QtBot) -> None:
    view = made(qtbot)
    view.insert_card(0, card("You", ("text", "text"), ("loose", "unstable")))
    palette = view.palette()
    base, text = palette.base().color(), palette.text().color()
    palette.setColor(palette.ColorRole.Base, text)
    palette.setColor(palette.ColorRole.Text, base)
    view.setPalette(palette)
    assert view.card_formats(0)[0][1].foreground().color() == base
    assert texts(view) == ["You\ntextloose"]
