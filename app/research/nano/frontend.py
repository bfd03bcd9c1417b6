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
from app.frontend.kame.stream_frontend import StreamFrontEnd
from app.frontend.kame.stream_memory import StreamMemory
from app.models.errors import ModelError
from app.models.layout import read_layout
from app.research.nano.engine import NanoEngine, Sampling
from app.research.nano.hearing import Hearing
from app.research.nano.language_model import NanoModel
from app.research.nano.pieces import read_pieces
from app.research.nano.voice import CodeVoice
from app.research.nano.weights import read_weights


def load_engine(folder: Path, voice: Path) -> NanoEngine:
    """Loads the weights in `folder`, which speak with the Piper voice in the file `voice`. Raises ModelError."""
    files = read_layout(folder)
    weights, codec = read_weights(files.lm), read_weights(files.mimi)
    known = {field.name for field in fields(Sampling)}
    sampling = Sampling(**{name: value for name, value in files.generation.items() if name in known})
    try:
        model = NanoModel(weights, files.lm_config or {})
        return NanoEngine(model, Hearing(codec), CodeVoice(codec, voice), sampling)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"{folder} holds no weights of a small model ({type(error).__name__}: {error}). Get them again."
        ) from error


class NanoFrontEnd(StreamFrontEnd):
    """Runs the weights in `folder`, which speak with the Piper voice in the file `voice`."""

    name = "nano"
    hears_oracle = True
    needs = ""

    def __init__(self, folder: Path, voice: Path, dials: SetDials | None = None) -> None:
        super().__init__()
        self._folder, self._voice_file = folder, voice
        self._dials = dials or SetDials()

    def __enter__(self) -> NanoFrontEnd:
        if not self._folder.is_dir():
            raise FrontEndError(
                "Nano KAME's weights are not here: they come with a checkout, and not with the packages yet. Name a "
                "folder with --weights, or choose the embedded voice."
            )
        try:
            engine = load_engine(self._folder, self._voice_file)
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

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        assert self._stream is not None
        return self._stream.step(frame, inputs)
