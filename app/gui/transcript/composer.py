"""The input field below the transcript. Sent messages become user turns, just like speech.

Messages sent while no conversation is running are queued here until one is.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPaintEvent, QPen, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.conversation.record.transcript import Turn
from app.gui.cards.card import LONGEST_BODY
from app.gui.design.icons import IconButton
from app.gui.design.look import Dressed, draw_rounded, painter_on
from app.gui.design.plain import named, shortened, show_tip
from app.gui.design.theme import tokens
from app.gui.state.session_model import SessionModel
from app.gui.state.talk_state import Phase
from app.gui.widgets.form import column, row
from app.gui.widgets.panel import Quiet

MOST_KEPT = 50
"""Maximum number of sent messages that can be recalled with the arrow keys."""
MOST_LINES = 7
SIDE_PX, ROUND_PX = 6, 16


class ComposerField(Dressed, QPlainTextEdit):
    """An input field that grows with its contents. Enter sends, Shift+Enter inserts a line break, and the up and down
    arrow keys recall sent messages. `shell/key_routing.py` decides which key events the field receives.
    """

    returned = Signal()
    recalled = Signal(int)
    """Emits the direction in which to step through the sent messages: -1 for the previous one, 1 for the next."""
    focused = Signal(bool)

    def __init__(self, parent: QWidget, *, most_lines: int = MOST_LINES) -> None:
        super().__init__(parent)
        self._most_lines = most_lines
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setStyleSheet("QPlainTextEdit { border: none; padding: 0px; background: transparent; }")
        self.document().setDocumentMargin(4)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._dress())
        self._dress()

    def text(self) -> str:
        """Returns the typed text."""
        return self.toPlainText()

    def setText(self, text: str) -> None:
        """Replaces the text, truncated to the maximum length, and moves the cursor to its end."""
        self.setPlainText(shortened(text, LONGEST_BODY))
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _dress(self) -> None:
        lines = max(1, min(self._most_lines, int(self.document().size().height())))
        high = round(lines * self.fontMetrics().lineSpacing() + 2 * self.document().documentMargin()) + 2
        more = (
            Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines == self._most_lines else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setVerticalScrollBarPolicy(more)
        if high != self.height() or self.minimumHeight() != high:
            self.setFixedHeight(high)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self.returned.emit()
        elif step and plain and self._at_edge(step):
            self.recalled.emit(step)
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Rejects local files, which would be inserted as paths. The window adds them to the conversation instead."""
        return not any(url.isLocalFile() for url in source.urls()) and super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes text, truncated to the maximum length because Qt can take minutes to lay out a very long word."""
        typed = len(self.text()) - len(self.textCursor().selectedText())
        room, text = max(0, LONGEST_BODY - typed), source.text()
        self.insertPlainText(text[:room])
        self.ensureCursorVisible()
        if len(text) > room:
            words = self.tr("Only the first {0} letters were pasted. Add a long text as a document.")
            at = self.mapToGlobal(self.cursorRect().topLeft())
            show_tip(at, words.format(self.locale().toString(room)), self, wrap=True)

    def _at_edge(self, step: int) -> bool:
        """Returns whether the cursor is on the first line if `step` is -1, or on the last line if it is 1."""
        cursor = self.textCursor()
        moved = cursor.movePosition(QTextCursor.MoveOperation.Up if step < 0 else QTextCursor.MoveOperation.Down)
        return not moved

    def focusInEvent(self, event: QEvent) -> None:
        super().focusInEvent(event)  # type: ignore[arg-type]  # the stub expects a QFocusEvent, which this is
        self.focused.emit(True)

    def focusOutEvent(self, event: QEvent) -> None:
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.focused.emit(False)


class Composer(QWidget):
    """The input field and buttons to attach files and to send. `sent` emits each message to a running conversation."""

    sent = Signal(str)
    replacing = Signal(object)
    """Emits the user's `Turn` whose place the next message takes."""
    typing = Signal(bool)
    """Emits whether the field contains text, in which case the space bar doesn't trigger the talk button."""
    attach_wanted = Signal()
    """Emitted when the button for attaching files is clicked."""
    talk_wanted = Signal()
    """Emitted when a message is sent while the conversation is stopped, to request that it be started."""

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._waiting: list[tuple[str, Turn | None]] = []  # messages, and the turns that they replace
        self._history: list[str] = []
        self._place = 0  # index into the history; equal to its length while a new message is being typed
        self._draft = ""
        self._edited: Turn | None = None  # being edited in the field
        self._kept = ""  # what was in the field before
        self._lit = self._dragged_over = False
        self.field = named(ComposerField(self), self.tr("Type instead of talking"))
        self.attach = IconButton("paperclip", self.tr("Add files"), self, self.attach_wanted)
        self.button = IconButton("arrow-up", self.tr("Send what you typed"), self, keys=self.tr("Enter"))
        self.button.setProperty("primary", True)
        self.button.setEnabled(False)
        words = self.tr("Editing: what you send replaces the question and what followed. Both versions are kept.")
        self.editing = Quiet(words, self)
        self.cancel = IconButton(
            "x", self.tr("Keep the question as it is"), self, self.cancel_edit, keys=self.tr("Esc")
        )
        bottom = Qt.AlignmentFlag.AlignBottom
        items = (self.attach, 0, bottom), (self.field, 1), (self.button, 0, bottom)
        over = row((self.editing, 1), self.cancel, margins=(SIDE_PX, 0, 0, 0))
        column(over, row(*items, spacing=SIDE_PX), within=self, spacing=0, margins=SIDE_PX)
        self.field.textChanged.connect(lambda: self.button.setEnabled(bool(self.field.text().strip())))
        self.field.returned.connect(self.send)
        self.field.recalled.connect(lambda step: self._recall(self._place + step))
        self.field.focused.connect(self._light)
        self.field.textChanged.connect(self._tell_typing)
        self.button.clicked.connect(self.send)
        model.began.connect(lambda _: self._send_waiting())
        model.phase_changed.connect(self._follow_phase)
        self._show()

    def _tell_typing(self) -> None:
        self.typing.emit(bool(self.field.text().strip()))

    def _send_waiting(self) -> None:
        """Sends the queued messages: the session runs."""
        waiting, self._waiting = self._waiting, []
        for text, replaces in waiting:
            self._emit(text, replaces)
        self._show()

    def _emit(self, text: str, replaces: Turn | None) -> None:
        if replaces is not None:
            self.replacing.emit(replaces)
        self.sent.emit(text)

    def _follow_phase(self, phase: Phase) -> None:
        if phase == "stopped":
            self.take_back()  # nothing will send them
        self._show()

    def put(self, text: str, replaces: Turn | None = None) -> None:
        """Sends a message as if it had been typed, leaving the contents of the field unchanged.

        It takes the place of the user's turn `replaces`, if that isn't None.
        """
        self._submit(text.strip(), replaces)

    def edit(self, turn: Turn) -> None:
        """Shows the words of the user's `turn` for editing. What is sent next takes its place.

        What is in the field comes back afterwards, or with Escape.
        """
        self.cancel_edit()
        self._edited, self._kept = turn, self.field.text()
        self.field.setText(turn.text)
        self.field.setFocus()
        self._show()

    def cancel_edit(self) -> bool:
        """Stops editing a turn; returns whether one was being edited."""
        if self._edited is None:
            return False
        self._edited, kept, self._kept = None, self._kept, ""
        self.field.setText(kept)
        self._show()
        return True

    def take_back(self) -> None:
        """Moves queued messages back into the field. Called before another conversation is shown."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            texts = (*(text for text, _ in waiting), self.field.text().strip())
            self.field.setText(" ".join(filter(None, texts)))
            self._show()

    def forget(self) -> None:
        """Clears the history of sent messages, and stops editing. Called before another conversation is shown."""
        self.cancel_edit()
        self._history, self._place, self._draft = [], 0, ""

    def send(self) -> None:
        """Sends the message in the field, or queues it until a conversation is running."""
        text, edited = self.field.text().strip(), self._edited
        if text:
            self.field.clear()
            self.cancel_edit()
            self._submit(text, edited)

    def _submit(self, text: str, replaces: Turn | None) -> None:
        if not self._history or self._history[-1] != text:
            self._history = [*self._history[1 - MOST_KEPT :], text]
        self._place, self._draft = len(self._history), ""
        if self._model.talk.phase == "running":
            self._emit(text, replaces)
        else:
            self._waiting.append((text, replaces))
            self._show()
            if self._model.talk.phase == "stopped":
                self.talk_wanted.emit()

    def _recall(self, place: int) -> None:
        if not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.field.text()
        self._place = place
        self.field.setText(self._draft if place == len(self._history) else self._history[place])

    def show_drag(self, over: bool) -> None:
        """Shows or hides the hint that the files being dragged over the window can be dropped."""
        self._dragged_over = over
        self._show()
        self.update()

    def _show(self) -> None:
        for part in (self.editing, self.cancel):
            part.setVisible(self._edited is not None)
        if self._dragged_over:
            hint = self.tr("Drop files to add them to the conversation")
        elif self._waiting:
            hint = self.tr("Sent once KAME is ready")
        elif self._model.talk.phase == "stopped":
            hint = self.tr("Type a message: the conversation continues")
        else:
            hint = self.tr("Type a message")
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleDescription(hint)

    # -- the rounded frame

    def sizeHint(self) -> QSize:
        return QSize(tokens().column, super().sizeHint().height())

    def _light(self, lit: bool) -> None:
        self._lit = lit
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = tokens()
        with painter_on(self) as painter:
            edge = (
                QPen(QColor(shown.accent_text), 2)
                if self._lit or self._dragged_over
                else QPen(QColor(shown.outline), 1)
            )
            inset = edge.widthF() / 2
            draw_rounded(painter, self.rect(), ROUND_PX, inset=inset, fill=QColor(shown.surface), edge=edge)
