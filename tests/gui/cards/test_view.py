"""The document of cards: what stands where, in which format, whatever the text holds."""

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.cards.card import PIECE, Card, in_pieces
from app.gui.cards.view import CardView


def card(head: str, *body: tuple[str, str], style: str = "plain") -> Card:
    return Card(((head, "name"),), body, style)


def made(qtbot: QtBot, newest_first: bool = False) -> CardView:
    view = CardView(newest_first=newest_first)
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    return view


@given(st.lists(st.text("ab \u2028日", max_size=70), max_size=8).map(" ".join))
def test_a_text_in_pieces_has_all_its_words_whole(text: str) -> None:
    pieces = list(in_pieces([(text, "text"), (text, "bad")]))
    assert pieces[-1] == (text, "bad")
    plain = [piece for piece, _ in pieces[:-1]]
    assert "".join(plain) == text
    assert all(piece.endswith(" ") for piece in plain[:-1])
    assert all(len(piece) <= PIECE or " " not in piece[1:-1] for piece in plain)


def test_no_character_makes_a_third_paragraph(qtbot: QtBot) -> None:
    view = made(qtbot)
    view.insert_card(0, card("A", ("one\ntwo\r\nthree\u2029four\0five\rsix", "text")))
    view.insert_card(1, card("B", ("last", "text")))
    assert view.document().blockCount() == 4
    assert view.content.text(1) == "B\nlast"
    view.selectAll()
    view.copy()
    copied = QApplication.clipboard().text()
    assert copied == "A\none\ntwo\nthree\nfour five\nsix\nB\nlast"


def test_what_is_the_same_costs_nothing_and_a_selection_survives_elsewhere(qtbot: QtBot) -> None:
    view = made(qtbot)
    for number in range(3):
        view.insert_card(number, card("h", (f"body {number}", "text")))
    cursor = view.textCursor()
    cursor.setPosition(view.content.block(0, 1).position())
    cursor.movePosition(cursor.MoveOperation.EndOfBlock, cursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    edits = view.content.edits
    view.set_card(2, card("h", ("body 2", "text")))
    assert view.content.edits == edits
    view.set_card(2, card("h", ("body 2 and more", "text")))
    view.insert_card(0, card("new", ("on top", "text")))
    assert view.content.edits == edits + 2
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


def test_a_new_look_keeps_a_selection_and_writes_no_letter_again(qtbot: QtBot) -> None:
    view = made(qtbot)
    view.insert_card(0, card("h", ("heard 😀 words and more", "text")))
    written: list[tuple[int, int, int]] = []
    cursor = view.textCursor()
    cursor.setPosition(view.content.block(0, 1).position() + 9)
    cursor.movePosition(cursor.MoveOperation.NextWord, cursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    view.document().contentsChange.connect(lambda *change: written.append(change))
    view.set_card(0, card("h", ("heard 😀", "heard"), (" words", "text"), (" and more", "still"), (" now", "still")))
    assert view.textCursor().selectedText() == "words "
    assert [text for text, _ in view.content.formats(0)] == ["heard 😀", " words", " and more now"]
    backgrounds = [form.background().style() for _, form in view.content.formats(0)]
    assert [style != Qt.BrushStyle.NoBrush for style in backgrounds] == [True, False, False]
    assert sum(added for _, _, added in written) < 40, "the paragraph's rest was not taken out and put in again"


def test_whatever_runs_follow_one_another_the_document_is_as_if_written_at_once(qtbot: QtBot) -> None:
    view, fresh = made(qtbot), made(qtbot)
    dice = random.Random(11)
    kinds = ["text", "heard", "still", "struck"]
    view.insert_card(0, card("h"))
    for _ in range(150):
        text = "".join(dice.choice("ab 😀é\n") for _ in range(dice.randint(0, 9)))
        cuts = sorted(dice.randint(0, len(text)) for _ in range(2))
        parts = (text[: cuts[0]], text[cuts[0] : cuts[1]], text[cuts[1] :])
        now = card("h", *((part, dice.choice(kinds)) for part in parts))
        view.set_card(0, now)
        fresh.clear_cards()
        fresh.insert_card(0, now)
        assert pieces(view) == pieces(fresh)


def pieces(view: CardView) -> list[tuple[str, bool, str]]:
    """What stands in the first card, letter by letter, with its look."""
    return [
        (letter, form.fontStrikeOut(), form.background().color().name() + form.foreground().color().name())
        for text, form in view.content.formats(0)
        for letter in text
    ]


def test_the_quoted_line_has_room_and_is_no_part_of_the_text(qtbot: QtBot) -> None:
    view = made(qtbot)
    plain = Card((("A", "name"), ("\nfacts", "dim")), (("body", "text"),), "plain")
    view.insert_card(0, plain)
    before = view.box_of(0).height()
    view.set_card(0, replace(plain, quote="what the\nuser said"))
    assert view.cards[0].quote == "what the user said"
    assert view.box_of(0).height() >= before + view.fontMetrics().height() * 0.8
    assert view.content.text(0) == "A · facts\nbody"
    view.selectAll()
    assert view.textCursor().selectedText() == "A\u2028facts\u2029body"
    view.set_card(0, plain)
    assert view.box_of(0).height() == before


def test_no_caret_is_drawn_on_a_divider(qtbot: QtBot) -> None:
    view = made(qtbot)
    for place, style in enumerate(("plain", "divider", "plain")):
        view.insert_card(place, card("A", ("one", "text"), style=style))
    widths = []
    for place in range(3):
        view.show_card(place)
        widths.append(view.cursorWidth())
    assert widths == [1, 0, 1]
