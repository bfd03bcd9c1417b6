"""Keeps a session's microphone and loudspeaker working while devices appear and disappear.

`DeviceManager` provides a source and a sink for the whole session. A single thread, the device thread, opens and closes
all devices: it detects lost devices, opens substitutes, and switches back to the preferred devices when they return.
Reading and writing happen on other threads and never wait for it. For each slot, the device thread tries the preferred
device, then the default, then any other, and finally those that failed to open before.
"""

from __future__ import annotations

import contextlib
import logging
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Self

from app.audio.devices import listing, portaudio_library
from app.audio.devices.list_process import ListRefresh
from app.audio.devices.listing import Device, NoDevice, identity
from app.audio.devices.managed_sink import ManagedSink, ManagedTap
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.messages import Cause
from app.audio.devices.pulse import PulseServer, PulseState
from app.audio.devices.slot import DeviceSlot
from app.audio.devices.watch import DeviceWatch
from app.audio.io.base import DeviceError
from app.conversation.events import DeviceNotice


def open_best(slot: DeviceSlot, server: ServerMonitor, *, listed_now: bool = True, refused_only: bool = False) -> None:
    """Opens the first device that works, if any.

    - `slot`: the slot to open a device for.
    - `server`: the sound server.
    - `listed_now`: whether the device list is current. If not, a device that can't be opened may simply be gone, and
      isn't recorded as refused.
    - `refused_only`: whether to try only devices that failed to open before.
    """
    if server.state is None and server.expected:
        return  # don't block the hardware while the sound server restarts
    with portaudio_library.LOCK:  # PortAudio must not be restarted between finding and opening
        found: dict[str, tuple[Device, bool]] = {}
        for candidate in _candidates(slot, server):
            found.setdefault(identity(candidate[0]), candidate)
        for device, by_name in sorted(found.values(), key=lambda candidate: candidate[0] in slot.refused):
            if device in slot.refused:
                if time.monotonic() < slot.refused.retry_at:
                    continue
            elif refused_only:
                continue
            if _open(slot, server, device, by_name, listed_now):
                return


def _open(slot: DeviceSlot, server: ServerMonitor, device: Device, by_name: bool, listed_now: bool) -> bool:
    try:
        slot.open(device, by_name)
    except DeviceError as error:
        server.query()
        gone = isinstance(error, portaudio_library.DeviceGone) or not listed_now
        if server.state is not None and device.pulse_name:
            gone = all(d.pulse_name != device.pulse_name for d in server.state.of(slot.kind))
        if not gone:
            slot.refuse(device, str(error))
        return False
    server.query()
    slot.opened(server.state)
    return True


def _candidates(slot: DeviceSlot, server: ServerMonitor) -> Iterator[tuple[Device, bool]]:
    """Yields (device, by_name) pairs, best first. The sound server may move a stream that isn't opened by name."""
    if slot.preferred:
        with contextlib.suppress(DeviceError):
            yield slot.find(slot.preferred, server.state), True
    with contextlib.suppress(DeviceError):
        yield slot.find(None, server.state), False
    with contextlib.suppress(DeviceError):
        for device in listing.list_devices(server.state):
            if device.channels(slot.kind):
                yield device, True


ABSENT_SECONDS = 20.0
"""A sound server gone for this long isn't expected to return, and PortAudio's own devices are used instead."""


class ServerMonitor:
    """Queries the sound server, if PortAudio can reach one. Not thread-safe."""

    def __init__(self) -> None:
        self._server = PulseServer()
        self._has_gateway = False
        self.state: PulseState | None = None
        """The result of the last query; None if there is no server."""
        self.expected = False
        """Whether there is a server, or there was one until recently."""
        self.queried_at = 0.0
        self._answered_at = 0.0

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.__exit__(*exc)

    def query(self) -> None:
        """Queries the server and updates `state` and `expected`."""
        now = self.queried_at = time.monotonic()
        state = self._server.query()
        if state is not None and not self._has_gateway:
            with contextlib.suppress(DeviceError):  # PortAudio isn't available at the moment
                self._has_gateway = listing.pulse_gateway(listing.own_devices()) is not None
        self.state = state if self._has_gateway else None
        if self.state is not None:
            self.expected, self._answered_at = True, now
        elif now - self._answered_at > ABSENT_SECONDS:
            self.expected = False


TICK_SECONDS = 0.1
"""How often the device thread checks that the devices still work."""

QUERY_SECONDS = 0.5
"""How often the sound server is polled in the absence of events, to track mute states and moved streams."""

FIRST_RETRY_SECONDS, RETRY_SECONDS = 0.5, 1.0
"""Delays before the first and each further retry if no device could be opened."""

ABSENT_RETRY_SECONDS = 3.0
"""Retry delay if the session started without a device, because PortAudio must be restarted to find one. A device
announced by the system is tried immediately."""

GRACE_SECONDS = 0.5
"""Grace period for the sound server to move a stream itself, to a new default or back to a device that returned."""

PORTAUDIO_RETRY_SECONDS = 10.0
"""How often PortAudio's frozen list is refreshed in the absence of events. Each refresh starts a child process."""

UNHEARD_SECONDS = 10.0
"""How long an answer waits for a lost loudspeaker to be replaced before it continues as text, without sound."""

UNLISTED_SECONDS = 3.0
"""How long to wait for a PortAudio restart to replace a lost device before falling back to the old list."""

_log = logging.getLogger(__name__)


class DeviceManager:
    """The microphone and loudspeaker of a session, chosen by name (empty: the system's defaults).

    `sink` and `source` may be entered in any order. If devices are `required`, entering raises `DeviceError`, as with
    `Microphone`; otherwise a missing device is reported, and used once it appears. Later changes are reported by
    `notices` and never raise. `tap` provides the audio that the loudspeaker actually plays.
    """

    def __init__(self, microphone: str, loudspeaker: str, *, required: bool = True) -> None:
        self._required = required
        self._notices: deque[DeviceNotice] = deque()
        self.source = ManagedSource(lambda: self._enter(self._microphone), lambda: self._leave(self._microphone))
        self.sink = ManagedSink(lambda: self._enter(self._loudspeaker), lambda: self._leave(self._loudspeaker))
        self.tap = ManagedTap(self.sink)
        self._microphone = DeviceSlot("microphone", microphone, self.source, self._notices.append)
        self._loudspeaker = DeviceSlot("loudspeaker", loudspeaker, self.sink, self._notices.append)
        self._slots = (self._loudspeaker, self._microphone)
        self._requests: queue.SimpleQueue[tuple[Callable[[], None], Future[None]]] = queue.SimpleQueue()
        self._wake = threading.Event()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = False
        # Used only by the device thread.
        self._server = ServerMonitor()
        self._listing = ListRefresh()
        self._recheck_at = math.inf

    def notices(self) -> Sequence[DeviceNotice]:
        """Returns the notices since the last call, oldest first. Not thread-safe."""
        notices = []
        while self._notices:
            notices.append(self._notices.popleft())
        return notices

    def choose(self, microphone: str, loudspeaker: str) -> None:
        """Switches to these devices (empty: the system's defaults). Thread-safe and non-blocking."""

        def apply() -> None:
            names = {self._microphone: microphone, self._loudspeaker: loudspeaker}
            changed = {slot: name for slot, name in names.items() if name != slot.preferred}
            for slot, name in (changed or names).items():  # choosing the same devices again retries failed ones
                slot.choose(name)
            self._changed.set()

        self._request(apply)

    # Any thread: requests to the device thread

    def _request(self, action: Callable[[], None]) -> Future[None]:
        done: Future[None] = Future()
        self._requests.put((action, done))
        self._wake.set()
        return done

    def _enter(self, slot: DeviceSlot) -> None:
        if self._thread is None:
            self._stop = False
            self._thread = threading.Thread(target=self._run, name="audio-devices", daemon=True)
            self._thread.start()
        try:
            self._request(lambda: self._start_use(slot)).result()
        except BaseException:
            self._stop_if_unused()
            raise

    def _leave(self, slot: DeviceSlot) -> None:
        if self._thread is not None:
            self._request(slot.end_use).result()
            self._stop_if_unused()

    def _stop_if_unused(self) -> None:
        if self._thread is not None and not any(slot.used for slot in self._slots):
            self._stop = True
            self._wake.set()
            self._thread.join()
            self._thread = None

    # The device thread

    def _run(self) -> None:
        with self._server, DeviceWatch(self._on_change), contextlib.ExitStack() as stack:
            stack.callback(self._listing.stop)
            before = time.monotonic()
            while not self._stop:
                self._handle_requests()
                now = time.monotonic()
                with _errors_logged():
                    self._tick(now, now - before)
                before = now
                self._wake.wait(TICK_SECONDS)
                self._wake.clear()
            self._handle_requests()

    def _on_change(self) -> None:
        self._changed.set()
        self._wake.set()

    def _handle_requests(self) -> None:
        while not self._requests.empty():
            action, done = self._requests.get()
            try:
                action()
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

    def _tick(self, now: float, passed: float) -> None:
        changed = self._changed.is_set() or (now >= self._recheck_at and not self._has_foreign_streams())
        self._changed.clear()
        if changed or now - self._server.queried_at >= QUERY_SECONDS:
            self._server.query()
        if changed:
            self._recheck_at = math.inf
        used = [slot for slot in self._slots if slot.used]
        for slot in used:
            with _errors_logged():
                slot.check(self._server.state, passed)
        listed = None
        with _errors_logged():
            if changed:
                self._start_listing()
            listed = self._listing.poll()
            if listed is not None:
                self._apply_list(listed)
        for slot in used:
            with _errors_logged():
                self._maintain(slot, now, changed, listed)
            if not self._listing.is_running or slot.cause != "chosen":  # the chosen device may still be found
                with _errors_logged():
                    slot.report(now, self._server.state)

    def _start_use(self, slot: DeviceSlot) -> None:
        """Opens the chosen device, or starts without it. Raises `DeviceError` if devices are required."""
        try:
            self._open_first(slot)
        except DeviceError as error:
            if self._required:
                raise
            slot.start_without("" if isinstance(error, NoDevice) else str(error))

    def _open_first(self, slot: DeviceSlot) -> None:
        """Opens the chosen device. Raises `DeviceError`."""
        self._server.query()
        if self._server.state is None:
            portaudio_library.restart()  # its list may be outdated; a no-op while a stream is open
            self._server.query()
        name = slot.preferred or None
        with portaudio_library.LOCK:  # PortAudio must not be restarted between finding and opening
            try:
                found = slot.find(name, self._server.state)
            except DeviceError:
                if self._server.state is not None:
                    raise
            else:
                slot.open(found, name is not None)
        if not slot.active.is_open:
            # The device may have been plugged in after the other one was opened, which froze the list.
            with self._portaudio_restarted({}):
                slot.open(slot.find(name, self._server.state), name is not None)
        self._server.query()
        slot.start_use(self._server.state)

    def _maintain(self, slot: DeviceSlot, now: float, changed: bool, listed: list[Device] | None) -> None:
        state = self._server.state
        if not slot.active.is_open:
            if changed or listed is not None or now >= slot.retry_at:
                self._reopen(slot, now, listed)
            if slot is self._loudspeaker and not slot.active.is_open and now - slot.lost_at >= UNHEARD_SECONDS:
                self.sink.play_unheard()
        elif state is not None and slot.needs_switch(state, now, GRACE_SECONDS):
            slot.active.close()
            self._reopen(slot, now, listed)

    def _reopen(self, slot: DeviceSlot, now: float, listed: list[Device] | None) -> None:
        slot.retry_at = now + (FIRST_RETRY_SECONDS if slot.tries == 0 else RETRY_SECONDS)
        if self._server.expected:
            slot.tries += 1
            open_best(slot, self._server)
            return
        if slot.was_absent:
            slot.retry_at = now + ABSENT_RETRY_SECONDS
        # PortAudio's list is frozen while the other device is open. Interrupt that one only once per loss, or for a
        # device that is known to be available.
        other_open = any(other.active.is_open for other in self._slots)
        available = any(device.channels(slot.kind) and device not in slot.refused for device in listed or ())
        if other_open and slot.tries > 0 and not available:
            if now - self._listing.started_at >= PORTAUDIO_RETRY_SECONDS:
                self._start_listing()
            open_best(slot, self._server, refused_only=True)  # these are in the old list
            return
        with self._portaudio_restarted({}) as restarted:
            if restarted or now - slot.lost_at > UNLISTED_SECONDS:
                slot.tries += 1
                open_best(slot, self._server, listed_now=restarted)

    # Systems on which PortAudio's list is frozen: Windows, and ALSA without a sound server

    def _start_listing(self) -> None:
        if not self._server.expected and any(slot.active.is_open for slot in self._slots):
            self._listing.start()

    def _apply_list(self, listed: list[Device]) -> None:
        """Switches to devices in a new list that are preferred by the user or are new defaults."""
        causes: dict[DeviceSlot, Cause] = {}
        for slot in self._slots:
            fitting = [device for device in listed if device.channels(slot.kind)]
            slot.forget_refused(fitting, of_server=False)
            if slot.used and slot.active.is_open and self._server.state is None:
                cause = slot.cause_to_switch(fitting)
                if cause is not None:
                    causes[slot] = cause
        if not causes:
            return
        with self._portaudio_restarted(causes) as restarted:
            pass
        for slot in [slot for slot, cause in causes.items() if cause == "chosen" and not restarted]:
            # The user is waiting for this device, and it may be in the old list.
            with contextlib.suppress(DeviceError):
                slot.find(slot.preferred or None, None)
                slot.active.close()
                open_best(slot, self._server, listed_now=False)

    def _has_foreign_streams(self) -> bool:
        """Whether other streams, such as a device test or one that is slow to close, prevent a restart of PortAudio."""
        return portaudio_library.open_streams() > sum(slot.active.is_open for slot in self._slots)

    @contextlib.contextmanager
    def _portaudio_restarted(self, causes: dict[DeviceSlot, Cause]) -> Iterator[bool]:
        """Closes the devices, restarts PortAudio and, after the block, reopens devices. Yields whether it restarted.

        If other streams prevent a restart, closes nothing and schedules a recheck. `causes`: why each slot switches.
        """
        if self._has_foreign_streams():
            self._recheck_at = time.monotonic()
            yield False
            return
        ours = [slot for slot in self._slots if slot.active.is_open]
        for slot in ours:
            slot.cause = causes.get(slot, "slow")
            slot.active.close(wait=None)
        with portaudio_library.LOCK:  # PortAudio must not be restarted again before all are open
            try:
                restarted = portaudio_library.restart()
            except DeviceError:
                restarted = False
            try:
                yield restarted
            finally:
                for slot in ours:
                    open_best(slot, self._server, listed_now=restarted)


@contextlib.contextmanager
def _errors_logged() -> Iterator[None]:
    """Logs and suppresses any error: the session survives a failed tick, and the next one may succeed."""
    try:
        yield
    except Exception:
        _log.exception("looking after the sound devices failed")
