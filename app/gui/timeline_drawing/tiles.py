"""Caches what has been painted of the timeline in tiles, so that only what has changed is painted again."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap

TILE_PX = 256
SPARE = 2
"""So many tiles beyond each end of the view are kept."""

PaintStretch = Callable[[QPainter, float, float], None]


class Tiles:
    """Tiles of `height` pixels, with `ratio` device pixels each. `paint` fills one from its left to its right pixel."""

    def __init__(self, paint: PaintStretch, height: float, ratio: float) -> None:
        self._paint = paint
        self._height = height
        self._ratio = ratio
        self._tiles: dict[int, QPixmap] = {}
        self._valid: dict[int, float] = {}
        """Up to which pixel each tile is up to date."""
        self.painted = 0
        """How many times a tile was painted, or a part of one."""

    def drop_from(self, pixel: float) -> None:
        """Drops what is right of a pixel: it has changed."""
        pixel = math.floor(pixel)
        for place in list(self._tiles):
            if place * TILE_PX >= pixel:
                self._forget(place)
            else:
                self._valid[place] = min(self._valid[place], pixel)

    def show(self, painter: QPainter, left: float, right: float) -> None:
        """Paints the stretch between two pixels onto `painter`, which is translated to it."""
        first, last = math.floor(left / TILE_PX), math.floor(right / TILE_PX)
        for place in [place for place in self._tiles if not first - SPARE <= place <= last + SPARE]:
            self._forget(place)
        for place in range(first, last + 1):
            painter.drawPixmap(QPointF(place * TILE_PX, 0), self._tile(place))

    def _tile(self, place: int) -> QPixmap:
        left, right = place * TILE_PX, (place + 1) * TILE_PX
        tile = self._tiles.get(place)
        if tile is None:
            tile = QPixmap(round(TILE_PX * self._ratio), math.ceil(self._height * self._ratio))
            tile.setDevicePixelRatio(self._ratio)
            self._tiles[place], self._valid[place] = tile, left
        valid = self._valid[place]
        if valid < right:
            painter = QPainter(tile)
            painter.translate(-left, 0)
            painter.setClipRect(QRectF(valid, 0, right - valid, self._height))
            self._paint(painter, valid, right)
            painter.end()
            self._valid[place] = right
            self.painted += 1
        return tile

    def _forget(self, place: int) -> None:
        del self._tiles[place], self._valid[place]
