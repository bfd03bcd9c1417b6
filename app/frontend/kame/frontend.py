"""The front-ends `kame` and `moshi`, which borrow a loaded model on entry and return it on exit."""

from __future__ import annotations

from collections.abc import Sequence

from app.conversation.frame import Frame
from app.frontend.base import FrontEndError, FrontEndInput, FrontEndStep, SetDials
from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.engine_source import EngineSource
from app.frontend.kame.stream import PRIME_FRAMES, KameStream, StreamFrontEnd, StreamMemory
from app.frontend.kame.stream_engine import EngineError
from app.frontend.slow_card import CardModel
from app.platform import single_instance

LABELS = {"kame": "KAME", "moshi": "Moshi"}
"""User-facing names of these front-ends."""


class KameFrontEnd(StreamFrontEnd):
    """A front-end that runs a speech-to-speech model.

    - `source`: lends the engine.
    - `name`: `kame`, or `moshi` for a model without an oracle.
    - `dials`: the initial delays.
    - `prime_frames`, `prime_steps`: see `StreamMemory`.
    """

    def __init__(
        self,
        source: EngineSource,
        name: str = "kame",
        dials: SetDials | None = None,
        *,
        prime_frames: int = PRIME_FRAMES,
        prime_steps: int | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self.hears_oracle = name != "moshi"
        self._source = source
        self._dials = dials or SetDials()
        self._prime = (prime_frames, prime_steps)
        self._failed = False

    @property
    def loading(self) -> str:
        """How far loading has come, as a user-facing message."""
        return self._source.progress

    @property
    def label(self) -> str:
        """The user-facing name."""
        return LABELS.get(self.name, self.name)

    def recovered(self) -> str:
        """Returns the user-facing message if the model has failed and is loaded again, otherwise an empty string."""
        if not (self._failed and self._source.loaded_again):
            return ""
        return f"{self.label} is loaded again and speaks from now on."

    def __enter__(self) -> KameFrontEnd:
        self._failed = False
        self._held.callback(lambda: self._source.close(failed=self._failed))
        try:
            engine, pieces = self._source.open()
        except EngineError as error:
            self.__exit__()
            raise FrontEndError(self._loading_sentence(error)) from error
        except BaseException:
            self.__exit__()
            raise
        memory = StreamMemory(engine, *self._prime)
        self._stream = KameStream(pieces, engine, memory, self._dials, hears_oracle=self.hears_oracle)
        return self

    def cancel(self) -> None:
        """Makes entering it on another thread end soon."""
        self._source.cancel()

    def on_card(self) -> CardModel | None:
        """Returns the model, or None if it isn't on this machine's graphics card. Any thread may call it."""
        stream = self._stream
        engine = stream.engine if stream is not None else None
        return engine.on_card(self.label) if isinstance(engine, EngineProcess) else None

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        assert self._stream is not None
        try:
            return self._stream.step(frame, inputs)
        except EngineError as error:
            self._failed = True
            raise FrontEndError(self._sentence(error)) from error

    def _loading_sentence(self, error: EngineError) -> str:
        match error.kind:
            case "refused":
                return str(error)
            case "memory":
                return (
                    f"The graphics card's memory ran out while {self.label} was loading. Close other programs that use "
                    "it, or choose int8 or int4, or a shorter memory, in the settings."
                )
        return (
            f"{self.label} could not be started here ({error}). The conversation continues with the built-in voice; "
            f"“{single_instance.command()} doctor” may tell more."
        )

    def _sentence(self, error: EngineError) -> str:
        if error.kind == "memory":
            return (
                f"The graphics card's memory ran out in mid-conversation, so {self.label} can't continue. The "
                "conversation continues with the built-in voice; close other programs that use the card, or "
                "choose int8 or int4, or a shorter memory."
            )
        return (
            f"{self.label} stopped working ({error}). The conversation continues with the built-in voice while "
            f"{self.label} is loaded again."
        )
