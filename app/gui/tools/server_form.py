"""The form for one tool server: its name, and the program or address that it is."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLineEdit, QPlainTextEdit, QRadioButton, QWidget

from app.gui.design.plain import PlainLabel
from app.gui.widgets.form import label_of, row
from app.gui.widgets.panel import Quiet
from app.services.tool_server_service import ServerEntry

ARGUMENTS_SEEN = 4


def split_arguments(text: str) -> tuple[str, ...]:
    """One argument a line, without quotes or escapes; empty lines don't count."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


class ServerForm(QWidget):
    """`edited` is emitted when the user changes a field."""

    edited = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._showing = False
        self.name = self._line(self.tr("Name"), self.tr("a word, such as weather"))
        self.program = QRadioButton(self.tr("a &program on this machine"), self)
        self.program.setAccessibleName(self.tr("Kind: a program on this machine"))
        self.address = QRadioButton(self.tr("an addr&ess"), self)
        self.address.setAccessibleName(self.tr("Kind: an address"))
        self._kinds = QButtonGroup(self)
        self._kinds.addButton(self.program)
        self._kinds.addButton(self.address)
        self.command = self._line(self.tr("Command"), self.tr("the program alone, such as npx"))
        self.arguments = QPlainTextEdit(self)
        self.arguments.setAccessibleName(self.tr("Arguments"))
        self.arguments.setPlaceholderText(self.tr("one on each line, without quotes"))
        self.arguments.setTabChangesFocus(True)
        self.arguments.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.arguments.setFixedHeight(self.fontMetrics().height() * ARGUMENTS_SEEN + 14)
        self.url = self._line(self.tr("Address"), self.tr("such as https://example.org/mcp"))
        self.note = Quiet(parent=self, selectable=True)
        self.note.setAccessibleName(self.tr("Notes about this server"))
        self._lay_out()
        for line in (self.name, self.command, self.url):
            line.textEdited.connect(self._emit_edited)
        self.arguments.textChanged.connect(self._emit_edited)
        self._kinds.buttonToggled.connect(self._emit_edited)

    def show_server(self, server: ServerEntry) -> None:
        """Fills the fields, without emitting `edited`."""
        self._showing = True
        self.name.setText(server.name)
        (self.address if server.kind == "address" else self.program).setChecked(True)
        self.command.setText(server.command)
        self.arguments.setPlainText("\n".join(server.args))
        self.url.setText(server.url)
        self._showing = False

    def show_note(self, note: str, *, fixed_arguments: bool) -> None:
        """Shows a note, and only the fields that the kind of server has; `fixed_arguments` can't be edited."""
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.arguments.setReadOnly(fixed_arguments)
        program = self.program.isChecked()
        for widget in (*self._program_labels, self.command, self.arguments):
            widget.setVisible(program)
        self._url_label.setVisible(not program)
        self.url.setVisible(not program)

    def read(self, server: ServerEntry) -> ServerEntry:
        """`server` with what the fields say."""
        fixed = self.arguments.isReadOnly()
        return replace(
            server,
            name=self.name.text().strip(),
            kind="program" if self.program.isChecked() else "address",
            command=self.command.text().strip().strip('"'),
            args=server.args if fixed else split_arguments(self.arguments.toPlainText()),
            url=self.url.text().strip(),
        )

    def _emit_edited(self, *_: object) -> None:
        if not self._showing:
            self.edited.emit()

    def _line(self, name: str, hint: str) -> QLineEdit:
        line = QLineEdit(self)
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        return line

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, self.fontMetrics().horizontalAdvance(self.tr("Arguments")) + 2)
        grid.addWidget(PlainLabel(self.tr("It is"), self), 1, 0)
        grid.addLayout(row(self.program, self.address, None, spacing=18), 1, 1)
        self._label(grid, 0, self.tr("&Name"), self.name)
        self._program_labels = (
            self._label(grid, 2, self.tr("&Command"), self.command),
            self._label(grid, 3, self.tr("Ar&guments"), self.arguments),
        )
        self._url_label = self._label(grid, 4, self.tr("A&ddress"), self.url)
        grid.addWidget(self.note, 5, 0, 1, 2)

    def _label(self, grid: QGridLayout, line: int, text: str, field: QWidget) -> PlainLabel:
        label = label_of(field, text, self)
        top = Qt.AlignmentFlag.AlignTop if isinstance(field, QPlainTextEdit) else Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(label, line, 0, top)
        grid.addWidget(field, line, 1)
        return label
