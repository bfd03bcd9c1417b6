"""Which words count as heard, and which are to be said again when a loudspeaker disappears."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import Said
from app.session.playback import Playback


def test_a_word_that_was_heard_is_not_said_again_whatever_a_lost_device_says() -> None:
    sink = SimpleNamespace(keeps_time=True, queued=0, flushed=0, underruns=0, write=lambda samples: None)
    told: list[tuple[int, int]] = []
    playback = Playback(sink, lambda samples, words: told.append((samples, words)), replaceable=True)
    for words in ("It is", "Paris."):
        playback.write(np.ones(FRAME_SAMPLES, np.float32), speaking=True)
        playback.add_words(0.0, Said(words, FRAME_SAMPLES, 1, 1))
    sink.queued = FRAME_SAMPLES
    assert [said.text for said in playback.heard(0.2)] == ["It is"]
    sink.queued, sink.flushed = 0, FRAME_SAMPLES + 500
    assert playback.lost_with_device() == FRAME_SAMPLES + 500
    assert told == [(FRAME_SAMPLES, 1)]
