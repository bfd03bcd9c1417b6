"""Proves the app's own kernels on this card: only those that give what plain torch gives are used there.

The results are kept in a file, for this card, driver, version of torch and source of the kernels, so that only the
first start checks them. A kernel that fails stays off until one of these changes, and plain torch does its work.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from moshi.modules.rope import apply_rope
from moshi.modules.transformer import RingKVCache, RMSNorm, _MHAState

from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.fused import SharedPositions
from app.frontend.kame.engine.quantise import QuantisedMatrix
from app.models.fit import Precision
from app.platform import nvidia
from app.platform.files import write_json
from app.settings.paths import kernels_path
from app.untrusted.files import read_versioned
from app.untrusted.limits import SMALL_FILE

VERSION = 1
"""The format version of the file."""
TRIES = 3
"""A check that has begun so often and never come to an end has ended its process each time."""
BF16 = 2.0**-7
"""The largest distance of two neighbouring bf16 numbers, relative to them."""

_failing: dict[str, str] | None = None


def prove(*, again: bool = False) -> dict[str, str]:
    """Loads the kernels, allows those that are proven, and returns why each of the others is off.

    `again`: checks them even if this card's results are known. Without a card, there is nothing to prove. Raises
    RuntimeError if a kernel has made the card unusable for this process; the next one does without it.
    """
    global _failing
    if not torch.cuda.is_available():
        return {}
    if _failing is not None and not again:
        return _failing
    try:
        kernels.load()
    except Exception as error:
        # A driver, card or newer torch may fail in any way. The next call tries again.
        return dict.fromkeys(kernels.NAMES, f"it can't be loaded: {_first_line(error)}")
    kept = _Kept.read(_this_machine())
    failing = {}
    for name in kernels.NAMES:
        reason = None if again else kept.results.get(name)
        if reason is None:
            reason = _checked(name, kept, again)
        kernels.allow(name, not reason)
        if reason:
            failing[name] = reason
    torch.cuda.empty_cache()
    _failing = failing
    return failing


def notes_of(failing: dict[str, str]) -> tuple[str, ...]:
    """Returns a line for the report about each kernel that is off."""
    return tuple(
        f"The kernel {name} is off on this card ({reason}); plain torch does its work, more slowly."
        for name, reason in failing.items()
    )


def _checked(name: str, kept: _Kept, again: bool) -> str:
    """Checks a kernel, keeps the result and returns why it fails, or an empty string."""
    tries = kept.tries.get(name, 0)
    if tries >= TRIES and not again:
        return "checking it has ended the process"
    kept.tries[name] = tries + 1
    kept.write()
    fault: Exception | None = None
    try:
        reason = CHECKS[name](torch.device(kernels.DEVICE))
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        fault, reason = error, _first_line(error)
    del kept.tries[name]
    kept.results[name] = reason
    kept.write()
    if fault is not None:
        torch.cuda.synchronize()  # raises if the card's context is lost
    return reason


@dataclass(slots=True)
class _Kept:
    """The results on a machine: an empty string for each proven kernel, or why it fails.

    `tries`: how often the check of a kernel has begun without coming to an end.
    """

    machine: str
    results: dict[str, str] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, machine: str) -> _Kept:
        """Returns the kept results, or none if the file is missing, invalid or of another machine."""
        kept = cls(machine)
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            value = read_versioned(kernels_path(), SMALL_FILE, VERSION)
            if value["machine"] == machine:
                kept.results = {name: str(reason) for name, reason in value["results"].items()}
                kept.tries = {name: int(tries) for name, tries in value["tries"].items()}
        return kept

    def write(self) -> None:
        """Keeps the results. If that fails, the next start checks the kernels again."""
        value = {"version": VERSION, "machine": self.machine, "results": self.results, "tries": self.tries}
        with contextlib.suppress(OSError):
            write_json(kernels_path(), value)


def _this_machine() -> str:
    card = torch.cuda.get_device_properties(torch.cuda.current_device())
    driver = nvidia.look()
    source = hashlib.sha256(kernels.SOURCE.read_bytes()).hexdigest()[:16]
    version = driver.version if driver else ""
    return f"{card.name}, {getattr(card, 'uuid', '')}; driver {version}; torch {torch.__version__}; kernels {source}"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


# -- the checks, which return what is wrong, or an empty string


def _check_gemv(precision: Precision, device: torch.device) -> str:
    random = _random(device)
    for rows, columns in ((1, 128), (515, 1024), (64, 4096), (7, 11264)):
        matrix = QuantisedMatrix(random(rows, columns), precision)
        vector = random(columns).bfloat16()
        out = torch.full((rows,), torch.nan, dtype=torch.bfloat16, device=device)
        kernels.gemv(precision, matrix.packed, matrix.params, vector, out)
        wanted = matrix.plain() @ vector.float()
        error = ((out.float() - wanted).norm() / wanted.norm()).item()
        if not error < 5e-3:  # also if it isn't a number
            return f"its product of {rows} rows and {columns} columns is off by {error:.3g}"
    return ""


def _check_rms_norm(device: torch.device) -> str:
    random = _random(device)
    for rows, width in ((1, 4096), (1, 1024), (3, 72)):
        norm = RMSNorm(width, kernels.EPSILON, torch.float32, device)
        norm.alpha.data = 1 + random(1, 1, width).bfloat16() / 4
        x = 3 * random(1, rows, width).bfloat16()
        with torch.no_grad():
            result, wanted = kernels.rms_norm(x, norm.alpha), norm(x)
        if wrong := _unlike(result, wanted, BF16):
            return f"its norm of {width} values {wrong}"
    return ""


def _check_silu_gate(device: torch.device) -> str:
    random = _random(device)
    for rows, width in ((1, 11264), (1, 2816), (3, 72)):
        x = 3 * random(1, rows, 2 * width).bfloat16()
        gate, value = x.chunk(2, dim=-1)
        # Both products are rounded, and either may round another way.
        if wrong := _unlike(kernels.silu_gate(x), F.silu(gate) * value, 2 * BF16):
            return f"its gate of {width} values {wrong}"
    return ""


def _check_rope_write(device: torch.device) -> str:
    random = _random(device)
    for heads, size, capacity, step in ((32, 128, 300, 0), (32, 128, 300, 299), (3, 10, 7, 2999)):
        plain, ours = (RingKVCache(1, heads, size, capacity, device=device, dtype=torch.bfloat16) for _ in range(2))
        plain.cache[:] = random(*plain.cache.shape)
        ours.cache.copy_(plain.cache)
        projected = random(1, 1, 3 * heads * size).bfloat16()
        offset = torch.full((1,), step, device=device)
        query, key, value = projected.view(3, 1, heads, 1, size)
        query, key = apply_rope(query, key, offset)
        plain.end_offset.copy_(offset)
        plain.complete(key, value, torch.ones(1, dtype=torch.bool, device=device))
        positions = SharedPositions([_MHAState(1, device, ours, offset, step)], 10_000)
        positions.begin()
        assert positions.rotation is not None
        result = kernels.rope_write(projected, positions.rotation, positions.slot, ours.cache)
        for name, one, wanted in (("query", result, query), ("cache", ours.cache, plain.cache)):
            if wrong := _unlike(one, wanted, BF16):
                return f"its {name} at step {step} {wrong}"
    return ""


def _random(device: torch.device) -> Callable[..., torch.Tensor]:
    generator = torch.Generator(device).manual_seed(0)
    return lambda *shape: torch.randn(*shape, device=device, generator=generator)


def _unlike(result: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> str:
    """Returns how two bf16 tensors differ, or an empty string. `tolerance`: relative."""
    apart = ~torch.isclose(result.float(), wanted.float(), rtol=tolerance, atol=1e-5)
    count = int(apart.sum())
    return f"differs in {count:,} of {apart.numel():,}" if count else ""


CHECKS: dict[str, Callable[[torch.device], str]] = {
    "gemv_int8": functools.partial(_check_gemv, "int8"),
    "gemv_int4": functools.partial(_check_gemv, "int4"),
    "rms_norm": _check_rms_norm,
    "silu_gate": _check_silu_gate,
    "rope_write": _check_rope_write,
}
