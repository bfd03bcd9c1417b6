"""What KAME is, which version this is, and under which licences the parts are that it is made of."""

from __future__ import annotations

from importlib import metadata

from PySide6.QtCore import qVersion
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.gui.panel import Panel, Quiet
from app.resources import resource


class AboutDialog(Panel):
    """The licences are those of `resources/licences.md`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.entitle(self.tr("About KAME"))
        self.heading(self.tr("KAME Desktop {0}").format(version()))
        self.column.addWidget(Quiet(
            self.tr(
                "Talks with you while it thinks: a voice that answers at once, and any language model behind it whose "
                "words, the oracle, reach the voice while it already speaks. After Sakana AI's tandem design KAME "
                "(arXiv 2510.02327) and Kyutai's Moshi. Uses Qt {0}."
            ).format(qVersion()),
            self, selectable=True,
        ))  # fmt: skip
        self.heading(self.tr("Made of"))
        self.licences = QPlainTextEdit(self)
        self.licences.setReadOnly(True)
        self.licences.setTabChangesFocus(True)
        self.licences.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.licences.setAccessibleName(self.tr("Licences"))
        self.licences.setPlainText(resource("licences.md").read_text("utf-8"))
        self.column.addWidget(self.licences, 1)
        self.close_button = self.button(self.tr("Close"))
        self.close_button.clicked.connect(self.close)
        self.foot(self.close_button)
        self.resize(720, 480)


def version() -> str:
    """The app's version; empty where it isn't installed as a package."""
    try:
        return metadata.version("kame-desktop")
    except metadata.PackageNotFoundError:
        return ""
