"""The shape of Nano KAME: KAME's streams and parts, small enough for two cores."""

from __future__ import annotations

from typing import Any

from app.frontend.kame.shapes import TINY_LM

NANO_LM: dict[str, Any] = {
    **TINY_LM,
    "dim": 384,
    "text_card": 2000,
    "n_q": 12,
    "card": 1024,
    "num_heads": 6,
    "num_layers": 8,
    "hidden_scale": 4.0,
    "context": 384,
    "depformer_dim": 192,
    "depformer_dim_feedforward": 768,
    "depformer_num_heads": 3,
    "depformer_num_layers": 3,
    "delays": [0] * 13,
}
"""Twelve streams of codes: eight of its own voice, four of the user's. No stream is delayed: the codec of a voice gives
all codes of a frame at once, and a delay would be heard."""

GENERATION: dict[str, Any] = {"temp": 0.0, "temp_text": 0.3, "top_k": 50, "top_k_text": 10}
"""How tokens are drawn: text cooler than Moshi's, and of its own sound's codes always the likeliest, since a small
model's unlikely tokens are mistakes: so 95 % of the facts that it was told were heard, and 88 % at 0.3."""
