"""The page of licences as text: nothing of its tables is lost, and no mark of Markdown is left."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.gui.window.about_dialog import LicencePage
from app.gui.window.licence_text import Block, read_blocks
from app.platform.installation import resource

PAGE = """# Licences

The app uses
`numpy`, and **more**.

<!-- begin -->
| Package | Version | What for | Licence | Needed by |
|---|---|---|---|---|
| numpy | 2.2.6 | sound | BSD-3-Clause | app |
| six | 1.17.0 | | MIT | app |
<!-- end -->

## Parts

| Part | Terms |
|---|---|
| Qt | LGPL-3.0-only |
"""


def test_rows_become_entries_with_their_licence_and_details() -> None:
    assert read_blocks(PAGE) == [
        Block("heading", "Licences"),
        Block("paragraph", "The app uses numpy, and more."),
        Block("entry", "numpy 2.2.6"),
        Block("licence", "BSD-3-Clause"),
        Block("details", "What for: sound · Needed by: app"),
        Block("entry", "six 1.17.0"),
        Block("licence", "MIT"),
        Block("details", "Needed by: app"),
        Block("heading", "Parts"),
        Block("entry", "Qt"),
        Block("licence", "LGPL-3.0-only"),
    ]


def test_the_apps_own_page_is_read_whole() -> None:
    markdown = resource("licences.md").read_text("utf-8")
    blocks = read_blocks(markdown)
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    tables = markdown.count("|---")
    heads = sum(line.startswith("|---") for line in markdown.splitlines())
    assert tables and len([block for block in blocks if block.kind == "entry"]) == len(rows) - heads
    text = "\n".join(block.text for block in blocks)
    for mark in ("|", "<!--", "`", "**", "\n#"):
        assert mark not in text
    assert "PySide6-Essentials" in text and "LGPL-3.0" in text


def test_a_licence_that_looks_like_markup_is_shown_as_it_is(qtbot: QtBot) -> None:
    page = LicencePage([Block("entry", "<b>x</b>"), Block("licence", "MIT & <i>more</i>")], None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    assert page.toPlainText() == "<b>x</b>\nMIT & <i>more</i>" and page.isReadOnly()
