"""Results of `bench hearing`: the words of live recognition and of one pass, compared with what was said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jiwer

from app.diagnostics.tables import markdown, paragraphs
from app.research.benches.recordings import Recording
from app.research.benches.word_errors import compare, normalised


@dataclass(frozen=True, slots=True)
class Heard:
    """The words recognised in a recording: those of its turns, and those of one pass over all of it."""

    recording: Recording
    turns: tuple[str, ...]
    one_pass: str

    @property
    def live(self) -> str:
        """The words of all turns."""
        return " ".join(text for text in self.turns if text)

    @property
    def lost_beginning(self) -> bool:
        """Whether the first words of the one pass, if the transcription has them too, are missing live."""
        one, live, said = normalised(self.one_pass), normalised(self.live), normalised(self.recording.text)
        if not one or not said:
            return False
        if not live:
            return True
        first = jiwer.process_words(" ".join(one), " ".join(live)).alignments[0][0]
        missing = one[: first.ref_end_idx] if first.type == "delete" else ()
        return bool(missing) and missing[-1] in said[: first.ref_end_idx + 1]


@dataclass(slots=True)
class LiveRecognitionResult:
    """The words of all recordings; `decodes`: how often the recogniser ran, in `decode_seconds` of processor time."""

    heard: list[Heard] = field(default_factory=list)
    seconds: float = 0.0
    decodes: int = 0
    decode_seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        spoken = [one for one in self.heard if normalised(one.recording.text)]
        live = compare((one.recording.text, one.live) for one in spoken)
        one_pass = compare((one.recording.text, one.one_pass) for one in spoken)
        lost = [one.recording.name for one in spoken if one.lost_beginning]
        return {
            "recordings": len(spoken),
            "words": sum(len(normalised(one.recording.text)) for one in spoken),
            "seconds": round(self.seconds, 1),
            "live_error_rate": round(live.wer, 4),
            "one_pass_error_rate": round(one_pass.wer, 4),
            "apart": round(live.wer - one_pass.wer, 4),
            "live": _errors(live),
            "one_pass": _errors(one_pass),
            "beginnings_lost": len(lost),
            "lost": lost,
            "turns": sum(len(one.turns) for one in spoken),
            "decodes": self.decodes,
            "decode_seconds_per_second": round(self.decode_seconds / max(1e-9, self.seconds), 3),
            "left_out": self.left_out,
        }

    def table(self) -> str:
        """The result as a Markdown table."""
        d = self.document()
        rows = [
            ("recordings", d["recordings"]),
            ("words spoken", d["words"]),
            ("word error rate live, %", f"{100 * d['live_error_rate']:.1f}"),
            ("word error rate of one pass, %", f"{100 * d['one_pass_error_rate']:.1f}"),
            ("apart, points", f"{100 * d['apart']:.1f}"),
            *((f"words {what}, live / one pass", f"{d['live'][what]} / {d['one_pass'][what]}") for what in d["live"]),
            ("beginnings lost", f"{d['beginnings_lost']} ({100 * d['beginnings_lost'] / d['recordings']:.1f} %)"),
            ("turns", d["turns"]),
            ("processor seconds of recognising per second of sound", d["decode_seconds_per_second"]),
        ]
        return "\n".join([*markdown(("heard live", ""), rows), *paragraphs(self.left_out)])


def _errors(found: jiwer.WordOutput) -> dict[str, int]:
    return {"wrong": found.substitutions, "missing": found.deletions, "added": found.insertions}
