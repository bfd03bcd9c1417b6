"""The `bench frame` command, which times one 80 ms step of KAME and compares it with the memory bandwidth limit."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.conversation.frame import FRAME_MS
from app.diagnostics.tables import Progress, markdown, paragraphs
from app.frontend import require_torch
from app.frontend.base import FrontEndError

if TYPE_CHECKING:
    from app.frontend.kame.engine.measure import FrameFigures
    from app.frontend.kame.engine.selfcheck import Check

PARTS = ("encode", "temporal", "depth", "language model", "decode", "copies")
SMALL_BYTES = 100_000_000


@dataclass(slots=True)
class FrameBench:
    """The results of `bench frame`.

    `figures`: one measurement per size and precision; `checks`: comparisons of code paths; `left_out`: messages about
    measurements that failed.
    """

    figures: list[FrameFigures] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all required checks passed."""
        return all(check.ok for check in self.checks if check.needed)

    def table(self) -> str:
        """Returns the results as Markdown tables, in milliseconds."""
        lines: list[str] = []
        for one in self.figures:
            parts = (("whole frame", one.whole), *((name, one.parts[name]) for name in PARTS))
            lines += [
                "",
                f"{one.size}, {one.precision} ({one.kernel}), {one.filled} of {one.context} frames in the cache; "
                f"{one.device}, torch {one.torch}",
                "",
                *markdown(
                    ("ms", "p50", "p95", "p99", "worst"),
                    [(name, *(f"{ms:.2f}" for ms in (t.p50, t.p95, t.p99, t.worst))) for name, t in parts],
                ),
                "",
                self._memory(one),
                self._verdict(one),
            ]
        if self.checks:
            marks = {True: "equal", False: "differs"}
            rows = [(c.name, marks[c.ok] if c.ok or c.needed else "told", c.detail) for c in self.checks]
            lines += ["", *markdown(("check", "", ""), rows, text_columns=3)]
        return "\n".join([*lines, *paragraphs(self.left_out)]).strip()

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
        """Returns the results as JSON-compatible data."""
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
    progress: Progress,
) -> FrameBench:
    """Measures every combination of size and precision. Raises FrontEndError.

    - `context`: the size of the KV cache, in frames; None for the default.
    - `fill`: how many frames are in the cache; None to fill it.
    - `frames`: how many frames to measure.
    - `check`: also compares the results of this machine's code paths.
    """
    require_torch()
    from app.frontend.kame.engine.measure import measure_frame
    from app.frontend.kame.engine.selfcheck import run_checks

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
            except (FrontEndError, RuntimeError) as error:  # for example out of memory; the next precision is smaller
                if len(precisions) == 1:
                    raise
                said = f": {error}" if isinstance(error, FrontEndError) else f" failed: {str(error).splitlines()[0]}"
                bench.left_out.append(f"{size} in {precision}{said}")
    if not bench.figures:
        raise FrontEndError(bench.left_out[0])
    return bench
