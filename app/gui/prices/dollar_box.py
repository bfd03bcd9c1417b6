"""A spin box for dollars that accepts both "." and "," as the decimal point."""

from __future__ import annotations

from PySide6.QtCore import QLocale
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QWidget


class DollarBox(QDoubleSpinBox):
    """A dollar amount without thousands separators."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        locale = QLocale(self.locale())
        options = QLocale.NumberOption
        locale.setNumberOptions(options.RejectGroupSeparator | options.OmitGroupSeparator)
        self.setLocale(locale)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Validates the text after converting to the locale's decimal point."""
        return super().validate(self._pointed(text), place)

    def valueFromText(self, text: str) -> float:
        """Parses the text after converting to the locale's decimal point."""
        return super().valueFromText(self._pointed(text))

    def _pointed(self, text: str) -> str:
        if text == self.specialValueText():
            return text
        point = self.locale().decimalPoint()
        return text.replace(",", point) if point == "." else text.replace(".", point)
