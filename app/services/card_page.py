"""The page that `bench card` writes: the machine, the frames, the memory, and what came of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from app.conversation.frame import FRAME_MS
from app.diagnostics.machine import System
from app.diagnostics.tables import markdown
from app.platform.nvidia import Driver, best_card
from app.services.card_bench import CardPlan, StepResult

PERCENTILES = ("p50", "p95", "p99", "worst")
PARTS = ("encode", "temporal", "depth", "language model", "decode", "copies")
COMFORTABLE = 0.6
"""The share of a frame within which its 99th percentile leaves time for everything else."""
MOST_WORDS = 300


def card_page(plan: CardPlan, results: Sequence[StepResult], system: System, driver: Driver | None) -> str:
    """Returns the page as Markdown. It contains no names of users or machines, and no paths."""
    facts = {result.step: result.facts for result in results}
    sections = (
        ("Frames, in ms", _frames(facts)),
        ("Memory and loading, in GB and s", _memory(facts)),
        ("Parts of a frame with a full cache, in ms (p99)", _parts(facts)),
        ("Attention of one layer, in µs", _attention(facts.get("attention", {}))),
        ("Comparisons", _checks(facts.get("checks", {}))),
        ("Kernels" if plan.device == "cuda" else "Calls of torch", list(_longest(facts))),
        ("Steps", _steps(results)),
    )
    lines = ["# KAME on this machine", "", *_head(plan, facts.get("card", {}), system, driver), "", summary(results)]
    for title, rows in sections:
        if rows:
            lines += ["", f"## {title}", "", *rows]
    return "\n".join(lines) + "\n"


def summary(results: Sequence[StepResult]) -> str:
    """Returns a sentence with the numbers of steps that passed, failed and were left out."""
    counts = Counter(result.outcome for result in results)
    seconds = sum(result.seconds for result in results)
    return (
        f"Of {len(results)} steps, {counts['passed']} passed, {counts['failed']} failed and {counts['left out']} were "
        f"left out, in {seconds:.0f} s."
    )


def frame_times(facts: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Returns all times of frames among a step's figures, by name."""
    return {
        name: value for name, value in facts.items() if isinstance(value, dict) and set(PERCENTILES) <= value.keys()
    }


def _head(plan: CardPlan, card: dict[str, Any], system: System, driver: Driver | None) -> list[str]:
    packages = dict(system.packages)
    if plan.device == "cuda":
        found = best_card(driver) if driver is not None else None
        words = [card.get("name") or (found.name if found else "unknown"), _gb(card.get("total_bytes", 0))]
        words.append(f"compute capability {card.get('capability', 'unknown')}")
        if driver is not None and driver.version:
            words.append(f"driver {driver.version} for CUDA {'.'.join(map(str, driver.cuda)) or 'unknown'}")
        free = f"Free: {_gb(card['free_bytes'])}. " if "free_bytes" in card else ""
        context = f"{free}A bare context takes {_gb(card.get('context_bytes', 0))}."
    else:
        words, context = ["none; the models run on the processor"], ""
    torch = str(card.get("torch") or packages.get("torch", "unknown"))
    built = f" (CUDA {card['cuda']}, cuDNN {card['cudnn']})" if "cuda" in card else ""
    memory = f", {system.memory / 1e9:.0f} GB of memory" if system.memory else ""
    bandwidth = f" The device's memory copies {card['bandwidth'] / 1e9:.0f} GB/s." if "bandwidth" in card else ""
    weights = "random weights" if plan.weights is None else "the weights of a checkpoint"
    return [
        f"- Card: {', '.join(words)}.{f' {context}' if context else ''}{bandwidth}",
        f"- Software: KAME {system.version}, torch {torch}{built}, moshi {packages.get('moshi', 'unknown')}, "
        f"Python {system.python}",
        f"- Machine: {system.cores} cores{memory}, {system.name.partition(' (')[0]}",
        f"- Model: {plan.size}, {weights}{', short run' if plan.quick else ''}",
    ]


def _frames(facts: dict[str, dict[str, Any]]) -> list[str]:
    rows = []
    for step, found in facts.items():
        label = f"{step} ({found['precision']})" if step == "full-auto" and "precision" in found else step
        for name, times in frame_times(found).items():
            rows.append((label, name, *(f"{times[key]:.2f}" for key in PERCENTILES)))
    head = ("step", "what", *PERCENTILES)
    return [*markdown(head, rows, text_columns=2), "", f"A frame lasts {FRAME_MS} ms."] if rows else []


def _memory(facts: dict[str, dict[str, Any]]) -> list[str]:
    known = (
        ("made, s", "made_s", 1.0),
        ("entered, s", "entered_s", 1.0),
        ("loaded, s", "load_s", 1.0),
        ("peak", "peak_bytes", 1e9),
        ("reserved", "reserved_bytes", 1e9),
        ("taken of the card", "card_taken_bytes", 1e9),
        ("left after its end", "left_bytes", 1e9),
        ("RAM, peak", "ram_peak", 1e9),
    )
    steps = {step: one for step, one in facts.items() if step.startswith(("full", "plain", "load", "session"))}
    columns = [column for column in known if any(column[1] in found for found in steps.values())]
    rows = [
        (step, *(f"{found[key] / unit:.2f}" if key in found else "" for _, key, unit in columns))
        for step, found in steps.items()
        if any(key in found for _, key, _ in columns)
    ]
    return markdown(("step", *(title for title, _, _ in columns)), rows) if rows else []


def _parts(facts: dict[str, dict[str, Any]]) -> list[str]:
    rows, notes = [], []
    for found in facts.values():
        if not isinstance(found.get("whole"), dict) or not found.get("parts"):
            continue
        times = (found["whole"], *(found["parts"][name] for name in PARTS))
        precision = f"{found['precision']} ({found['kernel']})"
        rows.append((precision, *(f"{one['p99']:.2f}" for one in times), _gb(found["resident_bytes"])))
        notes.append(
            f"{precision}: a frame reads {_gb(found['frame_bytes'])}, which takes {found['floor_ms']:.2f} ms; the "
            f"language model's p99 is {found['over_floor']:.1f} times that. {verdict(found['whole']['p99'])}"
        )
    table = markdown(("precision", "whole frame", *PARTS, "memory"), rows)
    return [*table, *(line for note in notes for line in ("", note))] if rows else []


def verdict(ms: float) -> str:
    """Returns a sentence that says whether a machine whose frames take so many ms keeps up."""
    if ms <= COMFORTABLE * FRAME_MS:
        return "This keeps up."
    return "This just keeps up." if ms <= FRAME_MS else "This can't keep up."


def _attention(found: dict[str, Any]) -> list[str]:
    rows = {name: row for name, row in found.items() if isinstance(row, dict) and "chosen" in row}
    names = list(dict.fromkeys(backend for row in rows.values() for backend in row))
    cells = [(slots.removeprefix("slots "), *(_cell(row.get(name)) for name in names)) for slots, row in rows.items()]
    return markdown(("frames", *names), cells) if cells else []


def _cell(one: dict[str, Any] | None) -> str:
    return f"{one['us']:.1f} (error {one['error']})" if one and "us" in one else "refused"


def _checks(found: dict[str, Any]) -> list[str]:
    rows = []
    for check in found.get("checks", ()):
        mark = "equal" if check["ok"] else "differs" if check["needed"] else "differs, which is allowed"
        rows.append((check["name"], mark, check["detail"]))
    return markdown(("what", "", ""), rows, text_columns=3) if rows else []


def _longest(facts: dict[str, dict[str, Any]]) -> Iterator[str]:
    found = {step: one["kernels"] for step, one in facts.items() if isinstance(one.get("kernels"), dict)}
    for step, kernels in found.items():
        yield f"- {step}: {kernels['count']:,} a frame, {kernels['ms']:.2f} ms in all"
    for step, kernels in [*found.items()][:1]:
        rows = [(f"`{name}`", count, f"{ms:.3f}") for name, count, ms in kernels["longest"]]
        yield from ("", *markdown((f"{step}: the longest", "a frame", "ms a frame"), rows))


def _steps(results: Sequence[StepResult]) -> list[str]:
    rows = [
        (one.step, one.outcome, " ".join(_words(one).replace("|", "\\|").split())[:MOST_WORDS], f"{one.seconds:.1f}")
        for one in results
    ]
    return markdown(("step", "result", "", "s"), rows, text_columns=3)


def _words(result: StepResult) -> str:
    """Returns why a step has failed, or what of its figures isn't in a table."""
    facts = result.facts
    if result.sentence:
        return result.sentence
    if result.step.startswith("session") and "frames" in facts:
        return f"{facts['late']} of {facts['frames']} frames late, {facts['oracle_taken']} tokens of the oracle taken"
    if "processor_share" in facts:
        return f"waiting takes {facts['processor_share']:.0%} of a core"
    if "load_s" in facts and "gb_a_second" in facts:
        return f"{facts['gb_a_second']:.2f} GB/s"
    if isinstance(facts.get("kernels"), list):
        return ", ".join(facts["kernels"])
    if isinstance(facts.get("seen"), dict):
        return f"{facts['seen'].get('text', '')}; afterwards: {facts['seen'].get('afterwards', '')}"
    return f"{facts['allocations']} allocations" if "allocations" in facts else ""


def _gb(size: float) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
