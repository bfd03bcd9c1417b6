"""The editable list of a provider's models, with the button that fetches it again."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.design.icon_button import IconButton
from app.gui.design.plain import set_tip
from app.session.control import BackendChoice

WIDEST_LIST_PX = 460


class ModelField(QComboBox):
    """Offers what `lists` knows of a choice's models; any other name can be typed. The layout places `refresh`."""

    def __init__(self, lists: ModelLists, parent: QWidget) -> None:
        super().__init__(parent)
        self._lists = lists
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(9)
        self.setMaxVisibleItems(16)
        completer = self.completer()
        assert completer is not None
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.refresh = IconButton("refresh-cw", "", parent)

    @property
    def edit(self) -> QLineEdit:
        edit = self.lineEdit()
        assert edit is not None
        return edit

    def show_model(self, model: str) -> None:
        """Shows a model's name, also one that is not offered."""
        with QSignalBlocker(self), QSignalBlocker(self.edit):
            self.setCurrentIndex(self.findText(model, Qt.MatchFlag.MatchExactly) if model else -1)
            self.setEditText(model)
            self.edit.setCursorPosition(0)

    def offer(self, choice: BackendChoice) -> None:
        """Offers the models known for a choice's provider and server; what is being typed stays."""
        models = self._lists.offered(choice)
        if [self.itemText(place) for place in range(self.count())] != list(models):
            modified, cursor = self.edit.isModified(), self.edit.cursorPosition()
            with QSignalBlocker(self), QSignalBlocker(self.edit):
                self.clear()
                self.addItems(list(models))
            self.show_model(choice.model)
            self.edit.setModified(modified)
            self.edit.setCursorPosition(cursor if modified else 0)
            self.view().setMinimumWidth(list_width(models, self))
        self.show_state(choice)

    def fetch(self, choice: BackendChoice, *, fresh: bool = False) -> None:
        """Fetches the models of a choice's provider and server in the background; `fresh`: also if they are known."""
        self._lists.ask(choice, fresh=fresh)
        self.show_state(choice)

    def show_state(self, choice: BackendChoice) -> None:
        """Says in the tool tips how many models are offered, or why none are."""
        busy, trouble, number = self._lists.busy(choice), self._lists.trouble(choice), self.count()
        if trouble:
            state = self.tr("The list of models could not be fetched: {0}").format(trouble)
        elif busy:
            state = self.tr("The list of models is being fetched.")
        elif not number:
            state = self.tr("No models are known yet: type a name.")
        else:
            state = self.tr("1 model is offered.") if number == 1 else self.tr("{0} models are offered.").format(number)
        words = self.tr("The model's name; empty for the default one.")
        set_tip(self, f"{words}\n{state}")
        self.setAccessibleDescription(state)
        self.refresh.set_name("loader-circle" if busy else "triangle-alert" if trouble else "refresh-cw")
        refresh = self.tr("Fetches the list of models again.")
        set_tip(self.refresh, f"{state}\n{refresh}" if trouble else refresh)


def list_width(texts: Iterable[str], combo: QComboBox) -> int:
    """How wide an open list must be for these texts, in pixels, up to `WIDEST_LIST_PX`."""
    widest = max((combo.fontMetrics().horizontalAdvance(text) for text in texts), default=0)
    return min(WIDEST_LIST_PX, widest + 48)
