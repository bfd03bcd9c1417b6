"""Microphone and Loudspeaker on a real sound server, with virtual devices of the test's own. PortAudio reads its
environment when it is initialised, so each check runs in a child process. The signal is noise, exact in 16 bits: any
lost, repeated or changed sample is visible."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from tests.support.child import SAY, Child
from tests.support.matching import best_match
from tests.support.patience import alone, in_real_time
from tests.support.tables import cases
from tests.support.virtual_audio import RATE, VirtualAudio, virtual_audio

SECONDS = 3
PRELUDE = (
    SAY
    + """
import time
import numpy as np
from app.audio.devices import list_process, listing, portaudio_stream
from app.audio.devices.listing import find_device, list_devices, own_devices
from app.audio.io.base import AudioError, DeviceError
from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.devices.microphone import Microphone
"""
)
CAPTURE = """
with Microphone("kame_mic") as mic:
    say(ready=True)
    frames, late = [], 0
    while len(frames) < 55:
        frame = mic.read_frame(0.5)
        if frame is None:
            late += 1
        else:
            frames.append(frame)
    np.save(sys.argv[1], np.concatenate(frames))
    say(late=late, overruns=mic.overruns, backlog=mic.backlog)
"""
PLAY = """
samples = np.load(sys.argv[1])
with Loudspeaker("kame_speaker") as speaker:
    start = time.perf_counter()
    for number, at in enumerate(range(0, samples.size, 1920)):
        time.sleep(max(0.0, start + number * 0.08 - time.perf_counter()))
        speaker.write(samples[at : at + 1920])
    speaker.write(samples[:0])
    while speaker.queued:
        time.sleep(0.01)
    say(underruns=speaker.underruns, overruns=speaker.overruns, played=speaker.played, written=speaker.written)
"""
OWN_FORMAT = """
portaudio_stream.formats = lambda kind, device, stereo: [(48000, 2)]
"""


@pytest.fixture(params=[24_000, 48_000])
def audio(request: pytest.FixtureRequest) -> Iterator[VirtualAudio]:
    with virtual_audio(rate=request.param) as audio:
        yield audio


@pytest.fixture
def exact_audio() -> Iterator[VirtualAudio]:
    with virtual_audio() as audio:
        yield audio


def run_script(audio: VirtualAudio, script: str, *arguments: object) -> Child:
    return Child(PRELUDE + script, *arguments, env=audio.env)


@pytest.fixture
def signal() -> np.ndarray:
    """Low-passed noise of 3 s, int16, with silence of 50 ms at both ends: float32."""
    noise = np.random.default_rng(11).normal(0, 0.1, RATE * SECONDS)
    smooth = soxr.resample(soxr.resample(noise, RATE, 8_000), 8_000, RATE)
    smooth[:1_200] = smooth[-1_200:] = 0
    return (np.rint(np.clip(smooth, -0.9, 0.9) * 32_768) / 32_768).astype(np.float32)


def check_match(captured: np.ndarray, signal: np.ndarray, exact: bool) -> None:
    correlation, difference = best_match(captured, signal)
    print(f"correlation {correlation:.6f}, largest difference {difference:.6f}")
    if exact:
        assert difference == 0.0
    else:
        # Resampling shifts by a fraction of a sample; the signal ends at 4 kHz, where that matters little.
        assert correlation > 0.999


@alone
@cases(
    "audio, device_format",
    pytest.param(24_000, "", id="24 kHz mono"),
    pytest.param(48_000, OWN_FORMAT, id="its own format", marks=pytest.mark.slow),
    indirect=["audio"],
)
@in_real_time
def test_microphone(audio: VirtualAudio, signal: np.ndarray, tmp_path: Path, device_format: str) -> None:
    sent, captured = tmp_path / "sent.wav", tmp_path / "captured.npy"
    soundfile.write(sent, signal, RATE, subtype="PCM_16")
    with run_script(audio, device_format + CAPTURE, captured) as child:
        assert child.hears()["ready"]
        audio.play_into_microphone(sent)
        assert child.hears() == {"late": 0, "overruns": 0, "backlog": 0}
        assert not child.end()
    check_match(np.load(captured), signal, exact=audio.rate == RATE and not device_format)


UNDERRUN = """
from app.audio.devices import portaudio_library
stream = portaudio_library.load().OutputStream(samplerate=24000, channels=1, latency="low")
with stream:
    for _ in range(3):
        while not stream.write(np.zeros((240, 1), np.float32)):
            if stream.write_available < 240:
                time.sleep(1.0)
                break
say(done=True)
"""


@in_real_time
def test_nothing_is_printed_where_the_sound_runs_dry(exact_audio: VirtualAudio) -> None:
    with run_script(exact_audio, UNDERRUN) as child:
        assert child.hears()["done"]
        assert not child.end()


@alone
@cases(
    "audio, device_format",
    pytest.param(24_000, "", id="24 kHz mono", marks=pytest.mark.slow),
    pytest.param(48_000, OWN_FORMAT, id="its own format"),
    indirect=["audio"],
)
@in_real_time
def test_loudspeaker(audio: VirtualAudio, signal: np.ndarray, tmp_path: Path, device_format: str) -> None:
    sent, captured = tmp_path / "sent.npy", tmp_path / "captured.wav"
    np.save(sent, signal)
    with audio.record_loudspeaker(captured), run_script(audio, device_format + PLAY, sent) as child:
        count = signal.size
        assert child.hears() == {"underruns": 0, "overruns": 0, "played": count, "written": count}
        assert not child.end()
        time.sleep(0.2)
    check_match(soundfile.read(captured, dtype="float32")[0], signal, exact=audio.rate == RATE and not device_format)


@pytest.mark.slow
@alone
@in_real_time
def test_flush_silences_within_60_ms(exact_audio: VirtualAudio, tmp_path: Path) -> None:
    script = """
with Loudspeaker("kame_speaker") as speaker:
    speaker.write(np.full(24000 * 5, 0.25, np.float32))
    sys.stdin.readline()
    at = time.perf_counter()
    count = speaker.flush()
    took = time.perf_counter() - at
    time.sleep(0.3)
    say(at=at, took=took, count=count, played=speaker.played, queued=speaker.queued, flushed=speaker.flushed)
"""
    with (
        exact_audio.record_loudspeaker(tmp_path / "captured.wav") as recording,
        run_script(exact_audio, script) as child,
    ):
        while not recording.samples.any():
            time.sleep(0.01)
        time.sleep(0.5)
        child.tell()
        facts = child.hears()
    sounding = np.flatnonzero(recording.samples)
    silent_at = recording.started_at + (sounding[-1] + 1) / RATE
    delay_ms, took_ms = 1000 * (silent_at - facts["at"]), 1000 * facts["took"]
    print(f"silent {delay_ms:.1f} ms after the flush, which took {took_ms:.2f} ms")
    assert silent_at - facts["at"] < 0.06
    assert facts["took"] < 0.005
    assert facts["played"] + facts["flushed"] == RATE * 5 and facts["queued"] == 0
    assert 0 <= facts["count"] - facts["flushed"] <= 480
    assert abs(sounding.size - facts["played"]) <= 1_920  # what counts as played was recorded, but for a buffer


UNTIL_GONE = """
try:
    with {end}("{name}") as end:
        say(ready=True)
        while True:
            {step}
            sys.stdout.flush()
            time.sleep(0.02)
except DeviceError as error:
    say(error=str(error), left=time.perf_counter())
"""
READ = UNTIL_GONE.format(end="Microphone", name="kame_mic", step="end.read_frame(0.2)")
WRITE = UNTIL_GONE.format(end="Loudspeaker", name="kame_speaker", step="end.write(np.zeros(480, np.float32))")


@pytest.mark.slow
@alone
@pytest.mark.parametrize(("script", "kind"), [(READ, "microphone “kame_mic”"), (WRITE, "loudspeaker “kame_speaker”")])
def test_server_killed(exact_audio: VirtualAudio, script: str, kind: str) -> None:
    with run_script(exact_audio, script) as child:
        child.hears()
        time.sleep(0.3)
        killed = time.perf_counter()
        exact_audio.kill()
        facts = child.hears()
        child.end()
    print(f"noticed and closed after {facts['left'] - killed:.2f} s")
    assert f"The {kind} is gone" in facts["error"]
    assert facts["left"] - killed < 5


def test_last_source_unloaded(exact_audio: VirtualAudio) -> None:
    # As long as another source is left, the server moves the stream to it.
    with run_script(exact_audio, READ) as child:
        child.hears()
        time.sleep(0.3)
        exact_audio.control("unload-module", "module-remap-source")
        exact_audio.control("unload-module", "module-null-sink")
        assert "is gone" in child.hears()["error"]
        child.end()


OPEN = """
try:
    with {end}:
        say(error="")
except DeviceError as error:
    say(error=str(error))
"""


def test_a_name_without_a_microphone_behind_it() -> None:
    with virtual_audio(devices=False) as audio:
        config = Path(audio.env["ALSA_CONFIG_PATH"])
        config.write_text("</usr/share/alsa/alsa.conf>\npcm.!default { type pulse }\n")
        with run_script(audio, OPEN.format(end="Microphone()")) as child:
            assert "No microphone was found" in child.hears()["error"]
            assert not child.end()


def test_no_server(exact_audio: VirtualAudio) -> None:
    exact_audio.kill()
    with run_script(exact_audio, OPEN.format(end="Microphone('kame_mic')")) as child:
        assert "microphone" in child.hears()["error"]
        assert not child.end()


def test_list_of_devices(exact_audio: VirtualAudio) -> None:
    exact_audio.env.pop("ALSA_CONFIG_PATH")  # the system's own, which names cards that may not exist
    exact_audio.add_loudspeaker("twin", description="KAME-Speaker")
    with run_script(exact_audio, "say(names=[device.name for device in list_devices()])") as child:
        # The server's devices by the names that users know, numbered, and none of ALSA's plugins.
        assert sorted(child.hears()["names"]) == ["KAME-Mic", "KAME-Mic-Feed", "KAME-Speaker", "KAME-Speaker (2)"]
        assert not child.end()


def test_new_device_is_found(exact_audio: VirtualAudio) -> None:
    config = Path(exact_audio.env["ALSA_CONFIG_PATH"])
    whole = config.read_text()
    config.write_text(whole.replace("pcm.kame_mic ", "pcm.other "))
    script = """
say(names=[device.name for device in own_devices()])
sys.stdin.readline()
with Microphone("kame_mic") as mic:
    say(frame=mic.read_frame(1.0) is not None)
"""
    with run_script(exact_audio, script) as child:
        assert "kame_mic" not in child.hears()["names"]
        config.write_text(whole)
        child.tell()
        assert child.hears()["frame"]
        assert not child.end()


def test_list_while_a_stream_is_open(exact_audio: VirtualAudio) -> None:
    script = """
from app.audio.devices.list_process import list_current_devices
from app.audio.devices.watch import DeviceWatch
import threading
changed = threading.Event()
with DeviceWatch(changed.set), Microphone("KAME-Mic") as mic:
    say(names=[device.name for device in list_current_devices()])
    changed.clear()
    sys.stdin.readline()
    seen = changed.wait(5)
    names = [device.name for device in list_current_devices()]
    say(changed=seen, names=names, hears=mic.read_frame(1.0) is not None)
    changed.clear()
    sys.stdin.readline()
    say(changed=changed.wait(5))
"""
    with run_script(exact_audio, script) as child:
        assert "New box" not in child.hears()["names"]
        exact_audio.add_loudspeaker("new", description="New box")
        child.tell()
        facts = child.hears()
        assert facts["changed"] and facts["hears"] and "New box" in facts["names"]
        exact_audio.kill()
        child.tell()
        assert child.hears()["changed"]
        child.end()


@pytest.mark.slow
def test_child_process_lists_devices_while_portaudio_is_frozen(exact_audio: VirtualAudio) -> None:
    script = """
listing.pulse_gateway = lambda own: None  # as if PortAudio couldn't reach the sound server
with Microphone("kame_mic") as mic:
    devices = list_process.list_current_devices()
    say(names=[device.name for device in devices], index=[device.index for device in devices])
"""
    with run_script(exact_audio, script) as child:
        facts = child.hears()
        assert "KAME-Speaker" in facts["names"] and set(facts["index"]) == {-1}
        assert not child.end()
