"""A talk's microphone and loudspeaker, whatever comes and goes behind them.

`DeviceManager` gives a source and a sink for the whole talk. One thread, the keeper, opens and closes every device:
it notices those that are lost, takes others, and takes the chosen ones again when they are back. What to open is
decided in `DeviceSlot` (slot.py); reading and writing happen elsewhere and never wait for it. Knows nothing of frames'
contents or of sessions.
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

from app.audio.devices import listing, watch
from app.audio.devices.listing import Device, identity
from app.audio.devices.managed_sink import ManagedSink, ManagedTap
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.messages import Cause
from app.audio.devices.pulse import PulseServer, PulseState
from app.audio.devices.slot import DeviceSlot
from app.audio.devices.watch import DeviceWatch
from app.audio.io import portaudio_library
from app.audio.io.base import Tap
from app.audio.io.errors import DeviceError
from app.audio.io.portaudio_stream import INPUT, OUTPUT
from app.conversation.sound_processing import DeviceNotice

TICK_SECONDS = 0.1
"""How often the keeper looks whether devices still give and take."""

ASK_SECONDS = 0.5
"""How often the sound server is asked without a word from it: for what is muted, and where our streams are."""

FIRST_RETRY_SECONDS, RETRY_SECONDS = 0.5, 1.0
"""Where nothing could be opened: the pause before the next try, and before each one after that."""

GRACE_SECONDS = 0.5
"""A sound server moves streams itself to a new default, or back to what came back. It gets so much time for it."""

SERVER_SECONDS = 20.0
"""A sound server that has been away for so long won't come back: PortAudio's own devices are used from then on."""

PORTAUDIO_RETRY_SECONDS = 10.0
"""How often a frozen list is looked behind though nothing was heard of a change: it takes a child process."""


UNLISTED_SECONDS = 3.0
"""How long a lost device's place stays empty while PortAudio can't be restarted. Then its old list has to do."""


class DeviceManager:
    """Microphone and loudspeaker by name (None or empty: the system's defaults), for as long as a talk lasts.

    Enter `.sink` and `.source`, in any order: opening raises `DeviceError` with a sentence, as `Microphone` does.
    After that nothing is raised; `notices` tells what happens.
    """

    def __init__(self, microphone: str | None, loudspeaker: str | None) -> None:
        self._notices: deque[DeviceNotice] = deque()
        self.source = ManagedSource(lambda: self._enter(self._hears), lambda: self._leave(self._hears))
        self.sink = ManagedSink(lambda: self._enter(self._speaks), lambda: self._leave(self._speaks))
        self._tap = ManagedTap(self.sink)
        self._hears = DeviceSlot(INPUT, microphone or "", self.source, self._notices.append)
        self._speaks = DeviceSlot(OUTPUT, loudspeaker or "", self.sink, self._notices.append)
        self._slots = (self._speaks, self._hears)
        self._requests: queue.SimpleQueue[tuple[Callable[[], None], Future[None]]] = queue.SimpleQueue()
        self._woken = threading.Event()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = False
        # The keeper's own.
        self._server = PulseServer()
        self._through = False
        self._state: PulseState | None = None
        self._had_server = False
        self._asked_at = self._listed_at = self._served_at = 0.0
        self._asked: watch.AskedChild | None = None
        self._look_again_at = math.inf

    @property
    def tap(self) -> Tap:
        """What the loudspeaker really plays."""
        return self._tap

    @property
    def ready(self) -> bool:
        """Whether there is a loudspeaker."""
        return self.sink.ready

    @property
    def muted(self) -> bool:
        """While True the microphone's samples are dropped as they come, and the source gives zeros."""
        return self.source.muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        self.source.muted = muted

    @property
    def overruns(self) -> int:
        """Samples (24 kHz) of microphones that were lost, over all that were in use."""
        return self.source.overruns

    @property
    def underruns(self) -> int:
        """How often talk was interrupted by silence, over all loudspeakers that were in use."""
        return self.sink.underruns

    @property
    def cushion_seconds(self) -> float:
        """How long the first samples of a talk wait on the loudspeaker in use."""
        return self.sink.cushion_seconds

    def notices(self) -> Sequence[DeviceNotice]:
        """What happened since the last call, oldest first. One thread calls."""
        told = []
        while self._notices:
            told.append(self._notices.popleft())
        return told

    def choose(self, microphone: str | None, loudspeaker: str | None) -> None:
        """Goes on with these devices (None or empty: the system's defaults). Any thread may call; never waits."""

        def chosen() -> None:
            both = {self._hears: microphone or "", self._speaks: loudspeaker or ""}
            others = {slot: name for slot, name in both.items() if name != slot.wanted}
            for slot, name in (others or both).items():  # the same ones again: those that couldn't be had are retried
                slot.choose(name)
            self._changed.set()

        self._ask(chosen)

    # Any thread: handing over to the keeper

    def _ask(self, what: Callable[[], None]) -> Future[None]:
        answer: Future[None] = Future()
        self._requests.put((what, answer))
        self._woken.set()
        return answer

    def _enter(self, slot: DeviceSlot) -> None:
        if self._thread is None:
            self._stop = False
            self._thread = threading.Thread(target=self._run, name="audio-keeper", daemon=True)
            self._thread.start()
        try:
            self._ask(lambda: self._begin(slot)).result()
        except BaseException:
            self._join_if_unused()
            raise

    def _leave(self, slot: DeviceSlot) -> None:
        if self._thread is not None:
            self._ask(slot.end_use).result()
            self._join_if_unused()

    def _join_if_unused(self) -> None:
        if self._thread is not None and not any(slot.used for slot in self._slots):
            self._stop = True
            self._woken.set()
            self._thread.join()
            self._thread = None

    # The keeper's thread

    def _run(self) -> None:
        with self._server, DeviceWatch(self._on_change), contextlib.ExitStack() as at_the_end:
            at_the_end.callback(self._stop_asking)
            before = time.monotonic()
            while not self._stop:
                self._answer()
                now = time.monotonic()
                with _logged():
                    self._round(now, now - before)
                before = now
                self._woken.wait(TICK_SECONDS)
                self._woken.clear()
            self._answer()

    def _round(self, now: float, passed: float) -> None:
        changed = self._changed.is_set() or (now >= self._look_again_at and not self._others_are_open())
        self._changed.clear()
        if changed or now - self._asked_at >= ASK_SECONDS:
            self._look()
        if changed:
            self._look_again_at = math.inf
        used = [slot for slot in self._slots if slot.used]
        for slot in used:
            with _logged():
                slot.check(self._state, passed)
        listed = None
        with _logged():
            listed = self._look_behind(changed)
            if listed is not None:
                self._take(listed)
        for slot in used:
            with _logged():
                self._mind(slot, now, changed, listed)
            if self._asked is None or slot.cause != "chosen":  # or else what was chosen may be found yet
                with _logged():
                    slot.tell(now, self._state)

    def _look(self) -> None:
        """Asks the sound server, if there is one that PortAudio can reach."""
        now = self._asked_at = time.monotonic()
        state = self._server.look()
        if state is not None and not self._through:
            with contextlib.suppress(DeviceError):  # PortAudio isn't there at the moment
                self._through = listing.through_pulse(listing.own_devices()) is not None
        self._state = state if self._through else None
        if self._state is not None:
            self._had_server, self._served_at = True, now
        elif now - self._served_at > SERVER_SECONDS:
            self._had_server = False

    def _on_change(self) -> None:
        self._changed.set()
        self._woken.set()

    def _answer(self) -> None:
        while not self._requests.empty():
            what, answer = self._requests.get()
            try:
                what()
            except BaseException as error:
                answer.set_exception(error)
            else:
                answer.set_result(None)

    def _begin(self, slot: DeviceSlot) -> None:
        """The first opening: the chosen device or none."""
        self._look()
        if self._state is None:
            portaudio_library.restart()  # PortAudio's list may be as old as the app; nothing is done while a stream is open
            self._look()
        name = slot.wanted or None
        with portaudio_library.LOCK:  # or another thread restarts PortAudio between finding and opening
            try:
                found = slot.find(name, self._state)
            except DeviceError:
                if self._state is not None:
                    raise
            else:
                slot.open(found, name is not None)
        if not slot.is_open:
            # It came after the other one was opened: look behind the frozen list.
            with self._restarted({}):
                slot.open(slot.find(name, self._state), name is not None)
        self._look()
        slot.begin_use(self._state)

    def _mind(self, slot: DeviceSlot, now: float, changed: bool, listed: list[Device] | None) -> None:
        if not slot.is_open:
            if changed or listed is not None or now >= slot.retry_at:
                self._reopen(slot, now, listed)
        elif self._state is not None and slot.follow(self._state, now, GRACE_SECONDS):
            slot.close()
            self._reopen(slot, now, listed)

    def _reopen(self, slot: DeviceSlot, now: float, listed: list[Device] | None) -> None:
        slot.retry_at = now + (FIRST_RETRY_SECONDS if slot.tries == 0 else RETRY_SECONDS)
        if self._state is not None or self._had_server:
            slot.tries += 1
            self._open_any(slot)
            return
        # What is there is behind PortAudio's frozen list. The other device is interrupted only for one's loss, or for
        # something that can be had.
        others = any(other.is_open for other in self._slots)
        if others and slot.tries > 0 and not any(slot.fits(d) and not slot.was_refused(d) for d in listed or ()):
            if now - self._listed_at >= PORTAUDIO_RETRY_SECONDS:
                self._look_behind(again=True)
            self._open_any(slot, refused_only=True)  # those are in the list that there is
            return
        with self._restarted({}) as restarted:
            if restarted or now - slot.lost_at > UNLISTED_SECONDS:
                slot.tries += 1
                self._open_any(slot, listed_now=restarted)

    def _open_any(self, slot: DeviceSlot, listed_now: bool = True, refused_only: bool = False) -> None:
        """Opens the chosen device, else the default, else any, else one that was refused before, else none.

        Without `listed_now` the list of devices is an old one: what can't be opened may simply not be there.
        """
        if self._state is None and self._had_server:
            return  # a sound server that is being restarted must find its hardware free
        with portaudio_library.LOCK:  # or another thread restarts PortAudio between finding and opening
            found: dict[str, tuple[Device, bool]] = {}
            for candidate in self._candidates(slot):
                found.setdefault(identity(candidate[0]), candidate)
            for device, by_name in sorted(found.values(), key=lambda one: slot.was_refused(one[0])):
                if slot.was_refused(device):
                    if time.monotonic() < slot.refused_retry_at:
                        continue
                elif refused_only:
                    continue
                try:
                    slot.open(device, by_name)
                except DeviceError as error:
                    self._look()
                    away = isinstance(error, portaudio_library.DeviceGone) or not listed_now
                    if self._state is not None and device.pulse_name:
                        away = not slot.is_there(device, self._state)
                    if not away:
                        slot.refused(device, str(error))
                    continue
                self._look()
                slot.opened(self._state)
                return

    def _candidates(self, slot: DeviceSlot) -> Iterator[tuple[Device, bool]]:
        if slot.wanted:
            with contextlib.suppress(DeviceError):
                yield slot.find(slot.wanted, self._state), True
        with contextlib.suppress(DeviceError):
            yield slot.find(None, self._state), False
        with contextlib.suppress(DeviceError):
            for device in listing.list_devices(self._state):
                if slot.fits(device):
                    yield device, True

    # Where PortAudio's list is frozen: Windows, and ALSA without a sound server

    def _look_behind(self, again: bool) -> list[Device] | None:
        """What a child process has found, once it has; `again`: it is to look anew."""
        if again and self._state is None and not self._had_server and any(slot.is_open for slot in self._slots):
            self._stop_asking()
            self._listed_at = time.monotonic()
            with contextlib.suppress(DeviceError):
                self._asked = watch.AskedChild()
        if self._asked is None:
            return None
        try:
            listed = self._asked.poll()
        except DeviceError:
            self._stop_asking()
            return None
        if listed is not None:
            self._stop_asking()
        return listed

    def _stop_asking(self) -> None:
        child, self._asked = self._asked, None
        if child is not None:
            child.stop()

    def _take(self, listed: list[Device]) -> None:
        """Something came or went, or is the default now: opens what of it is wanted."""
        causes: dict[DeviceSlot, Cause] = {}
        for slot in self._slots:
            fitting = [device for device in listed if slot.fits(device)]
            slot.forget_refused(fitting, of_server=False)
            if slot.used and slot.is_open and self._state is None and (cause := slot.wants_of(fitting)):
                causes[slot] = cause
        if causes:
            with self._restarted(causes) as restarted:
                pass
            for slot in [slot for slot, cause in causes.items() if cause == "chosen" and not restarted]:
                # The user waits for it, and the old list may have it.
                with contextlib.suppress(DeviceError):
                    slot.find(slot.wanted or None, None)
                    slot.close()
                    self._open_any(slot, listed_now=False)

    def _others_are_open(self) -> bool:
        """Whether PortAudio can't be restarted whatever we close: a device is being tried out, or closes slowly."""
        return portaudio_library.open_streams() > sum(slot.is_open for slot in self._slots)

    @contextlib.contextmanager
    def _restarted(self, causes: dict[DeviceSlot, Cause]) -> Iterator[bool]:
        """Closes the devices, restarts PortAudio, and opens them again after the block; gives whether it was restarted.

        Where it can't be, nothing is closed, and we look again later. `causes`: why another device is to be opened.
        """
        if self._others_are_open():
            self._look_again_at = time.monotonic()
            yield False
            return
        ours = [slot for slot in self._slots if slot.is_open]
        for slot in ours:
            slot.cause = causes.get(slot, "slow")
            slot.close(wait=None)
        with portaudio_library.LOCK:  # or another thread restarts it once more before all are open again
            try:
                restarted = portaudio_library.restart()
            except DeviceError:
                restarted = False
            try:
                yield restarted
            finally:
                for slot in ours:
                    self._open_any(slot, listed_now=restarted)


_log = logging.getLogger(__name__)


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """A talk goes on without its keeper's help, and the next round may do better."""
    try:
        yield
    except Exception:
        _log.exception("looking after the sound devices failed")
