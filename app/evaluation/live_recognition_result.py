"""What `bench hearing` found: the words heard live and at one look, compared with what was said, and the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jiwer
import numpy as np

from app.conversation.words import fold

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SPELLINGS = {"okay": "ok", "gonna": "going to", "wanna": "want to", "uh": "", "um": "", "ah": "", "er": "", "hmm": ""}


def normalised(text: str) -> tuple[str, ...]:
    """The words of `text` for a comparison: no case, no punctuation, numbers below a hundred in digits, no "um"."""
    out: list[str] = []
    tens = False
    for word in fold(text.replace("-", " ")):
        number = _NUMBERS.get(word)
        if tens and number is not None and 0 < number < 10:
            out[-1], tens = str(int(out[-1]) + number), False
            continue
        tens = number is not None and number >= 20
        out += [str(number)] if number is not None else _SPELLINGS.get(word, word).split()
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Recording:
    """One line of the manifest with its sound, float32 at `SAMPLE_RATE`."""

    name: str
    text: str
    samples: np.ndarray


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a recording: the words of its turns, and of one look at all of it."""

    recording: Recording
    turns: tuple[str, ...]
    one_look: str

    @property
    def live(self) -> str:
        """The words of all turns."""
        return " ".join(text for text in self.turns if text)

    @property
    def lost_beginning(self) -> bool:
        """Whether the first words of the one look, which the transcription has too, are missing live."""
        one, live, said = normalised(self.one_look), normalised(self.live), normalised(self.recording.text)
        if not one or not said:
            return False
        if not live:
            return True
        first = jiwer.process_words(" ".join(one), " ".join(live)).alignments[0][0]
        missing = one[: first.ref_end_idx] if first.type == "delete" else ()
        return bool(missing) and missing[-1] in said[: first.ref_end_idx + 1]


@dataclass(slots=True)
class HearingResult:
    """What a run of the bench gave."""

    heard: list[Heard] = field(default_factory=list)
    seconds: float = 0.0
    looks: int = 0
    decode_seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For programs."""
        told = [one for one in self.heard if normalised(one.recording.text)]
        texts = [" ".join(normalised(one.recording.text)) for one in told]
        live = jiwer.process_words(texts, [" ".join(normalised(one.live)) for one in told])
        one = jiwer.process_words(texts, [" ".join(normalised(one.one_look)) for one in told])
        lost = [one.recording.name for one in told if one.lost_beginning]
        return {
            "recordings": len(told),
            "words": sum(len(text.split()) for text in texts),
            "seconds": round(self.seconds, 1),
            "live_error_rate": round(live.wer, 4),
            "one_look_error_rate": round(one.wer, 4),
            "apart": round(live.wer - one.wer, 4),
            "live": {"wrong": live.substitutions, "missing": live.deletions, "added": live.insertions},
            "one_look": {"wrong": one.substitutions, "missing": one.deletions, "added": one.insertions},
            "beginnings_lost": len(lost),
            "lost": lost,
            "turns": sum(len(one.turns) for one in told),
            "looks": self.looks,
            "decode_seconds_per_second": round(self.decode_seconds / max(1e-9, self.seconds), 3),
            "left_out": self.left_out,
        }

    def table(self) -> str:
        """For people: Markdown."""
        d = self.document()
        rows = [
            ("recordings", d["recordings"]),
            ("words spoken", d["words"]),
            ("word error rate live, %", f"{100 * d['live_error_rate']:.1f}"),
            ("word error rate of one look, %", f"{100 * d['one_look_error_rate']:.1f}"),
            ("apart, points", f"{100 * d['apart']:.1f}"),
            *((f"words {what}, live / one look", f"{d['live'][what]} / {d['one_look'][what]}") for what in d["live"]),
            ("beginnings lost", f"{d['beginnings_lost']} ({100 * d['beginnings_lost'] / d['recordings']:.1f} %)"),
            ("turns", d["turns"]),
            ("processor seconds of recognising per second of sound", d["decode_seconds_per_second"]),
        ]
        lines = ["| heard live | |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in rows)]
        for sentence in self.left_out:
            lines += ["", sentence]
        return "\n".join(lines)
