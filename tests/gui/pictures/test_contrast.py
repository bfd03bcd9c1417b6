"""Text and focus rings have enough contrast in every theme, measured from pictures of the window."""

import asyncio

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from app.gui.design.theme import apply_theme
from tests.gui.helpers import spread
from tests.gui.pictures.scenes import scene
from tests.gui.window.test_accessibility import controls

THEMES = ("light", "dark", "contrast")
SCENES_WITH_TEXTS = tuple("talk empty thoughts models devices settings first-use models-here models-machine".split())
SCALE = 4
"""Texts are drawn so many times larger for the measurement: thin strokes reach their full colour then."""


def pixels(image: QImage) -> np.ndarray:
    """Returns the picture's colours as 0xRRGGBB, of shape (height, width)."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    raw = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return raw[:, : image.width()] & 0xFFFFFF


def channels(colours: np.ndarray) -> np.ndarray:
    """Returns red, green and blue from 0 to 1, as a last axis."""
    return np.stack([(colours >> shift) & 0xFF for shift in (16, 8, 0)], axis=-1) / 255


def luminance(colours: np.ndarray) -> np.ndarray:
    """Returns the relative luminance by WCAG 2.2."""
    parts = channels(colours)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def kinds(colours: np.ndarray) -> tuple[np.ndarray, float]:
    """Returns the different colours, and the luminance of the most frequent one."""
    found, counts = np.unique(colours, return_counts=True)
    return found, float(luminance(found[counts.argmax()]))


def contrast(light: np.ndarray, other: float) -> np.ndarray:
    return (np.maximum(light, other) + 0.05) / (np.minimum(light, other) + 0.05)


def most_contrast(colours: np.ndarray) -> float:
    """Returns the contrast between the most frequent colour and the one that differs most from it."""
    found, ground = kinds(colours)
    return float(contrast(luminance(found), ground).max())


def picture_of(window: QWidget, region: QRect) -> np.ndarray:
    image = QImage(region.size() * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    window.render(image, QPoint(0, 0), region)
    return pixels(image)


def place_of(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def cut(picture: np.ndarray, place: QRect) -> np.ndarray:
    top, left = place.top() * SCALE, place.left() * SCALE
    return picture[top : top + place.height() * SCALE, left : left + place.width() * SCALE]


def texts(window: QWidget) -> list[QWidget]:
    """The visible labels, buttons and fields that show words, and can be used."""
    kinds = QLabel | QAbstractButton | QLineEdit | QComboBox
    found = [one for one in window.findChildren(QWidget) if isinstance(one, kinds) and one.isVisible()]
    return [
        one
        for one in found
        if one.isEnabled()
        and (one.currentText() if isinstance(one, QComboBox) else one.text()).strip()
        and one.window() is window
        and not one.visibleRegion().isEmpty()
        and one.visibleRegion().boundingRect() == one.rect()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name, theme", spread(SCENES_WITH_TEXTS, THEMES))
async def test_words_can_be_read(name: str, theme: str) -> None:
    async with scene(name).opened(dark=theme != "light") as window:
        apply_theme(QApplication.instance(), theme)
        await asyncio.sleep(0.05)
        poor = []
        found = texts(window)
        picture = picture_of(window, window.rect())
        for widget in found:
            best = most_contrast(cut(picture, place_of(widget)))
            if best < 4.5:
                poor.append((type(widget).__name__, widget.accessibleName() or widget.text(), round(best, 2)))
        assert len(found) >= 3 and poor == []


@pytest.mark.parametrize("theme", spread(["contrast", "light", "dark"], at_first=1))
async def test_the_focus_is_seen_on_every_control(theme: str) -> None:
    async with scene("empty").opened(dark=theme != "light") as window:
        apply_theme(QApplication.instance(), theme)
        window.activateWindow()
        await asyncio.sleep(0.05)
        unseen = []
        found = [one for one in controls(window) if one.isEnabled() and one.focusPolicy().value & 1]
        for widget in found:
            other = next(one for one in found if one is not widget)
            other.setFocus()
            await asyncio.sleep(0)
            before = picture_of(window, place_of(widget))
            widget.setFocus()
            await asyncio.sleep(0)
            after = picture_of(window, place_of(widget))
            changed = after[np.abs(channels(before) - channels(after)).max(axis=-1) > 0.02]
            best = float(contrast(luminance(np.unique(changed)), kinds(before)[1]).max()) if changed.size else 0.0
            if best < 3.0:
                unseen.append((type(widget).__name__, widget.accessibleName(), round(best, 2)))
        assert len(found) >= 12 and unseen == []


def test_the_measure_is_right() -> None:
    image = QImage(10, 10, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    image.setPixelColor(3, 3, QColor("#767676"))
    assert most_contrast(pixels(image)) == pytest.approx(4.54, abs=0.01)
