"""The front-ends `kame` and `moshi`, which load the models on entry and free them on exit."""

from __future__ import annotations

import contextlib
import gc
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from safetensors import SafetensorError

from app.conversation.frame import Frame
from app.frontend.base import FrontEndError, FrontEndInput, FrontEndStep, SetDials
from app.frontend.kame.checkpoint import Loaded
from app.frontend.kame.engine import Engine
from app.frontend.kame.stream import PRIME_FRAMES, KameStream, StreamFrontEnd, StreamMemory
from app.models.catalogue import ModelError
from app.platform import single_instance
from app.platform.supervision import CARD, CardBusyError

LABELS = {"kame": "KAME", "moshi": "Moshi"}
"""User-facing names of these front-ends."""

NO_GRAPHS = (
    "{} runs slowly on this graphics card, because its frames could not be captured, so sound may be skipped. Close "
    "other programs that use the card and start a new conversation, or choose the built-in voice."
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KameSettings:
    """How to run a model.

    - `name`: "kame", or "moshi" for a model without an oracle
    - `needs`: see `FrontEnd.needs`
    - `alone`: whether the model needs the card to itself, so that loading waits for another front-end to exit
    - `sampling`: generator arguments that override the checkpoint's
    - `prime_frames`, `prime_steps`: see `StreamMemory`
    """

    name: str = "kame"
    needs: str = ""
    alone: bool = False
    sampling: dict[str, Any] = field(default_factory=dict)
    prime_frames: int = PRIME_FRAMES
    prime_steps: int | None = None


class KameFrontEnd(StreamFrontEnd):
    """A front-end that runs a speech-to-speech model. `load`: called on entry to load the models."""

    def __init__(
        self, load: Callable[[], Loaded], settings: KameSettings | None = None, dials: SetDials | None = None
    ) -> None:
        super().__init__()
        self._settings = settings or KameSettings()
        self.name, self.needs = self._settings.name, self._settings.needs
        self.hears_oracle = self.name != "moshi"
        self._load = load
        self._dials = dials or SetDials()
        self._notice = ""  # to be reported at the next step

    def __enter__(self) -> KameFrontEnd:
        sentence = ""
        try:
            alone = self._settings.alone
            if alone:  # two front-ends would share the card's memory and moshi's graph flag
                self._held.enter_context(CARD.hold(self.label))
            self._held.callback(_free_memory)
            with CARD.work(self.label) if alone else contextlib.nullcontext():
                self._open()
        except (ModelError, FrontEndError, CardBusyError) as error:
            sentence = str(error)
        except torch.OutOfMemoryError:
            sentence = (
                f"The graphics card's memory ran out while {self.label} was loading. Close other programs that use "
                "it, or choose int8 or int4, or a shorter memory, in the settings."
            )
        except (RuntimeError, ValueError, OSError, SafetensorError) as error:
            log.exception("the models could not be started")
            sentence = (
                f"{self.label} could not be started here ({type(error).__name__}: {_first_line(error)}). The "
                f"conversation continues with the built-in voice; “{single_instance.command()} doctor” may tell more."
            )
        except BaseException:
            self.__exit__()
            raise
        if sentence:
            # Outside the handler, because the error's traceback references the models and would keep them in memory.
            with contextlib.suppress(RuntimeError):  # a card that has failed
                self.__exit__()
            raise FrontEndError(sentence)
        return self

    def _open(self) -> None:
        loaded, settings = self._load(), self._settings
        engine = Engine(loaded.lm, loaded.mimi, sampling={**_sampling(loaded.generation), **settings.sampling})
        self._held.enter_context(engine)
        self._notice = NO_GRAPHS.format(self.label) if settings.alone and not engine.graphs.enabled else ""
        memory = StreamMemory(engine, settings.prime_frames, settings.prime_steps)
        self._stream = KameStream(loaded.pieces, engine, memory, self._dials, hears_oracle=self.hears_oracle)

    @property
    def label(self) -> str:
        """The user-facing name."""
        return LABELS.get(self.name, self.name)

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        assert self._stream is not None
        try:
            step = self._stream.step(frame, inputs)
            notice, self._notice = self._notice, ""
            return replace(step, problem=notice) if notice else step
        except torch.OutOfMemoryError as error:
            raise FrontEndError(
                f"The graphics card's memory ran out in mid-conversation, so {self.label} can't continue. The "
                "conversation continues with the built-in voice; close other programs that use the card, or "
                "choose int8 or int4, or a shorter memory."
            ) from error
        except RuntimeError as error:
            log.exception("a step failed")
            raise FrontEndError(
                f"The graphics card stopped working for {self.label} ({_first_line(error)}). The conversation "
                "continues with the built-in voice; start a new conversation to try again."
            ) from error


def _sampling(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings from a checkpoint's `lm_gen_config` that the generator supports."""
    known = ("use_sampling", "temp", "temp_text", "top_k", "top_k_text")
    return {key: config[key] for key in known if key in config}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no more is known"])[0].rstrip(".")


def _free_memory() -> None:
    """Returns unused graphics memory to the system."""
    gc.collect()
    if torch.cuda.is_available():
        with contextlib.suppress(RuntimeError):  # a card that has failed
            torch.cuda.empty_cache()
