"""Fixtures: a stand-in for PortAudio with a microphone and a loudspeaker, and a rig of devices that can be plugged."""

from collections.abc import Iterator

import pytest

from app.audio.devices import loudspeaker, portaudio_library, portaudio_stream
from tests.unit.audio.audio_rig import AudioRig
from tests.unit.audio.fake_sounddevice import FakeSoundDevice


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeSoundDevice:
    fake = FakeSoundDevice(("Mic", "ALSA", 2, 0, 48_000), ("Speaker", "ALSA", 0, 2, 44_100), default=(0, 1))
    monkeypatch.setattr(portaudio_library, "load", lambda: fake)
    # Blocks of a quarter of a frame, and a wait of two blocks before speech, whatever the measurements say is best.
    monkeypatch.setattr(portaudio_stream, "BLOCK_SECONDS", 0.02)
    monkeypatch.setattr(loudspeaker, "PREBUFFER_SECONDS", 0.04)
    monkeypatch.setattr(loudspeaker, "_prebuffer_seconds", {})
    return fake


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[AudioRig]:
    rig = AudioRig(monkeypatch)
    yield rig
    rig.stop()
