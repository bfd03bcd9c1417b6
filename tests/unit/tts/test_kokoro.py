"""Kokoro's worker: its tokens, the limits of its model, and the times of its words, with a model of the test's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.tts.kokoro_worker import FRAME, MOST_TOKENS, TOKENS, as_symbols, make_speak, pieces


class TwoFrames:
    """A session that gives every token two frames of sound."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.asked.append(inputs)
        count = inputs["tokens"].shape[1]
        return [np.ones(count * 2 * FRAME, np.float32), np.full((1, count), 2)]


STYLE = np.arange(MOST_TOKENS, dtype=np.float32)[:, None].repeat(256, axis=1)


def test_phonemes_become_what_the_model_was_trained_with() -> None:
    assert len(TOKENS) == 114 and (TOKENS[" "], TOKENS["h"], TOKENS["ɹ"], TOKENS["ᵻ"]) == (16, 50, 123, 177)
    assert as_symbols("tʃˈeɪndʒ, ɡˈoʊ̯ 3", "en-us") == "ʧˈAnʤ, ɡˈO "
    assert as_symbols("mˈutʃo rˈei", "es") == "mˈuʧo rˈei"


def test_a_sentence_is_one_run_with_its_style_and_word_times() -> None:
    session = TwoFrames()
    speech = make_speak(session, STYLE, "en-us", lambda _, text: [text])("ab cde, f.", 1.5)
    inputs = session.asked[0]
    assert inputs["tokens"].tolist() == [[0, 43, 44, 16, 45, 46, 47, 3, 16, 48, 4, 0]]
    assert inputs["tokens"].dtype == np.int64 and inputs["speed"].tolist() == [1.5]
    assert inputs["style"].shape == (1, 256) and inputs["style"][0, 0] == 9  # ten tokens: the tenth row
    assert speech.word_ends == [end * 2 * FRAME for end in (3, 7, 10)]  # one token before the first


def test_a_long_text_goes_in_pieces_that_the_model_takes() -> None:
    text = " ".join(["abcdefgh,"] * 40 + ["abcdefghi"] * 80)
    session = TwoFrames()
    speech = make_speak(session, STYLE, "en-us", lambda _, text: [text])(text, 1.0)
    sizes = [inputs["tokens"].shape[1] for inputs in session.asked]
    assert len(sizes) == 3 and max(sizes) <= MOST_TOKENS + 2
    assert speech.word_ends is not None and len(speech.word_ends) == 120
    assert np.all(np.diff(speech.word_ends) > 0) and speech.word_ends[-1] <= len(speech.samples)
    assert list(pieces("a" * 12, 5)) == ["aaaaa", "aaaaa", "aa"] and list(pieces("ab, cd ef", 6)) == ["ab, ", "cd ef"]
    assert make_speak(session, STYLE, "en-us", lambda *_: [])("…", 1.0).samples.size == 0
