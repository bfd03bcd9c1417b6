"""The window's icons, which are Lucide drawings tinted in theme colours, and a flat button with one."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QToolButton, QWidget

from app.gui.design.look import Dressed, painter_on
from app.gui.design.plain import OnClick, connect_click, set_tip
from app.gui.design.theme import tokens
from app.platform.installation import resource

RATIOS = (1, 2, 3)
"""The device pixel ratios for which icons are rendered."""


@lru_cache(maxsize=128)
def drawing(name: str) -> str:
    """Returns the SVG source of a drawing. Its strokes use the colour `currentColor`."""
    return resource("icons", "lucide", f"{name}.svg").read_text("utf-8")


def pixmap(name: str, colour: QColor, size: int, ratio: float = 1.0) -> QPixmap:
    """Renders an icon, `size` logical pixels wide and high, for a screen with the device pixel ratio `ratio`."""
    made = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    with painter_on(made) as painter:
        paint_icon(painter, name, colour, QRectF(0, 0, size, size))
    return made


def paint_icon(painter: QPainter, name: str, colour: QColor, place: QRectF) -> None:
    """Paints an icon into the rectangle `place`."""
    svg = drawing(name).replace("currentColor", colour.name())
    QSvgRenderer(QByteArray(svg.encode())).render(painter, place)


@lru_cache(maxsize=512)
def _icon(
    name: str, colour: str, disabled: str, size: int, checked: str = "", ratios: tuple[int, ...] = RATIOS
) -> QIcon:
    """Returns an icon with these colours for a control's states; `checked` is empty if it isn't checkable."""
    icon = QIcon()
    states = [(colour, QIcon.Mode.Normal, QIcon.State.Off), (disabled, QIcon.Mode.Disabled, QIcon.State.Off)]
    if checked:
        states.append((checked, QIcon.Mode.Normal, QIcon.State.On))
    for shade, mode, state in states:
        for ratio in ratios:
            icon.addPixmap(pixmap(name, QColor(shade), size, ratio), mode, state)
    return icon


def icon(name: str, colour: QColor, disabled: QColor | None = None, size: int = 18) -> QIcon:
    """Returns an icon in this colour. `disabled` is its colour on a disabled control, by default the same."""
    return _icon(name, colour.name(), (disabled or colour).name(), size)


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

    def leaveEvent(self, event: QEvent) -> None:
        """Repaints the button, which Qt doesn't if the pointer left it for a menu."""
        super().leaveEvent(event)
        self.update()

    def _dress(self) -> None:
        shown = tokens()
        wanted = (self.name, f"{shown.scheme} {shown.accent} {self.isCheckable()}")
        if wanted == self._tinted or not hasattr(self, "_size"):
            return
        self._tinted = wanted
        checked = shown.accent_text if self.isCheckable() else ""
        self.setIcon(_icon(self.name, shown.text, shown.outline, self._size, checked, RATIOS[:2]))
