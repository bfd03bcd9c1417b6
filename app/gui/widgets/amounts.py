"""Money, tokens and waits in few letters."""

from __future__ import annotations


def dollars(amount: float) -> str:
    """US dollars to two figures that mean something: $0.0031, $0.42, $12.30."""
    if amount <= 0:
        return "$0"
    if amount < 0.0001:
        return "<$0.0001"
    if amount < 0.01:
        return f"${amount:.4f}"
    return f"${amount:.3f}" if amount < 0.1 else f"${amount:.2f}"


def tokens(number: int) -> str:
    """A count of tokens: 812, 8.2k, 1.3M."""
    if number < 1000:
        return str(number)
    return f"{number / 1e3:.1f}k" if number < 999_950 else f"{number / 1e6:.1f}M"


def wait(seconds: float) -> str:
    """How long something took: 420 ms, 1.0 s, 12.3 s."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"
