"""The front-end `nano`: a small KAME that hears and speaks by itself on a processor, and reads the oracle as it comes.

It is held back until the session gives it the floor: a model this small can't tell a pause of real people from an end
as well as the session does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from app.conversation.frame import Frame
from app.frontend.base import FrontEndError, FrontEndInput, FrontEndStep, SetDials
from app.frontend.kame.stream import KameStream
from app.frontend.kame.stream_memory import StreamMemory
from app.frontend.nano.engine import NanoEngine, Sampling
from app.frontend.nano.hearing import Hearing
from app.frontend.nano.language_model import NanoModel
from app.frontend.nano.pieces import read_pieces
from app.frontend.nano.voice import CodeVoice
from app.frontend.nano.weights import read_weights
from app.models.errors import ModelError
from app.models.layout import read_layout


def load_engine(folder: Path, voice: Path, sampling: Sampling | None = None, seed: int = 0) -> NanoEngine:
    """Loads the weights in `folder`, which speak with the Piper voice in the file `voice`. Raises ModelError."""
    files = read_layout(folder)
    weights, _ = read_weights(files.lm)
    codec, _ = read_weights(files.mimi)
    config = dict(files.lm_config or {})
    known = {field.name for field in fields(Sampling)}
    drawn = sampling or Sampling(**{name: value for name, value in files.generation.items() if name in known})
    try:
        model = NanoModel(weights, config)
        return NanoEngine(model, Hearing(codec), CodeVoice(codec, voice), drawn, seed)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"{folder} holds no weights of a small model ({type(error).__name__}: {error}). Get them again."
        ) from error


class NanoFrontEnd:
    """Runs the weights in `folder`, which speak with the Piper voice in the file `voice`."""

    name = "nano"
    hears_oracle = True
    needs = ""
    voice = None
    busy = False
    """All work is done within the step."""

    def __init__(self, folder: Path, voice: Path, dials: SetDials | None = None) -> None:
        self._folder, self._voice = folder, voice
        self._dials = dials or SetDials()
        self._stream: KameStream | None = None

    def __enter__(self) -> NanoFrontEnd:
        if not self._folder.is_dir():
            raise FrontEndError(
                "Nano KAME's weights are not here: they come with a checkout, and not with the packages yet. Name a "
                "folder with --weights, or choose the embedded voice."
            )
        try:
            engine = load_engine(self._folder, self._voice)
            pieces = read_pieces(self._folder)
        except (ModelError, OSError, RuntimeError) as error:
            raise FrontEndError(
                f"Nano KAME could not be started ({error}). Choose the embedded voice, or install the app again."
            ) from error
        # A stream starts fresh when the context is full: what was said a minute ago changes nothing.
        memory = StreamMemory(engine, frames=0)
        self._stream = KameStream(pieces, engine, memory, self._dials, hears_oracle=True, waits_for_floor=True)
        return self

    def __exit__(self, *exc: object) -> None:
        self._stream = None

    @property
    def speaking(self) -> bool:
        return self._stream is not None and self._stream.words.answering is not None

    @property
    def idle(self) -> bool:
        return self._stream is None or self._stream.words.idle

    def ready(self, heard: str) -> bool:
        """Always True: it starts to speak by itself."""
        return True

    def unheard(self, samples: int, words: int) -> None:
        """Does nothing: the model has said what was flushed, and goes on from there."""

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        assert self._stream is not None
        return self._stream.step(frame, inputs)
