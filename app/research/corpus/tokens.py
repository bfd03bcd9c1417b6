"""Makes a dialogue into the tokens of all streams, as a model of KAME's class is trained on them."""

from __future__ import annotations

import random

import numpy as np
import torch

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS
from app.frontend.kame.checkpoint import Loaded
from app.frontend.kame.codec.voice_codec import VoiceCodec
from app.research.corpus.dialogue import Dialogue
from app.research.corpus.shards import Layout
from app.research.corpus.streams import TimedWord, Vocabulary, oracle_row, text_row
from app.research.corpus.timing import arrivals, with_arrivals


class Tokeniser:
    """Makes tokens with the codec and the vocabulary of `loaded`.

    `word_marks`: the frame before a word gets the token for the end of padding, as in the public corpora.
    """

    def __init__(self, loaded: Loaded, *, word_marks: bool = True) -> None:
        lm = loaded.lm
        self.layout = Layout(lm.dep_q, lm.n_q - lm.dep_q, lm.text_padding_token_id, lm.text_initial_token_id)
        self._codec, self._pieces = loaded.mimi, loaded.pieces
        self._vocabulary = Vocabulary(self.layout.padding, self.layout.start)
        self._mark = lm.end_of_text_padding_id if word_marks else None

    def tokens(self, dialogue: Dialogue, samples: np.ndarray, draw: random.Random) -> np.ndarray:
        """`[streams, frames]`. `samples`: float32 `[n, 2]`, the model on the left; what fills no frame is dropped."""
        frames = len(samples) // FRAME_SAMPLES
        sound = torch.from_numpy(np.ascontiguousarray(samples[: frames * FRAME_SAMPLES].T))
        own, user = self._codes(sound[0], sound[1])
        words = [TimedWord(int(word.start / FRAME_SECONDS), word.text) for word in dialogue.of("model")]
        text = text_row(words, self._pieces, self._vocabulary, frames)
        if self._mark is not None:
            text = with_marks(text, self.layout.padding, self._mark)
        revisions = arrivals(with_arrivals(dialogue.events, draw), draw)
        oracle = oracle_row(revisions, self._pieces, self._vocabulary, frames).tokens
        return np.concatenate([text[None], own, user, oracle[None]]).astype(np.int16)

    @torch.no_grad()
    def _codes(self, own: torch.Tensor, user: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self._codec, VoiceCodec):
            raise ValueError(
                "a voice's codec can't encode its own sound: such corpora are made by `app.research.training.nano`"
            )
        codes = self._codec.encode(torch.stack([own, user])[:, None])
        frames = len(own) // FRAME_SAMPLES
        own_codes, user_codes = codes[0, : self.layout.own_books, :frames], codes[1, : self.layout.heard_books, :frames]
        return own_codes.cpu().numpy(), user_codes.cpu().numpy()


def with_marks(text: np.ndarray, padding: int, mark: int) -> np.ndarray:
    """Puts `mark` into the frame before each run of text, where there is padding."""
    out = text.copy()
    starts = np.flatnonzero((text[1:] != padding) & (text[:-1] == padding))
    out[starts] = mark
    return out
