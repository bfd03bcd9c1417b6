"""Short animations of a value, which reduced motion takes away: the last value is then there at once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation
from PySide6.QtWidgets import QApplication

_PROPERTY = "reducedMotion"


def reduce_motion(reduced: bool) -> None:
    """Sets whether changes are shown at once, without animation."""
    app = QApplication.instance()
    assert app is not None
    app.setProperty(_PROPERTY, reduced)


def reduced_motion() -> bool:
    """Whether animations are off. Qt does not report the system's setting."""
    app = QApplication.instance()
    return bool(app is not None and app.property(_PROPERTY))


class Glide(QObject):
    """Moves a value from where it is to where it should be, and tells `show` each step."""

    def __init__(self, show: Callable[[float], None], parent: QObject, *, milliseconds: int, value: float = 0.0):
        super().__init__(parent)
        self.value = value
        self._show = show
        self._animation = QVariantAnimation(self, duration=milliseconds)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._step)

    @property
    def target(self) -> float:
        """Where the value goes, or is."""
        running = self._animation.state() == QVariantAnimation.State.Running
        return float(self._animation.endValue()) if running else self.value

    def go(self, target: float) -> None:
        """Goes to a value, from the present one."""
        if target == self.target:
            return
        self._animation.stop()
        if reduced_motion():
            self._step(target)
            return
        self._animation.setStartValue(float(self.value))
        self._animation.setEndValue(float(target))
        self._animation.start()

    def jump(self, value: float) -> None:
        """Is at a value at once."""
        self._animation.stop()
        self._step(value)

    def _step(self, value: float) -> None:
        self.value = float(value)
        self._show(self.value)
