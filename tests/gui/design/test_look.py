"""The colours can be read, on light and on dark desktops: contrast by the WCAG formula."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from app.gui.design.look import STATE_COLOURS


def luminance(colour: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: QColor, b: QColor) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("state", STATE_COLOURS)
def test_white_words_are_readable_on_the_talk_button(state: str) -> None:
    assert contrast(QColor("white"), STATE_COLOURS[state]) >= 4.5
