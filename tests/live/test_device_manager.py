"""Devices that come and go during a session, on a real sound server. A child process reads frames, writes a tone of 440
Hz and reports its state. Each microphone delivers a tone of its own, so that the frames tell which one it is."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests.support.child import SAY, Child
from tests.support.patience import in_real_time
from tests.support.virtual_audio import RATE, VirtualAudio, virtual_audio

pytestmark = pytest.mark.alone
VOICE = 440
PATIENCE_SECONDS = 6.0
SCRIPT = (
    SAY
    + """
import threading, time
import numpy as np
from app.audio.devices.manager import DeviceManager

microphone, loudspeaker, required = json.loads(sys.argv[1])
manager = DeviceManager(microphone, loudspeaker, required=required)
leave = threading.Event()

def listen():
    for line in sys.stdin:
        command = json.loads(line)
        if "choose" in command:
            manager.choose(*command["choose"])
        if "muted" in command:
            manager.source.muted = command["muted"]
    leave.set()

def pitch(samples):
    if not samples.size or np.abs(samples).max() < 1e-3:
        return 0
    return int(np.abs(np.fft.rfft(samples * np.hanning(samples.size))).argmax() * 24000 / samples.size)

threading.Thread(target=listen, daemon=True).start()
with manager.sink as sink, manager.source as source:
    frames, recent, longest, notices, tapped = 0, [], 0.0, [], 0
    at = begun = time.monotonic()
    while not leave.is_set():
        frame = source.read_frame(0.2)
        notices += [[n.kind, n.change, n.name, n.sentence] for n in manager.notices()]
        if frame is None:
            continue
        frames += 1
        at, before = time.monotonic(), at
        longest = max(longest, at - before)
        recent = [*recent, frame][-3:]
        time_axis = (np.arange(1920) + frames * 1920) / 24000
        sink.write((0.3 * np.sin(2 * np.pi * 440 * time_axis)).astype(np.float32))
        took = manager.tap.take()
        tapped += took.size
        if frames % 2 == 0:
            where = sink.playback()
            say(
                at=at - begun, frames=frames, longest=longest, tone=pitch(np.concatenate(recent)),
                loudest=float(np.abs(np.concatenate(recent)).max()),
                microphone=source.name, loudspeaker=sink.name, ready=sink.ready, generation=source.generation,
                tap_generation=manager.tap.generation, tapped=tapped / manager.tap.rate, tap_plays=pitch(took),
                accounted=where.written == where.played + where.queued + where.flushed + where.overruns,
                played=where.played, queued=where.queued, underruns=sink.underruns, overruns=source.overruns,
                prebuffer=sink.prebuffer_seconds, notices=notices,
            )
say(left=sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("audio")))
"""
)


class Session(Child):
    """The child process."""

    def __init__(self, audio: VirtualAudio, microphone: str, loudspeaker: str, *, required: bool = True) -> None:
        settings = json.dumps([microphone, loudspeaker, required])
        super().__init__(SCRIPT, settings, env=audio.env, patience=PATIENCE_SECONDS)
        self.all: list[dict] = []

    @property
    def now(self) -> dict:
        while (line := self.line()) is not None:
            self.all.append(json.loads(line))
        return self.all[-1] if self.all else {}

    @property
    def notified(self) -> list[tuple[str, str, str]]:
        """(kind, change, name) of all notices so far."""
        return [tuple(notice[:3]) for notice in self.now["notices"]]

    def until(self, reached: Callable[[dict], bool], what: str) -> dict:
        self.wait(lambda: bool(self.now) and reached(self.now), lambda: f"{what}; last: {self.now}")
        return self.now

    def until_it_captures(self, tone: int) -> dict:
        return self.until(lambda now: abs(now["tone"] - tone) < 15, f"captured {tone} Hz")

    def until_notified(self, *notices: tuple[str, str, str]) -> None:
        """Waits until these, in any order, are all notices so far."""
        self.until(lambda now: sorted(self.notified) == sorted(notices), f"reported {notices}")

    def command(self, **command: object) -> None:
        self.tell(json.dumps(command))

    def finish(self) -> None:
        assert self.leave(10) == 0, self.complaints
        assert "Traceback" not in self.complaints, self.complaints
        self.wait(lambda: self.now == {"left": []}, lambda: f"no thread of ours stays; last: {self.now}")
        said = self.all[:-1]
        first, last = said[0], said[-1]
        behind = (last["at"] - first["at"]) / 0.08 - (last["frames"] - first["frames"])
        print(f"{last['at']:.1f} s, {behind:+.2f} frames behind, longest pause {last['longest']:.3f} s")
        assert abs(behind) < 2.5
        assert last["longest"] < 0.6
        assert all(now["accounted"] for now in said)
        played = [now["played"] for now in said]
        assert played == sorted(played)

    def sentences(self, now: dict) -> list[str]:
        return [notice[3] for notice in now["notices"]]


@contextlib.contextmanager
def session(
    audio: VirtualAudio, microphone: str = "", loudspeaker: str = "", *, required: bool = True
) -> Iterator[Session]:
    with Session(audio, microphone, loudspeaker, required=required) as child:
        yield child
        child.finish()


def sounds(audio: VirtualAudio, loudspeaker: str) -> bool:
    heard = audio.heard_from(loudspeaker).astype(np.float32)
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(heard.size)))
    return bool(np.abs(heard).max() > 3_000 and abs(spectrum.argmax() * RATE / heard.size - VOICE) < 15)


@contextlib.contextmanager
def server() -> Iterator[VirtualAudio]:
    """A server with the silent `kame_mic`, and with a headset and a box as defaults."""
    with virtual_audio() as audio:
        audio.add_loudspeaker("box", description="USB box")
        audio.add_microphone("headset", 1_000, description="USB headset")
        audio.set_defaults("headset", "box")
        yield audio


@pytest.mark.slow
@in_real_time
def test_defaults_go_come_back_and_change() -> None:
    with server() as audio, session(audio) as child:
        before = child.until_it_captures(1_000)
        assert (before["microphone"], before["loudspeaker"]) == ("USB headset", "USB box")
        assert sounds(audio, "box")
        audio.remove("headset")
        child.until_notified(("microphone", "moved", "KAME-Mic"))
        assert "“USB headset” is gone. The conversation continues with “KAME-Mic”" in child.sentences(child.now)[-1]
        audio.remove("box")
        # The server takes either of two equals.
        child.until(lambda now: len(now["notices"]) == 2, "reported: the loudspeaker")
        places = {"KAME-Speaker": "kame_speaker", "KAME-Mic-Feed": "kame_mic_in"}
        assert child.notified[1][:2] == ("loudspeaker", "moved")
        assert "“USB box” is gone" in child.sentences(child.now)[-1]
        assert sounds(audio, places[child.notified[1][2]])
        audio.add_microphone("other", 1_300, description="Other mic")
        audio.add_loudspeaker("horn", description="Horn")
        audio.set_defaults("other", "horn")
        child.until_it_captures(1_300)
        child.until(lambda now: len(now["notices"]) == 4, "four notices")
        assert sorted(child.notified[2:]) == [("loudspeaker", "moved", "Horn"), ("microphone", "moved", "Other mic")]
        assert all(sentence.startswith("The system's ") for sentence in child.sentences(child.now)[2:])
        assert sounds(audio, "horn")
        assert child.now["generation"] > before["generation"]
        assert child.now["tap_generation"] > before["tap_generation"]


@pytest.mark.slow
@in_real_time
def test_chosen_devices_go_and_come_back_in_other_forms() -> None:
    with server() as audio, session(audio, "USB headset", "USB box") as child:
        audio.set_defaults("kame_mic", "kame_speaker")
        before = child.until_it_captures(1_000)
        assert sounds(audio, "box") and not sounds(audio, "kame_speaker")
        audio.remove("headset")
        audio.remove("box")
        gone = [("microphone", "moved", "KAME-Mic"), ("loudspeaker", "moved", "KAME-Speaker")]
        child.until_notified(*gone)
        assert all("yours is taken again when it is back" in sentence for sentence in child.sentences(child.now))
        assert sounds(audio, "kame_speaker")
        # The other way round, and at other rates: other indexes, other streams.
        audio.add_microphone("headset_call", 1_300, rate=16_000, description="USB headset")
        audio.add_loudspeaker("box_again", rate=48_000, description="USB box")
        child.until_it_captures(1_300)
        back = [("loudspeaker", "back", "USB box"), ("microphone", "back", "USB headset")]
        child.until_notified(*gone, *back, ("microphone", "note", "USB headset"))
        assert "16 kHz" in child.sentences(child.now)[-1]
        assert sounds(audio, "box_again") and not sounds(audio, "kame_speaker")
        audio.control("set-source-mute", "headset_call", "1")
        child.until(lambda now: "is muted in the system" in now["notices"][-1][3], "reported: the mute")
        audio.control("set-source-mute", "headset_call", "0")
        child.until(lambda now: "no longer muted" in now["notices"][-1][3], "reported: its end")
        assert len(child.notified) == 7
        assert child.now["generation"] >= before["generation"] + 2


@in_real_time
def test_server_dies_and_returns() -> None:
    with server() as audio, session(audio) as child:
        child.until_it_captures(1_000)
        audio.kill()
        child.until_notified(("microphone", "lost", ""), ("loudspeaker", "lost", ""))
        assert not child.now["ready"] and child.now["tone"] == 0
        silent = child.now
        time.sleep(0.5)
        assert child.now["frames"] - silent["frames"] >= 4  # silence goes on
        audio.restart()
        audio.add_microphone("headset", 1_000, description="USB headset")
        audio.set_defaults("headset")
        child.until_it_captures(1_000)
        assert child.until(lambda now: now["ready"], "a loudspeaker")["loudspeaker"] == "KAME-Speaker"
        assert sounds(audio, "kame_speaker")
        child.until(lambda now: len(now["notices"]) > 3, "reported: the return")
        assert {("loudspeaker", "moved", "KAME-Speaker")} <= set(child.notified)
        assert len(child.notified) <= 5


@pytest.mark.slow
@in_real_time
def test_no_device_is_left_and_a_new_one_comes() -> None:
    with server() as audio, session(audio, "USB headset", "USB box") as child:
        child.until_it_captures(1_000)
        audio.remove("headset")
        audio.remove("box")
        audio.control("unload-module", "module-remap-source")
        audio.control("unload-module", "module-null-sink")
        child.until_notified(("microphone", "lost", ""), ("loudspeaker", "lost", ""))
        assert not child.now["ready"]
        quiet = child.now
        child.until(lambda now: now["frames"] > quiet["frames"] + 5, "frames of silence")
        assert child.now["tone"] == 0 and child.now["queued"] == 0
        audio.add_loudspeaker("horn", description="Horn")
        audio.add_microphone("other", 1_300, description="Other mic")
        audio.set_defaults("other", "horn")
        child.until_it_captures(1_300)
        child.until(lambda now: now["ready"] and now["loudspeaker"] == "Horn", "the new loudspeaker")
        assert sounds(audio, "horn")
        child.until(lambda now: ["microphone", "moved", "Other mic"] in [n[:3] for n in now["notices"]], "reported: it")


@pytest.mark.slow
@in_real_time
def test_it_begins_without_devices_and_takes_those_that_come() -> None:
    with virtual_audio() as audio:
        audio.control("unload-module", "module-remap-source")
        audio.control("unload-module", "module-null-sink")
        with session(audio, required=False) as child:
            child.until_notified(("microphone", "absent", ""), ("loudspeaker", "absent", ""))
            assert all("KAME notices one that you plug in" in sentence for sentence in child.sentences(child.now))
            begun = child.until(lambda now: now["ready"] and now["tone"] == 0, "silence, and a stand-in to speak to")
            child.until(lambda now: now["frames"] >= begun["frames"] + 12, "frames of silence")
            assert child.now["played"] > begun["played"] and child.now["queued"] < 5_000
            audio.add_microphone("headset", 1_000, description="USB headset")
            child.until_it_captures(1_000)
            audio.add_loudspeaker("box", description="USB box")
            audio.set_defaults("headset", "box")
            child.until(lambda now: now["loudspeaker"] == "USB box", "the loudspeaker")
            assert sounds(audio, "box")
            child.until(lambda now: len(now["notices"]) >= 4, "reported: both")
            assert {("microphone", "back", "USB headset")} <= set(child.notified)


@pytest.mark.slow
@in_real_time
def test_choosing_muting_and_suspending_live() -> None:
    with server() as audio, session(audio) as child:
        audio.add_microphone("other", 1_300, description="Other mic")
        child.until_it_captures(1_000)
        begun = child.now
        child.until(lambda now: now["at"] > begun["at"] + 1.0, "a second")
        # The tap gives what is played, at the loudspeaker's own pace.
        assert child.now["tap_plays"] == pytest.approx(VOICE, abs=20)
        assert child.now["tapped"] - begun["tapped"] == pytest.approx(child.now["at"] - begun["at"], abs=0.1)
        assert child.now["tap_generation"] == begun["tap_generation"]
        child.command(choose=["Other mic", "KAME-Speaker"])
        child.until_it_captures(1_300)
        child.until_notified(("microphone", "moved", "Other mic"), ("loudspeaker", "moved", "KAME-Speaker"))
        assert sounds(audio, "kame_speaker") and not sounds(audio, "box")
        child.command(choose=["Nowhere mic", "KAME-Speaker"])
        child.until_it_captures(1_000)
        child.until(lambda now: len(now["notices"]) == 3, "reported that it isn't there")
        assert "“Nowhere mic” isn't there" in child.sentences(child.now)[-1]
        audio.add_call_microphone("call", description="Call headset")
        child.command(choose=["Call headset", "KAME-Speaker"])
        child.until(lambda now: len(now["notices"]) == 5, "reported: the change, and of its quality")
        assert child.notified[3] == ("microphone", "moved", "Call headset")
        assert "16 kHz" in child.sentences(child.now)[-1]
        child.command(choose=["", "KAME-Speaker"])
        child.until_notified(*child.notified[:5], ("microphone", "moved", "USB headset"))
        child.until_it_captures(1_000)
        child.command(muted=True)
        child.until(lambda now: now["loudest"] == 0.0, "muted")
        child.command(muted=False)
        child.until_it_captures(1_000)
        audio.control("suspend-source", "headset", "1")
        audio.control("suspend-sink", "kame_speaker", "1")
        child.until(lambda now: now["loudest"] == 0.0 and not now["ready"], "silence while suspended")
        audio.control("suspend-source", "headset", "0")
        audio.control("suspend-sink", "kame_speaker", "0")
        child.until_it_captures(1_000)
        child.until(lambda now: now["ready"], "a loudspeaker again")
        assert sounds(audio, "kame_speaker")
        assert len(child.notified) == 6  # so short a pause isn't reported
        audio.control("suspend-source", "headset", "1")
        audio.control("suspend-sink", "kame_speaker", "1")
        child.until(lambda now: len(now["notices"]) == 8, "reported: both")
        names = {"loudspeaker": "KAME-Speaker", "microphone": "USB headset"}
        assert sorted(child.notified[6:]) == [(kind, "note", name) for kind, name in names.items()]
        audio.control("suspend-source", "headset", "0")
        audio.control("suspend-sink", "kame_speaker", "0")
        child.until(lambda now: len(now["notices"]) == 10, "reported: the end of both")
        assert sorted(child.notified[8:]) == [(kind, "back", name) for kind, name in names.items()]
        child.until_it_captures(1_000)
