"""A column of revision cards under the model's name, oldest first like the transcript, and the large card.

Only changed cards are updated. The large card shows the current answer and cross-fades when it is revised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import nullcontext

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.conversation.record.revisions import Revision
from app.gui.cards.card import SIDE, Card, laid_out_once
from app.gui.cards.view import CardView
from app.gui.design.fonts import embolden
from app.gui.design.look import Look, painter_on, set_ink
from app.gui.design.motion import Glide
from app.gui.design.plain import PlainLabel, draw_words, named, set_tip
from app.gui.design.theme import tokens
from app.gui.widgets.form import column, row
from app.gui.widgets.panel import ElidedLabel

SCALE = 20 / 15
"""The large card's text size relative to the transcript's."""


class _Before(QWidget):
    """An overlay with a snapshot of the previous contents, which fades out to reveal the new contents."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = QPixmap()
        self._glide = Glide(self._show, self, milliseconds=tokens().slow_ms)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def fade(self, picture: QPixmap) -> None:
        """Shows a snapshot and fades it out."""
        self._picture = picture
        self._glide.jump(1.0)
        self._glide.go(0.0)

    def _show(self, share: float) -> None:
        self.setVisible(share > 0.01)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setOpacity(self._glide.value)
            painter.drawPixmap(0, 0, self._picture)


class ThoughtCard(QWidget):
    """Shows a single large card. Cross-fades to a different thought, but updates a growing one in place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = named(CardView(scale=SCALE, parent=self), self.tr("The answer that counts now"))
        self.view.empty_text = self.tr(
            "What the model thinks appears here while you still speak, and is revised with every few words."
        )
        self._before = _Before(self)
        self._thought: object = None
        column(self.view, within=self)

    def show_card(self, card: Card, thought: object) -> None:
        """Shows the card of `thought`. Cross-fades if that isn't the same object as before."""
        if not self.view.cards:
            self.view.insert_card(0, card)
        elif self.view.cards[0] != card.clean():
            if thought is not self._thought and self.isVisible():
                self._before.fade(self.view.grab())
            self.view.set_card(0, card)
        self._thought = thought

    def clear(self) -> None:
        """Replaces the card with the placeholder text."""
        self._thought = None
        self.view.clear_cards()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._before.setGeometry(self.rect())


NARROW_PX, NARROW_SIDE = 360, 5.0
"""In columns narrower than `NARROW_PX`, the side margins of cards are reduced to `NARROW_SIDE` pixels."""
MANY = 20
"""Number of changes above which it is faster to suspend layout until all have been made."""


class Mark(PlainLabel):
    """A badge: a word on a rounded background."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        embolden(self)

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(16, 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        look = Look.of(self.palette())
        with painter_on(self) as painter:
            set_ink(painter, fill=look.accent)
            height = min(self.height(), super().sizeHint().height() + 4)
            patch = QRectF(0, (self.height() - height) / 2, self.width(), height)
            painter.drawRoundedRect(patch, height / 2, height / 2)
            draw_words(painter, patch, self.text(), look.base, self.font(), Qt.AlignmentFlag.AlignCenter)


class OracleColumn(QWidget):
    """A column of cards. If a model has been set with `set_backend`, its name is shown above them, with a mark if it is
    active, or with a button that switches to it otherwise.
    """

    hand_over = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = QWidget(self)
        self.backend = ElidedLabel("", self.heading)
        self.mark = Mark(self.tr("answers"), self.heading)
        self.hand_button = QPushButton(self.tr("S&witch"), self.heading)
        self.view = named(CardView(parent=self), self.tr("Oracle thoughts"))
        row(self.backend, self.mark, self.hand_button, within=self.heading, stretch=0)
        # Keeps the height constant, whether or not the button is shown.
        self.heading.setMinimumHeight(self.hand_button.sizeHint().height())
        column(self.heading, self.view, within=self, spacing=6, stretch=1)
        self.heading.hide()
        self.hand_button.clicked.connect(self.hand_over)
        self._shown: list[Revision] = []
        self._head = ("", False)

    def set_backend(self, backend: str, drives: bool) -> None:
        """Sets the column's model, empty for a column of all models. `drives`: whether it is the active model."""
        if self._head == (backend, drives):
            return
        self._head = (backend, drives)
        name = self.tr("Thoughts of {0}").format(backend) if backend else self.tr("Oracle thoughts")
        self.view.setAccessibleName(name)
        self.heading.setVisible(bool(backend))
        self.backend.setText(backend)
        set_tip(self.backend, backend)
        self.mark.setVisible(drives)
        self.hand_button.setVisible(not drives)
        self.hand_button.setAccessibleName(self.tr("Switch to {0}").format(backend))

    def show_revisions(
        self, wanted: list[Revision], changed: Collection[Revision], card: Callable[[Revision], Card]
    ) -> None:
        """Shows the revisions in `wanted`, given newest first. `card` builds a card; it is called only for new
        revisions and for those in `changed`.
        """
        view, shown = self.view, self._shown
        wanted = wanted[::-1]
        if wanted == shown and not any(revision in changed for revision in shown):
            return
        stay, height = view.at_newest(), view.document().size().height()
        if shown and set(wanted).isdisjoint(shown):
            view.clear_cards()
            shown.clear()
        with laid_out_once(view.document()) if len(changed) > MANY else nullcontext():
            self._write(wanted, changed, card)
        view.keep_view(stay, height)

    def show_revision(self, revision: Revision) -> None:
        """Scrolls to the card of a revision, which must be in the column, and focuses the view."""
        self.view.setFocus()
        self.view.show_card(self._shown.index(revision))

    def _write(self, wanted: list[Revision], changed: Collection[Revision], card: Callable[[Revision], Card]) -> None:
        view, shown, keep = self.view, self._shown, set(wanted)
        for place in range(len(shown) - 1, -1, -1):
            if shown[place] not in keep:
                del shown[place]
                view.remove_card(place)
        for place, revision in enumerate(wanted):
            if place < len(shown) and shown[place] is revision:
                if revision in changed:
                    view.set_card(place, card(revision))
            else:
                if revision in shown:  # handed over, so it has moved
                    before = shown.index(revision)
                    del shown[before]
                    view.remove_card(before)
                shown.insert(place, revision)
                view.insert_card(place, card(revision))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view.content.set_side(NARROW_SIDE if self.width() < NARROW_PX else SIDE)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "hand_button"):
            self.heading.setMinimumHeight(self.hand_button.sizeHint().height())
