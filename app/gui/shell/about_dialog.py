"""The dialogs about the app: its parts and their licences, and the guide."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal, qVersion
from PySide6.QtGui import (
    QFont,
    QIcon,
    QImage,
    QKeyEvent,
    QTextBlock,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QListWidget, QTextBrowser, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.look import Dressed
from app.gui.design.plain import PlainLabel, named
from app.gui.widgets.form import add_items, column, row, wrapped
from app.gui.widgets.panel import Panel, Quiet
from app.gui.widgets.translation import window_language
from app.platform.installation import installed, resource
from app.services.bill_of_materials import read_bill

PICTURE = re.compile(r"^!\[[^\]]*\]\(([^)]+)\)\n", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)

WIDEST_PX, CONTENTS_PX = 600, 200


class _Page(QTextBrowser):
    """A page of Markdown, whose links lead nowhere. Pictures are no wider than `WIDEST_PX`."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setOpenLinks(False)

    def write(self, markdown: str) -> None:
        """Shows a page from its start. HTML is shown as text."""
        features = QTextDocument.MarkdownFeature
        self.document().setMarkdown(markdown, features.MarkdownDialectGitHub | features.MarkdownNoHTML)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a picture of the page, scaled down if it is too wide."""
        found = super().loadResource(kind, name)
        name = QUrl(name)
        if kind != QTextDocument.ResourceType.ImageResource.value or not name.isLocalFile():
            return found
        image = QImage(name.toLocalFile())
        if image.width() <= WIDEST_PX:
            return image
        return image.scaledToWidth(WIDEST_PX, Qt.TransformationMode.SmoothTransformation)


class GuideDialog(Panel):
    """Shows the guide in the window's language, or in English. Pictures are shown where they are installed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Guide"))
        self.page = _Page(self.tr("Guide"), self)
        path = resource("guide", f"guide_{window_language()}.md")
        path = path if path.is_file() else resource("guide", "guide.md")
        self.page.document().setBaseUrl(QUrl.fromLocalFile(str(path.parent) + "/"))
        text = COMMENT.sub("", path.read_text("utf-8"))
        text = PICTURE.sub(lambda found: found[0] if (path.parent / found[1]).is_file() else "", text)
        self.page.write(tables_as_lists(text))
        self.contents = named(QListWidget(self), self.tr("Contents"))
        self.contents.setFixedWidth(CONTENTS_PX)
        self.contents.setWordWrap(True)
        self.contents.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for block in self._headings():
            self.contents.addItem(block.text())
        self.contents.currentRowChanged.connect(self._show_chapter)
        add_items(self.column, (row(self.contents, (self.page, 1), spacing=8), 1))
        self.close_button = self.button(self.tr("Close"), does=self.close)
        self.foot(self.close_button)
        self.resize(880, 640)

    def _headings(self) -> list[QTextBlock]:
        document = self.page.document()
        blocks = (document.findBlockByNumber(number) for number in range(document.blockCount()))
        return [block for block in blocks if block.blockFormat().headingLevel() == 2]

    def _show_chapter(self, chapter: int) -> None:
        """Scrolls to a heading."""
        place = self.page.document().documentLayout().blockBoundingRect(self._headings()[chapter]).top()
        self.page.verticalScrollBar().setValue(round(place) - 8)


def tables_as_lists(markdown: str) -> str:
    """Returns a page without its comments, and with its tables as lists, which are easier to read in a dialog."""
    lines: list[str] = []
    heads: list[str] = []
    for line in COMMENT.sub("", markdown).splitlines():
        if not line.startswith("|"):
            heads = []
            lines.append(line)
        elif not heads:
            heads = _cells(line)
        elif not line.startswith("|--"):
            told = dict(zip(heads, _cells(line), strict=False))
            name = f"**{told.pop(heads[0])} {told.pop('Version', '')}".rstrip() + "**"
            details = " · ".join(f"{head}: {cell}" for head, cell in told.items() if cell)
            lines.append(f"- {name} · {details}")
    return "\n".join(lines)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


ICON_PX = 64
SIZE_PX = 560, 400
LETTERS = 56
"""The least width, in average letters."""


class AboutDialog(Dressed, Panel):
    """Its second page lists the parts of the bill of materials, and what `resources/licences.md` says.

    `guide_wanted`: the user wants to read the guide.
    """

    guide_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("About KAME"))
        self.licences = _Page(self.tr("Licences"), self)
        self.licences.document().setDocumentMargin(16)
        self.licences.write(self._parts())
        self.licences_button = self.button(self.tr("&Licences"), self.tr("Show the licences"))
        self.back_button = self.button(self.tr("&Back"), self.tr("Back to what KAME is"), does=lambda: self._turn_to(0))
        self.guide_button = self.button(self.tr("Open the &guide"), does=self.guide_wanted)
        self.close_button = self.button(self.tr("Close"), does=self.close)
        self._first = self._first_page()
        buttons = (self.guide_button, self.licences_button, self.back_button, None, self.close_button)
        add_items(self.column, (self._first, 1), (self.licences, 1), 4, row(*buttons, spacing=8))
        self.licences_button.clicked.connect(lambda: self._turn_to(1))
        self.left.connect(lambda: self._turn_to(0))
        self._turn_to(0)
        self.resize(*SIZE_PX)

    def appear(self) -> None:
        super().appear()
        self.fit()
        self.resize(self.width(), max(self.height(), SIZE_PX[1]))

    def _first_page(self) -> QWidget:
        page = QWidget(self)
        here = installed()
        icon = PlainLabel(parent=page)
        icon.setPixmap(QIcon(str(resource("icons", "kame.svg"))).pixmap(ICON_PX, ICON_PX))
        icon.setAccessibleName(self.tr("The icon of KAME"))
        self.name = wrapped(page, text=self.tr("KAME Desktop"))
        kinds = {"checkout": self.tr("from its source"), "wheel": self.tr("from a wheel")}
        words = (self.tr("Version {0}").format(here.version), kinds.get(here.kind, here.kind), here.commit[:10])
        self.version = Quiet(" · ".join((*filter(None, words), self.tr("Qt {0}").format(qVersion()))), page)
        self.version.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.what = wrapped(
            page,
            text=self.tr(
                "A voice assistant that talks while it thinks: a voice that answers at once, and behind it any "
                "language model, whose words reach the voice while it already speaks."
            ),
        )
        self.sources = Quiet(
            self.tr(
                "Based on Sakana AI's tandem design KAME (arXiv 2510.02327) and on Kyutai's Moshi. With the models on "
                "this machine, nothing of what you say leaves it."
            ),
            page,
        )
        self.licence = Quiet(
            self.tr("Free software under the Apache License 2.0. What it is made of has licences of its own."), page
        )
        names = column(None, self.name, self.version, None, spacing=4)
        head = row(icon, names, spacing=16, stretch=1)
        column(head, self.what, self.sources, self.licence, None, within=page, spacing=16, margins=16)
        self._dress()
        return page

    def _turn_to(self, page: int) -> None:
        self._first.setVisible(page == 0)
        self.licences.setVisible(page == 1)
        self.licences_button.setVisible(page == 0)
        self.back_button.setVisible(page == 1)
        if self.isVisible():
            (self.licences if page else self.licences_button).setFocus()

    def _parts(self) -> str:
        """Returns the licences as Markdown."""
        page = tables_as_lists(resource("licences.md").read_text("utf-8"))
        try:
            parts = read_bill()
        except ValueError as error:
            return f"{error}\n\n{page}"
        if not parts:
            return page
        heading, optional = self.tr("Made of"), self.tr("optional")
        lines = [
            f"- {part.name} {part.version}".rstrip() + f": {part.licence}" + (f" ({optional})" if part.optional else "")
            for part in parts
        ]
        return "\n".join((f"## {heading}", "", *lines, "", page))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leads back before it closes."""
        if event.key() == Qt.Key.Key_Escape and self.licences.isVisible():
            self._turn_to(0)
        else:
            super().keyPressEvent(event)

    def _dress(self) -> None:
        room = self.screen().availableSize().width()
        self.setMinimumWidth(min(room, self.fontMetrics().averageCharWidth() * LETTERS))
        set_size(self.name, "title", QFont.Weight.DemiBold)
        set_size(self.what, "body")
        for small in (self.version, self.sources, self.licence):
            set_size(small, "small")
