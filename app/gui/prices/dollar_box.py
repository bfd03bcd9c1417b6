"""A spin box for US dollars that accepts both "." and "," as the decimal separator."""

from __future__ import annotations

from PySide6.QtCore import QLocale
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QWidget


class DollarBox(QDoubleSpinBox):
    """A spin box for an amount in US dollars, without thousands separators."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        locale = QLocale(self.locale())
        options = QLocale.NumberOption
        locale.setNumberOptions(options.RejectGroupSeparator | options.OmitGroupSeparator)
        self.setLocale(locale)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Validates the text after replacing the decimal separator with the locale's."""
        return super().validate(self._pointed(text), place)

    def valueFromText(self, text: str) -> float:
        """Parses the text after replacing the decimal separator with the locale's."""
        return super().valueFromText(self._pointed(text))

    def _pointed(self, text: str) -> str:
        if text == self.specialValueText():
            return text
        point = self.locale().decimalPoint()
        return text.replace(",", point) if point == "." else text.replace(".", point)
