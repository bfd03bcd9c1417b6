"""Reads the fitted weights of endpointing from `resources/turn_ends.json`."""

from __future__ import annotations

import json
from functools import cache

from app.conversation.endpointing import EndWeights
from app.platform.installation import resource


@cache
def word_weights(kind: str) -> dict[str, float]:
    """The weights of words and sound, by name.

    `kind`: "words"; "words alone" without a language model; "sound alone" where the words aren't judged.
    """
    return _weights()[kind]


@cache
def end_weights() -> EndWeights:
    """The weights of the silence, the speaker's pauses, and the probability by words and sound."""
    return EndWeights(**_weights()["silence"])


@cache
def _weights() -> dict[str, dict[str, float]]:
    return json.loads(resource("turn_ends.json").read_text(encoding="utf-8"))
