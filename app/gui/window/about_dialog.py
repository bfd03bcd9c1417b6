"""The dialog “About KAME”: what it is, its version, and its parts with their licences."""

from __future__ import annotations

from PySide6.QtCore import qVersion
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.gui.widgets.panel import Panel, Quiet
from app.platform.installation import installed
from app.platform.resources import resource
from app.services.bill_of_materials import read_bill


class AboutDialog(Panel):
    """Lists the parts of the bill of materials; without one, shows `resources/licences.md` alone."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("About KAME"))
        self.heading(self.tr("KAME Desktop {0}").format(installed().version))
        self.column.addWidget(
            Quiet(
                self.tr(
                    "Talks with you while it thinks: a voice that answers at once, and any language model behind it "
                    "whose words, the oracle, reach the voice while it already speaks. Based on Sakana AI's tandem "
                    "design KAME (arXiv 2510.02327) and Kyutai's Moshi. Uses Qt {0}."
                ).format(qVersion()),
                self,
                selectable=True,
            )
        )
        self.heading(self.tr("Made of"))
        self.licences = QPlainTextEdit(self)
        self.licences.setReadOnly(True)
        self.licences.setTabChangesFocus(True)
        self.licences.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.licences.setAccessibleName(self.tr("Licences"))
        self.licences.setPlainText(self._parts())
        self.column.addWidget(self.licences, 1)
        self.close_button = self.button(self.tr("Close"))
        self.close_button.clicked.connect(self.close)
        self.foot(self.close_button)
        self.resize(720, 480)

    def _parts(self) -> str:
        page = resource("licences.md").read_text("utf-8")
        try:
            parts = read_bill()
        except ValueError as error:
            return f"{error}\n\n{page}"
        if not parts:
            return page
        optional = self.tr("optional")
        lines = [
            f"{part.name} {part.version}".strip() + f": {part.licence}" + (f" ({optional})" if part.optional else "")
            for part in parts
        ]
        return "\n".join([*lines, "", page])
