"""Which words count as heard, and which are to be said again when a loudspeaker disappears."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import Said
from app.session.playback import Playback


def test_what_a_lost_device_took_along_is_said_again_and_was_not_heard_before() -> None:
    sink = SimpleNamespace(keeps_time=True, queued=0, flushed=0, underruns=0, write=lambda samples: None)
    told: list[tuple[int, int]] = []
    playback = Playback(sink, lambda samples, words: told.append((samples, words)), replaceable=True)
    for words in ("It is", "Paris."):
        playback.write(np.ones(FRAME_SAMPLES, np.float32), speaking=True)
        playback.add_words(0.0, Said(words, FRAME_SAMPLES, 1, 1))
    sink.queued = FRAME_SAMPLES
    assert [said.text for said in playback.heard(0.2)] == ["It is"]
    sink.queued, sink.flushed = 0, FRAME_SAMPLES  # it disappears in the middle of a step
    assert playback.heard(0.2) == []
    assert playback.lost_with_device() == FRAME_SAMPLES
    assert told == [(FRAME_SAMPLES, 1)]
    assert playback.heard(0.3) == []
