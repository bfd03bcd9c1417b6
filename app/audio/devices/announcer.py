"""Tells the user what became of one device: each thing once, when it has lasted, and never a storm of it.

Knows nothing of how devices are found or opened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from app.audio.devices import messages as words
from app.audio.devices.listing import Device, same_device
from app.audio.devices.messages import Cause
from app.conversation.sound_processing import DeviceKind, DeviceNotice

SETTLE_SECONDS, LOST_SECONDS = 0.3, 1.0
"""For how long a new state must last before it is told: with another device, and without any."""

SUSPENDED_SECONDS = 2.0
"""For how long a device must be suspended before it is told."""

STORM_NOTICES, STORM_SECONDS, STORM_SETTLE_SECONDS = 4, 30.0, 5.0
"""After so many changes within this time (a loose plug), a state must last longer before it is told."""


@dataclass(slots=True)
class Story:
    """Why things are as they are. `wanted`: the chosen device, empty for the default; `refused`: it can't be opened.
    `problem`: why none, or not the wanted one, can be, until it is told. `absent`: it was chosen just now, and isn't
    there.
    """

    wanted: str
    cause: Cause = "gone"
    refused: bool = False
    problem: str = ""
    absent: bool = False


class Announcer:
    """For one kind of device; `tell` gets the notices."""

    def __init__(self, kind: DeviceKind, tell: Callable[[DeviceNotice], None]) -> None:
        self._kind, self._tell = kind, tell
        # What the user was told last, and since when it has been otherwise.
        self._told = ""
        self._other: tuple[str, float] | None = None
        self._told_at: deque[float] = deque(maxlen=STORM_NOTICES)
        self._lost = ""
        self._narrow = ""
        self._muted = self._suspended = False
        self._suspended_since: float | None = None

    def begin(self, name: str) -> None:
        """The talk begins with this device: nothing to be told of that."""
        self._told, self._other = name, None
        self._narrow, self._muted, self._suspended = "", False, False
        self._told_at.clear()

    def look(self, now: float, name: str, story: Story) -> None:
        """The device in use is now `name` (empty: none). What was told is taken out of the story."""
        if name == self._told:
            self._other = None
            if name and story.absent:
                self._tell(words.changed(self._kind, name, name, "absent", story.wanted))
            elif name and story.cause == "chosen" and self._is_refused(name, story):
                self._tell(words.changed(self._kind, name, name, "refused", story.wanted, story.problem))
            story.absent = False
            if name:
                story.problem = ""
            if story.cause == "chosen":
                story.cause = "gone"  # it was in use already
            return
        if self._other is None or self._other[0] != name:
            self._other = (name, now)
        if now - self._other[1] < self._must_last(now, name, story):
            return
        before, self._told, self._other = self._told, name, None
        self._muted = self._suspended = False
        self._told_at.append(now)
        self._tell(self._sentence(before, name, story))
        story.absent, story.problem, story.cause = False, "", "gone"

    def note(self, device: Device, muted: bool) -> None:
        """What should be known of the microphone in use: that it hears little, or nothing."""
        if device.default_rate <= words.NARROW_RATE and self._narrow != device.name:
            self._narrow = device.name
            self._tell(words.narrow(device.name, device.default_rate))
        if muted != self._muted:
            self._muted = muted
            self._tell(words.muted(device.name, muted))

    def suspended(self, now: float, name: str, is_suspended: bool) -> None:
        """Whether the system has stopped the device in use for a while."""
        if is_suspended == self._suspended:
            self._suspended_since = None
            return
        if self._suspended_since is None:
            self._suspended_since = now
        if not is_suspended or now - self._suspended_since >= SUSPENDED_SECONDS:
            self._suspended, self._suspended_since = is_suspended, None
            self._tell(words.suspended(self._kind, name, is_suspended))

    @property
    def told(self) -> str:
        """The device that the user was told of last."""
        return self._told

    def _must_last(self, now: float, name: str, story: Story) -> float:
        if name and story.cause == "chosen":
            return 0.0
        if len(self._told_at) == STORM_NOTICES and now - self._told_at[0] < STORM_SECONDS:
            return STORM_SETTLE_SECONDS
        return SETTLE_SECONDS if name else LOST_SECONDS

    def _sentence(self, before: str, name: str, story: Story) -> DeviceNotice:
        if not name:
            self._lost = before
            return words.lost(self._kind, before, story.problem)
        wanted = name if story.wanted and same_device(story.wanted, name) else story.wanted
        if not before and not wanted and name == self._lost:
            return words.back(self._kind, name)
        cause = story.cause
        if wanted and wanted != name:
            if self._is_refused(name, story):
                cause = "refused"
            elif cause == "chosen":
                cause = "absent"
        return words.changed(self._kind, before, name, cause, wanted, story.problem, story.refused)

    def _is_refused(self, name: str, story: Story) -> bool:
        """Whether another device is in use than the wanted one, and why is still to be told."""
        return story.refused and bool(story.problem) and not same_device(story.wanted, name)
