"""Text and focus rings have enough contrast in every theme, measured from pictures of the window."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from app.gui.design.theme import apply_theme
from tests.gui.pictures.scenes import SCENES, Scene
from tests.gui.window.test_accessibility import controls

THEMES = ("light", "dark", "contrast")
SCALE = 4
"""Texts are drawn so many times larger for the measurement: thin strokes reach their full colour then."""


def scene(name: str) -> Scene:
    return next(scene for scene in SCENES if scene.name == name)


def pixels(image: QImage) -> np.ndarray:
    """The picture's colours as sRGB from 0 to 1, of shape (pixels, 3)."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    raw = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return raw[:, : image.width(), 2::-1].reshape(-1, 3) / 255


def luminance(colours: np.ndarray) -> np.ndarray:
    """Relative luminance by WCAG 2.2."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def ground_of(colours: np.ndarray) -> float:
    """The luminance of the most frequent colour."""
    kinds, counts = np.unique(np.round(colours * 255).astype(int), axis=0, return_counts=True)
    return float(luminance(kinds[counts.argmax()] / 255))


def contrast(light: np.ndarray | float, other: float) -> np.ndarray:
    lights = np.asarray(light)
    return (np.maximum(lights, other) + 0.05) / (np.minimum(lights, other) + 0.05)


def picture_of(widget: QWidget) -> QImage:
    """A widget as the window shows it, on its own ground, drawn larger."""
    window = widget.window()
    image = QImage(widget.size() * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    window.render(image, QPoint(0, 0), QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).toRectF().toRect())
    return image


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


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "name", ["talk", "empty", "thoughts", "models", "devices", "settings", "first-use", "models-here", "models-machine"]
)
async def test_words_can_be_read(name: str, theme: str) -> None:
    async with scene(name).opened(dark=theme != "light") as window:
        apply_theme(QApplication.instance(), theme)
        await asyncio.sleep(0.05)
        poor = []
        found = texts(window)
        for widget in found:
            colours = pixels(picture_of(widget))
            best = float(contrast(luminance(colours), ground_of(colours)).max())
            if best < 4.5:
                poor.append((type(widget).__name__, widget.accessibleName() or widget.text(), round(best, 2)))
        assert len(found) >= 3 and poor == []


@pytest.mark.parametrize("theme", THEMES)
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
            before = pixels(picture_of(widget))
            widget.setFocus()
            await asyncio.sleep(0)
            after = pixels(picture_of(widget))
            changed = np.abs(before - after).max(axis=1) > 0.02
            ring = contrast(luminance(after[changed]), ground_of(before)) if changed.any() else np.zeros(1)
            if float(ring.max()) < 3.0:
                unseen.append((type(widget).__name__, widget.accessibleName(), round(float(ring.max()), 2)))
        assert len(found) >= 12 and unseen == []


def test_the_measure_is_right() -> None:
    image = QImage(10, 10, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    image.setPixelColor(3, 3, QColor("#767676"))
    colours = pixels(image)
    assert float(contrast(luminance(colours), ground_of(colours)).max()) == pytest.approx(4.54, abs=0.01)
