"""Speech recognition: voice activity, the words of the user's turns, and how likely a turn is finished.

To be read in this order:

- `base.py`: the protocols, and what a transcriber reports.
- `silero.py`: voice activity, window by window.
- `streaming.py`: the transcriber, which decodes the growing turn again and again; `loudness.py`: how loud the sound is;
  `stable_words.py`: which words no longer change.
- `endpointing.py`: whether a turn is finished; `text_endpointing.py` (with
  `text_endpointing_worker.py`) judges the words, `endpointing_weights.py` has the weights.
- `whisper_decoder.py` (`whisper_library.py`), `moonshine.py` (`moonshine_worker.py`): the
  decoders; `transcript_cleanup.py`: what is dropped from their text.
- `selection.py`: which recogniser; `pooled.py`: from models of the pool to a transcriber, Smart Turn
  among them, which judges whether a turn sounds finished.

A session pushes each frame and calls `begin`, `pause` and `end` for each turn; a pass over the turn's sound gives
words, which become `TranscriptUpdate`s. This module makes a transcriber by its recogniser, and imports that only then.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from app.conversation.languages import AUTOMATIC
from app.models.catalogue import Model
from app.platform.installation import packages_command
from app.stt.base import Decoder, Transcriber, TranscriberError


@dataclass(frozen=True, slots=True)
class RecogniserSpec:
    """An engine: `module` has `open_decoder`, `lend_decoder` and `name_of`.

    `needs`: the package that it imports and that may not be installed.
    """

    label: str
    module: str
    needs: str = ""


ENGINES = {
    "whisper": RecogniserSpec("Whisper (this machine)", "app.stt.whisper_decoder", "faster_whisper"),
    "moonshine": RecogniserSpec("Moonshine (this machine)", "app.stt.moonshine"),
}


def make_transcriber(key: str, language: str, call_soon: Callable[[Callable[[], None]], object]) -> Transcriber:
    """Makes a transcriber with the recogniser `key` (empty: the app's choice) for `language` or "auto".

    Raises TranscriberError when there is none, or it can't be run.
    """
    from app.models.locations import model_path
    from app.stt.pooled import make_streaming
    from app.stt.selection import choose_recogniser

    model = choose_recogniser(key, language)
    engine, place = _module(model), model_path(model.key)
    return make_streaming(
        engine.name_of(place),
        lambda lent: engine.lend_decoder(lent, place, language),
        call_soon,
        english=language in ("en", AUTOMATIC),
    )


def open_decoder(model: Model, language: str = "en") -> Decoder:
    """Loads the decoder of a recogniser of the catalogue. Raises TranscriberError."""
    from app.models.locations import model_path

    return _module(model).open_decoder(model_path(model.key), language)


def _module(model: Model) -> ModuleType:
    spec = ENGINES[model.engine]
    if spec.needs and importlib.util.find_spec(spec.needs) is None:
        raise TranscriberError(
            f"{spec.label} is not installed (package {spec.needs}). Set the app up again: {packages_command()}."
        )
    return importlib.import_module(spec.module)
