"""Reads the fitted endpointing weights from `resources/turn_ends.json`."""

from __future__ import annotations

import json
from functools import cache

from app.conversation.turns.endpointing import EndWeights
from app.platform.installation import resource


@cache
def word_weights(kind: str) -> dict[str, float]:
    """Returns the regression weights for words and audio, keyed by name.

    `kind`: "words"; "words alone" without a language model; "sound alone" if the words aren't evaluated.
    """
    return _weights()[kind]


@cache
def end_weights() -> EndWeights:
    """Returns the weights for the silence, the speaker's pauses, and the probability from words and audio."""
    return EndWeights(**_weights()["silence"])


@cache
def _weights() -> dict[str, dict[str, float]]:
    return json.loads(resource("turn_ends.json").read_text(encoding="utf-8"))
