"""A flat button with an icon, in theme colours."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QToolButton, QWidget

from app.gui.design.icons import RATIOS, pixmap
from app.gui.design.look import Dressed
from app.gui.design.plain import OnClick, connect_click, set_tip
from app.gui.design.theme import tokens


class IconButton(Dressed, QToolButton):
    """A flat button with the icon `name`. `label` is its accessible name and, followed by `keys`, its tooltip.

    `does` is called or emitted on a click.
    """

    dressed_by = (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)

    def __init__(
        self,
        name: str,
        label: str,
        parent: QWidget | None = None,
        does: OnClick | None = None,
        *,
        keys: str = "",
        size: int = 18,
    ) -> None:
        super().__init__(parent)
        connect_click(self, does)
        self.name = name
        self._size = size
        self._tinted = ("", "")
        self.setProperty("flat", True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(size, size))
        self.set_label(label, keys)
        self._dress()

    def set_label(self, label: str, keys: str = "") -> None:
        """Sets the accessible name and the tooltip. `keys`: a shortcut to append to the tooltip."""
        self.setAccessibleName(label)
        set_tip(self, f"{label} ({keys})" if keys else label)

    def set_name(self, name: str) -> None:
        """Changes the icon."""
        if name != self.name:
            self.name = name
            self._dress()

    def setCheckable(self, checkable: bool) -> None:
        """Makes the button checkable, which also tints its icon in the accent colour while checked."""
        super().setCheckable(checkable)
        self._dress()

    def _dress(self) -> None:
        shown = tokens()
        wanted = (self.name, f"{shown.scheme} {shown.accent} {self.isCheckable()}")
        if wanted == self._tinted or not hasattr(self, "_size"):
            return
        self._tinted = wanted
        checked = shown.accent_text if self.isCheckable() else ""
        self.setIcon(_icon(self.name, shown.text, shown.outline, checked, self._size))


@lru_cache(maxsize=512)
def _icon(name: str, colour: str, disabled: str, checked: str, size: int) -> QIcon:
    """Returns an icon with these colours for the button's states; `checked` is empty if the button isn't checkable."""
    icon = QIcon()
    states = [(colour, QIcon.Mode.Normal, QIcon.State.Off), (disabled, QIcon.Mode.Disabled, QIcon.State.Off)]
    if checked:
        states.append((checked, QIcon.Mode.Normal, QIcon.State.On))
    for shade, mode, state in states:
        for ratio in RATIOS[:2]:
            icon.addPixmap(pixmap(name, QColor(shade), size, ratio), mode, state)
    return icon
