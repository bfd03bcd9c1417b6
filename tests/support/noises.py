"""Synthesises sounds that are not speech: coughs, throats, keys, clicks, thumps, breath, hums, music, laughter. All are
float32 mono 24 kHz, a second or two long, reproducible by their seed, at an RMS level relative to speech
(`SPEECH_DBFS`). Coughs follow the acoustics: a burst of 30 to 50 ms as the glottis opens, 100 to 200 ms of turbulent
noise shaped by the throat's resonances, and in about half of them a voiced phase whose pitch falls."""

from collections.abc import Callable

import numpy as np

from app.conversation.frame import SAMPLE_RATE

RATE = SAMPLE_RATE
SPEECH_DBFS = -24.0
"""RMS of somebody's speech at a headset."""


def _noise(rng: np.random.Generator, seconds: float) -> np.ndarray:
    return rng.standard_normal(max(1, round(seconds * RATE)))


def _shaped(samples: np.ndarray, peaks: list[tuple[float, float, float]], tilt: float = 0.0) -> np.ndarray:
    """`samples` through resonances (Hz, bandwidth, gain) and a tilt in dB an octave above 500 Hz."""
    spectrum = np.fft.rfft(samples)
    hz = np.fft.rfftfreq(len(samples), 1 / RATE)
    gain = np.full(len(hz), 0.02)
    for centre, width, height in peaks:
        gain += height / (1 + ((hz - centre) / (width / 2)) ** 2)
    gain *= 10 ** (tilt * np.log2(np.maximum(hz, 250) / 500) / 20)
    return np.fft.irfft(spectrum * gain, len(samples))


def _envelope(length: int, attack: float, decay: float) -> np.ndarray:
    """Rises in `attack` seconds, then decays with the time constant `decay`."""
    time = np.arange(length) / RATE
    return np.minimum(time / max(attack, 1e-4), 1.0) * np.exp(-np.maximum(time - attack, 0) / decay)


def _voice(rng: np.random.Generator, pitch: np.ndarray, roughness: float, tilt: float = -9.0) -> np.ndarray:
    """A glottal buzz that follows `pitch` (Hz a sample), with jitter and noise."""
    jitter = np.repeat(rng.normal(0, roughness, len(pitch) // 120 + 1), 120)[: len(pitch)]
    phase = 2 * np.pi * np.cumsum(pitch * (1 + jitter)) / RATE
    out = np.zeros(len(pitch))
    for n in range(1, 28):
        out += np.sin(n * phase) * 10 ** (tilt * np.log2(n) / 20) * (pitch * n < RATE / 2.2)
    return out + 0.3 * roughness * 10 * rng.standard_normal(len(pitch)) * out.std()


def _throat(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    size = rng.uniform(0.85, 1.2)
    return [
        (size * hz * rng.uniform(0.9, 1.1), width, height)
        for hz, width, height in ((620, 180, 1.0), (1350, 250, 0.7), (2500, 400, 0.5), (3600, 600, 0.25))
    ]


def _add(out: np.ndarray, part: np.ndarray, at: float) -> None:
    place = round(at * RATE)
    part = part[: max(0, len(out) - place)]
    out[place : place + len(part)] += part


def cough(rng: np.random.Generator) -> np.ndarray:
    """One to three coughs."""
    out = np.zeros(round(1.8 * RATE))
    at, peaks = 0.05, _throat(rng)
    for number in range(rng.integers(1, 4)):
        loud = 0.85**number
        burst = _shaped(_noise(rng, rng.uniform(0.03, 0.05)), peaks, 1.0)
        burst *= _envelope(len(burst), 0.004, 0.025) / burst.std()
        middle = _shaped(_noise(rng, rng.uniform(0.1, 0.2)), peaks, -2.0)
        middle *= np.linspace(0.5, 0.15, len(middle)) / middle.std()
        _add(out, loud * burst, at)
        _add(out, loud * middle, at + 0.035)
        end = at + 0.035 + len(middle) / RATE
        if rng.random() < 0.5:
            length = rng.uniform(0.06, 0.15)
            start = rng.uniform(150, 420)
            pitch = np.linspace(start, start * rng.uniform(0.5, 0.8), round(length * RATE))
            voiced = _shaped(_voice(rng, pitch, 0.04), peaks)
            voiced *= 0.35 * np.hanning(len(voiced)) / voiced.std()
            _add(out, loud * voiced, end - 0.03)
            end += length - 0.03
        at = end + rng.uniform(0.08, 0.3)
        if at > 1.4:
            break
    return out


def throat(rng: np.random.Generator) -> np.ndarray:
    """Clearing the throat: a creak at 40 to 90 Hz under noise, once or twice."""
    out = np.zeros(round(1.6 * RATE))
    at, peaks = 0.05, _throat(rng)
    for _ in range(rng.integers(1, 3)):
        length = rng.uniform(0.2, 0.45)
        pitch = np.linspace(rng.uniform(60, 95), rng.uniform(40, 60), round(length * RATE))
        creak = _voice(rng, pitch, 0.12)
        creak = creak / creak.std() + rng.uniform(0.8, 1.6) * rng.standard_normal(len(pitch))
        part = _shaped(creak, peaks, -2.0)
        _add(out, part / part.std() * np.hanning(len(part)) ** 0.6, at)
        at += length + rng.uniform(0.1, 0.3)
        if at > 1.1:
            break
    return out


def keys(rng: np.random.Generator) -> np.ndarray:
    """Typing: 4 to 9 strokes a second, each a click down, a thud of the desk, and a softer click up."""
    out = np.zeros(round(2.0 * RATE))
    at = 0.05
    while at < 1.9:
        down = _shaped(_noise(rng, 0.012), [(rng.uniform(2500, 5500), 2500, 1.0)], 2.0)
        thud = _shaped(_noise(rng, 0.05), [(rng.uniform(150, 400), 150, 1.0)], -8.0)
        strength = rng.uniform(0.5, 1.0)
        _add(out, strength * down / down.std() * _envelope(len(down), 0.0005, 0.003), at)
        _add(out, 0.5 * strength * thud / thud.std() * _envelope(len(thud), 0.002, 0.015), at)
        up = 0.35 * down / down.std() * _envelope(len(down), 0.0005, 0.002)
        _add(out, strength * up, at + rng.uniform(0.06, 0.1))
        at += rng.uniform(0.11, 0.25)
    return out


def clicks(rng: np.random.Generator) -> np.ndarray:
    """A mouse: one to four clicks, press and release."""
    out = np.zeros(round(1.2 * RATE))
    at = 0.1
    for _ in range(rng.integers(1, 5)):
        for offset, strength in ((0.0, 1.0), (rng.uniform(0.07, 0.12), 0.7)):
            tick = _shaped(_noise(rng, 0.01), [(rng.uniform(3000, 7000), 2000, 1.0)], 2.0)
            _add(out, strength * tick / tick.std() * _envelope(len(tick), 0.0003, 0.002), at + offset)
        at += rng.uniform(0.15, 0.5)
        if at > 1.0:
            break
    return out


def thump(rng: np.random.Generator) -> np.ndarray:
    """A door, a cup on the desk, a knock: one to three decaying low resonances with a sharp front."""
    out = np.zeros(round(1.6 * RATE))
    at = 0.1
    for _ in range(rng.integers(1, 4)):
        length = rng.uniform(0.15, 0.5)
        body = np.zeros(round(length * RATE))
        time = np.arange(len(body)) / RATE
        for _ in range(rng.integers(3, 7)):
            hz = rng.uniform(60, 700)
            body += (
                rng.uniform(0.3, 1)
                * np.sin(2 * np.pi * hz * time + rng.uniform(0, 6))
                * np.exp(-time / rng.uniform(0.02, 0.12))
            )
        front = _noise(rng, 0.008)
        body /= np.abs(body).max()
        body[: len(front)] += rng.uniform(0.1, 0.5) * front * np.linspace(1, 0, len(front))
        _add(out, body * rng.uniform(0.6, 1.0), at)
        at += rng.uniform(0.18, 0.6)
        if at > 1.2:
            break
    return out


def breath(rng: np.random.Generator) -> np.ndarray:
    """Breathing in or out at the microphone: noise without pitch, swelling and fading."""
    length = rng.uniform(0.5, 1.3)
    part = _shaped(_noise(rng, length), [(rng.uniform(600, 1800), 1500, 1.0), (rng.uniform(3000, 5000), 2500, 0.5)], -3)
    out = np.zeros(round(1.6 * RATE))
    _add(out, part / part.std() * np.hanning(len(part)), 0.1)
    return out


def hum(rng: np.random.Generator) -> np.ndarray:
    """A closed mouth that says "mhm": two beats with a dip between, rising; or one long "mm"."""
    start = rng.choice([rng.uniform(95, 140), rng.uniform(170, 230)])
    first, dip, second = rng.uniform(0.1, 0.18), rng.uniform(0.04, 0.08), rng.uniform(0.15, 0.28)
    pitch = np.concatenate(
        [
            np.linspace(start, start * 0.94, round(first * RATE)),
            np.full(round(dip * RATE), start * 0.96),
            np.linspace(start, start * rng.uniform(1.1, 1.4), round(second * RATE)),
        ]
    )
    loud = np.concatenate(
        [np.hanning(round(first * RATE)), np.full(round(dip * RATE), 0.03), np.hanning(round(second * RATE))]
    )
    buzz = _voice(rng, pitch, 0.006, tilt=-12)
    if rng.random() < 0.3:  # one "mm", without the dip
        loud = np.hanning(len(loud))
    part = _shaped(buzz, [(260, 120, 1.0), (1050, 200, 0.05), (2200, 300, 0.02)], -8.0)
    out = np.zeros(round(1.2 * RATE))
    _add(out, part / part.std() * (loud + 0.02), 0.1)
    return out


def music(rng: np.random.Generator) -> np.ndarray:
    """Two seconds of a piece: chords with harmonics, a bass, a melody, drums, at 80 to 140 beats a minute."""
    seconds, beat = 2.4, 60 / rng.uniform(80, 140)
    out = np.zeros(round(seconds * RATE))
    root = rng.uniform(110, 220)
    scale = (0, 2, 4, 5, 7, 9, 11, 12)
    timbre = rng.uniform(4, 14)  # dB an octave
    decay = rng.choice([0.25, 0.6, 3.0])  # plucked, struck, held

    def note(semitones: float, length: float, loud: float, octave: int) -> np.ndarray:
        hz = root * 2**octave * 2 ** (semitones / 12)
        time = np.arange(round(length * RATE)) / RATE
        vibrato = 1 + (0.004 if decay > 1 else 0) * np.sin(2 * np.pi * 5.5 * time)
        phase = 2 * np.pi * hz * np.cumsum(vibrato) / RATE
        tone = sum(np.sin(n * phase) * 10 ** (-timbre * np.log2(n) / 20) for n in range(1, 12) if n * hz < 10_000)
        return loud * tone * np.minimum(time / 0.01, 1) * np.exp(-time / decay) * np.minimum((length - time) / 0.03, 1)

    at, count = 0.0, 0
    chord = (0, 4, 7)
    while at < seconds - 0.1:
        if count % 4 == 0:
            chord = ((0, 4, 7), (5, 9, 12), (7, 11, 14), (9, 12, 16))[rng.integers(0, 4)]
            for step in chord:
                _add(out, note(step, 4 * beat, 0.4, 0), at)
            _add(out, note(chord[0], 2 * beat, 0.6, -1), at)
        if rng.random() < 0.8:
            _add(out, note(float(rng.choice(scale)), beat * rng.choice([0.5, 1.0]), 0.5, 1), at)
        if rng.random() < 0.6:
            drum = _noise(rng, 0.06) * _envelope(round(0.06 * RATE), 0.001, 0.02)
            _add(out, 0.4 * drum, at)
        at += beat / 2 if rng.random() < 0.3 else beat
        count += 1
    return out


def laugh(rng: np.random.Generator) -> np.ndarray:
    """Five to nine calls of "ha", about five a second: a breath, then a vowel whose pitch falls, ever softer."""
    out = np.zeros(round(2.6 * RATE))
    peaks = _throat(rng)
    high = rng.uniform(180, 420)
    at = 0.05
    for number in range(rng.integers(5, 10)):
        loud = 0.93**number
        breath = _shaped(_noise(rng, rng.uniform(0.06, 0.09)), peaks, -1.0)
        _add(out, 0.25 * loud * breath / breath.std() * np.hanning(len(breath)), at)
        start = high * (1 - 0.03 * number) * rng.uniform(0.95, 1.05)
        pitch = np.linspace(start * 1.1, start * 0.85, round(rng.uniform(0.09, 0.13) * RATE))
        vowel = _shaped(_voice(rng, pitch, 0.01), peaks)
        _add(out, loud * vowel / vowel.std() * np.hanning(len(vowel)) ** 0.5, at + 0.06)
        at += 0.06 + len(pitch) / RATE + rng.uniform(0.01, 0.04)
    return out


KINDS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "cough": cough,
    "throat": throat,
    "keys": keys,
    "clicks": clicks,
    "thump": thump,
    "breath": breath,
    "hum": hum,
    "music": music,
    "laugh": laugh,
}


def noise(kind: str, seed: int, *, below_speech: float = 0.0) -> np.ndarray:
    """A sound of `kind`, `below_speech` dB quieter than speech (RMS over its loud part), and never clipped."""
    rng = np.random.default_rng([list(KINDS).index(kind), seed])
    out = KINDS[kind](rng)
    block = RATE // 50
    power = np.square(out[: len(out) // block * block]).reshape(-1, block).mean(axis=1)
    loud = power[power > power.max() / 100].mean()
    out = out * 10 ** ((SPEECH_DBFS - below_speech) / 20) / np.sqrt(loud + 1e-12)
    return (out * min(1.0, 0.95 / np.abs(out).max())).astype(np.float32)
