"""Shows the guide: `resources/guide/guide.md` as a page to read."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextBrowser, QWidget

from app.gui.widgets.panel import Panel
from app.platform.installation import resource

PICTURE = re.compile(r"^!\[[^\]]*\]\(([^)]+)\)\n", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


WIDEST_PX = 720


class _Page(QTextBrowser):
    """Shows pictures no wider than `WIDEST_PX`."""

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
    """Pictures are shown where they are installed; links lead nowhere outside of the page."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Guide"))
        self.page = _Page(self)
        self.page.setAccessibleName(self.tr("Guide"))
        self.page.setOpenLinks(False)
        path = resource("guide", "guide.md")
        self.page.document().setBaseUrl(QUrl.fromLocalFile(str(path.parent) + "/"))
        text = COMMENT.sub("", path.read_text("utf-8"))
        text = PICTURE.sub(lambda found: found[0] if (path.parent / found[1]).is_file() else "", text)
        self.page.document().setMarkdown(text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        self.page.moveCursor(QTextCursor.MoveOperation.Start)
        self.column.addWidget(self.page, 1)
        self.close_button = self.button(self.tr("Close"))
        self.close_button.clicked.connect(self.close)
        self.foot(self.close_button)
        self.resize(880, 640)
