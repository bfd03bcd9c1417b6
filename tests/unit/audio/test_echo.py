"""The echo is taken out, the user stays, the two clocks keep step, and what can't be done is said in a sentence."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from app.audio.echo.adaptive_filter import AdaptiveFilter
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.echo_meter import EchoMeter
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.known_path import KnownEchoPath
from app.audio.echo.power import powers
from app.audio.echo.quick_resampler import QuickFineResampler
from app.audio.echo.residual_gate import ResidualEchoGate
from app.audio.echo.store import EchoStore
from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.sound_processing import Processing
from app.evaluation.room import BLOCK, Room, echo_path
from tests.support.room_talks import frames
from tests.support.sounds import question, room

OFF = Processing(echo=False)


def _speech(seconds: float) -> np.ndarray:
    names = ("101_1", "154_1", "149_1", "144_1")
    parts = [0.7 / np.abs(question(name)).max() * question(name) for name in names]
    return np.concatenate(parts * 3)[: round(seconds * SAMPLE_RATE)].astype(np.float32)


def _hear(
    place: Room, speech: np.ndarray, processing: Processing | None = None, memory: EchoStore | None = None
) -> tuple[np.ndarray, EchoCancelledSource]:
    """What the app hears while it speaks: float32 of shape (n,)."""
    out, n = [], 0
    with EchoCancelledSource(place.source, place.tap, processing, memory) as source:
        while True:
            try:
                frame = source.read_frame(0.0)
            except EndOfAudio:
                return np.concatenate(out), source
            assert frame is not None and frame.shape == (FRAME_SAMPLES,) and frame.dtype == np.float32
            out.append(frame)
            place.sink.write(speech[n : n + FRAME_SAMPLES])
            n += FRAME_SAMPLES


def _power(samples: np.ndarray) -> float:
    return float(np.mean(samples.astype(np.float64) ** 2))


@pytest.mark.parametrize(
    ("delay", "attenuation", "drift", "rt60"),
    [(0.02, -6.0, -100.0, 0.3), (0.08, -12.0, 100.0, 0.5), (0.25, -6.0, 100.0, 0.3), (0.04, -20.0, 0.0, 0.3)],
)
def test_after_two_seconds_the_echo_is_25_db_quieter(
    delay: float, attenuation: float, drift: float, rt60: float
) -> None:
    place = Room(
        frames(20), delay_seconds=delay, attenuation_db=attenuation, drift_ppm=drift, rt60=rt60, seed=5, keep=True
    )
    heard, source = _hear(place, _speech(20))
    echo = np.concatenate(place.echo)
    noise = 10 ** (-65 / 10)
    for begin, end in ((2.2, 8), (8, 19)):
        part = slice(round(begin * SAMPLE_RATE), round(end * SAMPLE_RATE))
        left = max(_power(heard[part]) - noise, 0.05 * noise)
        assert 10 * np.log10(_power(echo[part]) / left) >= 25
    told = source.health
    assert told.erle_db is not None and told.erle_db >= 25 and not told.echo_remains


def test_muting_while_the_app_speaks_costs_nothing_of_what_was_learned() -> None:
    place = Room(frames(16), delay_seconds=0.05, attenuation_db=-8.0, seed=5, keep=True)
    given = place.source.read_frame

    def muted_for_a_while(timeout: float) -> np.ndarray | None:
        frame = given(timeout)
        return np.zeros_like(frame) if frame is not None and 10.0 < place.now <= 13.0 else frame

    place.source.read_frame = muted_for_a_while  # type: ignore[method-assign]
    heard, _ = _hear(place, _speech(16))
    echo = np.concatenate(place.echo)
    assert not heard[round(10.08 * SAMPLE_RATE) : round(12.9 * SAMPLE_RATE)].any()
    part = slice(round(13.1 * SAMPLE_RATE), round(14.5 * SAMPLE_RATE))
    assert 10 * np.log10(_power(echo[part]) / _power(heard[part])) >= 25


def test_headphones_leave_nothing_to_measure_and_nothing_to_tell() -> None:
    place = Room(frames(20), attenuation_db=None)
    user = question("103_2")
    for at in (5.0, 12.0):
        place.say(user, at)
    heard, source = _hear(place, _speech(20))
    assert source.health.erle_db is None and not source.health.echo_remains
    # The user is let through, as loud as they spoke (WebRTC takes some 9 ms).
    begin = round(12.0 * SAMPLE_RATE)
    assert abs(10 * np.log10(_power(heard[begin : begin + len(user)]) / _power(user))) < 2


def test_headphones_gate_nothing_from_the_first_second_on() -> None:
    place = Room(frames(6), attenuation_db=None, keep=True)
    user = question("103_2")
    for at in (0.5, 3.5):
        place.say(user, at)
    heard, _ = _hear(place, _speech(6))
    near = np.concatenate(place.near)
    same = (heard == near).reshape(-1, FRAME_SAMPLES).all(axis=1)
    # In the first second a frame may look like an echo's first one.
    assert same[frames(1.2) :].all() and same.sum() >= len(same) - 2, np.flatnonzero(~same)


def test_on_headphones_noise_is_suppressed_all_the_same() -> None:
    place = Room(frames(6), attenuation_db=None, noise_dbfs=-45.0, keep=True)
    heard, _ = _hear(place, _speech(6), Processing(noise=True))
    late = slice(3 * SAMPLE_RATE, 6 * SAMPLE_RATE)
    assert _power(heard[late]) < 0.1 * _power(np.concatenate(place.near)[late])


def test_an_echo_that_begins_in_mid_talk_is_found_and_taken_out() -> None:
    """Somebody takes the headphones off."""
    place = Room(frames(16), attenuation_db=-200.0, seed=5, moves_at=8.0, keep=True)
    place._later = Room(1, attenuation_db=-10.0, seed=5)._convolver
    heard, _ = _hear(place, _speech(16))
    near = np.concatenate(place.near)
    assert np.array_equal(heard[SAMPLE_RATE : 8 * SAMPLE_RATE], near[SAMPLE_RATE : 8 * SAMPLE_RATE])
    late = slice(11 * SAMPLE_RATE, 16 * SAMPLE_RATE)
    assert 10 * np.log10(_power(near[late]) / _power(heard[late])) > 20


def test_what_was_learned_of_the_echo_is_known_in_the_next_talk(tmp_path: Path) -> None:
    """Also where the devices begin at other moments: the echo comes 7 ms later."""
    user = question("103_2")
    said = slice(round(0.9 * SAMPLE_RATE), round(2.9 * SAMPLE_RATE))
    heard = {}
    for talk, seconds, delay in (("first", 4, 0.087), ("learning", 14, 0.08), ("second", 4, 0.087)):
        place = Room(frames(seconds), delay_seconds=delay, attenuation_db=-6.0, drift_ppm=-100.0, seed=5)
        if talk != "learning":
            place.say(user, 0.9)
        store = EchoStore(tmp_path / "user" / "echoes.npz")
        store.pair = lambda: "microphone < loudspeaker"
        heard[talk], _ = _hear(place, _speech(seconds), memory=store)
    known = EchoStore(tmp_path / "user" / "echoes.npz").get("microphone < loudspeaker")
    assert known is not None and known.drift_ppm == pytest.approx(-100.0, abs=10)
    hop = SAMPLE_RATE // 50
    wanted = powers(user[: said.stop - said.start], hop)
    loud = wanted > 10**-2.5 * wanted.max()
    lost = {talk: int((loud & (powers(sound[said], hop) < 10**-0.8 * wanted)).sum()) for talk, sound in heard.items()}
    assert lost["second"] <= 0.1 * loud.sum() and 2 * lost["second"] <= lost["first"], lost


def test_what_is_known_of_another_room_or_in_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    far = _speech(3)
    near = np.convolve(far, echo_path(0.3, -6.0, 3))[: len(far)].astype(np.float32)
    part = slice(SAMPLE_RATE, SAMPLE_RATE + 3 * FRAME_SAMPLES)
    responses = {seed: echo_path(0.3, -6.0, seed).astype(np.float32) for seed in (3, 4)}
    fits = {seed: KnownEchoPath(one, 0.0).fit(near[part], far[: part.stop]) for seed, one in responses.items()}
    assert fits[3] is not None and fits[4] is None
    path = tmp_path / "echoes.npz"
    store = EchoStore(path)
    for number in range(12):
        store.put(f"pair {number}", KnownEchoPath(np.full(11520, 0.001 * number, np.float32), 10.0 * number))
    store.save()
    again = EchoStore(path)
    assert again.get("pair 2") is None and again.get("pair 11").drift_ppm == pytest.approx(110.0)
    path.write_bytes(path.read_bytes()[:1000])
    assert EchoStore(path).get("pair 11") is None


def test_without_cancellation_it_tells_that_the_echo_remains() -> None:
    place = Room(frames(16), attenuation_db=-10.0)
    _, source = _hear(place, _speech(16), OFF)
    assert source.health.echo_remains
    assert source.health.erle_db is not None and abs(source.health.erle_db) < 3


def test_nothing_wanted_changes_no_bit() -> None:
    place = Room(frames(3), attenuation_db=-10.0, keep=True)
    heard, _ = _hear(place, _speech(3), OFF)
    assert np.array_equal(heard, np.concatenate(place.near))


def test_processing_changes_in_mid_talk_and_keeps_step() -> None:
    place = Room(frames(24), attenuation_db=-10.0, keep=True)
    speech, out, n = _speech(24), [], 0
    with EchoCancelledSource(place.source, place.tap, OFF) as source:
        for index in range(frames(24)):
            if index == frames(8):
                source.set_processing(Processing(echo=True, noise=True))
                source.wait_until_loaded()
            out.append(source.read_frame(0.0))
            place.sink.write(speech[n : n + FRAME_SAMPLES])
            n += FRAME_SAMPLES
        assert source._aligner.alignments == 1
    heard, near = np.concatenate(out), np.concatenate(place.near)
    early, late = (slice(round(a * SAMPLE_RATE), round(b * SAMPLE_RATE)) for a, b in ((2, 8), (12, 23)))
    assert abs(10 * np.log10(_power(heard[early]) / _power(near[early]))) < 0.5
    assert 10 * np.log10(_power(near[late]) / _power(heard[late])) > 25


def test_a_missing_package_is_told_and_the_talk_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc.apm", None)
    place = Room(frames(1), keep=True)
    heard, source = _hear(place, _speech(1))
    assert "could not be loaded" in source.problem and "headphones" in source.problem
    assert np.array_equal(heard, np.concatenate(place.near))


def test_what_was_missing_is_not_told_of_any_more_once_nothing_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc.apm", None)
    canceller = EchoCanceller(Processing())
    canceller.load()
    assert canceller.problem
    canceller.set_processing(Processing(echo=False, noise=False, gain=False))
    canceller.wait_until_loaded()
    assert canceller.problem == ""


def test_a_canceller_that_breaks_is_told_and_the_talk_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    canceller = EchoCanceller(Processing())
    canceller.load()
    assert canceller.cancels and not canceller.problem

    def breaks(*sound: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(canceller._loaded[1], "process", breaks)
    near = room(0.08)
    assert canceller.process(near, near) is near
    assert "out of order" in canceller.problem and not canceller.cancels
    canceller.load()
    assert canceller.cancels and not canceller.problem


def test_it_writes_nothing_to_the_log_or_the_terminal(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    canceller = EchoCanceller(Processing(True, True, True))
    with caplog.at_level(logging.DEBUG):
        canceller.load()
        canceller.process(room(0.08), room(0.08))
    told = capfd.readouterr()
    assert told.out == told.err == "" and not caplog.records


def _through(linear: AdaptiveFilter, near: np.ndarray, far: np.ndarray) -> np.ndarray:
    steps = range(0, len(near) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
    return np.concatenate([linear.process(near[n : n + FRAME_SAMPLES], far[n : n + FRAME_SAMPLES]) for n in steps])


@pytest.mark.parametrize("late", [90, 330, 480, 5000])
def test_the_filter_takes_the_echo_out_and_leaves_the_user_whole(late: int) -> None:
    """Also where the echo's loud part lies across the border of two partitions (480 samples)."""
    far = _speech(16)
    echo = np.convolve(far, echo_path(0.3, -6.0, 3))[: len(far)]
    echo = np.concatenate([np.zeros(late), echo])[: len(far)].astype(np.float32)
    user = np.zeros_like(far)
    said = question("103_2")
    user[12 * SAMPLE_RATE : 12 * SAMPLE_RATE + len(said)] = said
    left = _through(AdaptiveFilter(), echo + user + room(16), far)
    alone, both = slice(8 * SAMPLE_RATE, 12 * SAMPLE_RATE), slice(12 * SAMPLE_RATE, 12 * SAMPLE_RATE + len(said))
    assert 10 * np.log10(_power(echo[alone]) / _power(left[alone])) >= 15
    both = slice(both.start, len(left) if both.stop > len(left) else both.stop)
    assert 10 * np.log10(_power(user[both]) / _power(left[both] - user[both])) >= 12


def test_the_filter_changes_no_bit_where_nothing_sounds() -> None:
    near = question("103_2")[:FRAME_SAMPLES]
    assert AdaptiveFilter().process(near, np.zeros(FRAME_SAMPLES, np.float32)) is near


def test_the_echo_tells_within_seconds_how_far_apart_the_clocks_are() -> None:
    for ppm in (-300.0, 100.0):
        place = Room(frames(20), drift_ppm=ppm, seed=2)
        _, source = _hear(place, _speech(20))
        assert source.health.drift_ppm == pytest.approx(ppm, abs=10)


def test_the_quick_resampler_holds_less_than_a_millisecond_back() -> None:
    for rate in (16_000, 24_000, 44_100, 48_000):
        resampler, given, got = QuickFineResampler(rate), 0, 0
        for _ in range(20):
            got += len(resampler.push(np.zeros(rate // 100, np.float32)))
            given += SAMPLE_RATE // 100
        assert 0 <= given - got <= 26


# -- in step -------------------------------------------------------------------------------------------


class _Clicks:
    """A tap in whose sound sample number n has the value n, so that a place in it can be read off."""

    rate, generation = SAMPLE_RATE, 0

    def __init__(self) -> None:
        self.handed = 0
        self.waiting = np.zeros(0, np.float32)

    def hand(self, blocks: int) -> None:
        more = np.arange(self.handed, self.handed + blocks * BLOCK, dtype=np.float32)
        self.handed += blocks * BLOCK
        self.waiting = np.concatenate([self.waiting, more])

    def take(self) -> np.ndarray:
        taken, self.waiting = self.waiting, self.waiting[:0]
        return taken


def test_a_block_that_comes_late_leaves_everything_in_its_place() -> None:
    tap = _Clicks()
    aligner, seen = FarEndAligner(tap), []
    for n in range(40):
        tap.hand({20: 7, 21: 9}.get(n, 8))
        seen.append(float(aligner.next_frame()[1900]) - n * FRAME_SAMPLES)
    assert aligner.alignments == 1
    # (soxr takes 0.015 % off the loudness at variable rates, and this tap's places with it.)
    assert np.ptp(seen[5:20]) < 10 and abs(seen[30] - seen[19]) < 10


@pytest.mark.parametrize("ppm", [-300.0, 100.0])
def test_a_clock_that_runs_away_is_followed_without_delay_or_gap(ppm: float) -> None:
    place = Room(frames(12 * 60), attenuation_db=None, drift_ppm=ppm)
    aligner = FarEndAligner(place.tap)
    behind = []
    for _ in range(frames(12 * 60)):
        place.next_frame()
        aligner.next_frame()
        behind.append(aligner._level())
    assert aligner.alignments == 1
    settled = np.array(behind[frames(300) :]) / SAMPLE_RATE
    # A block that the slow clock gives later may be missed for 5 ms of one frame.
    assert settled.min() > -0.005 and settled.mean() < 0.03
    # What ran dry has set the loop back: it is still on its way after twelve minutes.
    assert aligner.drift_ppm == pytest.approx(ppm, rel=0.25)


def test_what_the_microphone_lost_is_passed_over_at_the_loudspeaker() -> None:
    tap = _Clicks()
    aligner = FarEndAligner(tap)
    for n in range(30):
        tap.hand(8)
        if n == 20:
            tap.hand(16)  # two frames went by unread
            aligner.skip(2 * FRAME_SAMPLES)
        place = float(aligner.next_frame()[1900]) - n * FRAME_SAMPLES
        if n == 19:
            before = place
    assert abs(place - before - 2 * FRAME_SAMPLES) < 10 and aligner.alignments == 1


def test_a_loudspeaker_that_was_opened_anew_is_aligned_anew() -> None:
    tap = _Clicks()
    aligner = FarEndAligner(tap)
    for n in range(10):
        tap.hand(8)
        tap.generation = int(n >= 5)
        aligner.next_frame()
    assert aligner.alignments == 2


def test_a_loudspeaker_that_stops_and_goes_on_is_aligned_anew() -> None:
    tap = _Clicks()
    aligner = FarEndAligner(tap)
    for n in range(40):
        tap.hand(0 if 10 <= n < 25 else 8)
        frame = aligner.next_frame()
    newest = tap.handed - float(frame[-1])
    assert 0 < newest < 0.04 * SAMPLE_RATE


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_loudspeakers_of_other_rates_keep_step_too(rate: int) -> None:
    t = np.arange(rate * 8) / rate
    tone = np.sin(2 * np.pi * 440 * t).astype(np.float32)
    tap = _Clicks()
    tap.rate = rate
    aligner, out, n = FarEndAligner(tap), [], 0
    for _ in range(80):
        tap.waiting = tone[n : n + rate * 2 // 25]
        n += rate * 2 // 25
        out.append(aligner.next_frame())
    got = np.concatenate(out)[FRAME_SAMPLES * 10 :]
    step = 2 * np.cos(2 * np.pi * 440 / SAMPLE_RATE)
    assert np.abs(got[2:] + got[:-2] - step * got[1:-1]).max() < 2e-3
    assert aligner.alignments == 1


@pytest.mark.parametrize("rate", [24_000, 48_000])
def test_by_hops_the_far_end_is_the_same_and_as_much_in_step(rate: int) -> None:
    """Also where blocks come late: what hasn't come isn't given ahead, and nothing stands in for it."""
    noise = np.random.default_rng(4).standard_normal(rate * 8).astype(np.float32)

    def far(by_hops: bool) -> tuple[np.ndarray, int]:
        tap, aligner_out, ahead, n = _Clicks(), [], 0, 0
        tap.rate = rate
        aligner = FarEndAligner(tap)
        for frame in range(90):
            for quarter in range(4):
                count = 0 if frame % 10 == 9 and quarter == 1 else rate // 50
                count += rate // 50 if frame % 10 == 9 and quarter == 2 else 0  # a block comes late
                tap.waiting = np.concatenate([tap.waiting, noise[n : n + count]])
                n += count
                if by_hops and quarter < 3 and (hop := aligner.take_early(480)) is not None:
                    aligner_out.append(hop)
                    ahead += 1
            aligner_out.append(aligner.next_frame())
        assert aligner.alignments == 1
        return np.concatenate(aligner_out), ahead

    (frames_only, _), (hops, ahead) = far(False), far(True)
    assert len(hops) == len(frames_only) and ahead >= 90 * 3 - 60
    assert np.abs(hops - frames_only).max() < 0.02


def test_frames_that_are_dropped_in_mid_frame_leave_everything_in_its_place() -> None:
    tap = _Clicks()
    aligner = FarEndAligner(tap)
    for n in range(30):
        tap.hand(8)
        if n == 20:
            tap.hand(4)
            assert aligner.take_early(480) is not None and aligner.take_early(480) is not None
            tap.hand(12)
            aligner.drop(2)
        place = float(aligner.next_frame()[1900]) - n * FRAME_SAMPLES
        if n == 19:
            before = place
    assert abs(place - before - 2 * FRAME_SAMPLES) < 10 and aligner.alignments == 1


# -- ahead ---------------------------------------------------------------------------------------------


def _hear_ahead(place: Room, speech: np.ndarray, listen: bool = True) -> tuple[np.ndarray, np.ndarray, int]:
    """What the app hears: float32 (n,); which samples were told ahead: bool (n,); how often it was told."""
    out, told, hops, n = [], [], 0, 0
    with EchoCancelledSource(place.source, place.tap) as source:
        while True:
            ahead: list[np.ndarray] = []
            source.on_ahead = ahead.append if listen else None
            try:
                frame = source.read_frame(1.0)
            except EndOfAudio:
                return np.concatenate(out), np.concatenate(told), hops
            head = np.concatenate([*ahead, frame[:0]])
            assert len(frame) == FRAME_SAMPLES and np.array_equal(frame[: len(head)], head)
            out.append(frame)
            told.append(np.arange(FRAME_SAMPLES) < len(head))
            hops += len(ahead)
            place.sink.write(speech[n : n + FRAME_SAMPLES])
            n += FRAME_SAMPLES


def test_what_is_told_ahead_is_the_frame_and_as_clean() -> None:
    speech, user = _speech(20), question("103_2")
    kept = {}
    for listen in (False, True):
        place = Room(frames(20), attenuation_db=-12.0, drift_ppm=100.0, seed=5, by_hops=True, keep=True)
        place.say(user, 16.0)
        heard, told, hops = _hear_ahead(place, speech, listen)
        kept[listen] = heard
        assert bool(hops) == listen
        echo = np.concatenate(place.echo)
        part = slice(round(11 * SAMPLE_RATE), round(16 * SAMPLE_RATE))
        assert 10 * np.log10(_power(echo[part]) / _power(heard[part])) >= 25
    # While it is still learning, the residue is quieted by frames; later on all but the last hop is told.
    assert told[: 2 * SAMPLE_RATE].mean() < 0.5 and told[12 * SAMPLE_RATE : 16 * SAMPLE_RATE].mean() > 0.7
    said = slice(16 * SAMPLE_RATE, 16 * SAMPLE_RATE + len(user))
    assert 10 * np.log10(_power(kept[False][said]) / _power(kept[True][said] - kept[False][said])) > 10


def test_without_a_listener_by_hops_changes_no_bit() -> None:
    """The same sound, read by hops and by frames."""
    speech = _speech(12)
    taken: list[tuple[np.ndarray, np.ndarray]] = []
    place = Room(frames(12), attenuation_db=-12.0, seed=6)
    for n in range(0, frames(12) * FRAME_SAMPLES, FRAME_SAMPLES):
        taken.append((place.next_frame(), place.tap.take()))
        place.sink.write(speech[n : n + FRAME_SAMPLES])

    class Given:
        name, overruns, backlog, rate, generation, n = "given", 0, 0, SAMPLE_RATE, 0, -1

        def read_frame(self, timeout: float) -> np.ndarray | None:
            self.n += 1
            return taken[self.n][0]

        def take(self) -> np.ndarray:
            return taken[self.n][1]

        def __enter__(self) -> None: ...

        def __exit__(self, *exc: object) -> None: ...

    class Shown(Given):
        def ahead(self) -> np.ndarray:
            raise AssertionError("nobody listens")

    out = []
    for given in (Given(), Shown()):
        with EchoCancelledSource(given, given) as source:  # type: ignore[arg-type]
            out.append(np.concatenate([source.read_frame(0.0) for _ in taken]))
    assert np.array_equal(*out)


def test_what_was_told_ahead_of_a_frame_that_is_muted_then_stays_out_of_it() -> None:
    place = Room(frames(4), attenuation_db=None, by_hops=True)
    place.say(question("103_2"), 0.0)
    told: list[np.ndarray] = []
    with EchoCancelledSource(place.source, place.tap, OFF) as source:
        source.on_ahead = told.append
        for n in range(frames(4)):
            del told[:]
            if n == 30:
                source.on_ahead = lambda samples: (told.append(samples), place.source.mute())
            frame = source.read_frame(1.0)
            if n == 30:
                source.on_ahead = told.append
                assert told[0].any() and not frame[: len(told[0])].any()
            else:
                # Before the first frame nothing is in step.
                assert np.array_equal(np.concatenate([*told, frame[3 * 480 :]])[-FRAME_SAMPLES:], frame) or n == 0


# -- gate, meter, room ---------------------------------------------------------------------------------


def test_the_gate_changes_nothing_while_the_loudspeaker_is_silent() -> None:
    gate, silence = ResidualEchoGate(), np.zeros(FRAME_SAMPLES, np.float32)
    for n in range(5):
        frame = question("103_2")[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES]
        assert gate.apply(frame, silence, frame) is frame


def test_the_meter_says_nothing_false_while_both_speak_with_headphones() -> None:
    meter = EchoMeter()
    far, user = _speech(30), np.tile(question("141_2"), 9)[: 30 * SAMPLE_RATE] + room(30)
    for n in range(0, len(far) - FRAME_SAMPLES, FRAME_SAMPLES):
        meter.update(user[n : n + FRAME_SAMPLES], far[n : n + FRAME_SAMPLES], user[n : n + FRAME_SAMPLES])
        assert not meter.echo_remains


@pytest.mark.parametrize("attenuation", [-6.0, -20.0])
def test_the_room_is_as_loud_and_as_long_as_it_says(attenuation: float) -> None:
    path = echo_path(0.3, attenuation, 1)
    assert 10 * np.log10(np.sum(path**2)) == pytest.approx(attenuation)
    tail = np.cumsum(path[::-1] ** 2)[::-1]  # Schroeder's backward integral (J. Acoust. Soc. Am. 37, 1965)
    early, late = (int(np.argmax(10 * np.log10(tail / tail[500]) < -db)) for db in (5, 25))
    assert (late - early) / SAMPLE_RATE * 3 == pytest.approx(0.3, rel=0.15)


def test_the_room_brings_the_echo_when_and_how_its_clock_says() -> None:
    for ppm in (0.0, 100.0):
        place = Room(
            frames(20), delay_seconds=0.1, attenuation_db=-6.0, rt60=0.02, noise_dbfs=-120, drift_ppm=ppm, keep=True
        )
        click = np.zeros(FRAME_SAMPLES, np.float32)
        click[0] = 0.9
        for n in range(frames(20)):
            place.next_frame()
            place.sink.write(click if n == 240 else 0 * click + (1e-9 if n else 0))
        near, played = np.concatenate(place.near), np.concatenate(place.played)
        origin = int(np.argmax(np.abs(played)))
        assert int(np.argmax(np.abs(near))) == pytest.approx(origin / (1 + ppm * 1e-6) + 2400, abs=2)
