"""A device slot on a sound server's devices: which device it is on, and which one it should be on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.audio.devices import portaudio_library
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.pulse import PulseDevice, PulseState, PulseStream
from app.audio.devices.slot import DeviceSlot
from tests.unit.audio.fake_sounddevice import FakeSoundDevice


def server(*names: str) -> PulseState:
    devices = [
        PulseDevice("microphone", name.lower(), name, 48_000, 1, False, False, not number, "ABC".index(name))
        for number, name in enumerate(names)
    ]
    return PulseState(tuple(devices), ())


def with_streams(state: PulseState, slot: DeviceSlot, device: int, *others: PulseStream) -> PulseState:
    """With the slot's stream on a device, and other streams of this process."""
    assert slot.active._opened is not None
    return PulseState(state.devices, (PulseStream("microphone", 7, device, slot.active._opened.tag), *others))


@pytest.fixture
def slot(monkeypatch: pytest.MonkeyPatch) -> Iterator[DeviceSlot]:
    """On the device A, which the user chose, of A, B and C."""
    fake = FakeSoundDevice(("pulse", "ALSA", 32, 32))
    monkeypatch.setattr(portaudio_library, "load", lambda: fake)
    slot = DeviceSlot("microphone", "A", ManagedSource(lambda: None, lambda: None), [].append)
    state = server("A", "B", "C")
    slot.open(slot.find("A", state), True)
    slot.start_use(with_streams(state, slot, 0))
    yield slot
    slot.active.close()


def test_another_stream_of_this_process_is_no_move(slot: DeviceSlot) -> None:
    state = with_streams(server("A", "B"), slot, 0, PulseStream("microphone", 8, 1, "another"))
    slot.check(state, 0.1)
    assert not slot.needs_switch(state, 1.0, 0.0) and slot.active.name == "A"


def test_a_move_in_the_systems_settings_lasts_as_long_as_its_device(slot: DeviceSlot) -> None:
    moved = with_streams(server("A", "B", "C"), slot, 1)
    assert not slot.needs_switch(moved, 1.0, 0.0) and (slot.active.name, slot.cause) == ("B", "mixer")
    assert not slot.needs_switch(moved, 2.0, 0.0)
    assert slot.needs_switch(with_streams(server("A", "C"), slot, 2), 3.0, 0.0)  # back to the chosen one
