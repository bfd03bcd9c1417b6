"""Timers, and short animations of a value. With reduced motion, the final value is set immediately."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QObject, QTimer, QVariantAnimation
from PySide6.QtWidgets import QApplication

_PROPERTY = "reducedMotion"


def timer(parent: QObject, milliseconds: int, does: Callable[[], object], *, repeats: bool = False) -> QTimer:
    """Returns a timer that calls `does` once it has run out, or each time if it `repeats`. It isn't started."""
    made = QTimer(parent, singleShot=not repeats, interval=milliseconds)
    made.timeout.connect(does)
    return made


def reduce_motion(reduced: bool) -> None:
    """Enables or disables reduced motion, in which values change without animation."""
    app = QApplication.instance()
    assert app is not None
    app.setProperty(_PROPERTY, reduced)


def reduced_motion() -> bool:
    """Returns whether reduced motion is enabled in the app; Qt doesn't expose the system's setting."""
    app = QApplication.instance()
    return bool(app is not None and app.property(_PROPERTY))


class Glide(QObject):
    """Animates a value. `show` is called with the new value at each step."""

    def __init__(self, show: Callable[[float], None], parent: QObject, *, milliseconds: int, value: float = 0.0):
        super().__init__(parent)
        self.value = value
        self._show = show
        self._animation = QVariantAnimation(self, duration=milliseconds)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._step)

    @property
    def target(self) -> float:
        """The end value of the animation in progress, or the current value if there is none."""
        running = self._animation.state() == QVariantAnimation.State.Running
        return float(self._animation.endValue()) if running else self.value

    def go(self, target: float) -> None:
        """Animates the value to `target`. No-op if this is already the target."""
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
        """Sets the value without animation."""
        self._animation.stop()
        self._step(value)

    def _step(self, value: float) -> None:
        self.value = float(value)
        self._show(self.value)
