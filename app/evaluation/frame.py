"""`bench frame`: how long one 80 ms step of the model takes, as a table, beside what the memory allows.

Knows the figures and their form; measuring is the front-end's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.conversation.frame import FRAME_MS
from app.frontend import require_torch
from app.frontend.base import FrontEndError

if TYPE_CHECKING:
    from app.frontend.kame.measure import FrameFigures
    from app.frontend.kame.selfcheck import Check

PARTS = ("encode", "temporal", "depth", "language model", "decode", "copies")
SMALL_BYTES = 100_000_000


@dataclass(slots=True)
class FrameBench:
    """What a run of the bench gave."""

    figures: list[FrameFigures] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What could not be measured, as sentences."""

    @property
    def ok(self) -> bool:
        """Whether every check that counts came out right."""
        return all(check.ok for check in self.checks if check.needed)

    def table(self) -> str:
        """For people: Markdown, milliseconds."""
        lines: list[str] = []
        for one in self.figures:
            if lines:
                lines.append("")
            lines += [
                f"{one.size}, {one.precision} ({one.kernel}), {one.filled} of {one.context} frames in the cache; "
                f"{one.device}, torch {one.torch}",
                "",
                "| ms | p50 | p95 | p99 | worst |",
                "| --- | ---: | ---: | ---: | ---: |",
            ]
            for name, times in (("whole frame", one.whole), *((name, one.parts[name]) for name in PARTS)):
                lines.append(f"| {name} | {times.p50:.2f} | {times.p95:.2f} | {times.p99:.2f} | {times.worst:.2f} |")
            lines += ["", self._memory(one), self._verdict(one)]
        if self.checks:
            lines += ["", "| check | | |", "| --- | --- | --- |"]
            for check in self.checks:
                mark = "equal" if check.ok else ("differs" if check.needed else "told")
                lines.append(f"| {check.name} | {mark} | {check.detail} |")
        for sentence in self.left_out:
            lines += ["", sentence]
        return "\n".join(lines).strip()

    @staticmethod
    def _memory(one: FrameFigures) -> str:
        words = (
            f"Resident {_bytes(one.resident_bytes)}; a frame reads {_bytes(one.frame_bytes)} at "
            f"{one.bandwidth / 1e9:.0f} GB/s, which takes {one.floor_ms:.2f} ms"
        )
        if one.frame_bytes < SMALL_BYTES:
            return f"{words}; at this size the calls take the time, not the memory."
        return f"{words}: the language model's p99 is {one.over_floor:.1f} times that."

    @staticmethod
    def _verdict(one: FrameFigures) -> str:
        if one.whole.p99 <= 0.6 * FRAME_MS:
            return f"This keeps up: a frame lasts {FRAME_MS} ms."
        if one.whole.p99 <= FRAME_MS:
            return f"This just keeps up with {FRAME_MS} ms a frame; anything beside it will cause gaps."
        return f"This can't keep up: a frame lasts {FRAME_MS} ms."

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "frames": [{**dataclasses.asdict(one), "over_floor": round(one.over_floor, 2)} for one in self.figures],
            "left_out": self.left_out,
            "checks": [dataclasses.asdict(check) for check in self.checks],
        }


def _bytes(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= SMALL_BYTES else f"{count / 1e6:.1f} MB"


def run_frame(
    sizes: list[str],
    precisions: list[str],
    *,
    device: str,
    context: int | None,
    fill: int | None,
    frames: int,
    check: bool,
    progress: Callable[[str], None],
) -> FrameBench:
    """Measures every size in every precision, and compares paths if asked. Raises FrontEndError."""
    require_torch()
    from app.frontend.kame.measure import measure_frame
    from app.frontend.kame.selfcheck import run_checks

    bench = FrameBench()
    if check:
        progress("Comparing this machine's paths …")
        bench.checks = run_checks(device)
    for size in sizes:
        for precision in precisions:
            progress(f"Measuring {size} in {precision} …")
            try:
                bench.figures.append(
                    measure_frame(size, precision, device=device, context=context, fill=fill, frames=frames)  # type: ignore[arg-type]
                )
            except FrontEndError as error:
                if len(precisions) == 1:
                    raise
                bench.left_out.append(f"{size} in {precision}: {error}")
            except RuntimeError as error:  # out of memory among them: the next one is smaller
                if len(precisions) == 1:
                    raise
                bench.left_out.append(f"{size} in {precision} failed: {str(error).splitlines()[0]}")
    if not bench.figures:
        raise FrontEndError(bench.left_out[0])
    return bench
