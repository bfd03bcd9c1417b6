"""One of a talk's two devices: which one is wanted, which is in use, whether it still works, what to tell of it.

Used by the keeper's thread alone. Knows nothing of the other device, nor when to try again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence

from app.audio.devices import listing
from app.audio.devices import messages as words
from app.audio.devices.announcer import Announcer, Story
from app.audio.devices.listing import Device, identity, same_device
from app.audio.devices.managed_sink import ManagedSink
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.messages import Cause
from app.audio.devices.pulse import PulseDevice, PulseState, PulseStream
from app.audio.io.errors import DeviceError
from app.audio.io.portaudio import STALLED_SECONDS, Loudspeaker, Microphone
from app.audio.io.portaudio_stream import INPUT, remember_slow
from app.conversation.sound_processing import DeviceKind, DeviceNotice

OBSERVED_SECONDS = 0.3
"""No single look counts as more: after a computer's sleep, or a thread's, devices get their time anew."""

CLOSE_WAIT_SECONDS = 0.3
"""How long the next device waits for a lost one to close; it closes behind all the same."""

SLOW_SLIPS, SLOW_SECONDS = 4, 10.0
"""A device that fails to keep up so often within this time gets longer blocks."""

MAX_RETRY_SECONDS = 8.0


class DeviceSlot:
    """See the module's docstring. `wanted`: the chosen name, empty for the system's default; `tell` gets notices."""

    def __init__(
        self,
        kind: DeviceKind,
        wanted: str,
        outer: ManagedSource | ManagedSink,
        tell: Callable[[DeviceNotice], None],
    ) -> None:
        self.kind = kind
        self.used = False
        self.retry_at = 0.0
        self.tries = 0
        self.lost_at = 0.0
        """When the last device was lost (`time.monotonic`)."""
        self.refused_retry_at = 0.0
        """Before this none that was refused is tried again."""
        self._outer = outer
        self._story = Story(wanted)
        self._end: Microphone | Loudspeaker | None = None
        self._device: Device | None = None
        self._had_stream = False
        self._number: int | None = None
        self._suspended = False
        self._refused: dict[str, tuple[bool, bool]] = {}
        """Devices that couldn't be opened: by identity, whether it is the sound server's, and the wanted one."""
        self._by_hand = False
        self._default = ""
        self._default_changed = False
        self._wanted_was_there = True
        self._due: float | None = None
        self._clock, self._still, self._deaf_openings = -1, 0.0, 0
        self._slips: tuple[float, int] = (0.0, 0)
        self._announcer = Announcer(kind, tell)

    @property
    def wanted(self) -> str:
        """The name that the user chose; empty for the system's default."""
        return self._story.wanted

    @property
    def cause(self) -> Cause:
        """Why the next device is opened, for the user."""
        return self._story.cause

    @cause.setter
    def cause(self, cause: Cause) -> None:
        if self._story.cause != "chosen":
            self._story.cause = cause

    @property
    def is_open(self) -> bool:
        """Whether there is a device."""
        return self._end is not None

    @property
    def name(self) -> str:
        """The device in use, for the user; empty for none."""
        return self._device.name if self._end is not None and self._device is not None else ""

    def find(self, name: str | None, state: PulseState | None) -> Device:
        """The device that a name means; see `listing.find_input`. Raises `DeviceError`."""
        return (listing.find_input if self.kind == INPUT else listing.find_output)(name, state)

    def fits(self, device: Device) -> bool:
        """Whether the device is of this kind."""
        return bool(device.inputs if self.kind == INPUT else device.outputs)

    def choose(self, name: str) -> None:
        """The user wants this device from now on; the same one again, if it isn't in use, is tried once more."""
        if name == self.wanted and self.is_open and not self._refused:
            return
        self._refused.clear()
        self.refused_retry_at = 0.0
        self._deaf_openings = 0
        self._story = Story(name, "chosen")
        self._by_hand = False
        self._wanted_was_there = False
        self._default_changed = True  # even where it stayed the same: the default is what is wanted now
        self._due = 0.0

    # Opening and closing

    def open(self, device: Device, by_name: bool) -> None:
        """Opens and attaches; without `by_name` the sound server may move it. Raises `DeviceError`."""
        name = device.name if by_name else None
        if isinstance(self._outer, ManagedSource):
            microphone = Microphone(name, device)
            microphone.muted = self._outer.muted
            microphone.__enter__()
            self._outer.attach(microphone)
            self._end = microphone
        else:
            box = Loudspeaker(name, device)
            box.__enter__()
            self._outer.attach(box)
            self._end = box
        self._device = device
        self._number = None
        self._by_hand = self._suspended = False

    def is_there(self, device: Device, state: PulseState) -> bool:
        """Whether the sound server still has the device."""
        return any(d.pulse_name == device.pulse_name for d in state.of(self.kind))

    def refused(self, device: Device, problem: str) -> None:
        """`device` can't be opened: before it was away it is tried again only where there is no other."""
        is_wanted = bool(self.wanted) and listing.which(self.wanted, [device]) is not None
        if is_wanted or not self._story.problem:
            self._story.problem = problem
        self._refused[identity(device)] = (bool(device.pulse_name), is_wanted)
        self._story.refused = self._story.refused or is_wanted

    def was_refused(self, device: Device | PulseDevice) -> bool:
        """Whether it couldn't be opened, and has been there all the time since."""
        return identity(device) in self._refused

    def forget_refused(self, there: Iterable[Device | PulseDevice], of_server: bool) -> None:
        """Of the sound server's devices, or else of PortAudio's own, these are there now: what was away gets a try."""
        still = {identity(device) for device in there}
        self._refused = {key: one for key, one in self._refused.items() if one[0] != of_server or key in still}
        self._story.refused = any(is_wanted for _, is_wanted in self._refused.values())

    def opened(self, state: PulseState | None) -> None:
        """After `open`: learns where the sound server has put the stream."""
        self.tries = 0
        self._clock, self._still = -1, 0.0
        self._slips = (time.monotonic(), 0)
        self._due = None
        self._default_changed = False
        self._had_stream = False
        if state is not None:
            self._default = _default(state, self.kind)
            placed = self._placed(state)
            if placed is not None:
                self._device = self._as_device(placed)
                self._outer.name = self.name
        else:
            with contextlib.suppress(DeviceError):
                self._default = self._own_default(listing.own_devices())

    def begin_use(self, state: PulseState | None) -> None:
        """The talk begins with what was opened first."""
        self.used = True
        self._deaf_openings = 0
        self.opened(state)
        self._announcer.begin(self.name)
        self._wanted_was_there = True

    def end_use(self) -> None:
        """The talk is over."""
        self.used = False
        self.close(wait=None)

    def close(self, wait: float | None = CLOSE_WAIT_SECONDS) -> None:
        """Detaches and closes, if there is a device; waits at most `wait` seconds (None: as long as a driver gets)."""
        end, self._end = self._end, None
        if end is None:
            return
        self._outer.attach(None)
        end.close(wait)
        if isinstance(end, Loudspeaker) and isinstance(self._outer, ManagedSink):
            self._outer.closed(end)

    # Whether it still works

    def check(self, state: PulseState | None, passed: float) -> None:
        """Closes the device if it is lost. `passed`: seconds since the last check."""
        self.forget_refused(state.of(self.kind) if state is not None else (), of_server=True)
        end = self._end
        if end is None:
            return
        suspended = False
        lost = end.finished
        if state is not None:
            if self._stream(state) is not None:
                self._had_stream = True
                placed = self._placed(state)
                nowhere = placed is None and not any(d.kind == self.kind for d in state.devices)
                suspended = placed is not None and placed.suspended
                lost = lost or nowhere  # all that is left is the server's stand-in for missing hardware
            else:
                # For a moment only that means nothing: ALSA's plugin makes a new stream after an underrun.
                lost = lost or (self._had_stream and self._still > OBSERVED_SECONDS)
        clock = end.heard if isinstance(end, Microphone) else end.clock
        if clock != self._clock:
            self._clock, self._still = clock, 0.0
            self._deaf_openings = 0 if clock > 0 else self._deaf_openings
        else:
            self._still += min(passed, OBSERVED_SECONDS)
        self._suspended = suspended and self._still > OBSERVED_SECONDS
        if isinstance(self._outer, ManagedSink):
            self._outer.pause(self._suspended)
        stalled = not suspended and self._still > STALLED_SECONDS
        if lost or stalled:
            self._story.cause = "gone"
            self.close()
            self.tries = 0
            self.retry_at = 0.0
            self.lost_at = time.monotonic()
            if stalled and clock <= 0 and self._device is not None:
                # It opens and gives nothing: others are better, and it isn't opened again and again.
                self._deaf_openings += 1
                self.refused(self._device, words.deaf(self.kind, self._device.name))
                self.refused_retry_at = self.lost_at + min(2.0**self._deaf_openings, MAX_RETRY_SECONDS)
        else:
            self._check_pace(end)

    def _check_pace(self, end: Microphone | Loudspeaker) -> None:
        since, before = self._slips
        now = time.monotonic()
        if now - since > SLOW_SECONDS:
            self._slips = (now, end.slips)
        elif end.slips - before >= SLOW_SLIPS and remember_slow(end.name):
            self._story.cause = "slow"
            self.close()
            self.retry_at = 0.0

    # Which one it should be

    def follow(self, state: PulseState, now: float, grace: float) -> bool:
        """Notes where the sound server has moved our stream; True when another device is to be opened."""
        default = _default(state, self.kind)
        if default != self._default:
            self._default, self._default_changed = default, True
        wanted = self._wanted_device(state)
        if wanted is not None and not self._wanted_was_there:
            self._by_hand = False
        self._wanted_was_there = wanted is not None
        self._note_move(state, wanted)
        if self._story.cause == "chosen" and self.wanted and wanted is None:
            try:  # it may be one that is configured in ALSA
                return not same_device(self.find(self.wanted, state).name, self.name)
            except DeviceError:
                self._story.absent = True
        assert self._device is not None
        if wanted is not None:
            target = None if self._by_hand or self.was_refused(wanted) else wanted
        else:
            target = next((d for d in state.of(self.kind) if d.is_default), None) if self._default_changed else None
        if target is None or target.pulse_name == self._device.pulse_name:
            self._due = None
            self._default_changed = False
            return False
        if not self._device.pulse_name and wanted is None and same_device(self._device.name, self.wanted):
            return False  # a device that is configured in ALSA, chosen by name: wherever it leads
        if self._due is None:
            self._due = now + grace
        if now < self._due:
            return False
        self.cause = "returned" if wanted is not None else "default"
        return True

    def _note_move(self, state: PulseState, wanted: PulseDevice | None) -> None:
        placed = self._placed(state)
        before = self._device
        if placed is None or before is None or not before.pulse_name or placed.pulse_name == before.pulse_name:
            return
        if not self.is_there(before, state):
            self._story.cause, self._by_hand = "gone", False
        elif wanted is not None and placed.pulse_name == wanted.pulse_name:
            self._story.cause = "returned"
        elif self._default_changed and placed.is_default:
            self._story.cause = "default"
        else:
            self._story.cause, self._by_hand = "mixer", True
        self._device = self._as_device(placed)
        self._outer.moved(self.name)

    def wants_of(self, listed: Sequence[Device]) -> Cause | None:
        """Why something of a fresh list is to be opened instead of what is; None: it isn't. Without a sound server."""
        self.forget_refused(listed, of_server=False)
        chosen = self._story.cause == "chosen"
        self._story.absent = chosen and bool(self.wanted)  # as long as it isn't found below
        default = self._own_default(listed)
        changed = default != self._default or chosen
        wanted = listing.which(self.wanted, listed) if self.wanted else None
        if wanted is not None:
            self._story.absent = False
            if same_device(self.name, wanted.name) or self.was_refused(wanted):
                return None
            return "chosen" if chosen else "returned"
        if changed and default and not same_device(self.name, default):
            still = any(same_device(device.name, self.name) for device in listed)
            return "chosen" if chosen else "default" if still else "gone"
        self._default = default or self._default  # otherwise once it is open
        return None

    def tell(self, now: float, state: PulseState | None) -> None:
        """Tells the user what has changed, once it has lasted."""
        if state is not None and self._story.cause == "default":
            # A device that goes is first the default no more, and only then away.
            there = any(device.name == self._announcer.told for device in state.of(self.kind))
            self._story.cause = "default" if there else "gone"
        if self._end is None or self._clock > 0 or self._suspended:  # before that it may be deaf
            self._announcer.look(now, self.name, self._story)
        if self._device is None or not self.name or self.name != self._announcer.told:
            return
        self._announcer.suspended(now, self.name, self._suspended)
        if self.kind == INPUT:
            placed = self._placed(state) if state is not None else None
            self._announcer.note(self._device, placed is not None and placed.muted)

    # Small questions

    def _stream(self, state: PulseState) -> PulseStream | None:
        """The sound server's stream of the device that is open: others of this process are none of ours."""
        if self._end is None:
            return None
        stream = state.stream(self.kind, self._end.token, self._number)
        self._number = stream.number if stream is not None else None
        return stream

    def _placed(self, state: PulseState) -> PulseDevice | None:
        stream = self._stream(state)
        return state.device(stream) if stream is not None else None

    def _wanted_device(self, state: PulseState) -> PulseDevice | None:
        return listing.which(self.wanted, state.of(self.kind)) if self.wanted else None

    def _as_device(self, placed: PulseDevice) -> Device:
        """The device in use, as the one where the sound server has put it."""
        assert self._device is not None
        if not self._device.pulse_name:
            return self._device
        return dataclasses.replace(
            self._device, name=placed.name, default_rate=placed.rate, pulse_name=placed.pulse_name, muted=placed.muted
        )

    def _own_default(self, listed: Sequence[Device]) -> str:
        hears = self.kind == INPUT
        return next((d.name for d in listed if (d.is_default_input if hears else d.is_default_output)), "")


def _default(state: PulseState, kind: DeviceKind) -> str:
    return next((d.pulse_name for d in state.of(kind) if d.is_default), "")
