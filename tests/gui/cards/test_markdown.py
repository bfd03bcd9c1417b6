"""Markdown in a card: what it becomes, how it grows, and what can be done with it."""

import random

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDesktopServices, QHelpEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.gui.cards.card import Card, Paragraph, Table
from app.gui.cards.copying import CodeButton
from app.gui.cards.find_bar import FindBar
from app.gui.cards.reader import MOST_CELLS, plain_formula, read_markdown
from app.gui.cards.view import CardView
from app.gui.design.fonts import CODE_FAMILY

CODE = '```python\ndef greet(name):\n\tprint(f"Hello, {name}!")\n```'
TABLE = "| name | age |\n|:-----|----:|\n| Ann  | 12  |\n| `Bob` | 30 |"
ANSWER = (
    f"So **it** is:\n\n{CODE}\n\n1. one\n2. *two*\n   - deep\n\n{TABLE}\n\nSee [the docs](https://docs.python.org/3)."
)


def shown(qtbot: QtBot, *texts: str, width: int = 500) -> CardView:
    view = CardView()
    qtbot.addWidget(view)
    view.resize(width, 900)
    view.show()
    for place, text in enumerate(texts):
        view.insert_card(place, written(text))
    view.grab()
    return view


def written(text: str, *body: tuple[str, str]) -> Card:
    return Card((("KAME", "name"),), body, "assistant", written=text)


def kinds(text: str) -> list[tuple[str, str]]:
    return [run for element in read_markdown(text) if isinstance(element, Paragraph) for run in element.runs]


def selected(view: CardView, begin: int, end: int) -> str:
    cursor = view.textCursor()
    cursor.setPosition(begin)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    view.copy()
    return QApplication.clipboard().text()


def place_of(view: CardView, words: str) -> int:
    return view.toPlainText().index(words)


def buttons(view: CardView) -> list[CodeButton]:
    return sorted((b for b in view.findChildren(CodeButton) if b.isVisible()), key=lambda button: button.y())


def test_every_construct_is_read() -> None:
    assert kinds("a **b** *c* `d` ~~e~~ ***f***") == [
        ("a ", "text"),
        ("b", "text|bold"),
        (" ", "text"),
        ("c", "text|italic"),
        (" ", "text"),
        ("d", "text|code"),
        (" ", "text"),
        ("e", "text|struck"),
        (" ", "text"),
        ("f", "text|bold|italic"),
    ]
    assert read_markdown("# A *b*")[0] == Paragraph((("A ", "heading1"), ("b", "heading1|italic")), "heading", 1)
    assert read_markdown("> > a")[0] == Paragraph((("a", "text"),), quote=2)
    items = read_markdown("3. a\n4. b\n   - c\n\n     d\n- [ ] e\n- [x] f")
    assert [(item.text, item.level) for item in items if isinstance(item, Paragraph)] == [
        ("3.\ta", 1),
        ("4.\tb", 1),
        ("◦\tc", 2),
        ("d", 2),
        ("☐\te", 1),
        ("☑\tf", 1),
    ]
    assert read_markdown("a\n\n---\n\nb")[1].look == "rule"
    assert read_markdown("a  \nb\nc")[0].text == "a\u2028b c"


def test_code_and_tables_are_read() -> None:
    code, end = read_markdown(CODE)
    assert code.text == 'def greet(name):\u2028    print(f"Hello, {name}!")' and code.language == "python"
    assert (code.source, end.look) == (CODE, "end")
    assert code.code == CODE.split("\n", 1)[1].removesuffix("\n```")
    table, _ = read_markdown(TABLE)
    assert isinstance(table, Table) and table.source == TABLE and table.aligns == ("left", "right")
    assert table.rows[0] == ((("name", "cell"),), (("age", "cell"),))
    assert table.rows[2] == ((("Bob", "text|code"),), (("30", "text"),))
    loose, _ = read_markdown("a | b\n--|--\n1 | 2")
    assert isinstance(loose, Table) and len(loose.rows) == 2, "also without bars around it"


def test_code_in_a_list_leaves_the_list_as_it_is() -> None:
    looks = read_markdown("1. Do:\n\n   ```sh\n   ls\n   ```\n\n2. Then")
    assert [(element.look, element.text) for element in looks] == [
        ("item", "1.\tDo:"),
        ("code", "ls"),
        ("item", "2.\tThen"),
    ]


def test_tags_are_text_and_only_addresses_of_the_web_are_links() -> None:
    text = "<b>x</b> <script>y</script> [a](javascript:z) [b](file:///etc/passwd) ![c](/etc/passwd) [d](https://e.f)"
    runs = kinds(f"{text} [e](kame:thoughts/1/1)")  # the last one is as the window's own links are
    assert "".join(part for part, _ in runs) == "<b>x</b> <script>y</script> a b c d e"
    assert [kind for _, kind in runs if "@" in kind] == ["text@https://e.f"]


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        ("E = mc^2", "E = mc²"),
        (r"\frac{a+b}{2} \leq \sqrt{x}", "(a+b)/2 ≤ √x"),
        (r"\frac{1}{\sqrt{x + 1}}", "1/(√(x + 1))"),
        (r"\sum_{i=1}^n i \cdot 10^{-3}", "∑_i=1ⁿ i · 10⁻³"),
        (r"\text{if } x \in A", "if x ∈ A"),
    ],
)
def test_formulas_are_plain_text(tex: str, shown: str) -> None:
    assert plain_formula(tex) == shown
    assert kinds(f"So $a_1 * b * c_1$, \\({tex}\\) and `$x$`.")[0][0] == f"So a_1 * b * c_1, {shown} and "
    assert kinds("It costs $5 or $6, *so*.")[0] == ("It costs $5 or $6, ", "text")


def test_it_looks_like_what_it_is(qtbot: QtBot) -> None:
    view = shown(qtbot, ANSWER)
    looks = dict(view.content.formats(0))
    assert looks["it"].fontWeight() > looks["So "].fontWeight()
    assert looks["two"].fontItalic() and looks["the docs"].anchorHref() == "https://docs.python.org/3"
    code = next(look for text, look in looks.items() if text.startswith("def greet"))
    assert code.fontFamilies() == [CODE_FAMILY]
    table = view.document().rootFrame().childFrames()[0]
    assert (table.rows(), table.columns()) == (3, 2)
    image = view.grab().toImage()
    block = next(block for element, block in view.content.elements(0) if getattr(element, "language", "") == "python")
    inside = view._rect(block).topLeft() + QPointF(-6, -6)
    ground, beside = (image.pixelColor(point.toPoint()) for point in (inside, QPointF(25, inside.y() - 40)))
    assert ground != beside, "code has a ground of its own"


def test_whatever_changes_the_document_is_as_if_written_at_once(qtbot: QtBot) -> None:
    view, fresh = shown(qtbot), shown(qtbot)
    dice, cards = random.Random(9), []
    parts = ["so **b** x", "- a\n- b\n  - c", "1. one\n2. two", CODE, TABLE, "| a |\n|---|", "> q\n> > r", "# H", "---"]
    for step in range(250):
        text = "\n\n".join(dice.choice(parts) for _ in range(dice.randint(0, 4)))
        text = text[: dice.randint(0, len(text))] if dice.random() < 0.3 else text
        body = ((" tail", "bad"),) if dice.random() < 0.4 or not text else ()
        card = Card(((f"h{step}", "name"),), body, dice.choice(["user", "assistant", "plain"]), written=text)
        chance = dice.random()
        place = dice.randrange(len(cards)) if cards else 0
        if cards and chance < 0.25:
            view.remove_card(place)
            del cards[place]
        elif cards and chance < 0.7:
            view.set_card(place, card)
            cards[place] = card
        elif len(cards) < 5:
            view.insert_card(place, card)
            cards.insert(place, card)
        fresh.clear_cards()
        for number, one in enumerate(cards):
            fresh.insert_card(number, one)
        assert not cards or blocks(view) == blocks(fresh), step


def blocks(view: CardView) -> list[tuple[object, ...]]:
    """All paragraphs with their texts and margins, and whether they are in a table."""
    found, block = [], view.document().begin()
    while block.isValid():
        look, table = block.blockFormat(), QTextCursor(block).currentTable()
        size = (table.rows(), table.columns(), table.format().leftMargin()) if table is not None else None
        found.append((block.text(), look.leftMargin(), look.topMargin(), look.bottomMargin(), look.textIndent(), size))
        block = block.next()
    return [*found, *(view.content.place_of(view.content.block(place, 0)) for place in range(len(view.cards)))]


def test_plain_and_marked_cards_stand_beside_each_other(qtbot: QtBot) -> None:
    view = shown(qtbot, ANSWER)
    view.insert_card(1, Card((("You", "name"),), (("plain", "text"),), "user"))
    view.insert_card(0, Card((("You", "name"),), (("first", "text"),), "user"))
    assert (view.content.text(0), view.content.text(2)) == ("You\nfirst", "You\nplain")
    boxes = [view.box_of(place) for place in range(3)]
    assert boxes[0].bottom() <= boxes[1].top() and boxes[1].bottom() <= boxes[2].top()
    for place, box in enumerate(boxes):
        assert view.card_at(QPoint(200, round(box.bottom()) - 3)) == place
    view.set_card(1, written(ANSWER, ("   interrupted", "bad")))
    assert view.content.text(1).endswith("See the docs.   interrupted")
    view.set_card(1, written(CODE, ("   interrupted", "bad")))
    assert view.content.text(1).endswith("\ninterrupted")


def test_a_table_without_room_is_a_list_until_there_is_room_again(qtbot: QtBot) -> None:
    wide = "| City | Inhabitants | Neighbourhoods |\n|---|--:|---|\n| Springfield | 30,720 | Evergreen `Terrace` |"
    view = shown(qtbot, f"See:\n\n{wide}\n\nSo.", width=700)

    def shapes() -> list[str]:
        return [element.look if isinstance(element, Paragraph) else "table" for element, _ in view.content.elements(0)]

    def cells() -> list[float]:
        (table,) = view.document().rootFrame().childFrames()
        return [constraint.rawValue() for constraint in table.format().columnWidthConstraints()]

    assert shapes() == ["text", "table", "text"]
    natural = cells()
    view.resize(240, 900)
    assert shapes() == ["text", "heading", "item", "item", "text"]
    assert view.content.text(0).endswith(
        "Springfield\n•\tInhabitants: 30,720\n•\tNeighbourhoods: Evergreen Terrace\nSo."
    )
    view.resize(700, 900)
    assert shapes() == ["text", "table", "text"] and cells() == natural
    view.resize(460, 900)
    narrow = cells()
    assert sum(narrow) < sum(natural) and narrow[0] == natural[0], "only lines of several words are broken"
    view.grab()
    words = [view.content._formats.width(word, "text") for word in ("Springfield", "Neighbourhoods")]
    assert all(width > word for width, word in zip((narrow[0], narrow[2]), words, strict=True))


def test_what_is_copied_reads_well(qtbot: QtBot) -> None:
    view = shown(qtbot, ANSWER)
    end = view.document().characterCount() - 1
    assert selected(view, 0, end) == (
        f"KAME\nSo it is:\n\n{CODE}\n\n1. one\n2. two\n  ◦ deep\n\n{TABLE}\n\nSee the docs."
    )
    code = place_of(view, "def greet")
    assert selected(view, code, place_of(view, "1.") - 1) == 'def greet(name):\n    print(f"Hello, {name}!")'
    assert selected(view, code + 4, code + 9) == "greet"
    name = place_of(view, "name\nage")
    assert selected(view, name - 1, place_of(view, "30") + 2) == TABLE
    assert selected(view, place_of(view, "Ann"), place_of(view, "12") + 2) == "Ann\t12"
    assert QApplication.clipboard().mimeData().formats() == ["text/plain"]


def test_code_is_copied_by_a_click_and_by_keys(qtbot: QtBot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    view, after = CardView(parent=holder), QWidget(holder)
    after.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    layout = QVBoxLayout(holder)
    layout.addWidget(view)
    layout.addWidget(after)
    holder.resize(500, 700)
    holder.show()
    view.insert_card(0, written(f"{CODE}\n\nand\n\n```\nls\n```"))
    view.grab()
    first, second = buttons(view)
    assert (first.accessibleName(), second.accessibleName()) == ("Copy the code in python", "Copy the code")
    QTest.mouseClick(first, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == 'def greet(name):\n\tprint(f"Hello, {name}!")'
    assert first.text() == "Copied" and second.text() == "Copy"
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert holder.focusWidget() is first
    QTest.keyClick(first, Qt.Key.Key_Tab)
    assert holder.focusWidget() is second
    QTest.keyClick(second, Qt.Key.Key_Space)
    assert QApplication.clipboard().text() == "ls"
    QTest.keyClick(second, Qt.Key.Key_Tab)
    assert holder.focusWidget() is after
    view.set_card(0, written("no code"))
    view.grab()
    assert not buttons(view)


def test_the_button_stays_with_its_code(qtbot: QtBot) -> None:
    view = shown(qtbot, "\n\n".join(["A paragraph of text."] * 60 + [CODE] + ["And more."] * 60))
    assert not buttons(view), "the code is not in view"
    block = next(block for element, block in view.content.elements(0) if getattr(element, "language", ""))
    for above in (300, 250):
        view.verticalScrollBar().setValue(round(block.layout().position().y()) - above)
        view.grab()
        (button,) = buttons(view)
        code = view._rect(block)
        assert button.geometry().bottom() <= code.top() + 1 and button.geometry().top() >= code.top() - 40
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    view.grab()
    assert not buttons(view)


def test_a_link_tells_its_address_and_opens_by_a_click_or_enter(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    view = shown(qtbot, "See [the docs](https://a.b/c?d=1&e=2) for more.")
    cursor = view.textCursor()
    cursor.setPosition(place_of(view, "docs") + 1)
    at = view.cursorRect(cursor).center()
    asking = QHelpEvent(QEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
    QApplication.sendEvent(view.viewport(), asking)
    assert QToolTip.text() == "<qt>https://a.b/c?d=1&amp;e=2</qt>"
    QTest.mouseMove(view.viewport(), at)
    assert view.viewport().cursor().shape() == Qt.CursorShape.PointingHandCursor
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not opened
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert opened == [QUrl("https://a.b/c?d=1&e=2")]
    view.setTextCursor(cursor)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert len(opened) == 2
    cursor.setPosition(place_of(view, "for") + 1)
    view.setTextCursor(cursor)
    QTest.keyClick(view, Qt.Key.Key_Return)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.cursorRect(cursor).center())
    assert len(opened) == 2
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at - QPoint(20, 0))
    QTest.mouseMove(view.viewport(), at + QPoint(20, 0))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert len(opened) == 2, "text was selected over it"


def test_code_and_tables_are_found_and_read_aloud(qtbot: QtBot) -> None:
    view = shown(qtbot, ANSWER)
    bar = FindBar(view)
    qtbot.addWidget(bar)
    for words in ("print(f", "Bob", "deep", "the docs"):
        bar.appear()
        bar.field.setText(words)
        bar._search()
        (mark,) = view.extraSelections()
        assert mark.cursor.selectedText() == words
    told = QAccessible.queryAccessibleInterface(view).textInterface()
    text = told.text(0, told.characterCount())
    assert all(words in text for words in ("def greet(name):", "Ann", "1.\tone", "the docs"))


def test_of_an_endless_table_the_beginning_is_shown_and_all_of_it_copied(qtbot: QtBot) -> None:
    source = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 900
    (table, _end) = read_markdown(source)
    assert isinstance(table, Table) and table.source == source.strip()
    assert len(table.rows) == MOST_CELLS // 2 + 1 and table.rows[-1] == ((("…", "text"),),) * 2
