"""A page of the first run, a page of cards to choose from, and the scroll area that shows a page."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QScrollArea, QVBoxLayout, QWidget

from app.gui.first_run.cards.choice_card import ChoiceCard


class Page(QWidget):
    """One step of the first run. `title` and `words` are shown above it."""

    ready = Signal()
    """After `may_leave` returned False: the page may be left now."""
    chosen = Signal(object)
    """This widget of it was chosen, and may have grown."""

    def __init__(self, title: str, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.title, self.words = title, words
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(8)

    def arrive(self) -> QWidget | None:
        """Called when the page is shown; returns the widget to focus, None for the button “Next”."""
        return None

    def may_leave(self) -> bool:
        """Whether the user may go on at once; otherwise `ready` follows, or the page says why not."""
        return True

    def depart(self) -> None:
        """Called when the page is left: ends what belongs to it alone."""


class ChoicePage(Page):
    """A page of cards, one of which is chosen. `touched`: the user has chosen one."""

    def __init__(self, title: str, words: str, parent: QWidget) -> None:
        super().__init__(title, words, parent)
        self.touched = False
        self.keeps = False
        """Whether the choice in force is kept, even if something else fits better."""
        self._group = QButtonGroup(self)

    def add_card(self, card: ChoiceCard) -> None:
        self._group.addButton(card.button)
        self.column.addWidget(card)
        card.button.clicked.connect(self.touch)
        card.button.clicked.connect(lambda: self.chosen.emit(card))

    def touch(self) -> None:
        """Called when the user chooses something here."""
        self.touched = True


class Scroller(QScrollArea):
    """Scrolls a page that is higher than the window; takes the focus only then."""

    def __init__(self, page: Page, parent: QWidget) -> None:
        super().__init__(parent)
        self._page = page
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(page.title)
        self.viewport().setAutoFillBackground(False)
        page.setAutoFillBackground(False)
        self._set_focus_policy(0, 0)
        self._chosen: QWidget | None = None
        self._reveal = QTimer(self, singleShot=True, interval=0)  # once it has been laid out
        self._reveal.timeout.connect(self._show_chosen)
        page.chosen.connect(self._scroll_soon)
        self.verticalScrollBar().rangeChanged.connect(self._set_focus_policy)

    def _set_focus_policy(self, least: int, most: int) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if most > least else Qt.FocusPolicy.NoFocus)

    def _scroll_soon(self, chosen: QWidget) -> None:
        self._chosen = chosen
        self._reveal.start()

    def _show_chosen(self) -> None:
        if self._chosen is not None and self.isVisible():
            self._page.column.activate()
            self.ensureWidgetVisible(self._chosen, 0, 2)
